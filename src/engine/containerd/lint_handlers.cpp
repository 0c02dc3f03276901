#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "engine/containerd/go_path.h"
#include "engine/containerd/handlers.h"
#include "engine/containerd/lint_parts.h"

namespace ctkit::engine::containerd {

namespace {

/// A tree that holds programs: a recorded one holds configuration only, and says nothing about what
/// is missing.
bool holds_binaries(const LintView& view) {
  constexpr std::array<std::string_view, 6> kFolders = {
      "/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/local/sbin"};
  return std::ranges::any_of(kFolders, [&](std::string_view folder) {
    const auto names = view.files.list(folder);
    return names && !names->empty();
  });
}

const Table* runtimes_of(const LintView& view) {
  const Table* containerd = containerd_table(*view.effective, view.regime());
  const Value* runtimes = containerd ? find(*containerd, "runtimes") : nullptr;
  return runtimes ? runtimes->table() : nullptr;
}

/// What is wrong with a handler's program; empty: nothing that can be seen from here.
std::string fault_of(const LintView& view, const std::string& binary) {
  constexpr unsigned kAnyExecutes = 0111;
  const auto mode = view.modes.find(binary);
  if (!is_absolute(binary) || mode == view.modes.end()) return "";
  if (!mode->second) return holds_binaries(view) ? "does not exist" : "";
  return (*mode->second & kAnyExecutes) == 0 ? "is not executable" : "";
}

void lint_binaries(LintView& view) {
  for (const Handler& handler : effective_handlers(*view.effective, view.regime())) {
    const std::string fault = fault_of(view, handler.binary);
    if (fault.empty()) continue;
    if (handler.is_default) {
      view.add(RuleId::default_binary_missing,
               handler.origin,
               fmt::format("'{}', the binary of the default runtime '{}', {}: no pod starts on this "
                           "node, those that would install it included",
                           handler.binary,
                           handler.name,
                           fault),
               "make runc the default runtime, and let pods name this one by a RuntimeClass");
    } else {
      view.add(RuleId::missing_binary,
               handler.origin,
               fmt::format(
                   "'{}', the binary of handler '{}', {}: its pods fail to start", handler.binary, handler.name, fault),
               "install it before the handler, or take the handler out");
    }
  }
}

void lint_runc(LintView& view, const Table& runtimes) {
  const Table* containerd = containerd_table(*view.effective, view.regime());
  const Value* where = find(*containerd, "runtimes");
  if (!view.one() || find(runtimes, "runc") || runtimes.empty() || where->origin.built_in()) return;
  const std::string chosen = default_handler(*view.effective, view.regime());
  if (!find(runtimes, chosen) && chosen != "runc") return;  // CTK010 says it
  const std::string hint =
      "write runtimes.runc with its runtime_type and options here too; 1.x builds the table anew, "
      "the built-in entry is gone";
  if (find(runtimes, chosen)) {
    view.add(RuleId::no_runc,
             Severity::note,
             where->origin,
             fmt::format("the handlers here are all there are: runc is not one of them; '{}' is the "
                         "default runtime",
                         chosen),
             hint);
    return;
  }
  for (const std::string& reason : view.effective->not_serving) {
    if (reason.contains("default runtime 'runc'")) view.explained.insert(reason);
  }
  view.add(RuleId::no_runc,
           where->origin,
           "the handlers here are all there are, and runc, the default runtime, is not one of them: "
           "the CRI plugin does not load",
           hint);
}

void lint_types(LintView& view, const Table& runtimes) {
  for (const auto& [name, handler] : runtimes) {
    if (!handler.table() || handler.origin.built_in()) continue;
    const Value* type = find(*handler.table(), "runtime_type");
    if (type && type->string() && !type->string()->empty()) continue;
    view.add(RuleId::untyped_handler,
             handler.origin,
             fmt::format("handler '{}' has no runtime_type: its pods fail with \"container.Runtime.Name "
                         "must be set\"",
                         name),
             "write runtime_type = \"io.containerd.runc.v2\"; an entry of a file starts empty");
  }
}

/// SystemdCgroup of a handler, and who says so.
struct CgroupDriver {
  bool systemd = false;
  Origin origin = {};
};

CgroupDriver cgroup_driver(const Value& handler) {
  CgroupDriver driver{.origin = handler.origin};
  const Value* options = find(*handler.table(), "options");
  if (!options || !options->table()) return driver;
  for (const auto& [key, value] : *options->table()) {
    constexpr std::string_view kName = "ystemdCgroup";
    if (key.size() != kName.size() + 1 || key.substr(1) != kName || !value.boolean()) continue;
    driver.systemd = *value.boolean();
    if (!value.origin.built_in()) driver.origin = value.origin;
  }
  return driver;
}

void lint_cgroups(LintView& view, const Table& runtimes) {
  const Value* runc = find(runtimes, "runc");
  if (!runc || !runc->table() || !is_runc_type(*runc->table())) return;
  const CgroupDriver expected = cgroup_driver(*runc);
  for (const auto& [name, handler] : runtimes) {
    if (name == "runc" || !handler.table() || !is_runc_type(*handler.table())) continue;
    const CgroupDriver driver = cgroup_driver(handler);
    if (driver.systemd == expected.systemd || driver.origin.built_in()) continue;
    view.add(RuleId::cgroup_driver_differs,
             driver.origin,
             fmt::format("handler '{}' has SystemdCgroup = {}, and runc {} ({}): the kubelet uses one "
                         "driver for all pods, those of the other die after seconds",
                         name,
                         driver.systemd,
                         expected.systemd,
                         expected.origin.to_string()),
             fmt::format("write SystemdCgroup = {} into the handler's options", expected.systemd));
  }
}

/// The place in brackets, or at the end, of a reason.
Origin place_in(const LintView& view, std::string_view reason) {
  Origin found;
  std::size_t first = std::string_view::npos;
  for (const Layer& layer : view.layers) {
    const std::string start = layer.path + ":";
    const std::size_t begin = reason.find(start);
    if (begin == std::string_view::npos || begin >= first) continue;
    std::size_t end = begin + start.size();
    while (end < reason.size() && reason[end] >= '0' && reason[end] <= '9')
      ++end;
    first = begin;
    found = parse_place(reason.substr(begin, end - begin));
  }
  return found;
}

bool is_timeout(const LintView& view, const Origin& origin) {
  const Value* timeouts = find(view.effective->config, "timeouts");
  return timeouts && timeouts->table() && std::ranges::any_of(*timeouts->table(), [&](const auto& entry) {
           return !entry.second.origin.built_in() && entry.second.origin == origin;
         });
}

/// The first CDI specification of a folder that the daemon looks into.
std::optional<std::string> cdi_spec(const LintView& view, const Value* folders) {
  std::vector<std::string> places = {"/etc/cdi", "/var/run/cdi"};
  if (folders && folders->array()) {
    places.clear();
    for (const Value& folder : *folders->array()) {
      if (folder.string()) places.push_back(*folder.string());
    }
  }
  for (const std::string& place : places) {
    const auto names = view.files.list(place);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (name.ends_with(".json") || name.ends_with(".yaml")) return join(place, name);
    }
  }
  return std::nullopt;
}

std::optional<Handler> cdi_handler(const LintView& view) {
  for (Handler& handler : effective_handlers(*view.effective, view.regime())) {
    if (handler.binary.ends_with("nvidia-container-runtime.cdi")) return std::move(handler);
  }
  return std::nullopt;
}

}  // namespace

