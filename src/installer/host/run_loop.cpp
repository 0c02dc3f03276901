#include "installer/host/run_loop.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <iostream>
#include <malloc.h>
#include <optional>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "cdi/inventory.h"
#include "cdi/path.h"
#include "daemonset/carried_over.h"
#include "daemonset/driver_ready.h"
#include "daemonset/metrics.h"
#include "installer/clock.h"
#include "installer/host/file_watch.h"
#include "installer/host/http_server.h"
#include "installer/host/pass_process.h"
#include "installer/host/readiness_file.h"
#include "installer/host/system_error.h"
#include "installer/host/unique_fd.h"

namespace ctkit::installer::host {

using daemonset::Lifecycle;
using daemonset::PassReport;
using daemonset::Settings;
using daemonset::Step;
using daemonset::Time;
using engine::Result;
using namespace std::literals;

namespace {

constexpr auto kLastPatience = 600ms;  // of the second that a stop may take
constexpr Time kDriverLook = 15'000;   // the kernel tells nobody that the module is another one
constexpr std::size_t kMostTold = 20;

void say(const std::string& text) {
  std::cerr << "ctkit: " << text << '\n';
}

Time now_in_milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Moment::clock::now().time_since_epoch()).count();
}

std::int64_t seconds_since_epoch() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The signals that end NVIDIA's installer, as something to poll for.
Result<UniqueFd> catch_signals() {
  sigset_t set{};
  ::sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGQUIT, SIGHUP})
    ::sigaddset(&set, signal);
  ::signal(SIGPIPE, SIG_IGN);
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0)
    return std::unexpected(make_system_error(errno, "catch signals", ""));
  UniqueFd fd(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!fd) return std::unexpected(make_system_error(errno, "catch signals", ""));
  return fd;
}

std::string module_version() {
  const UniqueFd file(::open(cdi::kModuleVersionFile, O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  const ssize_t length = file ? ::read(file.get(), text.data(), text.size()) : 0;
  return cdi::parse_module_version({text.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))});
}

// What is mounted at a folder, by its numbers.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const Identity&) const = default;
};

Identity identity_of(const std::string& path) {
  struct stat status{};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return {};
  return {.device = status.st_dev, .inode = status.st_ino};
}

