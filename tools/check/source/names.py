#!/usr/bin/env python3
"""No private name stands where the field has one: identifiers of C++ and Python, and names in JSON.

    names.py              all files of the repository; 1 where one has such a name
    names.py --self-test  shows that each row of the table is seen

A row says which names, where they are private, and what the field says. A word that is plain
English elsewhere (`keep` of a sampler, `rate` of a dropout) is a row for the folders or the place
where it was the private one. base/fields/old_names.cpp has the old names of files, and the bindings
the aliases that the project's earlier documents print: ALIASES.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
CPP = r"\.(cpp|h|hpp|def)$"
PYTHON = r"\.py$"
ANY = r"\.(cpp|h|hpp|def|py|js|mjs|ts|html|json|md)$"
ALIASES = ("src/base/fields/old_names.cpp", "tests/e2e/old_names_test.cpp", "tests/data/old_names/",
           "tools/check/source/names.py", "CHANGELOG.md", "docs/decisions/", "tests/golden/",
           "third_party/")
# Names, files, folders ("" for all), what the field says, an example. Names are looked for in code;
# with TEXT in strings and documents too.
TEXT = True
ROWS = (
    (r"(Picture|picture)\w*|\w+_picture\w*", CPP, "", "Image, image", "struct Picture {};"),
    (r"shift_picture|LaneRuns|put_tile|expect_results|turn_rows|lay_out", CPP, "",
     "random_translate, Im2colPlan, store_tile, prefetch_output, pack_transposed, pack",
     "turn_rows(w);"),
    (r"Visit|NodeVisit", CPP, "", "LayerContext", "void f(Visit& v);"),
    (r"Emit", CPP, "", "ProgramBuilder", "Emit emit(program);"),
    (r"keep|kept", CPP, r"src/(layers|grid)/.*(?<!_test\.cpp)$", "save, saved",
     "v.keep(\"y\", y);"),
    (r"(group_)?outer_add\w*|col_sum(_\w+)?|gather_add\w*|value_matmul\w*", CPP, "src/",
     "weight_grad, bias_grad, embedding_grad, batched_matmul", "emit.outer_add(gy, x);"),
    (r"Places|uses|pick|pick_back", CPP, "src/(ops/graph|layers)/",
     "GatherIndices, inverse_index, index_select", "e.pick(x);"),
    (r"Each|EachConfig", CPP, "src/layers/", "TimeDistributed", "class Each {};"),
    (r"multiply", CPP, "src/ops/products/(?!integers)", "micro_kernel", "multiply<float>(n);"),
    (r"least|most|kMost\w*|kLeast\w*|least_|most_", CPP, "", "min, max, kMin, kMax",
     "const int kMostRows = 2;"),
    (r"Simplex", CPP, "", "SoftmaxKind", "enum class Simplex {};"),
    (r"choose_training|ChosenTraining|ChooseOptions|said|shown", CPP, "(src/train|apps|tests)/",
     "auto_config, AutoConfig, decisions", "t.said.push_back(s);"),
    (r"measured", CPP, "src/(ops|exec)/", "dynamic_rows, auto_device", "options.measured = true;"),
    (r"twin_\w*|on_twin_", CPP, "src/", "cpu_fallback", "on_twin_ = true;"),
    (r"crosses_rows|\w*CROSSES_ROWS", r"\.(cpp|h|hpp|def|py)$", "", "row_dependence, row_dependent",
     "flags | LOOM_LAYER_CROSSES_ROWS;"),
    (r'"type\\?": '
     r'?\\?"(cnn[123]|(max|avg)_pool[123]|conv_transposed[123]|each|pick|value_matmul)\\?"',
     ANY, "", "conv2d, max_pool2d, conv_transpose2d, time_distributed, index_select, "
     "batched_matmul", '{"type":"each"}', TEXT),
    (r'"(stack|carry|return)\\?": ?', r"\.(cpp|h|hpp|def|json|md)$", "",
     "num_layers, stateful, output", '{"stack": 2}', TEXT),
    (r'"combine\\?": ?\\?"filter\\?"', ANY, "", "gated", '{"combine": "filter"}', TEXT),
    (r'"schedule\\?": ?\{[^{}]*\\?"rate\\?"', ANY, "", "lr", '{"schedule": {"rate": 1}}', TEXT),
    (r'"shift\\?": ?\d', ANY, "", "random_translate", '{"shift": 1}', TEXT),
    (r"\b(stack|carry|returns|whole)=(?=[\d\"'TF])", r"\.(py|md)$",
     "(bindings|docs|examples|README)", "num_layers, stateful, output, global_pool",
     "L.LSTM(8, carry=True)", TEXT),
    (r"\b(loom_|welvet\.|loom::)simulate\b", ANY, "", "fake_quantize", "loom_simulate(f, 2);",
     TEXT),
    # Functions and options that users see. Of `reorder` the one of Seq2Seq stays: beams are
    # reordered in the field, too (ALLOWED).
    (r"(loom_\w+_)?(tile|words|give|choose)(?=\()", r"\.(h|hpp)$", "include/",
     "micro_kernel, split, return_sequences or output, auto_config", "void words(int n);"),
    (r"\w*reorder(?=\()(?<!loom_seq2seq_reorder)(?!\(std::span<const std::int32_t> from\))",
     r"\.(h|hpp)$", "include/", "transpose, permute", "int loom_tensor_reorder(loom_bytes b);"),
    (r'\bv\("(tile|words|give|choose|reorder)"', CPP, "src/",
     "micro_kernel, split, output, auto_config, transpose", 'v("give", o.give, {});', TEXT),
    (r"(?<=def )(tile|words|give|choose|reorder)(?=\()(?!\(self, rows: Any\))"
     r"|(tile|words|give|choose|reorder)(?=: \w)", PYTHON, "bindings/python/welvet/",
     "split, output, auto_config, permute", "def call(x, words: str) -> None: ..."),
    (r"(tile|words|give|choose|reorder(Async)?)(?=\??[:(])(?!\(from: ArrayLike<number>\))",
     r"\.d\.ts$", "bindings/js/src/", "split, output, autoConfig, permute",
     "  choose(x: number): void;"),
)
# What a row must not see: the order of beams.
ALLOWED = (
    ("include/loom/loom.h", "int32_t loom_seq2seq_reorder(loom_seq2seq seq2seq);"),
    ("include/loom/loom.hpp", "void reorder(std::span<const std::int32_t> from) {"),
    ("bindings/python/welvet/seq2seq.py", "def reorder(self, rows: Any) -> None:"),
    ("bindings/js/src/index.d.ts", "reorderAsync(from: ArrayLike<number>): Promise<void>;"),
)
MASK = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n]){1,8}\'', re.S)
PYTHON_MASK = re.compile(r'#[^\n]*|""".*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def code_of(name, text):
    mask = PYTHON_MASK if name.endswith(".py") else MASK
    return mask.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def found_in(name, text):
    """The private names of a file: line, name, what the field says."""
    code = None
    for pattern, kinds, where, instead, _, *text_too in ROWS:
        if not re.search(kinds, name) or not re.match(where, name):
            continue
        if text_too:
            looked_at = text
        else:
            code = looked_at = code if code is not None else code_of(name, text)
            pattern = r"(?<![\w])(?:%s)(?!\w)" % pattern
        for m in re.finditer(pattern, looked_at):
            yield looked_at.count("\n", 0, m.start()) + 1, m.group(), instead


