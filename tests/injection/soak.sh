#!/bin/sh
# Failing allocations, file errors, losses of power and kills at the numbers of a release:
# soak.sh [JOBS]. Works in a tree that is built, and beside what `./dev soak pack` packed. KILLS
# (10,000) and STATES (50,000) are of all kinds of files together. Fails if any test does.
set -eu
jobs=${1:-$(nproc)}
here=$(cd "$(dirname "$0")" && pwd)
tests=$here/tests
[ -d "$tests" ] || tests=$(cd "$here/../../build/release/tests" && pwd)
[ ! -d "$here/data" ] || export LOOM_SOURCE_DIR="$here/data"
export LOOM_SOAK=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

kills=$((${KILLS:-10000} / jobs + 1))
states=$((${STATES:-50000} / jobs + 1))
list() {
  echo "injection_test --gtest_filter=*FileErrors*"
  # Every allocation: four programs for each scenario.
  "$tests/allocation_failures_test" --gtest_list_tests | awk '
    /^[^ ]/ { suite = $1 } /^ / { for (i = 0; i < 4; ++i)
      print "env LOOM_PARTS=4 LOOM_PART=" i " allocation_failures_test --gtest_filter=" suite $1 }'
  seed=1
  while [ $seed -le "$jobs" ]; do
    echo "env LOOM_SEED=$seed LOOM_KILLS=$kills LOOM_STATES=$states injection_test" \
      "--gtest_filter=*Kills*:*PowerLoss*"
    seed=$((seed + 1))
  done
}
export PATH="$tests:$PATH" work
list | xargs -P "$jobs" -I{} sh -c '
  out=$(mktemp "$work/XXXXXX")
  # shellcheck disable=SC2086
  set -f; {} >"$out" 2>&1 || { echo "FAILED: {}"; touch "$work/failed"; cat "$out"; }
  grep -E "^[a-z_]+: [0-9]+ " "$out" || true' >"$work/report" || true
grep -vE "^[a-z_]+: [0-9]+ (kills|states)" "$work/report" || true
awk '
  $3 == "kills:" { kills[$1] += $2; k += $2 }
  $3 == "states:" { states[$1] += $2; s += $2 }
  END {
    for (kind in kills)
      printf "%s %d kills, %d states after a loss of power\n", kind, kills[kind], states[kind]
    printf "%d kills, %d states\n", k, s
  }' "$work/report"
[ ! -e "$work/failed" ]
