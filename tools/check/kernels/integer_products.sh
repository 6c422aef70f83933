#!/usr/bin/env bash
# tools/check/kernels/integer_products.sh: an instruction set that is forced by name has kernels of
# its own for integer products, made of that set's instructions, and no other kernel has them.
# Disassembles the library of every preset that is built.
set -euo pipefail
cd "$(dirname "$0")/../../.."

# preset, disassembler, object file, pattern that its integer products must have
table() {
  cat <<'TABLE'
release objdump                   kernels_avx2    vpmadd(ubsw|wd)
release objdump                   kernels_avxvnni vpdp(busd|wssd)
release objdump                   kernels_avx512  vpdp(busd|wssd)
release objdump                   kernels_amx     tdpbsud
aarch64 aarch64-linux-gnu-objdump kernels_dotprod [su]dot
TABLE
}
# What no other file of the portable profile may have: a machine without it would stop there.
owned='vpdp(busd|wssd)|tdpb[su][su]d|[[:space:]][su]dot[[:space:]]'
owners='kernels_(avxvnni|avx512|amx|dotprod)(_fast)?[.]cpp'

# counts TOOL LIBRARY: "object function count" of instructions with one of the patterns, by function
counts() {
  "$1" -dC --no-show-raw-insn "$2" | awk -v pattern="vpmadd(ubsw|wd)|$owned" '
    /file format/ { object = $1 }
    /^[0-9a-f]+ <.*>:$/ { name = $0; sub(/^[0-9a-f]+ </, "", name); sub(/>:$/, "", name) }
    match($0, pattern) {
      word = substr($0, RSTART, RLENGTH); gsub(/[[:space:]]/, "", word)
      product = name ~ /matmul_integer|integer_gemv|tile_panels|matmul_tiles/
      seen[object " " word " " (product ? "product" : "other")]++
    }
    END { for (key in seen) print key, seen[key] }'
}

checked= failed=0
say() { echo "$1"; failed=1; }
seen_preset=
while read -r preset tool object pattern; do
  library=build/$preset/libloom.a
  [ -e "$library" ] || library=build/$preset/libloom_verified.a  # of a verifier
  [ -e "$library" ] && command -v "$tool" >/dev/null || continue
  if [ "$seen_preset" != "$preset" ]; then
    all=$(counts "$tool" "$library")
    seen_preset=$preset
    stray=$(grep -E -- "$owned |(s|u)dot " <<<"$all" | grep -vE -- "^$owners" || true)
    [ -z "$stray" ] || say "$library: instructions that not every machine has: $stray"
  fi
  count=$(awk -v o="^$object[.]cpp" -v p="^($pattern)$" \
    '$1 ~ o && $2 ~ p && $3 == "product" { n += $4 } END { print n + 0 }' <<<"$all")
  checked+=" $object ($count)"
  [ "$count" -ge 6 ] || say "$library: the integer products of $object have $count of $pattern"
done < <(table)
[ -n "$checked" ] || { echo "nothing is built"; exit 77; }
[ "$failed" != 0 ] || echo "integer products of their own instructions in:$checked"
exit $failed
