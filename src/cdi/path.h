#pragma once

#include <string>
#include <string_view>

namespace ctkit::cdi {

/// An absolute path without `.`, `..`, doubled and trailing slashes; `..` does not leave the root.
/// A relative path is taken from the root.
std::string clean(std::string_view path);

std::string join(std::string_view folder, std::string_view name);

/// What is before the last slash; "" for a name without one.
std::string_view folder_of(std::string_view path);

std::string_view base_name(std::string_view path);

/// From the last dot of the last part on, with the dot; "" if there is none (Go's filepath.Ext).
std::string_view extension_of(std::string_view path);

/// Whether a setting may say it where a file is wanted: absolute, and without a slash at its end.
bool is_file_path(std::string_view path);

/// Whether the clean path is `folder` or below it; a folder's name ends at a slash.
bool is_below(std::string_view path, std::string_view folder);

/// The slashes of a clean path: by it and then by name mounts and nodes are sorted.
std::size_t depth_of(std::string_view path);

}  // namespace ctkit::cdi
