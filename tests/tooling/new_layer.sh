#!/usr/bin/env bash
# tests/tooling/new_layer.sh: ./dev new-layer in a copy of the tree touches one new folder; the
# build finds it, the conformance matrix runs it (forward, backward by finite differences, every
# dtype, files), PyTorch agrees with it, and its name in Python, schema and reference follow by
# tools/generate. A gradient that is wrong is seen.
set -euo pipefail
cd "$(dirname "$0")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard |
  xargs -0 cp --parents -t "$copy" 2>/dev/null || true
cd "$copy"
git init -q && git add -A && git -c user.name=x -c user.email=x@x commit -qm copy
fail() { echo "$*"; exit 1; }

./dev new-layer soft_gate
touched=$(git status --short)
[ "$touched" = "?? src/layers/soft_gate/" ] ||
  fail "new-layer touches more than its folder: $touched"
! ./dev new-layer soft_gate 2>/dev/null || fail "the same layer is made twice"
! ./dev new-layer dense 2>/dev/null || fail "a layer that exists is made again"
! ./dev new-layer max_pool2d 2>/dev/null ||
  fail "a layer that exists in another's folder is made again"

# Compiled by what is compiled, not by where it lies: most of it is in the cache.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
build() { # TARGET...
  cmake --build --preset release --target "$@" >"$copy/build.log" 2>&1 ||
    { tail -n 40 "$copy/build.log"; exit 1; }
}
matrix=(build/release/tests/conformance_test '--gtest_filter=*Matrix*/soft_gate:Layers.*')
cmake --preset release >"$copy/build.log" 2>&1 || { cat "$copy/build.log"; exit 1; }
build conformance_test describe loom_shared
"${matrix[@]}" >matrix.log || { cat matrix.log; fail "the matrix fails"; }
for test in EveryDtypeIsaAndThreadCountGivesTheSameBits \
  BackwardOfEveryDtypeIsThatOfTheDecodedWeights \
  GradientsEqualFiniteDifferences ReadsBackFromItsTopologyAndItsFile; do
  grep -q "OK .*Matrix.$test/soft_gate" matrix.log || fail "the matrix has not run $test of it"
done
grep -q "^matrix: 1 layers x 21 dtypes x 2 directions" matrix.log ||
  fail "not every dtype: $(grep ^matrix: matrix.log)"
ran="the matrix"
python=/usr/bin/python3
if "$python" -c 'import torch, numpy' 2>/dev/null; then
  "$python" tests/parity/pytorch/torch_random.py --type soft_gate --count 20 >torch.log ||
    { cat torch.log; fail "PyTorch disagrees"; }
  ran+=", PyTorch"
else
  ran+=" (no PyTorch)"
fi

python3 tools/generate
written=$(git status --short | grep -v '^??' | cut -c4- | tr '\n' ' ')
want="bindings/js/src/types/layers/others.d.ts bindings/js/src/types/topology.d.ts "
want+="bindings/python/welvet/layers/__init__.py "
want+="docs/reference/layers.md docs/reference/topology.md docs/reference/topology.schema.json "
want+="include/loom/layers.hpp "
[ "$written" = "$want" ] ||
  fail "tools/generate has written: $written"
grep -q "^    def __init__(self, gain: float = 1.0, \*, dtype" \
  bindings/python/welvet/layers/others.py || fail "no SoftGate in Python"
grep -q '^### soft_gate' docs/reference/layers.md || fail "no reference"
grep -q "type: 'soft_gate';" bindings/js/src/types/layers/others.d.ts ||
  fail "no type for JavaScript"
python3 -c 'import json
gate = json.load(open("docs/reference/topology.schema.json"))["$defs"]["soft_gate"]
assert gate["properties"]["gain"]["type"] == "number", gate' || fail "not in the schema"

# Another folder that says the same name; then a gradient that is wrong.
mkdir src/layers/soft_gate_too
sed 's/register_soft_gate/register_soft_gate_too/' src/layers/soft_gate/soft_gate.cpp \
  >src/layers/soft_gate_too/soft_gate_too.cpp
build describe
! python3 tools/generate --check 2>twice.log || fail "two layers of one name pass"
grep -q 'soft_gate: stands twice' twice.log ||
  { cat twice.log; fail "the layer that stands twice is not named"; }
rm -r src/layers/soft_gate_too
sed -i 's/scale(gy, of(config).gain)/scale(gy, 1)/' src/layers/soft_gate/soft_gate.cpp
build conformance_test
! "${matrix[@]}" >wrong.log || fail "a wrong gradient passes"
grep -q 'FAILED .*GradientsEqualFiniteDifferences/soft_gate' wrong.log ||
  { cat wrong.log; fail "finite differences do not see it"; }
echo "a generated layer passes $ran; its gradient is checked"
