#!/usr/bin/env bash
# tests/tooling/new_op.sh: ./dev new-op in a copy of the tree touches one new folder, and what it
# makes runs with the same bits for every instruction set, on WebAssembly and on a WebGPU device in
# software; its gradient is right. A gradient that is wrong is seen.
set -euo pipefail
cd "$(dirname "$0")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard |
  xargs -0 cp --parents -t "$copy" 2>/dev/null || true
root=$PWD
cd "$copy"
git init -q && git add -A && git -c user.name=x -c user.email=x@x commit -qm copy

./dev new-op twice_squared
touched=$(git status --short)
[ "$touched" = "?? src/ops/twice_squared/" ] ||
  { echo "new-op touches more than its folder: $touched"; exit 1; }
! ./dev new-op twice_squared 2>/dev/null || { echo "the same op is made twice"; exit 1; }
! ./dev new-op add 2>/dev/null || { echo "an op that exists is made again"; exit 1; }

# Compiled by what is compiled, not by where it lies: most of it is in the cache.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
build() { # PRESET TARGET
  cmake --preset "$1" >"$copy/$1.log" 2>&1 &&
    cmake --build --preset "$1" --target "$2" >>"$copy/$1.log" 2>&1 ||
      { tail -n 40 "$copy/$1.log"; exit 1; }
}
build release loom_run_op
here=$(build/release/tools/loom_run_op twice_squared twice_squared_back)
[ -n "$here" ] || { echo "the op printed nothing"; exit 1; }
ran="every instruction set here"

if command -v clang++-19 >/dev/null && command -v node >/dev/null; then
  build wasm loom_run_op
  there=$(node --no-warnings tools/verify/wasi_run.mjs build/wasm/tools/loom_run_op twice_squared \
    twice_squared_back)
  [ "$here" = "$there" ] || { echo "WebAssembly gives other bits: $there, here $here"; exit 1; }
  ran+=", WebAssembly"
else
  ran+=" (no WebAssembly: needs clang++-19 and node)"
fi
if [ -z "$(cd "$root" && . tools/dev/gpu.sh && gpu_missing)" ]; then
  # The adapter is found from the tree that has it.
  there=$(cd "$root" &&
    ./dev gpu "$copy/build/release/tools/loom_run_op" twice_squared twice_squared_back --gpu)
  [ "$here" = "$there" ] || { echo "the device gives other bits: $there, here $here"; exit 1; }
  ran+=", WebGPU"
else
  ran+=" (no WebGPU: no adapter)"
fi

# A wrong gradient is seen.
sed -i 's/(a\[c\] + a\[c\])/a[c]/' src/ops/twice_squared/twice_squared_kernels.h
build release loom_run_op
! build/release/tools/loom_run_op twice_squared twice_squared_back 2>/dev/null ||
  { echo "a wrong gradient passes"; exit 1; }
echo "a generated op has the same bits on $ran; its gradient is checked"
