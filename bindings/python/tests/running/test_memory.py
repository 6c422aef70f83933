"""Memory over time, blueprints, and what the package says of itself."""
import json
import pathlib
import tempfile
import time
import unittest

import numpy as np

import welvet
from welvet import layers as L


class Memory(unittest.TestCase):
    def test_it_is_of_now(self):
        network = welvet.Network(L.Sequential(L.Input(8), L.Linear(4)))
        with welvet.MemoryHistory(every=0.01, network=network) as memory:
            before = memory.sample("before")
            block = np.ones(1 << 24)
            held = memory.sample("held")
            del block
            after = memory.sample("after")
            time.sleep(0.1)
        if before["resident_bytes"] is None:
            self.skipTest("this system does not tell")
        self.assertGreater(held["resident_bytes"] - before["resident_bytes"], 100 << 20)
        self.assertLess(after["resident_bytes"] - before["resident_bytes"], 64 << 20)
        self.assertEqual(before["host_weights_bytes"], 4 * (8 * 4 + 4))
        self.assertIsNone(before["gpu_kv_bytes"])
        labels = [s["label"] for s in memory.samples]
        self.assertEqual((labels[0], labels[-1]), ("begin", "end"))
        self.assertGreater(labels.count("after"), 2)  # those of the thread
        times = [s["elapsed_sec"] for s in memory.samples]
        self.assertEqual(times, sorted(times))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.jsonl"
            memory.write(path)
            self.assertEqual([json.loads(line) for line in path.read_text().splitlines()],
                             memory.samples)

    def test_without_a_thread(self):
        with welvet.MemoryHistory(every=None) as memory:
            pass
        self.assertEqual([s["label"] for s in memory.samples], ["begin", "end"])
        for every in (0, -1, float("nan")):
            self.assertRaises(ValueError, welvet.MemoryHistory, every)


class Blueprint(unittest.TestCase):
    def test_shapes_and_parameters(self):
        network = welvet.Network(L.Sequential(L.Input(8), L.Linear(16, activation="relu"),
                                              L.Linear(2)))
        model, = network.blueprint("mine")["models"]
        self.assertEqual((model["id"], model["total_layers"], model["total_parameters"]),
                         ("mine", 2, 8 * 16 + 16 + 16 * 2 + 2))
        self.assertEqual([(layer["type"], layer["input_shape"], layer["output_shape"])
                          for layer in model["layers"]],
                         [("dense", [8], [16]), ("dense", [16], [2])])
        self.assertEqual(sum(layer["parameters"] for layer in model["layers"]),
                         model["total_parameters"])

    def test_methods_are_the_whole_interface(self):
        told = welvet.methods()
        json.dumps(told)
        c = {entry["method_name"]: entry for entry in told["c"]}
        self.assertGreater(len(c), 150)
        self.assertEqual(c["loom_network_blueprint"], {
            "method_name": "loom_network_blueprint",
            "parameters": [{"name": "network", "type": "handle network"},
                           {"name": "id", "type": "text"}],
            "returns": [{"name": "blueprint", "type": "json"}]})
        self.assertEqual(c["loom_version"]["returns"], [{"name": "result", "type": "cstr"}])
        python = {entry["method_name"]: entry for entry in told["python"]}
        self.assertEqual(len(python), len(told["python"]))
        self.assertEqual(python["Network.blueprint"], {
            "method_name": "Network.blueprint",
            "parameters": [{"name": "id", "type": "str", "default": "'network'"}],
            "returns": [{"type": "Dict[str, Any]"}]})
        self.assertTrue(python["Network.info"]["property"])
        for name in ("methods", "sinks.Udp", "sinks.replay", "Session.observe", "layers.Linear",
                     "MemoryHistory.sample", "cluster.k_means", "Network.load"):
            self.assertIn(name, python)
        self.assertIn("dense", told["layers"])
        self.assertIn("i8", told["formats"])
