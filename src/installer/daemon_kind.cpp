#include "installer/daemon_kind.h"

#include <algorithm>
#include <array>

#include "engine/crio/loader.h"

namespace ctkit::installer {

namespace {

constexpr std::string_view kContainerdConfig = "/etc/containerd/config.toml";
constexpr std::array<std::string_view, 1> kContainerdSettings = {kContainerdConfig};
constexpr std::array<std::string_view, 2> kCrioSettings = {engine::crio::kConfigPath, engine::crio::kDropInFolder};

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

constexpr std::array<DaemonKind, 2> kKinds = {{{.engine = "containerd",
                                                .version_mark = "containerd ",
                                                .prints_defaults = true,
                                                .reads_operators_config = true,
                                                .usual_config = kContainerdConfig,
                                                .settings = kContainerdSettings,
                                                .sockets = kContainerdSockets,
                                                .cdi_level = cdi::level_of_containerd},
                                               {.engine = "crio",
                                                .other_name = "cri-o",
                                                .version_mark = "crio version",
                                                .usual_config = engine::crio::kConfigPath,
                                                .settings = kCrioSettings,
                                                .sockets = kCrioSockets,
                                                .cdi_level = newest_level}}};

}  // namespace

std::span<const DaemonKind> daemon_kinds() {
  return kKinds;
}

const DaemonKind* find_kind(std::string_view engine) {
  for (const DaemonKind& kind : kKinds) {
    if (engine == kind.engine || (!kind.other_name.empty() && engine == kind.other_name)) return &kind;
  }
  return nullptr;
}

const DaemonKind& kind_of(std::string_view version) {
  const auto* const found =
      std::ranges::find_if(kKinds, [&](const DaemonKind& kind) { return version.starts_with(kind.version_mark); });
  return found == kKinds.end() ? kKinds.front() : *found;
}

}  // namespace ctkit::installer
