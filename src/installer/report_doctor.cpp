#include "installer/report_doctor.h"

#include <cassert>
#include <string_view>

#include <fmt/format.h>

namespace ctkit::installer {

namespace {

std::string advice_text(const Gate& gate) {
  std::string text;
  for (const Advice& advice : gate.advice) {
    text += "  " + advice.problem + "\n";
    if (!advice.remedy.empty()) text += "    do: " + advice.remedy + "\n";
  }
  return text;
}

std::string unseen_before(const DoctorReport& report, const Gate* failed) {
  std::string names;
  for (const Gate& gate : report.gates) {
    if (&gate == failed) break;
    if (gate.state == GateState::unseen) names += (names.empty() ? "" : ", ") + std::string(gate.name);
  }
  return names;
}

std::string verdict(const DoctorReport& report, const Gate* failed) {
  const std::string unseen = unseen_before(report, failed);
  if (failed == nullptr) {
    return unseen.empty() ? "every gate passes\n" : "no gate fails that can be seen here; not seen: " + unseen + "\n";
  }
  std::string text = fmt::format("first gate that fails: {}", failed->name);
  if (!unseen.empty()) text += " (before it not seen: " + unseen + ")";
  return text + "\n" + advice_text(*failed);
}

}  // namespace

std::string_view word_of(GateState state) {
  switch (state) {
    case GateState::passed:
      return "ok";
    case GateState::attention:
      return "look";
    case GateState::failed:
      return "FAILED";
    case GateState::unseen:
      return "unseen";
  }
  assert(false);
  return "";
}

std::string report_doctor_text(const DoctorReport& report) {
  const Gate* failed = report.first_failed();
  std::string text = verdict(report, failed) + "\n";
  for (const Gate& gate : report.gates)
    text += fmt::format("{:<10} {:<7} {}\n", gate.name, word_of(gate.state), gate.found);
  bool behind = false;
  for (const Gate& gate : report.gates) {
    if (&gate == failed) {
      behind = true;
      continue;
    }
    if (gate.advice.empty()) continue;
    const bool maybe_result = behind && gate.state == GateState::failed;
    text +=
        fmt::format("\n{}{}\n{}", gate.name, maybe_result ? ", maybe because of the first:" : ":", advice_text(gate));
  }
  return text;
}

}  // namespace ctkit::installer
