#!/bin/sh
# run.sh SECONDS [TARGET…]: each fuzz target of build/sanitize (default: all) for SECONDS from its stored corpus,
# testdata/fuzz/TARGET, and from what grows on it in a folder that goes at the end. As many at once as there are processors.
#
# A finding is made smaller, kept in build/sanitize/findings and printed with the command that shows it again. Once mended, it
# goes to testdata/fuzz/TARGET/crash-… . Exit status 1 if there was one.
set -eu
cd "$(dirname "$0")/../.."

readonly build=build/sanitize
readonly minimising_seconds=60

seconds=${1:?usage: run.sh SECONDS [TARGET…]}
shift
[ $# -gt 0 ] || set -- cdi command_line crio effective imports_edit reader toolkit_config
if [ $# -gt 1 ]; then
  printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 tests/fuzz/run.sh "$seconds"
  exit
fi
target=$1

export ASAN_SYMBOLIZER_PATH=/usr/lib/llvm-19/bin/llvm-symbolizer UBSAN_OPTIONS=print_stacktrace=1
# Leaks show within a run; the check at each input's end halves the speed.
export ASAN_OPTIONS=detect_leaks=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# report TARGET INPUT: make the input smaller and print it.
report() {
  mkdir -p "$build/findings"
  kept=$build/findings/$1-$(basename "$2")
  "$build/fuzz_$1" -minimize_crash=1 -max_total_time="$minimising_seconds" -exact_artifact_path="$kept" "$2" \
    >"$work/minimise.log" 2>&1 || true
  [ -s "$kept" ] || cp "$2" "$kept"
  echo "-- finding, $(wc -c <"$kept") bytes (od -c):"
  od -A d -c "$kept" | head -n 40
  echo "-- again: $build/fuzz_$1 $kept"
}

mkdir -p "$work/corpus" "$work/findings"
cp "testdata/fuzz/$target"/* "$work/corpus/"
stored=$(find "$work/corpus" -type f | wc -l)
status=0
"$build/fuzz_$target" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
  -artifact_prefix="$work/findings/" "$work/corpus" >"$work/log" 2>&1 || status=$?
executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log")
new=$(($(find "$work/corpus" -type f | wc -l) - stored))
found=$(find "$work/findings" -type f | wc -l)
echo "$target: ${executions:-?} executions in $seconds s, $stored stored inputs, $new new, $found findings"
[ "$status" -ne 0 ] || exit 0
grep -vE '^(#|INFO:|stat::|\s*NEW_FUNC)' "$work/log" | head -n 40
for input in "$work/findings"/*; do
  [ ! -f "$input" ] || report "$target" "$input"
done
exit 1
