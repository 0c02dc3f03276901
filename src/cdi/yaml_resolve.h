#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "cdi/yaml_value.h"

namespace ctkit::cdi {

/// What a scalar is: `tag` in full or empty; `implicit`: it was written plain, without a tag.
/// go-yaml v2's resolve.go: YAML 1.1's words and numbers, but no base 60, and dates stay text. The
/// error is its message.
std::expected<YamlValue, std::string> resolve_yaml(std::string_view tag, const std::string& text, bool implicit);

/// strconv.FormatFloat(value, 'g', -1, 32): how sigs.k8s.io/yaml makes a string of a number.
std::string format_single(double value);

/// All digits that tell the number from others.
std::string format_double(double value);

}  // namespace ctkit::cdi
