#include "engine/finding.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

#include "engine/letter_case.h"

namespace ctkit::engine {

namespace {

using enum RuleId;
using enum Severity;

constexpr auto kRules = std::to_array({
    Rule{erases_others,
         "CTK001",
         "erases-others",
         error,
         "A file's plugin table replaces the one that other files filled, and their settings are "
         "lost"},
    Rule{no_runc,
         "CTK002",
         "no-runc",
         error,
         "Handlers are defined without runc, and containerd 1.x then has no runc at all"},
    Rule{version_above_root,
         "CTK003",
         "version-above-root",
         error,
         "A file's version is above that of the top-level config"},
    Rule{both_plugin_ids,
         "CTK004",
         "both-plugin-ids",
         warning,
         "The CRI settings stand under the old plugin id and under the new ones"},
    Rule{missing_import,
         "CTK005",
         "missing-import",
         error,
         "An import names a file that does not exist, and the daemon refuses to start"},
    Rule{not_imported, "CTK006", "not-imported", warning, "A file lies in conf.d, and nothing imports that folder"},
    Rule{dormant_file,
         "CTK007",
         "dormant-file",
         warning,
         "A file that is not read would be, and change things, once conf.d/*.toml is imported"},
    Rule{two_spellings,
         "CTK008",
         "two-spellings",
         warning,
         "One option is set under two spellings, and which one counts is not obvious"},
    Rule{
        missing_binary, "CTK009", "missing-binary", warning, "A handler's binary does not exist or cannot be executed"},
    Rule{cri_dead, "CTK010", "cri-dead", error, "The daemon starts, but Kubernetes finds no runtime there"},
    Rule{ignored_registry,
         "CTK011",
         "ignored-registry",
         error,
         "Registry settings stand where containerd 2.x does not read them"},
    Rule{cdi_off, "CTK012", "cdi-off", warning, "CDI is in use, but the daemon does not inject CDI devices"},
    Rule{stray_file,
         "CTK013",
         "stray-file",
         warning,
         "A backup, temporary or editor's file is read along with the others"},
    Rule{readable_secret,
         "CTK014",
         "readable-secret",
         warning,
         "A file with credentials can be read by every user of the node"},
    Rule{unread_key, "CTK015", "unread-key", warning, "Nothing in this release reads the key"},
    Rule{bad_duration, "CTK016", "bad-duration", error, "A duration or timeout is none"},
    Rule{frozen_copy, "CTK017", "frozen-copy", warning, "A drop-in repeats the whole CRI configuration and freezes it"},
    Rule{default_binary_missing,
         "CTK018",
         "default-binary-missing",
         error,
         "The default runtime's binary is missing: no pod starts, those that would repair it "
         "included"},
    Rule{nested_plugin_id,
         "CTK019",
         "nested-plugin-id",
         error,
         "A plugin id without quotes makes nested tables that no plugin reads"},
    Rule{daemon_refuses, "CTK020", "daemon-refuses", error, "The daemon refuses this configuration"},
    Rule{untyped_handler,
         "CTK021",
         "untyped-handler",
         error,
         "A handler has no runtime_type, and its pods fail to start"},
    Rule{other_plugin_id,
         "CTK022",
         "other-plugin-id",
         error,
         "Settings stand under a plugin id that this release does not read"},
    Rule{cgroup_driver_differs,
         "CTK023",
         "cgroup-driver-differs",
         warning,
         "A handler uses another cgroup driver than runc"},
    Rule{lost_in_migration,
         "CTK024",
         "lost-in-migration",
         warning,
         "The daemon's own migration drops a setting without a word"},
    Rule{handler_replaced,
         "CTK025",
         "handler-replaced",
         warning,
         "A file names a handler again, and what others set for it is lost"},
    Rule{
        no_monitor, "CTK026", "no-monitor", error, "A handler's monitor is not there, and the daemon refuses to start"},
    Rule{handler_dropped,
         "CTK027",
         "handler-dropped",
         warning,
         "The daemon leaves a handler out with nothing but a line in its log"},
    Rule{inherits_default,
         "CTK028",
         "inherits-default",
         warning,
         "A handler inherits the default runtime, and its own binary is never started"},
    Rule{monitor_cgroup,
         "CTK029",
         "monitor-cgroup",
         error,
         "The cgroup for a handler's monitor does not fit the cgroup manager, and the daemon refuses "
         "to start"},
    Rule{cdi_deadly_spec,
         "CTK030",
         "cdi-deadly-spec",
         error,
         "The daemon's CDI library dies of a file in a spec folder, or waits for it for ever"},
    Rule{cdi_refused_spec,
         "CTK031",
         "cdi-refused-spec",
         error,
         "The daemon's CDI library refuses a spec, and its devices can't be had"},
    Rule{cdi_device_twice,
         "CTK032",
         "cdi-device-twice",
         error,
         "Two specs of one folder have the same CDI device, and nobody gets it"},
    Rule{cdi_stale_spec, "CTK033", "cdi-stale-spec", error, "A CDI spec is of a driver that is no longer there"},
    Rule{cdi_management_twice,
         "CTK034",
         "cdi-management-twice",
         warning,
         "The CDI spec for managing GPUs is in two folders, and only one of them counts"},
    Rule{cdi_missing_hook,
         "CTK035",
         "cdi-missing-hook",
         error,
         "A hook of a CDI spec starts a program that is not there, and containers fail"},
});

/// Takes `:NUMBER` off the end.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + colon + 1, end, number);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  text = text.substr(0, colon);
  return number;
}

}  // namespace

std::span<const Rule> lint_rules() {
  return kRules;
}

const Rule& rule_of(RuleId number) {
  return kRules.at(static_cast<std::size_t>(number) - 1);
}

Origin parse_place(std::string_view where) {
  Origin origin;
  if (where.empty()) return origin;
  const auto last = take_number(where);
  const auto first = last ? take_number(where) : std::nullopt;
  origin.line = first.value_or(last.value_or(0));
  origin.column = first ? *last : 0;
  origin.file = std::make_shared<const std::string>(where);
  return origin;
}

Place place_of(const Origin& origin) {
  return {origin.file ? *origin.file : std::string(), origin.line, origin.column};
}

void sort_by_place(std::vector<Finding>& findings) {
  std::ranges::stable_sort(findings, {}, [](const Finding& finding) {
    const auto [file, line, column] = place_of(finding.origin);
    return std::tuple(file, line, finding.rule, column);
  });
}

bool is_stray(std::string_view path) {
  constexpr std::array<std::string_view, 17> kEndings = {"~",
                                                         ".swp",
                                                         ".swo",
                                                         ".bak",
                                                         ".backup",
                                                         ".old",
                                                         ".orig",
                                                         ".save",
                                                         ".tmp",
                                                         ".temp",
                                                         ".rpmsave",
                                                         ".rpmnew",
                                                         ".rpmorig",
                                                         ".dpkg-old",
                                                         ".dpkg-new",
                                                         ".dpkg-dist",
                                                         ".disabled"};
  std::string name = lower(path.substr(path.rfind('/') + 1));
  if (name.starts_with('.') || (name.starts_with('#') && name.ends_with('#'))) return true;
  if (name.ends_with(".toml")) name.resize(name.size() - 5);
  return std::ranges::any_of(kEndings, [&](std::string_view end) { return name.ends_with(end); });
}

}  // namespace ctkit::engine
