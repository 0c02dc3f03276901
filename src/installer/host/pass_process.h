#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "daemonset/pass_report.h"
#include "engine/result.h"
#include "installer/host/unique_fd.h"

namespace ctkit::installer::host {

/// A pass in a process of its own: what it needs of memory goes with it, it may wait while we go on answering, and it
/// can be ended at any moment, which is what the journal is for.
class PassProcess {
 public:
  /// Runs `pass` in a copy of this process; its report comes back through a pipe.
  static engine::Result<PassProcess> start(const std::function<daemonset::PassReport()>& pass);

  PassProcess(PassProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), report_(std::move(other.report_)), text_(std::move(other.text_)) {}
  PassProcess& operator=(PassProcess&&) = delete;
  PassProcess(const PassProcess&) = delete;
  PassProcess& operator=(const PassProcess&) = delete;
  /// Ends it if it still runs.
  ~PassProcess();

  /// Readable when there is something of the report, or its end.
  [[nodiscard]] int fd() const { return report_.get(); }

  /// Its report, once it has ended.
  std::optional<daemonset::PassReport> read();

  /// Gives it this long to end by itself, then ends it. Its report, if it came to one.
  std::optional<daemonset::PassReport> end(std::chrono::milliseconds patience);

 private:
  PassProcess(pid_t pid, UniqueFd report) : pid_(pid), report_(std::move(report)) {}

  pid_t pid_ = 0;  ///< 0: it was waited for
  UniqueFd report_;
  std::string text_ = {};
};

}  // namespace ctkit::installer::host
