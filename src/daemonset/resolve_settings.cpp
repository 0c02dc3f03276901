#include "daemonset/resolve_settings.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "cdi/path.h"
#include "daemonset/check_settings.h"
#include "daemonset/setting_rows.h"
#include "daemonset/words.h"

namespace ctkit::daemonset {

// 1. A flag beats the environment, that beats the default.
// 2. Of a setting's environment variables the first that is set counts; an empty one is set only where emptiness says
//    something (Empty::value).
// 3. The last of several same flags counts; of a list they add up.
// 4. A boolean flag without `=` is true, and takes no further word.
// 5. A path is absolute, and where a file is wanted it has no slash at its end; a folder loses those it has.
// 6. Values are trimmed: "true " is what a chart's author meant by true.

namespace {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

Error mistake(std::string message, std::string hint = {}) {
  return {.code = ErrorCode::usage, .message = std::move(message), .hint = std::move(hint)};
}

const SettingRow* find_flag(std::string_view flag, Dialect dialect) {
  for (const SettingRow& row : setting_rows()) {
    const auto flags = flags_of(row, dialect);
    if (std::ranges::find(flags, flag) != flags.end()) return &row;
  }
  return nullptr;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view item = trimmed(text.substr(0, end));
    if (!item.empty()) items.emplace_back(item);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return items;
}

Result<void> set_text(const SettingRow& row, std::string_view value, std::string& member) {
  const auto choices = split_words(row.choices.view());
  if (!value.empty() && !choices.empty() && std::ranges::find(choices, value) == choices.end()) {
    std::string list;
    for (const std::string_view choice : choices)
      list += (list.empty() ? "" : ", ") + std::string(choice);
    return std::unexpected(mistake("'" + std::string(value) + "' is none of " + list));
  }
  if (row.wanted && value.empty()) return std::unexpected(mistake(std::string(name_of(row)) + " wants a path"));
  if (row.path == Path::none || value.empty()) {
    member = value;
    return {};
  }
  while (row.path == Path::folder && value.size() > 1 && value.ends_with('/'))
    value.remove_suffix(1);
  const bool fits = row.path == Path::folder ? value.starts_with('/') : cdi::is_file_path(value);
  if (!fits) {
    return std::unexpected(mistake(std::string(name_of(row)) + " wants an absolute path" +
                                   (row.path == Path::file ? " without a slash at its end" : "") + ", not '" +
                                   std::string(value) + "'"));
  }
  member = value;
  return {};
}

Result<void> set_bool(std::string_view value, bool& member) {
  // Empty is false, as for NVIDIA's installer.
  const auto parsed = value.empty() ? std::optional(false) : parse_bool(value);
  if (!parsed) return std::unexpected(mistake("'" + std::string(value) + "' is neither true nor false"));
  member = *parsed;
  return {};
}

Result<void> set_number(std::string_view value, long& member) {
  long number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  constexpr long kMost = 10'000'000;
  if (error != std::errc() || end != value.data() + value.size() || number < 0 || number > kMost) {
    return std::unexpected(mistake("'" + std::string(value) + "' is no number from 0 to 10000000"));
  }
  member = number;
  return {};
}

/// Whether the setting is one of this kind; its value may go to a member, or nowhere.
template <typename Value>
bool is_a(const SettingRow& row, Unread kind) {
  const auto* unread = std::get_if<Unread>(&row.member);
  return unread != nullptr ? *unread == kind : std::holds_alternative<Value Settings::*>(row.member);
}

bool is_list(const SettingRow& row) {
  return is_a<std::vector<std::string>>(row, Unread::list);
}

bool is_bool(const SettingRow& row) {
  return is_a<bool>(row, Unread::boolean);
}

/// Puts the text into the row's member; a list grows.
Result<void> set(const SettingRow& row, std::string_view text, Settings& settings) {
  const std::string_view value = trimmed(text);
  if (const auto* text_member = std::get_if<std::string Settings::*>(&row.member)) {
    return set_text(row, value, settings.**text_member);
  }
  if (const auto* bool_member = std::get_if<bool Settings::*>(&row.member)) {
    return set_bool(value, settings.**bool_member);
  }
  if (const auto* number_member = std::get_if<long Settings::*>(&row.member)) {
    return set_number(value, settings.**number_member);
  }
  if (std::holds_alternative<Unread>(row.member)) {
    bool unread = false;
    return is_bool(row) ? set_bool(value, unread) : Result<void>{};
  }
  auto& list = settings.*std::get<std::vector<std::string> Settings::*>(row.member);
  for (std::string& item : split_list(value))
    list.push_back(std::move(item));
  return {};
}

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items)
    text += (text.empty() ? "" : ",") + item;
  return text;
}

/// What was said of a setting that is taken and not kept.
std::string shown(const SettingRow& row, const std::vector<std::string>& values) {
  if (is_list(row)) return joined(split_list(joined(values)));
  const std::string_view value = values.empty() ? "" : trimmed(values.back());
  if (is_bool(row)) return parse_bool(value).value_or(false) ? "true" : "false";
  return std::string(value);
}

