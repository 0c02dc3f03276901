#!/bin/sh
# demo.sh CTKIT [DIR [RELEASE]]: the GPU incident on a recorded node, explained, and mended on a copy of its files.
# DIR is another capture (capture.json beside root/) or a bare tree, for which RELEASE must be given.
# What the text claims is checked: exit status 1 if it is not so.
set -eu

ctkit=$1
incident=$(dirname "$0")/../../testdata/captures/gpu-node-1.7.27
node=${2:-$incident}
release=${3:-} # a capture knows its own
handlers='runtimes\.nvidia' # 6 lines with it when all is well: three handlers, each with its options
key='plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia'

if [ "$(realpath "$node")" = / ]; then
  echo "demo.sh: give a copy or a capture, not the machine itself" >&2
  exit 64
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -Rp "$node" "$work/node"
etc=$work/node/etc/containerd
[ -d "$etc" ] || etc=$work/node/root/etc/containerd
if [ ! -d "$etc" ]; then
  echo "demo.sh: no etc/containerd in $node" >&2
  exit 64
fi

say() { printf '\n# %s\n' "$*"; }
claim() { # claim TEXT COMMAND…
  text=$1
  shift
  if "$@"; then echo "ok: $text"; else
    echo "NOT SO: $text" >&2
    exit 1
  fi
}

# tell VERB [OPTION…]: run it on the copy, showing the command as a reader would type it
tell() {
  printf '$ ctkit'
  for word; do
    case $word in
      *\"*) printf " '%s'" "$word" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
  printf ' --root NODE\n'
  on "$work/node" "$@"
}
on() { # on TREE VERB [OPTION…]
  tree=$1 verb=$2
  shift 2
  "$ctkit" "$verb" --root "$tree" ${release:+--release "$release"} "$@"
}

handler_lines() { # of a tree
  on "$1" effective >"$work/effective.toml"
  grep -c "$handlers" "$work/effective.toml" || true
}

# with_only DROP-IN: handler lines when the node has no other drop-in
with_only() {
  rm -rf "$work/alone"
  cp -Rp "$node" "$work/alone"
  find "$work/alone" -path '*/conf.d/*' -name '*.toml' ! -name "$1" -exec rm {} +
  handler_lines "$work/alone"
}

say "A node with three GPU handlers in its files. How many lines of the effective config are about them?"
for drop_in in "$etc"/conf.d/*.toml; do
  [ -e "$drop_in" ] || continue
  name=${drop_in##*/}
  alone=$(with_only "$name")
  printf '%4s  with %s alone\n' "$alone" "$name"
done
broken=$(handler_lines "$work/node")
printf '%4s  with all files, as the node is\n' "$broken"
cp "$work/effective.toml" "$work/before.toml"
if [ "$node" = "$incident" ]; then
  claim "99-nvidia.toml works alone, and not beside registry.toml" \
    [ "$(with_only 99-nvidia.toml) $(with_only registry.toml) $broken" = "6 0 0" ]

  say "Who did that?"
  tell explain "$key" | tee "$work/explain"
  claim "registry.toml is named, with its line" grep -q 'registry\.toml:[0-9]' "$work/explain"
fi

say "What ctkit would change. Nothing is written yet."
tell plan

say "The same, written into a copy of the node's files."
tell apply --restart none

say "The effective config now."
mended=$(handler_lines "$work/node")
settings='^ *(config_path|sandbox_image|sandbox|SystemdCgroup|BinaryName) = .*[^"'"'"' =]|'"$handlers"
tell effective | grep -E "$settings"
claim "the handlers are there: $mended lines" [ "$mended" -eq 6 ]
if [ "$node" = "$incident" ]; then
  lines() { grep -E "^ *$1 = " "$2" | sort; }
  now=$work/effective.toml
  claim "registry.toml's config_path is kept" [ "$(lines config_path "$now")" = "$(lines config_path "$work/before.toml")" ]
  claim "the pause image is kept" [ "$(lines sandbox_image "$now")" = "$(lines sandbox_image "$work/before.toml")" ]
  claim "runc and the handlers have SystemdCgroup = true, as 99-nvidia.toml wants" \
    [ "$(grep -c 'SystemdCgroup = true' "$now") $(grep -c 'SystemdCgroup = false' "$now")" = "4 0" ]
fi

say "And back again."
tell uninstall
claim "the files are byte for byte what they were" diff -r "$node" "$work/node"
