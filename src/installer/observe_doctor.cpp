#include "installer/observe_doctor.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "cdi/inventory.h"
#include "cdi/path.h"
#include "cdi/spec_folders.h"
#include "engine/find_key.h"
#include "engine/nvidia_runtime.h"
#include "installer/install.h"
#include "installer/spec_state.h"
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
  facts.module_version = cdi::parse_module_version(read_text(files, cdi::kModuleVersionFile));
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

DaemonFacts look_at_daemon(const DoctorRequest& request, bool is_host, const DoctorView& view) {
  DaemonFacts facts;
  if (view.engine) {
    facts.engine = (*view.engine)->name();
    Request asked = request.node;
    asked.verb = Verb::verify;
    Host with_specs = view.host;
    with_specs.tree = &view.tree;
    auto seen = run(asked, **view.engine, with_specs);
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

std::vector<MissingPath> find_missing_nodes(const cdi::SpecFolders& folders, const cdi::Tree& tree) {
  std::vector<MissingPath> missing;
  for (const cdi::LoadedSpec& loaded : folders.specs) {
    for_all_edits(loaded.spec, [&](const cdi::ContainerEdits& edits) {
      for (const cdi::DeviceNode& node : edits.device_nodes) {
        const std::string& path = node.host_path.empty() ? node.path : node.host_path;
        if (!is_there(tree, path)) add_once(missing, loaded.file, path);
      }
    });
  }
  return missing;
}

CdiFacts look_at_cdi(bool devices_seen, const DaemonFacts& daemon, const DoctorView& view) {
  CdiFacts facts{.specs = daemon.state.cdi};
  if (view.engine) facts.level = view.host.cdi_level;
  facts.daemon_has_none = view.engine && !facts.level;
  if (daemon.unknown) {
    const cdi::Level level = facts.level.value_or(cdi::Level::v1_1_0);
    facts.specs = look_at_specs(view.tree, view.host.files, cdi::usual_spec_folders(), level);
  }
  if (devices_seen) facts.missing_nodes = find_missing_nodes(facts.specs.folders, view.tree);
  return facts;
}

void add_program(std::vector<ProgramFact>& programs, ProgramFact program) {
  if (std::ranges::find(programs, program.path, &ProgramFact::path) == programs.end())
    programs.push_back(std::move(program));
}

/// Programs in the folder that somebody starts: which ones there are is a matter of the toolkit's release. Hooks are
/// judged with their specs, but not the programs that they become.
std::vector<ProgramFact> look_at_programs(const std::string& folder,
                                          const DaemonFacts& daemon,
                                          const CdiFacts& cdi,
                                          const DoctorView& view) {
  std::vector<ProgramFact> programs;
  const auto add_real = [&](const std::string& path) {
    if (is_script(view.host.files, path)) add_program(programs, look_at_program(view.tree, path + ".real"));
  };
  for (const engine::Handler& handler : daemon.handlers) {
    if (!engine::is_nvidia_runtime(handler.binary) || !cdi::is_below(handler.binary, folder)) continue;
    add_program(programs, look_at_program(view.tree, handler.binary));
    add_real(handler.binary);
  }
  for (const cdi::LoadedSpec& loaded : cdi.specs.folders.specs) {
    for_all_edits(loaded.spec, [&](const cdi::ContainerEdits& edits) {
      for (const cdi::Hook& hook : edits.hooks) {
        if (cdi::is_below(hook.path, folder)) add_real(hook.path);
      }
    });
  }
  return programs;
}

ToolkitFacts look_at_toolkit(const DoctorRequest& request,
                             bool is_host,
                             const DaemonFacts& daemon,
                             const CdiFacts& cdi,
                             const DoctorView& view) {
  ToolkitFacts facts{.folder = cdi::clean(request.node.toolkit_folder)};
  toolkit::ToolkitPlaces places = toolkit::places_in(std::string(cdi::folder_of(facts.folder)));
  places.link = facts.folder;
  const auto found = toolkit::find_toolkit(view.tree, places);
  if (found) {
    facts.state = found->state;
    facts.version = found->version;
  }
  if (facts.state == toolkit::ToolkitState::absent) return facts;
  facts.programs = look_at_programs(facts.folder, daemon, cdi, view);
  if (is_host) {
    if (const auto may_run = view.programs.may_run_from(facts.folder)) facts.may_run = *may_run;
  }
  look_at_config(view.host.files, facts);
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
  const bool is_host = facts.driver.kernel_seen;
  facts.daemon = look_at_daemon(request, is_host, view);
  facts.cdi = look_at_cdi(facts.driver.devices_seen, facts.daemon, view);
  facts.toolkit = look_at_toolkit(request, is_host, facts.daemon, facts.cdi, view);
  return facts;
}

}  // namespace ctkit::installer
