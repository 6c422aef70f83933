#!/usr/bin/env python3
"""tools/check/generated.py BUILD_DIR: what is made of the field lists is up to date, and its checks
fail where they should. A field without documentation, a list that contradicts itself, a file that
was edited or forgotten: each is planted in a copy, and must be refused by name. The schema and the
program must agree about topologies, the schema and libloom.so about options (where Python has
jsonschema)."""
import argparse
import copy
import ctypes
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("build", type=pathlib.Path, nargs="?", default="build/release")
BUILD = parser.parse_args().build.resolve()
GENERATE = [sys.executable, str(ROOT / "tools/generate"), "--check"]
count = 0


def fail(text):
    sys.exit("generated: " + text)


def expect(what, words, *arguments):
    """--check with these arguments ends with an error that holds the words."""
    global count
    done = subprocess.run(GENERATE + [str(a) for a in arguments], capture_output=True, text=True)
    if done.returncode == 0:
        fail("%s is not noticed" % what)
    for word in words:
        if word not in done.stderr:
            fail("%s: expected %r in\n%s" % (what, word, done.stderr))
    count += 1


def plant_in_lists(described, scratch):
    def layer(whole, name):
        return next(one for one in whole["layers"] if one["type"] == name)

    def field(whole, name, key):
        return next(f for f in layer(whole, name)["fields"] if f["key"] == key)

    def plant(what, words, change):
        whole = copy.deepcopy(described)
        change(whole)
        path = scratch / "planted.json"
        path.write_text(json.dumps(whole))
        expect(what, words, "--description", path)

    plant("a field without documentation", ["layers conv_transpose1d: \"groups\" has no doc"],
          lambda w: field(w, "conv_transpose1d", "groups").update(doc=""))
    plant("a type that says nothing", ["layers dense: says nothing"],
          lambda w: layer(w, "dense").update(about=" "))
    plant("a default out of range", ["\"rate\": its default is not in its own range"],
          lambda w: field(w, "dropout", "rate").update(default=1))
    plant("a condition on no field", ["\"sub_norm_eps\": goes with \"sub\", which is no field"],
          lambda w: field(w, "swiglu", "sub_norm_eps")["only"].update(key="sub"))
    plant("a condition on no value", ["\"rows\": \"gird\" is no value of \"kind\""],
          lambda w: field(w, "softmax", "rows")["only"].update(values=["gird"]))
    plant("a range that changed", ["topology.schema.json", "layers.md", "layers/products.d.ts",
                                   "layers/linear.py"],
          lambda w: field(w, "dense", "out").update(min=2))
    plant("a key that only the library has", ["training-spec.schema.json", "training-spec.md",
                                              "training_spec.d.ts"],
          lambda w: w["validation"]["fields"].append(
              {"key": "often", "type": "integer", "default": 0, "doc": "how often"}))
    plant("a key that only the options have", ["options.schema.json", "options.md", "options.d.ts"],
          lambda w: next(o for o in w["options"] if o["type"] == "verify")["fields"].append(
              {"key": "often", "type": "integer", "default": 0, "doc": "how often"}))
    plant("an option without documentation", ["options generator_start: \"stop\" has no doc"],
          lambda w: next(f for o in w["options"] if o["type"] == "generator_start"
                         for f in o["fields"] if f["key"] == "stop").update(doc=""))
    plant("a layer that is new", ["layers.md", "layers/others.py", "topology.d.ts",
                                  "layers/others.d.ts", "topology.schema.json", "layers.hpp"],
          lambda w: w["layers"].append({**layer(w, "dense"), "type": "gate"}))
    plant("a layer type that stands twice", ["layers dense: stands twice"],
          lambda w: w["layers"].append(layer(w, "dense")))
    plant("two layers of one name in Python", ["two layers are called RNN"],
          lambda w: w["layers"].append({**layer(w, "dense"), "type": "r_n_n"}))


