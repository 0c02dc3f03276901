#!/bin/sh
# boot.sh NAME ROOTFS FOLDER: becomes a node, systemd as PID 1 of namespaces of its own. For node.py, which runs this in a
# mount namespace that nobody else sees.
#
# The root folder is only read: what the node writes goes to a tmpfs, and so do the container images, because containerd's
# snapshotter can't put an overlay on an overlay. FOLDER/files is laid over the root before the boot.
set -eu
name=$1 rootfs=$2 folder=$3

mount --make-rprivate /

# systemd-nspawn gives the node the layout of cgroups it finds, but new systemd knows v2 only. The node gets a cgroup of its
# own, so that the machine's is not handed over.
umount -R /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p "/sys/fs/cgroup/$name"
echo $$ >"/sys/fs/cgroup/$name/cgroup.procs"

# systemd-nspawn hands mounts on through a folder here, which it wants on a tmpfs.
mkdir -p /run/systemd
mount -t tmpfs tmpfs /run/systemd

mkdir -p "$folder/disk"
mount -t tmpfs tmpfs "$folder/disk"
mkdir "$folder/disk/upper" "$folder/disk/work" "$folder/disk/root"
root=$folder/disk/root
mount -t overlay overlay -o "lowerdir=$rootfs,upperdir=$folder/disk/upper,workdir=$folder/disk/work" "$root"

# These can't work without a kernel of the node's own; without them it reports `running`.
for unit in systemd-modules-load.service dev-hugepages.mount sys-kernel-debug.mount sys-kernel-tracing.mount \
  sys-kernel-config.mount; do
  ln -sfn /dev/null "$root/etc/systemd/system/$unit"
done
# containerd copies both into every pod.
[ -e "$root/etc/hosts" ] || echo '127.0.0.1 localhost' >"$root/etc/hosts"
[ -e "$root/etc/resolv.conf" ] || : >"$root/etc/resolv.conf"
cp -R "$folder/files/." "$root/"

# runc sets sysctls, loads device filters and keeps keys.
export SYSTEMD_NSPAWN_API_VFS_WRITABLE=1
exec systemd-nspawn --boot --register=no --keep-unit --machine="$name" --directory="$root" --console=pipe \
  --private-network --capability=all --system-call-filter='@keyring bpf' --tmpfs=/var/lib/containerd:mode=0711
