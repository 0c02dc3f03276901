#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/result.h"

namespace ctkit::cdi {

enum class YamlKind { null, boolean, integer, unsigned_integer, floating, text, list, map };

/// A value as Go has it in an `interface{}`.
struct YamlValue {
  YamlKind kind = YamlKind::null;
  int line = 0;
  bool boolean = false;
  std::int64_t integer = 0;
  std::uint64_t unsigned_integer = 0;  ///< only what does not fit the signed one
  double floating = 0;
  std::string text = {};
  std::vector<std::uint32_t> items = {};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> entries = {};  ///< key, value; in the file's order
};

/// Values that refer to each other by index. Aliases are expanded.
struct YamlTree {
  std::vector<YamlValue> values = {};
  std::uint32_t root = 0;

  const YamlValue& at(std::uint32_t id) const { return values[id]; }
};

enum class YamlProblem { syntax, duplicate_key };

struct YamlFailure {
  YamlProblem problem = YamlProblem::syntax;
  std::string message = {};
  int line = 0;
};

/// The first document of the text, with strict maps, as go-yaml v2 decodes it into an `interface{}`
/// (decode.go, resolve.go): YAML 1.1 scalars, merge keys, its limit on aliases. No document is
/// `null`.
std::expected<YamlTree, YamlFailure> read_yaml_value(std::string_view text);

}  // namespace ctkit::cdi
