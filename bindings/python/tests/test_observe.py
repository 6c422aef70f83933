"""Observed runs: statistics of every cell against NumPy's."""
import unittest

import numpy as np

import welvet


def deep(**first):
    cells = [{"at": [i, 0, 0, 0], "type": "dense", "out": 33, "activation": "tanh"}
             for i in range(3)]
    cells[0].update(first)
    return welvet.Network({"format": "loom-topology", "version": 3, "depth": 3,
                           "layers_per_cell": 1, "input": {"width": 33}, "cells": cells}, seed=1)


def wants(test, cell, values):
    """The statistics of a cell are those of NumPy."""
    values = np.asarray(values, np.float64)
    finite = values[np.isfinite(values)]
    size = max(abs(finite.mean()), finite.std())
    test.assertLessEqual(abs(cell["mean"] - finite.mean()), 1e-12 * size)
    test.assertLessEqual(abs(cell["std"] - finite.std()), 1e-12 * finite.std())
    test.assertEqual((cell["min"], cell["max"]), (finite.min(), finite.max()))
    test.assertEqual(cell["count"], values.size)
    test.assertEqual(cell["nan_count"], np.isnan(values).sum())
    test.assertEqual(cell["inf_count"], np.isinf(values).sum())
    test.assertEqual(cell["active_share"], (np.abs(values) > 1e-6).mean())


class Observe(unittest.TestCase):
    def test_each_cell_is_numpys(self):
        for first in ({}, {"dtype": "f64"}, {"dtype": "i4"}):
            network = deep(**first)
            x = np.random.default_rng(2).normal(size=(71, 33)).astype(np.float32)
            cells = network.observe(x)
            self.assertEqual([c["path"] for c in cells], ["0.0.0.0", "1.0.0.0", "2.0.0.0"])
            self.assertEqual(cells[0]["type"], "dense")
            wants(self, cells[2], network(x))
            network.enable("2.0.0.0", False)
            wants(self, cells[1], network(x))
            network.enable("1.0.0.0", False)
            wants(self, cells[0], network(x))

    def test_long_inputs_are_one_window(self):
        network = deep()
        x = np.random.default_rng(2).normal(size=(1000, 33)).astype(np.float32)
        cells = network.observe(x)
        self.assertEqual(len(cells), 3)
        self.assertEqual(cells[0]["passes"], 4)
        wants(self, cells[2], network(x))
        cells = network.observe(x, every=3)
        wants(self, cells[2], np.concatenate([network(x[:256]), network(x[768:])]))

    def test_a_session_in_a_block(self):
        network = deep()
        session = network.session(max_rows=9)
        x = np.ones((9, 33), np.float32)
        x[7, 2] = np.nan
        before = session.run(x)
        with session.observe(every=2, total=True) as cells:
            for _ in range(5):
                np.testing.assert_array_equal(session.run(x), before)
            self.assertEqual(len(cells), 9)
            self.assertEqual(cells.total[2]["passes"], 3)
        self.assertEqual((cells.passes, cells.observed), (5, 3))
        wants(self, cells.total[2], np.concatenate([before] * 3))
        self.assertEqual((cells.total[0]["first_bad"], cells.total[0]["first_bad_pass"]),
                         ([7, 0], 0))
        self.assertEqual(cells[0]["first_bad"], [7, 0])
        self.assertEqual([c["pass"] for c in cells], [0] * 3 + [2] * 3 + [4] * 3)
        session.run(x)
        self.assertEqual(len(cells), 9)
        with session.observe() as cells, self.assertRaisesRegex(ValueError, "total=True"):
            cells.total

    def test_events_are_there_after_the_run_that_completes_them(self):
        network, x = deep(), np.zeros((1, 33), np.float32)
        for every, window in ((1, 1), (1, 3), (2, 1), (3, 2)):
            session = network.session()
            with session.observe(every=every, window=window) as cells:
                for run in range(14):
                    session.run(x)
                    observed = run // every + 1
                    self.assertEqual(len(cells), observed // window * 3)
                    if run == 5:
                        self.assertEqual((cells.passes, cells.observed), (6, observed))

    def test_windows_and_changes_of_the_network(self):
        network = deep()
        session = network.session()
        with session.observe(window=2) as cells:
            for i in range(3):
                session.run(np.ones((1, 33), np.float32))
            self.assertEqual([c["passes"] for c in cells], [2] * 3)
            network.set_cell("1.0.0.0", {"type": "layer_norm"})
            session.run(np.ones((1, 33), np.float32))
        self.assertEqual([c["passes"] for c in cells], [2] * 3 + [1] * 6)
        self.assertEqual([c["type"] for c in cells[3:]], ["dense"] * 4 + ["layer_norm", "dense"])
        self.assertEqual(cells[-1]["pass"], 3)

    def test_ids_and_sequences(self):
        network = welvet.Network({
            "format": "loom-topology", "version": 3, "layers_per_cell": 2, "input": {"ids": 7},
            "cells": [{"at": [0, 0, 0, 0], "type": "embedding", "out": 12},
                      {"at": [0, 0, 0, 1], "type": "attention", "heads": 2}]}, seed=3)
        ids = np.arange(300) % 7
        cells = network.observe(ids)
        wants(self, cells[0], network.get("0.0.0.0:weight")[ids])
        wants(self, cells[1], network(ids))

    def test_what_is_refused(self):
        network = deep()
        with self.assertRaises(ValueError):
            network.observe(np.ones((1, 33)), every=0)
        with self.assertRaises(ValueError):
            network.observe(np.ones((0, 33)))
        with self.assertRaises(ValueError):
            network.observe(np.ones((1, 32)))
        with self.assertRaises(welvet.InvalidArgument):
            network.session().observe(window=0)


if __name__ == "__main__":
    unittest.main()