def plant_in_structs():
    """Structs of options (api/loom.json) that do not agree with the options."""
    global count
    sys.path.insert(0, str(ROOT / "api"))
    import option_structs
    session = json.loads((ROOT / "api/loom.json").read_text())["structs"][0]
    members = [member for version in session["versions"] for member in version]
    for what, versions, words in (
            ("an option that a struct lacks", [members[:-1]], "session_options lacks activations"),
            ("a member that is no option", [members + ["rows"]], "no option is called rows"),
            ("a later member that begins at 64", [members[1:], members[:1]],
             "max_rows: a later member begins at 0")):
        try:
            option_structs.Struct({**session, "versions": versions})
        except (SystemExit, AssertionError) as error:
            if words not in str(error):
                fail("%s: expected %r in %s" % (what, words, error))
            count += 1
        else:
            fail("%s is not noticed" % what)


def plant_in_files(scratch):
    outputs = subprocess.run(
        [sys.executable, "-c", "import runpy, sys; sys.path.insert(0, sys.argv[1]); "
         "print(*runpy.run_path(sys.argv[1] + '/__main__.py')['OUTPUTS'])",
         str(ROOT / "tools/generate")], capture_output=True, text=True, check=True).stdout.split()
    tree = scratch / "tree"
    outputs = [path for path in outputs if (ROOT / path).exists()]  # there may be no others.py
    for path in outputs:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tree / path)
    for path in outputs:
        whole = (tree / path).read_text()
        made = ("| `log_every`", '"log_every"', "logEvery", "batched_matmul", "avg_pool3d",
                # not by hand
                "| `ignore_eos`", '"ignore_eos"', "ignoreEos", "Made by tools/generate")
        at = whole.rindex(next(text for text in made if text in whole))
        (tree / path).write_text(whole[:at] + "x" + whole[at:])
        expect("an edit of " + path, [path], "--root", tree, BUILD)
        (tree / path).write_text(whole)


