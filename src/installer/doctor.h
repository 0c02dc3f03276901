#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "installer/doctor_facts.h"

namespace ctkit::installer {

enum class GateState {
  passed,
  attention,  ///< it lets containers through, but somebody should look
  failed,     ///< no container with a GPU gets through, or not every one
  unseen,     ///< can't be told from what we see
};

/// Something wrong, and what to do about it.
struct Advice {
  std::string problem = {};
  std::string remedy = {};
  bool operator==(const Advice&) const = default;
};

/// One gate of the chain that a container with a GPU has to pass.
struct Gate {
  std::string_view name = {};
  GateState state = GateState::passed;
  std::string found = {};  ///< in a few words; of an unseen gate why
  std::vector<Advice> advice = {};

  void fail(std::string problem, std::string remedy) {
    state = GateState::failed;
    advice.push_back({.problem = std::move(problem), .remedy = std::move(remedy)});
  }
  void mention(std::string problem, std::string remedy) {
    if (state != GateState::failed) state = GateState::attention;
    advice.push_back({.problem = std::move(problem), .remedy = std::move(remedy)});
  }
};

/// The chain from the driver to what the validator says of it, each gate judged by itself.
struct DoctorReport {
  std::vector<Gate> gates = {};

  /// The first gate that fails; those behind it may fail because of it. Null: none does.
  [[nodiscard]] const Gate* first_failed() const {
    const auto found = std::ranges::find(gates, GateState::failed, &Gate::state);
    return found == gates.end() ? nullptr : &*found;
  }
};

DoctorReport make_doctor_report(const DoctorFacts& facts);

}  // namespace ctkit::installer
