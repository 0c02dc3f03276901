#pragma once

#include <string>

namespace ctkit::daemonset {

/// A folder to be watched, for those of its names that begin with the prefix; with all of them if it is empty. A folder
/// that isn't there is waited for.
struct WatchItem {
  bool on_host = true;  ///< below the host root; else among our own files
  std::string folder = {};
  std::string prefix = {};
  bool operator==(const WatchItem&) const = default;
  auto operator<=>(const WatchItem&) const = default;
};

}  // namespace ctkit::daemonset
