# Part of ./dev: running the tests and counting them. Sourced, not run. Every result is a line of
# build/test/results.txt: result <tab> suite <tab> test <tab> detail. A test program counts per
# test, a script as one test.
results=build/test/results.txt

# run_program PRESET NAME
run_program() {
  local log=build/test/$1.$2.log status=0 start=$SECONDS
  local with=env
  if [[ $1 != tsan && ($2 == gpu_test || $2 == c_api_test) ]] &&
    ! gpu_missing >"$log"; then with="./dev gpu"; fi
  $with "build/$1/tests/$2" --gtest_color=no >"$log" 2>&1 </dev/null || status=$?
  awk -v suite="$1/$2" -v status="$status" -f tools/dev/gtest.awk "$log" >"$log.results"
  cat "$log.results" >>"$results"
  awk -F'\t' -v suite="$1/$2" -v seconds=$((SECONDS - start)) '{ n[$1]++ } END {
    printf "%-28s %5d passed %4d failed %4d skipped %5d s\n", suite, n["passed"], n["failed"],
      n["skipped"], seconds }' "$log.results"
  sed -n 's/^matrix: /  &/p' "$log"  # what the layers' matrices have counted
}

# run_programs PRESET FILTER: the programs that CTest knows.
run_programs() {
  local name
  for name in $(ctest --test-dir "build/$1" -N | awk '/Test +#[0-9]+:/ { print $NF }'); do
    [[ $name == *$2* ]] || continue
    run_program "$1" "$name"
  done
}

# run_script NAME COMMAND...: exit status 0 is passed, 77 skipped (the last line says why), anything
# else failed. A program that does not end is ended and named: it must not take what comes after it
# along.
run_script() {
  local name=$1 log=build/test/${1//\//.}.log status=0 start=$SECONDS result within=()
  shift
  [ "$(type -t "$1")" = function ] || within=(timeout -k 10 "${LOOM_SCRIPT_SECONDS:-2400}")
  "${within[@]}" "$@" >"$log" 2>&1 </dev/null || status=$?
  [ $status != 124 ] || echo "did not end within ${LOOM_SCRIPT_SECONDS:-2400} s" >>"$log"
  case $status in 0) result=passed ;; 77) result=skipped ;; *) result=failed; cat "$log" >&2 ;; esac
  printf '%s\t%s\t%s\t%s\n' "$result" script "$name" "$(tail -n 1 "$log" | tr '\t' ' ')" \
    >>"$results"
  printf '%-28s %s %5d s\n' "$name" "$result" $((SECONDS - start))
}

skip_script() {
  printf 'skipped\tscript\t%s\t%s\n' "$1" "$2" >>"$results"
  printf '%-28s skipped: %s\n' "$1" "$2"
}

# A Python with NumPy, if there is one: the first python3 may be a user's own; the system's has what
# setup installed.
numpy_python() {
  if [ -x /usr/bin/python3 ] && ! python3 -c 'import numpy' 2>/dev/null
  then echo /usr/bin/python3
  else echo python3; fi
}

# The cases of tests/cases in the hosts that need no building; a case counts as a test. Node and
# Chromium come with JavaScript.
run_cases() {
  local host log start line python
  present command:python3 || { skip_script cases "needs python3"; return 0; }
  python=$(numpy_python)
  for host in c cpp python; do
    log=build/test/cases.$host.log start=$SECONDS
    "$python" tests/cases/run.py "$host" >"$log" 2>&1 </dev/null || true
    line=$(tail -n 1 "$log")
    case $line in
      *' passed, '*)
        grep -v ' passed, ' "$log" >&2 || true
        awk -v suite="cases/$host" \
          '/ passed, / { for (i = 2; i < NF; i += 2) for (k = 0; k < $i; ++k)
             print substr($(i + 1) ",", 1, index($(i + 1) ",", ",") - 1) "\t" suite "\tcase\t" $0
           }' \
          "$log" >>"$results"
        printf '%-28s %s %5d s\n' "cases/$host" "${line#* }" $((SECONDS - start)) ;;
      *' skipped: '*) skip_script "cases/$host" "${line#*: }" ;;
      *) cat "$log" >&2; printf 'failed\tscript\tcases/%s\t%s\n' "$host" "$line" >>"$results"
      printf '%-28s failed\n' "cases/$host" ;;
    esac
  done
}

