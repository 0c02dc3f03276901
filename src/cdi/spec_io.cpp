#include "cdi/spec_io.h"

#include <nlohmann/json.hpp>

#include "cdi/yaml_resolve.h"

namespace ctkit::cdi {

namespace {

using nlohmann::ordered_json;

template <typename T>
void put_list(ordered_json& object, const char* key, const std::vector<T>& list) {
  if (!list.empty()) object[key] = list;
}

void put_text(ordered_json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

template <typename T>
void put_number(ordered_json& object, const char* key, const std::optional<T>& number) {
  if (number) object[key] = *number;
}

void put_texts(ordered_json& object, const char* key, const std::map<std::string, std::string>& texts) {
  if (!texts.empty()) object[key] = texts;
}

ordered_json to_json(const DeviceNode& node) {
  ordered_json object = {{"path", node.path}};
  put_text(object, "hostPath", node.host_path);
  put_text(object, "type", node.type);
  if (node.major != 0) object["major"] = node.major;
  if (node.minor != 0) object["minor"] = node.minor;
  put_number(object, "fileMode", node.file_mode);
  put_text(object, "permissions", node.permissions);
  put_number(object, "uid", node.uid);
  put_number(object, "gid", node.gid);
  return object;
}

ordered_json to_json(const Hook& hook) {
  ordered_json object = {{"hookName", hook.name}, {"path", hook.path}};
  put_list(object, "args", hook.args);
  put_list(object, "env", hook.env);
  put_number(object, "timeout", hook.timeout);
  return object;
}

ordered_json to_json(const Mount& mount) {
  ordered_json object = {{"hostPath", mount.host_path}, {"containerPath", mount.container_path}};
  put_list(object, "options", mount.options);
  put_text(object, "type", mount.type);
  return object;
}

ordered_json to_json(const IntelRdt& rdt) {
  ordered_json object = ordered_json::object();
  put_text(object, "closID", rdt.clos_id);
  put_text(object, "l3CacheSchema", rdt.l3_cache_schema);
  put_text(object, "memBwSchema", rdt.mem_bw_schema);
  put_list(object, "schemata", rdt.schemata);
  if (rdt.enable_cmt) object["enableCMT"] = true;
  if (rdt.enable_mbm) object["enableMBM"] = true;
  if (rdt.enable_monitoring) object["enableMonitoring"] = true;
  return object;
}

ordered_json to_json(const NetDevice& device) {
  return {{"hostInterfaceName", device.host_interface_name}, {"name", device.name}};
}

template <typename T>
void put_items(ordered_json& object, const char* key, const std::vector<T>& items) {
  for (const T& item : items)
    object[key].push_back(to_json(item));
}

ordered_json to_json(const ContainerEdits& edits) {
  ordered_json object = ordered_json::object();
  put_list(object, "env", edits.env);
  put_items(object, "deviceNodes", edits.device_nodes);
  put_items(object, "netDevices", edits.net_devices);
  put_items(object, "hooks", edits.hooks);
  put_items(object, "mounts", edits.mounts);
  if (edits.intel_rdt) object["intelRdt"] = to_json(*edits.intel_rdt);
  put_list(object, "additionalGids", edits.additional_gids);
  return object;
}

ordered_json to_json(const Spec& spec) {
  ordered_json object = {{"cdiVersion", spec.version}, {"kind", spec.kind}};
  put_texts(object, "annotations", spec.annotations);
  object["devices"] = ordered_json::array();
  for (const Device& device : spec.devices) {
    ordered_json one = {{"name", device.name}};
    put_texts(one, "annotations", device.annotations);
    one["containerEdits"] = to_json(device.edits);
    object["devices"].push_back(std::move(one));
  }
  object["containerEdits"] = to_json(spec.edits);
  return object;
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Whether every YAML reader takes the text for itself when it stands there without quotes.
bool is_plain(const std::string& text) {
  if (text.empty() || text.ends_with(':')) return false;
  const bool starts_well = is_letter_or_digit(text.front()) || text.front() == '/' || text.front() == '_' ||
                           (text.starts_with("--") && text.size() > 2 && is_letter_or_digit(text[2]));
  if (!starts_well) return false;
  bool letters = false;
  bool colon = false;
  for (const char c : text) {
    if (!is_letter_or_digit(c) && !std::string_view("_./:=+@%-").contains(c)) return false;
    letters = letters || (is_letter_or_digit(c) && (c > '9')) || c == '/';
    colon = colon || c == ':';
  }
  // 1:30 is a number in base 60 to some.
  if (colon && !letters) return false;
  const auto value = resolve_yaml("", text, true);
  // A date is text for go-yaml only.
  const bool date = !letters && text.find('-') != std::string::npos;
  return value && value->kind == YamlKind::text && !date;
}

/// JSON text as go-yaml takes it too: what that calls a control character is escaped.
std::string dump(const ordered_json& value, int indent) {
  const std::string json = value.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = std::string_view(json).substr(i);
    const auto second = static_cast<unsigned char>(rest.size() > 1 ? rest[1] : 0);
    if (rest.front() == '\x7F') {
      text += "\\u007f";
    } else if (rest.front() == '\xC2' && second < 0xA0 && second != 0x85) {
      text += "\\u00";
      text += kHex[second >> 4U];
      text += kHex[second & 0xFU];
      ++i;
    } else if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
      text += rest[2] == '\xBE' ? "\\ufffe" : "\\uffff";
      i += 2;
    } else {
      text += rest.front();
    }
  }
  return text;
}

std::string quote(const std::string& text) {
  if (is_plain(text)) return text;
  bool printable = true;
  for (const char c : text)
    printable = printable && c >= ' ' && c < '\x7F';
  // JSON's strings are YAML's double-quoted ones, apart from \/ and surrogates, which this writer
  // has not.
  if (!printable) return dump(text, -1);
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c;
    if (c == '\'') quoted += c;
  }
  return quoted + "'";
}

std::string scalar(const ordered_json& value) {
  if (value.is_string()) return quote(value.get<std::string>());
  return value.dump();
}

void write_yaml(std::string& text, const ordered_json& value, std::size_t indent);

// What follows "key:" or "-"; the cursor stands right behind it. Depth is that of a spec.
void write_value(std::string& text, const ordered_json& value, std::size_t indent) {
  if (value.is_structured() && value.empty()) {
    text += value.is_array() ? " []\n" : " {}\n";
  } else if (value.is_structured()) {
    text += '\n';
    write_yaml(text, value, indent);
  } else {
    text += ' ' + scalar(value) + '\n';
  }
}

void write_yaml(std::string& text, const ordered_json& value, std::size_t indent) {
  if (value.is_array()) {
    for (const ordered_json& item : value) {
      text.append(indent, ' ').append("-");
      if (!item.is_object() || item.empty()) {
        write_value(text, item, indent + 2);
        continue;
      }
      // The first key stands on the dash's line.
      std::string block;
      write_yaml(block, item, indent + 2);
      text += ' ' + block.substr(indent + 2);
    }
    return;
  }
  // What is inside begins at the next of every fourth column.
  constexpr std::size_t kStep = 4;
  for (const auto& [key, item] : value.items()) {
    text.append(indent, ' ').append(quote(key)).append(":");
    write_value(text, item, (indent / kStep + 1) * kStep);
  }
}

}  // namespace

std::string render_yaml(const Spec& spec) {
  std::string text = "---\n";
  write_yaml(text, to_json(spec), 0);
  return text;
}

std::string render_json(const Spec& spec) {
  return dump(to_json(spec), 2) + "\n";
}

}  // namespace ctkit::cdi
