#!/usr/bin/env python3
"""Makes of the field lists in src/ everything that must agree with them: the JSON schemas, the
tables of the reference, the types of the JavaScript package, the layers of the Python package.

    python3 tools/generate [BUILD]          writes them (BUILD: build/release)
    python3 tools/generate --check [BUILD]  fails where one differs, or a field says too little

BUILD/tools/describe prints the lists (--description FILE: a file in its place). --root FOLDER: the
tree whose files are meant."""
import argparse
import json
import pathlib
import subprocess
import sys

import cpp_layers
import description
import options
import python_layers
import reference
import schema
import training
import typescript

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# path: what makes it, of the description and of what the file holds now
OUTPUTS = {
    "docs/reference/topology.schema.json": schema.topology,
    "docs/reference/training-spec.schema.json": training.schema,
    "docs/reference/options.schema.json": options.schema,
    "docs/reference/options.md": options.reference,
    "docs/reference/layers.md": reference.layers,
    "docs/reference/topology.md": reference.topology,
    "docs/reference/training-spec.md": training.reference,
    "bindings/js/src/types/topology.d.ts": typescript.topology,
    **{"bindings/js/src/types/layers/%s.d.ts" % file: typescript.layers(file)
       for file in typescript.FILES},
    "bindings/js/src/types/training_spec.d.ts": training.typescript,
    "bindings/js/src/types/options.d.ts": options.typescript,
    "bindings/python/welvet/layers/__init__.py": python_layers.layers,
    **{"bindings/python/welvet/layers/%s.py" % file: python_layers.module(file)
       for file in python_layers.FILES},
    "include/loom/layers.hpp": cpp_layers.header,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", default=ROOT / "build/release", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--description", type=pathlib.Path)
    parser.add_argument("--root", default=ROOT, type=pathlib.Path)
    args = parser.parse_args()
    if args.description:
        text = args.description.read_text()
    else:
        text = subprocess.run([args.build / "tools/describe"], capture_output=True, text=True,
                              check=True).stdout
    described = json.loads(text)
    wrong = description.problems(described)
    if wrong:
        sys.exit("\n".join(wrong))
    stale = []
    for path, make in OUTPUTS.items():
        file = args.root / path
        old = file.read_text() if file.exists() else ""
        new = make(described, old)
        if new == old:
            continue
        stale.append(path)
        if not args.check:
            file.write_text(new)
    if args.check and stale:
        sys.exit("differ from the field lists, run python3 tools/generate: " + ", ".join(stale))


if __name__ == "__main__":
    main()
