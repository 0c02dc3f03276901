#pragma once

#include <optional>
#include <span>
#include <variant>

#include "installer/cli.h"
#include "installer/doctor_request.h"

namespace ctkit::installer {

/// What is after `ctkit doctor`; nothing if it is another verb.
std::optional<std::variant<DoctorRequest, Printed>> parse_doctor_command_line(std::span<const char* const> argv);

}  // namespace ctkit::installer
