#include "engine/crio/preflight.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "engine/change.h"
#include "engine/crio/effective.h"
#include "engine/crio/handlers.h"
#include "engine/crio/lint.h"

namespace ctkit::engine::crio {

namespace {

using Kind = SettingChange::Kind;

bool is_authored(const Value* value) {
  return value && !value->origin.built_in();
}

std::optional<Value> copy_of(const Value* value) {
  return value ? std::optional(*value) : std::nullopt;
}

class Comparison {
 public:
  Comparison(const EffectiveConfig& today, const EffectiveConfig& target, Preflight& result)
      : today_(today), target_(target), result_(result) {}

  void run() {
    for (const Change& change : differences(today_.config, target_.config))
      compare(change);
  }

 private:
  void compare(const Change& change) {
    if (is_authored(change.before)) {
      if (is_authored(change.after) && change.after->origin == change.before->origin) return;
      add(is_authored(change.after)      ? Kind::changed
          : unread_there(*change.before) ? Kind::ignored
                                         : Kind::lost,
          change,
          change.before->origin,
          change.after ? change.after->origin : Origin{});
    } else if (is_authored(change.after)) {
      add(Kind::revived, change, change.after->origin, {});
    } else if (change.before && change.after) {
      result_.defaults.push_back({.key = change.key, .before = copy_of(change.before), .after = copy_of(change.after)});
    } else {
      ++(change.after ? result_.new_keys : result_.gone_keys);
    }
  }

  void add(Kind kind, const Change& change, const Origin& origin, const Origin& by) {
    SettingChange setting{.kind = kind, .key = change.key, .to = change.key};
    setting.before = copy_of(change.before);
    setting.after = copy_of(change.after);
    setting.origin = origin;
    setting.by = by;
    result_.settings.push_back(std::move(setting));
  }

  [[nodiscard]] bool unread_there(const Value& value) const {
    return std::ranges::any_of(target_.events, [&](const Event& event) {
      return event.kind == Event::Kind::unread && event.value.origin == value.origin;
    });
  }

  const EffectiveConfig& today_;
  const EffectiveConfig& target_;
  Preflight& result_;
};

}  // namespace

Preflight make_preflight(const Known& today, const Known& target, const LoadRequest& request, const FileReader& files) {
  Preflight result{.from = "CRI-O " + today.release.to_string(),
                   .to = "CRI-O " + target.release.to_string(),
                   .diagnostics = target.diagnostics};
  const auto now = effective(today, request, files, true);
  const auto then = effective(target, request, files, true);
  if (!now) result.refused_today = now.error();
  if (!then) result.refused = then.error();
  if (now) result.not_serving_today = now->not_serving;
  if (then) result.not_serving = then->not_serving;
  result.findings = new_findings(lint(today, request, files, now, {}), lint(target, request, files, then, {}));
  if (now && then) {
    Comparison(*now, *then, result).run();
    compare_handlers(effective_handlers(*now, today), effective_handlers(*then, target), result);
  }
  return result;
}

}  // namespace ctkit::engine::crio
