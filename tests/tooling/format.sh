#!/usr/bin/env bash
# tests/tooling/format.sh: ./dev format in a copy of the tree touches the lines that changed and new files,
# and no other line, however wide.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v clang-format-19 >/dev/null || command -v clang-format >/dev/null || { echo "needs clang-format"; exit 77; }
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp --parents dev tools/dev/*.sh .clang-format "$copy"
cd "$copy"
printf 'int  wide( int a );\nint b;\nint c;\n' >old.cpp
git init -q && git add -A && git -c user.name=x -c user.email=x@x commit -qm copy
printf 'int  wide( int a );\nint   b = 1;\nint c;\nint  d( );\n' >old.cpp
printf 'int  e( );\n' >new.h
./dev format
[ "$(cat old.cpp)" = $'int  wide( int a );\nint b = 1;\nint c;\nint d();' ] || { cat old.cpp; exit 1; }
[ "$(cat new.h)" = 'int e();' ] || { cat new.h; exit 1; }
echo "changed lines and new files, nothing else"
