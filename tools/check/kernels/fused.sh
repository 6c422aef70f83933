#!/usr/bin/env bash
# tools/check/kernels/fused.sh: no portable function may hold a fused multiply-add (numerics, rule
# 1). Disassembles the library of every preset that is built and names what it finds;
# kernels_<isa>_fast.cpp alone, the fast profile, may have some.
set -euo pipefail
cd "$(dirname "$0")/../../.."

# preset, disassembler, pattern of fused instructions, a compiler that fuses for the same machine
table() {
  cat <<'TABLE'
release objdump                   [[:space:]]vf(n)?m(add|sub)[0-9a-z]* g++ -mfma
gcc-O3 objdump                    [[:space:]]vf(n)?m(add|sub)[0-9a-z]* g++ -mfma
clang-O3 objdump                  [[:space:]]vf(n)?m(add|sub)[0-9a-z]* g++ -mfma
aarch64 aarch64-linux-gnu-objdump [[:space:]](fn?m(add|sub)|fml[as]|bfmla[lbt]*|bfdot|bfmmla)[[:space:]] aarch64-linux-gnu-g++
riscv64 riscv64-linux-gnu-objdump [[:space:]](vf)?fn?m(add|sub|acc|sac)(\.|[[:space:]]) riscv64-linux-gnu-g++
s390x s390x-linux-gnu-objdump     [[:space:]](vf|wf)?n?m[as](e|d)?br?[[:space:]] s390x-linux-gnu-g++
TABLE
}

# disassembled TOOL LIBRARY: without the fast profile
disassembled() { "$1" -dC --no-show-raw-insn "$2" |
  awk '/file format/ { fast = /_fast\.cpp/ } !fast'; }
fused_in() { disassembled "$1" "$3" | grep -cE -- "$2" || true; }

# Each pattern is first shown a function that asks for a fused instruction.
proof=$(mktemp -d)
trap 'rm -rf "$proof"' EXIT
echo 'float f(float a, float b, float c) { return __builtin_fmaf(a, b, c); }' >"$proof/f.cpp"

checked= failed=0
while read -r preset tool pattern compiler; do
  library=build/$preset/libloom.a
  [ -e "$library" ] || library=build/$preset/libloom_verified.a  # of a verifier
  [ -e "$library" ] && command -v "$tool" >/dev/null || continue
  $compiler -O1 -c "$proof/f.cpp" -o "$proof/f.o"
  [ "$(fused_in "$tool" "$pattern" "$proof/f.o")" != 0 ] ||
    { echo "$preset: the pattern does not see a fused instruction"; exit 1; }
  count=$(fused_in "$tool" "$pattern" "$library")
  checked+=" $preset"
  if [ "$count" != 0 ]; then
    failed=1
    echo "$library: $count fused instructions, the first:"
    disassembled "$tool" "$library" | grep -E -m 200 -- "^[0-9a-f]+ <|$pattern" |
      grep -E -B1 -m 1 -- "$pattern" || true
  fi
done < <(table)
[ -n "$checked" ] || { echo "nothing is built"; exit 77; }
[ "$failed" != 0 ] || echo "no fused multiply-add in:$checked"
exit $failed
