#include "installer/dead_man.h"

#include <chrono>
#include <utility>

#include "installer/state_place.h"

namespace ctkit::installer {

namespace {

using engine::Error;
using engine::Result;

constexpr std::string_view kTimer = "ctkit-unconfirmed";
constexpr unsigned kProgramMode = 0755;
constexpr std::chrono::milliseconds kTrialTime{10'000};

std::string copy_path(const Request& request) {
  return state_folder(request) + "/" + std::string(kProgramName);
}

/// Our program where the host finds it; made there if need be.
Result<std::string> program_on_host(const Request& request, Host& host, const std::optional<Journal>& journal) {
  LiveNode& node = *host.live;
  const std::string installed = request.toolkit_folder + "/" + std::string(kProgramName);
  if (!request.toolkit_folder.empty() && host.files.exists(installed)) return installed;
  if (node.processes.shares_our_root(node.daemon->process.pid)) return node.processes.own_program();
  auto bytes = node.processes.own_bytes();
  if (!bytes) return std::unexpected(bytes.error());
  // The journal first: whoever takes us off has to know of the folders.
  Journal noted = journal.value_or(Journal{.finished = true});
  if (auto kept = write_journal(host.files, state_folder(request), noted); !kept) return std::unexpected(kept.error());
  const auto put = host.files.replace(copy_path(request), *bytes, {.mode = kProgramMode, .for_existing = true});
  if (!put) return std::unexpected(put.error());
  return copy_path(request);
}

Result<void> try_program(LiveNode& node, const std::string& program) {
  const auto result = node.runner.run({.executable = program,
                                       .argv = {program, "--version"},
                                       .process = node.daemon->process.pid,
                                       .timeout = kTrialTime});
  if (result && result->exit_code == 0) return {};
  return std::unexpected(Error{.message = "--confirm-timeout needs a ctkit that runs on the host itself, and '" +
                                          program + "' doesn't: " + (result ? result->errors : result.error().message),
                               .where = program,
                               .hint = "install one as '<toolkit folder>/ctkit'"});
}

}  // namespace

std::string make_token(std::int64_t time) {
  return std::to_string(time);
}

Result<void> arm(const Request& request, Host& host, const LastApply& apply, const std::optional<Journal>& journal) {
  LiveNode& node = *host.live;
  const auto give_up = [&](const Error& error) {
    static_cast<void>(host.files.remove(copy_path(request)));
    const auto noted = read_journal(host.files, state_folder(request));
    if (!journal && noted && *noted) static_cast<void>(remove_journal(host.files, state_folder(request), **noted));
    return std::unexpected(error);
  };
  const auto program = program_on_host(request, host, journal);
  if (!program) return give_up(program.error());
  if (auto runs = try_program(node, *program); !runs) return give_up(runs.error());
  DeadMan dead_man{.name = std::string(kTimer),
                   .description = "ctkit: take back an apply that nobody confirmed",
                   .argv = {*program,
                            "rollback",
                            "--if-unconfirmed",
                            apply.token,
                            "--state-dir",
                            state_folder(request),
                            "--socket",
                            node.socket},
                   .after = std::chrono::seconds(request.confirm_timeout)};
  if (!apply.unit.empty()) {
    dead_man.argv.insert(dead_man.argv.end(), {"--unit", apply.unit});
  }
  if (auto armed = node.services.arm(dead_man); !armed) return give_up(armed.error());
  return {};
}

void disarm(const Request& request, Host& host, NodeChange& change) {
  if (auto gone = host.live->services.disarm(std::string(kTimer)); !gone) {
    change.notes.push_back("the timer '" + std::string(kTimer) +
                           "' is still set, and will find nothing to do: " + gone.error().message);
  }
  static_cast<void>(host.files.remove(copy_path(request)));
}

}  // namespace ctkit::installer
