#include "installer/host/posix_node_maker.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "installer/host/system_error.h"

namespace ctkit::installer::host {

using engine::Result;

namespace {

constexpr mode_t kNodeMode = 0666;
constexpr auto kUnfinishedName = ".ctkit-node";  // the node's lock is held: nobody else uses it

}  // namespace

Result<std::unique_ptr<PosixNodeMaker>> PosixNodeMaker::open(const std::string& folder) {
  auto root = RootFolder::open(folder);
  if (!root) return std::unexpected(root.error());
  return std::make_unique<PosixNodeMaker>(*std::move(root));
}

// Under another name first: it is there with its mode, or not at all.
Result<void> PosixNodeMaker::make_node(const toolkit::ControlNode& node) {
  const auto place = root_.final_place_of(node.path);
  if (!place) return std::unexpected(place.error());
  const int folder = place->folder.get();
  if (::unlinkat(folder, kUnfinishedName, 0) != 0 && errno != ENOENT) {
    return std::unexpected(make_system_error(errno, "remove what a killed run left beside", node.path));
  }
  const bool made = ::mknodat(folder, kUnfinishedName, S_IFCHR | kNodeMode, ::makedev(node.major, node.minor)) == 0 &&
                    ::fchmodat(folder, kUnfinishedName, kNodeMode, 0) == 0 &&
                    ::renameat(folder, kUnfinishedName, folder, place->name.c_str()) == 0;
  if (made) return {};
  auto error = make_system_error(errno, "make the device node", node.path);
  ::unlinkat(folder, kUnfinishedName, 0);
  return std::unexpected(error);
}

}  // namespace ctkit::installer::host
