"""Values of another shape than a parameter's are not read in some order (finding B10)."""

import unittest

import numpy as np

import welvet
from welvet import Network, layers


class Parameters(unittest.TestCase):
    def setUp(self):
        self.network = Network(
            layers.Sequential(layers.Input(3), layers.Linear(2), layers.Linear(1)), seed=1
        )
        self.values = np.arange(6, dtype=np.float32).reshape(2, 3)

    def test_B10_values_of_another_shape_are_refused(self):
        before = self.network.digest()
        for name, values, said in (
            (
                "0.0.0.0:weight",
                self.values.T,
                r"0:weight has the shape \(2, 3\), got the shape \(3, 2\): give its transpose",
            ),
            ("0.0.0.0:weight", self.values.T.astype(np.float64), r"give its transpose"),
            (
                "0.0.0.0:weight",
                self.values.reshape(-1),
                r"got the shape \(6,\): where .*values\.reshape\(2, 3\)",
            ),
            (
                "0.0.0.0:weight",
                self.values.reshape(1, 2, 3),
                r"got the shape \(1, 2, 3\): where .*values\.reshape\(2, 3\)",
            ),
            ("0.0.0.0:weight", list(range(6)), r"got the shape \(6,\)"),
            ("0.0.0.0:weight", np.ones((2, 2)), r"got the shape \(2, 2\)$"),
            ("0.0.0.0:weight", 1.0, r"got the shape \(\)$"),
            (
                "0.0.0.0:bias",
                np.ones((2, 1)),
                r"has the shape \(1, 2\), got the shape \(2, 1\): give its transpose",
            ),
            ("0.0.0.0:bias", np.ones(3), r"has the shape \(1, 2\), got the shape \(3,\)$"),
            (
                "0.0.0.1:bias",
                1.0,
                r"has the shape \(1, 1\), got the shape \(\): where .*values\.reshape\(1, 1\)",
            ),
        ):
            with self.subTest(name, shape=np.shape(values)):
                with self.assertRaisesRegex(ValueError, said):
                    self.network.set(name, values)
                self.assertEqual(self.network.digest(), before)
        with self.assertRaises(welvet.NotFound):
            self.network.set("0.0.0.0:wait", self.values)

    def test_B10_the_shape_itself_and_rows_are_taken(self):
        for name, values in (
            ("0.0.0.0:weight", self.values),
            ("0.0.0.0:weight", self.values.tolist()),
            ("0.0.0.0:weight", np.asfortranarray(self.values + 1)),
            ("0.0.0.0:weight", self.values / 3.0),
            ("0.0.0.0:bias", [5, 6]),
            ("0.0.0.0:bias", np.array([[7.0, 8]])),
            ("0.0.0.1:weight", [1, 2]),
            ("0.0.0.1:bias", [3]),
        ):
            with self.subTest(name, values=values):
                self.network.set(name, values)
                want = np.atleast_2d(np.asarray(values, np.float32))
                np.testing.assert_array_equal(self.network.get(name), want)
