#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/file_reader.h"

namespace ctkit::engine {

/// The files of another reader with some of them changed: what a plan would leave behind, without touching anything.
class Overlay : public FileReader {
 public:
  explicit Overlay(const FileReader& base) : base_(base) {}

  /// Puts a text at the path, or takes the file away.
  void put(std::string path, std::optional<std::string> text);

  /// Each change as if it were made.
  void apply(const std::vector<FileChange>& changes);

  [[nodiscard]] Result<std::string> read(std::string_view path) const override;
  [[nodiscard]] Result<std::vector<std::string>> list(std::string_view folder) const override;
  [[nodiscard]] bool exists(std::string_view path) const override;
  [[nodiscard]] std::optional<std::string> link_target(std::string_view path) const override;

 private:
  const FileReader& base_;
  std::map<std::string, std::optional<std::string>, std::less<>> changed_;
};

}  // namespace ctkit::engine
