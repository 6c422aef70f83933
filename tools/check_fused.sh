#!/usr/bin/env bash
# tools/check_fused.sh: no portable function may hold a fused multiply-add (numerics, rule 1). Disassembles the library of every preset that is
# built and names what it finds.
set -euo pipefail
cd "$(dirname "$0")/.."

# preset, disassembler, pattern of fused instructions
table() {
  cat <<'TABLE'
release objdump                   [[:space:]]vf(n)?m(add|sub)[0-9a-z]*
gcc-O3 objdump                    [[:space:]]vf(n)?m(add|sub)[0-9a-z]*
clang-O3 objdump                  [[:space:]]vf(n)?m(add|sub)[0-9a-z]*
aarch64 aarch64-linux-gnu-objdump [[:space:]](fn?m(add|sub)|fml[as]|bfmla[lbt]*|bfdot|bfmmla)[[:space:]]
riscv64 riscv64-linux-gnu-objdump [[:space:]](vf)?fn?m(add|sub|acc|sac)(\.|[[:space:]])
s390x s390x-linux-gnu-objdump     [[:space:]](vf|wf)?n?m[as](e|d)?br?[[:space:]]
TABLE
}

fused_in() { "$1" -d --no-show-raw-insn "$3" | grep -cE -- "$2" || true; }

# That the pattern works: a function that asks for one.
proof=$(mktemp -d)
trap 'rm -rf "$proof"' EXIT
echo 'float f(float a, float b, float c) { return __builtin_fmaf(a, b, c); }' >"$proof/f.cpp"
${CXX:-g++} -O1 -mfma -c "$proof/f.cpp" -o "$proof/f.o" 2>/dev/null || { echo "the compiler here makes no fused instruction to test with"; exit 77; }
[ "$(fused_in objdump '[[:space:]]vf(n)?m(add|sub)[0-9a-z]*' "$proof/f.o")" != 0 ] || { echo "a fused instruction is not seen"; exit 1; }

checked=0 failed=0
while read -r preset tool pattern; do
  library=build/$preset/libloom.a
  [ -e "$library" ] && command -v "$tool" >/dev/null || continue
  count=$(fused_in "$tool" "$pattern" "$library")
  checked=$((checked + 1))
  if [ "$count" != 0 ]; then
    failed=1
    echo "$library: $count fused instructions, the first:"
    "$tool" -dC --no-show-raw-insn "$library" | grep -E -m 200 -- "^[0-9a-f]+ <|$pattern" | grep -E -B1 -m 1 -- "$pattern" || true
  fi
done < <(table)
[ "$checked" != 0 ] || { echo "nothing is built"; exit 77; }
echo "$checked libraries without fused multiply-adds"
exit $failed
