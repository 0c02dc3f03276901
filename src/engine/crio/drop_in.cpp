#include "engine/crio/drop_in.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engine/crio/decode.h"
#include "engine/crio/handler_table.h"
#include "engine/crio/handlers.h"
#include "engine/toml_writer.h"

namespace ctkit::engine::crio {

namespace {

constexpr std::string_view kHeader =
    "# Written by ctkit. Edits here are lost at the next `ctkit apply`; `ctkit uninstall` removes "
    "the file.\n";
constexpr std::string_view kUsualName = "99-nvidia.conf";
constexpr std::string_view kRunc = "runc";

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

/// The table under a key, whatever its spelling, made if it is not there.
Table& table_in(Table& table, std::string_view key) {
  auto found = table.find(key);
  if (found == table.end())
    found = std::ranges::find_if(table, [&](const auto& entry) { return same_key(entry.first, key); });
  if (found == table.end()) found = table.emplace(key, Value{.data = Table{}}).first;
  if (!found->second.table()) found->second.data = Table{};
  return *found->second.table();
}

void set(Table& table, std::string_view key, Value value) {
  std::erase_if(table, [&](const auto& entry) { return same_key(entry.first, key); });
  table.emplace(key, std::move(value));
}

class Maker {
 public:
  Maker(const Known& known,
        const LoadRequest& request,
        const FileReader& files,
        const EffectiveConfig& bare,
        const Desired& desired)
      : known_(known), request_(request), files_(files), bare_(bare), desired_(desired) {}

  Result<std::vector<Candidate>> run() const {
    const std::string first =
        desired_.drop_in.empty() ? request_.drop_in_folder + "/" + std::string(kUsualName) : desired_.drop_in;
    if (auto usable = check_folder(folder_of(first)); !usable) return std::unexpected(usable.error());
    std::vector<Candidate> candidates;
    for (const std::string& path : paths(first)) {
      auto candidate = make(path);
      if (!candidate) return std::unexpected(candidate.error());
      candidates.push_back(*candidate);
      if (known_.regime.drops_runc && !desired_.default_handler.empty() && effective_runc())
        candidates.push_back(with_runc_again(*std::move(candidate), path));
    }
    return candidates;
  }

 private:
  [[nodiscard]] Result<void> check_folder(const std::string& folder) const {
    const std::string& read = request_.drop_in_folder;
    if (read.empty()) {
      return std::unexpected(Error{.code = ErrorCode::needs_decision,
                                   .message = "CRI-O was started with an empty --config-dir and reads no drop-ins",
                                   .hint = "take that flag off its command line"});
    }
    if (folder != read && !folder.starts_with(read + "/")) {
      return std::unexpected(Error{.code = ErrorCode::needs_decision,
                                   .message = "CRI-O reads nothing in '" + folder + "'",
                                   .where = folder,
                                   .hint = "name a file in '" + read + "' with --drop-in"});
    }
    if (!files_.exists(read) || files_.list(read)) return {};
    return std::unexpected(Error{.code = ErrorCode::needs_decision,
                                 .message = "'" + read + "' is no folder, and our drop-in wants to be in it",
                                 .where = read,
                                 .hint = "move the file '" + read + "' into a folder of that name"});
  }

  /// The wanted one, and names in its folder that are read later: `zz-`, then behind everything
  /// that is there.
  [[nodiscard]] std::vector<std::string> paths(const std::string& first) const {
    const std::string folder = folder_of(first);
    std::vector<std::string> paths = {first};
    const auto offer = [&](const std::string& prefix) {
      paths.push_back(folder + "/" + prefix + "-" + name_of(first));
    };
    offer("zz");
    const auto names = files_.list(folder);
    if (!names || names->empty()) return paths;
    const std::string& last = names->back();
    if (name_of(paths.back()) >= last) return paths;
    const char lead = std::max('z', last.front());
    const std::size_t leads = std::min(last.find_first_not_of(lead), last.size());
    if (static_cast<unsigned char>(lead) < 0x7f) offer(std::string(leads + 1, lead));
    return paths;
  }

  [[nodiscard]] const Table* effective_runc() const {
    const Table* handlers = handlers_table(bare_.config);
    const Value* runc = handlers ? find(*handlers, kRunc) : nullptr;
    return runc ? runc->table() : nullptr;
  }

  [[nodiscard]] Result<Candidate> make(const std::string& path) const {
    Candidate candidate{.approach = "'" + path + "'"};
    FileChange file{.path = path};
    auto text = files_.read(path);
    if (text) {
      file.before = *std::move(text);
    } else if (text.error().code != ErrorCode::not_found) {
      return std::unexpected(text.error());
    }
    Table table;
    const auto theirs = std::ranges::find(bare_.layers, path, &Layer::path);
    if (theirs != bare_.layers.end()) {
      table = theirs->table;
      file.sources.push_back(path);
    }
    add_handlers(table, file, candidate);
    file.after = std::string(kHeader) + "\n" + render_toml(table);
    candidate.files.push_back(std::move(file));
    return candidate;
  }

  void add_handlers(Table& table, FileChange& file, Candidate& candidate) const {
    static const Table kNone;
    const Table* handlers = handlers_table(bare_.config);
    const Parent parent = find_parent(handlers ? *handlers : kNone, default_handler(bare_, known_), desired_);
    const Table& copied = parent.handler ? *parent.handler->table() : kNone;
    if (parent.handler && parent.handler->origin.file && *parent.handler->origin.file != file.path)
      file.sources.push_back(*parent.handler->origin.file);
    Table& runtime = table_in(table_in(table, "crio"), "runtime");
    Table& runtimes = table_in(runtime, "runtimes");
    for (const DesiredHandler& handler : desired_.handlers) {
      runtimes.insert_or_assign(handler.name, Value{.data = make_handler(handler, copied)});
      candidate.may_change.push_back({{"crio", "runtime", "runtimes", handler.name}});
    }
    if (desired_.default_handler.empty()) return;
    set(runtime, "default_runtime", Value{.data = desired_.default_handler});
    candidate.may_change.push_back({{"crio", "runtime", "default_runtime"}});
  }

  /// A name that begins with the whole of ours is read next.
  [[nodiscard]] Candidate with_runc_again(Candidate candidate, const std::string& path) const {
    Table runc{{std::string(kRunc), {.data = without_zeros(*effective_runc())}}};
    Table runtime{{"runtimes", {.data = std::move(runc)}}};
    Table crio{{"runtime", {.data = std::move(runtime)}}};
    FileChange again{.path = path + ".runc"};
    again.after = std::string(kHeader) + "# Naming a default_runtime makes this release of CRI-O forget runc.\n\n" +
                  render_toml({{"crio", {.data = std::move(crio)}}});
    again.sources = candidate.files.front().sources;
    candidate.approach += " and '" + again.path + "', which brings runc back";
    candidate.files.push_back(std::move(again));
    return candidate;
  }

  const Known& known_;
  const LoadRequest& request_;
  const FileReader& files_;
  const EffectiveConfig& bare_;
  const Desired& desired_;
};

}  // namespace

Result<std::vector<Candidate>> make_candidates(const Known& known,
                                               const LoadRequest& request,
                                               const FileReader& files,
                                               const EffectiveConfig& bare,
                                               const Desired& desired) {
  return Maker(known, request, files, bare, desired).run();
}

}  // namespace ctkit::engine::crio
