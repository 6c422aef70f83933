#!/usr/bin/env bash
# tools/verify/verify_targets.sh [TARGET...]: builds the verifying program (loom_verify) for every
# target, runs it and prints its fingerprint, a line per target: that of the numerics table, and the
# beginning of that of the matrix of layers. Ends with 0 only where all are equal. A target without
# its tools is skipped; with LOOM_CI set that is a failure.
set -uo pipefail
cd "$(dirname "$0")/../.."
out=build/targets
limit=${LOOM_VERIFY_SECONDS:-900}  # of one run
jobs=${LOOM_JOBS:-$(nproc 2>/dev/null || echo 2)}

# A line is a preset, the commands it needs ("a|b": either), and the instruction sets to force ("-":
# what the target has).
targets() {
  cat <<'TABLE'
gcc-O0   g++                                               generic,avx2,avxvnni,avx512,amx
gcc-O3   g++                                               generic,avx2,avxvnni,avx512,amx
clang-O0 clang++-19                                        generic,avx2,avxvnni,avx512,amx
clang-O3 clang++-19                                        generic,avx2,avxvnni,avx512,amx
aarch64  aarch64-linux-gnu-g++,qemu-aarch64-static|qemu-aarch64 generic,dotprod
riscv64  riscv64-linux-gnu-g++,qemu-riscv64-static|qemu-riscv64 -
s390x    s390x-linux-gnu-g++,qemu-s390x-static|qemu-s390x       -
wasm     clang++-19,wasm-ld-19,node,wasm32-libc,wasm32-libc++   -
TABLE
}

# first_of "a|b": the first that is here.
first_of() {
  local name
  case $1 in
    wasm32-libc) [ -e /usr/include/wasm32-wasi/stdlib.h ] ; return ;;
    wasm32-libc++) [ -e /usr/include/wasm32-wasi/c++/v1/vector ] ; return ;;
  esac
  for name in ${1//|/ }; do command -v "$name" && return; done
  return 1
}

# report NAME RESULT TEXT [FINGERPRINTS]: prints the line and keeps it.
report() {
  printf '%s %s\n' "$2" "${4:-}" >"$out/$1.result"
  case $2 in
    equal) printf '%-16s %s\n' "$1" "$3" ;;
    *) printf '%-16s %s: %s\n' "$1" "$2" "$3" ;;
  esac
}

# runner TARGET: the command that runs its programs; nothing where the machine itself does.
runner() {
  case $1 in
    wasm) echo node --no-warnings tools/verify/wasi_run.mjs ;;
    aarch64 | riscv64 | s390x) first_of "qemu-$1-static|qemu-$1" ;;
  esac
}

run_program() {  # TARGET NAME [--isa ISA]
  local target=$1 name=$2 start=$SECONDS rc=0 all
  shift 2
  # shellcheck disable=SC2046
  timeout "$limit" $(runner "$target") "build/$target/tools/loom_verify" "$@" >"$out/$name.rows" \
    2>"$out/$name.err" || rc=$?
  all=$(tail -n 1 "$out/$name.rows")
  if [ $rc != 0 ] && grep -q "is not available here" "$out/$name.err"; then report "$name" skipped \
    "this machine does not have $2"
  elif [ $rc = 124 ]; then report "$name" FAILED "did not end within $limit s"
  elif [ $rc != 0 ]; then report "$name" FAILED "ended with $rc: $(tail -n 1 "$out/$name.err")"
  elif ! [[ $all =~ ^all\ ([0-9a-f]{64})\ ([0-9a-f]{64})$ ]]; then report "$name" FAILED \
    "the last line has no fingerprints: $all"
  else report "$name" equal \
    "${BASH_REMATCH[1]} ${BASH_REMATCH[2]:0:12} $(printf '%5d s' $((SECONDS - start)))" \
    "${BASH_REMATCH[1]}${BASH_REMATCH[2]}"
  fi
}

run_target() {  # TARGET NEEDS ISAS
  local target=$1 need isa log=$out/$1.log
  for need in ${2//,/ }; do
    first_of "$need" >/dev/null && continue
    report "$target" "$([ -n "${LOOM_CI:-}" ] && echo FAILED || echo skipped)" \
      "needs ${need/|/ or }"
    return
  done
  if ! { cmake --preset "$target" && cmake --build --preset "$target" -j $(((jobs + 1) / 2)); } \
    >"$log" 2>&1; then
    report "$target" FAILED "does not build: $(grep -m 1 -E 'error|Error' "$log"), see $log"
    return
  fi
  for isa in ${3//,/ }; do
    if [ "$isa" = - ]; then run_program "$target" "$target"; else run_program "$target" \
      "$target-$isa" --isa "$isa"; fi
  done
}

mkdir -p "$out"
rm -f "$out"/*.result "$out"/*.rows
for wanted in "$@"; do
  targets | grep "^$wanted " >/dev/null ||
    { echo "there is no target '$wanted': $(targets | awk '{ printf "%s ", $1 }')" >&2; exit 2; }
done
while read -r target needs isas; do
  [ $# = 0 ] || [[ " $* " == *" $target "* ]] || continue
  while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done  # two targets at a time
  run_target "$target" "$needs" "$isas" </dev/null &
done < <(targets)
wait

# Where targets differ, the rows that do are named.
failed=$(grep -l '^FAILED' "$out"/*.result 2>/dev/null | wc -l)
equal=$(cat "$out"/*.result | awk '$1 == "equal" { print $2 }' | sort | uniq -c | sort -rn)
count=$(awk '{ n += $1 } END { print n + 0 }' <<<"$equal")
kinds=$(grep -c . <<<"$equal")
if [ "$kinds" -gt 1 ]; then
  most=$(awk 'NR == 1 { print $2 }' <<<"$equal")
  reference=$(basename "$(grep -l " $most\$" "$out"/*.result | head -n 1)" .result)
  for result in $(grep -l '^equal' "$out"/*.result); do
    name=$(basename "$result" .result)
    rows=$(diff "$out/$reference.rows" "$out/$name.rows" |
      awk '$1 == ">" && $2 != "all" && ++n <= 20 {
             printf " %s", $2; for (i = 3; i < NF; ++i) printf "-%s", $i }')
    [ -z "$rows" ] || echo "$name differs from $reference in:$rows"
  done
fi
layers=$(cat "$out"/*.rows |
  awk '$1 == "layer" { types[$2]; dtypes[$3]; ways[$4]; n++ }
       END { print length(types), "layers x", length(dtypes), "dtypes x", length(ways),
                   "directions x targets =", n, "combinations" }')
echo "matrix: $layers; $count targets ran, $kinds fingerprint(s), $failed failed"
[ "$kinds" = 1 ] && [ "$failed" = 0 ]
