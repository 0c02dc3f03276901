#pragma once

#include <memory>

#include "engine/engine.h"
#include "engine/result.h"
#include "installer/capture.h"
#include "installer/observe.h"

namespace ctkit::installer {

/// CRI-O as the request and the capture describe it; fails as observe_engine does.
engine::Result<std::unique_ptr<engine::Engine>> observe_crio(const HostRoot& root,
                                                             const Request& request,
                                                             const Capture& capture);

}  // namespace ctkit::installer
