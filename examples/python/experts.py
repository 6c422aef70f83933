"""A sparse mixture of experts: a gate sends each row to two of eight small networks.

    python3 examples/python/experts.py
"""
import sys

import numpy as np

import welvet
from welvet import Network, layers

EXPERTS, ACTIVE, HIDDEN = 8, 2, 16


def samples(count, seed):
    """Points around eight places on a circle; each place has a different rule for the answer."""
    random = np.random.default_rng(seed)
    place = random.integers(0, 8, count)
    angle = place * (2 * np.pi / 8)
    offset = random.normal(0, 0.3, (count, 2))
    x = 3 * np.stack([np.cos(angle), np.sin(angle)], axis=1) + offset
    along = offset[:, 0] * np.cos(3 * angle) + offset[:, 1] * np.sin(3 * angle)
    return x, np.sin(2 * along + 2 * place)[:, None], place


def block(hidden):
    return layers.Sequential(layers.Linear(hidden, activation="tanh"), layers.Linear(1))


def trained(layer):
    network = Network(layers.Sequential(layers.Input(2), layer), seed=1)
    x, y, _ = samples(6000, seed=1)
    network.train(x, y, epochs=100, batch_size=64, lr=0.01, schedule="cosine")
    x, y, _ = samples(1000, seed=2)
    return network, np.square(network(x) - y).mean()


# A dense network with as many multiplications per row as the two experts that process a row.
dense, dense_error = trained(block(ACTIVE * HIDDEN))
experts, error = trained(layers.Parallel(*[block(HIDDEN) for _ in range(EXPERTS)],
                                         combine="gated", top_k=ACTIVE))
for name, network, value in (("dense", dense, dense_error), ("experts", experts, error)):
    print("%-8s %4d parameters, mean square error %.4f"
          % (name, network.info["parameters"], value))

x, _, place = samples(1000, seed=2)
gate, bias = experts.get("0.0.0.0:gate"), experts.get("0.0.0.0:gate_bias")
first = (x @ gate.T + bias).argmax(axis=1)  # the expert with each row's highest score
for where in range(8):
    counts = np.bincount(first[place == where], minlength=EXPERTS)
    print("place %d goes to expert %d: %3d of %3d rows"
          % (where, counts.argmax(), counts.max(), counts.sum()))
if error > 0.6 * dense_error:
    sys.exit("the experts are hardly better than a dense network of the same work")
