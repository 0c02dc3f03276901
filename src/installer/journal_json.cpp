#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "installer/journal.h"

namespace ctkit::installer {

namespace {

using engine::Error;
using engine::ErrorCode;
using engine::FileChange;
using engine::Result;

constexpr std::string_view kSchema = "ctkit/v1/journal";
constexpr FileMode kPrivate = {.mode = 0600};

std::string list_path(const std::string& folder) {
  return folder + "/journal.json";
}

Error unreadable(const std::string& path) {
  return {.code = ErrorCode::failed,
          .message = "cannot understand the journal '" + path + "'",
          .where = path,
          .hint = "the files original-N beside it hold what was there before; put them back by hand"};
}

/// Contents are files of their own: a person can put them back without us.
Result<std::optional<std::string>> read_content(const FileSystem& files,
                                                const std::string& folder,
                                                const nlohmann::json& entry,
                                                const char* key) {
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

/// The list's text. A path that is no UTF-8 can't be in it.
Result<std::string> list_text(const nlohmann::json& list, const std::string& folder) {
  try {
    return list.dump(2) + "\n";
  } catch (const nlohmann::json::type_error&) {
    return std::unexpected(Error{.message = "cannot keep a journal of a file whose path is no UTF-8",
                                 .where = folder,
                                 .hint = "choose other paths, or another --drop-in"});
  }
}

/// Makes the folder with its parents and notes those that were missing.
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

/// Contents that no list names any more.
Result<void> remove_contents(FileSystem& files, const std::string& folder, const std::set<std::string>& current) {
  const auto names = files.list(folder);
  if (!names) return {};
  for (const std::string& name : *names) {
    const bool content = std::ranges::any_of(std::array{"original-", "written-", "earlier-", "previous-", "applied-"},
                                             [&](const char* key) { return name.starts_with(key); });
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
  auto earlier = read_content(files, folder, entry, "earlier");
  if (!earlier) return std::unexpected(earlier.error());
  JournalEntry result{.change = std::move(change), .earlier = *std::move(earlier)};
  if (entry.contains("mode") && entry["mode"].is_number_unsigned()) result.mode = entry["mode"].get<unsigned>();
  return result;
}

Result<LastApply> read_last(const FileSystem& files, const std::string& folder, const nlohmann::json& json) {
  const auto text = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  LastApply last{.confirmed = json.contains("confirmed") && json["confirmed"] == true,
                 .token = text("token"),
                 .unit = text("unit"),
                 .loaded = text("loaded")};
  if (json.contains("time") && json["time"].is_number_integer()) last.time = json["time"].get<std::int64_t>();
  if (!json.contains("files") || !json["files"].is_array()) return std::unexpected(unreadable(list_path(folder)));
  for (const auto& entry : json["files"]) {
    if (!entry.is_object() || !entry.contains("path") || !entry["path"].is_string()) {
      return std::unexpected(unreadable(list_path(folder)));
    }
    AppliedFile file{.path = entry["path"].get<std::string>()};
    auto before = read_content(files, folder, entry, "previous");
    if (!before) return std::unexpected(before.error());
    auto after = read_content(files, folder, entry, "applied");
    if (!after) return std::unexpected(after.error());
    file.before = *std::move(before);
    file.after = *std::move(after);
    if (entry.contains("mode") && entry["mode"].is_number_unsigned()) file.mode = entry["mode"].get<unsigned>();
    file.was_ours = entry.contains("ours") && entry["ours"] == true;
    last.files.push_back(std::move(file));
  }
  return last;
}

/// Gives each content a file of its own; the same bytes for the same path are kept once.
class Contents {
 public:
  explicit Contents(long generation) : generation_(generation) {}

  nlohmann::json add(std::string_view key, std::string_view path, const std::optional<std::string>& text) {
    if (!text) return nullptr;
    for (const Item& item : items_) {
      if (item.path == path && item.text == *text) return item.name;
    }
    items_.push_back({content_name(key, generation_, path), std::string(path), *text});
    return items_.back().name;
  }

  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> names;
    for (const Item& item : items_)
      names.insert(item.name);
    return names;
  }

  [[nodiscard]] Result<void> write(FileSystem& files, const std::string& folder) const {
    for (const Item& item : items_) {
      if (auto done = files.replace(folder + "/" + item.name, item.text, kPrivate); !done) return done;
    }
    return {};
  }

 private:
  struct Item {
    std::string name;
    std::string path;
    std::string text;
  };
  long generation_;
  std::vector<Item> items_;
};

nlohmann::json last_json(const LastApply& last, Contents& contents) {
  nlohmann::json json = {{"confirmed", last.confirmed},
                         {"token", last.token},
                         {"time", last.time},
                         {"unit", last.unit},
                         {"loaded", last.loaded},
                         {"files", nlohmann::json::array()}};
  for (const AppliedFile& file : last.files) {
    nlohmann::json entry = {{"path", file.path}, {"ours", file.was_ours}};
    entry["previous"] = contents.add("previous", file.path, file.before);
    entry["applied"] = contents.add("applied", file.path, file.after);
    entry["mode"] = file.mode ? nlohmann::json(*file.mode) : nlohmann::json(nullptr);
    json["files"].push_back(std::move(entry));
  }
  return json;
}

/// What stands beside the journal and goes with it.
Result<void> remove_companions(FileSystem& files, const std::string& folder) {
  for (const std::string_view name : {kBuildName, kProgramName}) {
    const auto done = files.remove(folder + "/" + std::string(name));
    if (!done && done.error().code != ErrorCode::not_found) return done;
  }
  return {};
}

}  // namespace

Result<std::optional<Journal>> read_journal(const FileSystem& files, const std::string& folder) {
  const std::string path = list_path(folder);
  auto text = files.read(path);
  if (!text && text.error().code == ErrorCode::not_found) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("schema") || json["schema"] != kSchema || !json.contains("files") ||
      !json["files"].is_array() || !json.contains("generation") || !json["generation"].is_number_integer()) {
    return std::unexpected(unreadable(path));
  }
  Journal journal;
  journal.finished = json.contains("finished") && json["finished"] == true;
  journal.generation = json["generation"].get<long>();
  for (const auto& entry : json["files"]) {
    auto read = read_entry(files, folder, entry);
    if (!read) return std::unexpected(read.error());
    journal.files.push_back(*std::move(read));
  }
  if (json.contains("last") && json["last"].is_object()) {
    auto last = read_last(files, folder, json["last"]);
    if (!last) return std::unexpected(last.error());
    journal.last = *std::move(last);
  }
  if (json.contains("restarts") && json["restarts"].is_number_integer())
    journal.restarts = json["restarts"].get<long>();
  if (const auto settled = json.find("settled"); settled != json.end() && settled->is_object()) {
    const auto number = [&](const char* key) {
      const auto found = settled->find(key);
      return found != settled->end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
    };
    journal.settled = {.start_ticks = number("start_ticks"), .up_to = number("up_to")};
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
  Contents contents(journal.generation);
  for (const auto& [change, mode, earlier] : journal.files) {
    nlohmann::json entry = {{"path", change.path}, {"original", nullptr}, {"written", nullptr}, {"earlier", nullptr}};
    entry["mode"] = mode ? nlohmann::json(*mode) : nlohmann::json(nullptr);
    for (const auto& [key, content] :
         {std::pair("original", &change.before), std::pair("written", &change.after), std::pair("earlier", &earlier)}) {
      entry[key] = contents.add(key, change.path, *content);
    }
    list["files"].push_back(std::move(entry));
  }
  if (journal.last) list["last"] = last_json(*journal.last, contents);
  if (journal.restarts != 0) list["restarts"] = journal.restarts;
  if (journal.settled != Settled{}) {
    list["settled"] = {{"start_ticks", journal.settled.start_ticks}, {"up_to", journal.settled.up_to}};
  }
  const auto text = list_text(list, folder);
  if (!text) return std::unexpected(text.error());
  if (auto done = contents.write(files, folder); !done) return done;
  if (auto done = files.replace(list_path(folder), *text, kPrivate); !done) return done;
  return remove_contents(files, folder, contents.names());
}

// 1. A list without contents first: wherever a kill comes, what is left can be read and removed. Where the disk has no
// room for
//    it, the rest is done all the same.
// 2. The folders of other files, then the list, then the state folder and those above it.
Result<void> remove_journal(FileSystem& files, const std::string& folder, const Journal& journal) {
  if (files.exists(list_path(folder))) {
    Journal empty{.folders = journal.folders, .finished = true, .generation = journal.generation};
    static_cast<void>(write_journal(files, folder, empty));
  }
  const auto holds_state = [&](const std::string& made) { return folder == made || folder.starts_with(made + "/"); };
  const auto remove_made = [&](bool state) -> Result<void> {
    for (auto made = journal.folders.rbegin(); made != journal.folders.rend(); ++made) {
      if (holds_state(*made) != state) continue;
      const auto removed = files.remove_folder(*made);
      if (!removed && removed.error().code != ErrorCode::not_found) return std::unexpected(removed.error());
    }
    return {};
  };
  if (auto done = remove_made(false); !done) return done;
  if (auto done = remove_contents(files, folder, {}); !done) return done;
  if (auto done = remove_companions(files, folder); !done) return done;
  if (auto done = files.remove(list_path(folder)); !done && done.error().code != ErrorCode::not_found) return done;
  return remove_made(true);
}

Result<void> remove_orphans(FileSystem& files, const std::string& folder) {
  if (!files.exists(folder)) return {};
  if (auto done = remove_contents(files, folder, {}); !done) return done;
  if (auto done = remove_companions(files, folder); !done) return done;
  const auto removed = files.remove_folder(folder);
  if (!removed) return std::unexpected(removed.error());
  return {};
}

void note_missing_folders(const FileSystem& files, const std::string& folder, Journal& journal) {
  for (std::size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    const std::string path = folder.substr(0, end);
    const bool noted = std::ranges::find(journal.folders, path) != journal.folders.end();
    if (!noted && !files.exists(path)) journal.folders.push_back(path);
    if (end == std::string::npos) return;
  }
}

}  // namespace ctkit::installer
