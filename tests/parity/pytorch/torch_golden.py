#!/usr/bin/env python3
"""Writes tests/golden/torch.json: what PyTorch computes in f64, for
tests/conformance/torch_test.cpp.

torch_golden.py > tests/golden/torch.json

Learning rates of each schedule, and the losses of 100 steps of six small networks with each
optimizer. Weights and data are hashes of their place, so that the test makes the same. Lion is not
part of PyTorch: it is written here from algorithm 2 of arXiv 2302.06675.
"""
import argparse
import itertools
import json
import sys
import warnings

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

warnings.filterwarnings("ignore")
STEPS, BATCH, SAMPLES = 100, 8, 40


def hashed(n, stream):
    """n numbers in 0..65535: the mixer lowbias32 over place and stream."""
    x = (np.arange(n, dtype=np.uint64) + 100003 * (stream + 1)) & 0xFFFFFFFF
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = ((x ^ (x >> np.uint64(shift))) * np.uint64(factor)) & np.uint64(0xFFFFFFFF)
    return (x ^ (x >> np.uint64(16))) >> np.uint64(16)


def values(n, stream, scale=2.0, middle=0.0):
    return torch.tensor((hashed(n, stream).astype(np.float64) / 65536 - 0.5) * scale + middle)


# --- schedules
# ------------------------------------------------------------------------------
R = torch.optim.lr_scheduler
SCHEDULES = [
    ({"type": "constant", "lr": 0.1}, lambda o: R.ConstantLR(o, factor=1.0)),
    ({"type": "linear", "lr": 0.1, "floor": 0.02, "steps": 80},
     lambda o: R.LinearLR(o, start_factor=1.0, end_factor=0.2, total_iters=80)),
    ({"type": "cosine", "lr": 0.1, "floor": 0.01, "steps": 101},
     lambda o: R.CosineAnnealingLR(o, T_max=101, eta_min=0.01)),
    ({"type": "cosine_restarts", "lr": 0.1, "floor": 0.01, "every": 30},
     lambda o: R.CosineAnnealingWarmRestarts(o, T_0=30, eta_min=0.01)),
    ({"type": "cosine_restarts", "lr": 0.1, "every": 10, "multiplier": 2},
     lambda o: R.CosineAnnealingWarmRestarts(o, T_0=10, T_mult=2)),
    ({"type": "step", "lr": 0.1, "every": 15, "factor": 0.5},
     lambda o: R.StepLR(o, step_size=15, gamma=0.5)),
    ({"type": "multi_step", "lr": 0.1, "milestones": [10, 11, 60], "factor": 0.3},
     lambda o: R.MultiStepLR(o, milestones=[10, 11, 60], gamma=0.3)),
    ({"type": "exponential", "lr": 0.1, "factor": 0.97}, lambda o: R.ExponentialLR(o, gamma=0.97)),
    ({"type": "one_cycle", "lr": 0.1, "steps": 100},
     lambda o: R.OneCycleLR(o, max_lr=0.1, total_steps=100, cycle_momentum=False)),
    ({"type": "one_cycle", "lr": 0.1, "steps": 120, "share": 0.4, "div": 10, "final_div": 100},
     lambda o: R.OneCycleLR(o, max_lr=0.1, total_steps=120, pct_start=0.4, div_factor=10,
                            final_div_factor=100, cycle_momentum=False)),
    ({"type": "polynomial", "lr": 0.1, "steps": 90, "power": 2},
     lambda o: R.PolynomialLR(o, total_iters=90, power=2)),
    ({"type": "polynomial", "lr": 0.1, "steps": 70, "power": 0.5},
     lambda o: R.PolynomialLR(o, total_iters=70, power=0.5)),
]


def rates(make):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
    scheduler, found = make(optimizer), []
    for _ in range(STEPS):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return found


# --- optimizers
# ------------------------------------------------------------------------------
class Lion(torch.optim.Optimizer):
    def __init__(self, groups, lr, betas, weight_decay=0.0):
        super().__init__(groups, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"]).sub_(
                    group["lr"] * torch.sign(b1 * m + (1 - b1) * p.grad))
                m.mul_(b2).add_((1 - b2) * p.grad)


