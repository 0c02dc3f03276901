#include "engine/containerd/preflight.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "engine/change.h"
#include "engine/containerd/handlers.h"
#include "engine/containerd/lint.h"
#include "engine/containerd/preflight_side.h"
#include "engine/go_duration.h"

namespace ctkit::engine::containerd {

namespace {

using Kind = SettingChange::Kind;

/// Equal, or durations that are.
bool same_meaning(const Value& left, const Value& right) {
  if (left == right) return true;
  if (!left.string() || !right.string()) return false;
  const auto one = parse_duration(*left.string());
  return one && one == parse_duration(*right.string());
}

bool is_authored(const Value* value) {
  return value && !value->origin.built_in();
}

bool holds_stock_handler(const Layer& layer) {
  bool found = false;
  each_leaf(layer.table, {}, [&](const KeyPath& key, const Value& value) {
    const auto& parts = key.parts;
    if (parts.size() < 3 || !value.string() || parts[parts.size() - 2] != "options") return;
    found = found || is_stock_handler({{"options", {.data = Table{{parts.back(), value}}}}});
  });
  return found;
}

class Comparison {
 public:
  Comparison(const Side& today, const Side& target, Preflight& result)
      : today_(today), target_(target), result_(result) {}

  void run() {
    for (const Event& event : target_.effective->events) {
      if (event.kind != Event::Kind::moved && !event.value.origin.built_in()) {
        losers_.insert_or_assign(place_of(event.value.origin), &event);
      }
    }
    for (const Change& change : differences(today_.comparable, target_.comparable))
      compare(change);
    add_held();
    add_losers();
  }

 private:
  void compare(const Change& change) {
    if (change.before && change.after && same_meaning(*change.before, *change.after)) return;
    if (is_authored(change.before)) {
      // One statement read by both, differing only in how: lists without duplicates, new members of
      // a struct.
      if (is_authored(change.after) && change.before->origin == change.after->origin) return;
      author_of_today(change);
    } else if (is_authored(change.after)) {
      const Place place = place_of(change.after->origin);
      if (today_.authors.contains(place)) return;  // at another key today, told there
      if (!change.before && is_zero(*change.after)) return;
      SettingChange item{.kind = Kind::revived, .key = change.key, .to = own_key(target_, place, change.key)};
      item.origin = change.after->origin;
      set_values(item, change.before, change.after);
      result_.settings.push_back(std::move(item));
    } else {
      compare_built_in(change);
    }
  }

  void author_of_today(const Change& change) {
    const Place place = place_of(change.before->origin);
    handled_.insert(place);
    if (!change.after && is_zero(*change.before)) return;
    if (const auto moved = target_.authors.find(place); moved != target_.authors.end()) {
      const Value* there = value_at(target_.effective->config, moved->second);
      if (there && same_meaning(*there, *change.before)) return;
    }
    SettingChange item{.kind = Kind::lost, .key = own_key(today_, place, change.key), .to = change.key};
    item.origin = change.before->origin;
    set_values(item, change.before, change.after);
    const auto loser = losers_.find(place);
    if (is_authored(change.after)) {
      item.kind = Kind::changed;
      item.by = change.after->origin;
    } else if (loser != losers_.end() && loser->second->kind != Event::Kind::unread) {
      item.by = loser->second->by;
    } else if (loser != losers_.end() || !has_plugin(change.key)) {
      item.kind = Kind::ignored;
    }
    result_.settings.push_back(std::move(item));
  }

  void compare_built_in(const Change& change) {
    if (change.before && change.after) {
      result_.defaults.push_back({change.key, *change.before, *change.after});
    } else if (change.after && !is_zero(*change.after)) {
      ++result_.new_keys;
    } else if (change.before && !is_zero(*change.before)) {
      ++result_.gone_keys;
    }
  }

  [[nodiscard]] bool has_plugin(const KeyPath& key) const {
    return key.parts.size() < 2 || key.parts.front() != "plugins" ||
           value_at(target_.built_in, {{key.parts[0], key.parts[1]}});
  }

  /// What files repeat of today's built-in values where the target has others.
  void add_held() {
    each_leaf(today_.comparable, {}, [&](const KeyPath& key, const Value& value) {
      if (!is_authored(&value)) return;
      const Value* there = value_at(target_.comparable, key);
      const Value* before = value_at(today_.built_in, key);
      const Value* after = value_at(target_.built_in, key);
      if (!there || !before || !after || !same_meaning(*there, value)) return;
      if (!same_meaning(*before, value) || same_meaning(*after, value)) return;
      SettingChange item{.kind = Kind::held, .to = key};
      item.key = own_key(today_, place_of(value.origin), key);
      item.origin = value.origin;
      set_values(item, &value, after);
      result_.settings.push_back(std::move(item));
    });
  }

