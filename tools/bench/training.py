#!/usr/bin/env python3
"""Speed of training beside PyTorch on this machine, in one process, step by step in turn; run by
hand, not in CI:

    python3 tools/bench/training.py [--threads N] [--rounds N] [--isa NAME] [NETWORK...]
    python3 tools/bench/training.py --mode gpu-mc --torch cuda    # beside PyTorch, eager and graphs

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
import copy
import os
import pathlib
import statistics
import sys
import time

import numpy as np
import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
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
            module = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[int(kind[4]) - 1](dims[0], cell["filters"],
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


class Eager:
    """PyTorch's steps over batches of x and y in turn."""

    def __init__(self, model, x, y, batch):
        self.model, self.x, self.y, self.batch, self.done = model, x, y, batch, 0
        self.optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def step(self, x, y):
        self.optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def steps(self, count):
        for step in range(self.done, self.done + count):
            at = step % 8 * self.batch
            loss = self.step(self.x[at:at + self.batch], self.y[at:at + self.batch])
        self.done += count
        return float(loss)


class Graphs(Eager):
    """The same, a step recorded once as a CUDA graph and replayed."""

    def __init__(self, model, x, y, batch):
        super().__init__(model, x, y, batch)
        self.inputs = x[:batch].clone(), y[:batch].clone()
        kept = [parameter.detach().clone() for parameter in model.parameters()]
        aside = torch.cuda.Stream()
        with torch.cuda.stream(aside):
            for _ in range(3):
                super().step(*self.inputs)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(self.graph):
            self.loss = super().step(*self.inputs)
        with torch.no_grad():
            for parameter, value in zip(model.parameters(), kept):
                parameter.copy_(value)

    def step(self, x, y):
        for held, given in zip(self.inputs, (x, y)):
            held.copy_(given)
        self.graph.replay()
        return self.loss


def peers(model, x, y, batch, device):
    """PyTorch's ways of training, by name."""
    if device == "cpu":
        return {"PyTorch": Eager(model, x, y, batch)}
    other = copy.deepcopy(model)
    return {"eager": Eager(model, x, y, batch), "graphs": Graphs(other, x, y, batch)}


def compare(name, args):
    rounds = args.rounds
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
    theirs = peers(model.to(args.torch), tx.to(args.torch), ty.to(args.torch), batch, args.torch)

    def timed(run):
        time.sleep(REST)
        run(untimed)
        start = time.perf_counter()
        loss = run(steps)
        return time.perf_counter() - start, loss

    untimed = 1 + steps // UNTIMED
    total = (untimed + steps) * (rounds + 1)
    ratios, times, losses = {peer: [] for peer in theirs}, [], []
    on_device = args.mode.startswith("gpu")
    with loom.trainer(x, y,
                      spec={"loss": "mse", "batch": batch, "steps": total, "shuffle": False,
                            "optimizer": {"type": "sgd"},
                            "schedule": {"type": "constant", "lr": 1e-4}},
                              threads=0 if on_device else args.threads, isa=args.isa,
                              mode=args.mode) as trainer:
        for _ in range(rounds + 1):
            ours, loss = timed(lambda count: trainer.step(count).loss)
            times.append(ours / steps)
            for peer, model in theirs.items():
                seconds, other = timed(model.steps)
                losses.append((loss, other))
                ratios[peer].append(seconds / ours)
    del times[0]  # the first round warms up
    worst = max(abs(a - b) / max(abs(b), 1e-3) for a, b in losses[:2 * len(theirs)])
    if worst > 1e-3:
        sys.exit(f"{name}: the losses differ by {worst:.2g}: {losses[:2 * len(theirs)]}")
    found = {peer: statistics.median(all_of[1:]) for peer, all_of in ratios.items()}
    print(f"{name:6} {1e3 * statistics.median(times):9.3f} ms a step" + "".join(
        f"   {peer} / Loom {found[peer]:5.2f}x  ({min(all_of[1:]):.2f} to {max(all_of[1:]):.2f})"
        for peer, all_of in ratios.items()), flush=True)
    return found


def share_dawn():
    """Where PyPI's wgpudawn is, Loom runs on its Dawn."""
    try:
        from wgpudawn._lib import ffi, lib
    except ImportError:
        return
    welvet.use_webgpu(ffi.addressof(lib, "wgpuGetProcAddress"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=", ".join(NETWORKS))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--isa", default="", help="of Loom; fast: its fast profile")
    parser.add_argument("--mode", default="", help="of Loom, for example gpu-mc")
    parser.add_argument("--torch", default="cpu", metavar="DEVICE", help="of PyTorch: cpu, cuda")
    args = parser.parse_args()
    unknown = [name for name in args.networks if name not in NETWORKS]
    if unknown:
        parser.error(f"no network '{unknown[0]}': there are {', '.join(NETWORKS)}")
    torch.set_num_threads(args.threads)
    if args.mode.startswith("gpu"):
        share_dawn()
    # TF32 would compare a product of 10 bits with one of 24.
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    print(f"PyTorch {torch.__version__} ({args.torch}) and Loom {welvet.__version__} "
          f"({args.mode or 'cpu'}), {args.threads} threads")
    ratios = {name: compare(name, args) for name in args.networks or NETWORKS}
    six = [ratios[name] for name in list(NETWORKS)[:6] if name in ratios]
    if len(six) == 6:
        for peer in six[0]:
            mean = statistics.geometric_mean(row[peer] for row in six)
            print(f"geometric mean of the six beside {peer}: {mean:.2f}x")


if __name__ == "__main__":
    main()
