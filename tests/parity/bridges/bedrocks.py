#!/usr/bin/env python3
"""The bedrocks of planetbridging against the frameworks' own layers, in batches of 3: each kind of
layer is built in each framework, streamed into an .entity file, and read again.

    bedrocks.py [--planets pytorch,sklearn] [--only lstm,rnn] [--epochs 1] [--batch 3]

Prints the table and ends with 1 where a count is missed. Frameworks that are not installed are
named and not counted; without any it ends with 77. `tensorflow` is Keras, on TensorFlow where that
is installed, else on the backend that the table names. `--epochs`: for how long models of dense
layers learn first.

What is counted, per model and framework:

    stack     framework against stream, and against the file read again, both below 1e-5
    pair      the same two comparisons, counted one by one
    exact     as pair, and all numbers equal

The stream and the file read again must be equal in every number, or nothing is counted.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import time

# Small models: threads that wait for each other take longer than they compute.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

try:
    import numpy as np
except ImportError as e:
    print(f"needs NumPy: {e}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bindings" / "python"))
from planetbridging import engines
from planetbridging.bedrocks import ALL_BEDROCK_IDS, MODELS

PAIRS = ("layernorm", "rmsnorm", "swiglu", "residual")


def rows():
    """Of the table: a title, the models, what is counted."""
    for bedrock in ALL_BEDROCK_IDS:
        models = MODELS[bedrock]
        if bedrock == "mixer":
            for model in models:
                yield "mixer " + model.id[-2:], [model], "stack"
            continue
        kind = "exact" if bedrock == "embedding" else "pair" if bedrock in PAIRS else "stack"
        yield bedrock, [model for model in models if model.scored], kind
        further = [model for model in models if not model.scored]
        if further:
            yield bedrock + ", two layers", further, "stack"


def score(result, kind):
    """How many of a model's comparisons hold, and of how many."""
    good = ("EXACT",) if kind == "exact" else ("EXACT", "PASS")
    held = [label in good and result.loom_vs_welvet == "EXACT"
            for label in (result.native_vs_loom, result.native_vs_welvet)]
    return (int(all(held)), 1) if kind == "stack" else (sum(held), 2)


def run_row(models, kind, planets, root, args):
    held = wanted = 0
    largest, notes = 0.0, []
    for model in models:
        for planet in planets:
            if planet not in engines.available_planets(model.bedrock):
                continue
            result = engines.stream(model.bedrock, planet, model_id=model.id, root=root,
                                    try_welvet=True, max_samples=args.batch, samples=args.batch,
                                    epochs=args.epochs)
            got, of = score(result, kind)
            held, wanted = held + got, wanted + of
            off = float(np.abs(result.native - result.loom_stream).max())
            largest = max(largest, off)
            if got < of:
                notes.append(f"{model.id} of {planet}: stream {result.native_vs_loom}, file "
                             f"{result.native_vs_welvet}, both {result.loom_vs_welvet}, {off:.1e}")
    return held, wanted, largest, notes


def framework_names(planets, root):
    return {planet: engines.stream("dense", planet, model_id="linear_16_4", root=root,
                                   samples=1).framework for planet in planets}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--planets", default="pytorch,tensorflow,jax,sklearn")
    parser.add_argument("--only", default="")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch", type=int, default=3)
    args = parser.parse_args()
    asked = args.planets.split(",")
    planets = [p for p in asked if p in engines.installed_planets()]
    missing = [p for p in asked if p not in planets]
    if not planets:
        print("needs one of " + ", ".join(asked))
        return 77
    only = [one for one in args.only.split(",") if one]
    failed, notes = 0, []
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(os.environ.get("PLANETBRIDGING_ROOT", folder))
        for planet, name in framework_names(planets, root).items():
            print(f"{planet}: {name}")
        if missing:
            print("not installed: " + ", ".join(missing))
        print(f"{'bedrock':18} {'held':>7}  largest difference")
        for title, models, kind in rows():
            if only and models[0].bedrock not in only:
                continue
            begin = time.time()
            held, wanted, largest, more = run_row(models, kind, planets, root, args)
            if wanted:
                print(f"{title:18} {held:3d}/{wanted:<3d}  {largest:.1e}"
                      f"{'  EXACT' if largest == 0 else ''}  ({time.time() - begin:.0f} s)",
                      flush=True)
            failed += held < wanted
            notes += more
    for note in notes:
        print(note)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
