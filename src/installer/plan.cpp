#include "installer/plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/change.h"
#include "engine/find_key.h"
#include "engine/overlay.h"
#include "engine/snapshot.h"
#include "installer/take_back.h"

namespace ctkit::installer {

namespace {

using engine::Candidate;
using engine::EffectiveConfig;
using engine::Error;
using engine::ErrorCode;
using engine::FileChange;
using engine::KeyPath;
using engine::Result;

bool is_below(const KeyPath& key, const std::vector<KeyPath>& prefixes) {
  return std::ranges::any_of(prefixes, [&](const KeyPath& prefix) { return key.starts_with(prefix); });
}

/// Why a simulated candidate is not good enough; empty if it is.
std::string objection(const engine::Engine& engine,
                      const engine::Desired& desired,
                      const EffectiveConfig& bare,
                      const EffectiveConfig& predicted,
                      const Candidate& candidate) {
  const auto handlers = engine.handlers(predicted);
  for (const engine::DesiredHandler& wanted : desired.handlers) {
    const auto served = std::ranges::find(handlers, wanted.name, &engine::Handler::name);
    if (served == handlers.end()) return "handler '" + wanted.name + "' would not be there";
    if (served->binary != wanted.binary) {
      return "handler '" + wanted.name + "' would start '" + served->binary + "', which " + served->origin.to_string() +
             " says";
    }
  }
  if (!predicted.not_serving.empty()) return predicted.not_serving.front();
  for (const engine::Change& change : differences(bare.config, predicted.config)) {
    if (is_below(change.key, candidate.may_change)) continue;
    const bool authored = change.before && !change.before->origin.built_in();
    if (change.after && !authored) continue;
    return "'" + change.key.to_string() + "' would be lost" +
           (authored ? ", which " + change.before->origin.to_string() + " sets" : "");
  }
  return "";
}

/// The file that the daemon reads after ours and that sets what ours sets.
std::string last_layer(const EffectiveConfig& config) {
  return config.layers.empty() ? "" : config.layers.back().path;
}

class Planner {
 public:
  Planner(const engine::Engine& engine,
          const engine::FileReader& files,
          const std::optional<Journal>& journal,
          const engine::Desired& desired,
          Outlooks outlooks)
      : engine_(engine), files_(files), journal_(journal), desired_(desired), outlooks_(outlooks), without_us_(files) {}

  Result<Plan> run() {
    if (journal_) {
      auto taken_back = take_back(engine_, files_, *journal_);
      if (!taken_back) return std::unexpected(taken_back.error());
      for (const TakenBack& file : *taken_back)
        without_us_.put(file.path, file.left);
      taken_back_ = *std::move(taken_back);
    }
    auto bare = engine_.effective(without_us_, false);
    if (!bare) return std::unexpected(bare.error());
    auto candidates = engine_.candidates(without_us_, *bare, desired_);
    if (!candidates) return std::unexpected(candidates.error());
    std::string first_objection;
    std::string tried;
    for (const Candidate& candidate : *candidates) {
      engine::Overlay after(static_cast<const engine::FileReader&>(without_us_));
      after.apply(candidate.files);
      auto predicted = engine_.effective(after, false);
      std::string why = predicted ? objection(engine_, desired_, *bare, *predicted, candidate)
                                  : predicted.error().message + " (" + predicted.error().where + ")";
      if (why.empty()) return accept(candidate, *std::move(predicted), *bare);
      if (first_objection.empty()) first_objection = why;
      tried += "\n    " + candidate.approach + ": " + why;
    }
    return std::unexpected(no_candidate(*bare, first_objection, tried));
  }

 private:
  [[nodiscard]] Error no_candidate(const EffectiveConfig& bare,
                                   const std::string& objection,
                                   const std::string& tried) const {
    Error error{.code = ErrorCode::needs_decision,
                .message = "no drop-in serves the handlers and keeps everything else: " + objection,
                .hint = "tried:" + tried};
    if (!bare.not_serving.empty()) {
      error.message = "Kubernetes finds no runtime on this node already, and a drop-in does not change that: " +
                      bare.not_serving.front();
      error.hint = "repair that first";
    } else if (const std::string last = last_layer(bare); !last.empty()) {
      error.where = last;
    }
    return error;
  }

