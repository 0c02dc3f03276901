#include "installer/observe_doctor.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "cdi/inventory.h"
#include "cdi/path.h"
#include "engine/find_key.h"
#include "engine/release.h"
#include "installer/install.h"
#include "toolkit/config.h"
#include "toolkit/places.h"

namespace ctkit::installer {

namespace {

using cdi::FileKind;
using cdi::join;

constexpr std::string_view kValidations = "/run/nvidia/validations";
constexpr std::string_view kDriverContainer = "/run/nvidia/driver";
constexpr std::string_view kKernelRelease = "/proc/sys/kernel/osrelease";
constexpr unsigned kExecutable = 0111;

std::string read_text(const engine::FileReader& files, std::string_view path) {
  auto text = files.read(path);
  return text ? *std::move(text) : "";
}

bool is_there(const cdi::Tree& tree, std::string_view path) {
  return tree.look(path).has_value();
}

ProgramFact look_at_program(const cdi::Tree& tree, const std::string& path) {
  using State = ProgramFact::State;
  const auto status = tree.follow(path);
  if (!status || status->kind != FileKind::file) return {.path = path, .state = State::missing};
  return {.path = path, .state = (status->mode & kExecutable) == 0 ? State::not_executable : State::runnable};
}

/// Whether /proc/modules has a line of the module.
bool has_module(std::string_view modules, std::string_view name) {
  const std::string line = std::string(name) + " ";
  return modules.starts_with(line) || modules.contains("\n" + line);
}

ValidatorFacts look_at_validator(const DoctorView& view) {
  ValidatorFacts facts;
  const auto names = view.tree.names_in(kValidations);
  facts.there = names.has_value();
  if (names) facts.files.insert(names->begin(), names->end());
  const std::string ready = join(kValidations, "driver-ready");
  if (const auto text = view.host.files.read(ready)) facts.driver_ready = daemonset::parse_driver_ready(*text);
  return facts;
}

std::string find_driver_root(const DoctorRequest& request, const ValidatorFacts& validator, const cdi::Tree& tree) {
  if (!request.driver_root.empty()) return cdi::clean(request.driver_root);
  if (validator.driver_ready && validator.driver_ready->driver_root.starts_with('/')) {
    return cdi::clean(validator.driver_ready->driver_root);
  }
  const auto names = tree.names_in(kDriverContainer);
  return names && !names->empty() ? std::string(kDriverContainer) : "/";
}

void look_at_nodes(const ValidatorFacts& validator, const cdi::Tree& tree, DriverFacts& facts) {
  const auto null = tree.look("/dev/null");
  facts.devices_seen = null && null->kind == FileKind::character_device;
  const std::string root = validator.driver_ready && validator.driver_ready->dev_root.starts_with('/')
                               ? validator.driver_ready->dev_root
                               : "/";
  const std::string folder = cdi::clean(join(root, "dev"));
  const auto names = tree.names_in(folder);
  if (!names) return;
  const bool links = is_there(tree, "/dev/char");
  for (const std::string& name : *names) {
    const auto status = tree.follow(join(folder, name));
    if (!name.starts_with("nvidia") || !status || status->kind != FileKind::character_device) continue;
    facts.nodes.push_back(name);
    const std::string link = "/dev/char/" + std::to_string(status->major) + ":" + std::to_string(status->minor);
    if (links && !is_there(tree, link)) facts.nodes_without_link.push_back(join(folder, name));
  }
}

DriverFacts look_at_driver(const DoctorRequest& request, const ValidatorFacts& validator, const DoctorView& view) {
  const engine::FileReader& files = view.host.files;
  DriverFacts facts{.root = find_driver_root(request, validator, view.tree)};
  facts.kernel_seen = is_there(view.tree, kKernelRelease);
  facts.module_version = cdi::parse_module_version(read_text(files, "/proc/driver/nvidia/version"));
  facts.module_loaded = !facts.module_version.empty() || is_there(view.tree, "/sys/module/nvidia") ||
                        has_module(read_text(files, "/proc/modules"), "nvidia");
  const auto names = view.tree.names_in(facts.root);
  facts.root_there = names.has_value();
  facts.root_empty = names && names->empty();
  if (const auto root = view.tree.below(facts.root)) facts.library_version = cdi::find_library_version(**root);
  look_at_nodes(validator, view.tree, facts);
  return facts;
}

void look_at_config(const engine::FileReader& files, ToolkitFacts& facts) {
  const std::string path = join(facts.folder, toolkit::kConfigFile);
  const auto text = files.read(path);
  if (!text) return;
  facts.config_there = true;
  const auto table = toolkit::parse_config(*text, path);
  if (!table) {
    facts.config_error = table.error().where + ": " + table.error().message;
    return;
  }
  const auto fill = [&](std::string& field, std::initializer_list<std::string_view> key) {
    const engine::Value* value = engine::find_key(*table, key);
    if (value != nullptr && value->string() != nullptr) field = *value->string();
  };
  fill(facts.config_root, {"nvidia-container-cli", "root"});
  fill(facts.config_mode, {"nvidia-container-runtime", "mode"});
  fill(facts.config_kind, {"nvidia-container-runtime", "modes", "cdi", "default-kind"});
}

/// A wrapper wants the program that it becomes.
bool is_script(const engine::FileReader& files, const std::string& path) {
  return read_text(files, path).starts_with("#!");
}

ToolkitFacts look_at_toolkit(const DoctorRequest& request, bool is_host, const DoctorView& view) {
  constexpr std::array<std::string_view, 4> kPrograms = {
      "nvidia-container-runtime", "nvidia-container-runtime.cdi", "nvidia-container-runtime.legacy", "nvidia-cdi-hook"};
  ToolkitFacts facts{.folder = cdi::clean(request.node.toolkit_folder)};
  toolkit::ToolkitPlaces places = toolkit::places_in(std::string(cdi::folder_of(facts.folder)));
  places.link = facts.folder;
  const auto found = toolkit::find_toolkit(view.tree, places);
  if (found) {
    facts.state = found->state;
    facts.version = found->version;
  }
  if (facts.state == toolkit::ToolkitState::absent) return facts;
  for (const std::string_view name : kPrograms) {
    const std::string path = join(facts.folder, name);
    facts.programs.push_back(look_at_program(view.tree, path));
    if (is_script(view.host.files, path)) facts.programs.push_back(look_at_program(view.tree, path + ".real"));
  }
  if (is_host) {
    if (const auto may_run = view.programs.may_run_from(facts.folder)) facts.may_run = *may_run;
  }
  look_at_config(view.host.files, facts);
  return facts;
}

DaemonFacts look_at_daemon(const DoctorRequest& request, bool is_host, const DoctorView& view) {
  DaemonFacts facts;
  if (view.engine) {
    facts.engine = (*view.engine)->name();
    Request asked = request.node;
    asked.verb = Verb::verify;
    auto seen = run(asked, **view.engine, view.host);
    if (seen) {
      facts.state = *std::move(seen->state);
      facts.handlers = std::move(seen->handlers);
    } else {
      facts.unknown = seen.error();
    }
    asked.verb = Verb::lint;
    if (auto lint = run(asked, **view.engine, view.host)) facts.findings = std::move(lint->lint->findings);
  } else {
    facts.unknown = view.engine.error();
  }
  if (view.unreachable) facts.state.unreachable = view.unreachable->message;
  for (const engine::Handler& handler : facts.handlers) {
    if (is_host && handler.binary.starts_with('/')) {
      facts.binaries.push_back(look_at_program(view.tree, handler.binary));
    }
  }
  return facts;
}

std::optional<engine::Release> release_of(const DaemonFacts& daemon) {
  constexpr std::string_view kContainerd = "containerd ";
  if (!daemon.engine.starts_with(kContainerd)) return std::nullopt;
  const auto release = engine::Release::parse(daemon.engine.substr(kContainerd.size()));
  return release ? std::optional(*release) : std::nullopt;
}

template <typename Look>
void for_all_edits(const cdi::Spec& spec, Look look) {
  look(spec.edits);
  for (const cdi::Device& device : spec.devices)
    look(device.edits);
}

void add_once(std::vector<MissingPath>& missing, const std::string& spec, const std::string& path) {
  const bool known =
      std::ranges::any_of(missing, [&](const MissingPath& one) { return one.path == path && one.spec == spec; });
  if (!known) missing.push_back({.spec = spec, .path = path});
}

CdiFacts look_at_specs(const DriverFacts& driver, const DaemonFacts& daemon, const cdi::Tree& tree) {
  CdiFacts facts;
  if (const auto release = release_of(daemon)) {
    facts.level = cdi::level_of_containerd(release->major, release->minor, release->patch);
    facts.daemon_has_none = release->major == 1 && release->minor < 7;
  }
  facts.folders = cdi::read_spec_folders(tree, cdi::usual_spec_folders(), facts.level.value_or(cdi::Level::v1_1_0));
  for (const cdi::LoadedSpec& loaded : facts.folders.specs) {
    // A record of configuration has none of the files that specs name.
    if (driver.kernel_seen || !driver.library_version.empty()) {
      facts.rows.push_back(cdi::judge(loaded, tree, driver.library_version, driver.module_version));
    }
    for_all_edits(loaded.spec, [&](const cdi::ContainerEdits& edits) {
      for (const cdi::Hook& hook : edits.hooks) {
        if (!driver.kernel_seen || look_at_program(tree, hook.path).state == ProgramFact::State::runnable) continue;
        add_once(facts.missing_hooks, loaded.file, hook.path);
      }
      for (const cdi::DeviceNode& node : edits.device_nodes) {
        const std::string& path = node.host_path.empty() ? node.path : node.host_path;
        if (driver.devices_seen && !is_there(tree, path)) add_once(facts.missing_nodes, loaded.file, path);
      }
    });
  }
  return facts;
}

}  // namespace

std::string find_doctors_root(const engine::FileReader& here) {
  const bool host_itself = here.exists("/run/systemd/private") || here.exists("/run/dbus/system_bus_socket");
  return !host_itself && here.exists("/host" + std::string(kKernelRelease)) ? "/host" : "/";
}

DoctorFacts observe_doctor(const DoctorRequest& request, const DoctorView& view) {
  DoctorFacts facts{.runtime_class = request.runtime_class, .validator = look_at_validator(view)};
  facts.driver = look_at_driver(request, facts.validator, view);
  facts.toolkit = look_at_toolkit(request, facts.driver.kernel_seen, view);
  facts.daemon = look_at_daemon(request, facts.driver.kernel_seen, view);
  facts.cdi = look_at_specs(facts.driver, facts.daemon, view.tree);
  return facts;
}

}  // namespace ctkit::installer
