#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "engine/nvidia_runtime.h"
#include "installer/doctor_gates.h"

// The daemon: what its files say, what it says of them, what it has loaded.
namespace ctkit::installer {

namespace {

using engine::Finding;
using engine::RuleId;
using engine::Severity;

/// Rules that tell why a handler isn't what its author meant.
constexpr auto kHandlerRules =
    std::to_array({RuleId::erases_others,          RuleId::no_runc,          RuleId::version_above_root,
                   RuleId::both_plugin_ids,        RuleId::missing_import,   RuleId::not_imported,
                   RuleId::two_spellings,          RuleId::cri_dead,         RuleId::stray_file,
                   RuleId::default_binary_missing, RuleId::nested_plugin_id, RuleId::daemon_refuses,
                   RuleId::untyped_handler,        RuleId::other_plugin_id,  RuleId::cgroup_driver_differs,
                   RuleId::lost_in_migration,      RuleId::handler_replaced, RuleId::no_monitor,
                   RuleId::handler_dropped,        RuleId::inherits_default, RuleId::monitor_cgroup});

bool is_about_handlers(const Finding& finding) {
  return finding.severity != Severity::note && std::ranges::find(kHandlerRules, finding.rule) != kHandlerRules.end();
}

std::string in_words(const Finding& finding) {
  const std::string place = finding.origin.built_in()  ? ""
                            : finding.origin.line == 0 ? *finding.origin.file + ": "
                                                       : finding.origin.to_string() + ": ";
  return place + finding.message + " (" + std::string(engine::rule_of(finding.rule).id) + ")";
}

const engine::Handler* find_handler(const DaemonFacts& daemon, std::string_view name) {
  const auto found = std::ranges::find(daemon.handlers, name, &engine::Handler::name);
  return found == daemon.handlers.end() ? nullptr : &*found;
}

std::string nvidia_handlers(const DaemonFacts& daemon) {
  std::string names;
  for (const engine::Handler& handler : daemon.handlers) {
    if (!engine::is_nvidia_runtime(handler.binary)) continue;
    names += (names.empty() ? "" : ", ") + handler.name + (handler.is_default ? " (the default)" : "");
  }
  return names;
}

constexpr std::string_view kDoesNotAnswer =
    "`systemctl status` and `journalctl -u` of its unit tell why; `ctkit verify` whether its files load";

}  // namespace

Gate handlers_gate(const DoctorFacts& facts) {
  const DaemonFacts& daemon = facts.daemon;
  Gate gate{.name = "handlers"};
  if (daemon.unknown) {
    gate.state = GateState::unseen;
    gate.found = daemon.unknown->message;
    if (!daemon.unknown->hint.empty()) gate.found += " (" + daemon.unknown->hint + ")";
    return gate;
  }
  const std::string names = nvidia_handlers(daemon);
  gate.found = daemon.engine + ": " + (names.empty() ? "no handler of NVIDIA's" : names);
  if (!daemon.state.refused.empty()) {
    gate.found = daemon.engine + " refuses its files";
    gate.fail("the daemon would not start with its files: " + daemon.state.refused,
              "mend that file; a daemon that runs goes on with what it has loaded until it is restarted");
    return gate;
  }
  for (const std::string& reason : daemon.state.not_serving) {
    gate.fail("with these files Kubernetes finds no runtime: " + reason, "`ctkit lint` names the file and line");
  }
  const engine::Handler* handler = find_handler(daemon, facts.runtime_class);
  if (handler == nullptr) {
    gate.fail("no handler '" + facts.runtime_class +
                  "' is effective: its pods stay without a sandbox (\"no runtime for \\\"" + facts.runtime_class +
                  "\\\" is configured\")",
              "`ctkit plan` shows a drop-in that brings it back, `ctkit apply` writes it");
  } else if (!engine::is_nvidia_runtime(handler->binary)) {
    gate.fail("the handler '" + facts.runtime_class + "' starts '" + handler->binary +
                  "', which is none of NVIDIA's runtimes: containers start without a GPU",
              "`ctkit explain` tells who set its BinaryName");
  }
  const bool failed = gate.state == GateState::failed;
  for (const Finding& finding : daemon.findings) {
    if (!is_about_handlers(finding)) continue;
    const std::string remedy =
        finding.hint.empty() ? "docs/rules/" + std::string(engine::rule_of(finding.rule).id) + ".md" : finding.hint;
    if (failed && finding.severity == Severity::error) {
      gate.fail(in_words(finding), remedy);
    } else {
      gate.mention(in_words(finding), remedy);
    }
  }
  const bool unproven = daemon.state.journal && daemon.state.journal->last && !daemon.state.journal->last->confirmed;
  if (unproven) {
    gate.mention("an apply of ctkit's ended before its verdict",
                 "the next `ctkit apply` takes it back first, or `ctkit rollback`");
  }
  for (const std::string& path : daemon.state.drifted) {
    gate.mention("'" + path + "' is not as we wrote it", "`ctkit plan` shows what `ctkit apply` would put back");
  }
  return gate;
}

Gate dump_gate(const DoctorFacts& facts) {
  const NodeState& state = facts.daemon.state;
  Gate gate{.name = "dump", .found = "as we predict"};
  if (state.socket.empty() || !state.unreachable.empty() || facts.daemon.unknown || !state.refused.empty()) {
    gate.state = GateState::unseen;
    gate.found = "no running daemon whose program could be asked";
  } else if (!state.dump_failed.empty()) {
    gate.found = "it has none to compare";
    gate.mention("the daemon's own `config dump` is no help: " + state.dump_failed, "run it by hand and see");
  } else if (!state.dump_differences) {
    gate.state = GateState::unseen;
    gate.found = "nothing of this daemon's to compare our prediction with";
  } else if (!state.dump_differences->empty()) {
    gate.found = std::to_string(state.dump_differences->size()) + " keys differ from what we predict";
    gate.mention("the daemon's own `config dump` differs from our prediction, first in " +
                     state.dump_differences->front().key.to_string(),
                 "`ctkit verify` lists the keys; a build with defaults of its own wants --defaults");
  }
  return gate;
}

Gate loaded_gate(const DoctorFacts& facts) {
  const NodeState& state = facts.daemon.state;
  Gate gate{.name = "loaded"};
  if (!state.unreachable.empty()) {
    gate.found = "no answer";
    gate.fail("the daemon doesn't answer: " + state.unreachable, std::string(kDoesNotAnswer));
    return gate;
  }
  if (state.socket.empty()) {
    gate.state = GateState::unseen;
    gate.found = "no daemon runs on these files";
    return gate;
  }
  gate.found = "as the files say";
  if (facts.daemon.unknown) {
    gate.state = GateState::unseen;
    gate.found = "what the files say is not known";
    return gate;
  }
  if (!state.differences.empty()) gate.found = "not as the files say";
  const std::string stale =
      state.newer_files.empty() ? "" : ", and it was started before '" + state.newer_files.front() + "' changed";
  for (const Difference& difference : state.differences) {
    const std::string problem = difference.what + ": the files say " +
                                (difference.files.empty() ? "nothing" : difference.files) + ", the daemon has loaded " +
                                (difference.loaded.empty() ? "nothing" : difference.loaded) + stale;
    const std::string remedy = "`ctkit apply` restarts the daemon if that is due, and checks what it serves then";
    const bool nvidia = difference.what.contains("nvidia") || difference.what.contains("'" + facts.runtime_class + "'");
    if (nvidia) {
      gate.fail(problem, remedy);
    } else {
      gate.mention(problem, remedy);
    }
  }
  return gate;
}

}  // namespace ctkit::installer