# The programs of examples/, each a test; those in Python are skipped where it has no NumPy.
run_examples() {
  local log=build/test/examples.log start=$SECONDS status=0
  present command:python3 || { skip_script examples "needs python3"; return 0; }
  python3 tools/check/examples.py build/release >"$log" 2>&1 </dev/null || status=$?
  awk -v status=$status '
    /^(passed|failed|skipped) / {
      result = $1; failed += result == "failed"
      name = substr($0, length(result) + 2); detail = ""
      if (at = index(name, ": ")) { detail = substr(name, at + 2); name = substr(name, 1, at - 1) }
      else sub(/ [0-9.]+ s$/, "", name)
      gsub(/\t/, " ", detail)
      printf "%s\texamples\t%s\t%s\n", result, name, detail
    }
    END {
      if (!NR || (status != 0 && !failed)) printf "failed\texamples\t(all)\tends with %s\n", status
    }' "$log" >"$log.results"
  ! grep -q ^failed "$log.results" || cat "$log" >&2
  cat "$log.results" >>"$results"
  awk -F'\t' -v seconds=$((SECONDS - start)) '{ n[$1]++ } END {
    printf "%-28s %5d passed %4d failed %4d skipped %5d s\n", "examples", n["passed"],
      n["failed"], n["skipped"], seconds }' "$log.results"
}

# A Python with what the parity scripts compare against; in CI it is made where the system has none.
find_python() {
  local python
  for python in python3 build/venv/bin/python; do
    "$python" -c 'import numpy, tokenizers' 2>/dev/null && { echo "$python"; return 0; }
  done
  [ -n "${LOOM_CI:-}" ] || return 1
  { python3 -m venv --system-site-packages build/venv &&
    build/venv/bin/pip install --quiet numpy tokenizers; } >&2 || return 1
  echo build/venv/bin/python
}

# The Python that Debian's python3-torch is for, which need not be the first one there is.
torch_python() {
  local python
  for python in python3 /usr/bin/python3; do
    "$python" -c 'import torch, numpy' 2>/dev/null && { echo "$python"; return 0; }
  done
  return 1
}

# The same of Debian's python3-sklearn; in CI it is made where the system has none.
sklearn_python() {
  local python
  for python in python3 /usr/bin/python3 build/venv/bin/python; do
    "$python" -c 'import sklearn, numpy' 2>/dev/null && { echo "$python"; return 0; }
  done
  [ -n "${LOOM_CI:-}" ] || return 1
  { python3 -m venv --system-site-packages build/venv &&
    build/venv/bin/pip install --quiet scikit-learn; } >&2 || return 1
  echo build/venv/bin/python
}

# A Python with what opens LoRA adapters as others do; in CI it is made beside Debian's PyTorch, in
# versions that go with that one.
peft_python() {
  local python
  if [ -n "${LOOM_CI:-}" ]; then
    python=$(torch_python) || return 1
    # Debian's PyTorch calls itself 1.13.0a0, which pip takes for less than the 1.13.0 that peft
    # wants: with dependencies it would bring another one, of 5 GB.
    { "$python" -m venv --system-site-packages build/venv-peft &&
      build/venv-peft/bin/pip install --quiet transformers==4.46.3 tokenizers==0.20.3 \
        safetensors==0.5.3 huggingface-hub==0.26.5 jinja2==3.1.6 psutil &&
      build/venv-peft/bin/pip install --quiet --no-deps peft==0.14.0 accelerate==0.34.2 \
        xllamacpp==2026.10.11549; } >&2 ||
        return 1
  fi
  for python in build/venv-peft/bin/python python3 /usr/bin/python3; do
    "$python" -c 'import numpy, torch, transformers, peft, safetensors, jinja2' 2>/dev/null &&
      { echo "$python"; return 0; }
  done
  return 1
}

# A Python with the frameworks of the day, which the bridges absorb and which judge exports. CI
# makes it, once for a machine: 5 GB, of which PyTorch's CUDA parts are the most.
bridge_python() {
  local home=${LOOM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/loom}/bridges python
  if [ -n "${LOOM_CI:-}" ] && [ ! -e "$home/ready" ]; then
    { rm -rf "$home" && mkdir -p "$(dirname "$home")" && python3 -m venv "$home" &&
      timeout 1200 "$home/bin/pip" install --quiet torch &&
      timeout 600 "$home/bin/pip" install --quiet scikit-learn keras jax flax optax onnx \
        onnxruntime && touch "$home/ready"; } >&2 || return 1
  fi
  for python in "$home/bin/python" python3; do
    KERAS_BACKEND=jax "$python" -c \
      'import torch.export, sklearn, keras, jax, onnxruntime' 2>/dev/null &&
      { echo "$python"; return 0; }
  done
  return 1
}

