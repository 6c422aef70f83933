"""`loom bridge` under hostile requests: typed refusals, bounded memory, no crash. LOOM_FRAMES: how
many requests (1,000; 10,000 is what the figures are of)."""
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import time
import unittest

import numpy as np

from served import PROGRAM, Served, dense, has_bridge, tensors_of
from planetbridging import wire
from welvet import Network

FRAMES = int(os.environ.get("LOOM_FRAMES", "1000"))
TYPED = set(range(200, 205)) | {400, 401, 403, 404, 405, 409, 413, 422, 429, 431, 503, 507}


def announced(name="net", nonce="n"):
    return {"version": 1, "name": name, "topology": dense(3, 2), "nonce": nonce, "tensors": [
        {"parameter": "0.0.0.0:weight", "dtype": "f32", "shape": [2, 3], "bytes": 24},
        {"parameter": "0.0.0.0:bias", "dtype": "f32", "shape": [2]}]}


def values(rng):
    return rng.choice([None, True, -1, 0, 1e308, 2 ** 63, -2 ** 63, "", "x" * 1000, [], {}, [[]],
                       "\u0000", "../../etc", [1] * 50, 9007199254740993, 0.5])


def mutate_json(rng, node, rate=0.15):
    """The same with some values exchanged, left out or doubled."""
    if rng.random() < rate:
        return values(rng)
    if isinstance(node, dict):
        made = {k: mutate_json(rng, v, rate) for k, v in node.items() if rng.random() > rate / 3}
        if rng.random() < rate:
            made["more" + str(rng.random())] = values(rng)
        return made
    if isinstance(node, list):
        made = [mutate_json(rng, v, rate) for v in node if rng.random() > rate / 3]
        return made * rng.choice([1, 1, 1, 2])
    return node


def mutate_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(data))
        what = rng.random()
        if what < 0.5:
            data[at] = rng.randrange(256)
        elif what < 0.75:
            del data[at:at + rng.randint(1, 20)]
        else:
            data[at:at] = bytes(rng.choices(range(256), k=rng.randint(1, 30)))
        if not data:
            data = bytearray(b"x")
    return bytes(data)


