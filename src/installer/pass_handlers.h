#pragma once

#include "daemonset/pass_report.h"
#include "daemonset/settings.h"
#include "installer/request.h"
#include "installer/run_pass.h"

namespace ctkit::installer {

/// The handlers, or the hook that stands for them: set up, or looked at, and what the daemon itself says of them.
void serve_handlers(const daemonset::Settings& settings,
                    const Request& request,
                    const NodeAtHand& found,
                    daemonset::PassMode mode,
                    const PassHost& host,
                    daemonset::PassReport& report);

/// Only that.
void verify_handlers(const Request& request, const NodeAtHand& node, daemonset::PassReport& report);

}  // namespace ctkit::installer
