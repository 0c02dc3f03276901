#include "cdi/spec_fields.h"

#include <array>
#include <string>

namespace ctkit::cdi {

namespace {

using enum FieldType;
using enum Level;

constexpr auto kFields = std::to_array({
    Field{spec, "cdiVersion", text},
    Field{spec, "kind", text},
    Field{spec, "annotations", dictionary, v0_6_1},
    Field{spec, "devices", devices},
    Field{spec, "containerEdits", edits},
    Field{device, "name", text},
    Field{device, "annotations", dictionary, v0_6_1},
    Field{device, "containerEdits", edits},
    Field{edits, "env", texts},
    Field{edits, "deviceNodes", nodes},
    Field{edits, "hooks", hooks},
    Field{edits, "mounts", mounts},
    Field{edits, "intelRdt", rdt, v0_7_2},
    Field{edits, "additionalGids", uint32s, v0_7_2},
    Field{edits, "netDevices", net_devices, v1_1_0},
    Field{node, "path", text},
    Field{node, "hostPath", text},
    Field{node, "type", text},
    Field{node, "major", int64},
    Field{node, "minor", int64},
    Field{node, "fileMode", uint32},
    Field{node, "permissions", text},
    Field{node, "uid", uint32},
    Field{node, "gid", uint32},
    Field{mount, "hostPath", text},
    Field{mount, "containerPath", text},
    Field{mount, "options", texts},
    Field{mount, "type", text},
    Field{hook, "hookName", text},
    Field{hook, "path", text},
    Field{hook, "args", texts},
    Field{hook, "env", texts},
    Field{hook, "timeout", int64},
    Field{rdt, "closID", text, v0_7_2},
    Field{rdt, "l3CacheSchema", text, v0_7_2},
    Field{rdt, "memBwSchema", text, v0_7_2},
    Field{rdt, "schemata", texts, v1_1_0},
    Field{rdt, "enableCMT", boolean, v0_7_2, v1_0_1},
    Field{rdt, "enableMBM", boolean, v0_7_2, v1_0_1},
    Field{rdt, "enableMonitoring", boolean, v1_1_0},
    Field{net_device, "hostInterfaceName", text, v1_1_0},
    Field{net_device, "name", text, v1_1_0},
});

// Only the foldings that end at an ASCII letter matter: field names have no others.
std::string fold(std::string_view key) {
  constexpr std::string_view kKelvin = "\xE2\x84\xAA";
  constexpr std::string_view kLongS = "\xC5\xBF";
  std::string folded;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const char c = key[i];
    if (key.substr(i).starts_with(kKelvin)) {
      folded += 'k';
      i += kKelvin.size() - 1;
    } else if (key.substr(i).starts_with(kLongS)) {
      folded += 's';
      i += kLongS.size() - 1;
    } else {
      folded += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return folded;
}

}  // namespace

bool is_object(FieldType type) {
  return type == spec || type == device || type == edits || type == node || type == mount || type == hook ||
         type == rdt || type == net_device;
}

FieldType element_of(FieldType type) {
  switch (type) {
    case texts:
      return text;
    case uint32s:
      return uint32;
    case devices:
      return device;
    case nodes:
      return node;
    case mounts:
      return mount;
    case hooks:
      return hook;
    case net_devices:
      return net_device;
    default:
      return type;
  }
}

const Field* find_field(FieldType owner, std::string_view key, Level level) {
  const Field* like = nullptr;
  const std::string folded = fold(key);
  for (const Field& field : kFields) {
    if (field.owner != owner || level < field.since || level > field.until) continue;
    if (field.name == key) return &field;
    if (like == nullptr && fold(field.name) == folded) like = &field;
  }
  return like;
}

std::string_view go_name(FieldType type) {
  switch (type) {
    case text:
      return "string";
    case boolean:
      return "bool";
    case int64:
      return "int64";
    case uint32:
      return "uint32";
    case texts:
      return "[]string";
    case uint32s:
      return "[]uint32";
    case dictionary:
      return "map[string]string";
    case spec:
      return "Spec";
    case device:
      return "Device";
    case devices:
      return "[]Device";
    case edits:
      return "ContainerEdits";
    case node:
      return "DeviceNode";
    case nodes:
      return "[]DeviceNode";
    case mount:
      return "Mount";
    case mounts:
      return "[]Mount";
    case hook:
      return "Hook";
    case hooks:
      return "[]Hook";
    case rdt:
      return "IntelRdt";
    case net_device:
      return "LinuxNetDevice";
    case net_devices:
      return "[]LinuxNetDevice";
  }
  return "";
}

}  // namespace ctkit::cdi
