#!/usr/bin/env bash
# tools/check/package/clean_root.sh FOLDER [MIRROR]: what the READMEs promise, in a Debian of
# nothing but its base system: pip install, npm install, and the installed package from C and C++.
# As root, with debootstrap and the network; takes some ten minutes on two cores and 2 GB in FOLDER,
# which is removed at the end. The machine's certificates are copied, since a network may have its
# own. Not part of ./dev test.
set -euo pipefail
[ $# -ge 1 ] && [ ! -e "$1" ] ||
  { echo "usage: tools/check/package/clean_root.sh FOLDER [MIRROR]; FOLDER must not exist yet" >&2
  exit 1; }
mkdir -p "$1"
root=$(cd "$1" && pwd) mirror=${2:-}
cd "$(dirname "$0")/../../.."

finish() {
  umount "$root/dev" "$root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$root"
}
trap finish EXIT

say() { printf '%5d s  %s\n' "$SECONDS" "$*"; }
inside() {
  chroot "$root" env -i HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive \
    PIP_CERT=/root/certificates.crt NODE_EXTRA_CA_CERTS=/root/certificates.crt \
    LOOM_JOBS="${LOOM_JOBS:-$(nproc)}" bash -euc "$1" >>"$root/log" 2>&1 ||
    { tail -n 30 "$root/log" >&2; echo "failed: $1" >&2; exit 1; }
}
# refused WORDS COMMAND: it fails and names what is missing.
refused() { if (inside "$2") 2>/dev/null || ! tail -n 30 "$root/log" |
  grep -q "$1"; then tail -n 30 "$root/log" >&2; echo "does not say '$1': $2" >&2; exit 1; fi; }

debootstrap --variant=minbase bookworm "$root" $mirror >/dev/null
cp -L /etc/resolv.conf "$root/etc/"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/root/certificates.crt"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
git clone -q . "$root/root/loom"
inside 'apt-get update
apt-get install -y --no-install-recommends python3-venv nodejs npm; python3 -m venv /root/venv'
say "a base system with Python and Node, and a clone of $(git rev-parse --short HEAD)"

refused 'cmake, ninja or make, a C++20 compiler' \
  'cd /root/loom; /root/venv/bin/pip install ./bindings/python'
refused 'apt-get install cmake ninja-build clang-19' \
  'mkdir -p /root/app; cd /root/app; npm install ../loom/bindings/js'
say "without compilers pip and npm say what is missing"

inside 'apt-get install -y --no-install-recommends cmake ninja-build g++
cd /root/loom; /root/venv/bin/pip install ./bindings/python'
cat >"$root/root/story.py" <<'PY'
from welvet import Transformer

model = Transformer.load_model("embedded")
for piece in model.generate_stream("Once upon a time", max_tokens=40, seed=7):
    print(piece, end="", flush=True)
story = model.generate("Once upon a time", max_tokens=40, temperature=0)
print()
print(story)
print(story.fingerprint)
PY
inside '/root/venv/bin/python /root/story.py | tail -n 1 >/root/print.python'
say "pip install ./bindings/python, and a story"

inside 'apt-get install -y --no-install-recommends clang-19 lld-19 wasi-libc libc++-19-dev-wasm32
cd /root/app; echo "{\"type\":\"module\"}" >package.json; npm install ../loom/bindings/js'
cat >"$root/root/app/story.js" <<'JS'
import { Transformer } from '@openfluke/welvet';

const model = await Transformer.loadModel('embedded');
for await (const text of model.generate('Once upon a time', { maxTokens: 40, seed: 7 }))
  process.stdout.write(text);
const settings = { maxTokens: 40, temperature: 0 };
const { text, fingerprint } = await model.generateText('Once upon a time', settings);
console.log();
console.log(text);
console.log(fingerprint);
JS
inside 'cd /root/app; node story.js | tail -n 1 >/root/print.node'
cmp "$root/root/print.python" "$root/root/print.node"
say "npm install ./bindings/js, and the same story: $(cat "$root/root/print.node")"

inside 'cd /root/loom
cmake -S . -B build/lib -G Ninja -DCMAKE_BUILD_TYPE=Release -DLOOM_CLI=OFF -DLOOM_TESTS=OFF
cmake --build build/lib; cmake --install build/lib; ldconfig'
inside 'cd /root; cc loom/examples/c/story.c -lloom -o story; ./story
c++ -std=c++20 loom/examples/cpp/xor.cpp -lloom -o xor; ./xor >xor.txt'
cat >"$root/root/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.20)
project(app CXX)
find_package(Loom REQUIRED)
add_executable(xor loom/examples/cpp/xor.cpp)
target_link_libraries(xor PRIVATE Loom::loom)
TEXT
inside 'cd /root; cmake -G Ninja -S . -B built; cmake --build built; built/xor | cmp - xor.txt'
say "cmake --install, and the examples in C and C++"
