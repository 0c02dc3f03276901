#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "daemonset/pass_report.h"

namespace ctkit::daemonset {

/// What the holding process counts, beside the last report.
struct Counters {
  long settled_passes = 0;
  long waiting_passes = 0;
  long failed_passes = 0;
  long repairs = 0;
  std::int64_t last_pass = 0;           ///< seconds since the epoch; 0: none yet
  std::int64_t apply_microseconds = 0;  ///< of the last apply that there was
  bool limited = false;                 ///< drift is only reported by now
};

/// Prometheus text exposition, version 0.0.4.
std::string render_metrics(const PassReport& report, const Counters& counters, std::string_view version);

}  // namespace ctkit::daemonset
