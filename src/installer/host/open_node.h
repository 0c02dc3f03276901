#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemonset/mounts.h"
#include "engine/result.h"
#include "installer/find_daemon.h"
#include "installer/host.h"
#include "installer/host/live_seams.h"
#include "installer/host/mapped_file_system.h"
#include "installer/locked_run.h"
#include "installer/observe.h"
#include "installer/request.h"
#include "toolkit/tree_writer.h"

namespace ctkit::installer::host {

/// How the host is opened for one request.
struct Opening {
  std::vector<daemonset::MappedFolder> folders = {};  ///< where it is writable apart from the host root
  bool holds_stock_lock = false;                      ///< by whoever started us
};

/// The host put together from the real seams: its files and the locks that the verb wants, then the daemon and what it
/// is known to be.
class OpenNode {
 public:
  /// Opens the host root of the request and takes the locks.
  static engine::Result<std::unique_ptr<OpenNode>> open(const Request& request, const Opening& opening = {});

  /// Looks for the daemon and says what engine it is. rollback needs no engine, and gets none.
  engine::Result<void> observe(const Request& request);

  [[nodiscard]] Host& host() { return *host_; }
  [[nodiscard]] FileSystem& here() { return *here_; }
  [[nodiscard]] FileSystem& files() { return *files_; }
  [[nodiscard]] const engine::Engine* engine() const { return observed_ ? observed_->engine.get() : nullptr; }
  [[nodiscard]] const HostRoot& root() const { return root_; }
  /// The running daemon; null: there is none, or nobody we can see.
  [[nodiscard]] const LiveDaemon* daemon() const { return found_ && found_->daemon ? &*found_->daemon : nullptr; }
  /// Why nobody can be asked where a daemon should be; null: the daemon is there, or none should be.
  [[nodiscard]] const engine::Error* unreachable() const {
    return found_ && !found_->daemon ? &found_->daemon.error() : nullptr;
  }

 private:
  OpenNode() = default;

  HostRoot root_ = {};
  std::unique_ptr<PosixFileSystem> here_ = {};
  std::unique_ptr<MappedFileSystem> files_ = {};
  std::unique_ptr<LiveSeams> seams_ = {};
  Locks locks_ = {};
  std::optional<FoundDaemon> found_ = {};
  std::optional<Observed> observed_ = {};
  std::optional<LiveNode> live_ = {};
  std::unique_ptr<cdi::Tree> tree_ = {};
  std::unique_ptr<toolkit::TreeWriter> writer_ = {};
  std::optional<Host> host_ = {};
};

}  // namespace ctkit::installer::host
