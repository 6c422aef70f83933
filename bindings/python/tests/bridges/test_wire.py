"""planetbridging.wire against `loom bridge`: pushes, breaks, refusals."""
import signal
import subprocess
import sys
import threading
import time

import numpy as np

from served import PROGRAM, Served, big_network, dense, tensors_of
from source import ROOT
from planetbridging import wire
from welvet import Network

CHUNK = 8 << 20


class Wire(Served):
    def test_a_push_makes_the_file_that_the_library_writes(self):
        self.serve()
        for width, out, layers in ((1, 1, 1), (3, 5, 1), (17, 17, 3)):
            network = Network(dense(width, out, layers), seed=4)
            done = self.push(network.topology, tensors_of(network))
            with wire.Bridge(self.server.url, self.server.token) as bridge:
                self.assertEqual(bridge.fetch("net"), network.to_bytes())
                x = np.linspace(-1, 1, 2 * width, dtype=np.float32).reshape(2, width)
                self.assertEqual(bridge.run("net", x.tolist()), network.forward(x).tolist())
                listed, = bridge.networks()
            self.assertEqual(listed["digest"], done.digest)
            self.assertEqual((done.name, done.layers), ("net", layers))
            self.assertEqual(done.bytes, len(network.to_bytes()))
        self.assertEqual(self.server.stop(), 128 + signal.SIGTERM)

    def test_dtypes_and_formats_that_are_converted(self):
        self.serve()
        for dtype, name, cell in ((np.float16, "f16", {}), (np.float64, "f64", {}),
                                  (np.float32, "f32", {"dtype": "i8"}),
                                  (np.float64, "f64", {"dtype": "f64"})):
            network = Network(dense(6, 4, **cell), seed=2)
            tensors = [(n, name, s, network.get(n).astype(dtype)) for n, _, s, _ in
                       tensors_of(network)]
            for n, _, _, values in tensors:
                network.set(n, values.astype(np.float64))
            self.push(network.topology, tensors, metadata={"source": name})
            with wire.Bridge(self.server.url, self.server.token) as bridge:
                made = Network.from_bytes(bridge.fetch("net"))
            self.assertEqual(made.digest(), network.digest())
        half = np.arange(12, dtype=np.float32)
        network = Network(dense(4, 3), seed=1)
        network.set("0.0.0.0:weight", half.reshape(3, 4))
        network.set("0.0.0.0:bias", np.ones((1, 3), np.float32))
        bits = (half.view(np.uint32) >> 16).astype(np.uint16)
        self.push(network.topology, [("0.0.0.0:weight", "bf16", (3, 4), bits),
                                     ("0.0.0.0:bias", "f32", (3,), np.ones(3, np.float32))])
        with wire.Bridge(self.server.url, self.server.token) as bridge:
            self.assertEqual(Network.from_bytes(bridge.fetch("net")).digest(), network.digest())

    def test_weights_alone_change_a_network_that_goes_on_serving(self):
        self.serve()
        network = Network(dense(3, 2, 1), seed=1)
        self.push(network.topology, tensors_of(network))
        x = np.ones((1, 3), np.float32)
        with wire.Bridge(self.server.url, self.server.token) as bridge:
            before = bridge.run("net", x.tolist())
            bias = np.array([5, 6], np.float32)
            done = wire.push_weights(self.server.url, self.server.token,
                                     [("0.0.0.0:bias", "f32", (2,), bias)], "net",
                                     progress=lambda *_: self.assertEqual(
                                         bridge.run("net", x.tolist()), before))
            network.set("0.0.0.0:bias", bias.reshape(1, 2))
            self.assertEqual(bridge.run("net", x.tolist()), network.forward(x).tolist())
            self.assertEqual(done.layers, 1)

    def test_refusals_are_typed(self):
        self.serve("--max-bytes", "4000000")
        network = Network(dense(3, 2), seed=1)
        good = tensors_of(network)

        def refused(status, part, topology=None, tensors=None, **more):
            with self.assertRaises(wire.BridgeError) as caught:
                self.push(topology or network.topology, tensors or good, retries=0, **more)
            self.assertEqual(caught.exception.status, status, caught.exception)
            self.assertIn(part, str(caught.exception))

        refused(400, "missing", tensors=good[:1])
        refused(400, "stands twice", tensors=good + good[:1])
        refused(400, "no parameter", tensors=good + [("0.0.0.9:x", "f32", (1,), np.ones(1, "f4"))])
        refused(400, "has the shape", tensors=[("0.0.0.0:weight", "f32", (3, 2),
                                                np.ones(6, "f4")), good[1]])
        refused(400, "name", name="../net")
        refused(400, "name", name=".bridge")
        refused(400, "type", topology={**network.topology, "cells": [
            {"at": [0, 0, 0, 0], "type": "denze"}]})
        refused(413, "limit", topology=dense(2000, 2000), tensors=[
            ("0.0.0.0:weight", "f32", (2000, 2000), np.zeros((2000, 2000), "f4")),
            ("0.0.0.0:bias", "f32", (2000,), np.zeros(2000, "f4"))])
        with self.assertRaises(wire.BridgeError) as caught:
            wire.push_weights(self.server.url, self.server.token, good, "none", retries=0)
        self.assertEqual(caught.exception.status, 404)
        with self.assertRaises(wire.BridgeError) as caught:
            wire.push(self.server.url, "0" * 64, network.topology, good, retries=0)
        self.assertEqual(caught.exception.status, 401)
        with self.assertRaises(ValueError):
            self.push(network.topology, [("0.0.0.0:weight", "f32", (9, 9), np.ones(6, "f4"))])
        self.assertEqual(list((self.folder / "models").glob("*.entity")), [])

    def test_who_may_ask(self):
        self.serve()
        path = "/api/v1/loom/networks"
        self.assertEqual(self.server.ask("GET", path)[0], 200)
        self.assertEqual(self.server.ask("GET", path, token=False)[0], 401)
        for host, status in (("localhost:1", 200), ("[::1]", 200), ("evil.example", 403),
                             ("127.0.0.1.evil.example", 403), ("", 403)):
            self.assertEqual(self.server.ask("GET", path, headers={"Host": host})[0], status, host)
        self.assertEqual(self.server.ask("GET", path, headers={
            "Origin": "http://evil.example"})[0], 403)
        self.assertEqual(self.server.ask("GET", path + "/%2e%2e%2fx")[0], 404)
        self.assertEqual(self.server.ask("POST", path)[0], 405)
        self.assertEqual(self.server.ask("GET", "/none")[0], 404)
        self.assertEqual(self.server.ask("GET", "/", token=False)[0], 200)
        mode = (self.folder / "models/.bridge/token").stat().st_mode & 0o777
        self.assertEqual(mode, 0o600)
        second = subprocess.run([str(PROGRAM), "bridge", "--port", "0", "--models",
                                 str(self.folder / "models")], capture_output=True, text=True,
                                check=False)
        self.assertEqual(second.returncode, 1)
        self.assertIn("another bridge", second.stderr)


