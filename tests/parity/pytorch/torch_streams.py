#!/usr/bin/env python3
"""Truncated back-propagation through time, beside PyTorch: the same text in lanes, the same initial
weights, a state that is detached after each window and 0 where a document begins; fifty steps of
training have the same losses, within 1e-5.

Needs PyTorch, and build/release/libloom.so (or $LOOM_LIBRARY)."""

import argparse
import copy
import pathlib
import sys

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError as e:
    print(f"needs PyTorch and NumPy: {e}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bindings" / "python"))
import welvet
from natural_networks import set_from
from welvet import layers as L

STEPS, IDS, HIDDEN, WINDOW, LANES = 50, 13, 17, 6, 4
RATES = {"rnn": 0.5, "gru": 2.0, "lstm": 2.0}  # an rnn at 2 tells roundings apart
KINDS = {"rnn": (L.RNN, torch.nn.RNN), "gru": (L.GRU, torch.nn.GRU),
         "lstm": (L.LSTM, torch.nn.LSTM)}


def states(kind, layers):
    zero = torch.zeros(layers, LANES, HIDDEN, dtype=torch.float64)
    return (zero, zero) if kind == "lstm" else (zero,)


def their_losses(kind, layers, parts, lanes, carries=True):
    """The loop that people write, step by step where documents begin in a window."""
    x, y, begins = lanes
    embedding, rnn, dense = parts
    parameters = [p for part in parts for p in part.parameters()]
    optimizer, losses = torch.optim.SGD(parameters, RATES[kind]), []
    h, at = states(kind, layers), 0
    while len(losses) < STEPS:
        if at >= x.shape[1]:
            at = 0
        if at == 0 or not carries:
            h = states(kind, layers)
        end = min(at + WINDOW, x.shape[1])
        h, outputs = tuple(s.detach() for s in h), []
        for t in range(at, end):
            goes_on = torch.tensor(~begins[:, t], dtype=torch.float64).reshape(1, -1, 1)
            h = tuple(s * goes_on for s in h)
            out, h = rnn(embedding(torch.tensor(x[:, t : t + 1])), h if kind == "lstm" else h[0])
            h = h if kind == "lstm" else (h,)
            outputs.append(dense(out))
        logits = torch.cat(outputs, 1)
        loss = F.cross_entropy(logits.flatten(0, 1), torch.tensor(y[:, at:end]).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
        at = end
    return np.array(losses)


def lanes_of(documents):
    """Rows that have a next id in their document, in lanes of equal length."""
    x = np.concatenate([d[:-1] for d in documents])
    y = np.concatenate([d[1:] for d in documents])
    begins = np.zeros(len(x), bool)
    begins[np.cumsum([0] + [len(d) - 1 for d in documents[:-1]])] = True
    n = len(x) // LANES * LANES
    return tuple(a[:n].reshape(LANES, -1) for a in (x, y, begins))


def compare(kind, layers, documents):
    ours, theirs = KINDS[kind]
    net = welvet.Network(
        L.Sequential(L.Input(ids=IDS), L.Embedding(8), ours(HIDDEN, num_layers=layers),
                     L.Linear(IDS)),
        seed=3,
    )
    by_layer = {}
    for p in net.parameters:
        values = torch.tensor(net.get(p.name, np.float64))
        by_layer.setdefault(p.path, {})[p.role] = values
    parts = [
        torch.nn.Embedding(IDS, 8),
        theirs(8, HIDDEN, num_layers=layers, batch_first=True),
        torch.nn.Linear(HIDDEN, IDS),
    ]
    for part, values in zip(parts, by_layer.values()):
        set_from(part.double(), values)
    copies = copy.deepcopy(parts)
    want = their_losses(kind, layers, parts, lanes_of(documents))
    data = welvet.Data.tokens(documents if len(documents) > 1 else documents[0], length=WINDOW)
    got = net.train(data, streams=LANES, steps=STEPS, optimizer="sgd", lr=RATES[kind],
                    progress=False
    ).losses
    difference = float(np.max(np.abs(np.array(got) - want)) / want[0])
    forgot = their_losses(kind, layers, copies, lanes_of(documents), carries=False)
    seen = float(np.max(np.abs(forgot - want)) / want[0])
    print("%-4s %d layers, %d documents: %.2g (without the state %.2g)"
          % (kind, layers, len(documents), difference, seen))
    return difference < 1e-5 and seen > 1e-3


def main():
    rng = np.random.default_rng(5)
    text = np.cumsum(rng.integers(1, 4, 400)) % IDS
    right = True
    for kind in KINDS:
        for layers in (1, 2):
            for cuts in ([], [90, 97, 103, 210, 211, 300]):
                right &= compare(kind, layers, np.split(text, cuts))
    return 0 if right else 1


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    sys.exit(main())
