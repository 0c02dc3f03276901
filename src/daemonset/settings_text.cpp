#include "daemonset/resolve_settings.h"
#include "daemonset/setting_rows.h"
#include "daemonset/words.h"

namespace ctkit::daemonset {

std::string render_settings(const ResolvedSettings& resolved, bool all) {
  std::string text;
  for (const ResolvedValue& row : resolved.table) {
    if (!all && row.source == "default") continue;
    text += "  " + row.name + " = '" + row.value + "' (" + row.source;
    for (const std::string& other : row.overridden)
      text += "; not " + other;
    text += ")\n";
  }
  return text;
}

std::string settings_help(Dialect dialect) {
  std::string text;
  for (const SettingRow& row : setting_rows()) {
    std::string line = "  ";
    for (const std::string_view flag : flags_of(row, dialect)) {
      line += (line.size() == 2 ? "" : ", ") + std::string(flag.size() == 1 ? "-" : "--") + std::string(flag);
    }
    for (const std::string_view name : split_words(row.environment.view()))
      line += (line.size() == 2 ? "" : ", ") + std::string(name);
    text += line + "\n";
    const std::string_view value = default_of(row, dialect);
    text += "      ";
    text += row.without_effect.view().empty() ? row.help.view() : row.without_effect.view();
    if (!row.choices.view().empty()) text += " [" + std::string(row.choices.view()) + "]";
    if (!value.empty()) text += " (" + std::string(value) + ")";
    text += "\n";
  }
  return text;
}

}  // namespace ctkit::daemonset