# machines_python NAME IMPORTS PACKAGE...: a Python with what spreads Loom over machines, Ray or
# Flower, which pin each other's versions. CI makes it, once for a machine: 0.8 GB, 0.5 GB.
machines_python() {
  local home=${LOOM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/loom}/$1 imports=$2 python
  shift 2
  if [ -n "${LOOM_CI:-}" ] && [ ! -e "$home/ready" ]; then
    { rm -rf "$home" && mkdir -p "$(dirname "$home")" && python3 -m venv "$home" &&
      timeout 600 "$home/bin/pip" install --quiet "$@" && touch "$home/ready"; } >&2 || return 1
  fi
  for python in "$home/bin/python" python3; do
    "$python" -c "import numpy, $imports" 2>/dev/null && { echo "$python"; return 0; }
  done
  return 1
}

run_machines() {
  local home names name imports packages python
  while IFS=: read -r home names imports packages; do
    # shellcheck disable=SC2086
    python=$(machines_python "$home" "$imports" $packages) || python=
    for name in $names; do
      if [ -n "$python" ]; then
        run_script "parity/$name" env LOOM_LIBRARY="$PWD/build/release/libloom.so" \
          PYTHONPATH="$PWD/bindings/python" "$python" "tests/parity/machines/${name}_run.py"
      else skip_script "parity/$name" "needs $packages"; fi
    done
  done <<'TABLE'
ray:ray rehearsal:ray.data, ray.train, ray.serve:ray[data,train,tune,serve]==2.60.* numpy
flower:flower secure:flwr.simulation, ray:flwr[simulation]==1.42.* numpy
TABLE
}

