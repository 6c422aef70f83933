#!/usr/bin/env python3
"""Step meshes beside NumPy (docs/guide/step-mesh.md); run by hand, not in CI:

    python3 tools/bench/mesh.py [--cells 1000,100000] [--width 8] [--activation tanh] [--threads N]
                                [--torch]

needs NumPy. A chain of dense cells; NumPy does the same work by np.matmul of [cells, width, width]
with what every cell reads, and adds the bias, on one thread. With --torch the other side is PyTorch
(2.0 at least): a tick by torch.bmm and by a product and a sum, both through torch.compile, on as
many threads as Loom; the faster one counts. Both sides run in turn; printed are the medians in ns
per cell and tick, of the wall's clock and of the processor's, and their ratios.
"""
import argparse
import os
import pathlib
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
import numpy as np  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
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


class CompiledChain:
    """The same work in PyTorch."""

    def __init__(self, cells, width, activation, threads):
        import torch
        torch.set_num_threads(threads)
        numpy = Chain(cells, width, activation)
        self.torch, self.values = torch, torch.zeros(cells, width)
        weights, bias = torch.from_numpy(numpy.weights), torch.from_numpy(numpy.bias)
        act = {"linear": lambda z: z, "relu": torch.relu, "tanh": torch.tanh}[activation]

        def by_bmm(x, values):
            arriving = torch.cat([x, values[:-1]])
            return act(torch.bmm(weights, arriving[:, :, None])[:, :, 0] + bias)

        def by_sum(x, values):
            arriving = torch.cat([x, values[:-1]])
            return act((weights * arriving[:, None, :]).sum(2) + bias)

        times = []
        for tick in (by_bmm, by_sum):
            self.tick = torch.compile(tick)
            x = np.zeros((1, width), np.float32)
            self.run(x, 4)
            times.append((timed(lambda: self.run(x, 16))[0], self.tick))
        self.tick = min(times, key=lambda of: of[0])[1]

    def run(self, x, ticks):
        x = self.torch.from_numpy(x)
        with self.torch.no_grad():
            for _ in range(ticks):
                self.values = self.tick(x, self.values)


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
    of_chain = (cells, args.width, args.activation)
    other = CompiledChain(*of_chain, args.threads) if args.torch else Chain(*of_chain)
    x = np.linspace(-1, 1, args.width, dtype=np.float32)[None]
    repeats = max(1, 20000 // cells)
    of_other = min(TICKS, max(4, 2000000 // cells))
    mesh.run(x, ticks=TICKS, last=True)
    other.run(x, of_other)
    loom_times, other_times = [], []
    for _ in range(ROUNDS):
        loom_times.append(timed(lambda: mesh.run(x, ticks=TICKS * repeats, last=True)))
        other_times.append(timed(lambda: other.run(x, of_other)))
    loom = np.median(loom_times, axis=0) / (TICKS * repeats * cells) * 1e9
    theirs = np.median(other_times, axis=0) / (of_other * cells) * 1e9
    print("%8d | %8.1f | %8.1f | %5.1f | %8.1f | %8.1f | %5.1f | %6.2f | %6.2f" % (
        cells, loom[0], theirs[0], theirs[0] / loom[0], loom[1], theirs[1], theirs[1] / loom[1],
        made - begun, ready - made), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default="1000,10000,100000")
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--activation", default="tanh", choices=sorted(ACTIVATIONS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--torch", action="store_true", help="beside torch.compile")
    args = parser.parse_args()
    print("width %d, %s, %d threads" % (args.width, args.activation, args.threads))
    print("   cells | Loom  ns | other ns | ratio | Loom cpu | other cpu| ratio | net  s | mesh s")
    for cells in args.cells.split(","):
        measure(int(cells), args)


if __name__ == "__main__":
    main()
