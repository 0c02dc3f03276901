#pragma once

#include <span>
#include <string>
#include <variant>

#include "installer/request.h"

namespace ctkit::installer {

/// What the command line comes to when it is not a request: help or version (stdout, exit 0) or a mistake (stderr, exit
/// 64).
struct Printed {
  std::string text = {};
  bool mistake = false;
};

/// Flag beats environment (CTKIT_*) beats default.
std::variant<Request, Printed> parse_command_line(std::span<const char* const> argv);

}  // namespace ctkit::installer
