#include "installer/report_preflight.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "installer/redact.h"

namespace ctkit::installer {

namespace {

using engine::Preflight;
using engine::SettingChange;
using Kind = SettingChange::Kind;

/// Long lists are cut: the whole is in -o json.
constexpr std::size_t kMostRows = 20;

std::string refusal(std::string_view what, const engine::Error& error) {
  std::string text = fmt::format("{}: {}", what, error.message);
  if (!error.where.empty() && !error.message.contains(error.where)) text += " (" + error.where + ")";
  text += "\n";
  if (!error.hint.empty()) text += "  hint: " + error.hint + "\n";
  return text;
}

std::string rows(const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = title + ":\n";
  for (std::size_t i = 0; i < std::min(lines.size(), kMostRows); ++i)
    text += "  " + lines[i] + "\n";
  if (lines.size() > kMostRows) text += fmt::format("  and {} more\n", lines.size() - kMostRows);
  return text;
}

std::string assignment(const engine::KeyPath& key, const std::optional<engine::Value>& value) {
  return key.to_string() + " = " + (value ? shown(key, *value) : "nothing");
}

std::string setting_line(const SettingChange& change) {
  const engine::KeyPath& key = change.kind == Kind::revived ? change.to : change.key;
  const auto& value = change.kind == Kind::revived ? change.after : change.before;
  std::string text = fmt::format("{:<44} {}", change.origin.to_string(), assignment(key, value));
  const std::string by = change.by.built_in() ? "" : " by " + change.by.to_string();
  switch (change.kind) {
    case Kind::ignored:
    case Kind::lost:
      if (change.after) {
        text += fmt::format("; effective there: {}{}", shown(change.to, *change.after), by);
      } else if (!by.empty()) {
        text += "; erased" + by;
      }
      break;
    case Kind::changed:
      text += fmt::format("; there: {}{}", change.after ? shown(change.to, *change.after) : "nothing", by);
      break;
    case Kind::revived:
      text += fmt::format("; today: {}", change.before ? shown(change.to, *change.before) : "nothing");
      break;
    case Kind::held:
      text += fmt::format("; built in there: {}", change.after ? shown(change.to, *change.after) : "nothing");
      break;
  }
  return text;
}

std::vector<std::string> settings_of(const Preflight& preflight, Kind kind, bool already) {
  std::vector<std::string> lines;
  for (const SettingChange& change : preflight.settings) {
    if (change.kind == kind && change.already == already) lines.push_back(setting_line(change));
  }
  return lines;
}

std::string runs(const std::optional<std::string>& binary) {
  if (!binary) return "is not there";
  return binary->empty() ? "starts the engine's own runtime" : "starts " + *binary;
}

std::vector<std::string> handler_lines(const Preflight& preflight) {
  std::vector<std::string> lines;
  for (const engine::HandlerChange& change : preflight.handlers) {
    std::string text = fmt::format("{:<44} {}: ", change.origin.to_string(), change.name);
    if (change.before != change.after) {
      text += fmt::format("today {}, there {}", runs(change.before), runs(change.after));
    } else {
      text += change.default_after ? "is the default there" : "is the default today, not there";
    }
    lines.push_back(std::move(text));
  }
  return lines;
}

std::string finding_lines(const Preflight& preflight) {
  if (preflight.findings.empty()) return "";
  std::string text = "what is wrong with these files there:\n";
  for (const engine::Finding& finding : preflight.findings) {
    const engine::Rule& rule = engine::rule_of(finding.rule);
    const std::string place = finding.origin.built_in() ? "" : finding.origin.to_string() + ": ";
    text += fmt::format("  {}{} {}: {}\n", place, rule.id, rule.name, finding.message);
    if (!finding.hint.empty()) text += "    hint: " + finding.hint + "\n";
  }
  return text;
}

std::string default_lines(const Preflight& preflight) {
  std::vector<std::string> lines;
  for (const engine::DefaultChange& change : preflight.defaults) {
    lines.push_back(fmt::format("{}, today {}",
                                assignment(change.key, change.after),
                                change.before ? shown(change.key, *change.before) : "nothing"));
  }
  std::string text = rows("built-in values that differ", lines);
  if (preflight.new_keys + preflight.gone_keys > 0) {
    text += fmt::format("built-in keys: {} new, {} gone\n", preflight.new_keys, preflight.gone_keys);
  }
  return text;
}

}  // namespace

std::string report_preflight_text(const Preflight& preflight) {
  std::string text = fmt::format("{} to {}: {}\n",
                                 preflight.from,
                                 preflight.to,
                                 preflight.breaks()    ? "this breaks"
                                 : preflight.changes() ? "something changes"
                                                       : "these files mean the same");
  if (preflight.refused_today) text += refusal("today the daemon refuses these files", *preflight.refused_today);
  if (preflight.refused) text += refusal("there the daemon refuses to start", *preflight.refused);
  for (const std::string& reason : preflight.not_serving_today) {
    text += "Kubernetes finds no runtime today: " + reason + "\n";
  }
  for (const std::string& reason : preflight.not_serving) {
    text += "Kubernetes finds no runtime there: " + reason + "\n";
  }
  text += finding_lines(preflight);
  text += rows("handlers that differ", handler_lines(preflight));
  text += rows("not read there", settings_of(preflight, Kind::ignored, false));
  text += rows("lost there", settings_of(preflight, Kind::lost, false));
  text += rows("other values there", settings_of(preflight, Kind::changed, false));
  text += rows("without effect today, effective there", settings_of(preflight, Kind::revived, false));
  text += rows("today's built-in values, repeated in a file and kept there", settings_of(preflight, Kind::held, false));
  std::vector<std::string> already = settings_of(preflight, Kind::ignored, true);
  for (std::string& line : settings_of(preflight, Kind::lost, true))
    already.push_back(std::move(line));
  text += rows("without effect today and there", already);
  return text + default_lines(preflight);
}

}  // namespace ctkit::installer
