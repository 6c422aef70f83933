"""Graphs of other frameworks as networks: shapes, constants, cells. NumPy alone."""
import unittest

import numpy as np

import welvet
from planetbridging.graph import (Absorbed, Batch, Constant, Graph, Unmapped, from_rows, row_of,
                                  to_rows)
from planetbridging.graph.shape import broadcast, reshaped


def ran(graph, outputs, *arrays, names=("y",)):
    absorbed = Absorbed(graph, list(zip(names, outputs)), lambda name: WEIGHTS[name])
    return absorbed, absorbed.predict(*arrays)


WEIGHTS = {}


def weight(name, *shape, seed=0, trainable=True):
    WEIGHTS[name] = np.random.default_rng(len(WEIGHTS) + seed).standard_normal(shape).astype("f4")
    return Constant.named(name, WEIGHTS[name], trainable)


class Shapes(unittest.TestCase):
    def test_rows_are_arrays_of_numbers(self):
        shape = (Batch(), 2)
        for x in ([[1, 2]], np.ones((3, 2), np.int64), np.ones((3, 2), bool)):
            self.assertEqual(to_rows(x, shape).shape, (len(x), 2))
        for x, got in ((iter([[1, 2]]), "list_iterator"), ([["a", "b"]], "list of <U1"),
                       (np.ones((1, 2), complex), "ndarray of complex128"),
                       (np.array([[1, None]]), "ndarray"), (None, "NoneType"),
                       (np.zeros((1, 2), "M8[s]"), "datetime64")):
            with self.assertRaisesRegex(ValueError, "expects an array of numbers, got .*" + got):
                to_rows(x, shape)

    def test_batch_merges_as_numpy_reshapes(self):
        rng = np.random.default_rng(1)
        x = rng.standard_normal((5, 3, 4, 6))  # the batch is 5
        shape = (Batch(), 3, 4, 6)
        for sizes, full in (([None, 4, 6], [15, 4, 6]), ([None, 6], [60, 6]),
                            ([None, 2, 2, 3, 6], [5, 2, 2, 3, 6])):
            made = reshaped(shape, sizes)
            np.testing.assert_array_equal(from_rows(to_rows(x, shape), made), x.reshape(full))
        steps = (3, Batch(), 8)
        y = rng.standard_normal((3, 5, 8))
        merged = reshaped(steps, [3, None, 4])
        self.assertEqual(merged, (3, Batch(1, 2), 4))
        np.testing.assert_array_equal(from_rows(to_rows(y, steps), merged), y.reshape(3, 10, 4))

    def test_batch_that_would_be_lost(self):
        with self.assertRaises(ValueError):
            reshaped((Batch(), 3), [3])
        with self.assertRaises(ValueError):
            reshaped((Batch(), 6), [None, 4])
        with self.assertRaises(ValueError):
            to_rows(np.zeros((5, 4)), (Batch(), 3))

    def test_broadcast(self):
        self.assertEqual(broadcast((Batch(), 3), (3,)), (Batch(), 3))
        self.assertEqual(broadcast((1, 4), (Batch(), 1)), (Batch(), 4))
        self.assertEqual(broadcast((Batch(1, 2), 4), (2, 4)), (Batch(1, 2), 4))
        with self.assertRaises(ValueError):
            broadcast((Batch(), 3), (3, Batch()))
        self.assertEqual(row_of((4, Batch(2, 3))), (4, 6))


class Constants(unittest.TestCase):
    def test_arranged_again(self):
        w = weight("w", 4, 6)
        made = Constant.joined([w.transposed().part(0, 2, 4), w.reshaped((6, 4)).flipped([1])], 0)
        WEIGHTS["w"] = WEIGHTS["w"] + 1
        again = made.read(lambda name: WEIGHTS[name])
        np.testing.assert_array_equal(again, made.array + 1)
        self.assertTrue(made.trainable)
        self.assertFalse(w.taken([0, 0], 0).trainable)
        self.assertFalse(w.computed("squares", np.square).trainable)


