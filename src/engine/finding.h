#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/diagnostic.h"
#include "engine/origin.h"

namespace ctkit::engine {

/// A kind of problem in the files of a node. The number is part of its public id and keeps its
/// meaning for ever.
enum class RuleId {
  erases_others = 1,
  no_runc,
  version_above_root,
  both_plugin_ids,
  missing_import,
  not_imported,
  dormant_file,
  two_spellings,
  missing_binary,
  cri_dead,
  ignored_registry,
  cdi_off,
  stray_file,
  readable_secret,
  unread_key,
  bad_duration,
  frozen_copy,
  default_binary_missing,
  nested_plugin_id,
  daemon_refuses,
  untyped_handler,
  other_plugin_id,
  cgroup_driver_differs,
  lost_in_migration,
  handler_replaced,
  no_monitor,
  handler_dropped,
  inherits_default,
  monitor_cgroup,
  cdi_deadly_spec,
  cdi_refused_spec,
  cdi_device_twice,
  cdi_stale_spec,
  cdi_management_twice,
  cdi_missing_hook,
};

/// What is said about a rule everywhere it shows up.
struct Rule {
  RuleId number = RuleId::erases_others;
  std::string_view id = {};               ///< "CTK001"
  std::string_view name = {};             ///< "erases-others"
  Severity severity = Severity::warning;  ///< the usual one
  std::string_view summary = {};          ///< one sentence
};

/// All rules, by number.
std::span<const Rule> lint_rules();

const Rule& rule_of(RuleId number);

/// One problem in somebody's files.
struct Finding {
  RuleId rule = RuleId::erases_others;
  Severity severity = Severity::warning;
  std::string message = {};
  Origin origin = {};  ///< line 0: the file as a whole; built-in: no file is to blame
  std::string hint = {};

  bool operator==(const Finding&) const = default;
};

/// A place that can be looked up.
using Place = std::tuple<std::string, std::uint32_t, std::uint32_t>;
Place place_of(const Origin& origin);

/// By file, line, rule and column.
void sort_by_place(std::vector<Finding>& findings);

/// Whether the name of the file, `.toml` at its end left aside, is one that editors, package managers and people leave
/// behind.
bool is_stray(std::string_view path);

/// Permission bits by path, links followed. No entry: not known; nothing: there is no such file.
using FileModes = std::map<std::string, std::optional<unsigned>, std::less<>>;

/// A place as errors name it, `file`, `file:line` or `file:line:column`, as an origin.
Origin parse_place(std::string_view where);

}  // namespace ctkit::engine
