"""Networks as .safetensors files under the names of a template."""
import os
import tempfile
import unittest

import numpy as np

import welvet
from welvet import Network
from welvet import layers as L
from welvet.state_dict import shapes_of


class StateDict(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = self.at("out.safetensors")
        self.network = Network(L.Sequential(
            L.Input(1, 6, 6), L.Conv2d(3, 3), L.BatchNorm(), L.Flatten(), L.Linear(5),
            L.Linear(5)), seed=1)
        self.addCleanup(self.network.close)
        r = np.random.default_rng(0)
        shapes = [("c.weight", (3, 1, 3, 3)), ("c.bias", (3,)), ("n.weight", (3,)),
                  ("n.bias", (3,)), ("n.running_mean", (3,)), ("n.running_var", (3,)),
                  ("n.num_batches_tracked", ()), ("l.0.weight", (5, 48)), ("l.0.bias", (5,)),
                  ("l.1.weight", (5, 5)), ("l.1.bias", (5,))]
        self.template = {name: r.normal(size=s).astype(np.float32) for name, s in shapes}

    def at(self, name):
        return os.path.join(self.folder, name)

    def test_layers_meet_modules_by_what_they_hold(self):
        report = welvet.export(self.network, self.path, template=self.template)
        self.assertEqual(report["tensors"]["c.weight"], [3, 1, 3, 3])
        self.assertNotIn("n.num_batches_tracked", report["tensors"])
        self.assertEqual(set(report["tensors"]) | {"n.num_batches_tracked"}, set(self.template))
        # The file is a template itself.
        welvet.export(self.network, self.at("again.safetensors"), template=self.path)
        with open(self.path, "rb") as one, open(self.at("again.safetensors"), "rb") as other:
            self.assertEqual(one.read(), other.read())
        self.assertEqual(shapes_of(self.path)[0]["l.0.weight"], (5, 48))

    def test_a_prefix_leaves_other_modules_alone(self):
        wider = {"a." + name: array for name, array in self.template.items()}
        wider["b.weight"] = np.zeros((2, 2))
        report = welvet.export(self.network, self.path, template=wider, prefix="a.")
        self.assertIn("a.l.1.bias", report["tensors"])
        with self.assertRaisesRegex(ValueError, "template's 'b'"):
            welvet.export(self.network, self.path, template=wider)

    def test_what_fits_nowhere_is_named(self):
        del self.template["l.1.bias"]
        with self.assertRaisesRegex(ValueError, r"0\.0\.0\.4: no module .* weight \[5, 5\], bias"):
            welvet.export(self.network, self.path, template=self.template)
        self.assertFalse(os.path.exists(self.path))
        with self.assertRaisesRegex(ValueError, "template="):
            welvet.export(self.network, self.path)

    def test_a_file_has_no_order(self):
        with Network(L.Sequential(L.Input(4), L.Linear(4), L.Linear(4)), seed=1) as network:
            same = {"up.weight": np.zeros((4, 4)), "up.bias": np.zeros(4),
                    "down.weight": np.zeros((4, 4)), "down.bias": np.zeros(4)}
            welvet.export(network, self.path, template=same)
            with self.assertRaisesRegex(ValueError, "'down', 'up' of the template fit alike"):
                welvet.export(network, self.at("x.safetensors"), template=self.path)

    def test_layers_of_another_layout_are_refused(self):
        with Network(L.Sequential(L.Input(3, 4), L.LSTM(5)), seed=1) as network:
            with self.assertRaisesRegex(ValueError, "no place for parameters of this kind"):
                welvet.export(network, self.path, template=self.template)
