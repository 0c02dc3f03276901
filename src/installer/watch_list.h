#pragma once

#include <string>
#include <vector>

#include "daemonset/watch_item.h"
#include "engine/engine.h"
#include "engine/file_reader.h"

namespace ctkit::installer {

/// The files and folders of the host that decide what the daemon makes of its config: all that the engine asks for,
/// there or not, and what links among them lead to.
std::vector<daemonset::WatchItem> config_watch_list(const engine::Engine& engine, const engine::FileReader& files);

/// One file of the host, by its folder.
daemonset::WatchItem watch_of(const std::string& path);

}  // namespace ctkit::installer
