#pragma once

#include <string>

#include "daemonset/pass_report.h"
#include "engine/result.h"

namespace ctkit::installer {

/// The error with its place and what to do about it, on one line.
std::string in_words(const engine::Error& error);

/// The pass has failed, with the exit code of the error.
void end_failed(daemonset::PassReport& report, const engine::Error& error);

/// The pass can do no more until there is what it waits for.
void end_waiting(daemonset::PassReport& report, std::string what);

}  // namespace ctkit::installer
