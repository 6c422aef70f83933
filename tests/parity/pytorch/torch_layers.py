"""Writes torch_layers.json: outputs and gradients of layers as PyTorch has them, computed in
double.

    python3 tests/parity/pytorch/torch_layers.py > tests/golden/torch_layers.json

A case is a network of a dense layer of 4 inputs (so that the gradient of the layer's input is
seen), a reshape and the layer. `y` is the output of inference, `loss` the sum over rows of the mean
squared error against `target` while training, `gradients` its gradients, `after` parameters that
training changes without them.
"""
import json
import sys

import torch
from torch import nn

torch.set_default_dtype(torch.float64)
ROWS, WIDTH = 3, 4
cases = []


def values(t):
    return [float(f"{v:.9g}") for v in t.detach().reshape(-1).tolist()]


def case(name, cell, dims, module, names=None, call=None):
    """`names`: the layer's parameter for each of the module's; `call`: the layer on rows shaped [R,
    *dims]."""
    torch.manual_seed(len(cases))
    size = 1
    for d in dims:
        size *= d
    dense = nn.Linear(WIDTH, size)
    call = call or module
    names = names or {}
    with torch.no_grad():
        for key, p in module.state_dict().items():
            if p.dtype == torch.float64:
                p.copy_(torch.rand_like(p) + 0.5 if "var" in key else torch.rand_like(p) - 0.5)
    x = torch.rand(ROWS, WIDTH) * 2 - 1
    params = {"0.0.0.0:weight": dense.weight, "0.0.0.0:bias": dense.bias}
    for key, p in list(module.named_parameters()) + list(module.named_buffers()):
        if p.dtype == torch.float64:
            params["0.0.0.2:" + names.get(key, key)] = p
    before = {key: values(p) for key, p in params.items()}
    run = lambda: call(dense(x).reshape(ROWS, *dims)).reshape(ROWS, -1)
    module.eval()
    y = run()
    module.train()
    target = torch.rand_like(y)
    loss = ((run() - target) ** 2).mean(1).sum()
    loss.backward()
    cells = [{"at": [0, 0, 0, 0], "type": "dense", "out": size},
             {"at": [0, 0, 0, 1], "type": "reshape", "dims": list(dims)},
             {"at": [0, 0, 0, 2], **cell}]
    cases.append({
        "name": name,
        "topology": {"format": "loom-topology", "version": 1, "layers_per_cell": 3,
                     "input": {"width": WIDTH}, "cells": cells},
        "params": before, "x": values(x), "y": values(y), "target": values(target),
        "loss": values(loss)[0],
        "gradients": {key: values(p.grad) for key, p in params.items() if p.grad is not None},
        "after": {key: values(p) for key, p in params.items() if p.grad is None},
    })


def recurrent(kind, dims, hidden, layers=1, bidirectional=False, bias=True, last=False, **settings):
    module = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[kind](
        dims[1], hidden, layers, bias=bias, batch_first=True, bidirectional=bidirectional,
        **({"nonlinearity": settings["activation"]} if settings else {}))

    def call(x):
        out, h = module(x)
        if not last:
            return out
        h = h[0] if kind == "lstm" else h
        return h[-2:].transpose(0, 1) if bidirectional else h[-1]

    case(f"{kind} {dims} {hidden} {layers} {bidirectional} {bias} {last}",
         {"type": kind, "hidden": hidden, "num_layers": layers, "bidirectional": bidirectional,
          "bias": bias, "output": "last" if last else "all", **settings}, dims, module, call=call)


for kind in ("rnn", "gru", "lstm"):
    recurrent(kind, (4, 3), 3)
    recurrent(kind, (3, 2), 2, layers=2, bidirectional=True)
    recurrent(kind, (3, 2), 3, bidirectional=True, bias=False, last=True)
    recurrent(kind, (5, 1), 4, layers=2, last=True)
recurrent("rnn", (4, 2), 3, activation="relu")

