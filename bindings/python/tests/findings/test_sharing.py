"""One layer object in several places is one set of weights (finding B7)."""

import unittest

import numpy as np

import welvet
from training.test_training import NEEDED, constructors
from welvet import Network
from welvet import layers as L

try:
    import torch
except ImportError:
    torch = None

RATE = 0.3
X = np.random.RandomState(0).randn(6, 4).astype(np.float32)
Y = np.random.RandomState(1).randn(6, 4).astype(np.float32)


def tanh():
    return L.Linear(4, activation="tanh")


def networks():
    """Networks over one shared layer, and what they compute of x where d is that layer."""
    d = tanh()
    yield "twice", L.Sequential(L.Input(4), d, d), lambda x, d: d(d(x))
    d = tanh()
    yield "three times", L.Sequential(L.Input(4), d, L.Activation("sigmoid"), d, d), lambda x, d: d(
        d(sigmoid(d(x)))
    )
    d = tanh()
    yield "in a container", L.Sequential(
        L.Input(4), d, L.Sequential(L.Activation("sigmoid"), d)
    ), lambda x, d: d(sigmoid(d(x)))
    d = tanh()
    yield "in a residual", L.Sequential(L.Input(4), d, L.Residual(d)), lambda x, d: d(x) + d(d(x))
    d = tanh()
    yield "deep inside", L.Sequential(
        L.Input(4), d, L.Residual(L.Activation("sigmoid"), L.Sequential(d, d))
    ), lambda x, d: d(x) + d(d(sigmoid(d(x))))
    d = tanh()
    yield "side by side", L.Sequential(
        L.Input(4), d, L.Parallel(d, d, combine="add")
    ), lambda x, d: 2 * d(d(x))
    block = L.Sequential(tanh())
    yield "a container", L.Sequential(L.Input(4), block, block), lambda x, d: d(d(x))


def sigmoid(x):
    return 1 / (1 + (np.exp(-x) if isinstance(x, np.ndarray) else torch.exp(-x)))


