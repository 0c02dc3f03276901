#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cdi/tree.h"

namespace ctkit::cdi {

/// The folders the container's linker knows without being told, as its distribution builds it:
/// Debian and its children, or others. Of this machine's architecture.
std::vector<std::string> system_library_folders(bool debian_like);

/// Whether the container is of the Debian family: it has a file /etc/debian_version.
bool is_debian_like(const Tree& container);

/// Whether its C library is musl, which has no cache: it has a file /etc/alpine-release.
bool uses_musl(const Tree& container);

/// musl's list of folders for this machine's architecture; "" on one that nobody has looked at.
std::string_view musl_path_file();

/// The folders that /etc/ld.so.conf and what it includes name.
std::vector<std::string> configured_library_folders(const Tree& container);

/// Those of `folders` that are in neither list, each once, in order.
std::vector<std::string> new_library_folders(const std::vector<std::string>& folders,
                                             const std::vector<std::string>& configured,
                                             const std::vector<std::string>& system);

/// A line each, each once.
std::string render_folders(const std::vector<std::string>& folders);

}  // namespace ctkit::cdi
