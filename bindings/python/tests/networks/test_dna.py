"""DNA of networks: what each layer is, and how two networks relate."""
import unittest

import numpy as np

import welvet


def dense(layers, width, seed):
    cells = [{"at": [0, 0, 0, i], "type": "dense", "out": width} for i in range(layers)]
    return welvet.Network({"format": "loom-topology", "version": 3, "layers_per_cell": layers,
                           "input": {"width": width}, "cells": cells}, seed=seed)


class Dna(unittest.TestCase):
    def test_identity(self):
        a = dense(2, 12, 1)
        dna = welvet.dna(a)
        self.assertEqual(dna["grid"], [1, 1, 1, 2])
        layer = dna["layers"][1]
        self.assertEqual((layer["path"], layer["at"], layer["values"]),
                         ("0.0.0.1", [0, 0, 0, 1], 156))
        weight, bias = a.get("0.0.0.1:weight"), a.get("0.0.0.1:bias")
        norm = np.sqrt((weight.astype(np.float64) ** 2).sum() + (bias ** 2).sum())
        self.assertAlmostEqual(layer["norm"], norm, places=5)
        self.assertEqual(a.copy().dna(), dna)
        self.assertNotEqual(dense(2, 12, 2).dna(), dna)

    def test_fewer_bits_in_order(self):
        a = dense(2, 32, 1)
        overlaps = [1.0]
        for name in ("i8", "i4", "ternary", "binary"):
            few = a.copy()
            few.morph(name)
            report = welvet.compare_dna(a, few)
            self.assertGreater(report["similarity"], 0.999)
            self.assertLess(report["overlap"], overlaps[-1])
            overlaps.append(report["overlap"])
        self.assertGreater(overlaps[-1], 0.75)

    def test_a_shift(self):
        a, b = dense(3, 16, 1), dense(3, 16, 2)
        self.assertEqual(welvet.compare_dna(a, b)["shifts"], [])
        for role in ("weight", "bias"):
            b.set("0.0.0.2:" + role, a.get("0.0.0.0:" + role))
        self.assertEqual([(s["from"], s["to"]) for s in a.compare_dna(b)["shifts"]],
                         [("0.0.0.0", "0.0.0.2")])

    def test_refusals(self):
        a = dense(1, 8, 1)
        with self.assertRaisesRegex(TypeError, "expected a Network"):
            a.compare_dna(a.topology)  # type: ignore[arg-type]
        values = a.get("0.0.0.0:weight")
        values[0, 3] = np.inf
        a.set("0.0.0.0:weight", values)
        with self.assertRaisesRegex(welvet.InvalidArgument, "0.0.0.0:weight: value 3"):
            a.dna()
