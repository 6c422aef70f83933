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


class ObserveTraining(unittest.TestCase):
    """Gradients by hand: y = W2 tanh(W1 x + b1) + b2, the loss the mean of squares."""

    def setUp(self):
        random = np.random.default_rng(3)
        self.x = random.normal(size=(24, 5)).astype(np.float64)
        self.y = random.normal(size=(24, 2)).astype(np.float64)

    def network(self, dtype="f64"):
        return welvet.Network({
            "format": "loom-topology", "version": 3, "layers_per_cell": 2, "input": {"width": 5},
            "cells": [{"at": [0, 0, 0, 0], "type": "dense", "out": 7, "activation": "tanh",
                       "dtype": dtype},
                      {"at": [0, 0, 0, 1], "type": "dense", "out": 2, "dtype": dtype}]}, seed=4)

    def gradients(self, network, x, y, weights=None):
        """{(path, direction, role): values} of the mean loss, weighted by rows."""
        p = {name: network.get(name, np.float64) for name in
             ("0.0.0.0:weight", "0.0.0.0:bias", "0.0.0.1:weight", "0.0.0.1:bias")}
        h = np.tanh(x @ p["0.0.0.0:weight"].T + p["0.0.0.0:bias"].reshape(-1))
        out = h @ p["0.0.0.1:weight"].T + p["0.0.0.1:bias"].reshape(-1)
        weights = np.ones(len(x)) if weights is None else weights.astype(np.float64)
        share = weights / weights.sum()
        g = 2 * (out - y) / y.shape[1] * share[:, None]
        gh = g @ p["0.0.0.1:weight"]
        before = gh * (1 - h * h)
        return {("0.0.0.0", "forward", None): h, ("0.0.0.1", "forward", None): out,
                ("0.0.0.0", "backward", None): gh, ("0.0.0.1", "backward", None): g,
                ("0.0.0.0", "weights", "weight"): before.T @ x,
                ("0.0.0.0", "weights", "bias"): before.sum(0),
                ("0.0.0.1", "weights", "weight"): g.T @ h,
                ("0.0.0.1", "weights", "bias"): g.sum(0)}

    def wants(self, event, values, tolerance):
        size = np.abs(values).max()
        for key, want in (("mean", values.mean()), ("std", values.std()), ("min", values.min()),
                          ("max", values.max())):
            self.assertLessEqual(abs(event[key] - want), tolerance * size, (event, key))
        self.assertEqual((event["count"], event["nan_count"]), (values.size, 0))

    def test_gradients_are_numpys(self):
        weights = np.random.default_rng(5).uniform(0.5, 2, size=24).astype(np.float32)
        for dtype, tolerance in (("f64", 1e-12), ("f32", 1e-5)):
            for micro in (1, 3):
                for weighted in (None, weights):
                    network = self.network(dtype)
                    want = self.gradients(network, self.x, self.y, weighted)
                    x, y = (self.x, self.y) if dtype == "f64" else (
                        self.x.astype(np.float32), self.y.astype(np.float32))
                    with network.trainer(x, y, steps=3, batch_size=24, shuffle=False,
                                         micro_batches=micro, sample_weight=weighted,
                                         optimizer={"type": "adamw", "clip_norm": 0.01}) as trainer:
                        with trainer.observe(weights=True) as events:
                            trainer.step()
                    self.assertEqual(len(events), len(want))
                    for event in events:
                        key = event["path"], event["direction"], event.get("role")
                        self.wants(event, want[key], tolerance)
                        self.assertEqual((event["pass"], event["step"]), (0, 1))

    def test_the_training_keeps_its_bits(self):
        plain, seen = self.network(), self.network()
        plain.train(self.x, self.y, epochs=3, batch_size=10, progress=False, seed=1)
        history = seen.train(self.x, self.y, epochs=3, batch_size=10, progress=False, seed=1,
                             observe={"every": 2, "weights": True})
        self.assertEqual(plain.to_bytes(), seen.to_bytes())
        self.assertEqual(len(history.steps), 8)
        self.assertEqual(len(history.events), 4 * 8)
        self.assertEqual([e["step"] for e in history.events[::8]], [1, 3, 5, 7])
        self.assertEqual(plain.train(self.x, self.y, epochs=1, progress=False).events, [])
        self.assertEqual(len(plain.train(self.x, self.y, steps=2, progress=False,
                                         observe=True).events), 8)
        with self.assertRaisesRegex(TypeError, "observe: expects True"):
            plain.train(self.x, self.y, epochs=1, observe=3)
        with self.assertRaises(TypeError):
            plain.train(self.x, self.y, epochs=1, observe={"evry": 3})

    def test_long_calls_lose_no_event(self):
        network = self.network()
        trainer = network.trainer(self.x, self.y, steps=300)
        with trainer.observe() as events:
            step = trainer.step(150)
            self.assertEqual((step.step, step.rows, len(events)), (150, 150 * 24, 4 * 150))
            trainer.run()
        self.assertEqual((len(events), events.passes, events.observed), (4 * 300, 300, 300))
        with trainer.observe(window=4, every=2, passes=3) as events:
            trainer.extend(steps=11)
            trainer.run()
        self.assertEqual([e["passes"] for e in events], [3] * 4)
        self.assertEqual(events.observed, 3)
        with self.assertRaises(ValueError):
            trainer.observe(every=0)

    def test_gradients_vanish_in_deep_tanh(self):
        cells = [{"at": [i, 0, 0, 0], "type": "dense", "out": 16, "activation": "tanh"}
                 for i in range(30)]
        network = welvet.Network({"format": "loom-topology", "version": 3, "depth": 30,
                                  "layers_per_cell": 1, "input": {"width": 16}, "cells": cells},
                                 seed=1)
        for i in range(30):
            name = "%d.0.0.0:weight" % i
            network.set(name, 0.3 * network.get(name))
        x = np.random.default_rng(1).normal(size=(64, 16)).astype(np.float32)
        events = network.train(x, x, steps=1, batch_size=64, progress=False, observe=True).events
        back = [e for e in events if e["direction"] == "backward"]
        self.assertEqual(len(back), 30)
        self.assertLess(back[0]["std"], 1e-9 * back[29]["std"])
        self.assertEqual((back[0]["active_share"], back[29]["active_share"]), (0, 1))

    def test_a_loss_that_is_not_finite_has_events(self):
        network = self.network()
        weight = network.get("0.0.0.1:weight", np.float64)
        weight[1, 2] = np.inf
        network.set("0.0.0.1:weight", weight)
        trainer = network.trainer(self.x, self.y, steps=3, batch_size=24)
        events = trainer.observe()
        with self.assertRaisesRegex(welvet.LoomError, "not finite"):
            trainer.step()
        by = {(e["path"], e["direction"]): e for e in events}
        self.assertEqual(by["0.0.0.0", "forward"]["inf_count"], 0)
        self.assertEqual(by["0.0.0.1", "forward"]["first_bad"], [0, 1])
        events.stop()


