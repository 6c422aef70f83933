#!/usr/bin/env python3
"""Loss curves of Loom in f32 against PyTorch in f64: every optimizer with every schedule on six
networks, 100 steps, differences below 1e-4.

torch_curves.py DRIVER    (build/release/tests/train_curves_driver); 77 where PyTorch is missing

Loom draws the weights and trains; PyTorch's modules, optimizers and schedulers train from the same
weights on the same batches. Lion is not part of PyTorch: it is written here from algorithm 2 of
arXiv 2302.06675.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import warnings

try:
    import torch
except ImportError:
    print("torch_curves.py: skipped: this Python has no PyTorch (Debian: python3-torch)",
          file=sys.stderr)
    sys.exit(77)
from torch import nn
from torch.nn import functional as F

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
STEPS, BATCH, SAMPLES = 100, 8, 40
R = torch.optim.lr_scheduler


class Lion(torch.optim.Optimizer):
    def __init__(self, groups, lr):
        super().__init__(groups, dict(lr=lr, weight_decay=0.0))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"]).sub_(
                    group["lr"] * torch.sign(0.9 * m + 0.1 * p.grad))
                m.mul_(0.99).add_(0.01 * p.grad)


DECAY = 0.01
OPTIMIZERS = {
    "sgd": ({"type": "sgd"}, 0.05, lambda g, lr: torch.optim.SGD(g, lr)),
    "momentum": ({"type": "sgd", "momentum": 0.9}, 0.01, lambda g,
                 lr: torch.optim.SGD(g, lr, momentum=0.9)),
    "nesterov": ({"type": "sgd", "momentum": 0.9, "nesterov": True}, 0.01, lambda g,
                 lr: torch.optim.SGD(g, lr, momentum=0.9, nesterov=True)),
    "adamw": ({"type": "adamw"}, 0.005, lambda g, lr: torch.optim.AdamW(g, lr)),
    "adam": ({"type": "adam"}, 0.005, lambda g, lr: torch.optim.Adam(g, lr)),
    "rmsprop": ({"type": "rmsprop", "alpha": 0.9}, 0.002, lambda g,
                lr: torch.optim.RMSprop(g, lr, alpha=0.9)),
    "lion": ({"type": "lion"}, 0.0005, Lion),
}
SCHEDULES = {
    "constant": ({}, lambda o, lr: R.ConstantLR(o, factor=1.0)),
    "linear": ({"floor": 0.2, "steps": 80}, lambda o,
               lr: R.LinearLR(o, start_factor=1.0, end_factor=0.2, total_iters=80)),
    "cosine": ({"floor": 0.1, "steps": 101}, lambda o,
               lr: R.CosineAnnealingLR(o, T_max=101, eta_min=0.1 * lr)),
    "cosine_restarts": ({"floor": 0.1, "every": 20, "multiplier": 2}, lambda o,
                        lr: R.CosineAnnealingWarmRestarts(o, T_0=20, T_mult=2, eta_min=0.1 * lr)),
    "step": ({"every": 15, "factor": 0.7}, lambda o, lr: R.StepLR(o, step_size=15, gamma=0.7)),
    "multi_step": ({"milestones": [10, 11, 60], "factor": 0.5}, lambda o,
                   lr: R.MultiStepLR(o, milestones=[10, 11, 60], gamma=0.5)),
    "exponential": ({"factor": 0.98}, lambda o, lr: R.ExponentialLR(o, gamma=0.98)),
    "one_cycle": ({"steps": 100}, lambda o,
                  lr: R.OneCycleLR(o, max_lr=lr, total_steps=100, cycle_momentum=False)),
    "polynomial": ({"steps": 90, "power": 2}, lambda o,
                   lr: R.PolynomialLR(o, total_iters=90, power=2)),
}


# --- networks: cells as Loom writes them, and a module whose parameters take Loom's values by name
# -------------------------------
def dense(out, activation="linear"):
    return {"type": "dense", "out": out, "activation": activation}


class Mlp(nn.Module):
    input, loss, samples = {"width": 6}, "mse", "values"
    cells = [dense(16, "tanh"), dense(12, "relu"), dense(3)]

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(6, 16), nn.Linear(16, 12), nn.Linear(12, 3)
        self.names = {"0.0.0.0": self.a, "0.0.0.1": self.b, "0.0.0.2": self.c}

    def forward(self, x):
        return self.c(torch.relu(self.b(torch.tanh(self.a(x)))))


class Cnn(nn.Module):
    input, loss, samples = {"dims": [2, 6, 5]}, "cross_entropy", "classes"
    cells = [{"type": "conv2d", "filters": 4, "kernel": 3, "padding": 1, "activation": "silu"},
             {"type": "max_pool2d", "kernel": 2}, {"type": "flatten"}, dense(5)]

    def __init__(self):
        super().__init__()
        self.conv, self.out = nn.Conv2d(2, 4, 3, padding=1), nn.Linear(4 * 3 * 2, 5)
        self.names = {"0.0.0.0": self.conv, "0.0.0.3": self.out}

    def forward(self, x):
        return self.out(F.max_pool2d(F.silu(self.conv(x.reshape(-1, 2, 6, 5))), 2).flatten(1))


class Lstm(nn.Module):
    input, loss, samples = {"dims": [5, 3]}, "huber", "values"
    cells = [{"type": "lstm", "hidden": 7, "output": "last"}, dense(3)]

    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(3, 7, batch_first=True), nn.Linear(7, 3)
        self.names = {"0.0.0.0": self.lstm, "0.0.0.1": self.out}

    def forward(self, x):
        return self.out(self.lstm(x.reshape(-1, 5, 3))[0][:, -1])


class Attention(nn.Module):
    """Pre-normed multi-head attention over sequences of 6 ids, positions by rotation."""
    input, loss, samples = {"ids": 11}, "cross_entropy", "sequences"
    cells = [{"type": "embedding", "out": 8, "std": 0.5},
             {"type": "sequential",
              "layers": [{"type": "sequential",
                          "layers": [{"type": "rms_norm"}, {"type": "attention", "heads": 2}]},
                            {"type": "residual"}]},
             {"type": "layer_norm"}, dense(11)]

    def __init__(self):
        super().__init__()
        self.table, self.gain = nn.Embedding(11, 8), nn.Parameter(torch.ones(1, 8))
        self.projections = nn.ParameterDict(
            {role: nn.Parameter(torch.zeros(8, 8)) for role in "qkvo"})
        self.norm, self.out = nn.LayerNorm(8), nn.Linear(8, 11)
        self.names = {"0.0.0.0": self.table, "0.0.0.2": self.norm, "0.0.0.3": self.out,
                      "0.0.0.1/0/0": {"gain": self.gain}, "0.0.0.1/0/1": self.projections}

    @staticmethod
    def rotate(x):
        half = x.shape[-1] // 2
        angle = torch.arange(x.shape[2])[:, None] * 10000.0 ** (-torch.arange(half) / half)[None, :]
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

    def forward(self, ids):
        x = self.table(ids)
        n = x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.gain
        q, k, v = ((n @ self.projections[role].T).reshape(*ids.shape, 2, 4).transpose(1, 2)
                   for role in "qkv")
        scores = self.rotate(q) @ self.rotate(k).transpose(-1, -2) / 2
        scores = scores.masked_fill(torch.ones(6, 6).triu(1).bool(), -torch.inf)
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(*ids.shape, 8)
        return self.out(self.norm(x + y @ self.projections["o"].T))


class Autoencoder(nn.Module):
    input, loss, samples = {"width": 8}, "mse", "itself"
    cells = [dense(10, "gelu_erf"), dense(3), dense(10, "softplus"), dense(8)]

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(
            [nn.Linear(8, 10), nn.Linear(10, 3), nn.Linear(3, 10), nn.Linear(10, 8)])
        self.names = {f"0.0.0.{i}": part for i, part in enumerate(self.parts)}

    def forward(self, x):
        a, b, c, d = self.parts
        return d(F.softplus(c(b(F.gelu(a(x))))))


class Classifier(nn.Module):
    input, loss, samples = {"ids": 13}, "cross_entropy", "ids"
    cells = [{"type": "embedding", "out": 9, "std": 0.5}, {"type": "layer_norm"},
             dense(12, "sigmoid"), dense(13)]

    def __init__(self):
        super().__init__()
        self.table, self.norm, self.hidden, self.out = nn.Embedding(13,
                                                                    9), nn.LayerNorm(9), nn.Linear(
                                                                    9, 12), nn.Linear(12, 13)
        self.names = {"0.0.0.0": self.table, "0.0.0.1": self.norm, "0.0.0.2": self.hidden,
                      "0.0.0.3": self.out}

    def forward(self, ids):
        return self.out(torch.sigmoid(self.hidden(self.norm(self.table(ids)))))


NETWORKS = [Mlp, Cnn, Lstm, Attention, Autoencoder, Classifier]
ROLES = {"gain": "weight"}  # of nn.LayerNorm


def parameter(model, name):
    path, role = name.split(":")
    owner = model.names[path]
    if isinstance(owner, (dict, nn.ParameterDict)):
        return owner[role]
    return getattr(owner, ROLES.get(role, role))


def samples(model):
    """The driver's data, and batch(step) for PyTorch."""
    generator = torch.Generator().manual_seed(7)
    at = lambda step: (torch.arange(BATCH) + step * BATCH) % SAMPLES
    if model.samples in ("ids", "sequences"):
        length = 6 if model.samples == "sequences" else 1
        ids = torch.randint(model.input["ids"], (SAMPLES * length + 1,), generator=generator)
        x, y = ids[:-1].reshape(SAMPLES, length), ids[1:].reshape(SAMPLES, length)
        return {"ids": ids.tolist(), "length": length}, lambda step: (x[at(step)], y[at(step)])
    width = model.input.get("width") or int(torch.tensor(model.input["dims"]).prod())
    x = torch.rand(SAMPLES, width, generator=generator).float().double() * 2 - 1
    data = {"x": x.flatten().tolist(), "width": width}
    outputs = model.cells[-1]["out"]
    if model.samples == "classes":
        y = torch.randint(outputs, (SAMPLES,), generator=generator)
        data["classes"] = y.tolist()
    else:
        y = x if model.samples == "itself" else torch.rand(SAMPLES, outputs,
                                                           generator=generator).float().double()
        data.update(y=y.flatten().tolist(), targets=outputs)
    return data, lambda step: (x[at(step)], y[at(step)])


