"""Networks that run by ticks, beside recurrences worked out with NumPy."""
import copy
import pickle
import threading
import unittest

import numpy as np
import welvet


def topology(cells, width=None, depth=None, step_mesh=True, **more):
    for z, cell in enumerate(cells):
        cell.setdefault("at", [z, 0, 0, 0])
    return {"format": "loom-topology", "version": 3, "depth": depth or len(cells),
            "step_mesh": step_mesh, "input": more or {"width": width}, "cells": cells}


def line(depth, width):
    """Empty cells."""
    return welvet.Network(topology([], width, depth))


def ring(width=1, out=1, dtype="f32", seed=3):
    """Cell 0 reads x and cell 1, which reads cell 0."""
    return welvet.Network(topology([
        {"type": "dense", "out": out, "activation": "tanh", "keep_previous": True, "dtype": dtype,
         "links": [{"read": [1, 0, 0, 0]}]},
        {"type": "dense", "out": out, "activation": "tanh", "dtype": dtype}], width), seed=seed)


def chain(depth, width, step_mesh=True, seed=5):
    return welvet.Network(topology([{"type": "dense", "out": width, "activation": "tanh"}
                                    for _ in range(depth)], width, step_mesh=step_mesh), seed=seed)


class Ticks(unittest.TestCase):
    def test_a_line_of_cells_delays(self):
        for depth in (1, 2, 7):
            mesh = welvet.StepMesh(line(depth, 3))
            x = np.arange(150, dtype=np.float32).reshape(50, 3)
            y = mesh.run(x)
            self.assertEqual((y.shape, y.dtype), ((50, 3), np.float32))
            self.assertEqual(y[:depth - 1].any(), False)
            np.testing.assert_array_equal(y[depth - 1:], x[:50 - depth + 1])
            self.assertEqual(mesh.tick, 50)
            np.testing.assert_array_equal(mesh.value(depth - 1), y[-1])  # an empty cell

    def test_a_ring_is_its_recurrence(self):
        for dtype, close in (("f32", 1e-6), ("f64", 1e-13)):
            n = ring(3, 4, dtype)
            kind = np.float64 if dtype == "f64" else np.float32
            w0, b0 = n.get("0.0.0.0:weight", np.float64), n.get("0.0.0.0:bias", np.float64)[0]
            w1, b1 = n.get("1.0.0.0:weight", np.float64), n.get("1.0.0.0:bias", np.float64)[0]
            x = np.random.default_rng(1).standard_normal((77, 3)).astype(kind)
            a, b, wanted = np.zeros(4), np.zeros(4), []
            for row in x:
                a, b = (np.tanh(w0 @ np.concatenate([row, b]) + b0), np.tanh(w1 @ a + b1))
                wanted.append(b)
            mesh = welvet.StepMesh(n)
            y = mesh.run(x)
            self.assertEqual(y.dtype, kind)
            np.testing.assert_allclose(y, wanted, atol=close)
            np.testing.assert_allclose(mesh.value(0), a, atol=close)
            np.testing.assert_array_equal(mesh.value((1, 0, 0, 0)), y[-1])

    def test_a_chain_has_the_bits_of_a_pass(self):
        x = np.array([0.3, -0.7, 1.1], np.float32)
        for depth in (1, 3, 20):
            wanted = chain(depth, 3, step_mesh=False).forward(x[None])[0]
            mesh = welvet.StepMesh(chain(depth, 3))
            y = mesh.run(x, ticks=depth)
            np.testing.assert_array_equal(y[-1], wanted)
            mesh.reset()
            np.testing.assert_array_equal(mesh.run(x, depth, last=True), wanted)
            mesh.reset()
            for _ in range(depth):
                stepped = mesh.step(x)
            np.testing.assert_array_equal(stepped, wanted)

    def test_snapshots_continue_bit_for_bit(self):
        n, x = ring(), np.random.default_rng(2).standard_normal((2, 90, 1)).astype(np.float32)
        mesh = welvet.StepMesh(n, streams=2)
        mesh.run(x[:, :37])
        kept = mesh.snapshot()
        self.assertIsInstance(kept, bytes)
        rest = mesh.run(x[:, 37:])
        other = welvet.StepMesh(pickle.loads(pickle.dumps(n)), 2)
        for same in (kept, bytearray(kept), memoryview(kept)):
            other.restore(same)
            self.assertEqual(other.tick, 37)
            np.testing.assert_array_equal(other.run(x[:, 37:]), rest)
        for cut in (0, 7, 31, len(kept) - 1):
            with self.assertRaises(welvet.Corrupt):
                mesh.restore(kept[:cut])
        with self.assertRaisesRegex(welvet.InvalidArgument, "2 streams"):
            welvet.StepMesh(n).restore(kept)
        with self.assertRaisesRegex(TypeError, "snapshot"):
            mesh.restore(3)

    def test_streams_are_alone(self):
        n, x = ring(2, 5), np.random.default_rng(4).standard_normal((3, 41, 2))
        together = welvet.StepMesh(n, streams=3).run(x)
        for stream in range(3):
            np.testing.assert_array_equal(welvet.StepMesh(n).run(x[stream]), together[stream])
        one = welvet.StepMesh(n).run(x[:1])
        np.testing.assert_array_equal(one, together[:1])

    def test_follows_its_network(self):
        n = ring(1, 1)
        mesh = welvet.StepMesh(n)
        mesh.run(np.ones(1), ticks=9)
        before = mesh.value(1)[0]
        n.set("1.0.0.0:weight", [[0.0]])
        n.set("1.0.0.0:bias", [0.5])
        self.assertNotEqual(before, np.tanh(0.5))
        np.testing.assert_allclose(mesh.step([0.0]), [np.tanh(0.5)], atol=1e-6)
        self.assertEqual(mesh.tick, 10)
        n.morph("bf16")
        mesh.step([0.0])
        self.assertEqual(mesh.tick, 11)
        n.morph("f64")
        self.assertEqual(mesh.step([0.0]).dtype, np.float64)
        self.assertEqual(mesh.tick, 1)  # values of another type

    def test_follows_a_training(self):
        n = chain(2, 2)
        mesh = welvet.StepMesh(n)
        before = mesh.run([0.5, -0.5], ticks=2)
        x = np.random.default_rng(0).standard_normal((64, 4)).astype(np.float32)
        trainer = welvet.Trainer(n, welvet.Data.values(x, x[:, :2]),
                                 {"step_mesh": {"ticks": 2, "answers": "last_tick"}, "steps": 20})
        trainer.step(20)
        self.assertEqual(mesh.tick, 2)
        mesh.reset()
        after = mesh.run([0.5, -0.5], ticks=2)
        self.assertFalse(np.array_equal(before, after))
        np.testing.assert_array_equal(after, welvet.StepMesh(n).run([0.5, -0.5], ticks=2))

    def test_ids(self):
        n = welvet.Network(topology([{"type": "embedding", "out": 3}, {"type": "dense", "out": 2}],
                                    ids=5), seed=1)
        mesh = welvet.StepMesh(n, streams=2)
        ids = np.array([[0, 4, 2], [1, 1, 3]])
        y = mesh.run(ids)
        self.assertEqual(y.shape, (2, 3, 2))
        np.testing.assert_array_equal(welvet.StepMesh(n).run(ids[1]), y[1])
        with self.assertRaisesRegex(IndexError, "ids"):
            mesh.run([[0], [5]])
        with self.assertRaisesRegex(ValueError, "whole numbers"):
            mesh.run([[0.5], [1]])

    def test_dimensions(self):
        n = welvet.Network(topology([{"type": "dense", "out": 4, "shape": [2, 4]}], dims=[2, 3]),
                           seed=1)
        mesh = welvet.StepMesh(n)
        x = np.random.default_rng(1).standard_normal((5, 2, 3))
        y = mesh.run(x)
        mesh.reset()
        np.testing.assert_array_equal(mesh.run(x.reshape(5, 6)), y)
        mesh.reset()
        np.testing.assert_array_equal(mesh.run(x[None])[0], y)

    def test_out(self):
        mesh = welvet.StepMesh(line(1, 2))
        out = np.empty((4, 2), np.float32)
        self.assertIs(mesh.run(np.ones((4, 2)), out=out), out)
        np.testing.assert_array_equal(out, 1)
        with self.assertRaises(TypeError):
            mesh.run(np.ones((4, 2)), out=np.empty((4, 2)))

    def test_other_threads_cancel(self):
        mesh = welvet.StepMesh(chain(3, 64), threads=1)
        timer = threading.Timer(0.1, mesh.cancel)
        timer.start()
        with self.assertRaises(welvet.Cancelled):
            mesh.run(np.zeros(64), ticks=1 << 40, last=True)
        timer.join()
        tick = mesh.tick
        mesh.run(np.zeros(64), ticks=3)
        self.assertEqual(mesh.tick, tick + 3)


