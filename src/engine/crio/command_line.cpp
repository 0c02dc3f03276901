#include "engine/crio/command_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/crio/schema.h"
#include "engine/go_duration.h"

namespace ctkit::engine::crio {

namespace {

/// A flag and what it is called elsewhere.
using OtherName = std::pair<std::string_view, std::string_view>;

/// Flags that are not named like their key.
constexpr std::array<OtherName, 4> kOtherKeys = {{{"storage-opt", "storage_option"},
                                                  {"insecure-registry", "insecure_registries"},
                                                  {"cni-config-dir", "network_dir"},
                                                  {"cni-plugin-dir", "plugin_dirs"}}};

constexpr std::array<OtherName, 6> kShortFlags = {
    {{"config", "c"}, {"config-dir", "d"}, {"log-level", "l"}, {"root", "r"}, {"storage-driver", "s"}, {"help", "h"}}};

/// Flags whose variable is not CONTAINER_ and their name; "": they have none.
constexpr std::array<OtherName, 28> kOtherVariables = {{
    {"separate-pull-cgroup", "PULL_IN_A_CGROUP"},
    {"auto-reload-registries", "AUTO_RELOAD_REGISTRIES"},
    {"container-attach-socket-dir", "CONTAINER_ATTACH_SOCKET_DIR"},
    {"container-exits-dir", "CONTAINER_EXITS_DIR"},
    {"ctr-stop-timeout", "CONTAINER_STOP_TIMEOUT"},
    {"stream-enable-tls", "CONTAINER_ENABLE_TLS"},
    {"stream-tls-ca", "CONTAINER_TLS_CA"},
    {"stream-tls-cert", "CONTAINER_TLS_CERT"},
    {"stream-tls-key", "CONTAINER_TLS_KEY"},
    {"stream-idle-timeout", "STREAM_IDLE_TIMEOUT"},
    {"oci-artifact-mount-support", "CONTAINER_OCI_ARTIFACT_SUPPORT"},
    {"collection-period", "COLLECTION_PERIOD"},
    {"included-pod-metrics", "CONTAINER_INCLUDED_POD_METRCIS"},
    {"enable-pod-events", "ENABLE_POD_EVENTS"},
    {"decryption-keys-path", ""},
    {"blockio-config-file", ""},
    {"blockio-reload", ""},
    {"irqbalance-config-file", ""},
    {"irqbalance-config-restore-file", ""},
    {"rdt-config-file", ""},
    {"device-ownership-from-security-context", ""},
    {"enable-nri", ""},
    {"nri-listen", ""},
    {"nri-plugin-dir", ""},
    {"nri-plugin-config-dir", ""},
    {"nri-disable-connections", ""},
    {"nri-plugin-registration-timeout", ""},
    {"nri-plugin-request-timeout", ""},
}};

/// Flags that set no key and take no value.
constexpr std::array<std::string_view, 4> kBare = {"help", "version", "profile", "enable-profile-unix-socket"};

std::string named_with(std::string_view text, char from, char to) {
  std::string name(text);
  std::ranges::replace(name, from, to);
  return name;
}

/// A key and the tables it stands in, outermost first.
struct Place {
  const Key* key = nullptr;
  std::vector<std::string_view> tables = {};
};

std::optional<Place> find_key_of(const Key& table, std::string_view name, const Known& known) {
  for (const Key& key : table.keys) {
    if (!known.has(key.releases)) continue;
    if (key.kind == Kind::table) {
      auto below = find_key_of(key, name, known);
      if (!below) continue;
      below->tables.insert(below->tables.begin(), key.name);
      return below;
    }
    if (key.name == name) return Place{.key = &key};
  }
  return std::nullopt;
}

/// The key that a flag sets in this release.
std::optional<Place> place_of(std::string_view flag, const Known& known) {
  const auto other = std::ranges::find(kOtherKeys, flag, &OtherName::first);
  const std::string name = other != kOtherKeys.end() ? std::string(other->second) : named_with(flag, '-', '_');
  return find_key_of(document(), name, known);
}

std::string variable_of(std::string_view flag) {
  const auto other = std::ranges::find(kOtherVariables, flag, &OtherName::first);
  if (other != kOtherVariables.end()) return std::string(other->second);
  std::string name = "CONTAINER_" + named_with(flag, '-', '_');
  std::ranges::transform(
      name, name.begin(), [](char letter) { return letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter; });
  return name;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(text.find(at), text.size());
    parts.emplace_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

/// Go's strconv.ParseBool.
std::optional<bool> parse_boolean(std::string_view text) {
  constexpr std::array<std::string_view, 6> kTrue = {"1", "t", "T", "TRUE", "true", "True"};
  constexpr std::array<std::string_view, 6> kFalse = {"0", "f", "F", "FALSE", "false", "False"};
  if (std::ranges::find(kTrue, text) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, text) != kFalse.end()) return false;
  return std::nullopt;
}

/// A flag or variable as it was given: the texts of all its occurrences.
struct Given {
  std::string flag = {};
  std::vector<std::string> texts = {};
  Origin origin = {};
};

Error refusal(const Given& given, std::string_view want) {
  return {
      .code = ErrorCode::daemon_refuses,
      .message = "'--" + given.flag + "' is given '" + given.texts.back() + "', and CRI-O wants " + std::string(want),
      .where = given.origin.to_string(),
      .hint = "CRI-O does not start with it"};
}

Result<Value::Data> scalar_of(const Given& given, Kind kind) {
  const std::string& text = given.texts.back();
  switch (kind) {
    case Kind::boolean: {
      const auto parsed = parse_boolean(text);
      if (!parsed) return std::unexpected(refusal(given, "true or false"));
      return Value::Data(*parsed);
    }
    case Kind::integer:
    case Kind::unsigned_integer: {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc{} || end != text.data() + text.size())
        return std::unexpected(refusal(given, "an integer"));
      return Value::Data(number);
    }
    case Kind::duration:
      if (!parse_duration(text)) return std::unexpected(refusal(given, "a duration, as 10s"));
      return Value::Data(text);
    case Kind::texts: {
      Array list;
      for (const std::string& item : given.texts) {
        for (std::string& part : split(item, ','))
          list.push_back({.data = std::move(part), .origin = given.origin});
      }
      return Value::Data(std::move(list));
    }
    case Kind::text:
    case Kind::table:
    case Kind::handlers:
    case Kind::text_map:
      break;
  }
  return Value::Data(text);
}

Result<Table> handlers_of(const Given& given) {
  constexpr std::array<std::string_view, 7> kFields = {"",
                                                       "runtime_path",
                                                       "runtime_root",
                                                       "runtime_type",
                                                       "privileged_without_host_devices",
                                                       "runtime_config_path",
                                                       "container_min_memory"};
  constexpr std::size_t kLeast = 3;
  Table handlers;
  for (const std::string& item : given.texts) {
    for (const std::string& text : split(item, ',')) {
      const std::vector<std::string> fields = split(text, ':');
      if (fields.size() < kLeast || fields.size() > kFields.size())
        return std::unexpected(refusal(given, "handlers as name:path:root[:type[:…]]"));
      Table handler{{"runtime_type", {.data = std::string("oci"), .origin = given.origin}}};
      for (std::size_t i = 1; i < fields.size(); ++i) {
        Value value{.data = fields[i], .origin = given.origin};
        if (kFields[i] == "privileged_without_host_devices") value.data = fields[i] == "true";
        handler.insert_or_assign(std::string(kFields[i]), std::move(value));
      }
      handlers.insert_or_assign(fields[0], Value{.data = std::move(handler), .origin = given.origin});
    }
  }
  return handlers;
}

class Reader {
 public:
  Reader(const Known& known, const StartWords& start) : known_(known), start_(start) {}

