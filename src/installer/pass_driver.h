#pragma once

#include "daemonset/pass_report.h"
#include "daemonset/settings.h"
#include "engine/result.h"
#include "installer/run_pass.h"

namespace ctkit::installer {

/// The settings with the driver's place; an error: the operator's file has to say it, and doesn't yet.
engine::Result<daemonset::Settings> find_driver(const PassOrder& order,
                                                const PassHost& host,
                                                daemonset::PassReport& report);

/// What changes when the driver does, and the spec.
void watch_driver(const daemonset::Settings& settings, daemonset::PassReport& report);

/// The control device nodes that are missing. False: the pass can't go on, and the report says why.
bool make_nodes(const daemonset::Settings& settings, const PassHost& host, daemonset::PassReport& report);

/// The spec that fits the driver, written, or only tried. False: there is none to be had now, and the report says why.
bool refresh_spec(const daemonset::Settings& settings,
                  bool writes,
                  const PassHost& host,
                  daemonset::PassReport& report);

}  // namespace ctkit::installer
