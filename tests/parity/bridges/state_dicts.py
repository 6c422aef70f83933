#!/usr/bin/env python3
"""Networks that PyTorch's modules became, trained here, and back: load_state_dict takes the file.

    state_dicts.py [--count 42] [--seed 1]      # 77: a package is missing

A module is absorbed, trained for 5 steps, written with `welvet.export(network, path,
template=absorbed)` and loaded into the module, strictly. Its outputs are then those of the network,
within 1e-5 of the largest. Networks that were made here go into a module's names by its state_dict.
"""
import argparse
import json
import os
import pathlib
import random
import sys
import tempfile

import numpy as np

try:
    import torch
    from torch import nn
except ImportError as e:
    print(f"needs torch: {e}")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[3] / "bindings" / "python"))
import planetbridging
import torch_continued
import torch_models
import welvet
from welvet import layers as L

STEPS, BOUND = 5, 1e-5


def loaded(path):
    """A .safetensors file as a state_dict."""
    data = pathlib.Path(path).read_bytes()
    size = int.from_bytes(data[:8], "little")
    types = {"F32": np.float32, "I64": np.int64}
    return {name: torch.from_numpy(np.frombuffer(
        data[8 + size + t["data_offsets"][0]:8 + size + t["data_offsets"][1]],
        types[t["dtype"]]).reshape(t["shape"]).copy())
        for name, t in json.loads(data[8:8 + size]).items() if name != "__metadata__"}


def returned(i, seed, folder):
    """How far the module is from the network, and how far training has moved it."""
    kind = torch_continued.KINDS[i % len(torch_continued.KINDS)]
    torch.manual_seed(seed * 7919 + i)
    module, make = kind(random.Random("state %d %d" % (seed, i)))
    module.train()
    x = make(16)[0]
    y = torch.randn(16, *module(x).shape[1:])
    optimizer = torch.optim.SGD(module.parameters(), 0.05)
    absorbed = planetbridging.from_torch(module, (x,), optimizer=optimizer, loss=nn.MSELoss())
    network = absorbed.network()
    before = {name: a.clone() for name, a in module.state_dict().items()}
    with absorbed.trainer(next(iter(absorbed.rows(x.numpy()).values())), y.numpy().reshape(16, -1),
                          network, batch_size=16, steps=STEPS, shuffle=False) as trainer:
        for _ in range(STEPS):
            trainer.step()
    path = os.path.join(folder, "state.safetensors")
    welvet.export(network, path, template=absorbed)
    module.load_state_dict(loaded(path), strict=True)
    moved = max(float((a.double() - before[name].double()).abs().max())
                for name, a in module.state_dict().items() if a.is_floating_point())
    module.eval()
    absorbed._network = network
    return kind.__name__, torch_models.difference(module, absorbed, make(7)), moved


def by_template(folder):
    """A network that was made here, into a module of the same layers."""
    network = welvet.Network(L.Sequential(
        L.Input(2, 8, 8), L.Conv2d(4, 3, activation="relu"), L.BatchNorm(), L.Flatten(),
        L.Linear(6, activation="tanh"), L.LayerNorm(), L.Linear(6, activation="tanh"),
        L.Linear(3)), seed=3)
    body = nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.BatchNorm2d(4), nn.Flatten(),
                         nn.Linear(144, 6), nn.Tanh(), nn.LayerNorm(6), nn.Linear(6, 6), nn.Tanh(),
                         nn.Linear(6, 3))
    module = nn.ModuleDict({"body": body, "other": nn.Linear(5, 5)})
    path = os.path.join(folder, "made.safetensors")
    welvet.export(network, path, template=module.state_dict(), prefix="body.")
    missing, unexpected = module.load_state_dict(loaded(path), strict=False)
    assert sorted(missing) == ["other.bias", "other.weight"] and not unexpected, missing
    x = np.random.default_rng(0).normal(size=(5, 2, 8, 8)).astype(np.float32)
    module.eval()
    with torch.no_grad():
        y = body(torch.from_numpy(x)).numpy()
    for wrong in ({"body": None}, {"template": module.state_dict()}):  # other has no layer
        try:
            welvet.export(network, path, **wrong)
        except (TypeError, ValueError):
            continue
        raise AssertionError("not refused: %s" % wrong)
    return float(np.abs(y - network(x.reshape(5, -1))).max())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=42)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    worst, failed = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(given.count):
            name, far, moved = returned(i, given.seed, folder)
            worst[name] = max(worst.get(name, 0), far)
            if not far < BOUND or not moved > 1e-4:
                failed += 1
                print("%d %s: differs by %.2g, moved %.2g" % (i, name, far, moved))
        worst["by_template"] = by_template(folder)
        failed += not worst["by_template"] < BOUND
    for name, far in worst.items():
        print("%-16s worst %.2e" % (name, far))
    print("%d modules, %d FAILED" % (given.count, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
