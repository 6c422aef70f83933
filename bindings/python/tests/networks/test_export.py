"""Networks that leave as ONNX, read by from_onnx."""
import os
import tempfile
import unittest

import numpy as np

import welvet
from welvet import Network
from welvet import layers as L


class Export(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "n.onnx")
        self.x = np.random.default_rng(0).uniform(-1, 1, (5, 8)).astype(np.float32)

    def same(self, network, path, bound=1e-5, **arrays):
        with welvet.from_onnx(path) as graph:
            y = graph.run(arrays or {"input": self.x})["output"]
        np.testing.assert_allclose(y, network(self.x), atol=bound)

    def test_a_file_computes_what_the_network_does(self):
        with Network(L.Sequential(L.Input(8), L.Linear(6, activation="gelu_tanh"), L.LayerNorm(),
                                  L.Linear(3), L.Softmax()), seed=1) as network:
            report = network.export(self.path)
            self.assertEqual(report["format"], "onnx")
            self.assertEqual(report["inputs"], ["input: float[batch, 8]"])
            self.assertEqual(report["outputs"], ["output: float[batch, 3]"])
            self.assertEqual(report["dtypes"], {"f32": 6})
            self.same(network, self.path)
            with open(self.path, "rb") as file:
                self.assertEqual(file.read(), network.export_bytes("onnx"))

    def test_a_language_model_is_a_decoder_with_its_cache(self):
        with welvet.Transformer.load_model("embedded") as model:
            report = welvet.export(model, self.path, as_="q4_0", matmul_nbits=True)
            self.assertEqual(report["inputs"][:3], [
                "input_ids: int64[batch, sequence]",
                "attention_mask: int64[batch, total_sequence]",
                "position_ids: int64[batch, sequence]"])
            self.assertRegex(report["inputs"][3], r"^past_key_values\.0\.key: float\[batch, ")
            self.assertRegex(report["outputs"][-1], r"^present\.\d+\.value: float\[batch, ")
        with Network(L.Sequential(L.Input(8), L.Linear(3)), seed=1) as network:
            with self.assertRaisesRegex(welvet.Unsupported, "one id per position"):
                network.export(self.path, decoder=True)

    def test_a_dtype_is_asked_for_by_as(self):
        with Network(L.Sequential(L.Input(8), L.Linear(64), L.Linear(3)), seed=1) as network:
            report = welvet.export(network, self.path, as_="f16", opset=23)
            self.assertEqual(report["dtypes"], {"f16": 2, "f32": 2})
            self.assertEqual(report["opset"], 23)
            self.same(network, self.path, bound=1e-2)

    def test_layers_and_saved_files_are_networks(self):
        layers = L.Sequential(L.Input(8), L.Linear(2))
        self.assertEqual(welvet.export(layers, self.path)["nodes"], 1)
        with Network(layers, seed=3) as network:
            network.save(self.path + ".entity")
            welvet.export(self.path + ".entity", self.path, external_data=True)
            self.same(network, self.path)

    def test_what_cannot_be_written_is_refused(self):
        with Network(L.Sequential(L.Input(8), L.Linear(2)), seed=1) as network:
            with self.assertRaisesRegex(welvet.InvalidArgument, "ends in .onnx, got"):
                network.export(self.path + ".txt")
            with self.assertRaisesRegex(welvet.InvalidArgument, "one of onnx, got 'gguff'"):
                network.export_bytes("gguff")
            with self.assertRaisesRegex(welvet.InvalidArgument, "opset"):
                network.export(self.path, opset=12)
            with self.assertRaisesRegex(welvet.Unsupported, "ONNX has no dtype binary"):
                network.export(self.path, as_="binary")
            self.assertFalse(os.path.exists(self.path))
            network.morph("ternary")
            with self.assertRaisesRegex(welvet.Unsupported, "0.0.0.0:weight"):
                network.export(self.path)
