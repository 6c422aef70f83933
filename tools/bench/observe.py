#!/usr/bin/env python3
"""The cost of observing every run (docs/guide/observe.md); run by hand, not in CI:

    python3 tools/bench/observe.py [--threads N] [--dtype DTYPE] [--device DEVICE] [--every N]
                                   [--train] [--weights]

needs NumPy. Six dense layers of 512 with 64 rows; --train: steps that learn them by adamw, and
--weights the gradients of the parameters, too. Plain and observed runs take turns in blocks of 20,
of which the first is left out: it finds the caches full of the other session's values. Printed are
the medians of both and of their ratios.
"""
import argparse
import os
import pathlib
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("LOOM_LIBRARY", str(ROOT / "build" / "release" / "libloom.so"))
sys.path.insert(0, str(ROOT / "bindings" / "python"))
from welvet import Network, Session, layers  # noqa: E402

BLOCKS, RUNS = 60, 20


def seconds(run):
    run()
    begun = time.perf_counter()
    for _ in range(RUNS - 1):
        run()
    return (time.perf_counter() - begun) / (RUNS - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dtype", default="f32")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--weights", action="store_true")
    args = parser.parse_args()

    def made():
        network = Network(layers.Sequential(layers.Input(512), *(
            layers.Linear(512, activation="relu") for _ in range(6))), seed=0)
        network.morph(args.dtype)
        return network
    x = np.random.default_rng(0).standard_normal((64, 512)).astype(np.float32)
    # One window for all runs: the events are not made into dicts, which is Python's cost.
    options = {"window": 1 << 30, "every": args.every}
    if args.train:
        plain, observed = (made().trainer(x, x, steps=1 << 20, batch_size=64, threads=args.threads)
                           for _ in range(2))
        runs = [lambda: plain._run("trainer_step", 1), lambda: observed._run("trainer_step", 1)]
        options["weights"] = args.weights
    else:
        network = made()
        plain, observed = (Session(network, max_rows=64, threads=args.threads, device=args.device)
                           for _ in range(2))
        runs = [lambda: plain.run(x), lambda: observed.run(x)]
    with observed.observe(**options):
        pairs = np.array([[seconds(run) for run in runs] for _ in range(BLOCKS)])
    medians = np.median(pairs[BLOCKS // 10:], axis=0) * 1e6
    print("%s, %s, %d threads: plain %.1f us, observed %.1f us, ratio of blocks %.3f" % (
        args.device, args.dtype, args.threads, *medians, np.median(pairs[:, 1] / pairs[:, 0])))


if __name__ == "__main__":
    main()
