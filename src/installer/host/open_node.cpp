#include "installer/host/open_node.h"

#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>

#include "installer/daemon_build.h"
#include "installer/host/cri_status.h"
#include "installer/host/posix_tree.h"
#include "installer/host/posix_tree_writer.h"
#include "installer/state_place.h"

namespace ctkit::installer::host {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

// Paths of our own machine, as the user gives them from the folder he stands in.
std::string absolute(const std::string& path) {
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

// A capture is a recorded tree, and a given release asks what another daemon would do.
bool looks_for_daemon(const Request& request, const HostRoot& root) {
  if (!root.capture.empty()) return false;
  switch (request.verb) {
    case Verb::effective:
    case Verb::explain:
    case Verb::lint:
    case Verb::preflight:
      return request.release.empty();
    case Verb::plan:
    case Verb::apply:
    case Verb::uninstall:
    case Verb::verify:
    case Verb::status:
    case Verb::rollback:
      return true;
  }
  return true;
}

// The verbs that do something to a running daemon, or look at it, want one on the machine itself.
Result<void> check_daemon(const Request& request, const HostRoot& root, const FoundDaemon* found) {
  const bool changes = request.verb == Verb::apply && request.restart != RestartMode::none;
  if (found || root.folder != "/" || !changes) return {};
  return std::unexpected(
      Error{.code = ErrorCode::unreachable,
            .message = "neither containerd nor CRI-O is running here: none of the usual sockets is there",
            .hint = "give it as --socket; --restart none writes the files all the same"});
}

void say(const std::string& text) {
  std::cerr << "ctkit: " << text << '\n';
}

}  // namespace

Result<std::unique_ptr<OpenNode>> OpenNode::open(const Request& request, const Opening& opening) {
  std::unique_ptr<OpenNode> node(new OpenNode());
  auto here = PosixFileSystem::open("/");
  if (!here) return std::unexpected(here.error());
  node->here_ = *std::move(here);
  node->root_ = find_host_root(*node->here_, absolute(request.root));
  auto files = MappedFileSystem::open(node->root_.folder, opening.folders);
  if (!files) return std::unexpected(files.error());
  node->files_ = *std::move(files);
  auto seams = open_live_seams(node->root_.folder);
  if (!seams) return std::unexpected(seams.error());
  node->seams_ = *std::move(seams);
  node->host_.emplace(Host{.files = *node->files_});

  // The stock image's lock is for nodes only; a tree has no systemd.
  const FileSystem& host = *node->files_;
  const bool is_node =
      node->root_.folder == "/" || host.exists("/run/systemd/private") || host.exists("/run/dbus/system_bus_socket");
  const bool wants_stock_lock = is_node && node->root_.capture.empty() && !opening.holds_stock_lock;
  auto held = lock_host(request, *node->files_, wants_stock_lock);
  if (!held) return std::unexpected(held.error());
  node->locks_ = *std::move(held);
  return node;
}

Result<void> OpenNode::observe(const Request& given, ConfigPath path) {
  Request request = given;
  if (!request.defaults.empty()) request.defaults = absolute(request.defaults);
  if (looks_for_daemon(request, root_)) {
    const auto connect = [&](const std::string& socket) -> Result<std::unique_ptr<DaemonStatus>> {
      return CriStatus::open(root_.folder, socket);
    };
    found_ = find_daemon(request,
                         state_folder(request),
                         {.files = *files_,
                          .processes = seams_->processes,
                          .runner = *seams_->runner,
                          .clock = seams_->clock,
                          .connect = connect});
  }
  if (auto wanted = check_daemon(request, root_, found_ ? &*found_ : nullptr); !wanted) return wanted;
  if (found_ && found_->status) {
    live_.emplace(LiveNode{.socket = found_->socket,
                           .daemon = found_->daemon,
                           .status = *found_->status,
                           .services = *seams_->services,
                           .runner = *seams_->runner,
                           .processes = seams_->processes,
                           .clock = seams_->clock,
                           .say = say});
    host_->live = &*live_;
  }
  if (request.verb == Verb::rollback) return {};
  if (path == ConfigPath::guessed && daemon() != nullptr) request.config.clear();
  // A daemon that is down says nothing; what it said before still tells its release.
  const auto kept = found_ ? read_build(*files_, state_folder(request)) : std::nullopt;
  auto observed = installer::observe(*here_, root_, request, daemon(), kept ? &*kept : nullptr);
  // Without a release the daemon's silence is what is wrong.
  if (!observed && found_ && !found_->daemon && observed.error().code == ErrorCode::unknown_release) {
    return std::unexpected(found_->daemon.error());
  }
  if (!observed) return std::unexpected(observed.error());
  observed_ = *std::move(observed);
  if (live_) live_->check = observed_->check.get();
  host_->cdi_level = observed_->cdi_level;
  host_->without_handlers = observed_->without_handlers;
  host_->programs = observed_->programs;
  if (request.verb == Verb::lint || request.verb == Verb::status || request.with_toolkit) {
    auto tree = PosixTree::open(root_.folder);
    if (!tree) return std::unexpected(tree.error());
    tree_ = *std::move(tree);
    host_->tree = tree_.get();
  }
  if (request.with_toolkit) {
    auto writer = PosixTreeWriter::open(root_.folder, root_.folder);
    if (!writer) return std::unexpected(writer.error());
    writer_ = *std::move(writer);
    host_->writer = writer_.get();
  }
  return {};
}

}  // namespace ctkit::installer::host
