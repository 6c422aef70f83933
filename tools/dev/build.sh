# Part of ./dev: configuring and building. Sourced, not run.

configure() {
  local preset=$1 tests=OFF
  present file:/usr/include/gtest/gtest.h && tests=ON
  mkdir -p build
  if ! cmake --preset "$preset" -DLOOM_TESTS=$tests >build/configure.log 2>&1; then
    cat build/configure.log >&2
    die "cmake could not configure preset $preset"
  fi
}

# build_preset PRESET [TARGET...]: on a terminal one line that ninja rewrites, otherwise a line for
# each tenth.
build_preset() {
  local preset=$1 targets=() start=$SECONDS
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  configure "$preset"
  if [ -t 2 ]; then
    NINJA_STATUS="building $preset  %p  %es  " cmake --build --preset "$preset" -j "$jobs" \
      "${targets[@]}" >&2
  else
    NINJA_STATUS="@@ %f %t " cmake --build --preset "$preset" -j "$jobs" "${targets[@]}" 2>&1 |
      awk -v preset="$preset" '
      $1 == "@@" && NF > 2 {
        if (int(10 * $2 / $3) > tenth) {
          tenth = int(10 * $2 / $3); printf "building %s  %d of %d\n", preset, $2, $3; fflush()
        }
        next
      }
      /^ninja: (no work|Entering)/ { next }
      { print }' >&2
    say "built $preset in $((SECONDS - start)) s"
  fi
}

build_program() { build_preset release loom_cli; }

demo() {
  setup_for build
  build_program
  build/release/loom
  # What this machine computes, against the golden table: a second.
  local all
  all=$(build/release/loom verify 2>/dev/null | tail -n 1)
  if grep -qxF "$all" tests/golden/numerics.txt; then say \
    "numerics fingerprint ${all#all }, that of tests/golden: every bit as on any other machine"
  else die "numerics fingerprint ${all#all } is not that of tests/golden/numerics.txt"; fi
}

# page [PORT | --out FOLDER]
page() {
  setup_for page
  node bindings/js/scripts/prepare.mjs || die "the WebAssembly module is not there"
  if [ "${1:-}" != --out ]; then exec node examples/browser/serve.mjs "${1:-8000}"; fi
  local out=${2:?"page --out FOLDER"}
  mkdir -p "$out/welvet"
  cp examples/browser/{index.html,style.css,*.js,golden.json} "$out"
  cp -r bindings/js/src bindings/js/dist bindings/js/package.json LICENSE "$out/welvet"
  say "$out is the page"
}
