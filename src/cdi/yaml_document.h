#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"

namespace ctkit::cdi {

enum class YamlNodeKind { scalar, sequence, mapping, alias };

struct YamlNode {
  YamlNodeKind kind = YamlNodeKind::scalar;
  int line = 0;
  std::string value = {};                    ///< scalar
  std::string tag = {};                      ///< scalar: in full, such as `tag:yaml.org,2002:int`; empty: none
  bool implicit = false;                     ///< scalar: what it is follows from its text
  std::vector<std::uint32_t> children = {};  ///< sequence: items; mapping: key, value, key, …
  std::uint32_t target = 0;                  ///< alias: the anchored node
};

/// The first document of a YAML text: nodes that refer to each other by index. Depth is bounded
/// (10,000 levels of brackets and as many of indentation), so nothing may recurse over it.
struct YamlDocument {
  std::vector<YamlNode> nodes = {};
  bool empty = true;  ///< there is no document at all
  std::uint32_t root = 0;
};

/// As go-yaml v2 reads it (parserc.go, YAML 1.1 with libyaml's grammar); what follows the first
/// document is only looked at as far as that does. The error's place is the line number alone.
engine::Result<YamlDocument> read_yaml(std::string_view text);

}  // namespace ctkit::cdi
