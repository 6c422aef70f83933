#!/usr/bin/env bash
# tests/parity/bridges/tensorflow.sh [LIBLOOM]: TensorFlow itself, in a virtual environment made for
# it (1.5 GB, once for a machine): bedrocks, ladders, 60 random models of Keras, trainings that
# continue. Its processes have no PyTorch, which brings another LLVM: with both, they abort.
set -euo pipefail
cd "$(dirname "$0")/../../.."
LOOM_LIBRARY=$(realpath "${1:-${LOOM_LIBRARY:-build/release/libloom.so}}")
home=${LOOM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/loom}/tensorflow
if [ ! -e "$home/ready" ]; then
  rm -rf "$home"
  mkdir -p "$(dirname "$home")"
  python3 -m venv "$home"
  "$home/bin/pip" install --quiet 'tensorflow-cpu==2.21.*' 'keras==3.15.*' \
    jax flax optax numpy
  touch "$home/ready"
fi
export LOOM_LIBRARY PYTHONPATH=$PWD/bindings/python KERAS_BACKEND=tensorflow TF_CPP_MIN_LOG_LEVEL=3
bridges=tests/parity/bridges
"$home/bin/python" $bridges/bedrocks.py --planets tensorflow
"$home/bin/python" $bridges/tensorflow_own.py
"$home/bin/python" $bridges/keras_models.py --count 60
"$home/bin/python" $bridges/continued.py --framework keras --count 12
