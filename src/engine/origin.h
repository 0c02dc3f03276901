#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace ctkit::engine {

/// Where a value was written. No file: it is built into the daemon.
struct Origin {
  std::shared_ptr<const std::string> file = nullptr;  ///< shared by all values of one file
  std::uint32_t line = 0;                             ///< from 1; 0: it has no lines, or none is to blame
  std::uint32_t column = 0;                           ///< from 1, in bytes

  [[nodiscard]] bool built_in() const { return file == nullptr; }

  /// `file:line`, or `built-in`.
  [[nodiscard]] std::string to_string() const {
    if (built_in()) return "built-in";
    return line == 0 ? *file : *file + ":" + std::to_string(line);
  }

  bool operator==(const Origin& other) const {
    return line == other.line && column == other.column &&
           (file == other.file || (file && other.file && *file == *other.file));
  }
};

}  // namespace ctkit::engine