  Result<CommandLine> run() {
    read_words();
    read_variables();
    for (const Given& given : given_) {
      if (auto done = set(given); !done) return std::unexpected(done.error());
    }
    return std::move(line_);
  }

 private:
  [[nodiscard]] bool takes_value(std::string_view flag) const {
    if (std::ranges::find(kBare, flag) != kBare.end()) return false;
    const auto place = place_of(flag, known_);
    return !place || place->key->kind != Kind::boolean;
  }

  /// Go's flags take one dash or two, and end at the first word that is none.
  void read_words() {
    for (std::size_t i = 0; i < start_.words.size(); ++i) {
      std::string_view text = start_.words[i].text;
      if (!text.starts_with('-') || text == "-" || text == "--") return;
      text.remove_prefix(text.starts_with("--") ? 2 : 1);
      const std::size_t equals = text.find('=');
      std::string flag(text.substr(0, equals));
      if (const auto whole = std::ranges::find(kShortFlags, flag, &OtherName::second); whole != kShortFlags.end())
        flag = whole->first;
      Origin origin = start_.words[i].origin;
      if (origin.built_in()) origin.file = std::make_shared<const std::string>("the command line (--" + flag + ")");
      std::string value = "true";
      if (equals != std::string_view::npos) {
        value = text.substr(equals + 1);
      } else if (takes_value(flag)) {
        if (i + 1 == start_.words.size()) return;
        value = start_.words[++i].text;
      }
      const auto known = std::ranges::find(given_, flag, &Given::flag);
      if (known != given_.end()) {
        known->texts.push_back(std::move(value));
      } else {
        given_.push_back({.flag = std::move(flag), .texts = {std::move(value)}, .origin = std::move(origin)});
      }
    }
  }

