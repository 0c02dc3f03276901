#include "installer/doctor.h"

#include <array>

#include "installer/doctor_gates.h"

namespace ctkit::installer {

DoctorReport make_doctor_report(const DoctorFacts& facts) {
  constexpr auto kGates = std::to_array({module_gate,
                                         libraries_gate,
                                         devices_gate,
                                         toolkit_gate,
                                         handlers_gate,
                                         dump_gate,
                                         loaded_gate,
                                         specs_gate,
                                         validator_gate});
  DoctorReport report;
  for (const auto judge : kGates)
    report.gates.push_back(judge(facts));
  Gate& validator = report.gates.back();
  const Gate* failed = report.first_failed();
  if (failed != nullptr && failed != &validator && facts.validator.files.contains("toolkit-ready")) {
    validator.mention("toolkit-ready is there although the gate '" + std::string(failed->name) +
                          "' fails: it was written when the validator ran, and nobody takes it away",
                      "don't go by it, nor by gpu_operator_node_toolkit_ready, which is made from it");
  }
  return report;
}

}  // namespace ctkit::installer
