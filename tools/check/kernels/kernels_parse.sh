#!/usr/bin/env bash
# tools/check/kernels/kernels_parse.sh: every *_kernels.h of src/ops parses by itself, as an editor
# reads it.
set -euo pipefail
cd "$(dirname "$0")/../../.."
generated=build/release/generated
[ -e $generated/ops/families.def ] || { echo "needs a configured release build"; exit 77; }
parse() { ${CXX:-g++} -std=c++20 -Isrc -I$generated -fsyntax-only -w -x c++ "$1"; }
proof=$(mktemp)
trap 'rm -f "$proof"' EXIT
echo 'namespace loom::cpu::LOOM_ISA { static i64 f() { return min(1, 2); } }' >"$proof"
! parse "$proof" 2>/dev/null || { echo "a header that includes nothing parses"; exit 1; }
count=0
for file in $(git ls-files --cached --others --exclude-standard 'src/ops/*_kernels.h'); do
  parse "$file"
  count=$((count + 1))
done
echo "$count kernel headers parse alone"
