#pragma once

#include <optional>
#include <string>

#include "engine/result.h"
#include "installer/file_system.h"

namespace ctkit::installer {

/// The permission bits of the file; none if it isn't there.
std::optional<unsigned> present_mode(const FileSystem& files, const std::string& path);

/// The file as wanted, nothing: not there; `mode` where it shall get one whether it is there or not. One that has it
/// already keeps its ACL. `instead_of` is what it held when that was decided, nothing: it wasn't there; a text that
/// somebody wrote meanwhile is not replaced, and that is an error.
engine::Result<void> set_file(FileSystem& files,
                              const std::string& path,
                              const std::optional<std::string>& text,
                              std::optional<unsigned> mode,
                              const std::optional<std::string>& instead_of);

}  // namespace ctkit::installer