  /// What files say and the target makes nothing of, where today doesn't either.
  void add_losers() {
    for (const Event& event : target_.effective->events) {
      const bool unread = event.kind == Event::Kind::unread;
      if (event.value.origin.built_in() || is_zero(event.value)) continue;
      if (!unread && !is_lost(event, *target_.effective)) continue;
      const Place place = place_of(event.value.origin);
      if (today_.authors.contains(place) || !handled_.insert(place).second) continue;
      SettingChange item{.kind = unread ? Kind::ignored : Kind::lost, .key = event.key, .to = event.key};
      item.before = event.value;
      item.origin = event.value.origin;
      if (!unread) item.by = event.by;
      item.already = true;
      result_.settings.push_back(std::move(item));
    }
  }

  static void set_values(SettingChange& item, const Value* before, const Value* after) {
    if (before) item.before = *before;
    if (after) item.after = *after;
  }

  static KeyPath own_key(const Side& side, const Place& place, const KeyPath& otherwise) {
    const auto key = side.authors.find(place);
    return key == side.authors.end() ? otherwise : key->second;
  }

  const Side& today_;
  const Side& target_;
  Preflight& result_;
  std::map<Place, const Event*> losers_;
  std::set<Place> handled_;
};

/// Today's refusal leaves nothing to compare with: what the target ignores or loses is told all the
/// same.
void list_losses(const EffectiveConfig& target, Preflight& result) {
  std::set<Place> seen;
  for (const Event& event : target.events) {
    const bool unread = event.kind == Event::Kind::unread;
    if (event.value.origin.built_in() || is_zero(event.value)) continue;
    if (!unread && !is_lost(event, target)) continue;
    if (!seen.insert(place_of(event.value.origin)).second) continue;
    SettingChange item{.kind = unread ? Kind::ignored : Kind::lost, .key = event.key, .to = event.key};
    item.before = event.value;
    item.origin = event.value.origin;
    if (!unread) item.by = event.by;
    result.settings.push_back(std::move(item));
  }
}

/// NVIDIA's installer takes the version of its drop-in from `config dump`, which prints the
/// release's own: after the upgrade its next run writes one above the top-level config's.
void foresee_stock_installer(const Daemon& target, const EffectiveConfig& now, Preflight& result) {
  const Regime& regime = target.known.regime;
  const bool matters = regime.root_caps_version || regime.migration == Migration::after_merge;
  const auto root = std::ranges::find_if(now.layers, [](const Layer& layer) { return layer.schema_version != 0; });
  if (!matters || root == now.layers.end() || root->schema_version >= regime.schema_version) return;
  const auto stock = std::ranges::find_if(
      now.layers, [&](const Layer& layer) { return &layer != now.layers.data() && holds_stock_handler(layer); });
  if (stock == now.layers.end()) return;
  result.findings.push_back(
      {.rule = RuleId::version_above_root,
       .severity = Severity::warning,
       .message = fmt::format(
           "NVIDIA's stock installer, when it runs there, writes '{}' anew with "
           "version {}, above the {} "
           "here, and {} then {}",
           stock->path,
           regime.schema_version,
           root->schema_version,
           result.to,
           regime.root_caps_version ? "refuses to start" : "ignores what files say under the old plugin id"),
       .origin = root->version_origin,
       .hint = "give the installer RUNTIME_CONFIG_SOURCE=file, or let `ctkit apply` write the "
               "drop-in"});
}

}  // namespace

Preflight make_preflight(const Daemon& today,
                         const Daemon& target,
                         const LoadRequest& request,
                         const FileReader& files) {
  Preflight result{.from = "containerd " + today.known.release.to_string(),
                   .to = "containerd " + target.known.release.to_string(),
                   .diagnostics = target.known.diagnostics};
  const auto now = effective(today, files, request, true);
  const auto then = effective(target, files, request, true);
  if (!now) result.refused_today = now.error();
  if (!then) result.refused = then.error();
  if (now) result.not_serving_today = now->not_serving;
  if (then) result.not_serving = then->not_serving;
  result.findings = new_findings(lint(today, request, files, now, {}), lint(target, request, files, then, {}));
  if (now) foresee_stock_installer(target, *now, result);
  if (now && then) {
    const Side before = make_side(today, target, *now, request);
    const Side after = make_side(target, today, *then, request);
    Comparison(before, after, result).run();
    compare_handlers(
        effective_handlers(*now, today.known.regime), effective_handlers(*then, target.known.regime), result);
  } else if (then) {
    list_losses(*then, result);
  }
  return result;
}

}  // namespace ctkit::engine::containerd
