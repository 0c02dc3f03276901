#include "engine/crio/lint.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "engine/crio/handlers.h"
#include "engine/crio/schema.h"
#include "engine/crio/start_checks.h"

namespace ctkit::engine::crio {

namespace {

constexpr std::string_view kUnreadFolder = "/etc/crio/conf.d";
constexpr unsigned kExecutable = 0111;

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::string name_of(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

Origin whole_file(const std::string& path) {
  return {.file = std::make_shared<const std::string>(path)};
}

/// CRI-O reads prose too, whatever its name.
bool is_no_config(std::string_view path) {
  const std::string name = name_of(path);
  return is_stray(path) || name.starts_with("README") || name.ends_with(".md");
}

std::string listed(const std::vector<std::string>& items) {
  constexpr std::size_t kMost = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(items.size(), kMost); ++i) {
    if (i > 0) text += i + 1 == items.size() ? " and " : ", ";
    text += items[i];
  }
  if (items.size() > kMost) text += " and " + std::to_string(items.size() - kMost) + " more";
  return text;
}

/// A release that knows the key, as "1.30.14 and others"; "" if none does.
std::string knowing_releases(const KeyPath& path) {
  const Key* key = &document();
  for (std::size_t i = 0; i < path.parts.size(); ++i) {
    const auto member = std::ranges::find(key->keys, path.parts[i], &Key::name);
    if (member == key->keys.end()) return "";
    key = &*member;
    if (key->kind == Kind::handlers) ++i;  // the entry's own name
  }
  if (key->kind == Kind::table || key->kind == Kind::handlers) return "";
  for (std::size_t i = 0; i < recorded_releases().size(); ++i) {
    if ((key->releases >> i & 1) != 0) return std::string(recorded_releases()[i]);
  }
  return "";
}

class Linter {
 public:
  Linter(const Known& known,
         const LoadRequest& request,
         const FileReader& files,
         const EffectiveConfig& config,
         const FileModes& modes)
      : known_(known), request_(request), files_(files), config_(config), modes_(modes) {}

  std::vector<Finding> run() {
    start();
    monitors();
    binaries();
    replaced_handlers();
    inheriting_handlers();
    spellings();
    unread_keys();
    stray_files();
    unread_folder();
    return std::move(findings_);
  }

 private:
  void add(RuleId rule, Severity severity, Origin origin, std::string message, std::string hint) {
    findings_.push_back({.rule = rule,
                         .severity = severity,
                         .message = std::move(message),
                         .origin = std::move(origin),
                         .hint = std::move(hint)});
  }

  void start() {
    for (const StartProblem& problem : problems_) {
      add(problem.rule,
          problem.fatal ? Severity::error : Severity::warning,
          problem.origin,
          problem.message,
          problem.hint);
    }
  }

  /// A tree without programs does not say what is in PATH. But who names a monitor for one handler
  /// has it elsewhere.
  void monitors() {
    if (holds_programs(files_) || !runtime_text(config_.config, "conmon").empty()) return;
    const Table* handlers = handlers_table(config_.config);
    if (!handlers) return;
    const auto named = std::ranges::find_if(*handlers, [](const auto& entry) {
      return entry.second.table() && !text_of(*entry.second.table(), "monitor_path").empty();
    });
    if (named == handlers->end()) return;
    const std::string monitor = text_of(*named->second.table(), "monitor_path");
    for (const auto& [name, value] : *handlers) {
      if (!value.table() || value.origin.built_in() || !text_of(*value.table(), "monitor_path").empty()) continue;
      const std::string type = text_of(*value.table(), "runtime_type");
      if (!type.empty() && type != "oci") continue;
      add(RuleId::no_monitor,
          Severity::warning,
          value.origin,
          "handler " + quoted(name) + " has no monitor_path, while " + quoted(named->first) + " has " +
              quoted(monitor) + "; unless 'conmon' is in PATH too, CRI-O does not start",
          "give it the same: monitor_path = \"" + monitor + "\"");
    }
  }

  void binaries() {
    if (!holds_programs(files_)) return;
    for (const Handler& handler : effective_handlers(config_, known_)) {
      const auto mode = modes_.find(handler.binary);
      if (mode == modes_.end() || !mode->second || (*mode->second & kExecutable) != 0) continue;
      add(RuleId::missing_binary,
          Severity::warning,
          handler.origin,
          quoted(handler.binary) + " of handler " + quoted(handler.name) +
              " cannot be executed; CRI-O takes it, and its pods fail",
          "make it executable");
    }
  }

