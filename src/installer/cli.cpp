#include "installer/cli.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "cdi/path.h"
#include "installer/handlers_option.h"
#include "installer/node_options.h"

namespace ctkit::installer {

namespace {

constexpr const char* kToolkitFolder = "/usr/local/nvidia/toolkit";

/// What the parser fills besides the request itself.
struct Words {
  std::vector<std::string> handlers;
  std::vector<std::string> annotation_prefixes;
  std::string on_conflict = "restore";
  std::string restart = "auto";
  std::string trust = "neither";
  std::string config_mode = "config";
  bool set_as_default = false;
  std::string toolkit_folder = kToolkitFolder;
};

void add_node_options(CLI::App& verb, Request& request) {
  verb.add_option("--root", request.root, "Host root, a recorded tree or a capture's folder")
      ->envname("CTKIT_ROOT")
      ->capture_default_str();
  add_daemon_options(verb, request);
}

/// The verb's formats, the default one first.
void add_format(CLI::App& verb, std::string& output, const std::vector<std::string>& formats) {
  output = formats.front();
  verb.add_option("-o,--output", output, "Output format")->check(CLI::IsMember(formats))->capture_default_str();
}

void add_change_options(CLI::App& verb, Request& request, Words& words) {
  verb.add_option("--handler",
                  words.handlers,
                  "Handlers to serve, as name=binary[,type=runtime type] (default: nvidia, nvidia-cdi, nvidia-legacy)");
  verb.add_flag("--set-as-default", words.set_as_default, "Make the first handler the default runtime")
      ->envname("CTKIT_SET_AS_DEFAULT");
  verb.add_option("--annotation-prefix",
                  words.annotation_prefixes,
                  "Container annotations that begin so reach the handlers' runtime (containerd; CRI-O passes all)")
      ->envname("CTKIT_ANNOTATION_PREFIXES")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb.add_flag("--enable-cdi",
                request.desired.enable_cdi,
                "Turn CDI devices of CRI requests on, where the daemon has a switch for them and it is off")
      ->envname("CTKIT_ENABLE_CDI");
  verb.add_option("--on-conflict",
                  words.on_conflict,
                  "Settings that other files lose to each other on 1.x: restore, keep what is effective, or refuse")
      ->envname("CTKIT_ON_CONFLICT")
      ->check(CLI::IsMember({"restore", "keep", "refuse"}));
  verb.add_option("--drop-in", request.desired.drop_in, "Our file, seen from the host root")->envname("CTKIT_DROP_IN");
  add_toolkit_folder(verb, words.toolkit_folder);
}

void add_hook_options(CLI::App& verb, Request& request, Words& words) {
  verb.add_option("--crio-config-mode",
                  words.config_mode,
                  "On CRI-O: config puts handlers into its configuration, hook NVIDIA's OCI hook into its hooks folder")
      ->envname("CRIO_CONFIG_MODE")
      ->check(CLI::IsMember({"config", "hook"}))
      ->capture_default_str();
  verb.add_option(
          "--hooks-dir", request.hooks_folder, "Where the OCI hook goes (default: one that CRI-O's hooks_dir names)")
      ->envname("CRIO_HOOKS_DIR");
  verb.add_option("--hook-filename", request.hook_name, "The OCI hook's name")
      ->envname("CRIO_HOOK_FILENAME")
      ->capture_default_str();
}

void add_live_options(CLI::App& verb, Request& request, Words& words) {
  verb.add_option("--unit", request.unit, "The daemon's systemd unit (default: the one its process belongs to)")
      ->envname("CTKIT_UNIT");
  verb.add_option("--restart", words.restart, "When the running daemon is restarted; none: files only")
      ->envname("CTKIT_RESTART")
      ->check(CLI::IsMember({"auto", "always", "none"}))
      ->capture_default_str();
  verb.add_option("--pid-file",
                  request.lock,
                  "The lock that NVIDIA's installer takes too (default: /run/nvidia/toolkit/toolkit.pid)")
      ->envname("CTKIT_PID_FILE");
}

void add_apply_options(CLI::App& verb, Request& request, Words& words) {
  verb.add_option("plan", request.plan_file, "A plan of `ctkit plan --out`: done only if it still is the plan");
  verb.add_option("--trust",
                  words.trust,
                  "Whom to believe where the daemon's own `config dump` of the new files isn't what we predict")
      ->envname("CTKIT_TRUST")
      ->check(CLI::IsMember({"neither", "dump", "prediction"}))
      ->capture_default_str();
  verb.add_option(
          "--confirm-timeout",
          request.confirm_timeout,
          "Seconds after which the host itself takes the change back if ctkit is gone before its verdict; 0: never")
      ->envname("CTKIT_CONFIRM_TIMEOUT")
      ->check(CLI::Range(0L, 86400L))
      ->capture_default_str();
}

std::optional<Printed> fill_desired(Request& request, const Words& words) {
  for (const auto& [flag, path] : {std::pair("--drop-in", &request.desired.drop_in),
                                   std::pair("--state-dir", &request.state_dir),
                                   std::pair("--socket", &request.socket),
                                   std::pair("--pid-file", &request.lock),
                                   std::pair("--ready-file", &request.ready_file)}) {
    if (path->empty() || cdi::is_file_path(*path)) continue;
    return Printed{.text = std::string("ctkit: ") + flag + " wants an absolute path without a slash at its end, not '" +
                           *path + "'\n",
                   .mistake = true};
  }
  using enum engine::OnConflict;
  request.desired.on_conflict = words.on_conflict == "keep" ? keep : words.on_conflict == "refuse" ? refuse : restore;
  auto handlers = parse_handlers(words.handlers);
  if (!handlers) return Printed{.text = "ctkit: --" + handlers.error().message + "\n", .mistake = true};
  request.desired.handlers = handlers->empty() ? usual_handlers(words.toolkit_folder) : *std::move(handlers);
  pass_annotations(words.annotation_prefixes, request.desired.handlers);
  request.toolkit_folder = words.toolkit_folder;
  request.hook_mode = words.config_mode == "hook";
  if (!is_hook_name(request.hook_name)) {
    return Printed{.text = "ctkit: --hook-filename wants a name that ends in .json, as CRI-O does, not '" +
                           request.hook_name + "'\n",
                   .mistake = true};
  }
  request.restart = words.restart == "always" ? RestartMode::always
                    : words.restart == "none" ? RestartMode::none
                                              : RestartMode::automatic;
  request.trust = words.trust == "dump"         ? Trust::dump
                  : words.trust == "prediction" ? Trust::prediction
                                                : Trust::neither;
  if (words.set_as_default) request.desired.default_handler = request.desired.handlers.front().name;
  return std::nullopt;
}

struct VerbRow {
  const char* name;
  const char* help;
  Verb verb;
};

constexpr std::array<VerbRow, 10> kVerbs = {{
    {"effective", "The effective config, as the daemon computes it", Verb::effective},
    {"explain", "Who set a key, what was overridden or erased, what is lost", Verb::explain},
    {"lint", "Problems in everyone's files, with stable rule ids", Verb::lint},
    {"plan", "The change: files, effective diff, conflicts", Verb::plan},
    {"preflight", "What another release would change or break with these files", Verb::preflight},
    {"apply", "Write the planned files, restart if need be, verify, roll back on failure", Verb::apply},
    {"verify", "Whether the running daemon serves what the files say", Verb::verify},
    {"status", "The daemon, the last apply, what drifted since", Verb::status},
    {"rollback", "Back to the state before the last apply", Verb::rollback},
    {"uninstall", "Remove exactly what apply added", Verb::uninstall},
}};

/// A verb, where its format goes, and what it is called in the request.
struct VerbWords {
  CLI::App* app;
  Verb verb;
  std::string output;
};

/// The options of one verb.
void add_options(VerbWords& verb, Request& request, Words& words) {
  add_node_options(*verb.app, request);
  const bool reads = verb.verb == Verb::effective || verb.verb == Verb::explain || verb.verb == Verb::lint ||
                     verb.verb == Verb::preflight;
  if (!reads) add_state_dir(*verb.app, request);
  add_socket(*verb.app, request);
  if (verb.verb == Verb::apply || verb.verb == Verb::uninstall || verb.verb == Verb::rollback) {
    add_live_options(*verb.app, request, words);
  }
  if (verb.verb == Verb::plan || verb.verb == Verb::apply) add_change_options(*verb.app, request, words);
  if (verb.verb == Verb::plan || verb.verb == Verb::apply || verb.verb == Verb::uninstall) {
    add_hook_options(*verb.app, request, words);
  }
  std::vector<std::string> formats = {verb.verb == Verb::effective ? "toml" : "table", "json"};
  if (verb.verb == Verb::lint) formats.emplace_back("sarif");
  add_format(*verb.app, verb.output, formats);
  switch (verb.verb) {
    case Verb::effective:
      verb.app->add_flag("--show-origin", request.show_origin, "With each value the file and line that wrote it");
      verb.app->add_flag("--as-dump", request.as_dump, "What `config dump` says where the daemon does something else");
      break;
    case Verb::explain:
      verb.app->add_option("keys", request.keys, "Dotted TOML keys; none: an overview");
      break;
    case Verb::lint:
      verb.app->add_flag("--exit-code", request.exit_code, "Exit 2 if there are errors or warnings");
      break;
    case Verb::preflight:
      verb.app->add_option("--to", request.target, "The other release, as the daemon's `--version` prints it")
          ->required();
      verb.app->add_flag("--exit-code", request.exit_code, "Exit 2 if something changes or breaks");
      break;
    case Verb::plan:
      verb.app->add_flag("--exit-code", request.exit_code, "Exit 2 if there are changes");
      verb.app->add_option("--out", request.plan_out, "Keep the plan in this file, for `ctkit apply FILE`");
      break;
    case Verb::apply:
      add_apply_options(*verb.app, request, words);
      break;
    case Verb::verify:
      verb.app->add_flag("--exit-code", request.exit_code, "Exit 2 if there are differences");
      break;
    case Verb::rollback:
      verb.app->add_option("--if-unconfirmed",
                           request.if_unconfirmed,
                           "Only the apply of this name, and only if its verdict never came");
      break;
    case Verb::status:
      verb.app->add_flag("--ready", request.ready, "Only whether `ctkit run` has verified everything; 1 if not");
      verb.app->add_option("--ready-file", request.ready_file, "Where it says so")
          ->envname("CTKIT_READY_FILE")
          ->default_str("/run/nvidia/toolkit/ctkit-ready");
      break;
    case Verb::uninstall:
      verb.app->add_flag("--toolkit",
                         request.with_toolkit,
                         "Also the toolkit's files that `ctkit run` installed, if nobody needs them");
      add_toolkit_folder(*verb.app, words.toolkit_folder);
      break;
  }
}

}  // namespace

std::variant<Request, Printed> parse_command_line(std::span<const char* const> argv) {
  Request request;
  Words words;
  CLI::App app("Puts runtime handlers on a Kubernetes node without breaking it.", "ctkit");
  app.set_version_flag("--version", "ctkit " CTKIT_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Also: ctkit doctor, one page about driver, toolkit, daemon and CDI; ctkit cdi --help, for CDI specs; ctkit "
      "cdi-hook, "
      "for the hooks they call.");

  // Only the verb that is given is made, if one is, and only it gets options: all of them took longer than a node's
  // config does, and the others' options would put the environment's values over its flags.
  const auto is_given = [&](const VerbRow& row) { return argv.size() > 1 && std::string_view(row.name) == argv[1]; };
  const bool all = std::ranges::none_of(kVerbs, is_given);
  std::vector<VerbWords> verbs;
  verbs.reserve(kVerbs.size());
  for (const VerbRow& row : kVerbs) {
    if (!all && !is_given(row)) continue;
    VerbWords& verb = verbs.emplace_back(app.add_subcommand(row.name, row.help), row.verb, "");
    verb.app->preparse_callback([&](std::size_t) { add_options(verb, request, words); });
  }

  try {
    app.parse(static_cast<int>(argv.size()), argv.data());
  } catch (const CLI::CallForVersion&) {
    return Printed{.text = "ctkit " CTKIT_VERSION "\n"};
  } catch (const CLI::Success&) {
    for (const VerbWords& verb : verbs) {
      if (verb.app->parsed()) return Printed{.text = verb.app->help("ctkit")};
    }
    return Printed{.text = app.help()};
  } catch (const CLI::ParseError& error) {
    return Printed{.text = std::string("ctkit: ") + error.what() + "\nRun `ctkit --help` for the verbs.\n",
                   .mistake = true};
  }
  for (const VerbWords& verb : verbs) {
    if (!verb.app->parsed()) continue;
    request.verb = verb.verb;
    request.format = verb.output == "json" ? Format::json : verb.output == "sarif" ? Format::sarif : Format::text;
  }
  if (auto mistake = fill_desired(request, words)) return *mistake;
  return request;
}

}  // namespace ctkit::installer
