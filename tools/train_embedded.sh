#!/usr/bin/env bash
# ./dev model: trains the embedded model from nothing in build/model and compares it with the one of
# this tree. Stopped, it goes on where it was.
# --first-steps   only the first 300 steps, from nothing, in build/model-ci: the weights after them
# are the same on every machine
set -euo pipefail
cd "$(dirname "$0")/.."

build() {
  cmake --preset release >/dev/null
  cmake --build --preset release -j "${LOOM_JOBS:-2}" --target train_embedded >/dev/null
}

case ${1:-} in
  --first-steps)
    build
    rm -rf build/model-ci
    result=$(build/release/tools/train_embedded build/model-ci --stop-after 300)
    rm -rf build/model-ci
    expected=$(cat models/first-steps.sha256)
    if [ "$result" != "$expected" ]; then
      printf 'expected  %s\ngot       %s\n' "$expected" "$result"
      exit 1
    fi
    echo "$result, as models/first-steps.sha256 says" ;;
  '')
    build
    build/release/tools/train_embedded build/model
    expected=$(cut -d ' ' -f 1 models/embedded.sha256)
    result=$(sha256sum build/model/embedded.entity | cut -d ' ' -f 1)
    if [ "$result" != "$expected" ]; then
      printf '%s differs from models/embedded.entity:\nexpected  %s\ngot       %s\n' \
        build/model/embedded.entity "$expected" "$result"
      exit 1
    fi
    echo "build/model/embedded.entity is models/embedded.entity, bit for bit: $result" ;;
  *)
    echo "usage: tools/train_embedded.sh [--first-steps]" >&2
    exit 2 ;;
esac