class Sharing(unittest.TestCase):
    def of(self, network):
        """Names of the one weight and the one bias."""
        names = [p.name for p in network.parameters]
        self.assertEqual([name.rpartition(":")[2] for name in names], ["weight", "bias"])
        return names

    def trained(self, topology):
        """Weight and bias before and after one step of SGD over all rows."""
        network = Network(topology, seed=3)
        names = self.of(network)
        network.set(names[1], np.linspace(-0.5, 0.5, 4))
        before = [network.get(name, np.float64) for name in names]
        y = network(X)
        network.train(X, Y, optimizer="sgd", lr=RATE, epochs=1, batch_size=len(X), threads=1)
        return before, y, [network.get(name, np.float64) for name in names]

    def test_B7_parameters_count_once_and_gradients_add_up(self):
        for name, topology, function in networks():
            with self.subTest(name):
                self.assertEqual(Network(topology).info["parameters"], 20)
                before, y, after = self.trained(topology)

                def loss(w, b):
                    return (
                        (function(X.astype(np.float64), lambda x: np.tanh(x @ w.T + b)) - Y) ** 2
                    ).mean()

                np.testing.assert_allclose(
                    y,
                    function(X.astype(np.float64), lambda x: np.tanh(x @ before[0].T + before[1])),
                    atol=2e-6,
                )
                for which in (0, 1):
                    for at in np.ndindex(before[which].shape):
                        ends = []
                        for sign in (1, -1):
                            moved = [p.copy() for p in before]
                            moved[which][at] += sign * 1e-5
                            ends.append(loss(*moved))
                        want = before[which][at] - RATE * (ends[0] - ends[1]) / 2e-5
                        self.assertAlmostEqual(after[which][at], want, delta=2e-6)

    @unittest.skipUnless(torch, "needs PyTorch")
    def test_B7_a_step_is_that_of_pytorch(self):
        for name, topology, function in networks():
            with self.subTest(name):
                before, _, after = self.trained(topology)
                module = torch.nn.Linear(4, 4).double()
                with torch.no_grad():
                    module.weight.copy_(torch.tensor(before[0]))
                    module.bias.copy_(torch.tensor(before[1][0]))
                optimizer = torch.optim.SGD(module.parameters(), lr=RATE)
                out = function(torch.tensor(X).double(), lambda x: torch.tanh(module(x)))
                torch.nn.functional.mse_loss(out, torch.tensor(Y).double()).backward()
                optimizer.step()
                np.testing.assert_allclose(after[0], module.weight.detach().numpy(), atol=2e-6)
                np.testing.assert_allclose(after[1][0], module.bias.detach().numpy(), atol=2e-6)

    def test_B7_what_links_cannot_say_is_refused_by_name(self):
        for d in (L.Linear(4), L.Linear(4, name="twin"), L.Sequential(L.Linear(4), L.Activation())):
            called = "the dense layer 'twin'" if "name" in d else r"the layer %s\(" % d["type"]
            for make in (
                lambda d: L.Sequential(L.Input(4), L.Sequential(d, d)),
                lambda d: L.Sequential(L.Input(4), L.Residual(d), d),
                lambda d: L.Sequential(L.Input(4), L.Residual(d), L.Residual(d)),
                lambda d: L.Sequential(L.Input(4), L.Parallel(d, L.Residual(d))),
            ):
                with self.assertRaisesRegex(TypeError, called + ".*put it on the top level"):
                    Network(make(d))
            with self.assertRaisesRegex(TypeError, called + ".*put it on the top level"):
                Network(L.Sequential(L.Input(4), L.Linear(4))).set_cell(
                    "0.0.0.0", L.Sequential(d, d)
                )
        d = L.Linear(4)
        with self.assertRaises(welvet.InvalidArgument):
            Network(L.Sequential(L.Input(3), d, d))  # 3 values, then 4

    def test_B7_without_weights_there_is_nothing_to_share(self):
        relu = L.Activation("relu")
        network = Network(
            L.Sequential(
                L.Input(4), L.Linear(5), relu, L.Linear(3), relu,
                L.Residual(L.Linear(3), relu, relu)
            ),
            seed=1,
        )
        other = Network(
            L.Sequential(
                L.Input(4),
                L.Linear(5),
                L.Activation(),
                L.Linear(3),
                L.Activation(),
                L.Residual(L.Linear(3), L.Activation(), L.Activation()),
            ),
            seed=1,
        )
        self.assertEqual(network.digest(), other.digest())

    def test_B7_equal_layers_are_not_one(self):
        self.assertEqual(
            Network(L.Sequential(L.Input(4), L.Linear(4), L.Linear(4))).info["parameters"], 40
        )

    def test_B7_the_library_knows_which_have_weights(self):
        from welvet.layers._base import has_weights

        inputs = {"1": L.Input(2, 8), "2": L.Input(2, 8, 8), "3": L.Input(2, 8, 8, 8)}
        cells = {
            name: make(*NEEDED.get(name, ()))
            for name, make in constructors().items()
            if name not in ("Select", "BatchedMatmul", "Binary", "Permute", "Residual", "Part",
                            "CrossAttention")
        }
        cells.update(
            Select=L.Select([[1], [1], [2]]),
            BatchedMatmul=L.BatchedMatmul([[1, 2], [2, 1]]),
            Binary=L.Binary("add", [[2], [2]]),
            Permute=L.Permute([1, 0], [2, 2]),
            Constant=L.Binary("add", [[4]], constant=[4]),
            Gate=L.Parallel(L.Activation(), L.Activation(), combine="gated"),
            Stitch=L.Parallel(L.Activation(), L.Flatten(), combine="add", stitch=True),
            Plain=L.Parallel(L.Activation(), L.Flatten()),
        )
        seen = set()
        for name, cell in cells.items():
            given = (
                L.Input(ids=7)
                if name == "Embedding"
                else (
                    inputs.get(name[-2], L.Input(4))
                    if name.endswith("d") and name[-2] in inputs
                    else (
                        L.Input(2, 8)
                        if name
                        in ("TimeDistributed", "RNN", "GRU", "LSTM", "PoolSteps", "InstanceNorm",
                            "Positions")
                        else L.Input(4)
                    )
                )
            )
            with self.subTest(name):
                network = Network(L.Sequential(given, cell), seed=None)
                if network.info["parameters"]:
                    self.assertTrue(has_weights(cell))
                elif has_weights(cell):
                    seen.add(name)
        # These have weights with other settings alone; sharing them shares nothing then.
        self.assertLessEqual(seen, {"InstanceNorm", "Stitch"})
