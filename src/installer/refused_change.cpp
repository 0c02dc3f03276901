#include "installer/refused_change.h"

#include <charconv>

#include "cdi/path.h"
#include "installer/sha256.h"

namespace ctkit::installer {

using engine::Result;

namespace {

constexpr std::int64_t kCounts = std::int64_t{3600} * 1'000'000;

}  // namespace

std::string digest_of_change(std::string_view engine, const Outcome& outcome, const engine::FileReader& files) {
  std::string text(engine);
  if (outcome.plan->today) {
    for (const engine::Layer& layer : outcome.plan->today->layers)
      text += '\0' + layer.path + '\0' + sha256(files.read(layer.path).value_or(""));
  }
  for (const engine::FileChange& file : outcome.plan->files) {
    text += '\0' + file.path + '\0' + sha256(file.after.value_or("")) + (file.after ? "+" : "-");
  }
  // After it was taken back the daemon is younger than its files: another reason for the same change.
  if (outcome.plan->files.empty() && outcome.node) {
    for (const std::string& reason : outcome.node->reasons)
      text += '\0' + reason;
  }
  return sha256(text);
}

std::optional<RefusedChange> read_refused_change(const FileSystem& files, const std::string& path, std::int64_t now) {
  const auto text = files.read(path);
  if (!text) return std::nullopt;
  // The digest, the time and the reason, a line each.
  const std::size_t first = text->find('\n');
  const std::size_t second = first == std::string::npos ? first : text->find('\n', first + 1);
  if (second == std::string::npos) return std::nullopt;
  RefusedChange change{.digest = text->substr(0, first)};
  std::from_chars(text->data() + first + 1, text->data() + second, change.time);
  change.reason = text->substr(second + 1);
  while (change.reason.ends_with('\n'))
    change.reason.pop_back();
  // A clock that was set back makes nothing last for ever.
  if (change.time > now || now - change.time >= kCounts) return std::nullopt;
  return change;
}

Result<void> keep_refused_change(FileSystem& files, const std::string& path, const RefusedChange& change) {
  const std::string text = change.digest + "\n" + std::to_string(change.time) + "\n" + change.reason + "\n";
  if (auto made = files.make_folders(cdi::folder_of(path)); !made) return std::unexpected(made.error());
  return files.replace(path, text, {});
}

void forget_refused_change(FileSystem& files, const std::string& path) {
  if (files.exists(path)) static_cast<void>(files.remove(path));
}

}  // namespace ctkit::installer
