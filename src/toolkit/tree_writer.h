#pragma once

#include <string>
#include <string_view>

#include "engine/result.h"

namespace ctkit::toolkit {

/// Seam: changes below the host root that an installation of the toolkit consists of. Each is one step: a kill between
/// two of them is what the order of steps has to bear. Paths are absolute and resolved inside the root.
class TreeWriter {
 public:
  TreeWriter() = default;
  TreeWriter(const TreeWriter&) = delete;
  TreeWriter& operator=(const TreeWriter&) = delete;
  TreeWriter(TreeWriter&&) = delete;
  TreeWriter& operator=(TreeWriter&&) = delete;
  virtual ~TreeWriter() = default;

  /// A folder of mode 0755, with those above it. Nothing happens if it is there.
  [[nodiscard]] virtual engine::Result<void> make_folder(const std::string& path) = 0;

  /// A new file with this text. What is there under the name is in the way: an error.
  [[nodiscard]] virtual engine::Result<void> add_file(const std::string& path,
                                                      std::string_view text,
                                                      unsigned mode) = 0;

  /// A new file with the bytes of a file of the source tree.
  [[nodiscard]] virtual engine::Result<void> copy_file(const std::string& source,
                                                       const std::string& path,
                                                       unsigned mode) = 0;

  /// Replaces or creates the file, durably and at once; one that is there keeps owner and mode.
  [[nodiscard]] virtual engine::Result<void> replace_file(const std::string& path,
                                                          std::string_view text,
                                                          unsigned mode) = 0;

  /// A new link.
  [[nodiscard]] virtual engine::Result<void> add_link(const std::string& path, const std::string& target) = 0;

  /// Everything written below the folder is on disk.
  [[nodiscard]] virtual engine::Result<void> settle(const std::string& folder) = 0;

  /// Gives something another name in the same file system, durably. A name that is taken is an error.
  [[nodiscard]] virtual engine::Result<void> rename(const std::string& from, const std::string& to) = 0;

  /// `from` gets the name `to`, durably and at once: at every moment there is the old thing or the new one. A folder
  /// that was there is `from` afterwards, a link that was there is gone. An error if the file system can't exchange a
  /// folder for a link.
  [[nodiscard]] virtual engine::Result<void> take_place(const std::string& from, const std::string& to) = 0;

  /// Removes it with everything below. Nothing happens if it is not there.
  [[nodiscard]] virtual engine::Result<void> remove_all(const std::string& path) = 0;
};

}  // namespace ctkit::toolkit
