#include "cdi/spec_io.h"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include "cdi/management.h"
#include "cdi/validate.h"

namespace ctkit::cdi {
namespace {

/// A spec with everything in it, and texts that readers like to take for something else.
Spec full_spec() {
  Spec spec{.version = "1.1.0", .kind = "ex.com/gpu", .annotations = {{"a", "yes"}}};
  for (const char* name : {"0", "1:30", "0x10", "true", "2001-01-01", "1e3", "null", "a.b"}) {
    spec.devices.push_back({.name = name, .edits = {.env = {"A=b"}}});
  }
  ContainerEdits& edits = spec.devices[0].edits;
  edits.env = {"A= # no comment", "B='", "C=\"x\": y", "D=\n\t\x7F\xC2\x80", "E=ä", "F=[x]", "- G=1"};
  edits.device_nodes = {{.path = "/dev/x",
                         .host_path = "/dev/y z",
                         .type = "c",
                         .major = 1,
                         .minor = 2,
                         .file_mode = 438,
                         .permissions = "rwm",
                         .uid = 0,
                         .gid = 5}};
  edits.hooks = {{.name = "createContainer",
                  .path = "/h",
                  .args = {"h", "--link", "a::b", "-1", "~", ""},
                  .env = {"X=y"},
                  .timeout = 5}};
  edits.mounts = {{.host_path = "/run/nvidia: #x/a", .container_path = "/b", .options = {"ro", "on"}, .type = "bind"}};
  edits.intel_rdt = IntelRdt{.clos_id = "x", .schemata = {"L3:0=f"}, .enable_monitoring = true};
  edits.additional_gids = {1, 2};
  edits.net_devices = {{.host_interface_name = "eth0", .name = "n0"}};
  spec.edits.env = {"TOP=1"};
  return spec;
}

/// Without the lines of the file.
Spec without_lines(Spec spec) {
  const auto clear = [](ContainerEdits& edits) {
    edits.line = 0;
    for (DeviceNode& node : edits.device_nodes)
      node.line = 0;
    for (Hook& hook : edits.hooks)
      hook.line = 0;
    for (Mount& mount : edits.mounts)
      mount.line = 0;
    for (NetDevice& device : edits.net_devices)
      device.line = 0;
    if (edits.intel_rdt) edits.intel_rdt->line = 0;
  };
  clear(spec.edits);
  for (Device& device : spec.devices) {
    device.line = 0;
    clear(device.edits);
  }
  spec.version_line = spec.kind_line = 0;
  return spec;
}

TEST(SpecIo, WhatIsWrittenIsReadBack) {
  const Spec spec = full_spec();
  for (const std::string& text : {render_yaml(spec), render_json(spec)}) {
    const auto read = read_spec(text, Level::v1_1_0);
    ASSERT_TRUE(read) << read.error().message << "\n" << text;
    EXPECT_EQ(without_lines(*read), spec) << text;
    EXPECT_TRUE(validate(*read, Level::v1_1_0).loads());
  }
}

/// yaml-cpp's node as JSON; every scalar is text.
nlohmann::json to_json(const YAML::Node& node) {
  nlohmann::json value;
  if (node.IsMap()) {
    for (const auto& entry : node)
      value[entry.first.as<std::string>()] = to_json(entry.second);
  } else if (node.IsSequence()) {
    value = nlohmann::json::array();
    for (const auto& item : node)
      value.push_back(to_json(item));
  } else {
    value = node.as<std::string>();
  }
  return value;
}

nlohmann::json as_text(const nlohmann::json& value) {
  if (!value.is_structured()) return value.is_string() ? value : nlohmann::json(value.dump());
  nlohmann::json all = value;
  for (auto& item : all)
    item = as_text(item);
  return all;
}

TEST(SpecIo, AnotherYamlReaderReadsTheSame) {
  const Spec spec = full_spec();
  EXPECT_EQ(to_json(YAML::Load(render_yaml(spec))), as_text(nlohmann::json::parse(render_json(spec))));
}

TEST(SpecIo, LooksAsTheStockInstallersFile) {
  const Inventory inventory{
      .version = "580.1",
      .library_folders = {"/usr/lib64"},
      .libraries = {{.path = "/usr/lib64/libcuda.so.580.1", .links = {"libcuda.so.1::/usr/lib64/libcuda.so"}}},
      .nodes = {{.path = "/dev/nvidia0", .status = {.mode = 0660, .gid = 44, .major = 195}}}};
  const Spec spec = make_management_spec(inventory,
                                         {.kind = "management.nvidia.com/gpu",
                                          .hook_path = "/t/nvidia-cdi-hook",
                                          .driver_root = "/run/nvidia/driver",
                                          .dev_root = "/"});
  EXPECT_EQ(render_yaml(spec), R"(---
cdiVersion: 0.7.0
kind: management.nvidia.com/gpu
devices:
    - name: all
      containerEdits:
        deviceNodes:
            - path: /dev/nvidia0
              hostPath: /dev/nvidia0
              major: 195
              fileMode: 432
              permissions: rwm
              gid: 44
        additionalGids:
            - 44
containerEdits:
    env:
        - NVIDIA_CTK_LIBCUDA_DIR=/usr/lib64
        - NVIDIA_VISIBLE_DEVICES=void
    hooks:
        - hookName: createContainer
          path: /t/nvidia-cdi-hook
          args:
            - nvidia-cdi-hook
            - create-symlinks
            - --link
            - libcuda.so.1::/usr/lib64/libcuda.so
          env:
            - NVIDIA_CTK_DEBUG=false
        - hookName: createContainer
          path: /t/nvidia-cdi-hook
          args:
            - nvidia-cdi-hook
            - enable-cuda-compat
            - --host-driver-version=580.1
          env:
            - NVIDIA_CTK_DEBUG=false
        - hookName: createContainer
          path: /t/nvidia-cdi-hook
          args:
            - nvidia-cdi-hook
            - update-ldcache
            - --folder
            - /usr/lib64
          env:
            - NVIDIA_CTK_DEBUG=false
    mounts:
        - hostPath: /run/nvidia/driver/usr/lib64/libcuda.so.580.1
          containerPath: /usr/lib64/libcuda.so.580.1
          options:
            - ro
            - nosuid
            - nodev
            - rbind
            - rprivate
)");
}

}  // namespace
}  // namespace ctkit::cdi
