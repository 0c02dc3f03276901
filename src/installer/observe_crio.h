#pragma once

#include <memory>

#include "engine/engine.h"
#include "engine/result.h"
#include "installer/capture.h"
#include "installer/observe.h"

namespace ctkit::installer {

/// CRI-O as the request and the capture describe it, `release` as it prints it, empty: not known; fails as observe
/// does.
engine::Result<std::unique_ptr<engine::Engine>> observe_crio(const HostRoot& root,
                                                             const Request& request,
                                                             const Capture& capture,
                                                             const std::string& release);

}  // namespace ctkit::installer
