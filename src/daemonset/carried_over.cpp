#include "daemonset/carried_over.h"

#include <algorithm>

namespace ctkit::daemonset {

namespace {

void add(const std::vector<WatchItem>& items, std::vector<WatchItem>& watch) {
  watch.insert(watch.end(), items.begin(), items.end());
  std::ranges::sort(watch);
  const auto same = std::ranges::unique(watch);
  watch.erase(same.begin(), same.end());
}

}  // namespace

PassReport carried_over(const PassReport& previous, PassReport report) {
  if (report.driver_ready_text.empty()) report.driver_ready_text = previous.driver_ready_text;
  if (!report.looked_at_driver) {
    report.looked_at_driver = previous.looked_at_driver;
    report.driver_ready = previous.driver_ready;
    report.driver_version = previous.driver_version;
    report.spec_current = previous.spec_current;
  }
  if (report.handlers_wanted < 0) report.handlers_wanted = previous.handlers_wanted;
  if (report.restarts < 0) report.restarts = previous.restarts;
  if (report.daemon_pid < 0) report.daemon_pid = previous.daemon_pid;
  if (report.end != PassReport::End::settled) add(previous.watch, report.watch);
  return report;
}

}  // namespace ctkit::daemonset
