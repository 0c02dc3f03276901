#pragma once

#include <vector>

#include "daemonset/lifecycle.h"
#include "daemonset/mounts.h"
#include "daemonset/resolve_settings.h"
#include "daemonset/settings.h"
#include "engine/result.h"
#include "installer/cdi_request.h"
#include "installer/request.h"

namespace ctkit::installer {

/// What a pass asks of the node's runtime: `apply`, or `plan` where it may only look. Paths become the host's.
/// `usage` where a handler is written wrongly.
engine::Result<Request> make_pass_request(const daemonset::Settings& settings,
                                          const std::vector<daemonset::MappedFolder>& folders,
                                          daemonset::PassMode mode);

/// The operator names a usual config, whatever the daemon is and reads: that is a guess, and none at all where a daemon
/// that may be there doesn't read such a file. What a flag or a name of ours says stays.
void weigh_config(const daemonset::ResolvedSettings& resolved, Request& request);

/// What it asks for the CDI spec. Paths are ours, but for those that are the spec's content.
CdiRequest make_spec_request(const daemonset::Settings& settings);

}  // namespace ctkit::installer
