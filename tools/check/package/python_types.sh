#!/usr/bin/env bash
# tools/check/package/python_types.sh: the annotations of the Python package under mypy, and a file
# of right and wrong uses: each line that says `# wrong` must be refused, and no other. Ends with 77
# where Python, venv or pip's packages are missing.
set -euo pipefail
cd "$(dirname "$0")/../../.."
folder=build/python-types
mkdir -p "$folder"
if ! "$folder/venv/bin/python" -c 'import mypy, numpy' 2>/dev/null; then
  rm -rf "$folder/venv"
  python3 -m venv "$folder/venv" >"$folder/venv.log" 2>&1 ||
    /usr/bin/python3 -m venv "$folder/venv" >"$folder/venv.log" 2>&1 ||
    { echo "needs Python 3 with venv"; exit 77; }
  "$folder/venv/bin/pip" install --quiet --disable-pip-version-check mypy==2.4.1 numpy==2.4.6 \
    >"$folder/venv.log" 2>&1 || { echo "needs pip's mypy and numpy: $folder/venv.log"; exit 77; }
fi
mypy() {
  MYPYPATH=bindings/python "$folder/venv/bin/mypy" --config-file tools/check/package/mypy.ini \
    --cache-dir "$folder/cache" --no-error-summary "$@"
}
mypy bindings/python/welvet bindings/python/planetbridging
uses=bindings/python/tests/typed_uses.py
mypy "$uses" >"$folder/uses.txt" || true
diff <(grep -n '# wrong' "$uses" | cut -d: -f1) \
  <(grep ': error: ' "$folder/uses.txt" | cut -d: -f2 | sort -nu) ||
  { cat "$folder/uses.txt"; echo "$uses: other lines are refused than those that say so"; exit 1; }
echo "the package, and $(grep -c '# wrong' "$uses") wrong uses refused"
