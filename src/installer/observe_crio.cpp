#include "installer/observe_crio.h"

#include <memory>
#include <optional>
#include <utility>

#include "engine/crio/command_line.h"
#include "engine/crio/crio_engine.h"
#include "installer/daemon_kind.h"

namespace ctkit::installer {

namespace {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
namespace crio = engine::crio;

/// The host's files by their own paths.
class BelowRoot : public engine::FileReader {
 public:
  BelowRoot(const engine::FileReader& here, std::string folder) : here_(here), folder_(std::move(folder)) {}

  [[nodiscard]] Result<std::string> read(std::string_view path) const override { return here_.read(at(path)); }
  [[nodiscard]] Result<std::vector<std::string>> list(std::string_view path) const override {
    return here_.list(at(path));
  }
  [[nodiscard]] bool exists(std::string_view path) const override { return here_.exists(at(path)); }
  [[nodiscard]] std::optional<std::string> link_target(std::string_view path) const override {
    return here_.link_target(at(path));
  }

 private:
  [[nodiscard]] std::string at(std::string_view path) const {
    return (folder_ == "/" ? "" : folder_) + std::string(path);
  }

  const engine::FileReader& here_;
  std::string folder_;
};

crio::StartWords words_of(const ProcessFacts& facts) {
  crio::StartWords start;
  for (std::size_t i = 1; i < facts.argv.size(); ++i)
    start.words.push_back({.text = facts.argv[i]});
  for (const std::string& variable : facts.environment) {
    const std::size_t equals = variable.find('=');
    if (equals != std::string::npos)
      start.variables.push_back({.name = variable.substr(0, equals), .value = variable.substr(equals + 1)});
  }
  return start;
}

std::string absolute(std::string path, const LiveDaemon* daemon) {
  if (path.empty() || path.starts_with('/')) return path;
  const std::string folder = daemon ? daemon->facts.working_folder : "/";
  return (folder == "/" ? "" : folder) + "/" + path;
}

Error no_release(const HostRoot& root) {
  return {.code = ErrorCode::unknown_release,
          .message = "the daemon's release is not known",
          .where = root.folder,
          .hint = "give it as --release, as `crio --version` prints it"};
}

}  // namespace

Result<Observed> observe_crio(const engine::FileReader& here,
                              const HostRoot& root,
                              const Request& request,
                              const Capture& capture,
                              const LiveDaemon* daemon,
                              const std::string& text) {
  if (!request.defaults.empty()) {
    return std::unexpected(
        Error{.code = ErrorCode::usage,
              .message = "--defaults is for containerd; CRI-O prints its built-in values as comments only",
              .where = request.defaults,
              .hint = "leave it out: they are recorded for each release"});
  }
  if (text.empty()) return std::unexpected(no_release(root));
  const auto release = engine::Release::parse(text);
  if (!release) return std::unexpected(release.error());
  auto known = crio::find_release(*release);
  if (!known) return std::unexpected(known.error());
  auto line = crio::read_command_line(
      *known, daemon ? words_of(daemon->facts) : crio::read_environment_file(BelowRoot(here, root.folder)));
  if (!line) return std::unexpected(line.error().with_context("reading how CRI-O is started"));

  crio::LoadRequest load{.values = std::move(line->values)};
  if (!capture.config.empty()) {
    load.config_path = capture.config;
  } else if (line->config_path) {
    load.config_path = absolute(*line->config_path, daemon);
    load.config_given = true;
  }
  if (!request.config.empty()) load.config_path = request.config;
  load.config_given = load.config_given || load.config_path != crio::kConfigPath;
  if (line->drop_in_folder) load.drop_in_folder = absolute(*line->drop_in_folder, daemon);

  Observed observed{.cdi_level = find_kind("crio")->cdi_level(release->major, release->minor, release->patch)};
  std::optional<crio::Hook> hook;
  if (request.hook_mode) {
    hook = crio::Hook{.program = request.toolkit_folder + "/nvidia-container-runtime-hook",
                      .folder = request.hooks_folder,
                      .name = request.hook_name};
    observed.without_handlers = true;
    observed.programs.push_back(hook->program);
  }
  observed.engine = std::make_unique<crio::CrioEngine>(*std::move(known), std::move(load), std::move(hook));
  return observed;
}

}  // namespace ctkit::installer
