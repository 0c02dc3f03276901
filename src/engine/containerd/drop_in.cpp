#include "engine/containerd/drop_in.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "engine/containerd/authors_union.h"
#include "engine/containerd/foreign_root.h"
#include "engine/containerd/go_path.h"
#include "engine/containerd/handler_table.h"
#include "engine/containerd/handlers.h"
#include "engine/containerd/imports_edit.h"
#include "engine/containerd/migrate.h"
#include "engine/toml_reader.h"
#include "engine/toml_writer.h"

namespace ctkit::engine::containerd {

namespace {

constexpr std::string_view kHeader =
    "# Written by ctkit. Edits here are lost at the next `ctkit apply`; `ctkit uninstall` removes the file.\n";

constexpr std::string_view kEnableCdi = "enable_cdi";

/// Which names a drop-in uses.
struct Style {
  std::string_view id;          ///< plugin section that gets the handlers
  std::optional<long> version;  ///< its version key
};

/// A name for our file and how the daemon comes to read it.
struct Place {
  std::string path;
  bool loaded_today = false;                       ///< somebody else's file of that name is part of the config
  Table foreign = {};                              ///< what that file says
  std::optional<std::string> text = std::nullopt;  ///< that file, loaded or not
  std::vector<FileChange> root = {};               ///< the edit of the top-level config, if no import covers the path
};

std::string describe(const Place& place, const Style& style) {
  std::string words = "'" + place.path + "' with " + std::string(style.id);
  return words + (style.version ? " and version " + std::to_string(*style.version) : " and no version key");
}

class Maker {
 public:
  Maker(const Daemon& daemon,
        const LoadRequest& request,
        const FileReader& files,
        const EffectiveConfig& bare,
        const Desired& desired)
      : daemon_(daemon),
        regime_(daemon.known.regime),
        request_(request),
        files_(files),
        bare_(bare),
        desired_(desired) {}

  Result<std::vector<Candidate>> run() {
    std::vector<Candidate> candidates;
    const std::vector<std::string> paths = our_paths();
    std::optional<Error> refused;
    for (const std::string& path : paths) {
      auto place = place_at(path);
      if (!place) {
        if (!refused) refused = place.error();
        continue;
      }
      for (const Style& style : styles())
        candidates.push_back(make(*place, style));
    }
    if (candidates.empty() && refused) return std::unexpected(*refused);
    return candidates;
  }

 private:
  [[nodiscard]] bool keyed() const { return regime_.keyed_plugins; }

  /// First choice, and names in the same folder that sort behind it: `zz-`, then behind every file that is there.
  [[nodiscard]] std::vector<std::string> our_paths() const {
    const std::string first = desired_.drop_in.empty() ? usual_place() : clean(desired_.drop_in);
    const std::string folder = dir(first);
    std::vector<std::string> paths = {first};
    const auto offer = [&](const std::string& prefix) { paths.push_back(join(folder, prefix + "-" + base(first))); };
    offer("zz");
    const auto names = files_.list(folder);
    if (!names || names->empty()) return paths;
    const std::string& last = names->back();
    const char lead = std::max('z', last.front());
    const std::size_t leads = std::min(last.find_first_not_of(lead), last.size());
    if (base(paths.back()) < last && static_cast<unsigned char>(lead) < 0x7f) offer(std::string(leads + 1, lead));
    return paths;
  }

  /// `conf.d` beside the top-level config. Where that one is written anew at each start (k3s, RKE2) and imports another
  /// folder of drop-ins, that folder.
  [[nodiscard]] std::string usual_place() const {
    const std::string name = "99-nvidia.toml";
    std::string usual = join(dir(request_.config_path), "conf.d/" + name);
    const auto text = files_.read(request_.config_path);
    if (!text || !owner_of(*text) || covered(usual)) return usual;
    const Layer* root = root_layer();
    const Value* imports = root ? find(root->table, "imports") : nullptr;
    if (!imports || !imports->array()) return usual;
    for (const Value& import : *imports->array()) {
      if (!import.string() || !is_absolute(*import.string())) continue;
      const std::string place = join(dir(*import.string()), name);
      if (!place.contains('*') && covered(place)) return place;
    }
    return usual;
  }

