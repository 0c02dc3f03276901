#pragma once

#include <span>
#include <string>

namespace ctkit::installer::host {

/// `nvidia-cdi-hook ARG…`: changes the root of the container whose state is on standard input.
/// Returns the exit status: 0 also for hooks we don't know, 1 if a known one fails.
int run_cdi_hook(std::span<const std::string> arguments);

}  // namespace ctkit::installer::host
