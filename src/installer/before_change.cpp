#include "installer/before_change.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/quoted_list.h"
#include "installer/loaded_now.h"
#include "installer/own_program.h"
#include "installer/redact.h"
#include "installer/verify.h"

namespace ctkit::installer {

namespace {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

Error decision_needed(std::string message, std::string where, std::string hint) {
  return {.code = ErrorCode::needs_decision,
          .message = std::move(message),
          .where = std::move(where),
          .hint = std::move(hint)};
}

std::string in_words(const engine::Mismatch& mismatch) {
  const auto value = [&](const std::optional<engine::Value>& item) {
    return item ? shown(mismatch.key, *item) : std::string("nothing");
  };
  return mismatch.key.to_string() + ": predicted " + value(mismatch.predicted) + ", it says " +
         value(mismatch.answered);
}

}  // namespace

Result<std::optional<LoadedState>> loaded_before(LiveNode& node) {
  auto status = loaded_now(node);
  if (status) return *std::move(status);
  if (status.error().code == ErrorCode::not_found) return std::nullopt;
  return std::unexpected(status.error());
}

Result<void> check_binaries(const Request& request, const Host& host) {
  const FileSystem& files = host.files;
  constexpr unsigned kExecutable = 0111;
  for (const std::string& program : host.programs) {
    const auto mode = files.mode_of(program);
    if (mode && (*mode & kExecutable) != 0) continue;
    return std::unexpected(decision_needed(
        "every container would start '" + program + "', which " + (mode ? "is not executable" : "is not on this node"),
        program,
        "install it first, or name its folder with --toolkit-folder"));
  }
  for (const engine::DesiredHandler& handler : request.desired.handlers) {
    const auto mode = files.mode_of(handler.binary);
    if (mode && (*mode & kExecutable) != 0) continue;
    return std::unexpected(decision_needed("handler '" + handler.name + "' would start '" + handler.binary +
                                               "', which " + (mode ? "is not executable" : "is not on this node"),
                                           handler.binary,
                                           "install it first, or name another one with --handler"));
  }
  return {};
}

Result<std::string> find_unit(const Request& request, LiveNode& node) {
  std::string unit = request.unit;
  if (unit.empty()) {
    auto found = node.services.find_unit(node.daemon->facts.own_pid);
    if (!found) return std::unexpected(found.error());
    unit = *std::move(found);
  }
  if (!unit.ends_with(".service")) {
    return std::unexpected(
        decision_needed("the daemon runs in '" + unit + "', which is no service that systemd could restart",
                        unit,
                        "name its service with --unit, or use --restart none"));
  }
  const auto state = node.services.state(unit);
  if (!state) return std::unexpected(state.error());
  if (state->load_state != "loaded" && !state->load_state.empty()) {
    return std::unexpected(
        Error{.message = "'" + unit + "' can't be restarted: it is " + state->load_state,
              .where = unit,
              .hint = state->load_state == "masked" ? "see 'systemctl unmask'" : "see 'systemctl status'"});
  }
  return unit;
}

Result<void> check_with_own_program(const Request& request, Host& host, const engine::FileReader& planned) {
  LiveNode& node = *host.live;
  if (!node.check) return {};
  const auto mismatches = rehearse(host.files, node.runner, *node.daemon, *node.check, planned);
  if (!mismatches) {
    if (request.trust == Trust::prediction && mismatches.error().code != ErrorCode::daemon_refuses) return {};
    return std::unexpected(mismatches.error());
  }
  if (mismatches->empty() || request.trust != Trust::neither) return {};
  constexpr std::size_t kMostShown = 8;
  std::string hint = "--trust dump or --trust prediction goes on all the same:";
  for (std::size_t i = 0; i < std::min(mismatches->size(), kMostShown); ++i)
    hint += "\n    " + in_words((*mismatches)[i]);
  return std::unexpected(decision_needed("the node's own '" + node.daemon->facts.executable +
                                             "' makes something else of these files than we predict, in " +
                                             std::to_string(mismatches->size()) + " keys",
                                         node.daemon->facts.executable,
                                         hint));
}

Result<void> check_loss(const Request& request,
                        const engine::Engine& engine,
                        const Plan& plan,
                        const std::optional<LoadedState>& before) {
  if (!before || request.restart == RestartMode::always) return {};
  Expected known{.handlers = plan.handlers};
  if (plan.today) {
    const auto today = engine.handlers(*plan.today);
    known.handlers.insert(known.handlers.end(), today.begin(), today.end());
  }
  const auto lost = handlers_to_lose(known, *before);
  if (lost.empty()) return {};
  return std::unexpected(decision_needed(
      "the running daemon serves handlers that its files no longer have, and a restart would lose them: " +
          engine::quoted_list(lost),
      "",
      "put them back into a file, or accept it with --restart always"));
}

}  // namespace ctkit::installer
