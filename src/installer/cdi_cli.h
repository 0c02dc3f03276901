#pragma once

#include <optional>
#include <span>
#include <variant>

#include "installer/cdi_request.h"
#include "installer/cli.h"

namespace ctkit::installer {

/// The command line of `ctkit cdi …`; nothing if it is another verb's. Flag beats environment
/// (CTKIT_*) beats default.
std::optional<std::variant<CdiRequest, Printed>> parse_cdi_command_line(std::span<const char* const> argv);

}  // namespace ctkit::installer
