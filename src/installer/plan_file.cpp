#include "installer/plan_file.h"

#include <algorithm>
#include <utility>

#include "installer/sha256.h"

namespace ctkit::installer {

namespace {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

Error changed(std::string message, std::string where) {
  return {.code = ErrorCode::needs_decision,
          .message = std::move(message),
          .where = std::move(where),
          .hint = "look at a new plan: `ctkit plan --out FILE`"};
}

/// The first path that the two have otherwise, or one of them hasn't.
std::string first_difference(const std::vector<FileDigest>& then, const std::vector<FileDigest>& now) {
  for (const FileDigest& file : then) {
    if (std::ranges::find(now, file) == now.end()) return file.path;
  }
  for (const FileDigest& file : now) {
    if (std::ranges::find(then, file) == then.end()) return file.path;
  }
  // The same files in another order: that decides too.
  return then == now ? "" : then.front().path;
}

}  // namespace

KeptPlan make_kept_plan(const Request& request, const Plan& plan, const engine::FileReader& files) {
  KeptPlan kept{.engine = plan.engine,
                .release = request.release,
                .config = request.config,
                .defaults = request.defaults,
                .desired = request.desired,
                .hook_mode = request.hook_mode,
                .hooks_folder = request.hooks_folder,
                .hook_name = request.hook_name};
  const auto digest = [](const std::optional<std::string>& text) { return text ? sha256(*text) : std::string(); };
  if (plan.today) {
    for (const engine::Layer& layer : plan.today->layers) {
      const auto text = files.read(layer.path);
      kept.inputs.push_back({.path = layer.path, .digest = text ? sha256(*text) : ""});
    }
  }
  for (const engine::FileChange& change : plan.files) {
    kept.inputs.push_back({.path = change.path, .digest = digest(change.before)});
    kept.outputs.push_back({.path = change.path, .digest = digest(change.after)});
  }
  return kept;
}

Result<void> check_kept_plan(const Request& request,
                             const engine::Engine& engine,
                             const engine::FileReader& files,
                             const std::optional<Journal>& journal) {
  const KeptPlan& then = *request.kept_plan;
  if (then.engine != engine.name()) {
    return std::unexpected(changed("the plan is for " + then.engine + ", and this is " + engine.name(), then.engine));
  }
  const auto plan = make_plan(engine, files, journal, request.desired, Outlooks::left_out);
  if (!plan) return std::unexpected(plan.error());
  const KeptPlan now = make_kept_plan(request, *plan, files);
  if (const std::string path = first_difference(then.inputs, now.inputs); !path.empty()) {
    return std::unexpected(changed("'" + path + "' is not what it was when the plan was made", path));
  }
  if (const std::string path = first_difference(then.outputs, now.outputs); !path.empty()) {
    return std::unexpected(changed("the plan for '" + path + "' is another one now", path));
  }
  return {};
}

}  // namespace ctkit::installer
