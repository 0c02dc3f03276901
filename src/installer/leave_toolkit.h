#pragma once

#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/result.h"
#include "installer/host.h"
#include "installer/request.h"

namespace ctkit::installer {

/// Before uninstall writes anything: `needs_decision` if somebody would still need the toolkit's files after it.
engine::Result<void> check_toolkit_is_free(const Request& request, const engine::Engine& engine, Host& host);

/// After it: takes the toolkit's files off, and the CDI spec of the GPUs' management, which calls their hooks. What is
/// gone, as paths; an error if somebody needs the files after all.
engine::Result<std::vector<std::string>> take_toolkit_off(const Request& request,
                                                          const engine::Engine& engine,
                                                          Host& host);

}  // namespace ctkit::installer