  /// Who writes the top-level config anew at each start; MicroK8s doesn't say so in the file.
  [[nodiscard]] std::optional<std::string> owner_of(std::string_view text) const {
    if (auto owner = generated_by(text)) return owner;
    if (files_.exists(join(dir(request_.config_path), "containerd-template.toml"))) return "microk8s";
    return std::nullopt;
  }

  [[nodiscard]] const Layer* root_layer() const {
    return !bare_.layers.empty() && bare_.layers.front().path == request_.config_path ? &bare_.layers.front() : nullptr;
  }

  /// The version that the files leave at the end; 0: none of them says one.
  [[nodiscard]] long merged_version() const {
    long version = 0;
    for (const Layer& layer : bare_.layers) {
      if (layer.schema_version != 0) version = layer.schema_version;
    }
    return version;
  }

  [[nodiscard]] bool short_names() const { return !keyed() && merged_version() >= 0 && merged_version() < 2; }

  [[nodiscard]] bool any_plugins() const {
    return std::ranges::any_of(bare_.layers, [](const Layer& layer) {
      const Value* plugins = find(layer.table, "plugins");
      const Value* disabled = find(layer.table, "disabled_plugins");
      return (plugins && plugins->table() && !plugins->table()->empty()) ||
             (disabled && disabled->array() && !disabled->array()->empty());
    });
  }

  [[nodiscard]] std::vector<Style> styles() const {
    if (!keyed()) {
      if (!short_names()) return {{kCri, 2}, {kCri, std::nullopt}};
      if (any_plugins()) return {{"cri", std::nullopt}, {kCri, 2}};
      return {{kCri, 2}, {"cri", std::nullopt}};
    }
    const Layer* root = root_layer();
    if (!root) return {{kRuntime, new_root_version()}, {kRuntime, std::nullopt}};
    const long version = root->schema_version;
    if (version >= 3) return {{kRuntime, version}, {kRuntime, std::nullopt}, {kCri, 2}};
    if (version > 0) {
      return {{kCri, version}, {kCri, std::nullopt}, {kRuntime, std::nullopt}, {kRuntime, version}};
    }
    return {{kRuntime, std::nullopt}, {kCri, std::nullopt}, {kCri, 2}};
  }

  /// The lowest version whose names the release uses itself: it stays valid on the releases around it.
  [[nodiscard]] long new_root_version() const { return keyed() ? 3 : 2; }

  [[nodiscard]] const Layer* layer_at(std::string_view path) const {
    const auto layer = std::ranges::find(bare_.layers, path, &Layer::path);
    return layer == bare_.layers.end() ? nullptr : &*layer;
  }

  Result<Place> place_at(const std::string& path) {
    Place place{.path = path};
    auto text = files_.read(path);
    if (text) {
      place.text = *text;
    } else if (text.error().code != ErrorCode::not_found) {
      return std::unexpected(text.error());
    }
    if (auto folder = check_folder(dir(path)); !folder) return std::unexpected(folder.error());
    if (const Layer* layer = layer_at(path)) {
      place.loaded_today = true;
      place.foreign = layer->table;
    }
    if (!covered(path)) {
      auto edit = edit_root(path);
      if (!edit) return std::unexpected(edit.error());
      place.root.push_back(*std::move(edit));
    }
    return place;
  }

  /// The folder, or the nearest one above it that is there, must be a folder.
  [[nodiscard]] Result<void> check_folder(std::string folder) const {
    while (folder != "/" && !files_.exists(folder))
      folder = dir(folder);
    if (files_.list(folder)) return {};
    return std::unexpected(Error{.code = ErrorCode::needs_decision,
                                 .message = "'" + folder + "' is no folder, and our drop-in wants to be below it",
                                 .where = folder,
                                 .hint = "name another place with --drop-in"});
  }