class Hostile(Served):
    def setUp(self):
        super().setUp()
        self.serve("--max-bytes", "100000000", "--legacy")
        self.network = Network(dense(3, 2), seed=1)
        self.push(self.network.topology, tensors_of(self.network), name="kept")
        with wire.Bridge(self.server.url, self.server.token) as bridge:
            self.session = bridge.begin(announced())["session"]

    def request(self, rng):
        """A request that is nearly right, or bytes."""
        routes = [("POST", "/api/v1/loom/stream/begin", announced("net", str(rng.random()))),
                  ("POST", "/api/v1/loom/stream/finish", {"session": self.session, "sha256": {}}),
                  ("POST", "/api/v1/loom/stream/abort", {"session": "0" * 64}),
                  ("POST", "/api/v1/loom/run", {"name": "kept", "inputs": [[1, 2, 3]]}),
                  ("POST", "/api/v1/loom/compare", {"name": "kept", "inputs": [[1, 2, 3]],
                                                    "outputs": [[1, 2]], "layers": {}}),
                  ("POST", "/api/v1/loom/stream/dense", {"planet": "p", "model_id": "m", "layers": [
                      {"kind": "dense", "index": 0, "input_dim": 2, "output_dim": 1,
                       "weights": [1, 2], "bias": [0]}], "inputs": [[1, 2]]}),
                  ("POST", "/api/v1/report", {"planet": "p", "model_id": "m", "stage": "loom",
                                              "format": "entity", "outputs": [[1]]})]
        kind = rng.random()
        head = "Host: 127.0.0.1\r\nAuthorization: Bearer %s\r\n" % self.server.token
        if kind < 0.5:
            method, path, body = rng.choice(routes)
            data = json.dumps(mutate_json(rng, body)).encode()
            if rng.random() < 0.2:
                data = mutate_bytes(rng, data)
        elif kind < 0.8:
            method, data = "PUT", bytes(rng.choices(range(256), k=rng.choice([0, 1, 31, 32, 33])))
            path = "/api/v1/loom/stream/chunk?session=%s&offset=%s" % (
                rng.choice([self.session, "0" * 64, "", "%2e%2e"]),
                rng.choice(["0", "8388608", "-1", "1", "18446744073709551616", "", "0x0"]))
            head += "X-Loom-CRC32: %s\r\n" % rng.choice(["00000000", "", "zz", "123456789",
                                                         "%08x" % rng.getrandbits(32)])
        else:
            method, path, data = "GET", "/api/v1/loom/networks/" + rng.choice(
                ["kept", "..", "%00", "kept/info", "x" * 3000, "../kept", "kept.entity"]), b""
        length = len(data) if rng.random() < 0.9 else rng.choice([0, 1, 2 ** 62, -1, "x"])
        whole = ("%s %s HTTP/1.1\r\n%sContent-Length: %s\r\nConnection: close\r\n\r\n"
                 % (method, path, head, length)).encode() + data
        return mutate_bytes(rng, whole) if rng.random() < 0.3 else whole

    def test_frames(self):
        rng, seen = random.Random(7), {}
        for _ in range(FRAMES):
            whole = self.request(rng)
            answer = self.server.raw(whole)
            if answer:
                self.assertTrue(answer.startswith(b"HTTP/1.1 "), answer[:80])
                status = int(answer.split()[1])
                self.assertIn(status, TYPED, (whole, answer))
                if status >= 300:
                    # A mutated length makes a second request of the rest, with its answer.
                    text = answer.split(b"\r\n\r\n", 1)[1].decode()
                    error = json.JSONDecoder().raw_decode(text)[0]["error"]
                    self.assertTrue(error["code"] and error["message"], answer)
            else:
                status = 0
            seen[status] = seen.get(status, 0) + 1
        self.assertIsNone(self.server.process.poll())
        with wire.Bridge(self.server.url, self.server.token) as bridge:
            self.assertEqual(bridge.fetch("kept"), self.network.to_bytes())
        peak = self.server.memory()
        print("%d frames: %s, peak memory %.0f MB" % (FRAMES, dict(sorted(seen.items())),
                                                      peak / 1e6), file=sys.stderr)
        self.assertLess(peak, 200e6)

    def test_slow_clients_are_closed(self):
        began = time.monotonic()
        peers = [socket.create_connection(("127.0.0.1", self.server.port)) for _ in range(20)]
        for peer in peers:
            peer.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        with wire.Bridge(self.server.url, self.server.token) as bridge:
            self.assertTrue(bridge.networks())  # the others go on
        for peer in peers:
            try:
                for _ in range(40):
                    peer.sendall(b"X-A: b\r\n")
                    peer.settimeout(0.5)
                    try:
                        if not peer.recv(100):
                            break
                    except socket.timeout:
                        continue
                else:
                    self.fail("a connection without a request stays open")
            except OSError:
                pass
            peer.close()
        self.assertLess(time.monotonic() - began, 60)

    def test_deep_and_long_bodies(self):
        for body in (b"[" * 1000000, b'{"a":' * 100000, b'{"version":1,"name":"' + b"x" * 5000000,
                     b"{" + b'"version":1,' * 300000):
            status, _ = self.server.ask("POST", "/api/v1/loom/stream/begin", body)
            self.assertEqual(status, 400)
        self.assertEqual(self.server.ask("POST", "/api/v1/loom/stream/begin",
                                         b"x" * (17 << 20))[0], 413)
        huge = announced(nonce="huge")
        huge["topology"] = dense(2 ** 20, 2 ** 20)
        status, answer = self.server.ask("POST", "/api/v1/loom/stream/begin", json.dumps(huge))
        self.assertEqual(status, 400, answer)
        self.assertLess(self.server.memory(), 400e6)


class Disk(Served):
    def test_a_full_disk_leaves_the_old_network(self):
        def limits():
            resource.setrlimit(resource.RLIMIT_FSIZE, (5 << 20, 5 << 20))
        self.serve(limits=limits)
        network = Network(dense(3, 2), seed=1)
        self.push(network.topology, tensors_of(network))
        big = np.ones((2000, 2000), np.float32)
        with self.assertRaises(wire.BridgeError) as caught:
            self.push(dense(2000, 2000), [("0.0.0.0:weight", "f32", (2000, 2000), big),
                                          ("0.0.0.0:bias", "f32", (2000,), big[0])], retries=0)
        self.assertEqual((caught.exception.status, caught.exception.code), (507, "disk_full"))
        with wire.Bridge(self.server.url, self.server.token) as bridge:
            self.assertEqual(bridge.fetch("net"), network.to_bytes())
        left = list((self.folder / "models/.bridge").glob("*/data"))
        self.assertEqual(left, [])
        self.assertEqual(self.server.stop(), 128 + signal.SIGTERM)


