#!/bin/sh
# Fuzzes on every core for SECONDS, all targets together: campaign.sh SECONDS [TARGET...]
# JOBS (all cores) programs run at a time; each takes its turn at one target and shares that
# target's corpus. Works in build/fuzz after tests/fuzz/run.sh has built it, or beside what `./dev
# soak pack` packed, on a machine that has neither compiler nor tree. Prints a line per target, then
# findings, each with its input in Base64; fails if there is one. OUT (./campaign) takes logs,
# corpora and findings.
set -eu
seconds=${1:?"usage: campaign.sh SECONDS [TARGET...]"}
shift
here=$(cd "$(dirname "$0")" && pwd)
home=$here
[ -d "$home/fuzz" ] || home=$(cd "$here/../../build/fuzz" && pwd)
[ ! -d "$home/data" ] || export LOOM_SOURCE_DIR="$home/data"
jobs=${JOBS:-$(nproc)}
mkdir -p "${OUT:-campaign}"
out=$(cd "${OUT:-campaign}" && pwd)
[ $# -gt 0 ] || set -- $(cd "$home/fuzz" && ls ./*_fuzz | sed 's|./||; s|_fuzz||')

# ASan keeps freed memory; a small quarantine keeps -rss_limit_mb about the target.
export ASAN_OPTIONS="quarantine_size_mb=32${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
rm -rf "$out/logs"
mkdir -p "$out/findings" "$out/logs"
# A target's turns, at least four for each core, so that all cores are busy to the end.
turns=$(((4 * jobs + $# - 1) / $#))
length=$((seconds * jobs / ($# * turns)))
[ $length -gt 0 ] || length=1

one() {
  target=$1 turn=$2
  log="$out/logs/$target.$turn"
  dictionary=$(ls "$home/dictionaries/$target.dict" "$here/dictionaries/$target.dict" 2>/dev/null |
    head -1)
  mkdir -p "$out/corpus/$target" "$home/seeds/$target" "$home/corpus/$target"
  # A machine of many cores may leave a program waiting: the limit is CPU time, in fuzz.h.
  "$home/fuzz/${target}_fuzz" -max_total_time="$length" -rss_limit_mb=512 -malloc_limit_mb=256 \
    -timeout=120 -max_len=65536 -print_final_stats=1 -reload=10 \
    -artifact_prefix="$out/findings/$target-" ${dictionary:+"-dict=$dictionary"} \
    "$out/corpus/$target" "$home/corpus/$target" "$home/seeds/$target" >"$log" 2>&1 </dev/null ||
    touch "$log.failed"
}

begin=$(date +%s)
for target in "$@"; do
  turn=0
  while [ $turn -lt $turns ]; do
    echo "$turn $target"
    turn=$((turn + 1))
  done
done | sort -n >"$out/turns"
# Each of `jobs` workers takes every jobs-th line.
worker=0
while [ $worker -lt "$jobs" ]; do
  awk -v n="$jobs" -v w="$worker" 'NR % n == w' "$out/turns" | while read -r turn target; do
    one "$target" "$turn"
  done &
  worker=$((worker + 1))
done
wait
rm -rf /tmp/loom_abi_fuzz.* /tmp/loom_adapter_fuzz.* /dev/shm/loom_adapter_fuzz.*

failed=0
printf '%-14s %14s %9s %8s  %s\n' target executions edges runs findings
for target in "$@"; do
  cat "$out/logs/$target".* | awk -v target="$target" '
    /^stat::number_of_executed_units:/ { runs += $2; n++ }
    / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:" && $(i + 1) > edges) edges = $(i + 1) }
    END { printf "%-14s %14d %9d %8d  ", target, runs, edges, n }'
  found=$(ls "$out/findings" | grep -c "^$target-" || true)
  broken=$(ls "$out/logs" | grep -c "^$target\..*\.failed" || true)
  echo "$found of $broken failed runs"
  [ "$broken" = 0 ] || failed=1
done
echo "$(($(date +%s) - begin)) s with $jobs jobs"
for log in "$out"/logs/*.failed; do
  [ -e "$log" ] || continue
  echo "== ${log##*/}"
  grep -aE -A 6 'ERROR: |runtime error: | does not hold|took .* CPU|^Base64: ' "${log%.failed}" |
    cut -c 1-2000 | head -60
done
exit $failed
