#pragma once

#include <string>

#include "installer/doctor.h"

namespace ctkit::installer {

/// The page: the verdict and what to do first, then the gates, then what else is wrong.
std::string report_doctor_text(const DoctorReport& report);

std::string report_doctor_json(const DoctorReport& report);

/// "ok", "look", "FAILED", "unseen".
std::string_view word_of(GateState state);

}  // namespace ctkit::installer
