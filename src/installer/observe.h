#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cdi/level.h"
#include "engine/engine.h"
#include "engine/own_check.h"
#include "engine/result.h"
#include "installer/file_system.h"
#include "installer/observed.h"
#include "installer/request.h"

namespace ctkit::installer {

/// Which folder is the host root: a capture's folder holds it as `root/`.
struct HostRoot {
  std::string folder = {};
  std::string capture = {};  ///< capture.json that goes with it; empty: there is none
};

/// `here` are the files of the machine we run on.
HostRoot find_host_root(const engine::FileReader& here, const std::string& folder);

/// The engine, how to ask the daemon's own program about it, and what a change means there.
struct Observed {
  std::unique_ptr<engine::Engine> engine = {};
  std::unique_ptr<engine::OwnCheck> check = {};
  std::optional<cdi::Level> cdi_level = std::nullopt;  ///< of the daemon's CDI library; none: it has none
  bool without_handlers = false;                       ///< what a change brings about there is a hook, and no handlers
  std::vector<std::string> programs = {};  ///< besides the handlers' binaries, what the node must be able to start
};

/// The engine as the request and the capture describe it, with what the running daemon says of itself where neither
/// does. `kept`: what an earlier daemon said of itself, for one that is down. Fails with `unknown_release` where nobody
/// says the release, with `usage` where the capture or the defaults can't be read.
engine::Result<Observed> observe(const engine::FileReader& here,
                                 const HostRoot& root,
                                 const Request& request,
                                 const LiveDaemon* daemon,
                                 const DaemonBuild* kept);

/// The release that the request or the capture names, as written; "" if neither does.
engine::Result<std::string> observe_release(const engine::FileReader& here,
                                            const HostRoot& root,
                                            const std::string& requested);

}  // namespace ctkit::installer
