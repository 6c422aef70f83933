#!/usr/bin/env bash
# tools/check/package/package.sh BUILD_DIR: installs Loom into a scratch folder and builds the
# examples with nothing else: one compiler line, pkg-config, find_package. Ends with one line of
# what was built.
set -euo pipefail
cd "$(dirname "$0")/../../.."
build=$(cd "${1:-build/release}" && pwd) source=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$scratch/root
cmake --install "$build" --prefix "$root" >/dev/null
lib=$(dirname "$(find "$root" -name libloom.so)")
export LD_LIBRARY_PATH=$lib

cc -std=c99 -pedantic -Wall -Wextra -Werror -I"$root/include" "$source/examples/c/story.c" \
  -L"$lib" -lloom -o "$scratch/story"
"$scratch/story" >"$scratch/story.txt"
grep -q '^Once upon a time' "$scratch/story.txt"

export PKG_CONFIG_PATH=$lib/pkgconfig
if command -v pkg-config >/dev/null; then
  c++ -std=c++20 -Wall -Wextra -Werror $(pkg-config --cflags loom) "$source/examples/cpp/xor.cpp" \
    $(pkg-config --libs loom) -o "$scratch/xor"
else
  c++ -std=c++20 -Wall -Wextra -Werror -I"$root/include" "$source/examples/cpp/xor.cpp" -L"$lib" \
    -lloom -o "$scratch/xor"
fi
(cd "$scratch" && ./xor >xor.txt && [ -s xor.entity ])

# Both targets of the CMake package, which ask for C++20 themselves; the static one must give the
# same bits.
mkdir "$scratch/app"
cat >"$scratch/app/CMakeLists.txt" <<TEXT
cmake_minimum_required(VERSION 3.20)
project(app CXX)
find_package(Loom REQUIRED)
foreach(kind loom shared)
  add_executable(xor_\${kind} $source/examples/cpp/xor.cpp)
  target_link_libraries(xor_\${kind} PRIVATE Loom::\${kind})
endforeach()
TEXT
cmake -S "$scratch/app" -B "$scratch/app/build" -DCMAKE_PREFIX_PATH="$root" >/dev/null
cmake --build "$scratch/app/build" -j2 >/dev/null
for kind in loom shared; do
  (cd "$scratch" && "app/build/xor_$kind") | cmp - "$scratch/xor.txt"
done

# What the shared library promises: only the functions of the header, a few system libraries, a
# size.
exported=$(nm -D --defined-only "$lib/libloom.so" | awk '{print $3}' | sed 's/@.*//' | sort)
wanted=$(sed -n 's/^    \(loom_[a-z0-9_]*\);$/\1/p' src/c_api/exports.map | sort)
[ "$exported" = "$wanted" ] ||
  { echo "libloom.so exports something else than src/c_api/exports.map lists" >&2; exit 1; }
extra=$(objdump -p "$lib/libloom.so" | awk '/NEEDED/ { print $2 }' |
  grep -vE '^(libc|libm|libstdc\+\+|libgcc_s|ld-linux[-a-z0-9_]*)\.so' || true)
[ -z "$extra" ] || { echo "libloom.so needs $extra" >&2; exit 1; }
strip -o "$scratch/stripped.so" "$lib/libloom.so"
size=$(wc -c <"$scratch/stripped.so")
# Training from files (tables, images, texts, series, reports) and conversion are 0.5 MB of it; the
# limit is docs/decisions/0027-library-size.md. gold folds equal functions (cmake/modules.cmake);
# without it the library is larger.
limit=8200000
command -v ld.gold >/dev/null || limit=8200000
[ "$size" -lt "$limit" ] ||
  { echo "libloom.so has $size bytes stripped, the limit is $limit" >&2; exit 1; }
echo "examples build with the installed package: C, C++, CMake static and shared;" \
  "libloom.so: $size bytes stripped, $(echo "$exported" | wc -l) functions"
