#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace ctkit::installer {

/// nvidia, nvidia-cdi and nvidia-legacy with the binaries of the toolkit's folder.
std::vector<engine::DesiredHandler> usual_handlers(const std::string& folder);

/// `name=binary[,type=…]`; false if it is anything else.
bool parse_handler(std::string_view text, engine::DesiredHandler& handler);

}  // namespace ctkit::installer
