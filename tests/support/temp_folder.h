#pragma once

#include <string>
#include <string_view>

namespace ctkit::test {

/// A folder of its own under the system's temp folder, removed with all that is in it. Names are
/// relative to it.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  TempFolder(TempFolder&&) = delete;
  TempFolder& operator=(TempFolder&&) = delete;
  ~TempFolder();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path_of(std::string_view name) const;

  /// Writes the file, and makes the folders above it.
  void write(std::string_view name, std::string_view text) const;
  /// Makes the folder and those above it.
  void make_folder(std::string_view name) const;
  /// Makes a symbolic link, and the folders above it; the target is taken as it is.
  void link(std::string_view name, std::string_view target) const;
  /// The bytes of the file; a test failure and "" if it can't be read.
  [[nodiscard]] std::string read(std::string_view name) const;

 private:
  std::string path_;
};

}  // namespace ctkit::test
