#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "engine/result.h"

namespace ctkit::engine {

/// The version of a daemon: `1.7.27`, `2.4.0-beta.0`, `v1.7.27-k3s1`, `1.7.24~ds1`.
struct Release {
  int major = 0;
  int minor = 0;
  int patch = 0;
  std::string suffix = {};  ///< what follows the numbers, its separator included: `-beta.0`, `~ds1`

  /// From a bare version, or from what the daemon's `--version` prints. Fails with `unknown_release`.
  static Result<Release> parse(std::string_view text);

  [[nodiscard]] std::string to_string() const;

  /// `-alpha`, `-beta` or `-rc`: comes before the release of the same numbers.
  [[nodiscard]] bool pre_release() const;

  /// Built by Debian or Ubuntu from repacked sources (`~ds1`, `+ds1`, `+unknown`): other libraries than upstream's.
  [[nodiscard]] bool repacked() const;

  bool operator==(const Release&) const = default;
};

/// By numbers; a pre-release comes before its release, other suffixes count nothing.
std::strong_ordering compare(const Release& left, const Release& right);

}  // namespace ctkit::engine
