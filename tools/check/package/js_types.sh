#!/usr/bin/env bash
# tools/check/package/js_types.sh: the declarations of the JavaScript package under TypeScript, and
# a file of right and wrong uses: each line that says `// wrong` must be refused, and no other; also
# every name that the package exports must be declared, and no other. Ends with 77 where npm or
# TypeScript is missing.
set -euo pipefail
cd "$(dirname "$0")/../../.."
command -v npm >/dev/null || { echo "needs npm"; exit 77; }
folder=build/js-types
mkdir -p "$folder"
if [ ! -f "$folder/node_modules/typescript/bin/tsc" ]; then
  npm install --silent --no-audit --no-fund --prefix "$folder" typescript@5.9.3 \
    @types/node@22.19.1 >"$folder/npm.log" 2>&1 ||
    { echo "needs npm's typescript: $folder/npm.log"; exit 77; }
fi
uses=bindings/js/test/typed_uses.ts
# The package is found by its name, as its users find it.
cat >"$folder/tsconfig.json" <<JSON
{
  "compilerOptions": {
    "strict": true, "noEmit": true, "target": "es2022", "module": "nodenext",
    "lib": ["es2022", "dom", "dom.iterable", "dom.asynciterable"], "types": ["node"],
    "typeRoots": ["node_modules/@types"]
  },
  "files": ["../../bindings/js/src/index.d.ts", "../../$uses"]
}
JSON
node "$folder/node_modules/typescript/bin/tsc" --project "$folder/tsconfig.json" --pretty false \
  >"$folder/uses.txt" || true
diff <(grep -n '// wrong' "$uses" | cut -d: -f1) \
  <(sed -n "s|^.*typed_uses.ts(\([0-9]*\),.*|\1|p" "$folder/uses.txt" | sort -nu) &&
  ! grep -v 'typed_uses.ts(\|^ ' "$folder/uses.txt" ||
  { cat "$folder/uses.txt"; echo "$uses: other lines are refused than those that say so"; exit 1; }
declared=$(sed -n 's/^export \(declare \)\?\(class\|function\|const\) \([A-Za-z0-9]*\).*/\3/p' \
  bindings/js/src/index.d.ts bindings/js/src/types/*.d.ts | sort -u)
exported=$(node --input-type=module -e "
  console.log(Object.keys(await import('./bindings/js/src/index.js')).sort().join('\n'))" |
  LC_ALL=C sort -u)
diff <(echo "$declared" | LC_ALL=C sort -u) <(echo "$exported") ||
  { echo "index.d.ts (<) and index.js (>) export other names"; exit 1; }
echo "the declarations, $(echo "$exported" | wc -l) names, and" \
  "$(grep -c '// wrong' "$uses") wrong uses refused"
