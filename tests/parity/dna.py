#!/usr/bin/env python3
"""tests/parity/dna.py LOOM_LIBRARY: DNA comparisons computed again with NumPy.

Random networks of dense layers, permuted, widened and with noise. Shares nothing with Loom: the
assignment is an auction to within 1e-9 of the optimum, checked by its dual bound, cosines are
NumPy's, and chance is the mean over many more shuffles from another generator.
"""
import os
import pathlib
import sys

import numpy as np

os.environ["LOOM_LIBRARY"] = sys.argv[1] if len(sys.argv) > 1 else "build/release/libloom.so"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bindings/python"))
import welvet  # noqa: E402


def assignment(gain):
    """Columns of the rows with the largest sum, of a square: Bertsekas' auction."""
    n = len(gain)
    prices = np.zeros(n)
    epsilon, last = 0.25, 1e-9 / n
    while True:
        owner, has = np.full(n, -1), np.full(n, -1)
        free = list(range(n))
        while free:
            row = free.pop()
            value = gain[row] - prices
            best = int(np.argmax(value))
            first = value[best]
            value[best] = -np.inf
            prices[best] += first - (value.max() if n > 1 else first) + epsilon
            if owner[best] >= 0:
                has[owner[best]] = -1
                free.append(owner[best])
            owner[best], has[row] = row, best
        if epsilon <= last:
            break
        epsilon = max(epsilon / 5, last)
    dual = prices.sum() + (gain - prices).max(axis=1).sum()
    assert dual - gain[np.arange(n), has].sum() < 1e-7, "the auction is not optimal"
    return has


def matched(a, b):
    """The cosine of units (rows) under the best assignment."""
    x = a / np.linalg.norm(a, axis=1, keepdims=True)
    y = b / np.linalg.norm(b, axis=1, keepdims=True)
    to = assignment(np.linalg.norm(a, axis=1, keepdims=True) * (x @ y.T))
    return (a * b[to]).sum() / np.linalg.norm(a) / np.linalg.norm(b), to


def network(width, seed):
    cells = [{"at": [0, 0, 0, i], "type": "dense", "out": width} for i in range(2)]
    return welvet.Network({"format": "loom-topology", "version": 3, "layers_per_cell": 2,
                           "input": {"width": width}, "cells": cells}, seed=seed)


def units(net, path):
    weight = net.get(path + ":weight").astype(np.float64)
    return np.concatenate([weight, net.get(path + ":bias").astype(np.float64).reshape(-1, 1)], 1)


def main():
    random = np.random.default_rng(3)
    compared = 0
    for width in (9, 16, 30):
        for noise in (0.0, 0.3, 1.0, 1e6):
            a, b = network(width, 1), network(width, 1)
            order = random.permutation(width)
            weight = a.get("0.0.0.0:weight")
            noisy = weight + noise * weight.std() * random.normal(size=weight.shape)
            b.set("0.0.0.0:weight", noisy[order].astype(np.float32))
            pair = a.compare_dna(b)["layers"][0]
            x, y = units(a, "0.0.0.0"), units(b, "0.0.0.0")
            cosine, to = matched(x, y)
            plain = (x * y).sum() / np.linalg.norm(x) / np.linalg.norm(y)
            draws = [matched(x, random.permuted(y, axis=1))[0] for _ in range(40)]
            chance, spread = np.mean(draws), np.std(draws)
            assert abs(pair["cosine"] - plain) < 1e-6, (pair, plain)
            assert abs(pair["matched"] - cosine) < 1e-6, (pair, cosine)
            assert abs(pair["chance"] - chance) < 4 * spread, (pair, chance, spread)
            score = (pair["matched"] - pair["chance"]) / (1 - pair["chance"])
            assert abs(pair["score"] - score) < 1e-12, (pair, score)
            if noise == 0:
                assert pair["moved_units"] == np.count_nonzero(to != np.arange(width))
            compared += 1
    print("%d comparisons agree with NumPy" % compared)


if __name__ == "__main__":
    main()
