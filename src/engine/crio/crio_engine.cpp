#include "engine/crio/crio_engine.h"

#include "engine/crio/drop_in.h"
#include "engine/crio/effective.h"
#include "engine/crio/handlers.h"
#include "engine/crio/lint.h"
#include "engine/crio/preflight.h"
#include "engine/toml_writer.h"
#include "engine/written_file.h"

namespace ctkit::engine::crio {

std::string CrioEngine::name() const {
  return "CRI-O " + known_.release.to_string();
}

Result<EffectiveConfig> CrioEngine::effective(const FileReader& files, bool with_events) const {
  return crio::effective(known_, request_, files, with_events);
}

std::string CrioEngine::render(const EffectiveConfig& config) const {
  return render_toml(config.config);
}

std::vector<Handler> CrioEngine::handlers(const EffectiveConfig& config) const {
  return effective_handlers(config, known_);
}

Result<std::vector<Candidate>> CrioEngine::candidates(const FileReader& files,
                                                      const EffectiveConfig& bare,
                                                      const Desired& desired) const {
  if (hook_) return make_hook_candidates(*hook_, files, bare);
  return make_candidates(known_, request_, files, bare, desired);
}

Result<std::optional<std::string>> CrioEngine::undo(const FileChange& ours, const std::string& text) const {
  if (!ours.after) return text;
  if (ours.path.ends_with(".json")) return undo_hook(ours, text);
  const TomlDialect& dialect = *known_.regime.dialect;
  return ours.before ? with_theirs_back(ours, text, dialect) : without_our_statements(ours, text, dialect);
}

std::vector<Finding> CrioEngine::lint(const FileReader& files,
                                      const Result<EffectiveConfig>& effective,
                                      const FileModes& modes) const {
  return crio::lint(known_, request_, files, effective, modes);
}

Result<Preflight> CrioEngine::preflight(const FileReader& files, std::string_view release) const {
  const auto parsed = Release::parse(release);
  if (!parsed) return std::unexpected(parsed.error());
  const auto target = find_release(*parsed);
  if (!target) return std::unexpected(target.error());
  return make_preflight(known_, *target, request_, files);
}

std::vector<std::unique_ptr<Engine>> CrioEngine::successors() const {
  std::vector<std::unique_ptr<Engine>> engines;
  for (const Release& release : later_lines(known_.release)) {
    auto known = find_release(release);
    if (known) engines.push_back(std::make_unique<CrioEngine>(*std::move(known), request_));
  }
  return engines;
}

}  // namespace ctkit::engine::crio
