#include "cdi/management.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "cdi/device_name.h"
#include "cdi/path.h"
#include "cdi/validate.h"

namespace ctkit::cdi {

namespace {

/// The path below the root, at a boundary between names.
std::string below(const std::string& root, const std::string& path) {
  return root == "/" ? path : root + path;
}

DeviceNode make_node(const DriverNode& node, const ManagementRequest& request) {
  DeviceNode made{.path = node.path,
                  .host_path = below(request.dev_root, node.path),
                  .major = node.status.major,
                  .minor = node.status.minor,
                  .file_mode = node.status.mode,
                  .permissions = "rwm"};
  if (node.status.gid != 0) made.gid = node.status.gid;
  if (request.same_view && made.host_path == made.path) made.host_path.clear();
  return made;
}

/// Groups that a process needs where the nodes are not for everybody.
std::vector<std::uint32_t> groups_of(const std::vector<DriverNode>& nodes) {
  constexpr unsigned kEverybody = 06;
  std::set<std::uint32_t> groups;
  for (const DriverNode& node : nodes) {
    if ((node.status.mode & kEverybody) != kEverybody && node.status.gid != 0) groups.insert(node.status.gid);
  }
  return {groups.begin(), groups.end()};
}

Hook make_hook(const ManagementRequest& request, std::vector<std::string> args) {
  args.insert(args.begin(), "nvidia-cdi-hook");
  return {
      .name = "createContainer", .path = request.hook_path, .args = std::move(args), .env = {"NVIDIA_CTK_DEBUG=false"}};
}

std::vector<Hook> make_hooks(const Inventory& inventory, const ManagementRequest& request) {
  std::vector<std::string> links;
  std::vector<std::string> folders;
  for (const DriverLibrary& library : inventory.libraries) {
    for (const std::string& link : library.links) {
      links.emplace_back("--link");
      links.push_back(link);
    }
    const std::string folder(folder_of(library.path));
    const std::string_view name = base_name(library.path);
    // lib?*.so*
    const bool named_so = name.starts_with("lib") && name.size() > 3 && name.find(".so", 4) != std::string_view::npos;
    if (named_so && std::ranges::find(folders, folder) == folders.end()) folders.push_back(folder);
  }
  std::vector<Hook> hooks;
  if (!links.empty()) {
    links.insert(links.begin(), "create-symlinks");
    hooks.push_back(make_hook(request, std::move(links)));
  }
  hooks.push_back(make_hook(request, {"enable-cuda-compat", "--host-driver-version=" + inventory.version}));
  if (!folders.empty()) {
    std::vector<std::string> args = {"update-ldcache"};
    for (std::string& folder : folders) {
      args.emplace_back("--folder");
      args.push_back(std::move(folder));
    }
    hooks.push_back(make_hook(request, std::move(args)));
  }
  return hooks;
}

std::vector<Mount> make_mounts(const Inventory& inventory, const ManagementRequest& request) {
  const std::vector<std::string> kReadOnly = {"ro", "nosuid", "nodev", "rbind", "rprivate"};
  const std::vector<std::string> kSocket = {"nosuid", "nodev", "rbind", "rprivate", "noexec"};
  std::vector<Mount> mounts;
  const auto add = [&](const std::string& source, const std::string& path, const std::vector<std::string>& options) {
    mounts.push_back({.host_path = below(request.driver_root, source), .container_path = path, .options = options});
  };
  for (const DriverLibrary& library : inventory.libraries)
    add(library.path, library.path, kReadOnly);
  for (const DriverFile& file : inventory.binaries)
    add(file.source, file.path, kReadOnly);
  for (const DriverFile& file : inventory.firmware)
    add(file.source, file.path, kReadOnly);
  for (const DriverFile& file : inventory.sockets)
    add(file.source, file.path, kSocket);
  std::ranges::stable_sort(
      mounts, {}, [](const Mount& mount) { return std::tuple(depth_of(mount.container_path), mount.container_path); });
  return mounts;
}

std::string library_variable(const Inventory& inventory) {
  std::string variable = "NVIDIA_CTK_LIBCUDA_DIR=";
  for (std::size_t i = 0; i < inventory.library_folders.size(); ++i) {
    if (i > 0) variable += ':';
    variable += inventory.library_folders[i];
  }
  return variable;
}

}  // namespace

Spec make_management_spec(const Inventory& inventory, const ManagementRequest& request) {
  Device all{.name = "all"};
  for (const DriverNode& node : inventory.nodes)
    all.edits.device_nodes.push_back(make_node(node, request));
  all.edits.additional_gids = groups_of(inventory.nodes);
  Spec spec{.kind = request.kind, .devices = {std::move(all)}};
  spec.edits.env = {library_variable(inventory), "NVIDIA_VISIBLE_DEVICES=void"};
  spec.edits.hooks = make_hooks(inventory, request);
  spec.edits.mounts = make_mounts(inventory, request);
  spec.version = minimum_version(spec).value_or("0.3.0");
  return spec;
}

std::string management_file_name(const std::string& kind) {
  const Kind parts = split_kind(kind);
  return parts.vendor + "-" + parts.class_name + ".yaml";
}

}  // namespace ctkit::cdi
