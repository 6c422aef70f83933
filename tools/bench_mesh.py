#!/usr/bin/env python3
"""Step meshes beside NumPy (docs/guide/step-mesh.md); run by hand, not in CI:

    python3 tools/bench_mesh.py [--cells 1000,100000] [--width 8] [--activation tanh] [--threads N]

needs NumPy. A chain of dense cells; NumPy does the same work by np.matmul of [cells, width, width]
with what every cell reads, and adds the bias. Both run in turn, on one thread of NumPy; printed are
the medians in ns per cell and tick, of the wall's clock and of the processor's, and their ratios.
"""
import argparse
import os
import pathlib
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
import numpy as np  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("LOOM_LIBRARY", str(ROOT / "build" / "release" / "libloom.so"))
sys.path.insert(0, str(ROOT / "bindings" / "python"))
from welvet import Network, StepMesh  # noqa: E402

ROUNDS = 15
TICKS = 64
ACTIVATIONS = {"linear": lambda z: z, "relu": lambda z: np.maximum(z, 0), "tanh": np.tanh}


class Chain:
    """The same work in NumPy."""

    def __init__(self, cells, width, activation):
        self.weights = (np.random.default_rng(0).standard_normal((cells, width, width))
                        / np.sqrt(2 * width)).astype(np.float32)
        self.bias = np.zeros((cells, width), np.float32)
        self.values = np.zeros((cells, width), np.float32)
        self.activation = ACTIVATIONS[activation]

    def run(self, x, ticks):
        for _ in range(ticks):
            arriving = np.concatenate([x, self.values[:-1]])
            product = np.matmul(self.weights, arriving[:, :, None])[:, :, 0]
            self.values = self.activation(product + self.bias)


def chain(cells, width, activation):
    return Network({
        "format": "loom-topology", "version": 3, "depth": cells, "step_mesh": True,
        "input": {"width": width},
        "cells": [{"at": [i, 0, 0, 0], "type": "dense", "out": width, "activation": activation}
                  for i in range(cells)]}, seed=1)


def timed(call):
    wall, processor = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - processor


def measure(cells, args):
    begun = time.perf_counter()
    network = chain(cells, args.width, args.activation)
    made = time.perf_counter()
    mesh = StepMesh(network, threads=args.threads)
    ready = time.perf_counter()
    numpy = Chain(cells, args.width, args.activation)
    x = np.linspace(-1, 1, args.width, dtype=np.float32)[None]
    repeats = max(1, 20000 // cells)
    of_numpy = min(TICKS, max(4, 2000000 // cells))
    mesh.run(x, ticks=TICKS, last=True)
    numpy.run(x, of_numpy)
    loom_times, numpy_times = [], []
    for _ in range(ROUNDS):
        loom_times.append(timed(lambda: mesh.run(x, ticks=TICKS * repeats, last=True)))
        numpy_times.append(timed(lambda: numpy.run(x, of_numpy)))
    loom = np.median(loom_times, axis=0) / (TICKS * repeats * cells) * 1e9
    other = np.median(numpy_times, axis=0) / (of_numpy * cells) * 1e9
    print("%8d | %8.1f | %8.1f | %5.1f | %8.1f | %8.1f | %5.1f | %6.2f | %6.2f" % (
        cells, loom[0], other[0], other[0] / loom[0], loom[1], other[1], other[1] / loom[1],
        made - begun, ready - made), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default="1000,10000,100000")
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--activation", default="tanh", choices=sorted(ACTIVATIONS))
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    print("width %d, %s, %d threads" % (args.width, args.activation, args.threads))
    print("   cells | Loom  ns | NumPy ns | ratio | Loom cpu | NumPy cpu| ratio | net  s | mesh s")
    for cells in args.cells.split(","):
        measure(int(cells), args)


if __name__ == "__main__":
    main()
