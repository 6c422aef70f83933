"""planetbridging.wire.Pushing: weights pushed while they are trained, and read meanwhile."""
import pathlib
import tempfile
import threading
import unittest

import numpy as np

from served import Server, dense, has_bridge
from planetbridging import wire
from welvet import Network


@unittest.skipUnless(has_bridge(), "needs the program loom with its bridge")
class PushingWhileTraining(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.server = Server(self.folder.name)
        self.addCleanup(self.server.kill)

    def test_a_reader_sees_old_or_new(self):
        network = Network(dense(64, 64, layers=3), seed=1)
        pushing = wire.Pushing(network, self.server.url, self.server.token, name="net", every=2)
        known, read, stop = {network.digest()}, [], threading.Event()
        file = pathlib.Path(self.folder.name) / "net.entity"

        def reader():
            with wire.Bridge(self.server.url, self.server.token) as bridge:
                while not stop.is_set():
                    read.append(Network.load(file).digest())
                    read.append(Network.from_bytes(bridge.fetch("net")).digest())

        thread = threading.Thread(target=reader)
        thread.start()
        x = np.random.default_rng(0).normal(size=(128, 64)).astype(np.float32)
        try:
            network.train(x, x[:, ::-1].copy(), steps=40, lr=0.01, progress=False, callbacks=[
                lambda progress: known.add(progress.network.digest()), pushing])
        finally:
            stop.set()
            thread.join()
        self.assertEqual(len(known), 41)
        self.assertGreater(len(read), 2)
        self.assertLessEqual(set(read), known)
        self.assertEqual(Network.load(file).digest(), network.digest())

    def test_doubles_keep_their_digits(self):
        network = Network({"format": "loom-topology", "version": 1, "input": {"width": 2},
                           "cells": [{"at": [0, 0, 0, 0], "type": "dense", "out": 1,
                                      "dtype": "f64"}]}, seed=1)
        network.set("0.0.0.0:weight", np.array([[1 / 3, 1e-12]]))
        pushing = wire.Pushing(network, self.server.url, self.server.token, name="wide")
        made = Network.load(pathlib.Path(self.folder.name) / "wide.entity")
        self.assertEqual(made.digest(), network.digest())
        network.set("0.0.0.0:weight", np.array([[2 / 3, 1e-12]]))
        pushing.push()
        made = Network.load(pathlib.Path(self.folder.name) / "wide.entity")
        self.assertEqual(made.get("0.0.0.0:weight", np.float64)[0, 0], 2 / 3)

    def test_every(self):
        with self.assertRaisesRegex(ValueError, "every"):
            wire.Pushing(None, "", "", name="net", every=0)