class Networks(unittest.TestCase):
    def test_dense_over_steps_and_functions(self):
        g = Graph()
        x = g.input("x", (Batch(), 4, 6))
        h = g.activation(g.dense(x, weight("a", 5, 6), weight("b", 5)), "tanh")
        y = g.binary(g.reduce(h, "mean", [1], True), g.transpose(h, [0, 1, 2]), "sub")
        value = np.random.default_rng(0).standard_normal((3, 4, 6)).astype("f4")
        want = np.tanh(value @ WEIGHTS["a"].T + WEIGHTS["b"])
        _, got = ran(g, [y], value)
        np.testing.assert_allclose(got, want.mean(1, keepdims=True) - want, atol=1e-6)

    def test_modules_that_are_used_twice_are_one_cell(self):
        g = Graph()
        x = g.input("x", (Batch(), 6))
        a, b = weight("a", 6, 6), weight("b", 6)
        g.repeated = {"a", "b"}
        y = g.dense(g.activation(g.dense(x, a, b), "relu"), a, b)
        absorbed, got = ran(g, [y], np.ones((2, 6), "f4"))
        self.assertEqual(sorted(absorbed.names.values()), [("a",), ("b",)])
        h = np.maximum(np.ones((2, 6)) @ WEIGHTS["a"].T + WEIGHTS["b"], 0)
        np.testing.assert_allclose(got, h @ WEIGHTS["a"].T + WEIGHTS["b"], atol=1e-5)

    def test_chains_have_no_links_and_learn_by_every_method(self):
        for images in (False, True):
            g = Graph()
            x = g.input("x", (Batch(), 2, 5, 5) if images else (Batch(), 6))
            if images:
                x = g.reshape(g.conv(x, weight("k", 3, 2, 3, 3), None, stride=[2, 2],
                                     padding=[0, 0], dilation=[1, 1], groups=1), [None, 12])
            h = g.activation(g.dense(x, weight("a", 8, 12 if images else 6), weight("b", 8)),
                             "tanh")
            y = g.dense(h, weight("c", 2, 8))
            rows = np.random.default_rng(3).standard_normal(
                (20, 2, 5, 5) if images else (20, 6)).astype("f4")
            absorbed, answer = ran(g, [y], rows)
            self.assertFalse([c for c in absorbed.topology["cells"] if "links" in c])
            for method in ("target_propagation", "mono_forward", "back_propagation"):
                network = absorbed.network()
                np.testing.assert_array_equal(network(absorbed.rows(rows)), answer)
                losses = network.train(rows, np.sin(answer), method=method, steps=40,
                                       batch_size=20, lr=0.01).losses
                self.assertLess(losses[-1], losses[0], (images, method))
        g = Graph()
        x = g.input("x", (Batch(), 6))
        h = g.dense(x, weight("d", 6, 6))
        absorbed, _ = ran(g, [g.binary(h, x, "add")], np.ones((2, 6), "f4"))
        self.assertTrue(all("links" in c for c in absorbed.topology["cells"]))
        with self.assertRaisesRegex(welvet.Unsupported, "has links"):
            absorbed.network().train(np.ones((4, 6)), np.ones((4, 6)),
                                     method="target_propagation")

    def test_other_rows_tie_weights_and_biases(self):
        g = Graph()
        x = g.input("x", (Batch(), 3, 6))
        a, b = weight("a", 6, 6), weight("b", 6)
        g.repeated = {"a", "b"}
        y = g.dense(g.reduce(g.dense(x, a, b), "sum", [1]), a, b)
        absorbed, got = ran(g, [y], np.ones((2, 3, 6), "f4"))
        self.assertEqual(len(absorbed.names), 2)
        self.assertEqual(absorbed.overlaps(), [])
        h = (np.ones((2, 3, 6)) @ WEIGHTS["a"].T + WEIGHTS["b"]).sum(1)
        np.testing.assert_allclose(got, h @ WEIGHTS["a"].T + WEIGHTS["b"], rtol=1e-5)

    def test_copies_are_told(self):
        g = Graph()
        x = g.input("x", (Batch(), 6))
        a = weight("a", 6, 6)
        y = g.dense(g.dense(x, a), a.transposed())
        absorbed, _ = ran(g, [y], np.ones((2, 6), "f4"))
        self.assertEqual(len(absorbed.overlaps()), 1)

    def test_heads_merged_with_the_batch(self):
        g = Graph()
        x = g.input("x", (5, Batch(), 8))
        heads = g.transpose(g.reshape(x, [5, None, 4]), [1, 0, 2])  # [batch x 2, 5, 4]
        scores = g.softmax(g.matmul(heads, g.transpose(heads, [0, 2, 1])))
        y = g.reshape(g.transpose(g.matmul(scores, heads), [1, 0, 2]), [5, None, 8])
        value = np.random.default_rng(0).standard_normal((5, 3, 8)).astype("f4")
        h = value.reshape(5, 6, 4).transpose(1, 0, 2)
        s = np.exp(h @ h.transpose(0, 2, 1))
        want = (s / s.sum(-1, keepdims=True) @ h).transpose(1, 0, 2).reshape(5, 3, 8)
        np.testing.assert_allclose(ran(g, [y], value)[1], want, atol=1e-5)

    def test_ids_as_numbers_and_constants_for_all_samples(self):
        g = Graph()
        ids = g.input("ids", (Batch(), 4), 7)
        e = g.embedding(ids, weight("e", 7, 3))
        mask = g.reshape(g.unary(g.binary(ids, g.number(0), "equal"), "not"), [None, 4, 1])
        y = g.concat([Constant.of(np.full((1, 1, 3), 2.0)), g.binary(e, mask, "mul")], 1)
        value = np.array([[0, 1, 6, 0], [3, 0, 0, 2]])
        want = WEIGHTS["e"][value] * (value != 0)[..., None]
        got = ran(g, [y], value)[1]
        np.testing.assert_allclose(got[:, 1:], want, atol=1e-6)
        np.testing.assert_array_equal(got[:, 0], 2)

    def test_samples_are_not_mixed(self):
        g = Graph()
        x = g.input("x", (Batch(), 4))
        for wrong in (lambda: g.reduce(x, "sum", [0]), lambda: g.softmax(x, 0),
                      lambda: g.concat([x, x], 0), lambda: g.take(x, 0, [1])):
            with self.assertRaises(ValueError):
                wrong()
        with self.assertRaises(Unmapped):
            g.where = "a.b"
            g.embedding(x, weight("e", 7, 3))

    def test_transposed_convolution_of_frames(self):
        g = Graph()
        x = g.input("x", (Batch(), 2, 3, 4))
        frames = g.reshape(x, [None, 3, 4])  # [batch x 2, channels, length]
        y = g.conv_transpose(frames, weight("t", 3, 2, 2), weight("b", 2), stride=[2])
        value = np.random.default_rng(0).standard_normal((3, 2, 3, 4)).astype("f4")
        flat, w = value.reshape(6, 3, 4), WEIGHTS["t"]
        want = np.einsum("ncl,cfk->nflk", flat, w).reshape(6, 2, 8) + WEIGHTS["b"][:, None]
        np.testing.assert_allclose(ran(g, [y], value)[1], want, atol=1e-5)


class Torch(unittest.TestCase):
    def setUp(self):
        try:
            import torch
        except ImportError:
            self.skipTest("needs the package torch")
        self.torch = torch

    def test_a_module_or_its_refusal(self):
        import planetbridging
        torch = self.torch
        module = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU())
        if not hasattr(torch, "export"):
            with self.assertRaisesRegex(ImportError, "2.1 or later"):
                planetbridging.from_torch(module, (torch.zeros(2, 4),))
            return
        x = torch.randn(5, 4)
        absorbed = planetbridging.from_torch(module, (torch.zeros(1, 4),))
        np.testing.assert_allclose(absorbed.predict(x.numpy()), module(x).detach(), atol=1e-6)
        with torch.no_grad():
            module[0].weight.mul_(2)
        network = absorbed.network()
        np.testing.assert_allclose(absorbed.predict(x.numpy(), network=network),
                                   module(x).detach(), atol=1e-5)
