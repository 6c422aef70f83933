"""Lines A1 and A2 of the findings, as they were tried: silently wrong numbers."""
import os
import pathlib
import sys
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
if os.environ.get("WELVET_INSTALLED") != "1":
    sys.path.insert(0, str(ROOT / "bindings/python"))

import welvet  # noqa: E402
from welvet import Network, layers as L  # noqa: E402

S = L.Sequential


class Exponentials(unittest.TestCase):
    def test_a1_softmax_of_any_finite_row(self):
        softmax = Network(S(L.Input(3), L.Softmax()))
        np.testing.assert_array_equal(softmax([[1e9, 0, 5e8]]), [[1, 0, 0]])
        np.testing.assert_allclose(softmax([[-1e9] * 3]), [[1 / 3] * 3], rtol=2e-7)
        want = np.exp([0.0, -1, -2]) / np.exp([0.0, -1, -2]).sum()
        np.testing.assert_allclose(softmax([[-2e6, -2e6 - 1, -2e6 - 2]]), [want], rtol=2e-7)
        logs = Network(S(L.Input(3), L.LogSoftmax()))
        np.testing.assert_array_equal(logs([[2e6, 0, 1e6]]), [[0, -2e6, -1e6]])

    def test_a1_losses_of_large_inputs_are_not_negative(self):
        x = np.array([[1e6, 5e4], [2.5e6, 4e4], [-1e6, 3e4], [-1.5e6, 2e4]], np.float32)
        history = welvet.train(Network(S(L.Input(2), L.Dense(2)), seed=1), x,
            np.array([1, 1, 0, 0]), optimizer="sgd", rate=0.01, epochs=40, batch=4)
        self.assertGreaterEqual(min(history.losses), 0)
        self.assertLess(history.losses[-1], 1e-6)

    def test_a1_kmeans_of_pixels(self):
        x = np.random.RandomState(0).randint(0, 256, (50, 784)).astype(np.float32)  # noqa: NPY002
        p = Network(S(L.Input(784), L.KMeans(5)), seed=0)(x)
        self.assertTrue(np.isfinite(p).all())
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-6)


class NotANumber(unittest.TestCase):
    def test_a2_relu_lets_nan_through(self):
        for activation in ("relu", "relu2", "leaky_relu", "gelu"):
            y = Network(S(L.Input(2), L.Dense(8, activation=activation)), seed=0)([[1, np.nan]])
            self.assertTrue(np.isnan(y).all(), activation)

    def test_a2_training_refuses_it_by_row_and_column(self):
        x = np.random.RandomState(1).rand(20, 3).astype(np.float32)  # noqa: NPY002
        y = x.sum(axis=1, keepdims=True)
        network = lambda: Network(S(L.Input(3), L.Dense(8, activation="relu"), L.Dense(1)),
            seed=0)  # noqa: E731
        bad = x.copy()
        bad[7, 2] = np.nan
        with self.assertRaisesRegex(welvet.InvalidArgument,
            r"x, row 7, column 2 \(from 0\) is NaN"):
            welvet.train(network(), bad, y, epochs=1)
        targets = y.copy()
        targets[3] = np.inf
        with self.assertRaisesRegex(welvet.InvalidArgument,
            r"y, row 3, column 0 \(from 0\) is infinity"):
            welvet.train(network(), x, targets, epochs=1)
        with self.assertRaisesRegex(welvet.InvalidArgument,
            r"after epoch 1 the loss of the validation is nan"):
            welvet.train(network(), x, y, epochs=2, validation=(bad, y))
        holes = Network(S(L.Input(3), L.Standardize(missing=True), L.Dense(1)), seed=0)
        self.assertTrue(np.isfinite(welvet.train(holes, bad, y, epochs=1).losses).all())


class Doubles(unittest.TestCase):
    """Line A7: inputs, biases, standardize and outputs of f64 networks were float32."""

    def network(self):
        return Network(S(L.Input(1), L.Standardize(dtype="f64"), L.Dense(1, dtype="f64")), seed=0)

    def test_a7_doubles_go_through(self):
        network, x = self.network(), 1e9 + np.arange(64.0)[:, None]
        self.assertEqual(network.info["input"]["dtype"], "f64")
        network.set("0.0.0.0:mean", np.array([[1e9 + 1]]))
        network.set("0.0.0.1:weight", np.array([[1 + 2.0**-40]]))
        network.set("0.0.0.1:bias", np.array([[1e9 + 7]]))
        want = (x - (1e9 + 1)) * (1 + 2.0**-40) + (1e9 + 7)
        for run in (network, welvet.Session(network).run, Network.from_bytes(network.to_bytes())):
            y = run(x)
            self.assertEqual(y.dtype, np.float64)
            np.testing.assert_array_equal(y, want)
        self.assertEqual(welvet.Session(network).run(x.astype(np.float32)).dtype, np.float32)
        self.assertEqual(Network(S(L.Input(1), L.Dense(1)))(x).dtype, np.float32)

    def test_a7_training_data_are_float32_and_say_so(self):
        x = 1e9 + np.arange(64.0)[:, None]
        with self.assertRaisesRegex(ValueError, r"^x: column 0 \(from 0\) lies between .* take an offset"):
            welvet.train(self.network(), x, x - 1e9, epochs=1)
        with self.assertRaisesRegex(ValueError, r"^y: column 0 .* float32"):
            welvet.train(self.network(), x - 1e9, x, epochs=1)
        welvet.train(self.network(), x - 1e9, x - 1e9, epochs=1)


if __name__ == "__main__":
    unittest.main()
