#pragma once

#include <string>
#include <string_view>

#include "engine/result.h"

namespace ctkit::cdi {

/// vendor/class, such as `management.nvidia.com/gpu`.
struct Kind {
  std::string vendor = {};
  std::string class_name = {};

  bool operator==(const Kind&) const = default;
};

/// Split at the first slash; if one of the parts would be empty, all is the class
/// (parser.ParseQualifier).
Kind split_kind(std::string_view text);

/// A kind that every library level takes: no dot in a class is needed for that, but a dot is
/// allowed here. `usage` with the reason for others.
engine::Result<Kind> parse_kind(std::string_view text);

std::string to_string(const Kind& kind);

/// vendor/class=name, as pods ask for it.
struct DeviceName {
  Kind kind = {};
  std::string name = {};

  bool operator==(const DeviceName&) const = default;
};

engine::Result<DeviceName> parse_device_name(std::string_view text);

std::string to_string(const DeviceName& device);

/// What is wrong with a vendor or class of at least two letters; "" if nothing (parser.go,
/// validateVendorOrClassName).
std::string check_vendor_or_class(std::string_view name, bool dots);

/// What is wrong with a device's name; "" if nothing (parser.go, ValidateDeviceName).
std::string check_device_name(std::string_view name);

constexpr bool is_ascii_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace ctkit::cdi
