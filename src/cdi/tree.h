#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"

namespace ctkit::cdi {

enum class FileKind { file, folder, link, character_device, block_device, socket, pipe };

struct FileStatus {
  FileKind kind = FileKind::file;
  unsigned mode = 0;  ///< the 12 lowest bits
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  unsigned major = 0;  ///< of a device
  unsigned minor = 0;

  bool operator==(const FileStatus&) const = default;
};

/// Seam: a folder tree whose links stay inside it, `/` being its root. Nothing here waits for
/// anybody: a pipe is looked at, not opened. Errors are `not_found` for what is not there,
/// `permission`, or `failed`.
class Tree {
 public:
  Tree() = default;
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  Tree(Tree&&) = delete;
  Tree& operator=(Tree&&) = delete;
  virtual ~Tree() = default;

  /// The tree below a folder of this one. Links on the way to it, the folder itself included, stay
  /// in this one.
  [[nodiscard]] virtual engine::Result<std::unique_ptr<Tree>> below(std::string_view folder) const = 0;

  /// What is at the path, the last part not followed if it is a link.
  [[nodiscard]] virtual engine::Result<FileStatus> look(std::string_view path) const = 0;

  /// What is at the end of all links.
  [[nodiscard]] virtual engine::Result<FileStatus> follow(std::string_view path) const = 0;

  /// Where the link points, as it is written.
  [[nodiscard]] virtual engine::Result<std::string> target_of(std::string_view path) const = 0;

  /// The names in the folder, sorted by byte.
  [[nodiscard]] virtual engine::Result<std::vector<std::string>> names_in(std::string_view folder) const = 0;

  /// Up to `size` bytes of the regular file from `offset` on; less at its end.
  [[nodiscard]] virtual engine::Result<std::string> read(std::string_view path,
                                                         std::uint64_t offset,
                                                         std::size_t size) const = 0;
};

}  // namespace ctkit::cdi
