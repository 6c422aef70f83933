#!/usr/bin/env bash
# tests/tooling/ids.sh: a number that stands twice, a gap, and a name that stands twice, planted in
# a copy of each numbered list, stop the one file that owns the list, and the compiler names the
# row. A kind that WGSL or a kernel numbers by hand is refused by tools/check/source/kinds.py.
set -euo pipefail
cd "$(dirname "$0")/../.."
generated=$PWD/build/release/generated
[ -e "$generated/ops/families.def" ] || { echo "needs a configured release build"; exit 77; }
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard src tools | xargs -0 cp --parents -t "$copy"
cd "$copy"
fail() { echo "$*"; exit 1; }
compile() { ${CXX:-g++} -std=c++20 -Isrc -I"$generated" -fsyntax-only -w -fmax-errors=3 "$1" \
  >"$copy/out" 2>&1; }

count=0
# planted WHAT LIST OWNER NAME: the owner does not compile any more, and the errors name the row.
planted() {
  ! compile "$3" || fail "$2: $1 passes"
  grep -qE "error: .*(\b|k)$4(\b|Form)" "$copy/out" ||
    { cat "$copy/out"; fail "$2: $1: the row $4 is not named"; }
  count=$((count + 1))
}

# list FILE MACRO OWNER: rows MACRO(id, name, ...).
list() {
  local file=$1 macro=$2 owner=$3 first last id name
  cp "$file" "$copy/kept"
  first=$(sed -nE "s/^$macro\(([0-9]+), (\w+)[,)].*/\2/p" "$file" | head -n 1)
  read -r id name < <(sed -nE "s/^$macro\(([0-9]+), (\w+)[,)].*/\1 \2/p" "$file" | tail -n 1)
  [ -n "$name" ] || fail "$file has no rows of $macro"
  sed -i -E "s/^$macro\($id, $name\b/$macro(0, $name/" "$file"
  planted "a number that stands twice" "$file" "$owner" "$name"
  cp "$copy/kept" "$file"
  sed -i -E "s/^$macro\($id, $name\b/$macro(77$id, $name/" "$file"
  planted "a gap" "$file" "$owner" "$name"
  cp "$copy/kept" "$file"
  sed -i -E "s/^$macro\($id, $name\b/$macro($id, $first/" "$file"
  planted "a name that stands twice" "$file" "$owner" "$first"
  cp "$copy/kept" "$file"
}

lists="src/ops/norms/norms.def LOOM_OP src/ops/op_table.cpp
src/ops/graph/kinds.def LOOM_UNARY src/ops/graph/kinds.cpp
src/ops/graph/kinds.def LOOM_BINARY src/ops/graph/kinds.cpp
src/ops/graph/kinds.def LOOM_REDUCE src/ops/graph/kinds.cpp
src/ops/softmax/kinds.def LOOM_SOFTMAX_KIND src/ops/softmax/softmax.cpp
src/ops/elementwise/activations.def LOOM_ACTIVATION src/ops/elementwise/activation.cpp
src/ops/products/decode/epilogues.def LOOM_EPILOGUE src/ops/products/decode/decode.cpp
src/ops/lowering/weight_forms.def LOOM_FORM src/ops/lowering/weight_forms.cpp
src/numeric/layouts.def LOOM_LAYOUT src/numeric/weight_format.cpp
src/numeric/dtypes.def LOOM_DTYPE src/numeric/dtype.cpp"
while read -r file macro owner; do
  compile "$owner" || { cat "$copy/out"; fail "$owner itself does not compile"; }
  list "$file" "$macro" "$owner"
done <<<"$lists"
# No list of kinds is left out.
for file in $(git -C "$OLDPWD" ls-files 'src/*.def'); do
  name=$(basename "$file" .def)
  case $file in
    src/ops/"$name/$name.def" | src/formats/onnx/operators.def | src/layers/*_samples.def) \
      continue ;;
  esac
  grep -qF "$file " <<<"$lists" || fail "$file is a numbered list that this test does not know"
done

# Two names of one text, an operator that stands twice, an op in the file of another family.
sed -i 's/^LOOM_UNARY(1, neg, "neg")/LOOM_UNARY(1, neg, "abs")/' src/ops/graph/kinds.def
planted "a text that stands twice" src/ops/graph/kinds.def src/ops/graph/kinds.cpp abs
sed -i 's/^LOOM_OPERATOR("Acos",/LOOM_OPERATOR("Abs",/' src/formats/onnx/operators.def
planted "an operator that stands twice" src/formats/onnx/operators.def \
  src/formats/onnx/infer/infer.cpp Abs
echo 'LOOM_OP(0, planted, cold, "x -> y", "", "", "")' >>src/ops/losses/losses.def
planted "an op with another family's number" src/ops/losses/losses.def src/ops/op_table.cpp planted

# Numbers by hand.
python3 tools/check/source/kinds.py >/dev/null || fail "the tree itself is refused"
by_hand() { # FILE LINE NAME
  cp "$1" "$copy/kept"
  printf '%s\n' "$2" >>"$1"
  ! python3 tools/check/source/kinds.py >"$copy/out" 2>&1 || fail "$1: '$2' passes"
  grep -qF "$1" "$copy/out" && grep -qF "$3 is numbered by hand" "$copy/out" ||
    { cat "$copy/out"; fail "$1: '$2' is not named"; }
  cp "$copy/kept" "$1"
  count=$((count + 1))
}
by_hand src/ops/elementwise/elementwise.wgsl 'const RELU = 1u;' RELU
by_hand src/ops/graph/binary.wgsl 'const B_ADD: u32 = 5u;' B_ADD
by_hand src/ops/webgpu/parts/weights.wgsl 'const BLOCK_FORM = 4u;' BLOCK_FORM
by_hand src/ops/elementwise/elementwise_kernels.h 'static constexpr int kGeluTanh = 5;' GeluTanh
by_hand src/ops/cpu/kernel_args.h 'enum : int { kPlain = 0, kA4 = 1 };' A4
echo "$count planted faults are refused"
