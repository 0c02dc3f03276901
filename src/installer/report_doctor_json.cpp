#include <nlohmann/json.hpp>

#include "installer/report_doctor.h"
#include "installer/value_json.h"

namespace ctkit::installer {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view json_word(GateState state) {
  switch (state) {
    case GateState::passed:
      return "passed";
    case GateState::attention:
      return "attention";
    case GateState::failed:
      return "failed";
    case GateState::unseen:
      return "unseen";
  }
  return "";
}

}  // namespace

std::string report_doctor_json(const DoctorReport& report) {
  ordered_json gates = ordered_json::array();
  for (const Gate& gate : report.gates) {
    ordered_json problems = ordered_json::array();
    for (const Advice& advice : gate.advice) {
      problems.push_back({{"problem", advice.problem},
                          {"remedy", advice.remedy.empty() ? ordered_json(nullptr) : ordered_json(advice.remedy)}});
    }
    gates.push_back({{"gate", gate.name},
                     {"state", json_word(gate.state)},
                     {"found", gate.found},
                     {"problems", std::move(problems)}});
  }
  const Gate* failed = report.first_failed();
  return render_json({{"schema", "ctkit/v1/doctor"},
                      {"first_failed", failed != nullptr ? ordered_json(failed->name) : ordered_json(nullptr)},
                      {"gates", std::move(gates)}});
}

}  // namespace ctkit::installer
