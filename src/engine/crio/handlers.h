#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/crio/known_release.h"
#include "engine/effective_config.h"
#include "engine/engine.h"

namespace ctkit::engine::crio {

/// `crio.runtime` of a document, or null.
const Table* runtime_table(const Table& config);

/// `crio.runtime.runtimes`, or null.
const Table* handlers_table(const Table& config);

/// A text under `crio.runtime`, "" if it is not there.
std::string runtime_text(const Table& config, std::string_view key);

/// The name of the built-in handler.
std::string built_in_name(const Known& known);

/// default_runtime, or the built-in one if that is empty.
std::string default_handler(const EffectiveConfig& config, const Known& known);

/// A value of a handler, "" if it is not there or no text.
std::string text_of(const Table& handler, std::string_view key);

/// It starts what the default handler starts, whatever its own keys say.
bool inherits_default(const Table& handler);

std::vector<Handler> effective_handlers(const EffectiveConfig& config, const Known& known);

/// A stock NVIDIA installer's handler: its path is `…/nvidia-container-runtime` with or without a
/// suffix.
bool is_stock_handler(const Table& handler);

}  // namespace ctkit::engine::crio
