#!/usr/bin/env python3
"""Speed of training beside PyTorch on this machine, in one process, step by step in turn; run by
hand, not in CI:

    python3 tools/bench_training.py [--threads N] [--rounds N] [--isa NAME] [NETWORK...]

needs NumPy and torch. The networks are those of six published benchmarks (dense, convolutions over
one to three dimensions, a norm, a deep one), an LSTM fed one row at a time, and a large
convolution. A round is a few steps of Loom, then the same number of PyTorch (plain SGD, f32, mean
squared error, eager mode), each after a rest of 50 ms and some steps that are not timed: threads of
either look for more work for a while before they sleep, on the cores that the other is measured on,
and wake slowly. Printed is the median of the rounds' ratios, PyTorch's time / Loom's, with the
extremes: above 1 Loom is faster. What is learned is compared first: both losses after the same
steps from the same weights.
"""
import argparse
import os
import pathlib
import statistics
import sys
import time

import numpy as np
import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("LOOM_LIBRARY", str(ROOT / "build" / "release" / "libloom.so"))
sys.path.insert(0, str(ROOT / "bindings" / "python"))
import welvet  # noqa: E402


def dense(out, activation="relu"):
    return {"type": "dense", "out": out, "activation": activation}


def conv(rank, filters):
    return {"type": f"conv{rank}d", "filters": filters, "kernel": [3], "padding": [1],
            "activation": "relu"}


NORM = {"type": "rms_norm", "eps": 1e-6}
FLAT = {"type": "flatten"}
REST, UNTIMED = 0.05, 4  # seconds; one untimed step for so many of a round
# name: dimensions of a sample, batch, cells, steps per round
NETWORKS = {
    "dense": ([128], 64, [dense(512), dense(512), dense(8, "linear")], 40),
    "conv1d": ([3, 128], 32, [conv(1, 32), conv(1, 64), FLAT, dense(8, "linear")], 20),
    "conv2d": ([3, 32, 32], 16, [conv(2, 16), conv(2, 32), FLAT, dense(8, "linear")], 10),
    "conv3d": ([2, 8, 8, 8], 8, [conv(3, 8), FLAT, dense(8, "linear")], 40),
    "norm": ([128], 64, [dense(512), NORM, dense(512), dense(8, "linear")], 40),
    "deep": ([128], 64, [dense(512), dense(512), dense(512), dense(512), dense(8, "linear")], 20),
    "lstm": ([32, 64], 1, [{"type": "lstm", "hidden": 128, "output": "last"}, dense(8, "linear")],
             60),
    "conv": ([64, 56, 56], 8, [conv(2, 64), FLAT, dense(8, "linear")], 2),
}


class RmsNorm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.gain, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.gain


class Last(nn.Module):
    def __init__(self, lstm):
        super().__init__()
        self.lstm = lstm

    def forward(self, x):
        return self.lstm(x)[0][:, -1]


def torch_network(dims, cells):
    """The network in PyTorch, and its parameters by Loom's names."""
    modules, named, dims = [], {}, list(dims)
    for at, cell in enumerate(cells):
        kind = cell["type"]
        if kind == "dense":
            module = nn.Linear(dims[0], cell["out"])
            dims = [cell["out"]]
        elif kind.startswith("conv"):
            module = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[int(kind[3]) - 1](dims[0], cell["filters"],
                    3, padding=1)
            dims[0] = cell["filters"]
        elif kind == "flatten":
            module, dims = nn.Flatten(), [int(np.prod(dims))]
        elif kind == "rms_norm":
            module = RmsNorm(dims[0], cell["eps"])
        else:
            module = Last(nn.LSTM(dims[1], cell["hidden"], batch_first=True))
            dims = [cell["hidden"]]
        modules.append(module)
        if cell.get("activation") == "relu":
            modules.append(nn.ReLU())
        for name, parameter in module.named_parameters():
            named[f"0.0.0.{at}:" + name.split(".")[-1]] = parameter
    return nn.Sequential(*modules), named


def compare(name, threads, rounds, isa):
    dims, batch, cells, steps = NETWORKS[name]
    topology = {"format": "loom-topology", "version": 1, "layers_per_cell": len(cells),
                "input": {"dims": dims} if len(dims) > 1 else {"width": dims[0]},
                "cells": [{"at": [0, 0, 0, at], **cell} for at, cell in enumerate(cells)]}
    loom = welvet.Network(topology, seed=1)
    model, named = torch_network(dims, cells)
    with torch.no_grad():
        for parameter_name, parameter in named.items():
            parameter.copy_(torch.from_numpy(loom.get(parameter_name)).reshape(parameter.shape))
    rng = np.random.default_rng(42)
    samples = 8 * batch
    x = rng.uniform(-1, 1, (samples, int(np.prod(dims)))).astype(np.float32)
    y = rng.uniform(-1, 1, (samples, 8)).astype(np.float32)
    tx, ty = torch.from_numpy(x).reshape(samples, *dims), torch.from_numpy(y)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    done = 0  # steps of PyTorch

    def torch_steps(count):
        nonlocal done
        for step in range(done, done + count):
            at = step % 8 * batch
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.mse_loss(model(tx[at:at + batch]), ty[at:at + batch])
            loss.backward()
            optimizer.step()
        done += count
        return float(loss.detach())

    def timed(run):
        time.sleep(REST)
        run(untimed)
        start = time.perf_counter()
        loss = run(steps)
        return time.perf_counter() - start, loss

    untimed = 1 + steps // UNTIMED
    total = (untimed + steps) * (rounds + 1)
    ratios, times, losses = [], [], []
    with loom.trainer(x, y,
                      spec={"loss": "mse", "batch": batch, "steps": total, "shuffle": False,
                            "optimizer": {"type": "sgd"},
                            "schedule": {"type": "constant", "lr": 1e-4}}, threads=threads,
                              isa=isa) as trainer:
        for _ in range(rounds + 1):
            ours, loss = timed(lambda count: trainer.step(count).loss)
            theirs, torch_loss = timed(torch_steps)
            losses.append((loss, torch_loss))
            ratios.append(theirs / ours)
            times.append(ours / steps)
    del ratios[0], times[0]  # the first round warms up
    worst = max(abs(a - b) / max(abs(b), 1e-3) for a, b in losses[:2])
    if worst > 1e-3:
        sys.exit(f"{name}: the losses differ by {worst:.2g}: {losses[:2]}")
    print(f"{name:6} {1e3 * statistics.median(times):9.3f} ms a step   PyTorch / Loom "
          f"{statistics.median(ratios):5.2f}x  ({min(ratios):.2f} to "
          f"{max(ratios):.2f})", flush=True)
    return statistics.median(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=", ".join(NETWORKS))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--isa", default="", help="of Loom; fast: its fast profile")
    args = parser.parse_args()
    unknown = [name for name in args.networks if name not in NETWORKS]
    if unknown:
        parser.error(f"no network '{unknown[0]}': there are {', '.join(NETWORKS)}")
    torch.set_num_threads(args.threads)
    print(f"PyTorch {torch.__version__} and Loom {welvet.__version__}, {args.threads} threads")
    ratios = {name: compare(name, args.threads, args.rounds, args.isa) for name in args.networks
              or NETWORKS}
    six = [ratios[name] for name in list(NETWORKS)[:6] if name in ratios]
    if len(six) == 6:
        print(f"geometric mean of the six: {statistics.geometric_mean(six):.2f}x")


if __name__ == "__main__":
    main()