  void replaced_handlers() {
    std::map<std::pair<std::string, KeyPath>, std::vector<const Event*>> groups;
    for (const Event& event : config_.events) {
      if (event.kind != Event::Kind::erased || event.value.origin.built_in()) continue;
      groups[{event.by.to_string(), event.to}].push_back(&event);
    }
    for (const auto& [group, events] : groups) {
      const KeyPath& handler = group.second;
      std::vector<std::string> lost;
      for (const Event* event : events) {
        KeyPath below;
        below.parts.assign(event->key.parts.begin() + static_cast<std::ptrdiff_t>(handler.parts.size()),
                           event->key.parts.end());
        lost.push_back(below.to_string() + " (" + event->value.origin.to_string() + ")");
      }
      const std::string name = quoted(handler.parts.back());
      const Table* handlers = handlers_table(config_.config);
      const bool forgotten = handlers && !find(*handlers, handler.parts.back());
      add(RuleId::handler_replaced,
          Severity::warning,
          events.front()->by,
          forgotten ? name + " is forgotten here, as default_runtime is another, and with it " + listed(lost)
                    : name + " is named again, and what is not said here is lost: " + listed(lost),
          forgotten ? "define it again in a file that is read later"
                    : "repeat these keys here, or name it in one file only");
    }
  }

  void inheriting_handlers() {
    const Table* handlers = handlers_table(config_.config);
    if (!handlers) return;
    const std::string chosen = default_handler(config_, known_);
    for (const auto& [name, value] : *handlers) {
      if (!value.table() || name == chosen || !inherits_default(*value.table())) continue;
      const std::string path = text_of(*value.table(), "runtime_path");
      if (path.empty()) continue;
      add(RuleId::inherits_default,
          Severity::warning,
          find(*value.table(), "inherit_default_runtime")->origin,
          "handler " + quoted(name) + " starts what " + quoted(chosen) + " starts, and " + quoted(path) + " never",
          "take inherit_default_runtime out");
    }
  }

  void spellings() {
    for (const Diagnostic& diagnostic : config_.diagnostics) {
      const bool told = std::ranges::find(problems_, diagnostic.message, &StartProblem::message) != problems_.end();
      if (told || diagnostic.origin.built_in()) continue;
      add(RuleId::two_spellings, Severity::warning, diagnostic.origin, diagnostic.message, diagnostic.hint);
    }
  }

  void unread_keys() {
    for (const Event& event : config_.events) {
      if (event.kind != Event::Kind::unread) continue;
      const std::string known = knowing_releases(event.key);
      add(RuleId::unread_key,
          Severity::warning,
          event.value.origin,
          "CRI-O " + known_.release.to_string() + " reads " + quoted(event.key.to_string()) + " nowhere",
          known.empty() ? "no release we know has this key: look at its spelling and at the table "
                          "it stands in"
                        : "other releases have it, for example " + known);
    }
  }

  void stray_files() {
    for (const Layer& layer : config_.layers) {
      if (!is_no_config(layer.path)) continue;
      add(RuleId::stray_file,
          Severity::warning,
          whole_file(layer.path),
          "CRI-O reads " + quoted(name_of(layer.path)) + " like any other file of the folder",
          "move it out of the folder");
    }
  }

  void unread_folder() {
    const auto names = files_.list(kUnreadFolder);
    if (!names || request_.drop_in_folder == kUnreadFolder) return;
    for (const std::string& name : *names) {
      const std::string path = std::string(kUnreadFolder) + "/" + name;
      add(RuleId::not_imported,
          Severity::warning,
          whole_file(path),
          "CRI-O reads nothing in " + quoted(kUnreadFolder),
          "move it to '" + request_.drop_in_folder + "', where the stock toolkit from 1.19.1 on puts it too");
    }
  }

  const Known& known_;
  const LoadRequest& request_;
  const FileReader& files_;
  const EffectiveConfig& config_;
  const FileModes& modes_;
  std::vector<StartProblem> problems_ = start_problems(known_, config_, files_);
  std::vector<Finding> findings_ = {};
};

Finding refused(const Known& known, const Error& error) {
  const Origin place = parse_place(error.where);
  const bool stray = place.file && is_no_config(*place.file);
  return {.rule = stray ? RuleId::stray_file : RuleId::daemon_refuses,
          .severity = Severity::error,
          .message = "CRI-O " + known.release.to_string() + " refuses to start: " + error.message,
          .origin = place,
          .hint = stray                ? "move it out of the folder: CRI-O reads every file there"
                  : error.hint.empty() ? "mend this place, then ask `ctkit lint` again: CRI-O names one fault at a time"
                                       : error.hint};
}

}  // namespace

std::vector<Finding> lint(const Known& known,
                          const LoadRequest& request,
                          const FileReader& files,
                          const Result<EffectiveConfig>& effective,
                          const FileModes& modes) {
  std::vector<Finding> findings;
  if (effective) {
    findings = Linter(known, request, files, *effective, modes).run();
  } else {
    findings.push_back(refused(known, effective.error()));
  }
  sort_by_place(findings);
  return findings;
}

}  // namespace ctkit::engine::crio
