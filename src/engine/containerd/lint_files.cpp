#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "engine/change.h"
#include "engine/containerd/go_path.h"
#include "engine/containerd/handlers.h"
#include "engine/containerd/imports_edit.h"
#include "engine/containerd/lint_parts.h"
#include "engine/letter_case.h"
#include "engine/overlay.h"

namespace ctkit::engine::containerd {

namespace {

Origin whole_file(std::string path) {
  return {.file = std::make_shared<const std::string>(std::move(path)), .line = 1, .column = 1};
}

std::string absolute(const LintView& view, const std::string& path) {
  return is_absolute(path) ? clean(path) : join(view.request.working_folder, path);
}

/// conf.d beside the top-level config.
std::string usual_folder(const LintView& view) {
  return join(dir(absolute(view, view.request.config_path)), "conf.d");
}

/// The *.toml files of conf.d that the daemon does not read.
std::vector<std::string> dormant_files(const LintView& view, bool& others_are_read) {
  const std::string folder = usual_folder(view);
  std::set<std::string> read;
  for (const Layer& layer : view.layers)
    read.insert(absolute(view, layer.path));
  others_are_read = std::ranges::any_of(read, [&](const std::string& path) { return dir(path) == folder; });
  std::vector<std::string> dormant;
  const auto names = view.files.list(folder);
  if (!names) return dormant;
  for (const std::string& name : *names) {
    const std::string path = join(folder, name);
    if (name.ends_with(".toml") && !read.contains(path) && view.files.read(path)) {
      dormant.push_back(path);
    }
  }
  return dormant;
}

/// Makes the host one where conf.d/*.toml is imported and `woken` is the only file there that is
/// not read today; false if the top-level config cannot be edited.
bool import_usual_folder(const LintView& view,
                         std::span<const std::string> dormant,
                         const std::string& woken,
                         Overlay& host) {
  const std::string& root = view.request.config_path;
  const std::string pattern = usual_folder(view) + "/*.toml";
  for (const std::string& path : dormant) {
    if (path != woken) host.put(path, std::nullopt);
  }
  const auto text = view.files.read(root);
  if (!text) {
    host.put(root, new_root(2, pattern));
    return true;
  }
  auto edited = add_import(*text, root, pattern, *view.regime().dialect);
  if (!edited) return false;
  host.put(root, *std::move(edited));
  return true;
}

/// What would go wrong if the file were read; empty: nothing, or it cannot be said.
std::string consequence(const LintView& view, std::span<const std::string> dormant, const std::string& woken) {
  Overlay host(view.files);
  if (!import_usual_folder(view, dormant, woken, host)) return "";
  const auto then = effective(view.daemon, host, view.request, false);
  if (!then) return "the daemon would refuse to start: " + then.error().message;
  if (view.effective->not_serving.empty() && !then->not_serving.empty()) {
    return "Kubernetes would find no runtime: " + then->not_serving.front();
  }
  std::vector<std::string> lost;
  for (const Handler& handler : effective_handlers(*view.effective, view.regime())) {
    if (!find_handler(*then, view.regime(), handler.name)) lost.push_back("'" + handler.name + "'");
  }
  if (!lost.empty()) return "handler " + listed(lost) + " would be lost";
  std::vector<std::string> changed;
  for (const Change& change : differences(view.effective->config, then->config)) {
    if (change.before && !change.before->origin.built_in() && change.key.parts.front() != "imports") {
      changed.push_back(change.key.to_string());
    }
  }
  if (!changed.empty()) return "it would change what other files set: " + listed(changed, 2);
  return "";
}

bool is_credential(std::string_view key) {
  constexpr std::array<std::string_view, 8> kNames = {
      "password", "passwd", "auth", "identitytoken", "registrytoken", "token", "secret", "authorization"};
  return std::ranges::find(kNames, lower(key)) != kNames.end();
}

/// `scheme://user:password@host`
bool has_credentials(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return false;
  const std::string_view rest = text.substr(scheme + 3);
  const std::string_view authority = rest.substr(0, rest.find('/'));
  const std::size_t at = authority.rfind('@');
  return at != std::string_view::npos && authority.substr(0, at).contains(':');
}

bool is_secret(const KeyPath& key, const Value& value) {
  if (const Array* array = value.array()) {
    return std::ranges::any_of(*array, [&](const Value& item) { return is_secret(key, item); });
  }
  const std::string* text = value.string();
  return text && !text->empty() && (is_credential(key.parts.back()) || has_credentials(*text));
}

/// Whether some file's `imports` names the path itself, not by a pattern.
bool is_named(const LintView& view, const std::string& path) {
  return std::ranges::any_of(view.layers, [&](const Layer& layer) {
    const Value* imports = find(layer.table, "imports");
    return imports && imports->array() && std::ranges::any_of(*imports->array(), [&](const Value& import) {
             if (!import.string()) return false;
             const std::string& text = *import.string();
             return absolute(view, is_absolute(text) ? text : join(dir(layer.path), text)) == absolute(view, path);
           });
  });
}

}  // namespace

void lint_imports(LintView& view) {
  bool others_are_read = false;
  const std::vector<std::string> dormant = dormant_files(view, others_are_read);
  const std::string pattern = usual_folder(view) + "/*.toml";
  const bool root_is_there = !view.layers.empty();
  constexpr int kMostSimulated = 50;  // each costs a whole load
  int simulated = 0;
  for (const std::string& path : dormant) {
    if (!others_are_read) {
      view.add(RuleId::not_imported,
               whole_file(path),
               fmt::format("nothing imports this file: '{}' {}",
                           view.request.config_path,
                           root_is_there ? "does not import its folder" : "does not exist"),
               fmt::format("write imports = [\"{}\"] into '{}'; that {} prints such a line is no "
                           "proof, only a top-level config that has it counts",
                           pattern,
                           view.request.config_path,
                           "`config dump` of 2.2 and later"));
    }
    const std::string harm = ++simulated > kMostSimulated ? "" : consequence(view, dormant, path);
    if (!harm.empty()) {
      view.add(RuleId::dormant_file,
               whole_file(path),
               fmt::format("not read today; if '{}' were imported, as stock installers do, {}", pattern, harm),
               "delete the file, or move it out of the folder");
    } else if (others_are_read) {
      view.add(RuleId::dormant_file,
               Severity::note,
               whole_file(path),
               fmt::format("not read, though other files of its folder are; importing '{}', as "
                           "stock installers do, would wake it",
                           pattern),
               "import it, or move it out of the folder");
    }
  }
}

void lint_stray_files(LintView& view) {
  for (const Layer& layer : view.layers) {
    if (layer.path == view.request.config_path || !is_stray(layer.path)) continue;
    if (is_named(view, layer.path)) continue;
    view.add(RuleId::stray_file,
             whole_file(layer.path),
             "this looks like a backup, temporary or editor's file, and a pattern among the imports "
             "makes the daemon read it",
             "move it out of the folder, or import only '*.toml'");
  }
}

void lint_secrets(LintView& view) {
  constexpr unsigned kOthersRead = 04;
  for (const Layer& layer : view.layers) {
    const auto mode = view.modes.find(absolute(view, layer.path));
    if (mode == view.modes.end() || !mode->second || (*mode->second & kOthersRead) == 0) continue;
    std::optional<Origin> first;
    std::size_t count = 0;
    each_leaf(layer.table, {}, [&](const KeyPath& key, const Value& value) {
      if (!is_secret(key, value)) return;
      ++count;
      const auto place = std::pair(value.origin.line, value.origin.column);
      if (!first || place < std::pair(first->line, first->column)) first = value.origin;
    });
    if (!first) continue;
    view.add(RuleId::readable_secret,
             *first,
             fmt::format("credentials in a file that everybody on the node can read (mode {:04o}{})",
                         *mode->second,
                         count > 1 ? fmt::format(", {} values", count) : std::string()),
             fmt::format("chmod 0600 '{}', or keep them in /etc/containerd/certs.d with that mode", layer.path));
  }
}

}  // namespace ctkit::engine::containerd
