"""part in PyTorch, for tests/parity/torch_random.py."""
import math


def config(r, behind_dense):
    """A random configuration (tests/parity/torch_configs.py): inputs by name, each with a layer of its own."""
    named = [("n%d" % i, [r.randint(1, 5) for _ in range(r.randint(1, 3))]) for i in range(r.randint(1, 4))]
    branches = [{"type": "sequential", "layers": [{"type": "part", "of": name}, {"type": "flatten"}, {"type": "dense", "out": r.randint(1, 5)}]}
                for name, _ in r.sample(named, len(named))]
    cells = [{"type": "parallel", "layers": branches}, {"type": "dense", "out": 3}]
    return {"rows": r.randint(1, 5),
            "topology": {"format": "loom-topology", "version": 2, "layers_per_cell": 2,
                         "input": {"parts": [{"name": name, "dims": dims} for name, dims in named]},
                         "cells": [{"at": [0, 0, 0, i], **c} for i, c in enumerate(cells)]}}


def forward(model, cell, path, x, dims):
    """Output and its dimensions."""
    parts = model.topology["input"]["parts"]
    index = next(i for i, part in enumerate(parts) if part["name"] == cell["of"])
    begin = sum(math.prod(part["dims"]) for part in parts[:index])
    return x[:, begin:begin + math.prod(parts[index]["dims"])], list(parts[index]["dims"])
