#pragma once

#include "installer/doctor_request.h"

namespace ctkit::installer::host {

/// `ctkit doctor` on the real host; the exit status.
int run_doctor(DoctorRequest request);

}  // namespace ctkit::installer::host
