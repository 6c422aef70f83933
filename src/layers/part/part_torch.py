"""part in PyTorch, for tests/parity/pytorch/torch_random.py."""
import math


def count(part):
    return math.prod(part.get("dims", [1]))


def config(r, behind_dense):
    """A random configuration (tests/parity/pytorch/torch_configs.py): inputs by name, values or
    ids, each with a layer of its own."""
    rows, parts, branches, ids, column = r.randint(1, 5), [], [], [], 0
    for i in range(r.randint(1, 4)):
        part = {"name": "n%d" % i}
        if r.random() < 0.7:
            part["dims"] = [r.randint(1, 5)]
        layers = [{"type": "part", "of": part["name"]}]
        if r.random() < 0.4:
            part["ids"] = r.randint(1, 9)
            layers.append({"type": "embedding", "out": r.randint(1, 4), "std": 0.5})
            ids += [(row, column + c, r.randrange(part["ids"])) for row in range(rows)
                    for c in range(count(part))]
        else:
            part["dims"] = part.get("dims", []) + [r.randint(1, 4)
                                                   for _ in range(
                                                       r.randint(0 if "dims" in part else 1, 2))]
        column += count(part)
        parts.append(part)
        branches.append({"type": "sequential",
                         "layers": layers + [{"type": "flatten"},
                                             {"type": "dense", "out": r.randint(1, 5)}]})
    r.shuffle(branches)
    cells = [{"type": "parallel", "layers": branches}, {"type": "dense", "out": 3}]
    return {"rows": rows, "special": [[row * column + at, float(v)] for row, at, v in ids],
            "topology": {"format": "loom-topology", "version": 3, "layers_per_cell": 2,
                         "input": {"parts": parts},
                         "cells": [{"at": [0, 0, 0, i], **c} for i, c in enumerate(cells)]}}


def forward(model, cell, path, x, dims):
    """Output and its dimensions."""
    parts = model.topology["input"]["parts"]
    index = next(i for i, part in enumerate(parts) if part["name"] == cell["of"])
    begin = sum(count(part) for part in parts[:index])
    x = x[:, begin:begin + count(parts[index])]
    return (x if "dims" in parts[index] else x.reshape(-1)), list(parts[index].get("dims", []))
