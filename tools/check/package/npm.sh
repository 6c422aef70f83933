#!/usr/bin/env bash
# Installs the JavaScript package as npm does, from the folder and from what `npm pack` makes, into
# empty projects without a network, and lets a ten-line program generate a story there.
set -euo pipefail
package=$(cd "$(dirname "$0")/../../../bindings/js" && pwd)
export LOOM_NO_BUILD=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/pack"
npm pack --silent --offline --pack-destination "$work/pack" "$package" >/dev/null
packed=$(echo "$work"/pack/*.tgz)
for from in "$package" "$packed"; do
  project=$work/project-$(basename "$from")
  mkdir "$project"
  cd "$project"
  echo '{"private": true, "type": "module"}' >package.json
  npm install --silent --offline --no-audit --no-fund "$from"
  cat >story.js <<'JS'
import { Transformer } from '@openfluke/welvet';

const model = await Transformer.loadModel('embedded');
const { text, fingerprint } = await model.generateText('Once upon a time', { maxTokens: 30 });
console.log(text);
console.log(fingerprint);
JS
  node story.js >"$work/out"
  tail -n 1 "$work/out" >>"$work/prints"
done
size=$(stat -c %s "$packed")
[ "$(sort -u "$work/prints" | wc -l)" = 1 ] && [ "$(wc -l <"$work/prints")" = 2 ]
echo "installed from the folder and from a package of $size bytes: $(tail -n 1 "$work/prints")"
