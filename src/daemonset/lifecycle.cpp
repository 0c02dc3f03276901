#include "daemonset/lifecycle.h"

#include <algorithm>
#include <cassert>

namespace ctkit::daemonset {

namespace {

constexpr Time kSecond = 1000;
constexpr Time kDriverPause = kSecond;           // between looks for a driver that we wait for
constexpr Time kLostDriverPause = 10 * kSecond;  // and for one that has gone again
constexpr Time kFirstRetry = 10 * kSecond;
constexpr Time kLastRetry = 300 * kSecond;
constexpr Time kMostDebounces = 6;
constexpr Time kFirstDebounce = 50;  // while we wait for the driver

}  // namespace

std::string_view name_of(PassMode mode) {
  switch (mode) {
    case PassMode::install:
      return "install";
    case PassMode::repair:
      return "repair";
    case PassMode::look:
      return "report";
  }
  assert(false);
  return "";
}

Lifecycle::Lifecycle(const Settings& settings, Time now)
    : debounce_(settings.debounce),
      resync_(settings.resync * kSecond),
      repair_window_(settings.repair_window * kSecond),
      repair_limit_(static_cast<std::size_t>(settings.repair_limit)),
      driver_limit_(now + (settings.driver_timeout * kSecond)),
      repairs_allowed_(settings.on_drift != "report"),
      ends_(settings.no_daemon),
      ignores_errors_(settings.ignore_errors),
      due_(now) {}

void Lifecycle::change(Time now) {
  if (!first_change_) first_change_ = now;
  last_change_ = now;
}

void Lifecycle::pass_started() {
  running_ = true;
  first_change_ = last_change_ = due_ = std::nullopt;
}

void Lifecycle::pass_ended(Time now, const PassReport& report) {
  running_ = false;
  // One that didn't hold has disturbed the node all the same.
  if (report.changed && settled_) recent_repairs_.push_back(now);
  if (report.repaired() && settled_) ++repairs_;
  // The change and its taking back were what happened meanwhile.
  if (report.took_back) first_change_ = last_change_ = std::nullopt;
  switch (report.end) {
    case PassReport::End::settled:
      settled_ = true;
      retry_ = 0;
      if (resync_ > 0) due_ = now + resync_;
      if (!report.drift.empty() && limited(now) && repair_limit_ > 0) {
        // The window moves on with its oldest repair.
        const Time free = recent_repairs_.at(recent_repairs_.size() - repair_limit_) + repair_window_;
        due_ = due_ ? std::min(*due_, free) : free;
      }
      if (ends_) exit_code_ = report.exit_code;
      return;
    case PassReport::End::waiting:
      due_ = now + (settled_ ? kLostDriverPause : kDriverPause);
      if (!settled_ && now >= driver_limit_) exit_code_ = report.exit_code;
      return;
    case PassReport::End::failed:
      if (!settled_ && !ignores_errors_) {
        exit_code_ = report.exit_code;
      } else if (ends_) {
        exit_code_ = 0;
      }
      retry_ = std::clamp(2 * retry_, kFirstRetry, kLastRetry);
      due_ = now + (report.took_back ? kLastRetry : retry_);
      return;
  }
}

bool Lifecycle::limited(Time now) const {
  if (!settled_ || !repairs_allowed_) return false;
  const auto recent = std::ranges::count_if(recent_repairs_, [&](Time time) { return time + repair_window_ > now; });
  return static_cast<std::size_t>(recent) >= repair_limit_;
}

PassMode Lifecycle::mode(Time now) const {
  if (!settled_) return PassMode::install;
  return repairs_allowed_ && !limited(now) ? PassMode::repair : PassMode::look;
}

Step Lifecycle::wait_or_pass(Time now) const {
  std::optional<Time> due = due_;
  const auto sooner = [&](Time time) { due = due ? std::min(*due, time) : time; };
  // The first time nobody is disturbed, and everybody waits.
  const Time quiet = settled_ ? debounce_ : std::min(debounce_, kFirstDebounce);
  if (last_change_) sooner(std::min(*last_change_ + quiet, *first_change_ + (kMostDebounces * quiet)));
  if (due && *due <= now) return {.kind = Step::Kind::pass, .mode = mode(now)};
  return {.kind = Step::Kind::wait, .until = due};
}

Step Lifecycle::next(Time now) const {
  if (stopped_) return {.kind = Step::Kind::end, .exit_code = running_ && !settled_ ? 1 : 0};
  if (running_) return {.kind = Step::Kind::wait};
  if (exit_code_) return {.kind = Step::Kind::end, .exit_code = *exit_code_};
  return wait_or_pass(now);
}

}  // namespace ctkit::daemonset