# table_holds FILE COMMAND...: every line that COMMAND prints (its last word, where there are two)
# stands in FILE, however the file breaks it into lines.
table_holds() {
  local file=$1 line count=0 content
  content=$(tr -d '[:space:]' <"$1")
  shift
  "$@" >build/test/table.txt || return 1
  while read -r line; do
    [[ $line != *' '*' '* ]] && line=${line##* }
    grep -qF -- "${line//[[:space:]]/}" <<<"$content" ||
      { echo "$file does not hold: $line"; return 1; }
    count=$((count + 1))
  done <build/test/table.txt
  echo "$count lines"
  [ "$count" -gt 0 ]
}

# The checks against answers made with Python: name, then the command; PYTHON is the interpreter.
parity_checks() {
  cat <<'TABLE'
tokenizers   PYTHON tests/parity/models/tokenizers.py build/release/loom tokenize --count 20000
gguf-blocks  table_holds src/formats/decode_test.cpp PYTHON tests/parity/models/gguf_blocks.py
sampler      table_holds src/llm/generate/sampler_test.cpp PYTHON tests/parity/models/sampler.py
cases        PYTHON tests/cases/reference.py
packing      PYTHON tools/check/kernels/packing.py build/release
train-curves PYTHON tests/parity/train_curves.py build/release/tests/train_curves_driver
series       PYTHON tests/parity/series.py build/release/loom
dna          PYTHON tests/parity/dna.py build/release/libloom.so
torch-curves /usr/bin/python3 tests/parity/pytorch/torch_curves.py build/release/tests/train_curves_driver
TABLE
}

run_parity() {
  local python name command
  python=$(find_python) || python=
  while read -r name command; do
    if [ -z "$python" ]; then skip_script "parity/$name" "needs Python 3 with numpy and tokenizers"
    continue; fi
    # shellcheck disable=SC2086
    run_script "parity/$name" ${command//PYTHON/$python}
  done < <(parity_checks)
  while read -r name command; do
    # shellcheck disable=SC2086
    if python=$(torch_python); then run_script "parity/$name" "$python" $command
    else skip_script "parity/$name" "needs Python 3 with PyTorch and NumPy: Debian's python3-torch"
    fi
  done <<'TABLE'
torch-random    tests/parity/pytorch/torch_random.py
torch-natural   tests/parity/pytorch/torch_natural.py
torch-naturals  tests/parity/pytorch/torch_natural.py --random 30
torch-streams   tests/parity/pytorch/torch_streams.py
TABLE
  while read -r name command; do
    # shellcheck disable=SC2086
    if python=$(sklearn_python); then run_script "parity/$name" "$python" $command
    else skip_script "parity/$name" "needs Python 3 with scikit-learn: Debian's python3-sklearn"; fi
  done <<'TABLE'
tables          tests/parity/tables.py build/release/loom --short
cluster         tests/parity/cluster.py build/release/libloom.so
TABLE
  python=$(bridge_python) || python=
  while read -r name command; do
    # shellcheck disable=SC2086
    if [ -n "$python" ]; then run_script "parity/$name" env KERAS_BACKEND=jax \
      LOOM_LIBRARY="$PWD/build/release/libloom.so" PYTHONPATH=bindings/python "$python" $command
    else skip_script "parity/$name" "needs torch 2.1, scikit-learn, keras, jax, onnx, onnxruntime"
    fi
  done <<'TABLE'
torch-bridge    tests/parity/bridges/torch_models.py --count 30
torch-continues tests/parity/bridges/torch_models.py --train --count 12
keras-bridge    tests/parity/bridges/keras_models.py --count 15
jax-bridge      tests/parity/bridges/jax_models.py --count 15
sklearn-bridge  tests/parity/bridges/sklearn_models.py --count 15
keras-continues tests/parity/bridges/continued.py --count 6
onnx-exports    tests/parity/onnx/networks.py --count 60 --seed 2
bridge-docs     tools/check/docs.py build/release docs/guide/bridges-pytorch.md docs/guide/export.md
state-dicts     tests/parity/bridges/state_dicts.py --count 12
weight-files    tests/parity/pytorch/torch_files.py --count 30
bedrocks        tests/parity/bridges/bedrocks.py
TABLE
  if [ -n "$python" ]; then run_script parity/onnx-decoders env PYTHONPATH=bindings/python \
    LOOM_LIBRARY="$PWD/build/release/libloom.so" "$python" tests/parity/onnx/decoders.py \
    build/release/loom --types f32,f16,q8_0,q4_0\ nbits
  else skip_script parity/onnx-decoders "needs onnx and onnxruntime"; fi
  run_machines
  if python=$(peft_python); then
    run_script parity/peft "$python" tests/parity/models/peft_adapter.py build/release/loom
    run_script parity/model-exports "$python" tests/parity/models/model_exports.py \
      build/release/loom
  else skip_script parity/peft "needs Python 3 with PyTorch, transformers and peft"; fi
}

# run_node NAME FILE...: programs of node:test; counts per test.
run_node() {
  local name=$1 log=build/test/${1//\//.}.log status=0 start=$SECONDS
  shift
  node --test --test-reporter=tap "$@" >"$log" 2>&1 </dev/null || status=$?
  awk -v suite="$name" -v status="$status" '
    /^ok [0-9]+ - |^not ok [0-9]+ - / {
      result = /# SKIP/ ? "skipped" : /^ok/ ? "passed" : "failed"
      failed += result == "failed"
      sub(/^(not )?ok [0-9]+ - /, "")
      printf "%s\t%s\t%s\t\n", result, suite, $0
    }
    END { if (status != 0 && !failed) printf "failed\t%s\t(all)\tends with %s\n", suite, status }' \
      "$log" >"$log.results"
  grep -q "^failed" "$log.results" && cat "$log" >&2
  cat "$log.results" >>"$results"
  awk -F'\t' -v suite="$name" -v seconds=$((SECONDS - start)) '{ n[$1]++ } END {
    printf "%-28s %5d passed %4d failed %4d skipped %5d s\n", suite, n["passed"], n["failed"],
      n["skipped"], seconds }' "$log.results"
}

# The page's goldens are those of this build; the package in Node, as npm installs it, and in a
# browser.
run_javascript() {
  local name need= python
  run_script page-golden build/release/tools/page_golden examples/browser/golden.json --check
  present command:node || need="needs node"
  if [ -z "$need" ] && ! node bindings/js/scripts/prepare.mjs >build/test/javascript.log 2>&1; then
    need=$(tail -n 1 build/test/javascript.log)
    [ -z "${LOOM_CI:-}" ] || cat build/test/javascript.log >&2
  fi
  if [ -n "$need" ]; then
    for name in unit cases-node cases-chromium webgpu page tutorial phone bridge page-webgpu \
      npm-install
    do skip_script "javascript/$name" "$need"; done
    return
  fi
  run_node javascript/unit bindings/js/test/*/*.test.js
  run_script javascript/cases-node node bindings/js/test/cases/node.mjs
  run_script javascript/cases-chromium node bindings/js/test/cases/chromium.mjs
  run_script javascript/webgpu node bindings/js/test/browser/webgpu.mjs
  run_script javascript/page node bindings/js/test/browser/page.mjs
  run_script javascript/tutorial node bindings/js/test/docs/tutorial.mjs
  if python=$(bridge_python); then
    run_script javascript/phone env PYTHONPATH="$PWD/bindings/python" \
      LOOM_LIBRARY="$PWD/build/release/libloom.so" node bindings/js/test/docs/phone.mjs "$python"
  else skip_script javascript/phone "needs torch 2.1 and scikit-learn"; fi
  run_script javascript/bridge node tests/tooling/bridge_page.mjs build/release/loom
  run_script javascript/page-webgpu node bindings/js/test/browser/page.mjs --gpu
  if present command:npm; then run_script javascript/npm-install tools/check/package/npm.sh
  else skip_script javascript/npm-install "needs npm"; fi
}

# Skips that CI accepts are lines "suite<tab>test<tab>why" of tools/dev/allowed_skips.txt, with
# shell patterns; others become failures there.
forbid_skips() {
  local result suite test detail allowed_suite allowed_test why
  while IFS=$'\t' read -r result suite test detail; do
    if [ "$result" = skipped ]; then
      result=failed
      while IFS=$'\t' read -r allowed_suite allowed_test why; do
        case $allowed_suite in '' | '#'*) continue ;; esac
        # shellcheck disable=SC2053
        [[ $suite == $allowed_suite && $test == $allowed_test ]] && result=skipped
      done <tools/dev/allowed_skips.txt
      [ "$result" = skipped ] || detail="skipped, which CI does not accept: $detail"
    fi
    printf '%s\t%s\t%s\t%s\n' "$result" "$suite" "$test" "$detail"
  done <"$results" >"$results.ci"
  mv "$results.ci" "$results"
}

# What was skipped, in five lines at most: every test where there are no more, else a line for each
# of the reasons that most tests have: what stands before a colon, with what stands most often
# behind it.
say_skips() {
  local count
  count=$(grep -c '^skipped' "$results" || true)
  if [ "$count" -le 5 ]; then
    awk -F'\t' '$1 == "skipped" { printf "skipped  %s %s: %s\n", $2, $3, $4 }' "$results"
    return
  fi
  awk -F'\t' '$1 == "skipped" {
      key = $4; sub(/: .*/, "", key)
      if (!seen[$4]++) kinds[key]++
      if (seen[$4] > seen[shown[key]]) shown[key] = $4
      n[key]++
    }
    END {
      for (key in n) {
        more = kinds[key] > 1 ? sprintf(", and %d more of the kind", kinds[key] - 1) : ""
        printf "%d\t%s%s\n", n[key], shown[key], more
      }
    }' "$results" | sort -t"$(printf '\t')" -k1,1nr -k2 | awk -F'\t' -v results="$results" '
    NR <= 4 { printf "skipped %5d  %s\n", $1, $2 }
    NR > 4 { more += $1 }
    END {
      rest = more ? sprintf("skipped %5d  for %d other reasons; ", more, NR - 4) : "skipped        "
      printf "%s%s names every test\n", rest, results
    }'
}

