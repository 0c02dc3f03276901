#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "installer/journal.h"

namespace ctkit::installer {

namespace {

using engine::Error;
using engine::ErrorCode;
using engine::FileChange;
using engine::Result;

constexpr std::string_view kSchema = "ctkit/v1/journal";
constexpr FileMode kPrivate = {.mode = 0600};

std::string list_path(const std::string& folder) { return folder + "/journal.json"; }

Error unreadable(const std::string& path) {
  return {.code = ErrorCode::failed,
          .message = "cannot understand the journal '" + path + "'",
          .where = path,
          .hint = "the files original-N beside it hold what was there before; put them back by hand"};
}

/// Contents are files of their own: a person can put them back without us.
Result<std::optional<std::string>> read_content(const FileSystem& files, const std::string& folder,
                                                const nlohmann::json& entry, const char* key) {
  const auto name = entry.find(key);
  if (name == entry.end() || name->is_null()) return std::nullopt;
  if (!name->is_string()) return std::unexpected(unreadable(list_path(folder)));
  auto text = files.read(folder + "/" + name->get<std::string>());
  if (!text) return std::unexpected(text.error().with_context("reading the journal"));
  return *std::move(text);
}

/// `original-3-%2Fetc%2Fcontainerd%2Fconfig.toml`.
std::string content_name(std::string_view key, long generation, std::string_view path) {
  std::string name = fmt::format("{}-{}-", key, generation);
  for (const char c : path) {
    if (c == '/') {
      name += "%2F";
    } else if (c == '%') {
      name += "%25";
    } else {
      name += c;
    }
  }
  return name;
}

/// Contents that no list names any more.
Result<void> remove_contents(FileSystem& files, const std::string& folder, const std::set<std::string>& current) {
  const auto names = files.list(folder);
  if (!names) return {};
  for (const std::string& name : *names) {
    const bool content = name.starts_with("original-") || name.starts_with("written-");
    if (!content || current.contains(name)) continue;
    if (auto done = files.remove(folder + "/" + name); !done) return done;
  }
  return {};
}

Result<JournalEntry> read_entry(const FileSystem& files, const std::string& folder, const nlohmann::json& entry) {
  if (!entry.is_object() || !entry.contains("path") || !entry["path"].is_string()) {
    return std::unexpected(unreadable(list_path(folder)));
  }
  FileChange change{.path = entry["path"].get<std::string>()};
  auto before = read_content(files, folder, entry, "original");
  if (!before) return std::unexpected(before.error());
  auto after = read_content(files, folder, entry, "written");
  if (!after) return std::unexpected(after.error());
  change.before = *std::move(before);
  change.after = *std::move(after);
  JournalEntry result{.change = std::move(change)};
  if (entry.contains("mode") && entry["mode"].is_number_unsigned()) result.mode = entry["mode"].get<unsigned>();
  return result;
}

}  // namespace

Result<std::optional<Journal>> read_journal(const FileSystem& files, const std::string& folder) {
  const std::string path = list_path(folder);
  auto text = files.read(path);
  if (!text && text.error().code == ErrorCode::not_found) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || json.value("schema", "") != kSchema || !json.contains("files") ||
      !json["files"].is_array()) {
    return std::unexpected(unreadable(path));
  }
  Journal journal;
  journal.finished = json.contains("finished") && json["finished"] == true;
  journal.generation = json.value("generation", 0L);
  for (const auto& entry : json["files"]) {
    auto read = read_entry(files, folder, entry);
    if (!read) return std::unexpected(read.error());
    journal.files.push_back(*std::move(read));
  }
  if (json.contains("folders") && json["folders"].is_array()) {
    for (const auto& made : json["folders"]) {
      if (made.is_string()) journal.folders.push_back(made.get<std::string>());
    }
  }
  return journal;
}

Result<void> write_journal(FileSystem& files, const std::string& folder, Journal& journal) {
  if (auto made = make_noted_folders(files, folder, journal); !made) return made;
  ++journal.generation;
  nlohmann::json list = {{"schema", kSchema},
                         {"finished", journal.finished},
                         {"generation", journal.generation},
                         {"folders", journal.folders},
                         {"files", nlohmann::json::array()}};
  std::set<std::string> current;
  for (const auto& [change, mode] : journal.files) {
    nlohmann::json entry = {{"path", change.path}, {"original", nullptr}, {"written", nullptr}};
    entry["mode"] = mode ? nlohmann::json(*mode) : nlohmann::json(nullptr);
    for (const auto& [key, content] : {std::pair("original", &change.before), std::pair("written", &change.after)}) {
      if (!*content) continue;
      const std::string name = content_name(key, journal.generation, change.path);
      if (auto done = files.replace(folder + "/" + name, **content, kPrivate); !done) return done;
      entry[key] = name;
      current.insert(name);
    }
    list["files"].push_back(std::move(entry));
  }
  if (auto done = files.replace(list_path(folder), list.dump(2) + "\n", kPrivate); !done) return done;
  return remove_contents(files, folder, current);
}

Result<void> remove_journal(FileSystem& files, const std::string& folder, const Journal& journal) {
  if (auto done = files.remove(list_path(folder)); !done && done.error().code != ErrorCode::not_found) return done;
  if (auto done = remove_contents(files, folder, {}); !done) return done;
  for (auto made = journal.folders.rbegin(); made != journal.folders.rend(); ++made) {
    const auto removed = files.remove_folder(*made);
    if (!removed && removed.error().code != ErrorCode::not_found) return std::unexpected(removed.error());
  }
  return {};
}

Result<void> make_noted_folders(FileSystem& files, const std::string& folder, Journal& journal) {
  auto top = files.make_folders(folder);
  if (!top) return std::unexpected(top.error());
  if (top->empty()) return {};
  for (std::size_t end = top->size(); end != std::string::npos; end = folder.find('/', end + 1)) {
    journal.folders.push_back(folder.substr(0, end));
    if (end == folder.size()) return {};
  }
  journal.folders.push_back(folder);
  return {};
}

}  // namespace ctkit::installer