class ObserveTicks(unittest.TestCase):
    def test_values_of_each_tick_are_numpys(self):
        cells = [{"at": [i, 0, 0, 0], "type": "dense", "out": 3, "activation": "tanh",
                  "links": [{"read": [(i * 7 + 5) % 40, 0, 0, 0]}], "shape": [3]}
                 for i in range(1, 40)]
        cells.insert(0, {"at": [0, 0, 0, 0], "type": "dense", "out": 3})
        network = welvet.Network({"format": "loom-topology", "version": 3, "step_mesh": True,
                                  "depth": 40, "input": {"width": 3}, "cells": cells}, seed=2)
        x = np.random.default_rng(1).normal(size=(2, 9, 3)).astype(np.float32)
        plain, seen = welvet.StepMesh(network, 2), welvet.StepMesh(network, 2)
        with seen.observe(every=4) as events:
            y = seen.run(x)
            self.assertEqual(len(events), 3 * 40)
        self.assertEqual((events.passes, events.observed, events.dropped), (9, 3, 0))
        for tick in range(9):
            np.testing.assert_array_equal(plain.step(x[:, tick]), y[:, tick])
            if tick % 4:
                continue
            for cell, event in enumerate(events[tick * 10:tick * 10 + 40]):
                self.assertEqual((event["pass"], event["path"]), (tick, "%d.0.0.0" % cell))
                wants(self, event, [plain.value(cell, s) for s in range(2)])
        self.assertEqual(plain.snapshot(), seen.snapshot())
        with seen.observe(keep=2) as events:
            seen.run(x)
        self.assertEqual((len(events), events.dropped), (80, 7 * 40))
        self.assertEqual(events[0]["pass"], 7)


class ObserveNested(unittest.TestCase):
    def test_layers_inside_cells(self):
        from welvet import Network, layers
        network = Network(layers.Sequential(layers.Input(8), layers.Residual(
            layers.LayerNorm(), layers.Linear(8)), layers.Linear(2)), seed=1)
        x = np.random.default_rng(0).normal(size=(30, 8)).astype(np.float32)
        cells = network.observe(x, nested=True)
        paths = [c["path"] for c in cells]
        self.assertEqual(len(set(paths)), len(paths))
        self.assertEqual([c["path"] for c in network.observe(x)],
                         [p for p in paths if "/" not in p])
        norm = [c for c in cells if c["type"] == "layer_norm"]
        centered = x - x.mean(1, keepdims=True)
        self.assertLess(abs(norm[0]["std"] - (centered / centered.std(1, keepdims=True)).std()),
                        1e-4)
