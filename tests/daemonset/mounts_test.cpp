#include "daemonset/mounts.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::daemonset {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

/// Of the operator's container on a node with /run on a file system of its own.
const std::string kOperator =
    "500 400 0:50 / / rw,relatime - overlay overlay rw\n"
    "501 500 0:51 / /proc rw,nosuid - proc proc rw\n"
    "502 500 8:1 / /host ro,relatime master:1 - ext4 /dev/sda1 rw\n"
    "503 502 0:22 / /host/run rw,nosuid master:5 - tmpfs tmpfs rw\n"
    "504 502 8:2 / /host/var rw,relatime - ext4 /dev/sda2 rw\n"
    "505 500 8:1 /etc/containerd /runtime/config-dir rw,relatime - ext4 /dev/sda1 rw\n"
    "506 500 8:1 /etc/containerd/conf.d /runtime/config-dir.d rw,relatime - ext4 /dev/sda1 rw\n"
    "507 500 0:22 /containerd /runtime/sock-dir rw,nosuid - tmpfs tmpfs rw\n"
    "508 500 8:1 /usr/local/nvidia /usr/local/nvidia rw,relatime - ext4 /dev/sda1 rw\n"
    "509 500 8:2 /lib/kubelet/pods/x/etc-hosts /etc/hosts rw - ext4 /dev/sda2 rw\n"
    "510 500 8:1 /opt/read-only /read-only ro,relatime - ext4 /dev/sda1 rw\n"
    "511 500 0:22 /nvidia/driver /driver-root rw - tmpfs tmpfs rw\n"
    "512 500 8:1 /etc/with\\040blank /blank rw - ext4 /dev/sda1 rw\n";

TEST(Mounts, AreTheFoldersOfTheHostThatWeMayWriteElsewhere) {
  EXPECT_THAT(find_mapped_folders(kOperator, "/host"),
              ElementsAre(MappedFolder{"/etc/containerd", "/runtime/config-dir"},
                          MappedFolder{"/etc/containerd/conf.d", "/runtime/config-dir.d"},
                          MappedFolder{"/run/containerd", "/runtime/sock-dir"},
                          MappedFolder{"/usr/local/nvidia", "/usr/local/nvidia"},
                          MappedFolder{"/var/lib/kubelet/pods/x/etc-hosts", "/etc/hosts"},
                          MappedFolder{"/run/nvidia/driver", "/driver-root"},
                          MappedFolder{"/etc/with blank", "/blank"}));
}

TEST(Mounts, ThereAreNoneOnTheHostItselfOrInATree) {
  EXPECT_THAT(find_mapped_folders(kOperator, "/"), IsEmpty());
  EXPECT_THAT(find_mapped_folders(kOperator, "/tmp/node"), IsEmpty());
  EXPECT_THAT(find_mapped_folders("", "/host"), IsEmpty());
  EXPECT_THAT(find_mapped_folders("not a mount\n\n1 2 3\n", "/host"), IsEmpty());
}

TEST(Mounts, OfASubvolumeTheMountThatShowsItCounts) {
  const std::string mounts =
      "1 0 0:30 /@ /host ro - btrfs /dev/sda1 rw\n"
      "2 1 0:30 /@home /host/home rw - btrfs /dev/sda1 rw\n"
      "3 0 0:30 /@/etc/containerd /runtime/config-dir rw - btrfs /dev/sda1 rw\n"
      "4 0 0:30 /@home/user /data rw - btrfs /dev/sda1 rw\n"
      "5 0 0:30 /@homeless /other rw - btrfs /dev/sda1 rw\n";
  EXPECT_THAT(find_mapped_folders(mounts, "/host"),
              ElementsAre(MappedFolder{"/etc/containerd", "/runtime/config-dir"}, MappedFolder{"/home/user", "/data"}));
}

TEST(Mounts, AHostRootWhoseNameOnlyBeginsTheSameIsAnother) {
  const std::string mounts =
      "1 0 8:1 / /host ro - ext4 /dev/sda1 rw\n"
      "2 0 8:1 /etc /host2 rw - ext4 /dev/sda1 rw\n";
  EXPECT_THAT(find_mapped_folders(mounts, "/host"), Contains(MappedFolder{"/etc", "/host2"}));
}

TEST(Mounts, PathsOfOursBecomeTheHosts) {
  const auto folders = find_mapped_folders(kOperator, "/host");
  EXPECT_EQ(host_path(folders, "/host", "/runtime/config-dir/config.toml"), "/etc/containerd/config.toml");
  EXPECT_EQ(host_path(folders, "/host", "/runtime/config-dir.d/99-nvidia.toml"),
            "/etc/containerd/conf.d/99-nvidia.toml");
  EXPECT_EQ(host_path(folders, "/host", "/runtime/sock-dir/containerd.sock"), "/run/containerd/containerd.sock");
  EXPECT_EQ(host_path(folders, "/host", "/host/etc/containerd/config.toml"), "/etc/containerd/config.toml");
  EXPECT_EQ(host_path(folders, "/host", "/host"), "/");
  EXPECT_EQ(host_path(folders, "/host", "/etc/containerd/config.toml"), "/etc/containerd/config.toml");
  EXPECT_EQ(host_path(folders, "/host", "/hostess/x"), "/hostess/x");
  EXPECT_EQ(host_path({}, "/", "/etc/x"), "/etc/x");
}

}  // namespace
}  // namespace ctkit::daemonset