for dims in ((3,), (3, 4), (2, 3, 2), (2, 2, 1, 3)):
    norm = [nn.BatchNorm1d, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d][len(dims) - 1]
    case(f"batch_norm {dims}", {"type": "batch_norm"}, dims, norm(dims[0]), {"weight": "gain"})
case("batch_norm without affine",
     {"type": "batch_norm", "affine": False, "momentum": 0.3, "eps": 0.01}, (3, 5),
     nn.BatchNorm1d(3, 0.01, 0.3, affine=False))
case("instance_norm", {"type": "instance_norm"}, (3, 4, 2), nn.InstanceNorm2d(3))
case("instance_norm with affine", {"type": "instance_norm", "affine": True, "eps": 0.001}, (2, 5),
     nn.InstanceNorm1d(2, 0.001, affine=True), {"weight": "gain"})
for groups in (1, 2, 4):
    case(f"group_norm {groups}", {"type": "group_norm", "groups": groups}, (4, 3, 2),
         nn.GroupNorm(groups, 4), {"weight": "gain"})
case("group_norm of features", {"type": "group_norm", "groups": 2, "affine": False}, (6,),
     nn.GroupNorm(2, 6, affine=False))

case("softmax", {"type": "softmax"}, (2, 5), nn.Softmax(-1))
case("softmax with a temperature", {"type": "softmax", "kind": "temperature", "temperature": 0.3},
     (6,), nn.Module(), call=lambda x: torch.softmax(x / 0.3, -1))
case("log_softmax", {"type": "log_softmax"}, (2, 5), nn.LogSoftmax(-1))
case("masked softmax", {"type": "softmax", "kind": "masked", "mask": [1, 0, 1, 1, 0]}, (2, 5),
     nn.Module(),
     call=lambda x: torch.softmax(x.masked_fill(torch.tensor([0, 1, 0, 0, 1]) == 1, float("-inf")),
                                  -1))

for log in (True, False):
    adaptive = nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 6], div_value=2, head_bias=log)
    case(f"adaptive_softmax {log}",
         {"type": "adaptive_softmax", "out": 10, "cutoffs": [3, 6], "divide": 2, "bias": log,
          "log": log}, (8,), adaptive,
         {"head.weight": "head", "head.bias": "head_bias",
          **{f"tail.{i}.{j}.weight": f"tail{i}_{part}" for i in range(2) for j,
             part in enumerate(("down", "up"))}},
         call=adaptive.log_prob if log else lambda x: adaptive.log_prob(x).exp())
mixture = nn.ModuleDict(
    {"prior": nn.Linear(5, 3, bias=False), "latent": nn.Linear(5, 12), "out": nn.Linear(4, 7)})
case("mixture_of_softmaxes", {"type": "mixture_of_softmaxes", "out": 7, "mixtures": 3, "hidden": 4},
     (5,), mixture,
     {"prior.weight": "prior", "latent.weight": "latent", "latent.bias": "latent_bias",
      "out.weight": "weight", "out.bias": "bias"},
     call=lambda x: (torch.softmax(mixture["prior"](x), -1).unsqueeze(-1)
                     * torch.softmax(
                         mixture["out"](torch.tanh(mixture["latent"](x)).reshape(-1, 3, 4)),
                         -1)).sum(1))

for features in (False, True):
    centers = nn.ParameterDict({"centers": nn.Parameter(torch.empty(4, 3))})

    def kmeans(x, centers=centers, features=features):
        p = torch.softmax(-((x.unsqueeze(1) - centers["centers"]) ** 2).sum(-1) / (2 * 0.8 ** 2),
                          -1)
        return p @ centers["centers"] if features else p

    case(f"kmeans {features}",
         {"type": "kmeans", "clusters": 4, "temperature": 0.8, "output": "features" if features
          else "probabilities"}, (3,), centers, call=kmeans)

print("[" + ",\n".join(json.dumps(c) for c in cases) + "]")
print(f"{len(cases)} cases", file=sys.stderr)