class Refusals(unittest.TestCase):
    def test_arguments(self):
        n = ring(2, 2)
        one, two = welvet.StepMesh(n), welvet.StepMesh(n, 2)
        for error, text, call in (
            (TypeError, "network: expects a Network, got dict", lambda: welvet.StepMesh({})),
            (TypeError, "streams: expects a whole number", lambda: welvet.StepMesh(n, 1.5)),
            (TypeError, "streams: expects a whole number", lambda: welvet.StepMesh(n, True)),
            (ValueError, "streams", lambda: welvet.StepMesh(n, 0)),
            (ValueError, "stream", lambda: welvet.StepMesh(n, stream=2)),
            (ValueError, "device", lambda: welvet.StepMesh(n, device="abacus")),
            (NotImplementedError, "name the device", lambda: welvet.StepMesh(n, mode="auto")),
            (TypeError, "ticks: expects a whole number", lambda: one.run([1, 2], 2.0)),
            (ValueError, "ticks: expects at least 1, got 0", lambda: one.run([1, 2], 0)),
            (ValueError, "at least 1", lambda: one.run(np.empty((0, 2)))),
            (ValueError, r"x: expects the shape \(ticks, 2\) or \(1, ticks, 2\), got the shape "
                         r"\(3,\)", lambda: one.run([1, 2, 3])),
            (ValueError, r"\(2,\) or \(1, 2\)", lambda: one.step([[1, 2], [3, 4]])),
            (ValueError, r"x: expects the shape \(2, ticks, 2\)", lambda: two.run([[1, 2]])),
            (ValueError, r"x: expects the shape \(2, 2\)", lambda: two.run([1, 2], 3)),
            (TypeError, "x: expects numbers", lambda: one.run([["a", "b"]])),
            (TypeError, "x: expects numbers", lambda: one.run(np.ones((1, 2), complex))),
            (ValueError, "masked", lambda: one.run(np.ma.masked_equal([[1, 2]], 2))),
            (IndexError, "cell: expects 0 to 1, got 2", lambda: one.value(2)),
            (IndexError, "the grid has", lambda: one.value("2.0.0.0")),
            (ValueError, "cell: expects", lambda: one.value("2")),
            (TypeError, "cell: expects", lambda: one.value(1.0)),
            (IndexError, "2 streams", lambda: two.value(0, 2)),
            (TypeError, "stream: expects a whole number", lambda: two.value(0, "a")),
            (TypeError, "pickle the network and the snapshot", lambda: pickle.dumps(one)),
            (TypeError, "pickle the network and the snapshot", lambda: copy.copy(one)),
        ):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                call()
        self.assertEqual((one.tick, two.tick), (0, 0))
        self.assertEqual(repr(two), "<welvet.StepMesh streams=2, tick=0>")
        one.close()
        with self.assertRaises(welvet.InvalidHandle):
            one.step([1, 2])
        self.assertEqual(repr(one), "<welvet.StepMesh closed>")

    def test_networks(self):
        with self.assertRaisesRegex(welvet.Unsupported, "looks at other rows"):
            welvet.StepMesh(welvet.Network(topology([{"type": "gru", "hidden": 2,
                                                      "stateful": True}], 2)))

    def test_devices(self):
        mesh = welvet.StepMesh(ring(), device="auto")
        info = mesh.info
        self.assertTrue(info["device"] or info["note"], info)
        self.assertEqual(mesh.run(np.ones(1), ticks=3).shape, (3, 1))
