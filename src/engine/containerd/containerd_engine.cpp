#include "engine/containerd/containerd_engine.h"

#include "engine/containerd/drop_in.h"
#include "engine/containerd/dump_writer.h"
#include "engine/containerd/handlers.h"
#include "engine/containerd/undo.h"

namespace ctkit::engine::containerd {

std::string ContainerdEngine::name() const {
  return "containerd " + daemon_.known.release.to_string();
}

Result<EffectiveConfig> ContainerdEngine::effective(const FileReader& files,
                                                    bool with_events) const {
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

Result<std::optional<std::string>> ContainerdEngine::undo(const FileChange& ours,
                                                          const std::string& text) const {
  return containerd::undo(ours, text, *daemon_.known.regime.dialect);
}

std::vector<std::unique_ptr<Engine>> ContainerdEngine::successors() const {
  std::vector<std::unique_ptr<Engine>> engines;
  for (const Release& release : later_lines(daemon_.known.release)) {
    auto known = find_release(release);
    if (!known) continue;
    engines.push_back(
        std::make_unique<ContainerdEngine>(Daemon{.known = *std::move(known)}, request_));
  }
  return engines;
}

}  // namespace ctkit::engine::containerd
