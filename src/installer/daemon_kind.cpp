#include "installer/daemon_kind.h"

#include <algorithm>
#include <array>

namespace ctkit::installer {

namespace {

/// containerd's own, and those of the distributions that bring their containerd along: k3s and RKE2, k0s, MicroK8s.
constexpr std::array<std::string_view, 4> kContainerdSockets = {"/run/containerd/containerd.sock",
                                                                "/run/k3s/containerd/containerd.sock",
                                                                "/run/k0s/containerd.sock",
                                                                "/var/snap/microk8s/common/run/containerd.sock"};
constexpr std::array<std::string_view, 1> kCrioSockets = {"/run/crio/crio.sock"};

/// Which library a release of CRI-O has is not recorded: the newest one that is released judges.
std::optional<cdi::Level> newest_level(int /*major*/, int /*minor*/, int /*patch*/) {
  return cdi::Level::v1_1_0;
}

constexpr std::array<DaemonKind, 2> kKinds = {
    {{.engine = "containerd",
      .version_mark = "containerd ",
      .prints_defaults = true,
      .reads_operators_config = true,
      .sockets = kContainerdSockets,
      .cdi_level = cdi::level_of_containerd},
     {.engine = "crio", .version_mark = "crio version", .sockets = kCrioSockets, .cdi_level = newest_level}}};

}  // namespace

std::span<const DaemonKind> daemon_kinds() {
  return kKinds;
}

const DaemonKind& kind_of(std::string_view version) {
  const auto* const found =
      std::ranges::find_if(kKinds, [&](const DaemonKind& kind) { return version.starts_with(kind.version_mark); });
  return found == kKinds.end() ? kKinds.front() : *found;
}

}  // namespace ctkit::installer
