#!/usr/bin/env bash
# tests/tooling/skips.sh: what ./dev test says of skipped tests, over results that are made here:
# five lines at most, the most frequent reasons first, and the count as the last line.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/dev/test.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
results=$scratch/results.txt
unset LOOM_CI

# skip COUNT REASON
skip() { for ((i = 0; i < $1; ++i)); do printf 'skipped\tsuite\ttest %d\t%s\n' "$i" "$2"; done; }
wants() {
  diff <(printf '%s\n' "$@") "$scratch/said" || { echo "expected the lines with <"; exit 1; }
}

{
  printf 'passed\tsuite\tone\t\n'
  skip 30 'test material is absent: mnist (expected in ../shared/data)'
  skip 40 'test material is absent: stories/hf (expected in ../shared/data)'
  skip 60 'no adapter: none was found'
  skip 5 'needs Python 3'
  skip 4 'needs npm'
  skip 3 'this machine has no AVX-512'
  skip 2 'reason of two'
} >"$results"
summary >"$scratch/said"
absent='test material is absent: stories/hf (expected in ../shared/data)'
wants "skipped    70  $absent, and 1 more of the kind" \
  'skipped    60  no adapter: none was found' \
  'skipped     5  needs Python 3' \
  'skipped     4  needs npm' \
  "skipped     5  for 2 other reasons; $results names every test" \
  '1 passed, 0 failed, 144 skipped'

# Five tests are named, and a failure is said as before.
{ skip 5 'needs npm'; printf 'passed\tsuite\tone\t\nfailed\tsuite\ttwo\tsee above\n'; } >"$results"
! summary >"$scratch/said" || { echo "a failure ends with 0"; exit 1; }
wants 'skipped  suite test 0: needs npm' 'skipped  suite test 1: needs npm' \
  'skipped  suite test 2: needs npm' 'skipped  suite test 3: needs npm' \
  'skipped  suite test 4: needs npm' 'FAILED   suite two: see above' '1 passed, 1 failed, 5 skipped'

{ skip 6 'needs npm'; printf 'passed\tsuite\tone\t\n'; } >"$results"
summary >"$scratch/said"
wants 'skipped     6  needs npm' "skipped        $results names every test" \
  '1 passed, 0 failed, 6 skipped'
echo "skips are said in five lines at most"