def plant_in_source(scratch):
    """A layer whose source has lost the documentation of a field, built into a describe."""
    source = ROOT / "src/layers/dense/dense.cpp"
    said = '{.doc = "adds a learned vector"}'
    text = source.read_text()
    if said not in text:
        fail("%s does not hold %s any more: name another field here" % (source, said))
    (scratch / "dense.cpp").write_text(text.replace(said, "{}"))
    lines = subprocess.run(["ninja", "-C", str(BUILD), "-t", "commands", "tools/describe"],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    made = "tools/CMakeFiles/describe.dir/__/src/layers/dense/dense.cpp.o"
    compile_line = next(line for line in lines if " -o %s " % made in line)
    link = next(line for line in lines if " -o tools/describe " in line)
    compile_line = compile_line.replace(made, str(scratch / "dense.o"))
    compile_line = compile_line.replace(" -c " + str(source), " -c " + str(scratch / "dense.cpp"))
    planted = scratch / "build/tools/describe"
    planted.parent.mkdir(parents=True)
    link = link.replace(" -o tools/describe ", " -o %s " % planted)
    link = link.replace(made, str(scratch / "dense.o"))
    for line in (compile_line, link):
        subprocess.run(line, shell=True, cwd=BUILD, check=True)
    expect("a field of src without documentation", ["layers dense: \"bias\" has no documentation"],
           scratch / "build")


# Cells, and whether they are right on 4 values.
CELLS = (
    ({"type": "dense", "out": 3, "activation": "relu", "name": "first", "dtype": "i8"}, True),
    ({"type": "dense"}, False),
    ({"type": "dense", "out": 0}, False),
    ({"type": "dense", "out": 3, "activaton": "relu"}, False),
    ({"type": "dense", "out": 3, "activation": "relo"}, False),
    ({"type": "dense", "out": 3, "layers": []}, False),
    ({"type": "softmax", "kind": "grid", "rows": 2, "cols": 2}, True),
    ({"type": "softmax", "kind": "grid", "rows": 2}, False),
    ({"type": "softmax", "rows": 2, "cols": 2}, False),
    ({"type": "softmax", "rows": 0, "cols": 0}, True),
    ({"type": "attention", "heads": 2, "rope": False}, True),
    ({"type": "attention", "heads": 2, "rope": False, "rope_theta": 5.0}, False),
    ({"type": "dropout", "rate": 1}, False),
    ({"type": "sequential", "layers": [{"type": "flatten"}, {"type": "rms_norm"}]}, True),
    ({"type": "sequential", "layers": []}, False),
    ({"type": "unary", "op": "exp"}, True),
    ({"type": "unary", "op": "expo"}, False),
    ({"type": "reduce", "op": "sum", "dims": [2, 2], "axes": 0}, True),
    ({"merge": "add", "name": "empty"}, True),
    ({"merge": "and"}, False),
    ({"out": 3}, False),
)


def schema_and_program(scratch):
    if importlib.util.find_spec("jsonschema") is None:
        print("no jsonschema in this Python: the schemas are not tried")
        return
    import jsonschema
    folder = ROOT / "docs/reference"
    for name in ("topology", "training-spec", "options"):
        schema = json.loads((folder / (name + ".schema.json")).read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        shown = subprocess.run([BUILD / "loom", "show", "--schema", name.split("-")[0]],
                               capture_output=True, text=True, check=True).stdout
        if json.loads(shown) != schema:
            fail("loom show --schema %s prints another schema" % name)
    schema = json.loads((folder / "topology.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    for cell, right in CELLS:
        whole = {"format": "loom-topology", "version": 1, "input": {"width": 4},
                 "cells": [{"at": [0, 0, 0, 0], **cell}]}
        path = scratch / "topology.json"
        path.write_text(json.dumps(whole))
        by_schema = validator.is_valid(whole)
        shown = subprocess.run([BUILD / "loom", "show", path, "--plan"], capture_output=True,
                               text=True)
        if (by_schema, shown.returncode == 0) != (right, right):
            fail("%s: the schema says %s, the program %s\n%s" % (
                json.dumps(cell), by_schema, shown.returncode == 0, shown.stderr))


# Options of a function of the C interface, and whether they are right.
OPTIONS = (
    ("session_create", {}, True),
    ("session_create", {"max_rows": 2, "threads": 1, "device": "", "mode": ""}, True),
    ("session_create", {"max_rows": 0}, False),
    ("session_create", {"threads": 1025}, False),
    ("session_create", {"treads": 1}, False),
    ("session_create", {"device": "abacus"}, False),
    ("session_create", {"mode": "cpu-sc"}, True),
    ("session_create", {"mode": "turbo"}, False),
    ("session_observe", {"every": 2, "passes": 3, "window": 4, "keep": 5}, True),
    ("session_observe", {"every": 0}, True),
    ("session_observe", {"every": -1}, False),
    ("session_observe", {"keep": 65537}, False),
    ("session_observe", {"each": 1}, False),
    ("step_mesh_observe", {"every": 2, "passes": 3, "window": 4, "keep": 5}, True),
    ("step_mesh_observe", {"nested": True}, False),
    ("session_forecast", {"horizon": 3, "last": "1960-12"}, True),
    ("session_forecast", {"horizon": 0}, False),
    ("session_forecast", {"steps": 3}, False),
    ("seq2seq_search", {"start": [1], "beams": 3, "length_penalty": 0.5, "seed": 2}, True),
    ("seq2seq_search", {"start": [1], "beams": 0}, False),
    ("seq2seq_search", {"beams": 2}, False),
    ("seq2seq_search", {"start": [-1]}, False),
    ("seq2seq_search", {"start": [1], "beam": 2}, False),
    ("step_mesh_create", {"streams": 3, "threads": 1}, True),
    ("step_mesh_create", {"streams": 0}, False),
    ("step_mesh_create", {"streams": 1048577}, False),
    ("step_mesh_create", {"stream": 3}, False),
    ("tokenizer_train", {"vocab_size": 260, "special_tokens": ["<s>"], "bos": "<s>"}, True),
    ("tokenizer_train", {"special_tokens": "<s>"}, False),
    ("tokenizer_train", {"add_bos": 1}, False),
    ("model_create", {"max_positions": 8, "bos": None, "eos": [1, 2]}, True),
    ("model_create", {"max_positions": 8, "bos": [1, 2]}, False),
    ("model_create", {"max_positions": 8, "eos": "2"}, False),
    ("model_create", {"max_positions": 8, "sampling": {"temperature": 0.5, "top_k": 3}}, True),
    ("model_create", {"max_positions": 8, "sampling": {"top_p": 0}}, False),
    ("model_create", {"max_positions": 8, "sampling": {"heat": 1}}, False),
    ("model_create", {"name": "x"}, False),
    ("generator_create", {"context": 4, "chunk": 2}, True),
    ("generator_create", {"context": -1}, False),
    ("generator_create", {"contexts": 4}, False),
    ("generator_start", {"temperature": 0.5, "stop": ["a"], "seed": -1, "ignore_eos": True}, True),
    ("generator_start", {"min_p": 1.5}, False),
    ("generator_start", {"stop": "a"}, False),
)
NOTHING_NEW = ("generator_start", "session_observe", "step_mesh_observe")
LATER = ("generator_start", "session_forecast", "seq2seq_search")
NETWORK = {"format": "loom-topology", "version": 1, "input": {"ids": 5}, "layers_per_cell": 2,
           "cells": [{"at": [0, 0, 0, 0], "type": "embedding", "out": 4},
                     {"at": [0, 0, 0, 1], "type": "dense", "out": 5}]}
RING = {"format": "loom-topology", "version": 3, "step_mesh": True, "input": {"width": 1},
        "cells": [{"at": [0, 0, 0, 0], "type": "dense", "out": 1, "keep_previous": True,
                   "links": [{"read": [0, 0, 0, 0]}]}]}


def options_and_library():
    if importlib.util.find_spec("jsonschema") is None:
        return
    import jsonschema
    library = ctypes.CDLL(str(BUILD / "libloom.so"))

    def ask(name, *arguments):
        """(code, message, new handle); a number is a handle or a number, None no values, anything
        else goes as JSON."""
        given, made, error = [], ctypes.c_uint64(), ctypes.create_string_buffer(1024)
        for one in arguments:
            if one is None:
                given += [None, ctypes.c_size_t(0)]
                continue
            text = one if isinstance(one, int) else json.dumps(one).encode()
            given += [ctypes.c_uint64(one)] if isinstance(one, int) else [text, ctypes.c_size_t(
                len(text))]
        if name == "session_forecast":
            given += [None, ctypes.c_size_t(0)]  # no history
        outputs = [] if name in NOTHING_NEW else [ctypes.byref(made)]
        code = getattr(library, "loom_" + name)(*given, *outputs, error)
        return code, error.raw[4:].split(b"\0")[0].decode(), made.value

    code, message, network = ask("network_create", NETWORK)
    if code:
        fail("network_create: " + message)
    model = ask("model_create", network, 0, {"max_positions": 8, "bos": None, "eos": None})[2]
    generator = ask("generator_create", model, {})[2]
    ask("network_initialize", network, 1)
    session = ask("session_create", network, {})[2]
    pair = json.loads((ROOT / "tests/conformance/seq2seq/masked.json").read_text())
    seq2seq = ask("seq2seq_create", ask("network_create", pair)[2], {"target": "target"})[2]
    ring = ask("network_create", RING)[2]
    before = {"session_create": (network,), "session_forecast": (session,),
              "session_observe": (session,),
              "step_mesh_observe": (ask("step_mesh_create", ring, {})[2],),
              "step_mesh_create": (ring,),
              "model_create": (network, 0),
              "seq2seq_search": (seq2seq, 1, None),
              "generator_create": (model,), "generator_start": (generator, 0),
              "tokenizer_train": (["to and fro"],)}
    schema = json.loads((ROOT / "docs/reference/options.schema.json").read_text())
    for name, given, right in OPTIONS:
        one = jsonschema.Draft202012Validator({**schema, "anyOf": [{"$ref": "#/$defs/" + name}]})
        code, message, _ = ask(name, *before[name], given)
        # A text needs what was fed, a forecast a series, a search rows: their options are read
        # before.
        taken = code == 0 or name in LATER and "options" not in message
        if (one.is_valid(given), taken) != (right, right):
            fail("%s %s: the schema says %s, the library %s: %s" % (
                name, json.dumps(given), one.is_valid(given), taken, message))


def main():
    subprocess.run(GENERATE + [str(BUILD)], check=True)
    described = json.loads(subprocess.run([BUILD / "tools/describe"], capture_output=True,
                                          text=True, check=True).stdout)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        plant_in_lists(described, scratch)
        plant_in_structs()
        plant_in_files(scratch)
        plant_in_source(scratch)
        schema_and_program(scratch)
    options_and_library()
    print("up to date; %d planted faults are refused" % count)


if __name__ == "__main__":
    main()
