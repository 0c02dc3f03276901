#pragma once

#include <string_view>

#include "engine/result.h"

namespace ctkit::installer::host {

/// The Error for an errno: "cannot <doing>: <the system's words>", the path as its place. EACCES
/// and EPERM are `permission`, ENOENT and ENOTDIR `not_found`, EISDIR `is_directory`, the rest
/// `failed`.
engine::Error make_system_error(int error_number, std::string_view doing, std::string_view path);

}  // namespace ctkit::installer::host
