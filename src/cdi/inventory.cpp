#include "cdi/inventory.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "cdi/elf.h"
#include "cdi/ld_cache.h"
#include "cdi/path.h"
#include "cdi/real_paths.h"

namespace ctkit::cdi {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

// nvidia-container-toolkit v1.20.0, pkg/lookup/library.go.
constexpr std::array<std::string_view, 11> kLibraryFolders = {
    "/",
    "/usr/lib64",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/usr/lib/aarch64-linux-gnu/nvidia/current",
    "/lib64",
    "/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/lib/x86_64-linux-gnu/nvidia/current",
    "/lib/aarch64-linux-gnu/nvidia/current",
};
constexpr std::array<std::string_view, 6> kBinaryFolders = {
    "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};
constexpr std::array<std::string_view, 7> kBinaries = {"nvidia-smi",
                                                       "nvidia-debugdump",
                                                       "nvidia-persistenced",
                                                       "nvidia-cuda-mps-control",
                                                       "nvidia-cuda-mps-server",
                                                       "nvidia-imex",
                                                       "nvidia-imex-ctl"};
constexpr std::array<std::string_view, 2> kSockets = {"nvidia-persistenced/socket", "nvidia-fabricmanager/socket"};
constexpr std::string_view kMpsFolder = "/tmp/nvidia-mps";

Error not_ready(std::string message, std::string hint = "") {
  return {.code = ErrorCode::not_found,
          .message = "the driver is not ready: " + std::move(message),
          .hint = std::move(hint)};
}

/// Whether it is two or more numbers with dots between them.
bool is_version(std::string_view text) {
  if (text.find('.') == std::string_view::npos || text.front() == '.' || text.back() == '.') return false;
  return text.find_first_not_of("0123456789.") == std::string_view::npos && text.find("..") == std::string_view::npos;
}

class Search {
 public:
  Search(const Tree& tree, bool root_is_host) : paths_(tree), root_is_host_(root_is_host) {}

  /// Files at `folder/pattern`, links followed for the test only.
  std::vector<std::string> glob(std::string_view folder, std::string_view pattern) {
    std::vector<std::string> found;
    for (const std::string& name : paths_.names_in(folder)) {
      const std::string path = join(folder, name);
      if (matches(name, pattern) && paths_.has_file(path)) found.push_back(path);
    }
    return found;
  }

  /// The ends of the links of all that fit in the folders, each once; if there is none, what the
  /// linker's cache has.
  std::vector<std::string> libraries(std::string_view pattern) {
    std::vector<std::string> found;
    for (const std::string_view folder : kLibraryFolders) {
      for (const std::string& path : glob(folder, pattern))
        add_end(found, path);
    }
    if (found.empty()) {
      for (const std::string& path : cached_libraries()) {
        if (matches(base_name(path), pattern) && paths_.has_file(path)) add_end(found, path);
      }
    }
    return found;
  }

  void add_end(std::vector<std::string>& found, const std::string& path) {
    const auto end = paths_.resolve(path);
    if (end && std::ranges::find(found, end->path) == found.end()) found.push_back(end->path);
  }

  DriverFile file(const std::string& path) {
    const auto end = paths_.resolve(path);
    const bool elsewhere = end && end->through_absolute_link && !root_is_host_;
    return {.path = path, .source = elsewhere ? end->path : path};
  }

  std::string version() {
    // What a program that links to the library would load, then the first by name.
    for (const std::string_view library : {"libnvidia-ml.so", "libcuda.so"}) {
      const std::string prefix = std::string(library) + ".";
      for (const std::string& path : libraries(prefix + "1")) {
        const std::string_view suffix = base_name(path).substr(std::min(prefix.size(), base_name(path).size()));
        if (base_name(path).starts_with(prefix) && !suffix.empty() && is_version(suffix)) return std::string(suffix);
      }
    }
    for (const std::string_view library : {"libcuda.so.", "libnvidia-ml.so."}) {
      const auto found = libraries(std::string(library) + "*.*");
      if (!found.empty()) {
        const std::string_view name = base_name(found.front());
        if (name.starts_with(library)) return std::string(name.substr(library.size()));
      }
    }
    return "";
  }

  bool is_link(const std::string& path) const {
    const auto status = paths_.tree().look(path);
    return status && status->kind == FileKind::link;
  }

  RealPaths& paths() { return paths_; }
  bool root_is_host() const { return root_is_host_; }

 private:
  const std::vector<std::string>& cached_libraries() {
    if (!cache_read_) cache_ = read_ld_cache(paths_.tree());
    cache_read_ = true;
    return cache_;
  }

  RealPaths paths_;
  bool root_is_host_;
  bool cache_read_ = false;
  std::vector<std::string> cache_ = {};
};

/// `target::link` for the library: links that programs want and packages forget, then SONAME and
/// development link if the root has them as links.
std::vector<std::string> links_of(const std::string& path, Search& search, std::vector<std::string>& warnings) {
  const std::string folder(folder_of(path));
  const std::string name(base_name(path));
  std::vector<std::string> links;
  const auto add = [&](const std::string& target, const std::string& link) {
    links.push_back(target + "::" + join(folder, link));
  };
  if (name.starts_with("libcuda.so.")) add("libcuda.so.1", "libcuda.so");
  if (name.starts_with("libGLX_nvidia.so.")) add(name, "libGLX_indirect.so.0");
  if (name.starts_with("libnvidia-opticalflow.so.")) add("libnvidia-opticalflow.so.1", "libnvidia-opticalflow.so");
  const auto soname = read_soname(search.paths().tree(), path);
  if (!soname) {
    warnings.push_back("'" + path + "': " + soname.error().message);
    return links;
  }
  const std::string target = soname->empty() ? name : *soname;
  if (target != name && search.is_link(join(folder, target))) add(name, target);
  const std::size_t so = name.find(".so.");
  if (so != std::string::npos) {
    const std::string development = name.substr(0, so + 3);
    if (development != target && search.is_link(join(folder, development))) add(target, development);
  }
  return links;
}

void find_libraries(Search& search, Inventory& inventory) {
  for (const std::string& path : search.libraries("lib*.so." + inventory.version)) {
    std::string folder(folder_of(path));
    if (folder == "/" && !search.root_is_host()) folder = "";
    if (std::ranges::find(inventory.library_folders, folder) == inventory.library_folders.end()) {
      inventory.library_folders.push_back(folder);
    }
  }
  std::vector<std::string> folders;
  for (const std::string& folder : inventory.library_folders) {
    if (!folder.empty()) folders.push_back(folder);  // the root of a driver container is no library folder
  }
  for (const std::string& folder : inventory.library_folders)
    folders.push_back(join(folder, "vdpau"));
  std::vector<std::string> found;
  for (const std::string& pattern : {"*.so." + inventory.version, std::string("libnvidia-nvvm70.so.*")}) {
    for (const std::string& folder : folders) {
      for (const std::string& path : search.glob(folder, pattern))
        search.add_end(found, path);
    }
  }
  std::set<std::string> seen;
  for (const std::string& path : found) {
    DriverLibrary library{.path = path};
    for (std::string& link : links_of(path, search, inventory.warnings)) {
      if (seen.insert(link).second) library.links.push_back(std::move(link));
    }
    inventory.libraries.push_back(std::move(library));
  }
}

void find_binaries(Search& search, Inventory& inventory) {
  constexpr unsigned kExecutable = 0111;
  for (const std::string_view name : kBinaries) {
    for (const std::string_view folder : kBinaryFolders) {
      const std::string path = join(folder, name);
      const auto status = search.paths().tree().follow(path);
      if (!status || status->kind == FileKind::folder || (status->mode & kExecutable) == 0) continue;
      inventory.binaries.push_back(search.file(path));
      break;
    }
  }
}

// Where firmware_class looks, in its order.
void find_firmware(Search& search, Inventory& inventory, const InventoryRequest& request) {
  const std::string base = "/lib/firmware";
  std::vector<std::string> folders;
  if (!request.firmware_folder.empty()) folders.push_back(clean(request.firmware_folder));
  if (!request.kernel_release.empty()) folders.push_back(base + "/updates/" + request.kernel_release);
  folders.push_back(base + "/updates");
  if (!request.kernel_release.empty()) folders.push_back(base + "/" + request.kernel_release);
  folders.push_back(base);
  for (const std::string& folder : folders) {
    for (const std::string& path : search.glob(folder + "/nvidia/" + inventory.version, "gsp*.bin")) {
      inventory.firmware.push_back(search.file(path));
    }
  }
}

void find_sockets(Search& search, Inventory& inventory) {
  for (const std::string_view name : kSockets) {
    for (const std::string_view folder : {"/run", "/var/run"}) {
      const std::string path = join(folder, name);
      if (!search.paths().has_file(path)) continue;
      inventory.sockets.push_back(search.file(path));
      break;
    }
  }
  const auto mps = search.paths().tree().follow(kMpsFolder);
  if (mps && mps->kind == FileKind::folder) inventory.mps_folder = kMpsFolder;
}

bool is_switch_node(std::string_view name) {
  return name.starts_with("nvidia-fs") || name.starts_with("nvidia-nvswitch") || name.starts_with("nvidia-nvlink");
}

std::vector<DriverNode> find_nodes(const Tree& tree) {
  struct Place {
    std::string_view folder = {};
    std::string_view pattern = {};
  };
  constexpr std::array<Place, 3> kPlaces = {{
      {"/dev", "nvidia*"},
      {"/dev/nvidia-caps", "nvidia-cap*"},
      {"/dev/nvidia-caps-imex-channels", "channel*"},
  }};
  std::vector<DriverNode> nodes;
  // A bind mount of /dev may have ended one level too deep.
  for (const std::string_view prefix : {"", "/dev"}) {
    for (const Place& place : kPlaces) {
      const std::string folder = std::string(prefix) + std::string(place.folder);
      const auto names = tree.names_in(folder);
      if (!names) continue;
      for (const std::string& name : *names) {
        if (!matches(name, place.pattern) || is_switch_node(name)) continue;
        const std::string path = join(folder, name);
        const auto status = tree.look(path);
        if (status && status->kind == FileKind::character_device) nodes.push_back({.path = path, .status = *status});
      }
    }
  }
  std::ranges::sort(nodes, {}, [](const DriverNode& node) { return std::tuple(depth_of(node.path), node.path); });
  return nodes;
}

}  // namespace

std::string find_library_version(const Tree& driver_root) {
  return Search(driver_root, true).version();
}

std::string parse_module_version(std::string_view text) {
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue …"; the open module has its
  // platform behind "for".
  const std::size_t line_at = text.find("NVRM version:");
  if (line_at == std::string_view::npos) return "";
  std::string_view line = text.substr(line_at, std::min(text.find('\n', line_at), text.size()) - line_at);
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view word = line.substr(0, end);
    if (!word.empty() && is_version(word)) return std::string(word);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return "";
}

Result<Inventory> take_inventory(const Tree& driver_root, const Tree& dev_root, const InventoryRequest& request) {
  Inventory inventory{.nodes = find_nodes(dev_root)};
  if (inventory.nodes.empty()) {
    return std::unexpected(
        not_ready("there are no NVIDIA device nodes", "load the kernel modules, or check the device root"));
  }
  Search search(driver_root, request.root_is_host);
  inventory.version = search.version();
  if (inventory.version.empty()) {
    return std::unexpected(not_ready("it has neither libcuda nor libnvidia-ml", "check the driver root"));
  }
  if (!request.module_version.empty() && request.module_version != inventory.version) {
    return std::unexpected(
        not_ready("the kernel module is " + request.module_version + ", the libraries are " + inventory.version,
                  "unload the old module, or reboot"));
  }
  find_libraries(search, inventory);
  find_binaries(search, inventory);
  find_firmware(search, inventory, request);
  find_sockets(search, inventory);
  for (const std::string_view node : {"/dev/nvidiactl", "/dev/nvidia-uvm"}) {
    if (std::ranges::find(inventory.nodes, node, &DriverNode::path) == inventory.nodes.end()) {
      inventory.warnings.push_back("there is no " + std::string(node) + "; most of CUDA needs it");
    }
  }
  return inventory;
}

}  // namespace ctkit::cdi
