#include "installer/report_text.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>

#include <fmt/format.h>

#include "engine/unified_diff.h"
#include "installer/redact.h"
#include "installer/report_lint.h"
#include "installer/report_node.h"
#include "installer/report_preflight.h"

namespace ctkit::installer {

namespace {

using engine::Event;

/// Long lists are cut: the whole is in -o json.
constexpr std::size_t kMostRows = 12;

std::string line(const engine::KeyPath& key, const engine::Value& value) {
  return key.to_string() + " = " + shown(key, value);
}

/// What each value of a listing says about the file that wrote it.
std::string effective_with_origins(const engine::Table& table, const engine::KeyPath& path) {
  std::string text;
  for (const auto& [key, value] : table) {
    const engine::KeyPath here = path.child(key);
    if (value.table() && !value.table()->empty()) {
      text += effective_with_origins(*value.table(), here);
    } else {
      text += fmt::format("{:<44} {}\n", value.origin.to_string(), line(here, value));
    }
  }
  return text;
}

std::string table_of(const Event& event) {
  if (!event.to.parts.empty()) return event.to.to_string();
  engine::KeyPath plugin;
  for (const std::string& part : event.key.parts) {
    if (plugin.parts.size() == 2) break;
    plugin.parts.push_back(part);
  }
  return plugin.to_string();
}

/// Events of one kind, by who did it.
std::string grouped(const std::vector<const Event*>& events, Event::Kind kind, std::string_view verb) {
  std::map<std::string, std::vector<const Event*>> groups;
  for (const Event* event : events) {
    if (event->kind == kind) groups[event->by.to_string()].push_back(event);
  }
  std::string text;
  for (const auto& [by, group] : groups) {
    text += fmt::format("  {} by {}", verb, by);
    if (kind == Event::Kind::erased) text += fmt::format(": its table replaces all of {}", table_of(*group.front()));
    text += "\n";
    for (const Event* event : group) {
      text += fmt::format("    {:<44} {}\n", event->value.origin.to_string(), line(event->key, event->value));
    }
  }
  return text;
}

std::string explanation(const Explanation& item) {
  std::string text = item.asked.to_string() + ":";
  text += item.winners.empty() ? " not effective\n" : "\n";
  for (const Winner& winner : item.winners) {
    text += fmt::format("  {:<46} {}\n", winner.value->origin.to_string(), line(winner.key, *winner.value));
  }
  text += grouped(item.events, Event::Kind::erased, "erased");
  text += grouped(item.events, Event::Kind::overridden, "overridden");
  for (const Event* event : item.events) {
    if (event->kind == Event::Kind::moved) {
      text += fmt::format("  moved from {} to {} ({})\n",
                          event->key.to_string(),
                          event->to.to_string(),
                          event->value.origin.to_string());
    } else if (event->kind == Event::Kind::unread) {
      text += fmt::format("  read by nothing in this release: {} ({})\n",
                          line(event->key, event->value),
                          event->value.origin.to_string());
    }
  }
  if (item.winners.empty() && item.events.empty()) text += "  no file sets it, and it has no built-in value\n";
  return text;
}

std::string overview(const Outcome& outcome) {
  const engine::EffectiveConfig& config = *outcome.effective;
  std::string text = "files, in the order they are read:\n";
  for (const engine::Layer& layer : config.layers) {
    text += "  " + layer.path;
    if (layer.schema_version == 0) text += "  (no version)";
    if (layer.schema_version > 0) text += fmt::format("  (version {})", layer.schema_version);
    text += "\n";
  }
  if (config.layers.empty()) text += "  none: built-in defaults\n";
  text += "handlers:\n";
  for (const engine::Handler& handler : outcome.handlers) {
    text += fmt::format("  {}{}  {}  {}\n",
                        handler.name,
                        handler.is_default ? " (default)" : "",
                        handler.binary.empty() ? "the engine's own runtime" : handler.binary,
                        handler.origin.to_string());
  }
  for (const std::string& reason : config.not_serving) {
    text += "Kubernetes finds no runtime here: " + reason + "\n";
  }
  const auto gone = lost(config);
  std::map<std::string, std::vector<const Event*>> groups;
  for (const Event* event : gone)
    groups[event->by.to_string()].push_back(event);
  for (const auto& [by, group] : groups) {
    text += fmt::format(
        "{} values are lost to {}: its table replaces all of {}\n", group.size(), by, table_of(*group.front()));
    for (std::size_t i = 0; i < std::min(group.size(), kMostRows); ++i) {
      text += fmt::format("    {:<44} {}\n", group[i]->value.origin.to_string(), line(group[i]->key, group[i]->value));
    }
    if (group.size() > kMostRows) text += fmt::format("    and {} more\n", group.size() - kMostRows);
  }
  if (gone.empty()) text += "nothing that a file sets is lost\n";
  return text;
}

std::string file_part(const Plan& plan) {
  std::string text;
  for (const engine::FileChange& file : plan.files) {
    const std::string_view before = file.before ? std::string_view(*file.before) : std::string_view();
    const std::string_view after = file.after ? std::string_view(*file.after) : std::string_view();
    // Redacted before they are compared: a line of a diff may have lost the header or the quotes that tell.
    const std::string diff = engine::unified_diff(redact_lines(before),
                                                  redact_lines(after),
                                                  file.before ? file.path : "/dev/null",
                                                  file.after ? file.path : "/dev/null");
    text += diff.empty() ? file.path + ": only credentials differ\n" : diff;
  }
  return text;
}

/// A member that a new table has anyway, at its zero value: nothing to read about.
bool is_filler(const EffectiveChange& change) {
  if (change.before || !change.after || !change.after->origin.built_in()) return false;
  const engine::Value& value = *change.after;
  const auto* integer = value.integer();
  return (value.boolean() && !*value.boolean()) || (integer && *integer == 0) ||
         (value.string() && value.string()->empty()) || (value.array() && value.array()->empty()) ||
         (value.table() && value.table()->empty());
}

std::string change_rows(const Plan& plan, bool restored) {
  std::string text;
  for (const EffectiveChange& change : plan.changes) {
    if (change.restored != restored || is_filler(change)) continue;
    if (change.before) text += "  - " + line(change.key, *change.before) + "\n";
    if (change.after) {
      text += "  + " + line(change.key, *change.after);
      if (restored && !change.author.built_in()) text += "    (" + change.author.to_string() + ")";
      text += "\n";
    }
  }
  return text;
}

std::string plan_part(const Plan& plan) {
  if (plan.files.empty()) {
    return "nothing to do: " + plan.engine + " serves the handlers from these files already\n";
  }
  std::string text;
  if (plan.today) {
    for (const std::string& reason : plan.today->not_serving)
      text += "today Kubernetes finds no runtime here: " + reason + "\n";
  }
  text += "files:\n" + file_part(plan);
  if (const std::string rows = change_rows(plan, false); !rows.empty()) {
    text += "\neffective, before and after:\n" + rows;
  }
  if (const std::string rows = change_rows(plan, true); !rows.empty()) {
    text += "\nrestored, set by somebody's file and lost today:\n" + rows;
  }
  text += "\nhandlers then:\n";
  for (const engine::Handler& handler : plan.handlers) {
    text += fmt::format("  {}{}  {}\n",
                        handler.name,
                        handler.is_default ? " (default)" : "",
                        handler.binary.empty() ? "the engine's own runtime" : handler.binary);
  }
  text += plan.restart_due() ? "a restart of the daemon makes it effective\n"
                             : "the effective config stays as it is: no restart\n";
  for (const Outlook& outlook : plan.outlook) {
    if (!outlook.holds)
      text += "after an upgrade to " + outlook.engine + " it would not hold: " + outlook.reason + "\n";
  }
  return text;
}

std::string removed_toolkit(const Outcome& outcome) {
  if (!outcome.toolkit_gone) return "";
  if (outcome.toolkit_gone->empty() && outcome.removed) return "no toolkit of ours is installed\n";
  std::string text;
  for (const std::string& path : *outcome.toolkit_gone)
    text += "removed " + path + "\n";
  return text;
}

std::string removed_part(const Outcome& outcome) {
  if (!outcome.removed && outcome.toolkit_gone && !outcome.toolkit_gone->empty()) return "";
  if (!outcome.removed) return "nothing of ours is installed\n";
  std::string text;
  for (const TakenBack& file : *outcome.removed) {
    switch (file.how) {
      case TakenBack::How::restored:
        text += (file.left ? "restored " : "removed ") + file.path + "\n";
        break;
      case TakenBack::How::already:
        text += "as before already " + file.path + "\n";
        break;
      case TakenBack::How::edited:
        text += (file.left ? "took our part out of " : "removed ") + file.path + ", which was edited since\n";
        break;
      case TakenBack::How::left:
        text += "left " + file.path + ", which was edited since and has nothing of ours\n";
        break;
    }
  }
  return text;
}

}  // namespace

std::string report_text(const Request& request, const Outcome& outcome) {
  switch (request.verb) {
    case Verb::effective:
      return request.show_origin ? effective_with_origins(outcome.effective->config, {}) : outcome.rendered;
    case Verb::explain: {
      if (outcome.explanations.empty()) return overview(outcome);
      std::string text;
      for (const Explanation& item : outcome.explanations)
        text += explanation(item);
      return text;
    }
    case Verb::plan:
      return plan_part(*outcome.plan) + (outcome.node ? report_change_text(*outcome.node) : "");
    case Verb::apply: {
      const bool touched =
          outcome.node && (outcome.node->verdict != NodeChange::Verdict::untouched || !outcome.node->reasons.empty());
      if (outcome.plan->files.empty()) return touched ? report_change_text(*outcome.node) : plan_part(*outcome.plan);
      const bool undone = outcome.node && (outcome.node->verdict == NodeChange::Verdict::rolled_back ||
                                           outcome.node->verdict == NodeChange::Verdict::rollback_failed);
      if (undone) return report_change_text(*outcome.node);
      std::string text;
      for (const engine::FileChange& file : outcome.plan->files) {
        text += (file.after ? "wrote " : "removed ") + file.path + "\n";
      }
      if (touched) return text + report_change_text(*outcome.node);
      if (outcome.plan->restart_due()) text += "a restart of the daemon makes it effective\n";
      return text;
    }
    case Verb::uninstall:
      return removed_part(outcome) + (outcome.node ? report_change_text(*outcome.node) : "") + removed_toolkit(outcome);
    case Verb::verify:
      return report_verify_text(*outcome.state);
    case Verb::status:
      return report_status_text(*outcome.state);
    case Verb::rollback:
      return report_rollback_text(outcome);
    case Verb::lint:
      return report_lint_text(*outcome.lint);
    case Verb::preflight:
      return report_preflight_text(*outcome.preflight);
  }
  assert(false);
  return "";
}

std::string report_error(const engine::Error& error) {
  std::string text = "ctkit: " + error.message;
  if (!error.where.empty() && !error.message.contains(error.where)) text += " (" + error.where + ")";
  text += "\n";
  if (!error.hint.empty()) text += "  hint: " + error.hint + "\n";
  return text;
}

}  // namespace ctkit::installer