LOSSES = {"mse": F.mse_loss, "huber": lambda y, t: F.huber_loss(y, t, delta=0.5),
          "cross_entropy": lambda y, t: F.cross_entropy(y.reshape(-1, y.shape[-1]), t.flatten())}


def curve(kind, initial, batch, optimizer, schedule):
    model = kind()
    parameters = {name: parameter(model, name) for name in initial}
    assert {id(p) for p in parameters.values()} == {id(p)
                                                    for p in model.parameters()}, ("parameters of "
                                                                                   "the two differ")
    with torch.no_grad():
        for name, values in initial.items():
            parameters[name].copy_(torch.tensor(values).reshape(parameters[name].shape))
    # Loom decays what has more than one row.
    matrices = [p for n, p in parameters.items() if p.dim() > 1 and not n.endswith(":gain")]
    others = [p for p in parameters.values() if not any(p is m for m in matrices)]
    settings, lr, make = optimizer
    steps = make([{"params": matrices, "weight_decay": DECAY},
                  {"params": others, "weight_decay": 0.0}], lr)
    scheduler, found = schedule[1](steps, lr), []
    for step in range(STEPS):
        x, y = batch(step)
        loss = LOSSES[kind.loss](model(x), y)
        steps.zero_grad()
        loss.backward()
        steps.step()
        scheduler.step()
        found.append(loss.item())
    return found


