"""Lines A1 and A2 of the findings, as they were tried: silently wrong numbers."""
import itertools
import unittest

import numpy as np

import welvet
from welvet import Network, layers as L

try:
    import torch
except ImportError:
    torch = None

S = L.Sequential


class Formats(unittest.TestCase):
    def test_layers_of_all_formats_read_the_same_values(self):
        """A product in integers and one in bf16 of the same values were refused when they ran."""
        def outputs(*dtypes):
            branches = [L.Linear(4, dtype=dtype) for dtype in dtypes]
            return Network(S(L.Input(16), L.Parallel(branches)), seed=1)(x).reshape(3, 3, 4)

        x = np.random.default_rng(0).normal(size=(3, 16)).astype(np.float32)
        formats = ("f32", "bf16", "f16", "i8", "ternary")
        alone = {dtype: outputs(dtype, dtype, dtype) for dtype in formats}
        for dtypes in itertools.permutations(formats, 3):
            for y, dtype, i in zip(outputs(*dtypes).swapaxes(0, 1), dtypes, range(3)):
                np.testing.assert_array_equal(y, alone[dtype][:, i], str(dtypes))


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
        history = Network(S(L.Input(2), L.Linear(2)), seed=1).train(x,
            np.array([1, 1, 0, 0]), optimizer="sgd", lr=0.01, epochs=40, batch_size=4)
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
            y = Network(S(L.Input(2), L.Linear(8, activation=activation)), seed=0)([[1, np.nan]])
            self.assertTrue(np.isnan(y).all(), activation)

    def test_a2_training_refuses_it_by_row_and_column(self):
        x = np.random.RandomState(1).rand(20, 3).astype(np.float32)  # noqa: NPY002
        y = x.sum(axis=1, keepdims=True)
        network = lambda: Network(S(L.Input(3), L.Linear(8, activation="relu"), L.Linear(1)),
            seed=0)  # noqa: E731
        bad = x.copy()
        bad[7, 2] = np.nan
        with self.assertRaisesRegex(welvet.InvalidArgument,
            r"x, row 7, column 2 \(from 0\) is NaN"):
            network().train(bad, y, epochs=1)
        targets = y.copy()
        targets[3] = np.inf
        with self.assertRaisesRegex(welvet.InvalidArgument,
            r"y, row 3, column 0 \(from 0\) is infinity"):
            network().train(x, targets, epochs=1)
        with self.assertRaisesRegex(welvet.InvalidArgument,
            r"after epoch 1 the loss of the validation is nan"):
            network().train(x, y, epochs=2, validation=(bad, y))
        holes = Network(S(L.Input(3), L.Standardize(missing=True), L.Linear(1)), seed=0)
        self.assertTrue(np.isfinite(holes.train(bad, y, epochs=1).losses).all())