OPTIMIZERS = [
    ({"type": "sgd"}, 0.05, lambda g, lr: torch.optim.SGD(g, lr)),
    ({"type": "sgd", "momentum": 0.9, "weight_decay": 0.01}, 0.02, lambda g,
     lr: torch.optim.SGD(g, lr, momentum=0.9)),
    ({"type": "sgd", "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}, 0.02, lambda g,
     lr: torch.optim.SGD(g, lr, momentum=0.9, nesterov=True)),
    ({"type": "adamw", "weight_decay": 0.1}, 0.01, lambda g,
     lr: torch.optim.AdamW(g, lr, betas=(0.9, 0.999), eps=1e-8)),
    ({"type": "rmsprop", "alpha": 0.9, "weight_decay": 0.01}, 0.003, lambda g,
     lr: torch.optim.RMSprop(g, lr, alpha=0.9)),
    ({"type": "rmsprop", "momentum": 0.5, "centered": True}, 0.001, lambda g,
     lr: torch.optim.RMSprop(g, lr, momentum=0.5, centered=True)),
    ({"type": "lion", "weight_decay": 0.1}, 0.001, lambda g, lr: Lion(g, lr, (0.9, 0.99))),
]


# --- networks: cells as Loom writes them, and the same in PyTorch
# --------------------------------------------------------------
def rms_norm(x, gain):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * gain


ACTIVATIONS = {"tanh": torch.tanh, "relu": F.relu, "silu": F.silu, "gelu_erf": F.gelu,
               "softplus": F.softplus, "sigmoid": torch.sigmoid, "linear": lambda x: x}


class Model:
    """Cells of Loom in PyTorch; parameters by the names that Loom gives them, in its order."""

    def __init__(self, inputs, cells):
        self.inputs, self.cells, self.params = inputs, cells, {}
        width = inputs.get("width", 0)
        for i, cell in enumerate(cells):
            width = self.plan(cell, f"0.0.0.{i}", width)

    def add(self, name, rows, cols, scale, middle=0.0):
        v = values(rows * cols, len(self.params), scale, middle).reshape(rows, cols)
        self.params[name] = v.float().double().requires_grad_()
        self.described = getattr(self, "described",
                                 []) + [{"name": name, "scale": scale, "middle": middle}]

    def plan(self, cell, path, width):
        kind = cell["type"]
        if kind == "sequential":
            for i, inner in enumerate(cell["layers"]):
                width = self.plan(inner, f"{path}/{i}", width)
            return width
        if kind in ("rms_norm", "layer_norm"):
            self.add(path + ":gain", 1, width, 0.5, 1.0)
            if kind == "layer_norm":
                self.add(path + ":bias", 1, width, 0.5)
            return width
        if kind == "embedding":
            self.add(path + ":weight", self.inputs["ids"], cell["out"], 1.0)
            return cell["out"]
        if kind == "swiglu":
            for role in ("gate", "up"):
                self.add(f"{path}:{role}", cell["hidden"], width, 1.0)
            self.add(f"{path}:down", width, cell["hidden"], 1.0)
            return width
        if kind == "dense":
            self.add(path + ":weight", cell["out"], width, 1.0)
            self.add(path + ":bias", 1, cell["out"], 0.5)
            return cell["out"]
        return width

    def run(self, cell, path, x, skip):
        p, kind = self.params, cell["type"]
        if kind == "sequential":
            inner_skip = x
            for i, inner in enumerate(cell["layers"]):
                before = x
                x = self.run(inner, f"{path}/{i}", x, inner_skip)
                inner_skip = before
            return x
        if kind == "residual":
            return x + skip
        if kind == "rms_norm":
            return rms_norm(x, p[path + ":gain"])
        if kind == "layer_norm":
            return F.layer_norm(x, x.shape[-1:], p[path + ":gain"][0], p[path + ":bias"][0], 1e-5)
        if kind == "embedding":
            return p[path + ":weight"][x]
        if kind == "swiglu":
            return (F.silu(x @ p[path + ":gate"].T) * (x @ p[path + ":up"].T)) @ p[path + ":down"].T
        return ACTIVATIONS[cell.get("activation", "linear")](x @ p[path + ":weight"].T
                                                             + p[path + ":bias"])

    def forward(self, x):
        for i, cell in enumerate(self.cells):
            x = self.run(cell, f"0.0.0.{i}", x, None)
        return x


def dense(out, activation="linear"):
    return {"type": "dense", "out": out, "activation": activation}


NETWORKS = [
    ({"width": 6}, [dense(16, "tanh"), dense(3)], "mse"),
    ({"width": 8}, [dense(24, "relu"), dense(16, "relu"), dense(5)], "cross_entropy"),
    ({"width": 5}, [dense(12, "silu"), {"type": "layer_norm"}, dense(4)], "huber"),
    ({"width": 7}, [dense(12, "gelu_erf"), {"type": "rms_norm"}, dense(2)], "mae"),
    ({"width": 4}, [dense(10, "softplus"), dense(8, "sigmoid"), dense(3)], "bce"),
    ({"ids": 11}, [{"type": "embedding", "out": 8},
                   {"type": "sequential",
                    "layers": [{"type": "sequential",
                                "layers": [{"type": "rms_norm"}, {"type": "swiglu", "hidden": 12}]},
                                  {"type": "residual"}]},
                   {"type": "rms_norm"}, dense(11)], "cross_entropy"),
]
LOSSES = {"mse": F.mse_loss, "mae": F.l1_loss, "huber": lambda y, t: F.huber_loss(y, t, delta=0.5),
          "bce": F.binary_cross_entropy_with_logits, "cross_entropy": F.cross_entropy}


def curve(inputs, cells, loss, build, lr, schedule):
    model = Model(inputs, cells)
    outputs = cells[-1]["out"]
    if "ids" in inputs:
        ids = torch.tensor((hashed(SAMPLES + 1, 1000) % inputs["ids"]).astype(np.int64))
        x, y = ids[:-1], ids[1:]
    else:
        x = values(SAMPLES * inputs["width"], 1000).reshape(SAMPLES, -1)
        # Targets between 0 and 1 suit every loss.
        y = torch.tensor(
            (hashed(SAMPLES, 1001) % outputs).astype(
                np.int64)) if loss == "cross_entropy" else values(SAMPLES * outputs, 1001, 1.0,
                  0.5).reshape(SAMPLES, -1)
    decayed = [p for p in model.params.values() if p.shape[0] > 1]
    others = [p for p in model.params.values() if p.shape[0] == 1]
    decay = build[0].get("weight_decay", 0.0)
    optimizer = build[2](
        [{"params": decayed, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}], lr)
    found = []
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = schedule[step] / 0.1 * lr
        at = (np.arange(BATCH) + step * BATCH) % SAMPLES
        value = LOSSES[loss](model.forward(x[at]), y[at])
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        found.append(float(f"{value.item():.7g}"))
    return model.described, found


def main():
    out = {"torch": torch.__version__,
           "rates": [{"schedule": s, "rates": [float(f"{r:.15g}") for r in rates(make)]} for s,
                     make in SCHEDULES], "curves": []}
    for n, ((inputs, cells, loss), build) in enumerate(itertools.product(NETWORKS, OPTIMIZERS)):
        shape, lr = dict(SCHEDULES[n % len(SCHEDULES)][0]), build[1]
        schedule = out["rates"][n % len(SCHEDULES)]["rates"]
        for key in ("lr", "floor"):
            if key in shape:
                shape[key] = shape[key] / 0.1 * lr
        params, losses = curve(inputs, cells, loss, build, lr, schedule)
        network = {"format": "loom-topology", "version": 1, "layers_per_cell": len(cells),
                   "input": inputs,
                   "cells": [{"at": [0, 0, 0, i], **c} for i, c in enumerate(cells)]}
        spec = {"format": "loom-training", "version": 2, "network": network, "loss": loss,
                "delta": 0.5, "optimizer": build[0], "schedule": shape, "steps": STEPS,
                "batch": BATCH, "shuffle": False}
        out["curves"].append({"spec": spec, "params": params, "losses": losses})
    lines = lambda items: ",\n".join(json.dumps(i, separators=(",", ":")) for i in items)
    sys.stdout.write(
        f'{{"torch":"{out["torch"]}",\n"rates":[\n{lines(out["rates"])}],\n'
        f'"curves":[\n{lines(out["curves"])}]}}\n')


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
