#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "engine/result.h"
#include "installer/host/unique_fd.h"

namespace ctkit::installer::host {

/// Where a file is or would be: its folder, open for reading and syncing, and its name there.
struct Place {
  UniqueFd folder = {};
  std::string name = {};
  std::string folder_path = {};  ///< of the folder, below the root, with a slash at its end
  UniqueFd stage = {};           ///< where its new content may have a name for a moment; none: in the folder itself
};

/// The host root, kept open. Every path is resolved below it by the kernel (openat2,
/// RESOLVE_IN_ROOT): absolute links and `..` stay inside, whoever moves folders about meanwhile,
/// and magic links of /proc are refused.
class RootFolder {
 public:
  /// Fails if the folder can't be opened or the kernel has no openat2.
  static engine::Result<RootFolder> open(const std::string& folder);

  /// The folder that the path names as a root of its own.
  [[nodiscard]] engine::Result<RootFolder> below(std::string_view folder) const;

  /// Opens what the path names, with open(2)'s flags and O_CLOEXEC.
  [[nodiscard]] engine::Result<UniqueFd> open(std::string_view path, int flags) const;

  /// The place the path names; the last part is not followed if it is a link, and need not exist.
  /// `is_directory` for a path that can only be a folder (`/`, a trailing slash, a dot part).
  [[nodiscard]] engine::Result<Place> place_of(std::string_view path) const;

  /// The same, at the end of all links.
  [[nodiscard]] engine::Result<Place> final_place_of(std::string_view path) const;

  /// The folder above the place's, if files can be moved from there into it and we may write there; else none.
  [[nodiscard]] UniqueFd stage_above(const Place& place) const;

 private:
  explicit RootFolder(UniqueFd root) : root_(std::move(root)) {}

  UniqueFd root_;
};

}  // namespace ctkit::installer::host
