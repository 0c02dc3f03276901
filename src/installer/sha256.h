#pragma once

#include <string>
#include <string_view>

namespace ctkit::installer {

/// SHA-256 of the bytes (FIPS 180-4), in hexadecimal.
std::string sha256(std::string_view bytes);

}  // namespace ctkit::installer
