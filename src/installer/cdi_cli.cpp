#include "installer/cdi_cli.h"

#include <array>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace ctkit::installer {

namespace {

struct VerbWords {
  CLI::App* app = nullptr;
  CdiVerb verb = CdiVerb::validate;
  std::string format = {};
};

void add_root(CLI::App& verb, CdiRequest& request) {
  verb.add_option("--root", request.root, "Host root, a recorded tree or a capture's folder")
      ->envname("CTKIT_ROOT")
      ->capture_default_str();
}

void add_reading_options(CLI::App& verb, CdiRequest& request) {
  std::vector<std::string> names;
  for (const cdi::LevelRules& rules : cdi::levels())
    names.emplace_back(rules.name);
  verb.add_option("--level", request.level, "CDI library to judge as (default: the one in the node's containerd)")
      ->envname("CTKIT_CDI_LEVEL")
      ->check(CLI::IsMember(names));
  verb.add_option("--release", request.release, "containerd's release, as `containerd --version` prints it")
      ->envname("CTKIT_RELEASE");
  verb.add_option("--spec-dir",
                  request.spec_dirs,
                  "Spec folder; give it again for more, lowest priority first (default: /etc/cdi, "
                  "/var/run/cdi)");
}

void add_generate_options(CLI::App& verb, CdiRequest& request) {
  verb.add_option("--driver-root", request.driver_root, "Where the driver is on the host")
      ->envname("CTKIT_DRIVER_ROOT")
      ->capture_default_str();
  verb.add_option("--driver-root-ctr-path",
                  request.driver_root_ctr_path,
                  "Where we see the driver root (default: at --driver-root)")
      ->envname("CTKIT_DRIVER_ROOT_CTR_PATH");
  verb.add_option("--dev-root", request.dev_root, "What holds /dev on the host (default: the driver root)")
      ->envname("CTKIT_DEV_ROOT");
  verb.add_option("--dev-root-ctr-path", request.dev_root_ctr_path, "Where we see that (default: as the host does)")
      ->envname("CTKIT_DEV_ROOT_CTR_PATH");
  verb.add_option("--kind", request.kind, "vendor/class of the spec")->envname("CTKIT_CDI_KIND")->capture_default_str();
  verb.add_option("--nvidia-cdi-hook-path", request.hook_path, "The hooks' binary on the host")
      ->envname("CTKIT_CDI_HOOK_PATH")
      ->capture_default_str();
  verb.add_option("--output", request.output, "File to write, - for standard output (default: below /var/run/cdi)")
      ->envname("CTKIT_CDI_OUTPUT");
}

/// The options of one verb.
void add_options(VerbWords& verb, CdiRequest& request) {
  add_root(*verb.app, request);
  const bool generates = verb.verb == CdiVerb::generate;
  if (generates) {
    add_generate_options(*verb.app, request);
  } else {
    add_reading_options(*verb.app, request);
  }
  verb.format = generates ? "yaml" : "table";
  verb.app->add_option("-o", verb.format, "Output format")
      ->check(CLI::IsMember({verb.format, std::string("json")}))
      ->capture_default_str();
  if (verb.verb == CdiVerb::validate) {
    verb.app->add_flag("--exit-code", request.exit_code, "Exit 2 if a file is refused or a device lost");
  }
}

}  // namespace

std::optional<std::variant<CdiRequest, Printed>> parse_cdi_command_line(std::span<const char* const> argv) {
  if (argv.size() < 2 || std::string_view(argv[1]) != "cdi") return std::nullopt;
  CdiRequest request;
  CLI::App app("CDI specs: what containerd makes of them, and the one for management containers.", "ctkit cdi");
  app.require_subcommand(1);
  std::array<VerbWords, 3> verbs = {{
      {app.add_subcommand("generate", "Write the spec of all GPUs, for containers that manage them"),
       CdiVerb::generate,
       ""},
      {app.add_subcommand("validate", "What containerd's CDI library takes of the spec folders"),
       CdiVerb::validate,
       ""},
      {app.add_subcommand("list", "The devices, the files they come from, conflicts and stale ones"),
       CdiVerb::list,
       ""},
  }};
  // Only the verb that was given gets its options, and looks at the environment.
  for (VerbWords& verb : verbs) {
    verb.app->preparse_callback([&](std::size_t) { add_options(verb, request); });
  }
  try {
    const auto words = argv.subspan(1);
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::Success&) {
    for (const VerbWords& verb : verbs) {
      if (verb.app->parsed()) return Printed{.text = verb.app->help("ctkit cdi")};
    }
    return Printed{.text = app.help()};
  } catch (const CLI::ParseError& error) {
    return Printed{.text = std::string("ctkit: ") + error.what() + "\nRun `ctkit cdi --help` for the verbs.\n",
                   .mistake = true};
  }
  for (const VerbWords& verb : verbs) {
    if (!verb.app->parsed()) continue;
    request.verb = verb.verb;
    request.json = verb.format == "json";
  }
  return request;
}

}  // namespace ctkit::installer
