#include "engine/crio/start_checks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/crio/handlers.h"

namespace ctkit::engine::crio {

namespace {

/// Of the daemon under systemd.
constexpr std::array<std::string_view, 6> kPath = {
    "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};

constexpr std::string_view kSystemSlice = "system.slice";

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

bool is_log_level(std::string level) {
  for (char& c : level) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  constexpr std::array<std::string_view, 8> kLevels = {
      "panic", "fatal", "error", "warn", "warning", "info", "debug", "trace"};
  return std::ranges::find(kLevels, level) != kLevels.end();
}

/// All annotations that the daemon lets a handler allow are of its own names (pkg/annotations); an
/// entry is a prefix of one or begins with one. Which of them a release has is not recorded.
bool is_own_annotation(std::string_view annotation) {
  return annotation.contains("crio.io") || annotation.contains("cri-o") ||
         annotation.starts_with("io.containers.trace-syscall");
}

bool is_oci(std::string_view type) {
  return type.empty() || type == "oci";
}

Origin origin_of(const Table& table, std::string_view key, const Origin& otherwise) {
  const Value* value = find(table, key);
  return value && !value->origin.built_in() ? value->origin : otherwise;
}

class Checks {
 public:
  Checks(const Known& known, const EffectiveConfig& config, const FileReader& files)
      : known_(known), config_(config), files_(files), programs_(holds_programs(files)) {}

  std::vector<StartProblem> run() {
    check_log_level();
    default_ = default_handler(config_, known_);
    const Table* handlers = handlers_table(config_.config);
    check_default(handlers);
    if (!handlers) return std::move(problems_);
    for (const auto& [name, value] : *handlers) {
      if (value.table()) check_handler(name, value, *handlers);
    }
    return std::move(problems_);
  }

 private:
  void check_log_level() {
    const Table* runtime = runtime_table(config_.config);
    const std::string level = runtime ? text_of(*runtime, "log_level") : "";
    if (!runtime || is_log_level(level)) return;
    problems_.push_back({.fatal = true,
                         .message = "log_level " + quoted(level) + " is none, and CRI-O does not start",
                         .origin = origin_of(*runtime, "log_level", {}),
                         .hint = "one of fatal, panic, error, warn, info, debug, trace"});
  }

  void check_default(const Table* handlers) {
    if (runtime_text(config_.config, "default_runtime").empty()) return;  // the built-in one is then added
    if (handlers && find(*handlers, default_)) return;
    const Table* runtime = runtime_table(config_.config);
    std::string hint = "define [crio.runtime.runtimes." + quote_key(default_) + "], or name another default_runtime";
    if (known_.regime.drops_runc && default_ == "runc")
      hint =
          "an earlier file's default_runtime made this release forget runc; define it again in the "
          "last file";
    problems_.push_back(
        {.fatal = true,
         .handler = default_,
         .message = "default_runtime is " + quoted(default_) + ", which is no handler, and CRI-O does not start",
         .origin = runtime ? origin_of(*runtime, "default_runtime", {}) : Origin{},
         .hint = std::move(hint)});
  }

  void check_handler(const std::string& name, const Value& value, const Table& handlers) {
    const Table& own = *value.table();
    const Value* chosen = find(handlers, default_);
    const bool inherits = inherits_default(own) && chosen && chosen->table();
    const Table& started = inherits ? *chosen->table() : own;
    const std::string type = text_of(started, "runtime_type");
    if (!is_oci(type) && type != "vm" && type != "pod") {
      drop(name,
           "its runtime_type " + quoted(type) + " is none",
           origin_of(own, "runtime_type", value.origin),
           "oci, vm or pod; for NVIDIA's runtime oci",
           RuleId::handler_dropped);
      return;
    }
    if (!check_path(name, inherits ? default_ : name, own, started, value.origin) ||
        !check_annotations(name, own, value.origin) || !is_oci(type))
      return;
    check_cgroup(name, own, value.origin);
    check_monitor(name, own, value.origin);
  }

  /// Whether it stays.
  bool check_path(const std::string& name,
                  const std::string& program,
                  const Table& own,
                  const Table& started,
                  const Origin& origin) {
    if (!programs_) return true;
    const std::string path = text_of(started, "runtime_path");
    const RuleId rule = name == default_ ? RuleId::default_binary_missing : RuleId::handler_dropped;
    if (path.empty()) {
      if (in_path(files_, program)) return true;
      drop(name,
           "it has no runtime_path, and no program " + quoted(program) + " is in PATH",
           origin,
           "name the program's absolute path",
           rule);
      return false;
    }
    if (files_.exists(path.starts_with('/') ? path : "/" + path)) return true;
    drop(name,
         "its runtime_path " + quoted(path) + " does not exist",
         origin_of(own, "runtime_path", origin),
         "install the program first, or take the handler out",
         rule);
    return false;
  }

  /// Whether it stays.
  bool check_annotations(const std::string& name, const Table& own, const Origin& origin) {
    const Value* allowed = find(own, "allowed_annotations");
    if (!allowed || !allowed->array()) return true;
    for (const Value& item : *allowed->array()) {
      if (!item.string() || is_own_annotation(*item.string())) continue;
      drop(name,
           "CRI-O has no annotation " + quoted(*item.string()) + " to allow",
           item.origin.built_in() ? origin : item.origin,
           "allowed_annotations takes CRI-O's own annotations only",
           RuleId::handler_dropped);
      return false;
    }
    return true;
  }

  void check_cgroup(const std::string& name, const Table& own, const Origin& origin) {
    const std::string all = runtime_text(config_.config, "conmon_cgroup");
    const std::string cgroup = all.empty() ? text_of(own, "monitor_cgroup") : all;
    const bool systemd = runtime_text(config_.config, "cgroup_manager") != "cgroupfs";
    std::string wrong;
    if (systemd) {
      if (!cgroup.empty() && cgroup != "pod" && !cgroup.ends_with(".slice"))
        wrong = "must be 'pod' or a systemd slice, not " + quoted(cgroup);
    } else if (known_.regime.slices_for_cgroupfs ? cgroup != "pod"
                                                 : !cgroup.empty() && cgroup != "pod" && cgroup != kSystemSlice) {
      wrong = "must be 'pod' with the cgroup manager cgroupfs, not " +
              quoted(cgroup.empty() ? kSystemSlice : std::string_view(cgroup));
    }
    if (wrong.empty()) return;
    const Origin blamed = origin_of(own, "monitor_cgroup", origin);
    const Table* runtime = runtime_table(config_.config);
    problems_.push_back(
        {.rule = RuleId::monitor_cgroup,
         .fatal = true,
         .handler = name,
         .message = "monitor_cgroup of handler " + quoted(name) + " " + wrong + "; CRI-O does not start",
         .origin = blamed.built_in() ? origin_of(*runtime, "cgroup_manager", blamed) : blamed,
         .hint = systemd ? "write monitor_cgroup = \"system.slice\"" : "write monitor_cgroup = \"pod\""});
  }

  void check_monitor(const std::string& name, const Table& own, const Origin& origin) {
    if (!programs_) return;
    const std::string all = runtime_text(config_.config, "conmon");
    const std::string path = all.empty() ? text_of(own, "monitor_path") : all;
    std::string wrong;
    if (path.empty()) {
      if (in_path(files_, "conmon")) return;
      wrong = "has no monitor_path, and no 'conmon' is in PATH";
    } else {
      if (files_.exists(path.starts_with('/') ? path : "/" + path)) return;
      wrong = "has the monitor_path " + quoted(path) + ", which does not exist";
    }
    problems_.push_back({.rule = RuleId::no_monitor,
                         .fatal = true,
                         .handler = name,
                         .message = "handler " + quoted(name) + " " + wrong + "; CRI-O does not start",
                         .origin = origin_of(own, "monitor_path", origin),
                         .hint = "give it the monitor_path of the other handlers"});
  }

  void drop(const std::string& name, const std::string& why, Origin origin, std::string hint, RuleId rule) {
    const bool fatal = name == default_;
    problems_.push_back(
        {.rule = fatal && rule == RuleId::handler_dropped ? RuleId::daemon_refuses : rule,
         .fatal = fatal,
         .handler = name,
         .message = fatal ? "default handler " + quoted(name) + " cannot be used: " + why + "; CRI-O does not start"
                          : "handler " + quoted(name) + " is left out, with a warning in the log only: " + why,
         .origin = std::move(origin),
         .hint = std::move(hint)});
  }

  const Known& known_;
  const EffectiveConfig& config_;
  const FileReader& files_;
  bool programs_;
  std::string default_ = {};
  std::vector<StartProblem> problems_ = {};
};

}  // namespace

std::vector<StartProblem> start_problems(const Known& known, const EffectiveConfig& config, const FileReader& files) {
  return Checks(known, config, files).run();
}

bool holds_programs(const FileReader& files) {
  return std::ranges::any_of(kPath, [&](std::string_view folder) {
    const auto names = files.list(folder);
    return names && !names->empty();
  });
}

bool in_path(const FileReader& files, const std::string& name) {
  return !name.empty() && std::ranges::any_of(kPath, [&](std::string_view folder) {
    return files.exists(std::string(folder) + "/" + name);
  });
}

}  // namespace ctkit::engine::crio