  Result<Plan> accept(const Candidate& candidate, EffectiveConfig predicted, const EffectiveConfig& bare) {
    Plan plan{.engine = engine_.name(), .approach = candidate.approach};
    plan.handlers = engine_.handlers(predicted);
    auto today = engine_.effective(files_, false);
    if (today) plan.today = *std::move(today);
    compare(plan, candidate, predicted, bare);
    if (auto refused = refuse_restored(plan); !refused) return std::unexpected(refused.error());
    collect_files(plan, candidate);
    plan.diagnostics = predicted.diagnostics;
    if (outlooks_ == Outlooks::made) look_ahead(plan, candidate);
    plan.predicted = std::move(predicted);
    return plan;
  }

  void compare(Plan& plan,
               const Candidate& candidate,
               const EffectiveConfig& predicted,
               const EffectiveConfig& bare) const {
    const engine::Table& from = plan.today ? plan.today->config : bare.config;
    for (const engine::Change& change : differences(from, predicted.config)) {
      EffectiveChange item{.key = change.key};
      if (change.before) item.before = *change.before;
      if (change.after) item.after = *change.after;
      if (!is_below(change.key, candidate.may_change) && change.after) {
        item.restored = true;
        if (const engine::Value* written = find_key(candidate.carried, change.key.parts)) item.author = written->origin;
      }
      plan.changes.push_back(std::move(item));
    }
  }

  [[nodiscard]] Result<void> refuse_restored(const Plan& plan) const {
    if (desired_.on_conflict != engine::OnConflict::refuse) return {};
    for (const EffectiveChange& change : plan.changes) {
      if (!change.restored) continue;
      return std::unexpected(Error{
          .code = ErrorCode::needs_decision,
          .message = "'" + change.key.to_string() + "' is set but lost today, and our drop-in would bring it back",
          .where = change.author.to_string(),
          .hint = "--on-conflict restore brings such settings back, keep leaves them lost"});
    }
    return {};
  }

  void collect_files(Plan& plan, const Candidate& candidate) const {
    plan.desired = candidate.files;
    // What we wrote earlier and need no longer goes back to what it was; the top-level config before what it imports.
    for (const TakenBack& old : taken_back_) {
      if (std::ranges::find(candidate.files, old.path, &FileChange::path) != candidate.files.end()) continue;
      add_if_different(plan, {.path = old.path, .after = old.left});
    }
    for (const FileChange& file : candidate.files)
      add_if_different(plan, file);
  }

  void add_if_different(Plan& plan, FileChange file) const {
    const auto present = files_.read(file.path);
    file.before = present ? std::optional(*present) : std::nullopt;
    if (file.before != file.after) plan.files.push_back(std::move(file));
  }

  void look_ahead(Plan& plan, const Candidate& candidate) const {
    engine::Overlay after(static_cast<const engine::FileReader&>(without_us_));
    after.apply(candidate.files);
    for (const auto& later : engine_.successors()) {
      Outlook outlook{.engine = later->name()};
      const auto predicted = later->effective(after, false);
      if (!predicted) {
        outlook.reason = predicted.error().message + " (" + predicted.error().where + ")";
      } else if (!predicted->not_serving.empty()) {
        outlook.reason = predicted->not_serving.front();
      } else {
        const auto handlers = later->handlers(*predicted);
        for (const engine::DesiredHandler& wanted : desired_.handlers) {
          const auto served = std::ranges::find(handlers, wanted.name, &engine::Handler::name);
          if (served == handlers.end()) outlook.reason = "handler '" + wanted.name + "' is not there";
        }
      }
      outlook.holds = outlook.reason.empty();
      plan.outlook.push_back(std::move(outlook));
    }
  }

  const engine::Engine& engine_;
  const engine::FileReader& files_;
  const std::optional<Journal>& journal_;
  const engine::Desired& desired_;
  Outlooks outlooks_;
  engine::Overlay without_us_;
  std::vector<TakenBack> taken_back_;
};

}  // namespace

Result<Plan> make_plan(const engine::Engine& engine,
                       const engine::FileReader& files,
                       const std::optional<Journal>& journal,
                       const engine::Desired& desired,
                       Outlooks outlooks) {
  // What is written must follow from what is compared with the file when it is written.
  const engine::Snapshot seen(files);
  return Planner(engine, seen, journal, desired, outlooks).run();
}

}  // namespace ctkit::installer
