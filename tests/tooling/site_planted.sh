#!/usr/bin/env bash
# tests/tooling/site_planted.sh: the site is not built where a link, an anchor or the navigation is
# wrong, each planted in a copy of the tree. Needs what ./dev docs has installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
site=$PWD/build/site
[ -x "$site/venv/bin/mkdocs" ] || { echo "needs ./dev docs"; exit 77; }
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard |
  grep -zvE '^(third_party|tests/data)/.*/' | xargs -0 cp --parents -t "$copy" 2>/dev/null || true
cd "$copy"
mkdir -p build && ln -s "$site" build/site
build() { ./dev docs >"$copy/log" 2>&1; }
build || { cat log; echo "the tree itself is refused"; exit 1; }

count=0
# refused FILE LINE WHAT: with the line at its end, FILE stops the build, which names WHAT.
refused() {
  cp "$1" before
  printf '\n%s\n' "$2" >>"$1"
  ! build || { echo "$1: '$2' passes"; exit 1; }
  grep -qF -- "$3" log && grep -q "docs: refused" log ||
    { cat log; echo "$1: '$3' is not named"; exit 1; }
  cp before "$1"
  count=$((count + 1))
}
refused docs/glossary.md '[a](nothing.md)' nothing.md
refused docs/glossary.md '[a](architecture.md#nowhere)' '#nowhere'
refused docs/glossary.md '[a](../src/nothing.h)' ../src/nothing.h
refused docs/glossary.md '![a](images/nothing.svg)' images/nothing.svg
refused docs/glossary.md '[a](../src/ops/README.md#nowhere)' '#nowhere'
refused src/ops/README.md '[a](nothing.h)' nothing.h
sed -i 's/(glossary.md)/(support.md)/' docs/README.md # a page that the navigation lacks
refused docs/README.md '' glossary.md
echo "$count planted faults are refused"