class Loop {
 public:
  Loop(const LoopParts& parts, UniqueFd signals, FileWatch watch)
      : parts_(parts),
        settings_(parts.resolved.settings),
        lifecycle_(settings_, now_in_milliseconds()),
        signals_(std::move(signals)),
        watch_(std::move(watch)),
        ready_file_(parts.files, settings_.ready_file),
        mounts_(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)) {}

  Result<int> run() {
    // Of one that was killed.
    static_cast<void>(ready_file_.withdraw());
    if (!settings_.listen.empty()) {
      auto server = HttpServer::open(settings_.listen);
      if (!server) return std::unexpected(server.error());
      server_ = *std::move(server);
      say("answering on http://" + server_->address());
    }
    driver_place_ = identity_of(driver_root());
    publish();
    while (true) {
      const Step step = lifecycle_.next(now_in_milliseconds());
      if (step.kind == Step::Kind::end) return end(step.exit_code);
      if (step.kind == Step::Kind::pass) {
        if (auto started = start(step.mode); !started) return std::unexpected(started.error());
        continue;
      }
      wait(step.until);
    }
  }

 private:
  Result<void> start(daemonset::PassMode mode) {
    auto pass = PassProcess::start([&] { return parts_.pass(mode, report_.driver_ready_text); });
    if (!pass) return std::unexpected(pass.error());
    if (settings_.debug) say("looking at the node, to " + std::string(daemonset::name_of(mode)));
    pass_.emplace(*std::move(pass));
    lifecycle_.pass_started();
    return {};
  }

  int end(int exit_code) {
    if (pass_) {
      const auto report = pass_->end(kLastPatience);
      if (report && report->end == PassReport::End::settled) exit_code = 0;
      if (!report) say("ended the look at the node that was under way; the next one takes up what it left");
    }
    if (auto done = ready_file_.withdraw(); !done) say(done.error().message + " (" + settings_.ready_file + ")");
    report_.ready = false;
    report_.not_ready = "ctkit has ended";
    write_metrics();
    if (stopping_) say("stopped; handlers, CDI spec and toolkit files stay");
    return exit_code;
  }

  void wait(std::optional<Time> until) {
    std::vector<pollfd> polled = {{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = watch_.fd(), .events = POLLIN, .revents = 0},
                                  {.fd = pass_ ? pass_->fd() : -1, .events = POLLIN, .revents = 0},
                                  {.fd = daemon_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = mounts_.get(), .events = POLLPRI, .revents = 0}};
    if (server_) server_->add_to(polled);
    const Time now = now_in_milliseconds();
    Time last = now + kDriverLook;
    if (until) last = std::min(last, *until);
    if (server_ && server_->deadline() != Moment::max()) last = std::min(last, now + 500);
    const int count =
        ::poll(polled.data(), polled.size(), static_cast<int>(std::clamp<Time>(last - now, 0, kDriverLook)));
    if (count < 0) return;  // EINTR
    if (polled[0].revents != 0) take_signal();
    if (polled[1].revents != 0) take_changes();
    if (pass_ && polled[2].revents != 0) take_report();
    if (polled[3].revents != 0) take_daemons_end();
    if (polled[4].revents != 0) look_at_driver_place();
    if (now_in_milliseconds() >= next_driver_look_) look_at_module();
    if (server_) server_->serve(Moment::clock::now(), [&] { return pages(); });
  }

  void take_signal() {
    signalfd_siginfo signal{};
    if (::read(signals_.get(), &signal, sizeof signal) != sizeof signal) return;
    say(std::string("got ") + (signal.ssi_signo == SIGTERM ? "SIGTERM" : "signal " + std::to_string(signal.ssi_signo)));
    stopping_ = true;
    lifecycle_.stop();
  }

  void take_changes() {
    const auto changed = watch_.read();
    if (changed.empty()) return;
    lifecycle_.change(now_in_milliseconds());
    // While a pass runs it is mostly that; afterwards it says what it wrote.
    if (pass_) {
      meanwhile_.insert(meanwhile_.end(), changed.begin(), changed.end());
    } else {
      describe(changed);
    }
  }

  void describe(const std::vector<std::string>& changed) {
    std::size_t told = 0;
    for (const std::string& path : changed) {
      if (++told > kMostTold) break;
      say(watch_.describe(path));
    }
  }

  // Changes by others while the pass ran.
  void describe_meanwhile(const PassReport& report) {
    std::ranges::sort(meanwhile_);
    const auto same = std::ranges::unique(meanwhile_);
    meanwhile_.erase(same.begin(), same.end());
    std::erase_if(meanwhile_, [&](const std::string& path) {
      return std::ranges::any_of(report.written, [&](const std::string& written) { return path.starts_with(written); });
    });
    describe(std::exchange(meanwhile_, {}));
  }

  void take_report() {
    auto report = pass_->read();
    if (!report) return;
    take_changes();  // what is in the queue by now
    pass_.reset();
    describe_meanwhile(*report);
    lifecycle_.pass_ended(now_in_milliseconds(), *report);
    settle(daemonset::carried_over(report_, *std::move(report)));
  }

  void settle(PassReport report) {
    count(report);
    const FileWatch::Set set = watch_.set(report.watch);
    if (!set.failed.empty() && set.failed != watch_failed_) say("not everything can be watched: " + set.failed);
    watch_failed_ = set.failed;
    if (set.grew) lifecycle_.change(now_in_milliseconds());
    if (settings_.debug) say("looked at the node: " + daemonset::render_summary(report));
    tell(report);
    if (report.daemon_pid != report_.daemon_pid || !daemon_) {
      daemon_ =
          UniqueFd(report.daemon_pid > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, report.daemon_pid, 0)) : -1);
    }
    report_ = std::move(report);
    publish();
    ::malloc_trim(0);
  }

  void count(const PassReport& report) {
    counters_.settled_passes += report.end == PassReport::End::settled ? 1 : 0;
    counters_.waiting_passes += report.end == PassReport::End::waiting ? 1 : 0;
    counters_.failed_passes += report.end == PassReport::End::failed ? 1 : 0;
    counters_.repairs = lifecycle_.repairs();
    counters_.last_pass = seconds_since_epoch();
    if (report.apply_microseconds >= 0) counters_.apply_microseconds = report.apply_microseconds;
    counters_.limited = lifecycle_.limited(now_in_milliseconds());
  }

  void tell(const PassReport& report) {
    for (const std::string& item : report.drift)
      say(std::string("drift: ") + item + (report.repaired() ? "; put right" : ""));
    if (counters_.limited && !report.drift.empty() && !report.changed) {
      say("not put right: that was tried " + std::to_string(settings_.repair_limit) + " times within " +
          std::to_string(settings_.repair_window) + " seconds already");
    }
    if (report.end == PassReport::End::failed && report.message != report_.message) say("failed: " + report.message);
    if (report.end == PassReport::End::waiting && report.message != report_.message) {
      say("waiting for " + report.message);
    }
    if (report.ready && !report_.ready) say("ready: all is verified");
    if (report.end == PassReport::End::settled && !report.ready && report.not_ready != report_.not_ready) {
      say("not ready: " + report.not_ready);
    }
  }

  void publish() {
    const auto done = report_.ready ? ready_file_.publish("ready\n") : ready_file_.withdraw();
    if (!done) say(done.error().message + " (" + settings_.ready_file + ")");
    write_metrics();
  }

  void write_metrics() {
    metrics_ = daemonset::render_metrics(report_, counters_, parts_.version);
    const std::string& path = settings_.metrics_file;
    if (path.empty()) return;
    auto made = parts_.files.make_folders(cdi::folder_of(path));
    const auto done = made ? parts_.files.replace(path, metrics_, {}) : Result<void>(std::unexpected(made.error()));
    if (!done) say(done.error().message + " (" + path + ")");
  }

  daemonset::Pages pages() const {
    return {.metrics = metrics_, .ready = report_.ready, .not_ready = report_.not_ready};
  }

  void take_daemons_end() {
    daemon_ = UniqueFd();
    // Our own restart, while a pass runs.
    if (!pass_) say("the daemon's process has ended");
    lifecycle_.change(now_in_milliseconds());
  }

  // Where we see it.
  [[nodiscard]] std::string driver_root() const {
    const auto ready = daemonset::parse_driver_ready(report_.driver_ready_text);
    return daemonset::driver_places(ready.whole() ? with_driver_ready(parts_.resolved, ready) : settings_).driver;
  }

  // A driver container mounts its root where the driver is to be: no file changes.
  void look_at_driver_place() {
    const Identity place = identity_of(driver_root());
    if (place == driver_place_) return;
    driver_place_ = place;
    say("another file system is mounted at '" + driver_root() + "'");
    lifecycle_.change(now_in_milliseconds());
  }

  void look_at_module() {
    next_driver_look_ = now_in_milliseconds() + kDriverLook;
    if (!settings_.cdi_enabled || pass_ || counters_.last_pass == 0) return;
    const std::string version = module_version();
    if (version == report_.driver_version || version == told_version_) return;
    told_version_ = version;
    say("the driver's module is " + (version.empty() ? "unloaded" : version) + " now");
    lifecycle_.change(now_in_milliseconds());
  }

  const LoopParts& parts_;
  const Settings& settings_;
  Lifecycle lifecycle_;
  UniqueFd signals_;
  FileWatch watch_;
  ReadinessFile ready_file_;
  UniqueFd mounts_;
  UniqueFd daemon_;  ///< the process behind the socket
  std::optional<HttpServer> server_ = {};
  std::optional<PassProcess> pass_ = {};
  PassReport report_ = {.not_ready = "no look at the node has ended yet"};
  daemonset::Counters counters_ = {};
  std::vector<std::string> meanwhile_ = {};  ///< what changed while the pass runs
  std::string metrics_ = {};
  std::string watch_failed_ = {};
  std::string told_version_ = "?";
  Identity driver_place_ = {};
  Time next_driver_look_ = 0;
  bool stopping_ = false;
};

}  // namespace

Result<int> run_loop(const LoopParts& parts) {
  auto signals = catch_signals();
  if (!signals) return std::unexpected(signals.error());
  auto watch = FileWatch::open(parts.resolved.settings.host_root);
  if (!watch) return std::unexpected(watch.error());
  return Loop(parts, *std::move(signals), *std::move(watch)).run();
}

}  // namespace ctkit::installer::host
