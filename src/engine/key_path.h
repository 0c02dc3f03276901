#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"

namespace ctkit::engine {

/// A dotted TOML key: ["plugins", "io.containerd.grpc.v1.cri", "containerd"].
struct KeyPath {
  std::vector<std::string> parts = {};

  /// From a dotted TOML key, quoted parts allowed; fails with `usage` on anything else. `to_string` gives it back.
  static Result<KeyPath> parse(std::string_view text);

  /// As TOML writes it: parts that are not bare keys in double quotes.
  [[nodiscard]] std::string to_string() const;

  [[nodiscard]] KeyPath child(std::string_view part) const;
  [[nodiscard]] bool starts_with(const KeyPath& prefix) const;

  auto operator<=>(const KeyPath&) const = default;
};

/// One part as TOML writes it: bare if it can be, else in double quotes.
std::string quote_key(std::string_view part);

}  // namespace ctkit::engine
