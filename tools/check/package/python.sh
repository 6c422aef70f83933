#!/usr/bin/env bash
# tools/check/package/python.sh LIBRARY: makes the wheel of the Python package around a libloom.so,
# installs it into an environment of its own, and runs its tests there. Ends with 77 where Python,
# NumPy, or venv is missing.
set -euo pipefail
library=$(realpath "$1")
cd "$(dirname "$0")/../../.."
python=
for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import numpy, venv, ensurepip' 2>/dev/null && { python=$candidate; break; }
done
[ -n "$python" ] || { echo "needs python3 with numpy and venv"; exit 77; }
# The example of the package's README, with what the compiler made and without a compiler.
folder=build/python-check
rm -rf "$folder"
mkdir -p "$folder/wheel"
LOOM_LIBRARY=$library "$python" -m pip --disable-pip-version-check wheel --quiet --no-deps \
  --no-index --wheel-dir "$folder/wheel" ./bindings/python
"$python" -m venv --system-site-packages "$folder/venv"
PATH=/nonexistent "$folder/venv/bin/python" -m pip --disable-pip-version-check install --quiet \
  --no-index "$folder"/wheel/*.whl
sed -n '/^```python$/,/^```$/{/^```/d;p}' bindings/python/README.md >"$folder/readme.py"
unset LOOM_LIBRARY PYTHONPATH
(cd "$folder" && venv/bin/python readme.py >readme.txt) ||
  { cat "$folder/readme.txt"; echo "the README's example failed"; exit 1; }
WELVET_INSTALLED=1 "$folder/venv/bin/python" -m unittest discover bindings/python/tests \
  2>"$folder/tests.txt" || { cat "$folder/tests.txt"; exit 1; }
grep '^Ran ' "$folder/tests.txt"
