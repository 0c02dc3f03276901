#include "installer/host/toolkit_files.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <optional>
#include <unistd.h>
#include <utility>

#include "installer/host/posix_file_system.h"
#include "installer/host/posix_node_maker.h"
#include "installer/host/toolkit_seams.h"
#include "installer/toolkit_request.h"
#include "toolkit/artifacts.h"
#include "toolkit/control_nodes.h"

namespace ctkit::installer::host {

using daemonset::MappedFolder;
using daemonset::Settings;
using engine::ErrorCode;
using engine::Result;

namespace {

// In our image, the build that runs on any host.
constexpr auto kForTheHost = "/usr/lib/ctkit/static/ctkit";

std::string own_program() {
  if (::access(kForTheHost, X_OK) == 0) return kForTheHost;
  std::array<char, 4096> name{};
  const ssize_t length = ::readlink("/proc/self/exe", name.data(), name.size());
  return length > 0 ? std::string(name.data(), static_cast<std::size_t>(length)) : "";
}

// The install folder is mounted under its own name, or it is below the host root.
std::string root_of(const Settings& settings, const std::vector<MappedFolder>& folders) {
  const std::string& wanted = settings.install_folder;
  const bool mounted = std::ranges::any_of(folders, [&](const MappedFolder& folder) {
    return folder.host == folder.here && (wanted == folder.here || wanted.starts_with(folder.here + "/"));
  });
  return mounted ? "/" : settings.host_root;
}

}  // namespace

Result<ToolkitFiles> install_toolkit_files(const Settings& settings,
                                           const std::vector<MappedFolder>& folders,
                                           const std::vector<std::string>& low_level,
                                           const engine::FileReader& host_files) {
  auto type = toolkit::parse_package_type(settings.package_type);
  if (!type) return std::unexpected(type.error());
  const auto seams = open_toolkit_seams("/", root_of(settings, folders), settings.host_root);
  if (!seams) return std::unexpected(seams.error());
  const auto host_tree = PosixTree::open(settings.host_root);
  if (!host_tree) return std::unexpected(host_tree.error());
  const auto source = toolkit::find_source_root(settings.source_root, *type, *seams->source, **host_tree);
  if (!source && settings.source_root.empty() && source.error().code == ErrorCode::not_found) return ToolkitFiles{};
  if (!source) return std::unexpected(source.error());
  const auto here = PosixFileSystem::open("/");
  if (!here) return std::unexpected(here.error());
  toolkit::InstallHost host = seams->host();
  const auto installed =
      toolkit::install_toolkit({.source_root = *source,
                                .install_folder = settings.install_folder,
                                .own_program = own_program(),
                                .config = make_toolkit_config(settings, low_level, **here, host_files)},
                               host);
  if (!installed) return std::unexpected(installed.error());
  ToolkitFiles files{.changed = installed->switched || installed->config_written};
  if (installed->switched)
    files.messages.push_back("installed toolkit " + installed->version + " in '" + installed->folder + "'");
  if (!files.changed) return files;
  for (const std::string& key : installed->kept_keys)
    files.messages.push_back("config.toml keeps " + key + " as somebody set it");
  for (const std::string& warning : installed->warnings)
    files.messages.push_back("warning: " + warning);
  return files;
}

Result<std::vector<std::string>> make_device_nodes(const std::string& dev_root) {
  const auto here = PosixFileSystem::open("/");
  if (!here) return std::unexpected(here.error());
  const auto devices = (*here)->read("/proc/devices");
  if (!devices) return std::unexpected(devices.error());
  const auto tree = PosixTree::open(dev_root);
  if (!tree) return std::unexpected(tree.error());
  const auto maker = PosixNodeMaker::open(dev_root);
  if (!maker) return std::unexpected(maker.error());
  return toolkit::make_control_nodes(*devices, **tree, **maker);
}

}  // namespace ctkit::installer::host
