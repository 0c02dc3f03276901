#include "installer/set_file.h"

namespace ctkit::installer {

namespace {

constexpr unsigned kReadableByAll = 0644;

}  // namespace

std::optional<unsigned> present_mode(const FileSystem& files, const std::string& path) {
  const auto mode = files.mode_of(path);
  return mode ? std::optional(*mode) : std::nullopt;
}

engine::Result<void> set_file(FileSystem& files,
                              const std::string& path,
                              const std::optional<std::string>& text,
                              std::optional<unsigned> mode,
                              const std::optional<std::string>& instead_of) {
  if (text) {
    const bool other = mode && present_mode(files, path) != mode;
    return files.replace(
        path,
        *text,
        {.mode = mode.value_or(kReadableByAll), .for_existing = other, .instead_of = &instead_of, .stage_above = true});
  }
  auto removed = files.remove(path);
  if (!removed && removed.error().code == engine::ErrorCode::not_found) return {};
  return removed;
}

}  // namespace ctkit::installer
