#include "engine/containerd/lint.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/containerd/foreign_root.h"
#include "engine/containerd/lint_parts.h"
#include "engine/containerd/loader.h"

namespace ctkit::engine::containerd {

namespace {

/// Passes every question on and remembers which file was not there.
class WatchedFiles : public FileReader {
 public:
  explicit WatchedFiles(const FileReader& files) : files_(files) {}

  [[nodiscard]] Result<std::string> read(std::string_view path) const override {
    auto text = files_.read(path);
    if (!text && text.error().code == ErrorCode::not_found) missing_ = path;
    return text;
  }
  [[nodiscard]] Result<std::vector<std::string>> list(std::string_view folder) const override {
    return files_.list(folder);
  }
  [[nodiscard]] bool exists(std::string_view path) const override { return files_.exists(path); }
  [[nodiscard]] std::optional<std::string> link_target(std::string_view path) const override {
    return files_.link_target(path);
  }

  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  const FileReader& files_;
  mutable std::string missing_;
};

std::string hint_of(const LintView& view, const Error& refusal) {
  const Origin place = parse_place(refusal.where);
  if (!place.built_in()) {
    const auto text = view.files.read(*place.file);
    if (text && is_template(*text)) {
      return "this is a template that its owner renders: " + drop_in_hint("", *place.file);
    }
  }
  const auto versioned = std::ranges::find(view.layers, place, &Layer::version_origin);
  if (refusal.hint.empty() && !place.built_in() && versioned != view.layers.end()) {
    return "write the file for version " + std::to_string(view.regime().schema_version) +
           " or below, with that version's plugin ids";
  }
  if (!refusal.hint.empty()) return refusal.hint;
  return "mend this place, then ask `ctkit lint` again: the daemon names one fault at a time";
}

/// A refusal under the rule that says most about it.
void add_refusal(LintView& view, const Error& refusal, const std::string& missing) {
  const Origin place = parse_place(refusal.where);
  const bool explained = std::ranges::any_of(view.findings, [&](const Finding& finding) {
    return finding.origin.file && place.file && *finding.origin.file == *place.file &&
           finding.origin.line == place.line && finding.severity == Severity::error;
  });
  if (explained) return;
  if (!missing.empty() && missing != view.request.config_path) {
    const bool wildcard = missing.find_first_of("?[") != std::string::npos;
    view.add(RuleId::missing_import,
             place,
             refusal.message + ", and " + view.release() + " does not start without it",
             wildcard ? "only a `*` makes an import a pattern: `?` and `[…]` alone name one file" : refusal.hint);
    return;
  }
  if (place.file && is_stray(*place.file)) {
    view.add(RuleId::stray_file,
             Severity::error,
             place,
             "a backup or temporary file that the imports catch stops the daemon: " + refusal.message,
             "move it out of the folder, or import only '*.toml'");
    return;
  }
  const bool crashes = refusal.code == ErrorCode::daemon_crashes;
  view.add(RuleId::daemon_refuses,
           place,
           view.release() + (crashes ? " crashes on this configuration: " : " refuses to start: ") + refusal.message,
           hint_of(view, refusal));
}

void lint_refused(LintView& view, const Error& refusal) {
  const WatchedFiles watched(view.files);
  const Transcript silent(nullptr);
  const auto loaded = load(watched, view.request, view.daemon.known, silent);
  std::vector<Layer> layers;
  if (loaded) {
    for (const LoadedFile& file : loaded->files)
      layers.push_back(file.layer);
  }
  view.layers = layers;
  lint_nested_ids(view);
  lint_versions(view);
  lint_stray_files(view);
  lint_secrets(view);
  add_refusal(view, refusal, loaded ? std::string() : watched.missing());
  view.layers = {};
}

void lint_loaded(LintView& view) {
  lint_erasers(view);
  lint_versions(view);
  lint_plugin_ids(view);
  lint_nested_ids(view);
  lint_frozen_copies(view);
  lint_imports(view);
  lint_stray_files(view);
  lint_secrets(view);
  lint_unread_keys(view);
  lint_lost_in_migration(view);
  lint_spellings(view);
  lint_durations(view);
  lint_handlers(view);
  lint_service(view);
  lint_cdi(view);
}

}  // namespace

void LintView::add(RuleId rule, Origin origin, std::string message, std::string hint) {
  add(rule, rule_of(rule).severity, std::move(origin), std::move(message), std::move(hint));
}

void LintView::add(RuleId rule, Severity severity, Origin origin, std::string message, std::string hint) {
  findings.push_back({.rule = rule,
                      .severity = severity,
                      .message = std::move(message),
                      .origin = std::move(origin),
                      .hint = std::move(hint)});
}

std::vector<Finding> lint(const Daemon& daemon,
                          const LoadRequest& request,
                          const FileReader& files,
                          const Result<EffectiveConfig>& effective,
                          const FileModes& modes) {
  std::vector<Finding> findings;
  LintView view{.daemon = daemon,
                .request = request,
                .files = files,
                .modes = modes,
                .layers = {},
                .effective = effective ? &*effective : nullptr,
                .findings = findings};
  if (effective) {
    view.layers = effective->layers;
    lint_loaded(view);
  } else {
    lint_refused(view, effective.error());
  }
  sort_by_place(findings);
  return findings;
}

}  // namespace ctkit::engine::containerd
