#include "cdi/device_name.h"

#include <algorithm>

namespace ctkit::cdi {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

bool is_alphanumeric(char c) {
  return is_ascii_letter(c) || (c >= '0' && c <= '9');
}

// The characters between the first and the last.
bool inside_is(std::string_view name, std::string_view also) {
  if (name.size() < 3) return true;
  return std::ranges::all_of(name.substr(1, name.size() - 2),
                             [also](char c) { return is_alphanumeric(c) || also.contains(c); });
}

Error bad_name(std::string_view text, const std::string& why) {
  return {.code = ErrorCode::usage, .message = "'" + std::string(text) + "': " + why};
}

}  // namespace

Kind split_kind(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size())
    return {.class_name = std::string(text)};
  return {.vendor = std::string(text.substr(0, slash)), .class_name = std::string(text.substr(slash + 1))};
}

std::string check_vendor_or_class(std::string_view name, bool dots) {
  if (name.empty()) return "it is empty";
  if (!is_ascii_letter(name.front())) return "it should start with a letter";
  if (!inside_is(name, dots ? "_-." : "_-"))
    return "inside it only letters, digits and " + std::string(dots ? "_-." : "_-") + " are allowed";
  if (!is_alphanumeric(name.back())) return "it should end with a letter or digit";
  return "";
}

std::string check_device_name(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (!is_alphanumeric(name.front())) return "it should start with a letter or digit";
  if (!inside_is(name, "_-.:")) return "inside it only letters, digits and _-.: are allowed";
  if (!is_alphanumeric(name.back())) return "it should end with a letter or digit";
  return "";
}

Result<Kind> parse_kind(std::string_view text) {
  Kind kind = split_kind(text);
  for (const std::string* part : {&kind.vendor, &kind.class_name}) {
    const std::string_view what = part == &kind.vendor ? "the vendor of the kind" : "the class of the kind";
    if (const std::string why = check_vendor_or_class(*part, true); !why.empty()) {
      return std::unexpected(bad_name(text, std::string(what) + ": " + why));
    }
    if (part->size() == 1) {
      return std::unexpected(
          bad_name(text, std::string(what) + " is one letter: that crashes containerd's CDI library"));
    }
  }
  return kind;
}

std::string to_string(const Kind& kind) {
  return kind.vendor + "/" + kind.class_name;
}

Result<DeviceName> parse_device_name(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::unexpected(bad_name(text, "it is not vendor/class=name"));
  auto kind = parse_kind(text.substr(0, equals));
  if (!kind) return std::unexpected(kind.error());
  const std::string_view name = text.substr(equals + 1);
  if (const std::string why = check_device_name(name); !why.empty()) {
    return std::unexpected(bad_name(text, "the device's name: " + why));
  }
  return DeviceName{.kind = *std::move(kind), .name = std::string(name)};
}

std::string to_string(const DeviceName& device) {
  return to_string(device.kind) + "=" + device.name;
}

}  // namespace ctkit::cdi
