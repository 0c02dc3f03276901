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
  const bool has_daemon = node->root_.folder == "/" || is_node(*node->files_);
  const bool wants_stock_lock = has_daemon && node->root_.capture.empty() && !opening.holds_stock_lock;
  auto held = lock_host(request, *node->files_, wants_stock_lock);
  if (!held) return std::unexpected(held.error());
  node->locks_ = *std::move(held);
  return node;
}

Result<void> OpenNode::observe(const Request& given) {
  Request request = given;
  if (!request.defaults.empty()) request.defaults = absolute(request.defaults);
  if (asks_daemon(request, !root_.capture.empty())) {
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
  if (auto there = check_found(request, root_.folder, found_.has_value()); !there) return there;
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