  void read_variables() {
    for (const std::string_view flag : {"config", "config-dir", "runtimes"})
      read_variable(std::string(flag));
    read_variables_of(document());
  }

  void read_variables_of(const Key& table) {
    for (const Key& key : table.keys) {
      if (!known_.has(key.releases)) continue;
      if (key.kind == Kind::table) {
        read_variables_of(key);
        continue;
      }
      const auto other = std::ranges::find(kOtherKeys, key.name, &OtherName::second);
      read_variable(other != kOtherKeys.end() ? std::string(other->first) : named_with(key.name, '_', '-'));
    }
  }

  void read_variable(const std::string& flag) {
    const std::string name = variable_of(flag);
    if (name.empty() || std::ranges::find(given_, flag, &Given::flag) != given_.end()) return;
    // The last of equal names counts, as for getenv in a Go program.
    const auto found =
        std::ranges::find(start_.variables.rbegin(), start_.variables.rend(), name, &StartVariable::name);
    if (found == start_.variables.rend()) return;
    Origin origin = found->origin;
    if (origin.built_in()) origin.file = std::make_shared<const std::string>("the environment (" + name + ")");
    const auto place = place_of(flag, known_);
    const bool texts = !place || place->key->kind == Kind::text || place->key->kind == Kind::texts;
    if (found->value.empty() && !texts) return;
    given_.push_back({.flag = flag, .texts = {found->value}, .origin = std::move(origin)});
  }

  Result<void> set(const Given& given) {
    if (given.flag == "config") {
      line_.config_path = given.texts.back();
      return {};
    }
    if (given.flag == "config-dir") {
      line_.drop_in_folder = given.texts.back();
      return {};
    }
    const auto place = place_of(given.flag, known_);
    if (!place) return {};
    Value value{.origin = given.origin};
    if (given.flag == "runtimes") {
      auto handlers = handlers_of(given);
      if (!handlers) return std::unexpected(handlers.error());
      value.data = *std::move(handlers);
    } else {
      auto read = scalar_of(given, place->key->kind);
      if (!read) return std::unexpected(read.error());
      value.data = *std::move(read);
    }
    std::string name(place->key->name);
    for (auto table = place->tables.rbegin(); table != place->tables.rend(); ++table) {
      Table inner;
      inner.emplace(std::exchange(name, std::string(*table)), std::move(value));
      value = Value{.data = std::move(inner), .origin = given.origin};
    }
    Table whole;
    whole.emplace(std::move(name), std::move(value));
    line_.values.push_back(std::move(whole));
    return {};
  }

  const Known& known_;
  const StartWords& start_;
  std::vector<Given> given_;
  CommandLine line_;
};

}  // namespace

Result<CommandLine> read_command_line(const Known& known, const StartWords& start) {
  return Reader(known, start).run();
}

}  // namespace ctkit::engine::crio
