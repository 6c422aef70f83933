# ./dev soak: fuzzing and injected failures at the numbers of a release, here or packed for a
# machine that has neither compiler nor tree.

soak_programs="allocation_failures_test injection_test"

build_soak() {
  build_preset release $soak_programs
  setup_for all || say "going on without what could not be installed"
  cmake --preset fuzz >/dev/null
  cmake --build --preset fuzz --target fuzzers -- -k 0
  python3 tests/fuzz/make_seeds.py build/fuzz/seeds
}

# What campaign.sh and soak.sh need, without symbols, in FOLDER.
pack_soak() {
  local to=${1:?"./dev soak pack FOLDER"} file
  rm -rf "$to"
  mkdir -p "$to/fuzz" "$to/tests" "$to/corpus" "$to/data/tests/cases" "$to/data/tests/golden"
  for file in build/fuzz/fuzz/*_fuzz; do strip -o "$to/fuzz/${file##*/}" "$file"; done
  for file in $soak_programs; do strip -o "$to/tests/$file" "build/release/tests/$file"; done
  cp -r build/fuzz/seeds tests/fuzz/dictionaries tests/fuzz/campaign.sh tests/injection/soak.sh \
    "$to"
  [ ! -d build/fuzz/corpus ] || cp -r build/fuzz/corpus "$to"
  cp -r tests/cases/data "$to/data/tests/cases"
  cp -r tests/golden/onnx "$to/data/tests/golden"
  git rev-parse HEAD >"$to/commit"
  du -sh "$to" >&2
}

soak() {
  case ${1:-} in
    pack) build_soak; pack_soak "${2:-}" ;;
    "" | *[!0-9]*) die "soak SECONDS [TARGET...], or soak pack FOLDER" ;;
    *) build_soak; tests/injection/soak.sh; tests/fuzz/campaign.sh "$@" ;;
  esac
}
