"""dtype, name, enabled and tie of containers and of networks have an effect or are refused (B8)."""

import unittest

import numpy as np

import welvet
from welvet import Network
from welvet import layers as L

X = np.random.RandomState(0).randn(5, 4).astype(np.float32)


def formats(network):
    return {
        p.name: p.format for p in network.parameters if p.role in ("weight", "gate") and p.rows > 1
    }


def containers(**common):
    """Containers of two dense layers that keep the shape."""
    yield "sequential", L.Sequential(L.Linear(4), L.Linear(4), **common)
    yield "residual", L.Residual(L.Linear(4), L.Linear(4), **common)
    yield "parallel", L.Parallel(L.Linear(4), L.Linear(4), combine="add", **common)
    yield "each", L.TimeDistributed(L.Sequential(L.Linear(2), L.Linear(2)), count=2, **common)


class Settings(unittest.TestCase):
    def test_B8_the_dtype_of_a_network_is_that_of_its_layers(self):
        d = L.Linear(4)
        plain = (
            L.Linear(4),
            L.Linear(4, dtype="bf16"),
            L.Flatten(),
            L.Residual(L.LayerNorm(), L.Linear(4)),
            L.Sequential(L.Linear(4), dtype="i4"),
            d,
            d,
        )
        network = Network(L.Sequential(L.Input(4), *plain, dtype="i8"), seed=1)
        self.assertEqual(
            formats(network),
            {
                "0.0.0.0:weight": "i8",
                "0.0.0.1:weight": "bf16",
                "0.0.0.3/0/1:weight": "i8",
                "0.0.0.4/0:weight": "i4",
                "0.0.0.5:weight": "i8",
            },
        )
        # What morph makes of a network without it.
        two = Network(L.Sequential(L.Input(4), L.Linear(4), L.Linear(3)), seed=1)
        two.morph("i8")
        np.testing.assert_array_equal(
            Network(L.Sequential(L.Input(4), L.Linear(4), L.Linear(3), dtype="i8"), seed=1)(X),
            two(X)
        )
        with self.assertRaisesRegex(welvet.InvalidArgument, "i3"):
            Network(L.Sequential(L.Input(4), L.Linear(4), dtype="i3"))

    def test_B8_what_is_of_a_layer_is_refused_on_a_network(self):
        for key, value in (
            ("name", "digits"),
            ("enabled", False),
            ("enabled", True),
            ("tie", "0.0.0.0:weight"),
        ):
            with self.subTest(key, value=value):
                with self.assertRaisesRegex(TypeError, "^Sequential: '%s' is of a layer" % key):
                    Network(L.Sequential(L.Input(4), L.Linear(4), **{key: value}))

    def test_B8_dtype_name_and_enabled_of_containers(self):
        for deep in (False, True):

            def network(container, deep=deep):
                return Network(
                    L.Sequential(L.Input(4), L.Sequential(container) if deep else container), seed=1
                )

            for (kind, narrow), (_, named), (_, off), (_, on), (_, plain) in zip(
                containers(dtype="i8"),
                containers(name="block"),
                containers(enabled=False),
                containers(enabled=True),
                containers(),
            ):
                with self.subTest(kind, deep=deep):
                    self.assertEqual(set(formats(network(narrow)).values()), {"i8"})
                    self.assertEqual(set(formats(network(plain)).values()), {"f32"})
                    cell = network(named).cell("0.0.0.0")
                    self.assertEqual((cell["layers"][0] if deep else cell)["name"], "block")
                    np.testing.assert_array_equal(network(off)(X), X)
                    np.testing.assert_array_equal(network(on)(X), network(plain)(X))
                    self.assertFalse(np.array_equal(network(plain)(X), X))

    def test_B8_a_container_on_the_top_level_has_nothing_to_tie(self):
        for kind, container in containers(tie="0.0.0.0:weight"):
            with self.subTest(kind):
                with self.assertRaisesRegex(ValueError, "tie"):
                    Network(L.Sequential(L.Input(4), L.Linear(4), container))