def self_test():
    names = {CPP: ("src/%s/planted.h", "apps/planted.h"), PYTHON: ("bindings/planted.py",)}
    folders = ("ops/graph", "ops/products", "ops", "exec", "layers", "train", "base")
    for pattern, kinds, where, instead, example, *_ in ROWS:
        places = [n % f for f in folders for n in names[CPP][:1]]
        places += ["docs/planted.md", "bindings/planted.py", "include/planted.hpp",
                   "bindings/python/welvet/planted.py", "bindings/js/src/planted.d.ts"]
        if not any(hit[2] == instead for place in places for hit in found_in(place, example)):
            sys.exit("names: planted %r is not seen" % example)
    for name, line in ALLOWED:
        for _, word, _ in found_in(name, line):
            sys.exit("names: %r is seen in %s, where it is allowed" % (word, name))
    print("names: %d planted names are seen, and %d that are allowed are not"
          % (len(ROWS), len(ALLOWED)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true")
    if parser.parse_args().self_test:
        return self_test()
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout.split()
    wrong = 0
    for name in listed:
        path = ROOT / name
        if name.startswith(ALIASES) or not re.search(ANY, name) or not path.is_file():
            continue
        for line, word, instead in found_in(name, path.read_text(encoding="utf-8")):
            print("%s:%d: %s: the field says %s" % (name, line, word, instead))
            wrong += 1
    if wrong:
        sys.exit("names: %d private names" % wrong)
    print("names: none is private in %d files" % len(listed))


if __name__ == "__main__":
    main()
