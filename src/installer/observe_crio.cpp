#include "installer/observe_crio.h"

#include <utility>

#include "engine/crio/crio_engine.h"

namespace ctkit::installer {

using engine::Error;
using engine::ErrorCode;
namespace crio = engine::crio;

engine::Result<std::unique_ptr<engine::Engine>> observe_crio(const HostRoot& root,
                                                             const Request& request,
                                                             const Capture& capture,
                                                             const std::string& text) {
  if (!request.defaults.empty()) {
    return std::unexpected(
        Error{.code = ErrorCode::usage,
              .message = "--defaults is for containerd; CRI-O prints its built-in values as comments only",
              .where = request.defaults,
              .hint = "leave it out: they are recorded for each release"});
  }
  if (text.empty()) {
    return std::unexpected(Error{.code = ErrorCode::unknown_release,
                                 .message = "the daemon's release is not known",
                                 .where = root.folder,
                                 .hint = "give it as --release, as `crio --version` prints it"});
  }
  auto release = engine::Release::parse(text);
  if (!release) return std::unexpected(release.error());
  auto known = crio::find_release(*release);
  if (!known) return std::unexpected(known.error());
  crio::LoadRequest load;
  if (!capture.config.empty()) load.config_path = capture.config;
  if (!request.config.empty()) load.config_path = request.config;
  load.config_given = load.config_path != crio::kConfigPath;
  return std::make_unique<crio::CrioEngine>(*std::move(known), std::move(load));
}

}  // namespace ctkit::installer
