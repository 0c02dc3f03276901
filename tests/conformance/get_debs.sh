#!/bin/sh
# get_debs.sh SUITE [PACKAGE…]: unpack packages (default: containerd) of a Debian suite into the cache, print the folder.
#
# Nothing is installed and this machine's apt settings stay as they are: apt gets a folder of its own, takes the mirror
# that the machine already uses (or $CTKIT_DEBIAN_MIRROR) and checks signatures against debian-archive-keyring.
# The cache, ${CTKIT_CACHE:-$HOME/.cache/ctkit}/debs/SUITE-PACKAGES, is used again for a week.
# Exit status 75: the suite cannot be downloaded, the last line on stderr says why. That is the one reason to skip a test.
set -eu

skip() { echo "get_debs.sh: $suite is not downloadable: $*" >&2; exit 75; }

suite=${1:?usage: get_debs.sh SUITE [PACKAGE…]}
shift
[ $# -gt 0 ] || set -- containerd

folder=${CTKIT_CACHE:-$HOME/.cache/ctkit}/debs/$suite-$(echo "$*" | tr ' ' '+')
if [ -n "$(find "$folder" -maxdepth 0 -mtime -7 2>/dev/null)" ]; then
  echo "$folder"
  exit 0
fi

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keyring" ] || { echo "get_debs.sh: no $keyring, install debian-archive-keyring" >&2; exit 1; }
# Of the archives that the machine lists (security updates are another one) the one that holds whole suites. apt knows
# an archive's name only after an update.
machine_mirror() {
  apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(LABEL) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    sed -n 's/^Debian main Debian //p' | head -n 1
}
mirror=${CTKIT_DEBIAN_MIRROR:-$(machine_mirror)}
[ -n "$mirror" ] || { apt-get -qq update || true; mirror=$(machine_mirror); } >&2
[ -n "$mirror" ] || skip "this machine lists no Debian mirror; name one in CTKIT_DEBIAN_MIRROR"

mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$folder.tmp.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/debs" "$work/unpacked"
: >"$work/apt/status"
echo "deb [signed-by=$keyring] $mirror $suite main" >"$work/apt/sources.list"

# forky's Release file has been seen past its Valid-Until; its signature is checked all the same.
fetch() {
  apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$work/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
      -o Dir::State="$work/apt" -o Dir::State::status="$work/apt/status" -o Dir::Cache="$work/apt/cache" \
      -o Acquire::Check-Valid-Until=false -o Acquire::Languages=none -o APT::Update::Error-Mode=any \
      -o APT::Sandbox::User=root "$@"
  }
  apt update && (cd "$work/debs" && apt download "$@")
}

attempt=1
until fetch "$@" >"$work/log" 2>&1; do
  [ $attempt -lt 3 ] || skip "$(tail -n 1 "$work/log" | sed 's|[a-z]*://[^ ]*|the mirror|')"
  attempt=$((attempt + 1))
  sleep 2
done

for deb in "$work"/debs/*.deb; do
  dpkg -x "$deb" "$work/unpacked"
done
touch "$work/unpacked" # dpkg gives the folder the package's age
rm -rf "$folder"
mv -T "$work/unpacked" "$folder"
echo "$folder"
