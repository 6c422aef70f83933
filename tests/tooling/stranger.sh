#!/usr/bin/env bash
# tests/tooling/stranger.sh [STEP...]: what somebody does who has just cloned the repository; the
# steps are snippets, option, layer, op: all of them where none is named.
#   snippets  ./dev build, then every snippet of README.md; no file of the clone changes
#   option    a new option of a command: one file changes, and help, environment and the hint after
#             a misspelling know it
#   layer     tests/tooling/new_layer.sh: a new layer, one new folder
#   op        tests/tooling/new_op.sh: a new op with its gradient, one new folder
set -euo pipefail
cd "$(dirname "$0")/../.."
steps=("$@")
[ $# -gt 0 ] || steps=(snippets option layer op)
root=$PWD
clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
git ls-files -z --cached --others --exclude-standard |
  xargs -0 cp --parents -t "$clone" 2>/dev/null || true
cd "$clone"
git init -q && git add -A && git -c user.name=x -c user.email=x@x commit -qm clone
# Compiled by what is compiled, not by where it lies: most of it is in the cache.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
fail() { echo "stranger.sh: $*"; exit 1; }
# touched EXPECTED: what git says of the clone, a line a file.
touched() {
  local status
  status=$(git status --short)
  [ "$status" = "$1" ] || fail "touched: '$status', not '$1'"
}
build() { ./dev build 2>build.log.txt ||
  { cat build.log.txt; fail "./dev build"; }; rm build.log.txt; }

ran=
snippets() {
  build
  python3 tools/check/docs.py build/release README.md || fail "a snippet of README.md"
  # The module of WebAssembly that ./dev test --all has made in the tree, in place of another hour.
  if [ -e "$root/bindings/js/dist/loom.wasm" ] && command -v node >/dev/null; then
    cp -r "$root/bindings/js/dist" bindings/js/dist
    (cd bindings/js && node --test --test-name-pattern='of README.md$' test/docs/readme.test.js) \
      >js.txt ||
      { cat js.txt; fail "JavaScript of README.md"; }
    grep -q '^# pass [1-9]' js.txt || { cat js.txt; fail "README.md has no JavaScript"; }
    rm js.txt
    ran+="README.md in every language, "
  else
    ran+="README.md without JavaScript (no bindings/js/dist), "
  fi
  touched ""
}

option() {
  local file=apps/cli/commands/tokenize.cpp said
  sed -i -e '/^struct Args {/a\  std::string greeting;' \
    -e '/^void bind(/a\  c.add("--greeting", a.greeting, "a line to begin").type_name("TEXT");' \
    -e '/^int run(/a\  if (!a.greeting.empty() \&\& !print(a.greeting + "\\n")) return kFailed;' \
    "$file"
  touched " M $file"
  build
  said=$(echo Once | build/release/loom tokenize embedded --greeting hello)
  [[ $said == hello$'\n['*']' ]] || fail "--greeting: $said"
  said=$(echo Once | LOOM_GREETING=hi build/release/loom tokenize embedded)
  [[ $said == hi$'\n['*']' ]] || fail "LOOM_GREETING: $said"
  build/release/loom tokenize --help | grep -q -- '--greeting TEXT' || fail "help lacks --greeting"
  said=$(echo Once | build/release/loom tokenize embedded --greting x 2>&1) &&
    fail "a misspelled option passes"
  [[ $said == *'did you mean --greeting?'* ]] || fail "no hint: $said"
  touched " M $file"
  git checkout -q "$file"
  ran+="an option in one file, "
}

layer() { tests/tooling/new_layer.sh && ran+="a layer, "; }
op() { tests/tooling/new_op.sh && ran+="an op, "; }

for step in "${steps[@]}"; do
  case $step in
    snippets | option | layer | op) $step ;;
    *) fail "there is no step '$step': snippets, option, layer, op" ;;
  esac
done
echo "a stranger: ${ran%, }"
