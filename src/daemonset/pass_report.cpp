#include "daemonset/pass_report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <variant>

#include "daemonset/words.h"

namespace ctkit::daemonset {

namespace {

using R = PassReport;
using Member = std::variant<std::string R::*, bool R::*, long R::*, int R::*, std::vector<std::string> R::*>;

constexpr std::array<std::pair<std::string_view, Member>, 18> kMembers = {{
    {"exit_code", &R::exit_code},
    {"message", &R::message},
    {"changed", &R::changed},
    {"written", &R::written},
    {"took_back", &R::took_back},
    {"ready", &R::ready},
    {"not_ready", &R::not_ready},
    {"drift", &R::drift},
    {"handlers_wanted", &R::handlers_wanted},
    {"handlers_ready", &R::handlers_ready},
    {"restarts", &R::restarts},
    {"apply_microseconds", &R::apply_microseconds},
    {"looked_at_driver", &R::looked_at_driver},
    {"driver_ready", &R::driver_ready},
    {"driver_version", &R::driver_version},
    {"spec_current", &R::spec_current},
    {"daemon_pid", &R::daemon_pid},
    {"driver_ready_text", &R::driver_ready_text},
}};

constexpr std::array<std::string_view, 3> kEnds = {"settled", "waiting", "failed"};
constexpr std::string_view kWatch = "watch";
constexpr std::string_view kEnd = "end";  // the last line

/// On one line, and such that `plain` gives it back.
std::string escaped(std::string_view text) {
  std::string line;
  for (const char letter : text) {
    if (letter == '\\') {
      line += "\\\\";
    } else if (letter == '\n') {
      line += "\\n";
    } else if (letter == '\t') {
      line += "\\t";
    } else {
      line += letter;
    }
  }
  return line;
}

std::string plain(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      text += line[i];
      continue;
    }
    const char letter = line[++i];
    text += letter == 'n' ? '\n' : letter == 't' ? '\t' : letter;
  }
  return text;
}

template <typename Number>
void parse_number(std::string_view text, Number& number) {
  std::from_chars(text.data(), text.data() + text.size(), number);
}

void put(const Member& member, std::string_view value, R& report) {
  if (const auto* text = std::get_if<std::string R::*>(&member)) report.** text = plain(value);
  if (const auto* flag = std::get_if<bool R::*>(&member)) report.** flag = value == "1";
  if (const auto* number = std::get_if<long R::*>(&member)) parse_number(value, report.**number);
  if (const auto* number = std::get_if<int R::*>(&member)) parse_number(value, report.**number);
  if (const auto* list = std::get_if<std::vector<std::string> R::*>(&member)) (report.**list).push_back(plain(value));
}

std::string line(std::string_view name, std::string_view value) {
  return std::string(name) + '\t' + escaped(value) + '\n';
}

std::string lines(std::string_view name, const Member& member, const R& report) {
  if (const auto* text = std::get_if<std::string R::*>(&member)) return line(name, report.**text);
  if (const auto* flag = std::get_if<bool R::*>(&member)) return line(name, report.**flag ? "1" : "0");
  if (const auto* number = std::get_if<long R::*>(&member)) return line(name, std::to_string(report.**number));
  if (const auto* number = std::get_if<int R::*>(&member)) return line(name, std::to_string(report.**number));
  std::string all;
  for (const std::string& item : report.*std::get<std::vector<std::string> R::*>(member))
    all += line(name, item);
  return all;
}

}  // namespace

std::string render_summary(const PassReport& report) {
  std::string text(kEnds.at(static_cast<std::size_t>(report.end)));
  if (report.changed) text += report.took_back ? ", what was changed was taken back" : ", something was changed";
  text += ", drift: " + std::to_string(report.drift.size());
  text += ", handlers: " + std::to_string(report.handlers_ready) + " of " +
          std::to_string(std::max(0L, report.handlers_wanted));
  return text + (report.ready ? ", ready" : ", not ready: " + report.not_ready);
}

std::string render_pass_report(const PassReport& report) {
  std::string text;
  for (const auto& [name, member] : kMembers)
    text += lines(name, member, report);
  for (const WatchItem& item : report.watch) {
    text += std::string(kWatch) + '\t' + (item.on_host ? "1" : "0") + '\t' + escaped(item.folder) + '\t' +
            escaped(item.prefix) + '\n';
  }
  return text + line(kEnd, kEnds.at(static_cast<std::size_t>(report.end)));
}

PassReport parse_pass_report(std::string_view text) {
  PassReport report;
  bool whole = false;
  for (const std::string_view row : split_words(text, '\n')) {
    const std::size_t tab = row.find('\t');
    if (tab == std::string_view::npos) break;
    const std::string_view name = row.substr(0, tab);
    const std::string_view value = row.substr(tab + 1);
    if (name == kEnd) {
      const auto end = std::ranges::find(kEnds, value);
      whole = end != kEnds.end() && text.ends_with('\n');
      if (whole) report.end = static_cast<PassReport::End>(end - kEnds.begin());
      break;
    }
    if (name == kWatch) {
      const std::size_t next = value.find('\t');
      const std::size_t last = next == std::string_view::npos ? next : value.find('\t', next + 1);
      if (last == std::string_view::npos) break;
      report.watch.push_back({.on_host = value.substr(0, next) == "1",
                              .folder = plain(value.substr(next + 1, last - next - 1)),
                              .prefix = plain(value.substr(last + 1))});
      continue;
    }
    const auto known = std::ranges::find(kMembers, name, [](const auto& member) { return member.first; });
    if (known != kMembers.end()) put(known->second, value, report);
  }
  if (whole) return report;
  report = {.message = "the pass ended without a report"};
  report.not_ready = report.message;
  return report;
}

}  // namespace ctkit::daemonset
