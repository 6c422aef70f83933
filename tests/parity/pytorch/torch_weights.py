#!/usr/bin/env python3
"""Loss curves of Loom with weights of classes and of samples against PyTorch in f64: 60 steps,
differences below 1e-5.

torch_weights.py DRIVER    (build/release/tests/train_curves_driver); 77 where PyTorch is missing

Loom draws the weights and trains; PyTorch trains from the same weights on the same batches.
Classes: CrossEntropyLoss(weight=, ignore_index=), whose mean is by weights; samples: the same mean
of losses that are not reduced.
"""
import argparse
import json
import subprocess
import sys
import tempfile

try:
    import torch
except ImportError:
    print("torch_weights.py: skipped: this Python has no PyTorch (Debian: python3-torch)",
          file=sys.stderr)
    sys.exit(77)
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
STEPS, BATCH, SAMPLES, WIDTH, CLASSES = 60, 8, 40, 5, 4


def mean_by_weights(losses, weights):
    return (losses * weights).sum() / weights.sum()


def jobs():
    """(name, spec, data, loss(outputs, places of the batch's samples))."""
    draw = torch.Generator().manual_seed(5)
    x = (torch.rand(SAMPLES, WIDTH, generator=draw) * 2 - 1).float().double()
    c = torch.randint(CLASSES, (SAMPLES,), generator=draw)
    y = torch.rand(SAMPLES, CLASSES, generator=draw).float().double()
    w = (torch.rand(SAMPLES, generator=draw) * 3).float().double()
    w[3] = 0
    of_class = torch.tensor([0.5, 4, 1, 0.125])
    ignored = c.clone()
    ignored[::7] = 255
    counts = torch.bincount(c, minlength=CLASSES)
    balanced = SAMPLES / (CLASSES * counts.double())
    rows = {"x": x.flatten().tolist(), "width": WIDTH}
    classes, some, values = {**rows, "classes": c.tolist()}, {**rows,
                                                              "classes": ignored.tolist()}, {**rows,
                                                              "y": y.flatten().tolist(),
                                                              "targets": CLASSES}
    weighted = {"weights": w.tolist()}
    cross = lambda weight, target, **more: lambda out, at: F.cross_entropy(out, target[at],
            weight=weight, **more)
    yield "classes", {"loss": "cross_entropy",
                      "class_weights": of_class.tolist()}, classes, cross(of_class, c)
    yield "classes, balanced", {"loss": "cross_entropy",
                                "class_weights": "balanced"}, classes, cross(balanced, c)
    yield "classes, one of them ignored", {"loss": "cross_entropy",
                                           "class_weights": of_class.tolist(),
                                           "ignore": 255}, some, cross(of_class, ignored,
                                           ignore_index=255)
    yield "samples", {"loss": "cross_entropy"}, {**classes,
                                                 **weighted}, lambda out, at: mean_by_weights(
                                                 F.cross_entropy(out, c[at], reduction="none"),
                                                 w[at])
    both = lambda out, at: mean_by_weights(F.cross_entropy(out, c[at], reduction="none"),
                                           w[at] * of_class[c[at]])
    yield "samples and classes", {"loss": "cross_entropy",
                                  "class_weights": of_class.tolist()}, {**classes, **weighted}, both
    for loss, of in (("mse", F.mse_loss), ("mae", F.l1_loss),
                     ("bce", F.binary_cross_entropy_with_logits)):
        def mean(out, at, of=of):
            return mean_by_weights(of(out, y[at], reduction="none").mean(1), w[at])

        yield "samples, " + loss, {"loss": loss}, {**values, **weighted}, mean


def curve(data, initial, loss):
    hidden, last = nn.Linear(WIDTH, 12), nn.Linear(12, CLASSES)
    with torch.no_grad():
        for name, p in (("0.0.0.0:weight", hidden.weight), ("0.0.0.0:bias", hidden.bias),
                        ("0.0.0.1:weight", last.weight), ("0.0.0.1:bias", last.bias)):
            p.copy_(torch.tensor(initial[name]).reshape(p.shape))
    x = torch.tensor(data["x"]).reshape(SAMPLES, WIDTH)
    optimizer = torch.optim.SGD([*hidden.parameters(), *last.parameters()], 0.1, momentum=0.5)
    found = []
    for step in range(STEPS):
        at = (torch.arange(BATCH) + step * BATCH) % SAMPLES
        value = loss(last(torch.tanh(hidden(x[at]))), at)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        found.append(value.item())
    return found


def main(driver):
    cells = [{"at": [0, 0, 0, 0], "type": "dense", "out": 12, "activation": "tanh"},
             {"at": [0, 0, 0, 1], "type": "dense", "out": CLASSES}]
    network = {"format": "loom-topology", "version": 1, "layers_per_cell": 2,
               "input": {"width": WIDTH}, "cells": cells}
    common = {"format": "loom-training", "version": 2, "network": network,
              "optimizer": {"type": "sgd", "momentum": 0.5},
              "schedule": {"type": "constant", "lr": 0.1},
              "steps": STEPS, "batch": BATCH, "shuffle": False, "seed": 3}
    all_jobs, failed, worst = list(jobs()), 0, 0.0
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump([{"spec": {**common, **spec}, "data": data} for _, spec, data, _ in all_jobs],
                  file)
        file.flush()
        results = json.loads(
            subprocess.run([driver, file.name], check=True, stdout=subprocess.PIPE).stdout)
    for (name, _, data, loss), got in zip(all_jobs, results):
        want = curve(data, got["initial"], loss)
        difference = max(abs(a - b) for a, b in zip(want, got["losses"]))
        worst = max(worst, difference)
        if len(got["losses"]) != STEPS or not difference < 1e-5:
            failed += 1
            print("FAIL %s: largest difference %.1e" % (name, difference))
    print("%s: %d curves of %d steps with weights beside PyTorch %s, largest difference %.1e"
          % ("FAIL" if failed else "ok", len(all_jobs), STEPS, torch.__version__, worst))
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("driver")
    sys.exit(main(parser.parse_args().driver))
