#include "support/temp_folder.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX's
#include <system_error>

#include <gtest/gtest.h>

namespace ctkit::test {

namespace fs = std::filesystem;

TempFolder::TempFolder() : path_(fs::temp_directory_path() / "ctkit-test-XXXXXX") {
  // A test must not go on without it: it would write to the root.
  if (::mkdtemp(path_.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), path_);
  }
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TempFolder::path_of(std::string_view name) const {
  return path_ + "/" + std::string(name);
}

void TempFolder::write(std::string_view name, std::string_view text) const {
  const fs::path file = path_of(name);
  fs::create_directories(file.parent_path());
  std::ofstream stream(file, std::ios::binary);
  stream << text << std::flush;
  EXPECT_TRUE(stream.good()) << "cannot write " << file;
}

void TempFolder::make_folder(std::string_view name) const {
  fs::create_directories(path_of(name));
}

void TempFolder::link(std::string_view name, std::string_view target) const {
  const fs::path file = path_of(name);
  fs::create_directories(file.parent_path());
  fs::create_symlink(target, file);
}

std::string TempFolder::read(std::string_view name) const {
  std::ifstream stream(path_of(name), std::ios::binary);
  EXPECT_TRUE(stream.is_open()) << "cannot read " << path_of(name);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace ctkit::test
