#include "installer/observe.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/containerd/containerd_engine.h"
#include "engine/containerd/own_check.h"
#include "engine/toml_reader.h"
#include "installer/capture.h"
#include "installer/daemon_kind.h"
#include "installer/observe_crio.h"

namespace ctkit::installer {

namespace {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
namespace containerd = engine::containerd;

constexpr std::string_view kCaptureName = "capture.json";

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

/// A file that the request is about: what is wrong with it is wrong with the request.
Result<std::string> read_given(const engine::FileReader& here, const std::string& path, std::string_view what) {
  auto text = here.read(path);
  if (text) return text;
  Error error = text.error().with_context("reading " + std::string(what));
  if (error.code != ErrorCode::permission) error.code = ErrorCode::usage;
  return std::unexpected(error);
}

Result<Capture> read_capture(const engine::FileReader& here, const HostRoot& root) {
  if (root.capture.empty()) return Capture{};
  auto text = read_given(here, root.capture, "the capture");
  if (!text) return std::unexpected(text.error());
  return parse_capture(*text, root.capture);
}

Result<engine::Table> parse_defaults(std::string_view text, const std::string& path, const containerd::Known& known) {
  auto table = read_toml(text, path, *known.regime.dialect);
  if (!table) {
    Error error = table.error().with_context("reading the daemon's defaults");
    error.code = ErrorCode::usage;
    return std::unexpected(error);
  }
  return *std::move(table);
}

Result<std::optional<engine::Table>> read_defaults(const engine::FileReader& here,
                                                   const std::string& path,
                                                   const DaemonBuild* build,
                                                   const containerd::Known& known) {
  std::string text = build ? build->defaults : std::string();
  if (!path.empty()) {
    auto given = read_given(here, path, "the daemon's defaults");
    if (!given) return std::unexpected(given.error());
    text = *std::move(given);
  } else if (text.empty()) {
    return std::nullopt;
  }
  auto table = parse_defaults(text, path.empty() ? "the daemon's `config default`" : path, known);
  if (!table) return std::unexpected(table.error());
  return *std::move(table);
}

using Paths = std::span<const std::string_view> DaemonKind::*;

/// The kinds of daemon of which one of these paths is on the host.
std::vector<const DaemonKind*> kinds_with(const engine::FileReader& here, const HostRoot& root, Paths paths) {
  const std::string prefix = root.folder == "/" ? "" : root.folder;
  std::vector<const DaemonKind*> kinds;
  for (const DaemonKind& kind : daemon_kinds()) {
    const bool has = std::ranges::any_of(
        kind.*paths, [&](std::string_view path) { return here.exists(prefix + std::string(path)); });
    if (has) kinds.push_back(&kind);
  }
  return kinds;
}

/// The one that is asked for, else the capture's, else the one that runs there, else the one that the host has settings
/// of, else the one that listens.
Result<const DaemonKind*> choose_daemon(const engine::FileReader& here,
                                        const HostRoot& root,
                                        const std::string& asked,
                                        const Capture& capture,
                                        const DaemonBuild* build) {
  const std::string& name = asked.empty() ? capture.engine : asked;
  if (!name.empty()) {
    if (const DaemonKind* kind = find_kind(name)) return kind;
    return std::unexpected(Error{.code = ErrorCode::usage,
                                 .message = "no engine '" + name + "' is known",
                                 .where = root.capture,
                                 .hint = "containerd or crio"});
  }
  if (build && !build->version.empty()) return &kind_of(build->version);
  const auto configured = kinds_with(here, root, &DaemonKind::settings);
  if (configured.size() == 1) return configured.front();
  const auto listening = kinds_with(here, root, &DaemonKind::sockets);
  if (listening.size() == 1) return listening.front();
  if (configured.empty() && listening.empty()) return &daemon_kinds().front();
  return std::unexpected(Error{.code = ErrorCode::usage,
                               .message = "both containerd and CRI-O are on this host",
                               .where = root.folder,
                               .hint = "say which with --engine"});
}

}  // namespace

HostRoot find_host_root(const engine::FileReader& here, const std::string& folder) {
  std::string path = folder;
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  const std::string inside = path + "/" + std::string(kCaptureName);
  if (here.exists(inside) && here.list(path + "/root")) return {.folder = path + "/root", .capture = inside};
  const std::string beside = parent_of(path) + "/" + std::string(kCaptureName);
  if (path.ends_with("/root") && here.exists(beside)) return {.folder = path, .capture = beside};
  return {.folder = path};
}

Result<std::string> observe_release(const engine::FileReader& here,
                                    const HostRoot& root,
                                    const std::string& requested) {
  if (!requested.empty()) return requested;
  auto capture = read_capture(here, root);
  if (!capture) return std::unexpected(capture.error());
  return capture->release;
}

Result<Observed> observe(const engine::FileReader& here,
                         const HostRoot& root,
                         const Request& given,
                         const LiveDaemon* daemon,
                         const DaemonBuild* kept) {
  Request request = given;
  if (daemon && request.config_is_guess) request.config.clear();
  auto capture = read_capture(here, root);
  if (!capture) return std::unexpected(capture.error());
  // Another release than the daemon's own has other defaults.
  const DaemonBuild* build = !request.release.empty() || !capture->release.empty() ? nullptr
                             : daemon                                              ? &daemon->build
                                                                                   : kept;
  const std::string text = !request.release.empty() ? request.release : build ? build->version : capture->release;
  const auto kind = choose_daemon(here, root, request.engine, *capture, daemon ? &daemon->build : kept);
  if (!kind) return std::unexpected(kind.error());
  if ((*kind)->engine == "crio") return observe_crio(here, root, request, *capture, daemon, text);
  if (text.empty()) {
    return std::unexpected(Error{.code = ErrorCode::unknown_release,
                                 .message = "the daemon's release is not known",
                                 .where = root.folder,
                                 .hint = "give it as --release, as `containerd --version` prints it"});
  }
  auto release = engine::Release::parse(text);
  if (!release) return std::unexpected(release.error());
  auto known = containerd::find_release(*release);
  if (!known) return std::unexpected(known.error());
  std::string defaults = request.defaults;
  // Recorded defaults are those of the recorded release.
  if (defaults.empty() && !capture->defaults.empty() && request.release.empty()) {
    defaults = parent_of(root.capture) + "/" + capture->defaults;
  }
  auto table = read_defaults(here, defaults, build, *known);
  if (!table) return std::unexpected(table.error());
  containerd::LoadRequest load{.as_dump = request.as_dump};
  load.config_path = !request.config.empty()             ? request.config
                     : !capture->config.empty()          ? capture->config
                     : daemon && !daemon->config.empty() ? daemon->config
                                                         : std::string((*kind)->usual_config);
  load.config_given = load.config_path != (*kind)->usual_config;
  if (!capture->working_folder.empty()) {
    load.working_folder = capture->working_folder;
  } else if (daemon && !daemon->facts.working_folder.empty()) {
    load.working_folder = daemon->facts.working_folder;
  }
  auto emulated = *table ? containerd::make_daemon(*std::move(known), **std::move(table))
                         : containerd::Daemon{.known = *std::move(known)};
  Observed observed{.cdi_level = cdi::level_of_containerd(release->major, release->minor, release->patch)};
  observed.check = std::make_unique<containerd::ContainerdOwnCheck>(emulated, load);
  observed.engine = std::make_unique<containerd::ContainerdEngine>(std::move(emulated), std::move(load));
  return observed;
}

}  // namespace ctkit::installer
