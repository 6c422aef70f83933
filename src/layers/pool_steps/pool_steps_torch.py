"""pool_steps in PyTorch, for tests/parity/pytorch/torch_random.py."""

import torch


def config(r, behind_dense):
    """A random configuration (tests/parity/pytorch/torch_configs.py): steps of values, and often
    their lengths, 0 among them."""
    rows, steps, features, op = (
        r.randint(1, 5),
        r.randint(1, 6),
        r.randint(1, 5),
        r.choice(["mean", "max", "sum", "last"]),
    )
    if r.random() < 0.3:
        return behind_dense("pool_steps", {"op": op}, [steps, features], version=2)
    parts = [{"name": "x", "dims": [steps, features]}, {"name": "n", "ids": steps + 1}]
    cells = [
        {"enabled": False},
        {"type": "part", "of": "x"},
        {"type": "dense", "out": features},
        {"type": "part", "of": "n", "links": [{"read": [0, 0, 0, 0]}]},
        {
            "type": "pool_steps",
            "op": op,
            "takes": ["lengths"],
            "links": [{"read": [0, 0, 0, i]} for i in (2, 3)],
            "merge": "operands",
        },
        {"type": "dense", "out": 3},
    ]
    width = steps * features + 1
    return {
        "rows": rows,
        "special": [[row * width + width - 1, float(r.randint(0, steps))] for row in range(rows)],
        "topology": {
            "format": "loom-topology",
            "version": 3,
            "layers_per_cell": len(cells),
            "input": {"parts": parts},
            "cells": [{"at": [0, 0, 0, i], **c} for i, c in enumerate(cells)],
        },
    }


def forward(model, cell, path, x, dims):
    """Output and its dimensions; `dims` are those of each operand."""
    (steps, features), lengths = (
        (dims[0], x[:, -1:]) if cell.get("takes") else (dims, torch.full((len(x), 1), dims[0]))
    )
    x = x[:, : steps * features].reshape(-1, steps, features)
    seen = (torch.arange(steps) < lengths)[:, :, None]
    op, x, count = cell.get("op", "mean"), x * seen, lengths.clamp(min=1)
    if op == "max":
        y = x.masked_fill(~seen, -1e300).amax(1) * (lengths > 0)
    elif op == "last":
        y = (x * (torch.arange(steps) == lengths - 1)[:, :, None]).sum(1)
    else:
        y = x.sum(1) / (count if op == "mean" else 1)
    return y, [features]
