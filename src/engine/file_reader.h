#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"

namespace ctkit::engine {

/// The one thing the core asks of the world. Paths are the host's, absolute; links are followed inside the host root.
class FileReader {
 public:
  FileReader() = default;
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;
  FileReader(FileReader&&) = delete;
  FileReader& operator=(FileReader&&) = delete;
  virtual ~FileReader() = default;

  /// The bytes of a file. `not_found` (also a dangling link), `is_directory`, `permission`, `failed`.
  [[nodiscard]] virtual Result<std::string> read(std::string_view path) const = 0;

  /// The names in a folder, sorted by bytes, without `.` and `..`. `not_found` also when it is no folder.
  [[nodiscard]] virtual Result<std::vector<std::string>> list(std::string_view folder) const = 0;

  /// Whether the path names anything; the last part is not followed if it is a link.
  [[nodiscard]] virtual bool exists(std::string_view path) const = 0;

  /// Where a link points, as it is written; nothing if the path names no link.
  [[nodiscard]] virtual std::optional<std::string> link_target(std::string_view path) const = 0;
};

}  // namespace ctkit::engine
