#pragma once

#include <span>
#include <string>

#include "daemonset/settings.h"

namespace ctkit::installer::host {

/// `ctkit run`, also under the names of NVIDIA's installer: the words after the name and the verb, with the process's
/// environment. Returns the exit status.
int run_daemonset(daemonset::Dialect dialect, std::span<const std::string> words, const std::string& version);

}  // namespace ctkit::installer::host
