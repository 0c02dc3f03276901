#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/crio/hook.h"
#include "engine/crio/known_release.h"
#include "engine/crio/loader.h"
#include "engine/engine.h"

namespace ctkit::engine::crio {

/// Engine over the files of this folder; no logic of its own.
class CrioEngine : public Engine {
 public:
  /// With a hook, that is what a change brings about, and no handlers.
  CrioEngine(Known known, LoadRequest request, std::optional<Hook> hook = std::nullopt)
      : known_(std::move(known)), request_(std::move(request)), hook_(std::move(hook)) {}

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] Result<EffectiveConfig> effective(const FileReader& files, bool with_events) const override;
  [[nodiscard]] std::string render(const EffectiveConfig& config) const override;
  [[nodiscard]] std::vector<Handler> handlers(const EffectiveConfig& config) const override;
  [[nodiscard]] Result<std::vector<Candidate>> candidates(const FileReader& files,
                                                          const EffectiveConfig& bare,
                                                          const Desired& desired) const override;
  [[nodiscard]] Result<std::optional<std::string>> undo(const FileChange& ours, const std::string& text) const override;
  [[nodiscard]] std::vector<Finding> lint(const FileReader& files,
                                          const Result<EffectiveConfig>& effective,
                                          const FileModes& modes) const override;
  [[nodiscard]] Result<Preflight> preflight(const FileReader& files, std::string_view release) const override;
  [[nodiscard]] std::vector<std::unique_ptr<Engine>> successors() const override;

 private:
  Known known_;
  LoadRequest request_;
  std::optional<Hook> hook_;
};

}  // namespace ctkit::engine::crio
