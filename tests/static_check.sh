#!/bin/sh
# static_check.sh CTKIT: the program needs nothing but the kernel.
#
#  1. It is a position independent executable (DYN with the PIE flag) without interpreter and without needed libraries.
#  2. In a root that holds only it and a recorded tree, every reading verb prints what it prints outside.
set -eu

ctkit=$(realpath "${1:?usage: static_check.sh CTKIT}")
capture=$(cd "$(dirname "$0")/../testdata/captures/gpu-node-1.7.27" && pwd)

fail() {
  echo "static_check: $*" >&2
  exit 1
}

readelf --wide --file-header --program-headers --dynamic "$ctkit" >/dev/null || fail "cannot read $ctkit"
readelf --wide --file-header "$ctkit" | grep -q 'Type: *DYN' || fail "not position independent"
readelf --wide --dynamic "$ctkit" | grep -q 'FLAGS_1.*PIE' || fail "a library, not a program"
readelf --wide --program-headers "$ctkit" | grep -q INTERP && fail "wants a dynamic loader"
readelf --wide --dynamic "$ctkit" | grep NEEDED && fail "wants libraries"

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cp "$ctkit" "$root/ctkit"
cp -r "$capture" "$root/node"

in_empty_root() {
  if [ "$(id -u)" -eq 0 ]; then chroot "$root" "$@"; else unshare --map-root-user --root="$root" "$@"; fi
}

check() {
  verb=$1
  shift
  expected=$("$ctkit" "$verb" --root "$root/node" "$@") || fail "$verb $*: fails outside"
  found=$(in_empty_root /ctkit "$verb" --root /node "$@") || fail "$verb $*: fails in an empty root"
  [ -n "$found" ] && [ "$found" = "$expected" ] || fail "$verb $*: prints something else in an empty root"
}

check effective
check effective -o json
check effective --show-origin --release 2.1.9
check explain
check explain plugins.io.containerd.grpc.v1.cri.containerd.runtimes
check plan
check plan -o json
echo "static_check: $(stat --format=%s "$ctkit") bytes, static-pie, reads a tree in an empty root"