  /// Whether an import of some loaded file would find the path.
  [[nodiscard]] bool covered(const std::string& path) const {
    for (const Layer& layer : bare_.layers) {
      const Value* imports = find(layer.table, "imports");
      if (!imports || !imports->array()) continue;
      for (const Value& import : *imports->array()) {
        if (!import.string()) continue;
        std::string pattern = clean(*import.string());
        if (!is_absolute(pattern)) {
          const bool from_working_folder = !regime_.globs_from_importer && pattern.contains('*');
          pattern = join(from_working_folder ? request_.working_folder : dir(layer.path), pattern);
        }
        if (pattern == path) return true;
        if (!pattern.contains('*')) continue;
        const auto matched = match(pattern, path);
        if (matched && *matched) return true;
      }
    }
    return false;
  }

  Result<FileChange> edit_root(const std::string& path) const {
    const std::string pattern = narrow_pattern(path);
    auto text = files_.read(request_.config_path);
    if (!text) {
      if (text.error().code != ErrorCode::not_found) return std::unexpected(text.error());
      return FileChange{.path = request_.config_path, .after = new_root(static_cast<int>(new_root_version()), pattern)};
    }
    if (const auto owner = owner_of(*text)) {
      return std::unexpected(Error{.code = ErrorCode::needs_decision,
                                   .message = "'" + request_.config_path + "' is written anew by " + *owner +
                                              " at each start, and nothing in it imports '" + path + "'",
                                   .where = request_.config_path + ":1",
                                   .hint = drop_in_hint(*owner, request_.config_path)});
    }
    auto edited = add_import(*text, request_.config_path, pattern, *regime_.dialect);
    if (!edited) return std::unexpected(edited.error());
    return FileChange{.path = request_.config_path, .before = *std::move(text), .after = *std::move(edited)};
  }

  /// A glob that finds our file and hardly anything else: no dormant file wakes, and unlike a literal import it lets
  /// the daemon start when our file is gone. The star stands before the last letter, where no backup copy puts
  /// anything.
  static std::string narrow_pattern(const std::string& path) {
    return path.substr(0, path.size() - 1) + "*" + path.substr(path.size() - 1);
  }

  Candidate make(const Place& place, const Style& style) const {
    Candidate candidate{.approach = describe(place, style)};
    Table table = place.foreign;
    table.erase("version");
    if (style.version) table["version"].data = std::int64_t{*style.version};
    FileChange file{.path = place.path, .before = place.text};
    if (keyed()) {
      add_handlers(table, style);
      if (place.loaded_today) file.sources.push_back(place.path);
    } else {
      replace_section(table, style, candidate, file);
    }
    file.after = std::string(kHeader) + "\n" + render_toml(table);
    candidate.files.push_back(std::move(file));
    candidate.files.insert(candidate.files.end(), place.root.begin(), place.root.end());
    const std::string section(runtimes_section(regime_));
    for (const DesiredHandler& handler : desired_.handlers) {
      candidate.may_change.push_back({{"plugins", section, "containerd", "runtimes", handler.name}});
    }
    if (!desired_.default_handler.empty()) {
      candidate.may_change.push_back({{"plugins", section, "containerd", "default_runtime_name"}});
    }
    if (turns_cdi_on()) candidate.may_change.push_back({{"plugins", section, std::string(kEnableCdi)}});
    candidate.may_change.push_back({{"imports"}});
    return candidate;
  }

  /// 1.7 has the switch, off unless somebody turns it on; from 2.0 on it is on unless somebody turns it off. Before 1.7
  /// there is none, and a key that nobody reads would be no help.
  [[nodiscard]] bool turns_cdi_on() const {
    if (!desired_.enable_cdi) return false;
    const Value* plugins = find(bare_.config, "plugins");
    const Value* section = plugins && plugins->table() ? find(*plugins->table(), runtimes_section(regime_)) : nullptr;
    const Value* present = section && section->table() ? find(*section->table(), kEnableCdi) : nullptr;
    return present && present->boolean() && !*present->boolean();
  }