# The last line is the one that counts.
summary() {
  [ -z "${LOOM_CI:-}" ] || forbid_skips
  say_skips
  awk -F'\t' '
    $1 == "failed" { fails = fails sprintf("FAILED   %s %s: %s\n", $2, $3, $4) }
    { n[$1]++ }
    END {
      printf "%s%d passed, %d failed, %d skipped\n", fails, n["passed"], n["failed"], n["skipped"]
      exit n["failed"] > 0 || n["passed"] == 0
    }' "$results"
}

# What needs another build, each with what it tests; it runs beside the rest and gives way to it.
run_compiled() {
  local LOOM_SCRIPT_SECONDS=${LOOM_SCRIPT_SECONDS:-3600}
  renice -n 10 "$BASHPID" >/dev/null
  # ThreadSanitizer over what threads share: the pool, and the objects of the C interface.
  build_preset tsan base_test c_api_test
  GTEST_FILTER='*Thread*' run_program tsan base_test
  GTEST_FILTER='*Thread*' run_program tsan c_api_test
  # Another compiler, another instruction set, the other order of bytes, and WebAssembly, whose
  # modules JavaScript needs anyway. ./dev verify --all-targets has the rest.
  run_script verify-targets tools/verify/verify_targets.sh clang-O3 aarch64 s390x wasm
  if [ ! -x tests/fuzz/run.sh ]; then skip_script fuzz "this tree has no fuzz targets"
  elif ! present command:clang++-19; then skip_script fuzz "needs clang++-19"
  else run_script fuzz tests/fuzz/run.sh "$1"; fi
}

