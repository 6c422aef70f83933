#!/usr/bin/env bash
# tests/tooling/install.sh: cmake --install after ./dev build, with nothing else built, as README.md says: the
# program tells its version and a C program links with -lloom.
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rm -f build/release/libloom.so build/release/libloom.so.*
./dev build 2>"$scratch/build.log" || { cat "$scratch/build.log"; exit 1; }
cmake --install build/release --prefix "$scratch/root" >"$scratch/install.log" 2>&1 || { cat "$scratch/install.log"; exit 1; }
"$scratch/root/bin/loom" --version
lib=$(dirname "$(find "$scratch/root" -name libloom.so)")
cc -std=c99 -I"$scratch/root/include" examples/c/story.c -L"$lib" -lloom -o "$scratch/story"
LD_LIBRARY_PATH=$lib "$scratch/story" >"$scratch/story.txt"
grep -q '^Once upon a time' "$scratch/story.txt"
echo "installed after ./dev build"