void lint_handlers(LintView& view) {
  if (const Table* runtimes = runtimes_of(view)) {
    lint_runc(view, *runtimes);
    lint_types(view, *runtimes);
    lint_cgroups(view, *runtimes);
  }
  lint_binaries(view);
}

void lint_service(LintView& view) {
  const Table* containerd = containerd_table(*view.effective, view.regime());
  const Value* chosen = containerd ? find(*containerd, "default_runtime_name") : nullptr;
  for (const std::string& reason : view.effective->not_serving) {
    if (view.explained.contains(reason)) continue;
    Origin place = place_in(view, reason);
    if (place.built_in() && chosen) place = chosen->origin;
    view.add(RuleId::cri_dead,
             place,
             "the daemon starts, but its CRI plugin does not serve: " + reason,
             "the node stays NotReady until this is mended");
  }
  for (const Diagnostic& diagnostic : view.effective->diagnostics) {
    if (diagnostic.severity != Severity::error || is_timeout(view, diagnostic.origin)) continue;
    view.add(RuleId::cri_dead, diagnostic.origin, diagnostic.message, diagnostic.hint);
  }
}

void lint_cdi(LintView& view) {
  const std::string_view id = runtimes_section(view.regime());
  const KeyPath section{{"plugins", std::string(id)}};
  if (!value_at(view.effective->config, section)) return;
  const Value* on = value_at(view.effective->config, section.child("enable_cdi"));
  if (on && on->boolean() && *on->boolean()) return;
  if (!on && !view.one()) return;
  const auto spec = cdi_spec(view, value_at(view.effective->config, section.child("cdi_spec_dirs")));
  if (!on) {
    // 1.5 and 1.6 have no such key and say nothing of it.
    for (const Event& event : view.effective->events) {
      if (event.kind != Event::Kind::unread || event.key.parts.back() != "enable_cdi") continue;
      view.add(RuleId::cdi_off,
               event.value.origin,
               view.release() + " has no CDI: enable_cdi is without effect before 1.7",
               "upgrade to 1.7.12 or later, or use a runtime handler instead of CDI");
      return;
    }
  }
  const auto handler = cdi_handler(view);
  if (!spec && !handler) return;
  Origin place = on && !on->origin.built_in() ? on->origin : handler ? handler->origin : Origin{};
  if (place.built_in()) place = parse_place(*spec);
  const std::string why =
      on ? fmt::format("enable_cdi is {}off in {}", on->origin.built_in() ? "by default " : "", view.release())
         : view.release() + " has no CDI";
  view.add(RuleId::cdi_off,
           spec ? Severity::warning : Severity::note,
           place,
           spec ? fmt::format("'{}' describes CDI devices, but {}: pods that ask for them get none or fail", *spec, why)
                : fmt::format("handler '{}' is there, but {}: CDI devices that a device plugin names in "
                              "the CRI request are not injected",
                              handler->name,
                              why),
           on ? fmt::format("enable_cdi = true in [plugins.\"{}\"]", id) : "containerd 1.7 and later have it");
}

}  // namespace ctkit::engine::containerd