def main(driver):
    failed, count, worst_of_all = 0, 0, 0.0
    for kind in NETWORKS:
        data, batch = samples(kind)
        network = {"format": "loom-topology", "version": 1, "layers_per_cell": len(kind.cells),
                   "input": kind.input,
                   "cells": [{"at": [0, 0, 0, i], **c} for i, c in enumerate(kind.cells)]}
        pairs = [(o, s) for o in OPTIMIZERS for s in SCHEDULES]
        jobs = []
        for o, s in pairs:
            settings, lr, _ = OPTIMIZERS[o]
            shape = {"type": s, "lr": lr, **SCHEDULES[s][0]}
            if "floor" in shape:
                shape["floor"] *= lr
            jobs.append(
                {"data": data,
                 "spec": {"format": "loom-training", "version": 2, "network": network,
                          "loss": kind.loss, "delta": 0.5,
                          "optimizer": {**settings, "weight_decay": DECAY},
                                                "schedule": shape, "steps": STEPS, "batch": BATCH,
                                                "shuffle": False, "seed": 11}})
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(jobs, file)
            file.flush()
            results = json.loads(
                subprocess.run([driver, file.name], check=True, stdout=subprocess.PIPE).stdout)
        worst, where = 0.0, None
        for (o, s), got in zip(pairs, results):
            want = curve(kind, got["initial"], batch, OPTIMIZERS[o], SCHEDULES[s])
            difference = max(abs(a - b) for a, b in zip(want, got["losses"]))
            count += 1
            if len(got["losses"]) != STEPS or not difference < 1e-4:
                failed += 1
                print(f"FAIL {kind.__name__}, {o}, {s}: largest difference {difference:.1e}")
            if difference >= worst:
                worst, where = difference, f"{o}, {s}"
        worst_of_all = max(worst_of_all, worst)
        print(f"{kind.__name__}: {len(pairs)} curves, largest difference {worst:.1e} ({where})")
    print(f"{'FAIL' if failed else 'ok'}: {count} curves of {STEPS} steps beside PyTorch "
          f"{torch.__version__}, largest difference {worst_of_all:.1e}")
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("driver")
    sys.exit(main(parser.parse_args().driver))