class Doubles(unittest.TestCase):
    """Line A7: inputs, biases, standardize and outputs of f64 networks were float32."""

    def network(self):
        return Network(S(L.Input(1), L.Standardize(dtype="f64"), L.Linear(1, dtype="f64")), seed=0)

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
        self.assertEqual(Network(S(L.Input(1), L.Linear(1)))(x).dtype, np.float32)

    def far(self):
        """Rows around 1e9, which float32 merges, and a line through them."""
        x = 1e9 + np.arange(64.0)[:, None]
        return x, (x - 1e9) * 0.3 + (1e9 + 0.7)

    def shifted(self, dtype="f64"):
        """A line between two fixed offsets."""
        network = Network(S(L.Input(1), L.Standardize(dtype=dtype), L.Linear(1, dtype=dtype),
                            L.Standardize(dtype=dtype)), seed=0)
        for name, value in (("0.0.0.0:mean", 1e9 + 31.5), ("0.0.0.0:scale", 1 / 18.5),
                            ("0.0.0.2:mean", -1e9), ("0.0.0.2:scale", 1.0),
                            ("0.0.0.1:weight", 0.1), ("0.0.0.1:bias", 0.2)):
            network.set(name, np.array([[value]]))
        return network

    def line(self, x, y, steps, rate, momentum):
        """The losses of `shifted`, by hand in doubles, as torch.optim.SGD does it."""
        w, b, u, v, losses = 0.1, 0.2, 0.0, 0.0, []
        z = (x - (1e9 + 31.5)) * (1 / 18.5)
        for _ in range(steps):
            d = w * z + b + 1e9 - y
            losses.append((d * d).mean())
            u, v = momentum * u + (2 * d * z).mean(), momentum * v + (2 * d).mean()
            w, b = w - rate * u, b - rate * v
        return losses

    def learned(self, data, threads=1):
        spec = {"loss": "mse", "batch": 64, "steps": 50, "shuffle": False,
                "optimizer": {"type": "sgd", "momentum": 0.9},
                "schedule": {"type": "constant", "lr": 0.01}}
        network = self.shifted()
        return network, welvet.Trainer(network, data, spec, threads=threads)

    def test_a7_doubles_are_learned_from_as_they_are(self):
        x, y = self.far()
        want = self.line(x, y, 50, 0.01, 0.9)
        self.assertGreater(want[0] / want[-1], 10)
        digests = []
        for threads in (1, 3):
            network, trainer = self.learned(welvet.Data.values(x, y), threads)
            got = [trainer.step().loss for _ in range(50)]
            np.testing.assert_allclose(got, want, rtol=1e-10)
            digests.append(trainer.digest())
        self.assertEqual(digests[0], digests[1])
        # A pause changes nothing, and other doubles are other data.
        again = self.learned(welvet.Data.values(x, y))[1]
        again.step(20)
        resumed = self.learned(welvet.Data.values(x, y))[1]
        resumed.resume(again.to_bytes())
        resumed.step(30)
        self.assertEqual(resumed.digest(), digests[0])
        other = self.learned(welvet.Data.values(x + 0.25, y))[1]
        with self.assertRaisesRegex(welvet.InvalidArgument, "other data"):
            other.resume(again.to_bytes())

    def test_a7_train_takes_doubles_and_validates_in_them(self):
        x, y = self.far()
        network = self.shifted()
        history = network.train(x, y, steps=50, batch_size=64, shuffle=False, lr=0.01,
                                optimizer={"type": "sgd", "momentum": 0.9}, validation=(x, y))
        np.testing.assert_allclose(history.losses, self.line(x, y, 50, 0.01, 0.9), rtol=1e-10)
        np.testing.assert_allclose(history["validation_loss"][-1],
                                   ((network(x) - y) ** 2).mean(), rtol=1e-10)

    @unittest.skipUnless(torch, "this Python has no PyTorch")
    def test_a7_losses_are_those_of_pytorch_in_double(self):
        random = np.random.RandomState(0)
        x = 1e9 + np.arange(96.0)[:, None] * np.array([1.0, 2, 3]) + random.rand(96, 3)
        y, labels = random.rand(96, 2), np.arange(96) % 2
        makers = {"sgd": lambda p: torch.optim.SGD(p, 0.01),
                  "adamw": lambda p: torch.optim.AdamW(p, 0.01, weight_decay=0.0),
                  "rmsprop": lambda p: torch.optim.RMSprop(p, 0.01)}
        for optimizer, loss in itertools.product(makers, ("mse", "huber", "cross_entropy")):
            mine = Network(S(L.Input(3), L.Standardize(), L.Linear(8, activation="tanh"),
                             L.Linear(2), dtype="f64"), seed=3)
            mine.set("0.0.0.0:mean", x.mean(0)[None])
            mine.set("0.0.0.0:scale", 1 / x.std(0)[None])
            theirs = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(),
                                         torch.nn.Linear(8, 2)).double()
            for layer, cell in ((theirs[0], "0.0.0.1"), (theirs[2], "0.0.0.2")):
                layer.weight.data = torch.tensor(mine.get(cell + ":weight", np.float64))
                layer.bias.data = torch.tensor(mine.get(cell + ":bias", np.float64)[0])
            steps = makers[optimizer](theirs.parameters())
            judge = {"mse": torch.nn.MSELoss(), "huber": torch.nn.HuberLoss(),
                     "cross_entropy": torch.nn.CrossEntropyLoss()}[loss]
            targets = labels if loss == "cross_entropy" else y
            z, want = torch.tensor((x - x.mean(0)) * (1 / x.std(0))), []
            for _ in range(50):
                steps.zero_grad()
                now = judge(theirs(z), torch.tensor(targets))
                now.backward()
                steps.step()
                want.append(now.item())
            got = mine.train(x, targets, steps=50, batch_size=96, shuffle=False, loss=loss,
                             optimizer={"type": optimizer}, lr=0.01).losses
            np.testing.assert_allclose(got, want, rtol=1e-10, err_msg=optimizer + " " + loss)

    def test_a7_what_float32_would_merge_is_refused_by_networks_of_it(self):
        x, y = self.far()
        half = Network(S(L.Input(1), L.Standardize(dtype="f64"), L.Linear(1)), seed=0)
        single = Network(S(L.Input(1), L.Linear(1)), seed=0)
        spec = {"loss": "mse", "batch": 8, "steps": 1}
        for network, rows, targets, said in (
                (single, x, y * 0, r"x: column 0 \(from 0\) lies between .* take an offset"),
                (half, x, y, r"y: column 0 \(from 0\) lies between .* end with"),
                (half, x * np.inf, y * 0, r"x, row 0, column 0 \(from 0\) is infinity"),
                (single, x * 1e291, y * 0,
                 r"x, row 0, .* is [0-9.]*e299, which f32 does not hold")):
            with self.assertRaisesRegex(welvet.InvalidArgument, said):
                welvet.Trainer(network, welvet.Data.values(rows, targets), spec)
        welvet.Trainer(half, welvet.Data.values(x, y * 0), spec).step()
        labels = np.arange(64) % 2
        classes = Network(S(L.Input(1), L.Standardize(dtype="f64"), L.Linear(2)), seed=0)
        classes.train(x, labels, epochs=1)
        table = "a,b\n" + "".join("%.17g,%.17g\n" % (*p, *q) for p, q in zip(x, y))
        data = welvet.Data.table(table, targets=["b"])
        got = self.learned(data)[1].step().loss
        self.assertAlmostEqual(got, self.line(x, y, 1, 0.01, 0.9)[0], delta=1e-10)
