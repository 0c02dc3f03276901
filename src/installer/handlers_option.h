#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/result.h"

namespace ctkit::installer {

/// nvidia, nvidia-cdi and nvidia-legacy with the binaries of the toolkit's folder.
std::vector<engine::DesiredHandler> usual_handlers(const std::string& folder);

/// Each `name=binary[,type=…]`, no name twice; else `usage`.
engine::Result<std::vector<engine::DesiredHandler>> parse_handlers(std::span<const std::string> texts);

/// Container annotations that begin with one of the prefixes are for each of the handlers; an empty one, as of a
/// variable that is set to nothing, is none.
void pass_annotations(std::span<const std::string> prefixes, std::vector<engine::DesiredHandler>& handlers);

/// Whether CRI-O reads a hook from a file of this name.
bool is_hook_name(std::string_view name);

/// Of a list that was separated at its commas: a `type=…` belongs to the handler before it.
std::vector<std::string> join_types(std::span<const std::string> words);

}  // namespace ctkit::installer
