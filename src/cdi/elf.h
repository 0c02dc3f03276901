#pragma once

#include <string>
#include <string_view>

#include "cdi/tree.h"
#include "engine/result.h"

namespace ctkit::cdi {

/// The DT_SONAME of a shared object, "" if it has none. Reads a few small pieces of the file only;
/// fails if it is no ELF file that makes sense, of either byte order and word size.
engine::Result<std::string> read_soname(const Tree& tree, std::string_view path);

/// The bytes of a section by its name, at most 64 KiB of them, "" if there is no such section.
/// Fails as `read_soname`.
engine::Result<std::string> read_elf_section(const Tree& tree, std::string_view path, std::string_view name);

}  // namespace ctkit::cdi
