#!/bin/sh
# Builds the fuzz targets and runs each for SECONDS, the C interface thirty times as long:
# tests/fuzz/run.sh SECONDS [TARGET...] One line per target: executions, covered edges. Fails on any
# finding, which then lies in build/fuzz/findings. The corpora stay in build/fuzz/corpus and grow
# from run to run; totals go into tests/LEDGER.md.
set -eu
seconds=${1:?"usage: tests/fuzz/run.sh SECONDS [TARGET...]"}
shift
cd "$(dirname "$0")/../.."
build=build/fuzz
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target fuzzers -- -k 0 >$build/build.log 2>&1 ||
  { cat $build/build.log; exit 1; }
python3 tests/fuzz/make_seeds.py $build/seeds
mkdir -p $build/findings
[ $# -gt 0 ] || set -- $(cd tests/fuzz/targets && ls ./*_fuzz.cpp | sed 's|./||; s|_fuzz.cpp||')

# ASan keeps freed memory; a small quarantine keeps -rss_limit_mb about the target.
export ASAN_OPTIONS="quarantine_size_mb=32${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
failed=0
for target in "$@"; do
  mkdir -p "$build/corpus/$target" "$build/seeds/$target"
  log=$build/$target.log
  dictionary=tests/fuzz/dictionaries/$target.dict
  status=0
  time=$seconds
  [ "$target" != abi ] || time=$((30 * seconds))
  "$build/fuzz/${target}_fuzz" -max_total_time="$time" -rss_limit_mb=512 -malloc_limit_mb=256 \
    -timeout=60 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$target-" $([ -f "$dictionary" ] &&
    echo "-dict=$dictionary") \
    "$build/corpus/$target" "$build/seeds/$target" >"$log" 2>&1 || status=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
  verdict="no finding"
  [ $status = 0 ] || { verdict="FINDING, see $log"; failed=1; }
  printf '%-14s %12s executions %6s edges  %s\n' "$target" "${runs:-?}" "${edges:-?}" "$verdict"
  # What was found and the input that shows it (Base64), for readers who have the output alone.
  [ $status = 0 ] || grep -aE -A 4 'ERROR: |runtime error: | does not hold|^Base64: ' "$log" |
    cut -c 1-2000 | head -40
done
exit $failed
