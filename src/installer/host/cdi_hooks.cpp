#include "installer/host/cdi_hooks.h"

#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <iterator>
#include <utility>

#include "cdi/cuda_compat.h"
#include "cdi/hook_request.h"
#include "cdi/ld_conf.h"
#include "cdi/oci_state.h"
#include "cdi/path.h"
#include "installer/host/container_root.h"
#include "installer/host/ldconfig.h"
#include "installer/host/posix_file_system.h"

namespace ctkit::installer::host {

using cdi::ContainerHook;
using cdi::HookRequest;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr const char* kParams = "/proc/driver/nvidia/params";
constexpr std::string_view kConfigFolder = "/etc/ld.so.conf.d";
constexpr std::size_t kMostState = std::size_t{16} << 20U;

class HookRun {
 public:
  explicit HookRun(HookRequest request) : request_(std::move(request)) {
    for (const char* name : {"NVIDIA_CTK_QUIET", "NVIDIA_CDI_QUIET"}) {
      const char* value = std::getenv(name);
      quiet_ = quiet_ || (value != nullptr && (std::string_view(value) == "true" || std::string_view(value) == "1"));
    }
    quiet_ = quiet_ || request_.quiet;
  }

  Result<void> run() {
    switch (request_.hook) {
      case ContainerHook::none:
        warn("No CDI hook specified");
        return {};
      case ContainerHook::unsupported:
        warn("Unsupported CDI hook: " + request_.name);
        return {};
      case ContainerHook::noop:
        return {};
      case ContainerHook::create_symlinks:
        return create_symlinks();
      case ContainerHook::update_ldcache:
        return update_ldcache();
      case ContainerHook::enable_cuda_compat:
        return enable_cuda_compat();
      case ContainerHook::disable_device_node_modification:
        return disable_device_node_modification();
      case ContainerHook::chmod:
        return chmod();
    }
    return {};
  }

 private:
  void warn(const std::string& message) const {
    if (!quiet_) std::cerr << "nvidia-cdi-hook: warning: " << message << '\n';
  }

  Result<std::string> read_state() const {
    if (!request_.container_spec.empty() && request_.container_spec != "-")
      return read_host_file(request_.container_spec);
    std::string text;
    std::istreambuf_iterator<char> end;
    for (std::istreambuf_iterator<char> at(std::cin); at != end && text.size() < kMostState; ++at)
      text += *at;
    return text;
  }

  // The host's: what the runtime or the kernel says.
  static Result<std::string> read_host_file(const std::string& path) {
    const auto files = PosixFileSystem::open(path.starts_with('/') ? "/" : ".");
    if (!files) return std::unexpected(files.error());
    return (*files)->read(path);
  }

  Result<ContainerRoot> open_root() const {
    const auto text = read_state();
    if (!text) return std::unexpected(text.error().with_context("reading the container's state"));
    const auto state = cdi::parse_container_state(*text);
    if (!state) return std::unexpected(state.error());
    std::string root_path = state->root;
    if (root_path.empty()) {
      const auto config =
          read_host_file(state->bundle.empty() ? "config.json" : cdi::join(state->bundle, "config.json"));
      if (!config) return std::unexpected(config.error().with_context("finding the container's root"));
      auto named = cdi::parse_root_path(*config);
      if (!named) return std::unexpected(named.error());
      root_path = *std::move(named);
    }
    const auto folder = cdi::container_root(*state, root_path);
    if (!folder) return std::unexpected(folder.error());
    return ContainerRoot::open(*folder);
  }

  Result<void> create_symlinks() {
    const auto root = open_root();
    if (!root) return std::unexpected(root.error());
    for (const std::string& words : request_.links) {
      const auto link = cdi::parse_link(words);
      if (!link) return std::unexpected(link.error());
      if (auto made = root->make_link(link->target, link->link); !made) {
        return std::unexpected(made.error().with_context("creating the link " + words));
      }
    }
    return {};
  }

  Result<void> chmod() {
    const auto root = open_root();
    if (!root) return std::unexpected(root.error());
    for (const std::string& path : request_.paths) {
      if (auto done = root->set_mode(path, request_.mode); !done) return done;
    }
    return {};
  }

  Result<void> enable_cuda_compat() {
    if (request_.host_driver_version.empty() && request_.host_cuda_version.empty()) return {};
    const auto root = open_root();
    if (!root) return std::unexpected(root.error());
    const cdi::CompatChoice choice =
        cdi::choose_compat_folder(root->tree(),
                                  request_.compat_folder,
                                  {.driver = request_.host_driver_version, .cuda = request_.host_cuda_version});
    for (const std::string& warning : choice.warnings)
      warn(warning);
    if (choice.folder.empty()) return {};
    return root->add_file(std::string(kConfigFolder), "00-compat-" + random_uuid() + ".conf", choice.folder + "\n");
  }

  Result<void> disable_device_node_modification() {
    auto params = read_host_file(kParams);
    if (!params) {
      if (params.error().code == ErrorCode::not_found) return {};
      return std::unexpected(params.error());
    }
    constexpr std::string_view kAllowed = "ModifyDeviceFiles: 1";
    const std::size_t at = params->find(kAllowed);
    const bool whole_line = at != std::string::npos && (at == 0 || (*params)[at - 1] == '\n') &&
                            (at + kAllowed.size() == params->size() || (*params)[at + kAllowed.size()] == '\n');
    if (!whole_line) return {};
    (*params)[at + kAllowed.size() - 1] = '0';
    const auto root = open_root();
    if (!root) return std::unexpected(root.error());
    return root->cover(kParams, *params);
  }

  Result<void> update_ldcache() {
    const auto root = open_root();
    if (!root) return std::unexpected(root.error());
    const auto program = load_ldconfig(request_.ldconfig);
    if (!program) return std::unexpected(program.error());
    if (auto written = write_ld_conf(*root); !written) return written;
    return run_ldconfig(*program, root->folder());
  }

  Result<void> write_ld_conf(const ContainerRoot& root) const {
    auto made = root.add_file("/etc", "ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n");
    if (!made && made.error().code != ErrorCode::needs_decision) return made;  // it is there
    const std::vector<std::string> system = cdi::system_library_folders(cdi::is_debian_like(root.tree()));
    const std::vector<std::string> added =
        cdi::new_library_folders(request_.folders, cdi::configured_library_folders(root.tree()), system);
    const std::string folder(kConfigFolder);
    if (!added.empty()) {
      if (auto done = root.add_file(folder, "00-nvcr-" + random_uuid() + ".conf", cdi::render_folders(added)); !done)
        return done;
    }
    // The host's ldconfig may know other system folders than the container's linker.
    if (auto done = root.add_file(folder, "zz-nvcr-" + random_uuid() + ".conf", cdi::render_folders(system)); !done)
      return done;
    if (!cdi::uses_musl(root.tree()) || cdi::musl_path_file().empty()) return {};
    std::vector<std::string> all = added;
    all.insert(all.end(), system.begin(), system.end());
    return root.append(std::string(cdi::musl_path_file()), cdi::render_folders(all));
  }

  HookRequest request_;
  bool quiet_ = false;
};

}  // namespace

int run_cdi_hook(std::span<const std::string> arguments) {
  auto request = cdi::parse_hook_command(arguments);
  auto done = request ? HookRun(*std::move(request)).run() : Result<void>(std::unexpected(request.error()));
  if (done) return 0;
  std::cerr << "nvidia-cdi-hook: error: " << done.error().message;
  if (!done.error().where.empty()) std::cerr << ": " << done.error().where;
  std::cerr << '\n';
  return 1;
}

}  // namespace ctkit::installer::host
