#!/usr/bin/env bash
# tools/check/kernels/new_dtype.sh: a dtype of an existing codec family is one row. In a copy of the
# sources it adds rows of types that do not exist (an 8-bit float, a 4-bit float, an 8-bit integer)
# to src/numeric/dtypes.def, changes nothing else, and builds tools/check/kernels/new_dtype.cpp,
# which encodes, decodes, prints, parses, morphs and reads them from a file. Half a minute on one
# core.
set -euo pipefail
cd "$(dirname "$0")/../../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/src"
cp -r src/base src/numeric src/formats "$copy/src"

table=$copy/src/numeric/dtypes.def
row='LOOM_DTYPE(21, fp8e3m4, Fp8e3m4, 8, bfloat, small_float(3, 4, 3, 0x6F, 0x70, 0x6F, 0x78),\
           largest, 0x1p-100, "F8_E3M4", 16, "", 0, "e3m4 float8_e3m4")\
LOOM_DTYPE(22, fp4e1m2, Fp4e1m2, 4, integer, small_float(1, 2, 1, 0x7, 0, 0x7, 0x7), min_error,\
           0x1p-100, "", 0, "", 0, "e1m2")\
LOOM_DTYPE(23, s8, S8, 8, integer, integer(-100, 100, 128), largest, 0x1p-100, "", 0, "", 0, "")'
sed -i "s|^#undef LOOM_DTYPE|$row\n&|" "$table"
changed=$(diff -rq src/base "$copy/src/base"; diff -rq src/formats "$copy/src/formats"
          diff -rq src/numeric "$copy/src/numeric") || true
[ "$(wc -l <<<"$changed")" = 1 ] && grep -q dtypes.def <<<"$changed" ||
  { echo "more than dtypes.def differs: $changed"; exit 1; }

sources=$(find "$copy/src/base" "$copy/src/numeric" "$copy/src/formats/safetensors" \
  "$copy/src/formats/torch" "$copy/src/formats/npy" -name '*.cpp' \
  ! -name '*_test.cpp' ! -name 'wasm_*')
mkdir "$copy/out"
# shellcheck disable=SC2086
printf '%s\n' $sources "$copy"/src/formats/{decode,tensor_file,sniff}.cpp \
  tools/check/kernels/new_dtype.cpp | xargs -P "${LOOM_JOBS:-2}" -I{} sh -c '
    case $2 in  # as src/numeric/module.cmake
      *_avx2.cpp) isa=-mavx2 ;;
      *_avx512.cpp) isa="-mavx512f -mavx512bw -mavx512vl -mavx512dq" ;;
    esac
    ${CXX:-g++} -std=c++20 -O1 -w -ffp-contract=off $isa -I"$1/src" -c "$2" \
      -o "$1/out/$(echo "$2" | tr / _).o"' build "$copy" {}
${CXX:-g++} "$copy"/out/*.o -pthread -o "$copy/new_dtype"
"$copy/new_dtype"