@unittest.skipUnless(has_bridge(), "needs the program loom with its bridge (LOOM_PROGRAM)")
class Legacy(Served):
    LAYERS = {
        "dense": ([{"input_dim": 3, "output_dim": 2, "activation": "relu", "weights": 6,
                    "bias": 2}], 3),
        "cnn1": ([{"in_channels": 2, "filters": 3, "input_length": 6, "kernel_size": 3,
                   "weights": 18}], 12),
        "mha": ([{"d_model": 4, "num_heads": 2, "num_kv_heads": 2, "head_dim": 2, "seq_len": 3,
                  **{r + "_weights": 16 for r in "qkvo"}, **{r + "_bias": 4 for r in "qkvo"}}],
                12),
        "rnn": ([{"input_size": 2, "hidden_size": 3, "seq_len": 2, "weights": 18}], 4),
        "lstm": ([{"input_size": 2, "hidden_size": 3, "seq_len": 2,
                   **{g + "_weights": 18 for g in "ifgo"}}], 4),
        "layernorm": ([{"dim": 4, "weights": 8}], 4),
        "rmsnorm": ([{"dim": 4, "weights": 4}], 4),
        "embedding": ([{"vocab_size": 5, "embedding_dim": 2, "weights": 10}], None),
        "swiglu": ([{"input_dim": 2, "intermediate_dim": 3, "weights": 26}], 2),
        "residual": ([{"dim": 4}], 8),
        "mixer": ([{"kind": "dense", "input_dim": 4, "output_dim": 4, "weights": 16},
                   {"kind": "layernorm", "dim": 4, "weights": 8}, {"kind": "residual", "dim": 4},
                   {"kind": "embedding", "vocab_size": 5, "embedding_dim": 2, "weights": 10},
                   {"kind": "dense", "input_dim": 4, "output_dim": 1, "weights": 4}], 6),
    }

    def payload(self, bedrock):
        """Sizes of weights become numbers."""
        rng = np.random.default_rng(3)
        layers, width = self.LAYERS[bedrock]
        made = [{"kind": bedrock, "index": i, **{
            k: (rng.normal(size=v).astype("f4").astype(float).tolist()
                if k.endswith("weights") or k.endswith("bias") else v) for k, v in one.items()}}
            for i, one in enumerate(layers)]
        x = rng.normal(size=(2, width)) if width else np.array([[1.0], [4.0]])
        if bedrock == "mixer":
            x[:, 4:] = [[0, 1], [4, 2]]
        sizes = {"seq_len": 2} if bedrock == "mixer" else {}
        return {"bedrock": bedrock, "planet": "pytorch", "model_id": "m_" + bedrock, **sizes,
                "layers": made, "inputs": x.astype("f4").astype(float).tolist()}

    def test_routes(self):
        self.serve("--legacy")
        self.assertEqual(self.server.ask("GET", "/health", token=False)[0], 200)
        for bedrock in self.LAYERS:
            payload = self.payload(bedrock)
            status, answer = self.server.ask(
                "POST", "/api/v1/loom/stream/" + bedrock, json.dumps(payload), token=False)
            answer = json.loads(answer)
            self.assertEqual((status, answer["status"]), (200, "ok"), answer)
            self.assertEqual(answer["sample_count"], 2)
            loaded = Network.load(answer["entity_path"])
            x = np.array(payload["inputs"], np.float32)
            takes = loaded.info["input"]
            y = loaded.forward(x.astype(np.int32) if "ids" in takes else
                               x.reshape(2, *takes["dims"]) if "dims" in takes else x)
            self.assertEqual(np.asarray(y, np.float64).reshape(2, -1).tolist(), answer["outputs"])
        for stage, outputs in (("native", [[1.0]]), ("loom", [[1.000001]]), ("export", [[2.0]])):
            report = {"planet": "jax", "model_id": "m", "stage": stage, "format": "onnx",
                      "bedrock": "dense", "outputs": outputs}
            self.assertEqual(self.server.ask("POST", "/api/v1/report", json.dumps(report),
                                             token=False)[0], 200)
        rows = json.loads(self.server.ask("GET", "/api/v1/compare", token=False)[1])["rows"]
        self.assertEqual({r["stage"]: r["label"] for r in rows}, {"loom": "PASS", "export": "DIFF"})
        text = self.server.ask("GET", "/api/v1/compare.txt?bedrock=dense", token=False)[1]
        self.assertIn(b"PASS", text)
        self.assertEqual(self.server.ask("GET", "/api/v1/compare/none", token=False)[0], 404)
        self.assertIn(b"bedrocks", self.server.ask("GET", "/api/v1/loom/catalog", token=False)[1])
        self.assertEqual(self.server.ask("GET", "/api/v1/loom/networks", token=False)[0], 401)

    def test_the_program(self):
        link = self.folder / "loom-stream"
        link.symlink_to(PROGRAM)
        for bedrock in self.LAYERS:
            payload = self.payload(bedrock)
            request = {"bedrock": bedrock, "inputs": payload.pop("inputs"), "payload": payload,
                       "models_dir": str(self.folder)}
            done = subprocess.run([str(link)], input=json.dumps(request), capture_output=True,
                                  text=True, check=False)
            answer = json.loads(done.stdout)
            self.assertEqual((done.returncode, answer["status"]), (0, "ok"), answer)
            request["native_outputs"] = answer["outputs"]
            done = subprocess.run([str(PROGRAM), "stream"], input=json.dumps(request),
                                  capture_output=True, text=True, check=False)
            self.assertIs(json.loads(done.stdout)["exact_match"], True)
        done = subprocess.run([str(link)], input="{}", capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, json.loads(done.stdout)["status"]), (1, "error"))
