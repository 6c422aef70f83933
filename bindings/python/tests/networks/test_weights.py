"""welvet.from_weights, networks as JSON, and files that Python reads for the library."""
import io
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import numpy as np

from source import ROOT
import welvet
from welvet import Network, layers

PROGRAM = ROOT / "build/release/loom"
SETTINGS = {"sequential": True, "cells": {"1": {"type": "activation", "activation": "relu"}},
            "activation": {"2": "linear"}}


def safetensors(tensors):
    header, at = {}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape),
                        "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(v.tobytes() for v in tensors.values())


def mlp():
    random = np.random.default_rng(0)
    shapes = {"0.weight": (8, 4), "0.bias": (8,), "2.weight": (3, 8), "2.bias": (3,)}
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def expected(w, x):
    return np.maximum(x @ w["0.weight"].T + w["0.bias"], 0) @ w["2.weight"].T + w["2.bias"]


class Failing(io.BytesIO):
    """Reads `good` times, then raises, or gives fewer bytes than it has."""

    def __init__(self, data, good, error=None):
        super().__init__(data)
        self.left, self.error = good, error

    def readinto(self, out):
        self.left -= 1
        if self.left >= 0:
            return super().readinto(out)
        if self.error:
            raise self.error
        return 0


class FromWeights(unittest.TestCase):
    def setUp(self):
        self.weights = mlp()
        self.data = safetensors(self.weights)
        self.x = np.random.default_rng(1).normal(size=(5, 4)).astype(np.float32)

    def right(self, network):
        np.testing.assert_allclose(network(self.x), expected(self.weights, self.x), atol=2e-6)

    def test_bytes_paths_and_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "m.safetensors")
            path.write_bytes(self.data)
            digests = set()
            with open(path, "rb") as file:
                for source in (self.data, path, str(path), file, io.BytesIO(self.data)):
                    network, report = welvet.from_weights(source, SETTINGS)
                    self.right(network)
                    self.assertEqual(report["open"], 0)
                    digests.add(network.digest())
            self.assertEqual(len(digests), 1)

    def test_nothing_is_guessed(self):
        with self.assertRaises(welvet.OpenQuestions) as caught:
            welvet.from_weights(self.data)
        self.assertEqual(caught.exception.report["open"], 4)
        self.assertNotIn("\\x0a", str(caught.exception))
        with self.assertRaisesRegex(welvet.InvalidArgument, "unknown key"):
            welvet.from_weights(self.data, {**SETTINGS, "activations": {}})
        with self.assertRaisesRegex(welvet.InvalidArgument, "layout"):
            welvet.from_weights(self.data, {**SETTINGS, "layout": "in_out"})
        with self.assertRaisesRegex(welvet.OpenQuestions, "'extra': is no layer"):
            welvet.from_weights(safetensors({**self.weights, "extra.thing": self.x}),
                                {"layers": ["0", {"type": "activation", "activation": "relu"}, "2"],
                                 "activation": "linear"})

    def test_a_failing_file_is_the_cause(self):
        error = OSError("the disk is gone")
        for good in range(8):
            file = Failing(self.data, good, error)
            try:
                network, _ = welvet.from_weights(file, SETTINGS)
            except welvet.LoomError as caught:
                self.assertIsInstance(caught, welvet.IOFailed)
                self.assertIn("the disk is gone", str(caught))
                self.assertIs(caught.__cause__, error)
            else:
                self.right(network)
        with self.assertRaises(welvet.Truncated):
            welvet.from_weights(Failing(self.data, 1), SETTINGS)
        with self.assertRaises(TypeError):
            welvet.from_weights(3.5)

    def test_networks_from_files_that_python_reads(self):
        made = Network(layers.Sequential(layers.Input(4), layers.Linear(3)), seed=1)
        again = Network.load(io.BytesIO(made.to_bytes()))
        self.assertEqual(again.digest(), made.digest())
        with self.assertRaises(welvet.LoomError):
            Network.load(io.BytesIO(made.to_bytes()[:-20]))
        before = welvet.live_handles()
        for _ in range(5):
            Network.load(io.BytesIO(made.to_bytes())).close()
        self.assertEqual(welvet.live_handles(), before)

    def test_the_program_does_the_same(self):
        if not PROGRAM.exists():
            self.skipTest("needs the program loom")
        with tempfile.TemporaryDirectory() as folder:
            def run(*arguments):
                return subprocess.run([PROGRAM, "convert", "m.safetensors", "m.entity", *arguments],
                                      cwd=folder, capture_output=True, text=True, check=False)
            pathlib.Path(folder, "m.safetensors").write_bytes(self.data)
            pathlib.Path(folder, "settings.json").write_text(json.dumps(SETTINGS))
            told = run("--report")
            self.assertEqual(told.returncode, 0, told.stderr)
            self.assertFalse(os.path.exists(os.path.join(folder, "m.entity")))
            self.assertEqual(json.loads(run("--report", "--json").stdout)["open"], 4)
            refused = run()
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("4 questions", refused.stderr)
            for more in (["--report"], ["--settings", "settings.json"]):
                ignored = run(*more, "--no-tokenizer")
                self.assertNotEqual(ignored.returncode, 0)
                self.assertIn("tokenizer", ignored.stderr)
            done = run("--settings", "settings.json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.right(Network.load(os.path.join(folder, "m.entity")))


class AsJson(unittest.TestCase):
    def test_saving_what_was_loaded_makes_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            for dtype in ("f32", "f64", "bf16", "i8", "i4", "ternary", "binary", "q4_0"):
                network = Network(layers.Sequential(
                    layers.Input(32), layers.Linear(32, activation="tanh"), layers.Linear(32)),
                    seed=3)
                network.morph(dtype)
                first, second = (os.path.join(folder, name + ".json") for name in "ab")
                network.save(first)
                again = Network(first)
                again.save(second)
                self.assertEqual(again.digest(), network.digest(), dtype)
                with open(first, "rb") as a, open(second, "rb") as b:
                    self.assertEqual(a.read(), b.read(), dtype)

    def test_numbers_may_be_written_by_hand(self):
        made = {"format": "loom-network", "version": 1, "topology": {
            "format": "loom-topology", "version": 1, "input": {"width": 2},
            "cells": [{"at": [0, 0, 0, 0], "type": "dense", "out": 1, "bias": False}]},
            "tensors": {"0.0.0.0:weight": {"type": "f32", "shape": [1, 2], "values": [1, -2.5]}}}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "n.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(made, file)
            self.assertEqual(Network.load(path)(np.array([[2, 1]], np.float32)).item(), -0.5)
            made["tensors"]["0.0.0.0:weight"]["values"] = [1]
            with open(path, "w", encoding="utf-8") as file:
                json.dump(made, file)
            with self.assertRaises(welvet.LoomError):
                Network.load(path)
