"""cross_attention in PyTorch, for tests/parity/pytorch/torch_random.py."""
import math

import torch
import torch.nn.functional as F


def config(r, behind_dense):
    """A random configuration (tests/parity/pytorch/torch_configs.py): what attends, what is
    attended to, and often a mask."""
    steps, keys, heads = r.randint(1, 6), r.randint(1, 6), r.randint(1, 3)
    width, memory = heads * r.randint(1, 4), r.randint(1, 6)
    cell = {"type": "cross_attention", "heads": heads}
    if r.random() < 0.3:
        cell["head_dim"] = r.randint(1, 5)
    for key in ("qkv_bias", "out_bias"):
        if r.random() < 0.5:
            cell[key] = True
    cells = [{"type": "dense", "out": 7},
             {"type": "dense", "out": steps * width}, {"type": "reshape", "dims": [steps, width]},
             {"type": "dense", "out": keys * memory, "links": [{"read": [0, 0, 0, 0]}]},
             {"type": "reshape", "dims": [keys, memory]}]
    operands = [2, 4]
    if r.random() < 0.6:
        cells += [{"type": "dense", "out": keys, "links": [{"read": [0, 0, 0, 0]}]},
                  {"type": "unary", "op": "thresholded_relu"}]
        operands.append(6)
    cell["links"], cell["merge"] = [{"read": [0, 0, 0, at]} for at in operands], "operands"
    cells.append(cell)
    return {"rows": r.randint(1, 5),
            "topology": {"format": "loom-topology", "version": 3, "layers_per_cell": len(cells),
                         "input": {"width": 6},
                         "cells": [{"at": [0, 0, 0, i], **c} for i, c in enumerate(cells)]}}


def forward(model, cell, path, x, dims):
    """Output and its dimensions; model.p(path, role) is a parameter. PyTorch differentiates."""
    (steps, width), (keys, memory) = dims[:2]
    own, other, mask = torch.split(x,
                                   [steps * width, keys * memory,
                                    x.shape[1] - steps * width - keys * memory], 1)
    own, other = own.reshape(-1, steps, width), other.reshape(-1, keys, memory)
    heads = cell["heads"]
    hd = cell.get("head_dim") or width // heads
    q, k, v = (F.linear(t, model.p(path, n), model.flat(path, n + "_bias")).reshape(len(x), -1,
            heads, hd)
               for t, n in ((own, "q"), (other, "k"), (other, "v")))
    scores = torch.einsum("bihd,bjhd->bhij", q, k) / math.sqrt(hd)
    if mask.shape[1]:
        hidden = (mask != 0)[:, None, None, :]
        scores = scores.masked_fill(hidden, -1e300)
        shares = torch.softmax(scores, -1) * (~hidden)
    else:
        shares = torch.softmax(scores, -1)
    y = torch.einsum("bhij,bjhd->bihd", shares, v).reshape(len(x), steps, heads * hd)
    return F.linear(y, model.p(path, "o"), model.flat(path, "o_bias")).reshape(len(x), -1), [steps,
            width]