CLIENT = """
import os, sys
sys.path.insert(0, %r)
import served
from planetbridging import wire
topology, tensors = served.big_network()
def progress(done, total):
    print(done, flush=True)
    if done >= int(sys.argv[3]):
        os._exit(9)
wire.push(sys.argv[1], sys.argv[2], topology, tensors, name="net", hash_first=True,
          progress=progress)
print("done")
"""


class Breaks(Served):
    def setUp(self):
        super().setUp()
        self.serve()
        self.old = Network(dense(2, 2), seed=3)
        self.push(self.old.topology, tensors_of(self.old))
        self.topology, self.tensors = big_network()
        wanted = Network(self.topology)
        for name, _, shape, values in self.tensors:
            wanted.set(name, values.reshape(shape if len(shape) == 2 else (1, -1)))
        self.wanted = wanted.to_bytes()

    def file(self):
        return (self.folder / "models/net.entity").read_bytes()

    def test_a_server_killed_at_every_chunk(self):
        total = sum(values.nbytes for _, _, _, values in self.tensors)
        for at in range(6):
            kills = []

            def progress(done, _):
                if done >= min(at * CHUNK, total) and not kills:
                    kills.append(done)
                    self.assertEqual(self.file(), self.old.to_bytes())
                    self.server.again()
            self.push(self.topology, self.tensors, progress=progress)
            self.assertTrue(kills)
            self.assertEqual(self.file(), self.wanted)
            self.push(self.old.topology, tensors_of(self.old))
            self.assertEqual(self.file(), self.old.to_bytes())

    def test_a_server_killed_while_it_finishes(self):
        total = sum(values.nbytes for _, _, _, values in self.tensors)
        for wait in (0.0, 0.005, 0.02, 0.05, 0.1, 0.2):
            killed = threading.Event()

            def kill():
                time.sleep(wait)
                self.server.again()
                killed.set()

            def progress(done, _):
                if done == total and not killed.is_set() and not self.killer.is_alive():
                    self.killer.start()
            self.killer = threading.Thread(target=kill)
            self.push(self.topology, self.tensors, progress=progress, retries=12)
            self.killer.join()
            self.assertIn(self.file(), (self.old.to_bytes(), self.wanted))
            self.push(self.topology, self.tensors)
            self.assertEqual(self.file(), self.wanted)
            self.push(self.old.topology, tensors_of(self.old))

    def test_a_client_killed_at_every_chunk(self):
        code = CLIENT % str(ROOT / "bindings/python/tests")
        for at in range(5):
            call = [sys.executable, "-c", code, self.server.url, self.server.token]
            killed = subprocess.run([*call, str(at * CHUNK)], stdout=subprocess.PIPE, check=False)
            self.assertEqual(killed.returncode, 9)
            self.assertEqual(self.file(), self.old.to_bytes())
            done = subprocess.run([*call, "1000000000"], stdout=subprocess.PIPE, check=True)
            lines = done.stdout.split()
            self.assertGreaterEqual(int(lines[0]), at * CHUNK)  # what was there stays
            self.assertEqual(lines[-1], b"done")
            self.assertEqual(self.file(), self.wanted)
            self.push(self.old.topology, tensors_of(self.old))

    def test_two_clients_at_once(self):
        failed = []

        def client(name):
            try:
                self.push(self.topology, self.tensors, name=name, hash_first=name == "same",
                          retries=20)
            except Exception as error:  # pylint: disable=broad-except
                failed.append(error)
        threads = [threading.Thread(target=client, args=(name,))
                   for name in ("one", "two", "same", "same")]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(failed, [])
        for name in ("one", "two", "same"):
            self.assertEqual((self.folder / ("models/%s.entity" % name)).read_bytes(), self.wanted)

    def test_wrong_bytes_never_count(self):
        parts = [("0.0.0.0:weight", "f32", (2, 2), np.ones(4, "f4")),
                 ("0.0.0.0:bias", "f32", (2,), np.zeros(2, "f4"))]
        announced = {"version": 1, "name": "net", "topology": dense(2, 2), "nonce": "n",
                     "tensors": [{"parameter": n, "dtype": d, "shape": list(s)}
                                 for n, d, s, _ in parts]}
        with wire.Bridge(self.server.url, self.server.token) as bridge:
            session = bridge.begin(announced)["session"]
            path = "/api/v1/loom/stream/chunk?session=%s&offset=0" % session
            self.assertEqual(self.server.ask("PUT", path, b"x" * 24, {
                "X-Loom-CRC32": "00000000"})[0], 422)
            self.assertEqual(self.server.ask("PUT", path, b"x" * 24)[0], 400)
            self.assertEqual(self.server.ask("PUT", path, b"x" * 23, {
                "X-Loom-CRC32": "00000000"})[0], 400)
            self.assertEqual(bridge.status(session)["received"], 0)
            with self.assertRaises(wire.BridgeError) as caught:
                bridge.finish(session)
            self.assertEqual((caught.exception.status, caught.exception.code), (409, "incomplete"))
            bridge.chunk(session, 0, [v.tobytes() for _, _, _, v in parts])
            bridge.chunk(session, 0, [v.tobytes() for _, _, _, v in parts])  # again: nothing new
            with self.assertRaises(wire.BridgeError) as caught:
                bridge.finish(session, {n: "0" * 64 for n, _, _, _ in parts})
            self.assertEqual((caught.exception.status, caught.exception.code), (422, "checksum"))
            self.assertEqual(bridge.status(session)["received"], 0)
            bridge.abort(session)
            with self.assertRaises(wire.BridgeError):
                bridge.status(session)
        self.assertEqual(self.file(), self.old.to_bytes())
