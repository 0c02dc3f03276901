#include "cdi/validate.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cdi/device_name.h"
#include "cdi/spec_io.h"

namespace ctkit::cdi {

namespace {

constexpr std::array<std::string_view, 10> kVersions = {
    "0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0"};
constexpr std::size_t kLongestClosId = 4095;

Verdict refuse(ProblemClass problem, std::string message, int line) {
  return {.problem = Problem{.problem = problem, .message = std::move(message), .line = line}};
}

constexpr Verdict kDies = {.crash = Crash::panic, .problem = {}};

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

/// A feature of a version: used, not used, or the question kills the library.
enum class Use { no, yes, dies };

/// The edits in the order in which version.go looks at them.
std::vector<const ContainerEdits*> all_edits(const Spec& spec) {
  std::vector<const ContainerEdits*> all;
  for (const Device& device : spec.devices)
    all.push_back(&device.edits);
  all.push_back(&spec.edits);
  return all;
}

Use uses_mount_type(const Spec& spec) {
  for (const ContainerEdits* edits : all_edits(spec)) {
    for (const Mount& mount : edits->mounts) {
      if (mount.null) return Use::dies;
      if (!mount.type.empty()) return Use::yes;
    }
  }
  return Use::no;
}

Use uses_host_path_or_digit(const Spec& spec) {
  for (const Device& device : spec.devices) {
    if (!device.name.empty() && !is_ascii_letter(device.name.front())) return Use::yes;
  }
  for (const ContainerEdits* edits : all_edits(spec)) {
    for (const DeviceNode& node : edits->device_nodes) {
      if (node.null) return Use::dies;
      if (!node.host_path.empty()) return Use::yes;
    }
  }
  return Use::no;
}

Use uses_annotations_or_dot(const Spec& spec) {
  if (!spec.annotations.empty()) return Use::yes;
  if (std::ranges::any_of(spec.devices, [](const Device& device) { return !device.annotations.empty(); }))
    return Use::yes;
  const Kind kind = split_kind(spec.kind);
  return !kind.vendor.empty() && kind.class_name.contains('.') ? Use::yes : Use::no;
}

Use uses_rdt_or_gids(const Spec& spec) {
  const auto uses = [](const ContainerEdits* edits) { return edits->intel_rdt || !edits->additional_gids.empty(); };
  return std::ranges::any_of(all_edits(spec), uses) ? Use::yes : Use::no;
}

Use uses_net_devices_or_monitoring(const Spec& spec) {
  const auto uses = [](const ContainerEdits* edits) {
    return !edits->net_devices.empty() ||
           (edits->intel_rdt && (!edits->intel_rdt->schemata.empty() || edits->intel_rdt->enable_monitoring));
  };
  return std::ranges::any_of(all_edits(spec), uses) ? Use::yes : Use::no;
}

struct Requirement {
  std::string_view version = {};
  Use (*uses)(const Spec&) = nullptr;
};

constexpr std::array<Requirement, 5> kRequirements = {{
    {"0.4.0", uses_mount_type},
    {"0.5.0", uses_host_path_or_digit},
    {"0.6.0", uses_annotations_or_dot},
    {"0.7.0", uses_rdt_or_gids},
    {"1.1.0", uses_net_devices_or_monitoring},
}};

std::size_t rank_of(std::string_view version) {
  return static_cast<std::size_t>(std::ranges::find(kVersions, version) - kVersions.begin());
}

Verdict check_version(const Spec& spec, const LevelRules& rules) {
  std::string_view version = spec.version;
  if (version.starts_with('v')) version.remove_prefix(1);
  if (rank_of(version) > rank_of(rules.newest_version)) {
    return refuse(ProblemClass::version,
                  "cdiVersion " + quoted(spec.version) + " is unknown to this library, whose newest is " +
                      std::string(rules.newest_version),
                  spec.version_line);
  }
  const auto minimum = minimum_version(spec, rules.newest_version);
  if (!minimum) return kDies;
  if (rank_of(version) < rank_of(*minimum)) {
    return refuse(
        ProblemClass::minimum_version, "cdiVersion must be at least " + std::string(*minimum), spec.version_line);
  }
  return {};
}

Verdict check_kind_part(std::string_view part, ProblemClass problem, bool dots, const LevelRules& rules, int line) {
  const std::string what = problem == ProblemClass::vendor ? "vendor " : "class ";
  if (part.size() == 1 && is_ascii_letter(part.front())) {
    if (rules.one_letter_name_crashes) return kDies;
    return {};
  }
  if (const std::string why = check_vendor_or_class(part, dots); !why.empty()) {
    return refuse(problem, what + quoted(part) + ": " + why, line);
  }
  return {};
}

bool is_variable(std::string_view text) {
  const std::size_t equals = text.find('=');
  return equals != std::string_view::npos && equals > 0;
}

Verdict check_node(const DeviceNode& node, const LevelRules& rules) {
  if (node.null) return kDies;
  constexpr std::array<std::string_view, 5> kTypes = {"", "b", "c", "u", "p"};
  if (node.path.empty()) return refuse(ProblemClass::device_node, "a device node without path", node.line);
  if (std::ranges::find(kTypes, node.type) == kTypes.end()) {
    return refuse(ProblemClass::device_node,
                  "device node " + quoted(node.path) + ": invalid type " + quoted(node.type),
                  node.line);
  }
  const bool none = rules.no_permissions && node.permissions == "none";
  if (!none && node.permissions.find_first_not_of("rwm") != std::string::npos) {
    return refuse(ProblemClass::device_node,
                  "device node " + quoted(node.path) + ": invalid permissions " + quoted(node.permissions),
                  node.line);
  }
  return {};
}

Verdict check_hook(const Hook& hook) {
  if (hook.null) return kDies;
  constexpr std::array<std::string_view, 6> kNames = {
      "prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"};
  if (std::ranges::find(kNames, hook.name) == kNames.end()) {
    return refuse(ProblemClass::hook, "there is no hook " + quoted(hook.name), hook.line);
  }
  if (hook.path.empty()) return refuse(ProblemClass::hook, "hook " + quoted(hook.name) + " without path", hook.line);
  for (const std::string& variable : hook.env) {
    if (!is_variable(variable)) {
      return refuse(ProblemClass::hook,
                    "hook " + quoted(hook.name) + ": env entry " + quoted(variable) + " is not NAME=value",
                    hook.line);
    }
  }
  return {};
}

Verdict check_mount(const Mount& mount) {
  if (mount.null) return kDies;
  if (mount.host_path.empty()) return refuse(ProblemClass::mount, "a mount without hostPath", mount.line);
  if (mount.container_path.empty()) return refuse(ProblemClass::mount, "a mount without containerPath", mount.line);
  return {};
}

Verdict check_rdt(const IntelRdt& rdt, const LevelRules& rules) {
  const std::string& id = rdt.clos_id;
  if (rules.root_clos && id == "/") return {};
  if (id.size() <= kLongestClosId && id != "." && id != ".." && id.find_first_of("/\n") == std::string::npos) return {};
  return refuse(ProblemClass::intel_rdt, "closID is no name of a folder", rdt.line);
}

Verdict check_net_devices(const std::vector<NetDevice>& devices) {
  std::set<std::string_view> hosts;
  std::set<std::string_view> names;
  for (const NetDevice& device : devices) {
    if (device.null) return kDies;
    if (device.host_interface_name.empty()) {
      return refuse(ProblemClass::net_device, "a net device without hostInterfaceName", device.line);
    }
    if (device.name.empty()) return refuse(ProblemClass::net_device, "a net device without name", device.line);
    if (!hosts.insert(device.host_interface_name).second) {
      return refuse(
          ProblemClass::net_device, "host interface " + quoted(device.host_interface_name) + " twice", device.line);
    }
    if (!names.insert(device.name).second) {
      return refuse(ProblemClass::net_device, "interface " + quoted(device.name) + " twice", device.line);
    }
  }
  return {};
}

Verdict check_edits(const ContainerEdits& edits, const LevelRules& rules) {
  for (const std::string& variable : edits.env) {
    if (!is_variable(variable)) {
      return refuse(ProblemClass::env, "env entry " + quoted(variable) + " is not NAME=value", edits.line);
    }
  }
  for (const DeviceNode& node : edits.device_nodes) {
    if (Verdict verdict = check_node(node, rules); !verdict.loads()) return verdict;
  }
  for (const Hook& hook : edits.hooks) {
    if (Verdict verdict = check_hook(hook); !verdict.loads()) return verdict;
  }
  for (const Mount& mount : edits.mounts) {
    if (Verdict verdict = check_mount(mount); !verdict.loads()) return verdict;
  }
  if (edits.intel_rdt) {
    if (Verdict verdict = check_rdt(*edits.intel_rdt, rules); !verdict.loads()) return verdict;
  }
  return check_net_devices(edits.net_devices);
}

bool is_empty(const ContainerEdits& edits) {
  return edits.env.empty() && edits.device_nodes.empty() && edits.hooks.empty() && edits.mounts.empty() &&
         edits.additional_gids.empty() && !edits.intel_rdt && edits.net_devices.empty();
}

Verdict check_device(const Device& device, const LevelRules& rules) {
  if (const std::string why = check_device_name(device.name); !why.empty()) {
    return refuse(ProblemClass::device_name, "device name " + quoted(device.name) + ": " + why, device.line);
  }
  if (is_empty(device.edits)) {
    return refuse(ProblemClass::empty_edits, "device " + quoted(device.name) + " changes nothing", device.line);
  }
  Verdict verdict = check_edits(device.edits, rules);
  if (verdict.problem) verdict.problem->message = "device " + quoted(device.name) + ": " + verdict.problem->message;
  return verdict;
}

}  // namespace

std::optional<std::string_view> minimum_version(const Spec& spec, std::string_view newest) {
  std::string_view minimum = "0.3.0";
  for (const Requirement& requirement : kRequirements) {
    // A library has no requirements of versions after it.
    if (rank_of(requirement.version) > rank_of(newest)) break;
    const Use use = requirement.uses(spec);
    if (use == Use::dies) return std::nullopt;
    if (use == Use::yes) minimum = requirement.version;
  }
  return minimum;
}

Verdict validate(const Spec& spec, Level level) {
  const LevelRules& rules = rules_of(level);
  if (Verdict verdict = check_version(spec, rules); !verdict.loads()) return verdict;
  const Kind kind = split_kind(spec.kind);
  if (Verdict verdict = check_kind_part(kind.vendor, ProblemClass::vendor, true, rules, spec.kind_line);
      !verdict.loads()) {
    return verdict;
  }
  if (Verdict verdict =
          check_kind_part(kind.class_name, ProblemClass::class_name, rules.dot_in_class, rules, spec.kind_line);
      !verdict.loads()) {
    return verdict;
  }
  // Annotations are never looked at, whatever the specification says.
  if (Verdict verdict = check_edits(spec.edits, rules); !verdict.loads()) return verdict;
  std::set<std::string_view> names;
  for (const Device& device : spec.devices) {
    if (Verdict verdict = check_device(device, rules); !verdict.loads()) return verdict;
    if (!names.insert(device.name).second) {
      return refuse(ProblemClass::duplicate_device, "device " + quoted(device.name) + " twice", device.line);
    }
  }
  if (rules.wants_devices && spec.devices.empty()) return refuse(ProblemClass::no_devices, "it has no devices", 0);
  return {};
}

Verdict validate_text(std::string_view text, Level level) {
  const auto spec = read_spec(text, level);
  if (!spec) return {.problem = spec.error()};
  return validate(*spec, level);
}

}  // namespace ctkit::cdi