std::string shown(const SettingRow& row, const Settings& settings) {
  if (const auto* text_member = std::get_if<std::string Settings::*>(&row.member)) return settings.**text_member;
  if (const auto* bool_member = std::get_if<bool Settings::*>(&row.member)) {
    return settings.**bool_member ? "true" : "false";
  }
  if (const auto* number_member = std::get_if<long Settings::*>(&row.member)) {
    return std::to_string(settings.**number_member);
  }
  return joined(settings.*std::get<std::vector<std::string> Settings::*>(row.member));
}

/// A flag as it was given.
struct Given {
  const SettingRow* row = nullptr;
  std::string flag = {};
  std::string value = {};
};

Result<std::vector<Given>> read_words(Dialect dialect,
                                      std::span<const std::string> words,
                                      std::vector<std::string>& warnings) {
  std::vector<Given> given;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with('-') || word == "-") {
      if (dialect == Dialect::own) return std::unexpected(mistake("'" + words[i] + "' is no flag"));
      warnings.push_back("passed over '" + words[i] + "', which is no flag");
      continue;
    }
    const std::string_view body = word.substr(word.starts_with("--") ? 2 : 1);
    const std::size_t equals = body.find('=');
    const std::string flag(body.substr(0, equals));
    const SettingRow* row = find_flag(flag, dialect);
    if (row == nullptr) {
      return std::unexpected(
          mistake("'" + std::string(word.substr(0, word.find('='))) + "' is not known", "--help lists the flags"));
    }
    Given item{.row = row, .flag = std::string(word.substr(0, word.find('=')))};
    if (equals != std::string_view::npos) {
      item.value = body.substr(equals + 1);
    } else if (is_bool(*row)) {
      item.value = "true";
    } else if (i + 1 < words.size()) {
      item.value = words[++i];
    } else {
      return std::unexpected(mistake("'" + item.flag + "' wants a value"));
    }
    given.push_back(std::move(item));
  }
  return given;
}

/// What one row comes to.
struct Said {
  std::string source = "default";
  std::vector<std::string> values = {};
  std::vector<std::string> overridden = {};
};

Said ask(const SettingRow& row, Dialect dialect, const std::vector<Given>& flags, const Environment& environment) {
  Said said;
  bool found = false;
  for (const Given& given : flags) {
    if (given.row != &row) continue;
    if (found && !is_list(row)) said.overridden.push_back(said.source + "=" + said.values.front());
    if (!is_list(row)) said.values.clear();
    said.values.push_back(given.value);
    said.source = given.flag;
    found = true;
  }
  for (const std::string_view name : split_words(row.environment.view())) {
    const auto variable = environment.find(name);
    if (variable == environment.end()) continue;
    if (trimmed(variable->second).empty() && row.empty == Empty::unset) continue;
    if (found) {
      said.overridden.push_back(std::string(name) + "=" + variable->second);
      continue;
    }
    said.values = {variable->second};
    said.source = name;
    found = true;
  }
  if (!found) said.values = {std::string(default_of(row, dialect))};
  return said;
}

}  // namespace

const ResolvedValue* ResolvedSettings::find(std::string_view name) const {
  const auto row = std::ranges::find(table, name, &ResolvedValue::name);
  return row == table.end() ? nullptr : &*row;
}

bool ResolvedSettings::is_given(std::string_view name) const {
  const ResolvedValue* row = find(name);
  return row != nullptr && row->source != "default";
}

bool ResolvedSettings::is_ours(std::string_view name) const {
  const ResolvedValue* row = find(name);
  return row != nullptr && (row->source.starts_with('-') || row->source.starts_with("CTKIT_"));
}

bool is_nvidia_name(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  return name == "nvidia-toolkit" || name == "nvidia-ctk-installer";
}

Result<ResolvedSettings> resolve_settings(Dialect dialect,
                                          std::span<const std::string> words,
                                          const Environment& environment) {
  ResolvedSettings resolved;
  const auto flags = read_words(dialect, words, resolved.warnings);
  if (!flags) return std::unexpected(flags.error());
  for (const SettingRow& row : setting_rows()) {
    const Said said = ask(row, dialect, *flags, environment);
    for (const std::string& value : said.values) {
      if (value.empty() && said.source == "default") continue;
      if (auto done = set(row, value, resolved.settings); !done) {
        return std::unexpected(done.error().with_context(said.source));
      }
    }
    resolved.table.push_back(
        {.name = std::string(name_of(row)),
         .value = std::holds_alternative<Unread>(row.member) ? shown(row, said.values) : shown(row, resolved.settings),
         .source = said.source,
         .overridden = said.overridden});
    if (!row.without_effect.view().empty() && said.source != "default") {
      resolved.warnings.push_back(said.source + " has no effect: " + std::string(row.without_effect.view()));
    }
  }
  if (auto fits = check_settings(dialect, resolved); !fits) return std::unexpected(fits.error());
  return resolved;
}

}  // namespace ctkit::daemonset