run_all() {
  local fuzz_seconds=$1 sanitize=$2 compiled why
  (setup_for all) || say "going on without what could not be installed"
  run_script modules tools/check/source/modules.sh
  run_script modules-planted tests/tooling/rooms.sh
  run_script client python3 tools/check/source/client.py
  run_script client-planted python3 tools/check/source/client.py --self-test
  run_script kinds python3 tools/check/source/kinds.py
  run_script functions python3 tools/check/source/functions.py
  run_script functions-planted python3 tools/check/source/functions.py --self-test
  run_script format python3 tools/check/source/format.py
  run_script format-planted python3 tools/check/source/format.py --self-test
  run_script names python3 tools/check/source/names.py
  run_script names-planted python3 tools/check/source/names.py --self-test
  run_script python-types tools/check/package/python_types.sh
  run_script js-types tools/check/package/js_types.sh
  run_script prose python3 tools/check/source/prose.py
  run_script prose-planted python3 tools/check/source/prose.py --self-test
  run_script new-dtype tools/check/kernels/new_dtype.sh
  build_preset release
  run_script ids-planted tests/tooling/ids.sh
  run_script api python3 api/generate.py --check
  run_script generated python3 tools/check/generated.py build/release
  run_script docs python3 tools/check/docs.py build/release
  run_site
  run_script package tools/check/package/package.sh build/release
  run_programs release ""
  run_cases
  run_examples
  run_script examples-planted python3 tools/check/examples.py build/release --self-test
  run_script python tools/check/package/python.sh build/release/libloom.so
  # ASan and UBSan over all tests: twenty minutes of building on two cores, so it is asked for
  # (--sanitize).
  if [ -n "$sanitize" ]; then
    build_preset dev
    run_programs dev ""
  fi
  # What compiles stands behind what runs in Python on one core.
  run_compiled "$fuzz_seconds" &
  compiled=$!
  run_script model-first-300-steps tools/train_embedded.sh --first-steps
  run_parity
  if why=$(gpu_missing); then skip_script verify-gpu "$why"
  else run_script verify-gpu ./dev gpu build/release/loom verify --device gpu --against \
    tests/golden/numerics.txt; fi
  wait "$compiled" ||
    printf 'failed\tscript\tcompiled\tends with %s: a build of its failed\n' $? >>"$results"
  run_javascript
  run_script install tests/tooling/install.sh
  run_script small-memory env PYTHONPATH="$PWD/bindings/python" \
    LOOM_LIBRARY="$PWD/build/release/libloom.so" "$(numpy_python)" \
    tests/tooling/small_memory.py
  run_script skips tests/tooling/skips.sh
  run_script dev-format tests/tooling/format.sh
  run_script stranger tests/tooling/stranger.sh snippets option
  run_script new-op tests/tooling/new_op.sh
  run_script new-layer tests/tooling/new_layer.sh
  run_script kernels-parse tools/check/kernels/kernels_parse.sh
  run_script fused-instructions tools/check/kernels/fused.sh
  run_script integer-products tools/check/kernels/integer_products.sh
}

run_tests() {
  local all= filter= fuzz_seconds=10 sanitize=
  while [ $# -gt 0 ]; do
    case $1 in
      --all) all=1 ;;
      --sanitize) all=1; sanitize=1 ;;
      --fuzz) fuzz_seconds=${2:?"--fuzz SECONDS"}; shift ;;
      -*) die "test knows --all, --sanitize and --fuzz SECONDS, not '$1'" ;;
      *) filter=$1 ;;
    esac
    shift
  done
  setup_for test
  rm -rf build/test
  mkdir -p build/test
  : >"$results"
  if [ -n "$all" ]; then
    run_all "$fuzz_seconds" "$sanitize"
  else
    build_preset release
    run_programs release "$filter"
  fi
  summary
}
