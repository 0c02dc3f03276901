#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file_reader.h"

namespace ctkit::engine {

/// The files of another reader, each as it was when it was first asked for: what is decided on them is decided on one
/// state, though somebody writes meanwhile.
class Snapshot : public FileReader {
 public:
  explicit Snapshot(const FileReader& base) : base_(base) {}

  [[nodiscard]] Result<std::string> read(std::string_view path) const override;
  [[nodiscard]] Result<std::vector<std::string>> list(std::string_view folder) const override;
  [[nodiscard]] bool exists(std::string_view path) const override;
  [[nodiscard]] std::optional<std::string> link_target(std::string_view path) const override;

 private:
  const FileReader& base_;
  mutable std::map<std::string, Result<std::string>, std::less<>> texts_;
  mutable std::map<std::string, Result<std::vector<std::string>>, std::less<>> names_;
  mutable std::map<std::string, bool, std::less<>> exist_;
  mutable std::map<std::string, std::optional<std::string>, std::less<>> links_;
};

}  // namespace ctkit::engine
