#!/usr/bin/env bash
# tests/tooling/rooms.sh: tools/check/source/modules.sh refuses what it is there to refuse, each
# planted in a copy of src.
set -euo pipefail
cd "$(dirname "$0")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard src tools dev |
  xargs -0 cp --parents -t "$copy"
cd "$copy"
git init -q
tools/check/source/modules.sh >/dev/null || { echo "the tree itself is refused"; exit 1; }

# refused FILE TEXT WHAT
refused() {
  printf '%s\n' "$2" >"$1"
  if tools/check/source/modules.sh >"$copy/out"; then echo "$3 passes"; exit 1; fi
  grep -qF "$1" "$copy/out" || { echo "$3: the file is not named"; exit 1; }
  rm "$1"
}
refused src/base/planted.h '#include "ops/program.h"' "a module that reaches up"
refused src/ops/webgpu/planted.h '#include "ops/cpu/executor.h"' \
  "a backend that reaches into the other"
refused src/ops/norms/planted.h '#include "ops/cpu/schedule.h"' \
  "a family that reaches into a backend"
refused src/ops/planted.h '#include "ops/lowering/lowered.h"' "a core file that knows the lowering"
refused src/ops/norms/planted.cpp "$(seq 401)" "a long file"
echo "five planted faults are refused"
