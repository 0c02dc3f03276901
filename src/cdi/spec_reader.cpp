#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cdi/spec_fields.h"
#include "cdi/spec_io.h"
#include "cdi/yaml_resolve.h"
#include "cdi/yaml_value.h"

namespace ctkit::cdi {

namespace {

constexpr std::size_t kDeepestJson = 10000;  // encoding/json's own limit
constexpr double kFirstWithExponent = 1e21;  // from here on json.Marshal writes 1e+21

using Id = std::uint32_t;

/// The key that json gets for a YAML key; nothing for what sigs.k8s.io/yaml refuses.
std::optional<std::string> key_text(const YamlValue& key) {
  switch (key.kind) {
    case YamlKind::text:
      return key.text;
    case YamlKind::integer:
      return std::to_string(key.integer);
    case YamlKind::boolean:
      return key.boolean ? "true" : "false";
    case YamlKind::floating: {
      std::string text = format_single(key.floating);
      if (text == "NaN") return ".nan";
      if (text.ends_with("Inf")) return text.starts_with('-') ? "-.inf" : ".inf";
      return text;
    }
    case YamlKind::null:
    case YamlKind::unsigned_integer:
    case YamlKind::list:
    case YamlKind::map:
      break;
  }
  return std::nullopt;
}

/// A scalar where a string is wanted.
std::string text_of(const YamlValue& value) {
  switch (value.kind) {
    case YamlKind::text:
      return value.text;
    case YamlKind::boolean:
      return value.boolean ? "true" : "false";
    case YamlKind::integer:
      return std::to_string(value.integer);
    case YamlKind::unsigned_integer:
      return std::to_string(value.unsigned_integer);
    case YamlKind::floating:
      return format_single(value.floating);
    case YamlKind::null:
    case YamlKind::list:
    case YamlKind::map:
      break;
  }
  return "";
}

/// The integer that json reads from what json wrote for the number.
std::optional<std::int64_t> integer_of(const YamlValue& value) {
  if (value.kind == YamlKind::integer) return value.integer;
  if (value.kind != YamlKind::floating) return std::nullopt;
  const double number = value.floating;
  if (std::trunc(number) != number || std::abs(number) >= kFirstWithExponent) return std::nullopt;
  constexpr double kPast = 9223372036854775808.0;
  if (number < -kPast || number >= kPast) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<std::uint32_t> uint32_of(const YamlValue& value) {
  const auto number = integer_of(value);
  if (!number || *number < 0 || *number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  if (value.kind == YamlKind::floating && std::signbit(value.floating)) return std::nullopt;  // "-0"
  return static_cast<std::uint32_t>(*number);
}

bool is_scalar(const YamlValue& value) {
  return value.kind != YamlKind::list && value.kind != YamlKind::map;
}

std::string_view json_name(const YamlValue& value) {
  switch (value.kind) {
    case YamlKind::list:
      return "array";
    case YamlKind::map:
      return "object";
    case YamlKind::text:
      return "string";
    case YamlKind::boolean:
      return "bool";
    case YamlKind::null:
      return "null";
    case YamlKind::integer:
    case YamlKind::unsigned_integer:
    case YamlKind::floating:
      break;
  }
  return "number";
}

/// A map's keys as json has them: sorted, each once.
using Entries = std::map<std::string, Id>;

class Reader {
 public:
  Reader(const YamlTree& tree, Level level) : tree_(tree), level_(level) {}

  std::expected<Spec, Problem> run() {
    check_convertible();
    if (problem_) return std::unexpected(*problem_);
    const YamlValue& root = tree_.at(tree_.root);
    if (root.kind == YamlKind::null) {
      return std::unexpected(Problem{.problem = ProblemClass::empty, .message = "no spec data"});
    }
    check(tree_.root, FieldType::spec, "");
    if (problem_) return std::unexpected(*problem_);
    return make_spec(tree_.root);
  }

 private:
  void note(ProblemClass problem, std::string message, int line) {
    if (!problem_) problem_ = Problem{.problem = problem, .message = std::move(message), .line = line};
  }

  // The way from YAML to JSON text fails on keys that are no strings and numbers that JSON lacks,
  // wherever they are.
  void check_convertible() {
    struct Visit {
      Id id = 0;
      std::optional<FieldType> type = {};
      std::size_t depth = 0;
    };
    std::vector<Visit> visits = {{.id = tree_.root, .type = FieldType::spec}};
    while (!visits.empty()) {
      const Visit visit = visits.back();
      visits.pop_back();
      const YamlValue& value = tree_.at(visit.id);
      if (visit.depth > kDeepestJson) return note(ProblemClass::syntax, "exceeded max depth", value.line);
      if (value.kind == YamlKind::floating && visit.type != FieldType::text && !std::isfinite(value.floating)) {
        return note(ProblemClass::syntax, "JSON has no such number", value.line);
      }
      for (const Id item : value.items) {
        std::optional<FieldType> type;
        if (visit.type && element_of(*visit.type) != *visit.type) type = element_of(*visit.type);
        visits.push_back({.id = item, .type = type, .depth = visit.depth + 1});
      }
      for (const auto& [key_id, entry] : value.entries) {
        const auto key = key_text(tree_.at(key_id));
        if (!key) return note(ProblemClass::syntax, "unsupported map key", tree_.at(key_id).line);
        std::optional<FieldType> type;
        if (visit.type == FieldType::dictionary) {
          type = FieldType::text;
        } else if (visit.type && is_object(*visit.type)) {
          if (const Field* field = find_field(*visit.type, *key, level_)) type = field->type;
        }
        visits.push_back({.id = entry, .type = type, .depth = visit.depth + 1});
      }
    }
  }

  Entries entries_of(Id id) const {
    Entries entries;
    for (const auto& [key, value] : tree_.at(id).entries)
      entries[key_text(tree_.at(key)).value_or("")] = value;
    return entries;
  }

  void note_type(const YamlValue& value, FieldType type, std::string_view path) {
    note(ProblemClass::type,
         "cannot take " + std::string(json_name(value)) + (path.empty() ? "" : " for '" + std::string(path) + "'") +
             ", which is " + std::string(go_name(type)),
         value.line);
  }

  // What encoding/json says, in its order: keys sorted, the first problem counts. Bounded: only
  // known keys are followed.
  void check(Id id, FieldType type, const std::string& path) {
    const YamlValue& value = tree_.at(id);
    if (value.kind == YamlKind::null || problem_) return;
    if (is_object(type)) return check_object(id, type, path);
    if (type == FieldType::dictionary) {
      if (value.kind != YamlKind::map) return note_type(value, type, path);
      for (const auto& [key, entry] : entries_of(id))
        check(entry, FieldType::text, path + "." + key);
      return;
    }
    if (const FieldType element = element_of(type); element != type) {
      if (value.kind != YamlKind::list) return note_type(value, type, path);
      for (const Id item : value.items)
        check(item, element, path);
      return;
    }
    const bool fits = type == FieldType::text      ? is_scalar(value)
                      : type == FieldType::boolean ? value.kind == YamlKind::boolean
                      : type == FieldType::int64   ? integer_of(value).has_value()
                                                   : uint32_of(value).has_value();
    if (!fits) note_type(value, type, path);
  }

  void check_object(Id id, FieldType type, const std::string& path) {
    const YamlValue& value = tree_.at(id);
    if (value.kind != YamlKind::map) return note_type(value, type, path);
    for (const auto& [key, entry] : entries_of(id)) {
      const Field* field = find_field(type, key, level_);
      if (field == nullptr) {
        return note(ProblemClass::unknown_key,
                    "unknown field '" + key + "'" + (path.empty() ? "" : " in '" + path + "'"),
                    line_of_key(id, key));
      }
      check(entry, field->type, path.empty() ? key : path + "." + key);
      if (problem_) return;
    }
  }

  int line_of_key(Id id, const std::string& key) const {
    for (const auto& [name, value] : tree_.at(id).entries) {
      if (key_text(tree_.at(name)) == key) return tree_.at(name).line;
    }
    return tree_.at(id).line;
  }

  // Of keys that differ in case the last one in sorted order that is not null.
  std::optional<Id> find(Id id, FieldType owner, std::string_view name) const {
    std::optional<Id> found;
    for (const auto& [key, entry] : entries_of(id)) {
      const Field* field = find_field(owner, key, level_);
      if (field != nullptr && field->name == name && tree_.at(entry).kind != YamlKind::null) found = entry;
    }
    return found;
  }

  std::string text_in(Id id, FieldType owner, std::string_view name) const {
    const auto value = find(id, owner, name);
    return value ? text_of(tree_.at(*value)) : "";
  }

  std::vector<std::string> texts_in(Id id, FieldType owner, std::string_view name) const {
    std::vector<std::string> list;
    if (const auto value = find(id, owner, name)) {
      for (const Id item : tree_.at(*value).items)
        list.push_back(text_of(tree_.at(item)));
    }
    return list;
  }

  std::int64_t number(Id id, FieldType owner, std::string_view name) const {
    const auto value = find(id, owner, name);
    return value ? integer_of(tree_.at(*value)).value_or(0) : 0;
  }

  std::optional<std::uint32_t> small_number(Id id, FieldType owner, std::string_view name) const {
    const auto value = find(id, owner, name);
    return value ? uint32_of(tree_.at(*value)) : std::nullopt;
  }

  bool flag(Id id, std::string_view name) const {
    const auto value = find(id, FieldType::rdt, name);
    return value && tree_.at(*value).boolean;
  }

  std::map<std::string, std::string> dictionary_in(Id id, FieldType owner) const {
    std::map<std::string, std::string> all;
    if (const auto value = find(id, owner, "annotations")) {
      for (const auto& [key, entry] : entries_of(*value))
        all[key] = text_of(tree_.at(entry));
    }
    return all;
  }

  template <typename T, typename Make>
  std::vector<T> list(Id id, FieldType owner, std::string_view name, Make make) const {
    std::vector<T> all;
    if (const auto value = find(id, owner, name)) {
      for (const Id item : tree_.at(*value).items) {
        T one = make(item);
        one.line = tree_.at(item).line;
        all.push_back(std::move(one));
      }
    }
    return all;
  }

  bool is_null(Id id) const { return tree_.at(id).kind == YamlKind::null; }

  DeviceNode make_node(Id id) const {
    using enum FieldType;
    return {.path = text_in(id, node, "path"),
            .host_path = text_in(id, node, "hostPath"),
            .type = text_in(id, node, "type"),
            .major = number(id, node, "major"),
            .minor = number(id, node, "minor"),
            .file_mode = small_number(id, node, "fileMode"),
            .permissions = text_in(id, node, "permissions"),
            .uid = small_number(id, node, "uid"),
            .gid = small_number(id, node, "gid"),
            .null = is_null(id)};
  }

  Mount make_mount(Id id) const {
    using enum FieldType;
    return {.host_path = text_in(id, mount, "hostPath"),
            .container_path = text_in(id, mount, "containerPath"),
            .options = texts_in(id, mount, "options"),
            .type = text_in(id, mount, "type"),
            .null = is_null(id)};
  }

  Hook make_hook(Id id) const {
    using enum FieldType;
    Hook made{.name = text_in(id, hook, "hookName"),
              .path = text_in(id, hook, "path"),
              .args = texts_in(id, hook, "args"),
              .env = texts_in(id, hook, "env"),
              .null = is_null(id)};
    if (const auto value = find(id, hook, "timeout")) made.timeout = integer_of(tree_.at(*value));
    return made;
  }

  NetDevice make_net_device(Id id) const {
    using enum FieldType;
    return {.host_interface_name = text_in(id, net_device, "hostInterfaceName"),
            .name = text_in(id, net_device, "name"),
            .null = is_null(id)};
  }

  IntelRdt make_rdt(Id id) const {
    using enum FieldType;
    return {.clos_id = text_in(id, rdt, "closID"),
            .l3_cache_schema = text_in(id, rdt, "l3CacheSchema"),
            .mem_bw_schema = text_in(id, rdt, "memBwSchema"),
            .schemata = texts_in(id, rdt, "schemata"),
            .enable_cmt = flag(id, "enableCMT"),
            .enable_mbm = flag(id, "enableMBM"),
            .enable_monitoring = flag(id, "enableMonitoring"),
            .line = tree_.at(id).line};
  }

  ContainerEdits make_edits(Id owner_id, FieldType owner) const {
    using enum FieldType;
    const auto id = find(owner_id, owner, "containerEdits");
    if (!id) return {.line = tree_.at(owner_id).line};
    ContainerEdits made{
        .env = texts_in(*id, edits, "env"),
        .device_nodes = list<DeviceNode>(*id, edits, "deviceNodes", [this](Id item) { return make_node(item); }),
        .hooks = list<Hook>(*id, edits, "hooks", [this](Id item) { return make_hook(item); }),
        .mounts = list<Mount>(*id, edits, "mounts", [this](Id item) { return make_mount(item); }),
        .net_devices = list<NetDevice>(*id, edits, "netDevices", [this](Id item) { return make_net_device(item); }),
        .line = tree_.at(*id).line};
    if (const auto value = find(*id, edits, "intelRdt")) made.intel_rdt = make_rdt(*value);
    if (const auto value = find(*id, edits, "additionalGids")) {
      for (const Id item : tree_.at(*value).items)
        made.additional_gids.push_back(uint32_of(tree_.at(item)).value_or(0));
    }
    return made;
  }

  Device make_device(Id id) const {
    using enum FieldType;
    return {
        .name = text_in(id, device, "name"), .annotations = dictionary_in(id, device), .edits = make_edits(id, device)};
  }

  Spec make_spec(Id id) const {
    using enum FieldType;
    Spec made{.version = text_in(id, spec, "cdiVersion"),
              .kind = text_in(id, spec, "kind"),
              .annotations = dictionary_in(id, spec),
              .devices = list<Device>(id, spec, "devices", [this](Id item) { return make_device(item); }),
              .edits = make_edits(id, spec)};
    if (const auto value = find(id, spec, "cdiVersion")) made.version_line = tree_.at(*value).line;
    if (const auto value = find(id, spec, "kind")) made.kind_line = tree_.at(*value).line;
    return made;
  }

  const YamlTree& tree_;
  Level level_;
  std::optional<Problem> problem_ = {};
};

}  // namespace

std::expected<Spec, Problem> read_spec(std::string_view text, Level level) {
  const auto tree = read_yaml_value(text);
  if (!tree) {
    const YamlFailure& failure = tree.error();
    return std::unexpected(
        Problem{.problem = failure.problem == YamlProblem::syntax ? ProblemClass::syntax : ProblemClass::duplicate_key,
                .message = failure.message,
                .line = failure.line});
  }
  return Reader(*tree, level).run();
}

}  // namespace ctkit::cdi
