# Part of ./dev: what a machine needs, and how it gets there. Sourced, not run.

# Each line: who needs it, how to see that it is there, the Debian package that brings it.
needs() {
  cat <<'TABLE'
build command:cmake                                   cmake
build command:ninja                                   ninja-build
build compiler                                        g++
build file:/usr/include/CLI/CLI.hpp                   libcli11-dev
test  file:/usr/include/boost/beast.hpp               libboost-dev
test  file:/usr/include/gtest/gtest.h                 libgtest-dev
test  file:/usr/include/stb/stb_image.h               libstb-dev
page  command:clang++-19                              clang-19
page  command:wasm-ld-19                              lld-19
all   file:/usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-x86_64.a libclang-rt-19-dev
page  file:/usr/include/wasm32-wasi/stdlib.h          wasi-libc
page  file:/usr/lib/llvm-19/include/wasm32-wasi/c++/v1/vector libc++-19-dev-wasm32
page  command:node                                    nodejs
all   command:npm                                     npm
all   command:chromium|chromium-browser|google-chrome chromium
all   command:qemu-aarch64|qemu-aarch64-static        qemu-user-static
all   command:aarch64-linux-gnu-g++                   g++-aarch64-linux-gnu
all   command:riscv64-linux-gnu-g++                   g++-riscv64-linux-gnu
all   command:s390x-linux-gnu-g++                     g++-s390x-linux-gnu
all   file:/usr/lib/chromium/vk_swiftshader_icd.json  chromium-common
all   loader:libvulkan.so.1                           libvulkan1
all   command:npm                                     npm
all   command:objdump                                 binutils
all   command:clang-format-19|clang-format            clang-format-19
all   command:ccache                                  ccache
all   command:python3                                 python3
all   python:numpy                                    python3-numpy
all   python:venv                                     python3-venv
all   torch                                           python3-torch
all   python:sklearn                                  python3-sklearn
TABLE
}

present() {
  case $1 in
    command:*)
      local name
      for name in $(tr '|' ' ' <<<"${1#*:}"); do command -v "$name" >/dev/null && return 0; done
      return 1 ;;
    compiler) command -v "${CXX:-c++}" >/dev/null || command -v g++ >/dev/null ||
      command -v clang++ >/dev/null ;;
    file:*) [ -e "${1#*:}" ] || cmake_finds "$1" ;;
    loader:*) ldconfig -p 2>/dev/null | grep "${1#*:}" >/dev/null ;;
    torch) python3 -c "import torch" 2>/dev/null ||
      /usr/bin/python3 -c "import torch" 2>/dev/null ;;
    python:*) python3 -c "import ${1#*:}" 2>/dev/null ||
      /usr/bin/python3 -c "import ${1#*:}" 2>/dev/null ;;
  esac
}

# A library that lies elsewhere than Debian puts it: what CMake was told counts.
cmake_finds() {
  case $1 in
    */CLI.hpp) [ -n "${CLI11_DIR:-}${CLI11_ROOT:-}${CMAKE_PREFIX_PATH:-}" ] ;;
    */gtest.h) [ -n "${GTest_DIR:-}${GTEST_ROOT:-}${CMAKE_PREFIX_PATH:-}" ] ;;
    *) return 1 ;;
  esac
}

# The packages that are missing for: build; test (and build); page (and build); all.
missing() {
  local who check package
  while read -r who check package; do
    case $1:$who in build:build | test:build | test:test | page:build | page:page | all:*) present \
      "$check" || echo "$package" ;; esac
  done < <(needs)
}

setup_for() {
  local packages sudo=
  packages=$(missing "$1" | sort -u | tr '\n' ' ')
  packages=${packages% }
  [ -n "$packages" ] || return 0
  if ! command -v apt-get >/dev/null; then
    die "missing: install what your system calls these Debian packages, then run this again:" \
      "$packages"
  fi
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
      die "missing: $packages. As root: apt-get install --no-install-recommends $packages"
    sudo=sudo
  fi
  say "installing with apt-get: $packages"
  export DEBIAN_FRONTEND=noninteractive
  local log=build/setup.log
  mkdir -p build
  if ! { $sudo apt-get update && $sudo apt-get install -y --no-install-recommends $packages; } \
    >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    die "apt-get failed; its whole output is in $log"
  fi
}

setup() {
  local who=test
  [ "${1:-}" = --all ] && who=all
  setup_for $who
  say "everything that is needed is here"
}
