#!/bin/sh
# check_units.sh FOLDER CTKIT BINDIR: systemd takes the units in FOLDER, without a warning. Their ctkit, in BINDIR, isn't
# installed here: CTKIT, the one that was built, stands for it. Exit status 77 without systemd-analyze.
set -eu
folder=$1 ctkit=$2 bindir=$3

command -v systemd-analyze >/dev/null || { echo "check_units: no systemd-analyze here (Debian: systemd)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
for unit in "$folder"/ctkit*; do
  count=$((count + 1))
  sed "s|$bindir/ctkit |$ctkit |" "$unit" >"$work/${unit##*/}"
done
grep -q "^ExecStart=$ctkit run --foreground$" "$work/ctkit.service" ||
  { echo "check_units: ctkit.service does not start $bindir/ctkit" >&2; exit 1; }
! grep -n '@' "$folder"/ctkit* || { echo "check_units: a name was not put in" >&2; exit 1; }

SYSTEMD_UNIT_PATH=$work: systemd-analyze verify --man=no "$work"/ctkit* >"$work/said" 2>&1 || failed=yes
# Of units that are not ours nothing is asked.
if grep -F ctkit "$work/said" || [ "${failed:-}" ]; then
  cat "$work/said" >&2
  exit 1
fi
echo "check_units: $count units hold"
