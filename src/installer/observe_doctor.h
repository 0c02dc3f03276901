#pragma once

#include <optional>
#include <string>

#include "cdi/tree.h"
#include "engine/engine.h"
#include "engine/result.h"
#include "installer/doctor_facts.h"
#include "installer/doctor_request.h"
#include "installer/host.h"
#include "toolkit/running_programs.h"

namespace ctkit::installer {

/// Where doctor looks.
struct DoctorView {
  Host& host;             ///< files and, if there is one, the running daemon
  const cdi::Tree& tree;  ///< the same root
  toolkit::RunningPrograms& programs;
  engine::Result<const engine::Engine*> engine = nullptr;   ///< an error: why there is none
  std::optional<engine::Error> unreachable = std::nullopt;  ///< a node whose daemon nobody can be asked about
};

/// The host's root where nobody names one: /host in a pod that has it there, else /.
std::string find_doctors_root(const engine::FileReader& here);

/// Looks, and changes nothing.
DoctorFacts observe_doctor(const DoctorRequest& request, const DoctorView& view);

}  // namespace ctkit::installer
