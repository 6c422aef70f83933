#!/usr/bin/env bash
# tests/tooling/format.sh: ./dev format in a copy of the tree gives every C++ file the form that CI
# looks for, new ones too, and leaves generated headers and third parties alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v clang-format-19 >/dev/null || { echo "needs clang-format-19"; exit 77; }
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp --parents dev tools/dev/*.sh tools/check/source/format.py .clang-format "$copy"
cd "$copy"
mkdir -p include/loom third_party
printf 'int  wide( int a );\n' | tee old.cpp include/loom/loom.h >third_party/theirs.h
git init -q && git add -A && git -c user.name=x -c user.email=x@x commit -qm copy
printf 'int  e( );\n' >new.h
! python3 tools/check/source/format.py >out ||
  { cat out; echo "what is wrong is not seen"; exit 1; }
./dev format
python3 tools/check/source/format.py
[ "$(cat old.cpp new.h)" = $'int wide(int a);\nint e();' ] || { cat old.cpp new.h; exit 1; }
[ "$(cat include/loom/loom.h)" = 'int  wide( int a );' ] || { cat include/loom/loom.h; exit 1; }
[ "$(cat third_party/theirs.h)" = 'int  wide( int a );' ] || { cat third_party/theirs.h; exit 1; }
echo "all of ours, nothing else"
