#include "installer/own_program.h"

#include <chrono>
#include <set>
#include <utility>

#include "cdi/path.h"
#include "installer/daemon_kind.h"

namespace ctkit::installer {

namespace {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

/// In memory, gone with the next boot. Files that hold credentials get no wider mode here than ours alone.
const std::string kStage = "/run/ctkit/rehearsal";
constexpr FileMode kPrivate = {.mode = 0600};
/// A dump takes 25 to 60 ms on an idle machine.
constexpr std::chrono::milliseconds kPatience{20'000};
constexpr std::size_t kMostWords = 2000;

Command make_command(const PeerProcess& process, const ProcessFacts& facts, const std::vector<std::string>& words) {
  Command command{.executable = facts.executable,
                  .environment = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"},
                  .process = process.pid,
                  .timeout = kPatience};
  // By the name it was started with: programs that are many in one go by it.
  command.argv.push_back(facts.argv.empty() ? facts.executable : facts.argv.front());
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  return command;
}

std::string last_words(const std::string& errors) {
  std::string words = errors.size() > kMostWords ? "…" + errors.substr(errors.size() - kMostWords) : errors;
  while (words.ends_with('\n'))
    words.pop_back();
  return words.empty() ? "it says nothing" : words;
}

/// Its output; an Error with its last words where it failed.
Result<std::string> ask(CommandRunner& runner, const Command& command, std::string_view what) {
  auto result = runner.run(command);
  if (!result) return std::unexpected(result.error().with_context("running the daemon's own program"));
  const std::string asked = "'" + command.executable + " " + std::string(what) + "'";
  if (result->timed_out) {
    return std::unexpected(Error{.message = asked + " takes too long", .where = command.executable});
  }
  if (result->exit_code != 0) {
    return std::unexpected(Error{.code = ErrorCode::daemon_refuses,
                                 .message = asked + " fails: " + last_words(result->errors),
                                 .where = command.executable});
  }
  return std::move(result->output);
}

/// Everything below the folder, and the folder.
void remove_tree(FileSystem& files, const std::string& folder) {
  const auto names = files.list(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    const std::string path = folder + "/" + name;
    if (files.list(path)) {
      remove_tree(files, path);
    } else {
      static_cast<void>(files.remove(path));
    }
  }
  static_cast<void>(files.remove_folder(folder));
}

}  // namespace

Result<DaemonBuild> ask_build(CommandRunner& runner, const PeerProcess& process, const ProcessFacts& facts) {
  auto version = ask(runner, make_command(process, facts, {"--version"}), "--version");
  if (!version) return std::unexpected(version.error());
  while (version->ends_with('\n'))
    version->pop_back();
  if (!kind_of(*version).prints_defaults) return DaemonBuild{.program = facts.program, .version = *std::move(version)};
  auto defaults = ask(runner, make_command(process, facts, {"config", "default"}), "config default");
  return DaemonBuild{
      .program = facts.program, .version = *std::move(version), .defaults = defaults ? *std::move(defaults) : ""};
}

Result<std::string> ask_dump(CommandRunner& runner, const LiveDaemon& daemon, const std::string& config) {
  return ask(runner,
             make_command(daemon.process, daemon.facts, {"--config", config, "config", "dump"}),
             "--config " + config + " config dump");
}

Result<std::vector<engine::Mismatch>> rehearse(FileSystem& files,
                                               CommandRunner& runner,
                                               const LiveDaemon& daemon,
                                               const engine::OwnCheck& check,
                                               const engine::FileReader& planned) {
  const auto staged = check.stage(planned, kStage);
  if (!staged) return std::unexpected(staged.error());
  remove_rehearsal(files);
  const auto put = [&]() -> Result<std::string> {
    for (const engine::StagedFile& file : *staged) {
      if (auto made = files.make_folders(cdi::folder_of(file.path)); !made) return made;
      if (auto done = files.replace(file.path, file.text, kPrivate); !done) return std::unexpected(done.error());
    }
    return ask_dump(runner, daemon, kStage + check.config_path());
  };
  const auto dump = put();
  remove_rehearsal(files);
  if (!dump) return std::unexpected(dump.error().with_context("trying the new files with the node's own containerd"));
  return check.compare(planned, *dump);
}

void remove_rehearsal(FileSystem& files) {
  if (!files.exists(cdi::folder_of(kStage))) return;
  remove_tree(files, std::string(cdi::folder_of(kStage)));
}

}  // namespace ctkit::installer