  static Table& table_in(Table& table, std::string_view key) {
    Value* value = find(table, key);
    for (auto& [name, other] : table) {
      // A file may spell a struct's key in capitals.
      if (value || name.size() != key.size()) continue;
      if (std::ranges::equal(name, key, [](char a, char b) { return a == b || a + ('a' - 'A') == b; })) {
        value = &other;
      }
    }
    if (!value) value = &table.try_emplace(std::string(key), Value{.data = Table{}}).first->second;
    if (!value->table()) value->data = Table{};
    return *value->table();
  }

  /// 2.x: our handlers, copies of the effective parent, and nothing else.
  void add_handlers(Table& table, const Style& style) const {
    const Table empty;
    const Table* containerd = containerd_table(bare_, regime_);
    const Value* runtimes = containerd ? find(*containerd, "runtimes") : nullptr;
    const Table& present = runtimes && runtimes->table() ? *runtimes->table() : empty;
    const Table* parent = find_parent(present, default_handler(bare_, regime_), desired_);
    const Table copy = parent ? without_zeros(*parent) : Table{};
    Table& cri = table_in(table_in(table, "plugins"), style.id);
    if (turns_cdi_on()) cri.insert_or_assign(std::string(kEnableCdi), Value{.data = true});
    Table& section = table_in(cri, "containerd");
    for (const DesiredHandler& handler : desired_.handlers) {
      Table ours = make_handler(handler, copy);
      if (style.id == kCri) rename(ours, "sandboxer", "sandbox_mode");
      shadow_spellings(ours, find_handler(bare_, regime_, handler.name));
      table_in(section, "runtimes").insert_or_assign(handler.name, Value{.data = std::move(ours)});
    }
    if (!desired_.default_handler.empty()) {
      section.insert_or_assign("default_runtime_name", Value{.data = desired_.default_handler});
    }
  }

  static void rename(Table& table, const std::string& from, const std::string& to) {
    auto node = table.extract(from);
    if (node.empty()) return;
    node.key() = to;
    table.insert(std::move(node));
  }

  /// The parent without values that are built in and zero anyway.
  static Table without_zeros(const Table& handler) {
    Table copy;
    for (const auto& [key, value] : handler) {
      if (value.table()) {
        copy.emplace(key, Value{.data = without_zeros(*value.table())});
        continue;
      }
      const auto* integer = value.integer();
      const bool zero = (value.boolean() && !*value.boolean()) || (integer && *integer == 0) ||
                        (value.string() && value.string()->empty()) || (value.array() && value.array()->empty());
      if (!zero || !value.origin.built_in()) copy.emplace(key, value);
    }
    return copy;
  }

  /// Tables merge by key, so another file's `binaryName` for our handler stays beside our `BinaryName`, and the shim
  /// would take that one: ours is repeated under it.
  static void shadow_spellings(Table& ours, const Table* present) {
    const Value* theirs = present ? find(*present, "options") : nullptr;
    Value* options = find(ours, "options");
    if (!theirs || !theirs->table() || !options || !options->table()) return;
    const Value binary = *find(*options->table(), "BinaryName");
    for (const std::string& spelling : binary_name_spellings(*theirs->table())) {
      options->table()->insert_or_assign(spelling, binary);
    }
  }

