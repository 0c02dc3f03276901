#include "engine/containerd/containerd_engine.h"

#include "engine/containerd/drop_in.h"
#include "engine/containerd/dump_writer.h"
#include "engine/containerd/handlers.h"
#include "engine/containerd/lint.h"
#include "engine/containerd/preflight.h"
#include "engine/containerd/undo.h"

namespace ctkit::engine::containerd {

namespace {

/// Another release, as upstream built it: the node's own defaults are those of its own daemon.
Result<Daemon> recorded_daemon(const Release& release) {
  auto known = find_release(release);
  if (!known) return std::unexpected(known.error());
  return Daemon{.known = *std::move(known)};
}

}  // namespace

std::string ContainerdEngine::name() const {
  return "containerd " + daemon_.known.release.to_string();
}

Result<EffectiveConfig> ContainerdEngine::effective(const FileReader& files, bool with_events) const {
  return containerd::effective(daemon_, files, request_, with_events);
}

std::string ContainerdEngine::render(const EffectiveConfig& config) const {
  return render_dump(config.config, daemon_.known);
}

std::vector<Handler> ContainerdEngine::handlers(const EffectiveConfig& config) const {
  return effective_handlers(config, daemon_.known.regime);
}

Result<std::vector<Candidate>> ContainerdEngine::candidates(const FileReader& files,
                                                            const EffectiveConfig& bare,
                                                            const Desired& desired) const {
  return make_candidates(daemon_, request_, files, bare, desired);
}

Result<std::optional<std::string>> ContainerdEngine::undo(const FileChange& ours, const std::string& text) const {
  return containerd::undo(ours, text, *daemon_.known.regime.dialect);
}

std::vector<Finding> ContainerdEngine::lint(const FileReader& files,
                                            const Result<EffectiveConfig>& effective,
                                            const FileModes& modes) const {
  return containerd::lint(daemon_, request_, files, effective, modes);
}

Result<Preflight> ContainerdEngine::preflight(const FileReader& files, std::string_view release) const {
  const auto parsed = Release::parse(release);
  if (!parsed) return std::unexpected(parsed.error());
  const auto target = recorded_daemon(*parsed);
  if (!target) return std::unexpected(target.error());
  return make_preflight(daemon_, *target, request_, files);
}

std::vector<std::unique_ptr<Engine>> ContainerdEngine::successors() const {
  std::vector<std::unique_ptr<Engine>> engines;
  for (const Release& release : later_lines(daemon_.known.release)) {
    auto daemon = recorded_daemon(release);
    if (!daemon) continue;
    engines.push_back(std::make_unique<ContainerdEngine>(*std::move(daemon), request_));
  }
  return engines;
}

}  // namespace ctkit::engine::containerd
