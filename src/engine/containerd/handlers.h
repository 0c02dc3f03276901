#pragma once

#include <string_view>
#include <vector>

#include "engine/containerd/regime.h"
#include "engine/effective_config.h"
#include "engine/engine.h"

namespace ctkit::engine::containerd {

/// The plugin section that holds the runtimes in what this release prints.
std::string_view runtimes_section(const Regime& regime);

/// `plugins.<section>.containerd` of the effective config; null if CRI isn't there.
const Table* containerd_table(const EffectiveConfig& config, const Regime& regime);

/// The handler's table in the effective config, or null.
const Table* find_handler(const EffectiveConfig& config, const Regime& regime, std::string_view name);

std::vector<Handler> effective_handlers(const EffectiveConfig& config, const Regime& regime);

/// The keys under `options` that name the binary: the shim reads them ignoring case.
std::vector<std::string> binary_name_spellings(const Table& options);

/// A table of a handler that starts runc, or a program that takes its place.
bool is_runc_type(const Table& handler);

/// The name of the default handler, "" if there is none.
std::string default_handler(const EffectiveConfig& config, const Regime& regime);

/// A stock NVIDIA installer's handler: its binary is `…/nvidia-container-runtime` with or without a suffix.
bool is_stock_handler(const Table& handler);

}  // namespace ctkit::engine::containerd
