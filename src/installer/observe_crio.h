#pragma once

#include <string>

#include "engine/result.h"
#include "installer/capture.h"
#include "installer/observe.h"
#include "installer/request.h"

namespace ctkit::installer {

/// CRI-O as the request, the capture, the running daemon and, where none runs, its unit's file of options describe it;
/// `text` is its release, as it was found.
engine::Result<Observed> observe_crio(const engine::FileReader& here,
                                      const HostRoot& root,
                                      const Request& request,
                                      const Capture& capture,
                                      const LiveDaemon* daemon,
                                      const std::string& text);

}  // namespace ctkit::installer