  /// 1.x: everybody's CRI table and our handlers.
  void replace_section(Table& table, const Style& style, Candidate& candidate, FileChange& file) const {
    const Table built_in = built_in_section(daemon_, kCri);
    Table section = authors_section(built_in, file);
    candidate.carried = {{"plugins", {.data = Table{{std::string(kCri), {.data = section}}}}}};
    Table& containerd = table_in(section, "containerd");
    Table& runtimes = table_in(containerd, "runtimes");
    if (!runtimes.contains("runc")) {
      if (const Table* runc = built_in_runc(built_in)) runtimes.emplace("runc", Value{.data = *runc});
    }
    for (auto& [name, handler] : runtimes) {
      const Table* today = find_handler(bare_, regime_, name);
      if (today && handler.table()) fill_unset(*handler.table(), *today);
    }
    for (const DesiredHandler& handler : desired_.handlers)
      runtimes.erase(handler.name);
    const Value* chosen = find(containerd, "default_runtime_name");
    const Table* parent = find_parent(runtimes, chosen && chosen->string() ? *chosen->string() : "runc", desired_);
    const Table copy = parent ? without_zeros(*parent) : Table{};
    for (const DesiredHandler& handler : desired_.handlers) {
      runtimes.insert_or_assign(handler.name, Value{.data = make_handler(handler, copy)});
    }
    if (!desired_.default_handler.empty()) {
      containerd.insert_or_assign("default_runtime_name", Value{.data = desired_.default_handler});
    }
    if (turns_cdi_on()) section.insert_or_assign(std::string(kEnableCdi), Value{.data = true});
    Table& plugins = table_in(table, "plugins");
    plugins.erase(std::string(kCri));
    plugins.erase("cri");
    plugins.insert_or_assign(std::string(style.id), Value{.data = std::move(section)});
  }

  /// What the other files' CRI tables come to: all of them, or only what is effective today.
  Table authors_section(const Table& built_in, FileChange& file) const {
    const std::string_view id = short_names() ? "cri" : kCri;
    std::vector<Source> sources;
    for (const Layer& layer : bare_.layers) {
      const Value* plugins = find(layer.table, "plugins");
      const Value* section = plugins && plugins->table() ? find(*plugins->table(), id) : nullptr;
      if (!section || !section->table()) continue;
      sources.push_back({&layer, section->table()});
      file.sources.push_back(layer.path);
    }
    const Type& type = *cri_type();
    Table section;
    if (desired_.on_conflict == OnConflict::keep) {
      const Value* plugins = find(bare_.config, "plugins");
      const Value* today = plugins && plugins->table() ? find(*plugins->table(), kCri) : nullptr;
      if (today && today->table()) section = *today->table();
    } else {
      section = union_of(sources, type);
      leave_dead_stock_handlers(section);
    }
    drop_built_in(section, built_in, type);
    return section;
  }

  /// What a stock installer left behind and nobody serves today does not come back.
  void leave_dead_stock_handlers(Table& section) const {
    Value* containerd = find(section, "containerd");
    Value* runtimes = containerd && containerd->table() ? find(*containerd->table(), "runtimes") : nullptr;
    if (!runtimes || !runtimes->table()) return;
    std::erase_if(*runtimes->table(), [&](const auto& entry) {
      return entry.second.table() && is_stock_handler(*entry.second.table()) &&
             !find_handler(bare_, regime_, entry.first);
    });
  }

  [[nodiscard]] const Type* cri_type() const {
    static constexpr Type kUnknown{.kind = Kind::table};
    for (const PluginType& plugin : daemon_.known.schema->plugins) {
      if (plugin.id == kCri) return plugin.type;
    }
    return &kUnknown;
  }

  static const Table* built_in_runc(const Table& built_in) {
    const Table* at = &built_in;
    for (const std::string_view key : {"containerd", "runtimes", "runc"}) {
      const Value* value = find(*at, key);
      at = value ? value->table() : nullptr;
      if (!at) return nullptr;
    }
    return at;
  }

  const Daemon& daemon_;
  const Regime& regime_;
  const LoadRequest& request_;
  const FileReader& files_;
  const EffectiveConfig& bare_;
  const Desired& desired_;
};

}  // namespace

Result<std::vector<Candidate>> make_candidates(const Daemon& daemon,
                                               const LoadRequest& request,
                                               const FileReader& files,
                                               const EffectiveConfig& bare,
                                               const Desired& desired) {
  return Maker(daemon, request, files, bare, desired).run();
}

}  // namespace ctkit::engine::containerd
