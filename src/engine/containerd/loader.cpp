#include "engine/containerd/loader.h"

#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "engine/containerd/decode.h"
#include "engine/containerd/go_fields.h"
#include "engine/containerd/go_path.h"
#include "engine/toml_reader.h"

namespace ctkit::engine::containerd {

namespace {

struct Pending {
  std::string path;
  Origin asked_for;  ///< the import that named it; built-in: the top-level config
};

class Loader {
 public:
  Loader(const FileReader& files, const LoadRequest& request, const Known& known, const Transcript& transcript)
      : files_(files), request_(request), known_(known), transcript_(transcript) {}

  Result<Loaded> run() {
    std::deque<Pending> pending{{request_.config_path, {}}};
    std::set<std::string, std::less<>> seen;
    Loaded loaded;
    while (!pending.empty()) {
      const Pending next = std::move(pending.front());
      pending.pop_front();
      if (!seen.insert(next.path).second) continue;
      if (next.path.contains('\0')) {  // Go's os.ReadFile: syscall.BytePtrFromString gives EINVAL, no "does not exist"
        return std::unexpected(refusal(next, "the path has a NUL in it", "take the import out"));
      }
      auto text = files_.read(absolute(next.path));
      if (!text) {
        auto stop = missing(next, text.error(), loaded);
        if (!stop) return std::unexpected(stop.error());
        return loaded;
      }
      auto file = read(next.path, *text, loaded.diagnostics);
      if (!file) return std::unexpected(file.error());
      auto imports = resolve(*file);
      if (!imports) return std::unexpected(imports.error());
      for (Pending& import : *imports)
        pending.push_back(std::move(import));
      loaded.files.push_back(*std::move(file));
    }
    return loaded;
  }

 private:
  [[nodiscard]] std::string absolute(const std::string& path) const {
    return is_absolute(path) ? path : join(request_.working_folder, path);
  }

  /// A file that cannot be read: an error, or the place where loading quietly ends.
  Result<void> missing(const Pending& file, const Error& error, Loaded& loaded) const {
    const bool two = known_.regime.decoding == Decoding::go_toml_2;
    if (error.code == ErrorCode::is_directory) {
      return std::unexpected(refusal(file,
                                     "'" + file.path + "' is a directory",
                                     "containerd refuses a folder among its imports; move it out of the pattern"));
    }
    if (error.code == ErrorCode::unreadable) {
      return std::unexpected(refusal(file, "'" + file.path + "': " + error.message, error.hint));
    }
    if (error.code != ErrorCode::not_found) return std::unexpected(error);
    if (file.asked_for.built_in()) return missing_top(loaded);
    if (two && request_.as_dump) {
      loaded.stopped_early = true;
      return {};
    }
    return std::unexpected(
        refusal(file,
                "'" + file.path + "' does not exist",
                two ? "containerd will not start, though its `config dump` says nothing; create the file, or import it "
                      "by a pattern with `*`"
                    : "create the file, or import it by a pattern with `*`"));
  }

  Result<void> missing_top(Loaded& loaded) const {
    const bool two = known_.regime.decoding == Decoding::go_toml_2;
    const bool fatal = request_.as_dump ? !two : request_.config_given;
    if (fatal) {
      return std::unexpected(Error{.code = ErrorCode::daemon_refuses,
                                   .message = "'" + request_.config_path + "' does not exist",
                                   .where = request_.config_path,
                                   .hint = "create it, or give another one with --config"});
    }
    loaded.diagnostics.push_back({.severity = Severity::note,
                                  .message = "'" + request_.config_path +
                                             "' does not exist: containerd runs on its built-in defaults" +
                                             (two ? "" : ", and its `config dump` fails")});
    return {};
  }

  static Error refusal(const Pending& file, std::string message, std::string hint) {
    return {.code = ErrorCode::daemon_refuses,
            .message = std::move(message),
            .where = file.asked_for.built_in() ? file.path : file.asked_for.to_string(),
            .hint = std::move(hint)};
  }

  Result<LoadedFile> read(const std::string& path, const std::string& text, Diagnostics& diagnostics) const {
    auto table = read_toml(text, path, *known_.regime.dialect, [&](std::span<const std::string> key) {
      return has_place(*known_.schema->top, key);
    });
    if (!table) return std::unexpected(table.error());
    LoadedFile file;
    file.layer.path = path;
    Slot config = zero(*known_.schema->top);
    const Value whole{.data = *std::move(table),
                      .origin = {.file = std::make_shared<const std::string>(path), .line = 1}};
    const DecodeContext context{
        .regime = &known_.regime, .transcript = &transcript_, .diagnostics = &diagnostics, .in_file_order = true};
    if (auto done = decode(*known_.schema->top, whole, config, {}, context); !done) {
      return std::unexpected(done.error());
    }
    file.config = std::move(*config->table());
    if (auto done = check_sections(file.config); !done) return std::unexpected(done.error());
    file.layer.table = std::get<Table>(whole.data);
    if (const Value* version = find(file.config, "version"); version && version->integer()) {
      file.layer.schema_version = static_cast<long>(*version->integer());
      file.layer.version_origin = version->origin;
    }
    return file;
  }

  /// containerd 1.x services/server/config Config: `plugins` is a map[string]toml.Tree, so that nothing but tables fits
  /// in.
  [[nodiscard]] Result<void> check_sections(const Table& config) const {
    const Value* plugins = find(config, "plugins");
    if (known_.regime.decoding != Decoding::go_toml_1 || !plugins || !plugins->table()) return {};
    for (const auto& [name, section] : *plugins->table()) {
      if (section.table()) continue;
      const KeyPath key{{"plugins", name}};
      return std::unexpected(
          Error{.code = ErrorCode::daemon_refuses,
                .message = "'" + key.to_string() + "' wants a table, not " + std::string(type_name(section)),
                .where = section.origin.to_string()});
    }
    return {};
  }

  /// The files that one file's `imports` name, in order.
  [[nodiscard]] Result<std::vector<Pending>> resolve(const LoadedFile& file) const {
    std::vector<Pending> found;
    const Value* imports = find(file.config, "imports");
    if (!imports || !imports->array()) return found;
    for (const Value& import : *imports->array()) {
      std::string path = *import.string();
      if (known_.regime.globs_from_importer || !path.contains('*')) {
        path = clean(path);
        if (!is_absolute(path)) path = join(dir(file.layer.path), path);
      }
      if (!path.contains('*')) {
        found.push_back({path, import.origin});
        continue;
      }
      auto matches = glob(path, files_, request_.working_folder);
      if (!matches && matches.error().code == ErrorCode::permission) return std::unexpected(matches.error());
      if (!matches) {
        return std::unexpected(Error{.code = ErrorCode::daemon_refuses,
                                     .message = "'" + path + "' is no pattern: " + matches.error().message,
                                     .where = import.origin.to_string()});
      }
      for (std::string& match : *matches)
        found.push_back({std::move(match), import.origin});
    }
    return found;
  }

  const FileReader& files_;
  const LoadRequest& request_;
  const Known& known_;
  const Transcript& transcript_;
};

}  // namespace

Result<Loaded> load(const FileReader& files,
                    const LoadRequest& request,
                    const Known& known,
                    const Transcript& transcript) {
  return Loader(files, request, known, transcript).run();
}

}  // namespace ctkit::engine::containerd
