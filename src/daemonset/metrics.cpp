#include "daemonset/metrics.h"

#include <algorithm>

#include <fmt/format.h>

namespace ctkit::daemonset {

namespace {

constexpr double kMicroseconds = 1e6;

void head(std::string& text, std::string_view name, std::string_view type, std::string_view help) {
  text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

template <typename Number>
void add(std::string& text, std::string_view name, std::string_view type, std::string_view help, Number value) {
  head(text, name, type, help);
  text += fmt::format("{} {}\n", name, value);
}

std::string quoted(std::string_view value) {
  std::string text;
  for (const char letter : value) {
    if (letter == '\\' || letter == '"') text += '\\';
    text += letter == '\n' ? ' ' : letter;
  }
  return text;
}

}  // namespace

std::string render_metrics(const PassReport& report, const Counters& counters, std::string_view version) {
  std::string text;
  head(text, "ctkit_build_info", "gauge", "The program's version.");
  text += fmt::format("ctkit_build_info{{version=\"{}\"}} 1\n", quoted(version));
  add(text,
      "ctkit_ready",
      "gauge",
      "1 while everything is verified, as the readiness file says.",
      report.ready ? 1 : 0);
  add(text, "ctkit_handlers_wanted", "gauge", "Runtime handlers that we set up.", std::max(0L, report.handlers_wanted));
  add(text,
      "ctkit_handlers_ready",
      "gauge",
      "Those of them that the running daemon itself says it serves, with our binaries.",
      report.handlers_ready);
  add(text,
      "ctkit_restarts_total",
      "counter",
      "Restarts of the daemon that ctkit asked for since it is on this node.",
      std::max(0L, report.restarts));
  add(text,
      "ctkit_drift",
      "gauge",
      "Things that were other than ctkit set them up at the last look.",
      report.drift.size());
  add(text, "ctkit_repairs_total", "counter", "Looks that put something right again.", counters.repairs);
  add(text,
      "ctkit_repairs_limited",
      "gauge",
      "1 while drift is only reported, because it came back too often.",
      counters.limited ? 1 : 0);
  add(text,
      "ctkit_apply_seconds",
      "gauge",
      "What the last change took: writing, restarting, verifying.",
      static_cast<double>(counters.apply_microseconds) / kMicroseconds);
  add(text,
      "ctkit_driver_ready",
      "gauge",
      "1 while the driver's module, libraries and device nodes are there and of one version.",
      report.driver_ready ? 1 : 0);
  head(text, "ctkit_driver_info", "gauge", "The loaded module's version.");
  text += fmt::format("ctkit_driver_info{{version=\"{}\"}} 1\n", quoted(report.driver_version));
  add(text,
      "ctkit_cdi_spec_current",
      "gauge",
      "1 while the management CDI spec is that of the driver.",
      report.spec_current ? 1 : 0);
  head(text, "ctkit_looks_total", "counter", "Looks at the node, by how they ended.");
  text += fmt::format("ctkit_looks_total{{end=\"settled\"}} {}\n", counters.settled_passes);
  text += fmt::format("ctkit_looks_total{{end=\"waiting\"}} {}\n", counters.waiting_passes);
  text += fmt::format("ctkit_looks_total{{end=\"failed\"}} {}\n", counters.failed_passes);
  add(text,
      "ctkit_last_look_timestamp_seconds",
      "gauge",
      "When the last look ended, in seconds since the epoch.",
      counters.last_pass);
  return text;
}

}  // namespace ctkit::daemonset
