#!/usr/bin/env bash
# tests/tooling/install.sh: cmake --install after ./dev build, with nothing else built, as README.md
# says: the program tells its version, a C program links with -lloom, and find_package(Loom) gives
# C++ all it needs.
set -euo pipefail
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rm -f build/release/libloom.so build/release/libloom.so.*
./dev build 2>"$scratch/build.log" || { cat "$scratch/build.log"; exit 1; }
cmake --install build/release --prefix "$scratch/root" >"$scratch/install.log" 2>&1 ||
  { cat "$scratch/install.log"; exit 1; }
"$scratch/root/bin/loom" --version
lib=$(dirname "$(find "$scratch/root" -name libloom.so)")
cc -std=c99 -I"$scratch/root/include" examples/c/story.c -L"$lib" -lloom -o "$scratch/story"
LD_LIBRARY_PATH=$lib "$scratch/story" >"$scratch/story.txt"
grep -q '^Once upon a time' "$scratch/story.txt"

mkdir "$scratch/app"
cp examples/cpp/xor.cpp "$scratch/app"
cat >"$scratch/app/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.20)
project(app CXX)
find_package(Loom REQUIRED)
foreach(kind loom shared)
  add_executable(xor_${kind} xor.cpp)
  target_link_libraries(xor_${kind} PRIVATE Loom::${kind})
endforeach()
TEXT
(
  cmake -S "$scratch/app" -B "$scratch/app/build" -DCMAKE_PREFIX_PATH="$scratch/root"
  cmake --build "$scratch/app/build"
) >"$scratch/app.log" 2>&1 || { tail -n 30 "$scratch/app.log"; exit 1; }
for kind in loom shared; do
  (cd "$scratch" && "app/build/xor_$kind" | grep -q '^step 500 ')
done
echo "installed after ./dev build"
