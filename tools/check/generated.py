#!/usr/bin/env python3
"""tools/check/generated.py BUILD_DIR: what is made of the field lists is up to date, and its checks
fail where they should. A field without documentation, a list that contradicts itself, a file that
was edited or forgotten: each is planted in a copy, and must be refused by name. The schema and the
program must agree about topologies (where Python has jsonschema)."""
import copy
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release").resolve()
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

    plant("a field without documentation", ["layers conv_transposed1: \"groups\" has no doc"],
          lambda w: field(w, "conv_transposed1", "groups").update(doc=""))
    plant("a type that says nothing", ["layers dense: says nothing"],
          lambda w: layer(w, "dense").update(about=" "))
    plant("a default out of range", ["\"rate\": its default is not in its own range"],
          lambda w: field(w, "dropout", "rate").update(default=1))
    plant("a condition on no field", ["\"sub_norm_eps\": goes with \"sub\", which is no field"],
          lambda w: field(w, "swiglu", "sub_norm_eps")["only"].update(key="sub"))
    plant("a condition on no value", ["\"rows\": \"gird\" is no value of \"kind\""],
          lambda w: field(w, "softmax", "rows")["only"].update(values=["gird"]))
    plant("a range that changed", ["topology.schema.json", "layers.md", "topology.d.ts",
                                   "layers.py"],
          lambda w: field(w, "dense", "out").update(min=2))
    plant("a key that only the library has", ["training-spec.schema.json", "training-spec.md",
                                              "training_spec.d.ts"],
          lambda w: w["validation"]["fields"].append(
              {"key": "often", "type": "integer", "default": 0, "doc": "how often"}))
    plant("a layer without a name in Python", ["no name in Python for gate"],
          lambda w: w["layers"].append({**layer(w, "dense"), "type": "gate"}))


def plant_in_files(scratch):
    outputs = subprocess.run(
        [sys.executable, "-c", "import runpy, sys; sys.path.insert(0, sys.argv[1]); "
         "print(*runpy.run_path(sys.argv[1] + '/__main__.py')['OUTPUTS'])",
         str(ROOT / "tools/generate")], capture_output=True, text=True, check=True).stdout.split()
    tree = scratch / "tree"
    for path in outputs:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tree / path)
    for path in outputs:
        whole = (tree / path).read_text()
        made = ("| `log_every`", '"log_every"', "logEvery", "value_matmul")  # not by hand
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
    for name in ("topology", "training-spec"):
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


def main():
    subprocess.run(GENERATE + [str(BUILD)], check=True)
    described = json.loads(subprocess.run([BUILD / "tools/describe"], capture_output=True,
                                          text=True, check=True).stdout)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        plant_in_lists(described, scratch)
        plant_in_files(scratch)
        plant_in_source(scratch)
        schema_and_program(scratch)
    print("up to date; %d planted faults are refused" % count)


if __name__ == "__main__":
    main()
