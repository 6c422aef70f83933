"""Sinks of observed runs against receivers on this machine, and recordings that replay."""
import http.server
import io
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

from source import ROOT
import welvet
from welvet import Network, StepMesh, layers as L, sinks

CELLS, PASSES = 3, 7


def network():
    cells = [{"at": [i, 0, 0, 0], "type": "dense", "out": 5, "activation": "tanh"}
             for i in range(CELLS)]
    cells[1]["name"] = "middle"
    return welvet.Network({"format": "loom-topology", "version": 3, "depth": CELLS,
                           "input": {"width": 4}, "cells": cells}, seed=1)


def observed(sink, **options):
    """PASSES runs into sinks: the events and the outputs."""
    session = network().session(max_rows=8)
    x = np.random.default_rng(0).normal(size=(PASSES, 8, 4)).astype(np.float32)
    with session.observe(sink=sink, **options) as events:
        y = [session.run(rows) for rows in x]
    return list(events), y


class Receiver:
    """Datagrams of a port of the loopback."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.2)
        self.port = self.socket.getsockname()[1]

    def all(self):
        found = []
        try:
            while True:
                found.append(json.loads(self.socket.recv(65536)))
        except socket.timeout:
            self.socket.close()
            return found


class Server:
    """Keeps the events of POSTs, and answers with `status` after `delay` seconds."""

    def __init__(self, status=200, delay=0.0):
        self.events, self.requests = [], 0
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                server.events += json.loads(body)["events"]
                server.requests += 1
                time.sleep(delay)
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = "http://127.0.0.1:%d/in" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.server.shutdown()
        self.server.server_close()


class Sinks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_each_has_all_cells_of_all_passes(self):
        receiver, text = Receiver(), io.StringIO()
        lines = self.folder / "e.jsonl"
        with Server() as server, sinks.Udp(port=receiver.port) as udp, \
                sinks.Http(server.url, timeout=5) as post, sinks.JsonLines(lines) as file, \
                sinks.TensorBoard(self.folder / "board") as board, sinks.Console(text) as console:
            events, y = observed([udp, post, file, board, console])
            for sink in (udp, post, file, board, console):
                self.assertEqual((sink.sent, sink.failed, sink.dropped),
                                 (CELLS * PASSES, 0, 0), sink.error)
            self.assertLessEqual(server.requests, CELLS * PASSES)
            posted = server.events
        datagrams = receiver.all()
        self.assertEqual(len(datagrams), CELLS * PASSES)
        self.assertEqual(len(text.getvalue().splitlines()), CELLS * PASSES)
        recorded = list(sinks.read(lines))
        self.assertEqual(recorded, posted)
        for i, (event, message) in enumerate(zip(events, datagrams)):
            self.assertEqual(event, {key: value for key, value in recorded[i].items()
                                     if key not in ("t0_ns", "t1_ns")})
            self.assertEqual((message["v"], message["seq"], message["idx"], message["phase"]),
                             ("tanhi1", i, i % CELLS, "fwd"))
            self.assertEqual((message["z"], message["y"], message["x"], message["l"]),
                             (i % CELLS, 0, 0, 0))
            self.assertEqual((message["layer"], message["dtype"], message["shape"]),
                             ("dense", "f32", [5]))
            self.assertEqual(message["connections"], 25 if i % CELLS == 0 else 30)
            self.assertEqual(message["label"], "middle" if i % CELLS == 1 else event["path"])
            self.assertLess(message["t0_ns"], message["t1_ns"])
            self.assertEqual(message["stats"]["std"], event["std"])
        for i in range(PASSES):
            last = datagrams[CELLS * i + CELLS - 1]["stats"]
            wide = y[i].astype(np.float64)
            self.assertAlmostEqual(last["mean"], wide.mean(), delta=1e-12)
            self.assertAlmostEqual(last["std"], wide.std(), delta=1e-12)
            self.assertEqual((last["min"], last["max"], last["count"]),
                             (wide.min(), wide.max(), wide.size))

    def test_scalars_are_readable(self):
        with sinks.TensorBoard(self.folder / "board") as board:
            events, _ = observed(board)
        reader = ROOT / "tests/parity/read_events.py"
        if not reader.exists():
            self.skipTest("no " + str(reader))
        file, = (self.folder / "board").iterdir()
        told = subprocess.run([sys.executable, str(reader), str(file)], capture_output=True,
                              text=True, check=True).stdout.splitlines()
        rows = [line.split() for line in told if "/" in line]
        self.assertEqual(len(rows), 6 * CELLS * PASSES)
        first = {tag: float(value) for step, tag, value in rows if step == "0"}
        self.assertAlmostEqual(first["0.0.0.0/mean"], events[0]["mean"], places=5)

    def test_windows_and_passes_between(self):
        lines = self.folder / "e.jsonl"
        with sinks.JsonLines(lines) as file:
            events, _ = observed(file, every=2, window=3)
        recorded = list(sinks.read(lines))
        self.assertEqual([e["passes"] for e in recorded], [3] * CELLS + [1] * CELLS)
        self.assertEqual(len(events), file.sent)
        self.assertTrue(all(e["t0_ns"] <= e["t1_ns"] for e in recorded))

    def test_a_queue_drops_and_counts(self):
        with Server(delay=0.05) as server:
            with sinks.Http(server.url, timeout=5, batch=1, queue_size=2) as post:
                observed(post)
            self.assertEqual(post.sent + post.failed + post.dropped, CELLS * PASSES)
            self.assertGreater(post.dropped, 0)
            self.assertEqual(len(server.events), post.sent)

    def test_failures_are_counted(self):
        with Server(status=503) as server, sinks.Http(server.url, timeout=5) as post:
            observed(post)
            self.assertEqual((post.sent, post.failed), (0, CELLS * PASSES))
            self.assertIn("503", post.error)
        with Server(delay=0.4) as server, sinks.Http(server.url) as post:
            observed(post)
            self.assertIn("timed out", post.error)
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        with sinks.Http("http://127.0.0.1:%d/" % port) as post:
            observed(post)
        self.assertEqual(post.failed, CELLS * PASSES)

    def test_recordings_replay(self):
        lines, copy = self.folder / "e.jsonl", self.folder / "copy.jsonl"
        with sinks.JsonLines(lines) as file:
            observed(file)
        with sinks.JsonLines(copy) as file:
            self.assertEqual(sinks.replay(lines, file), CELLS * PASSES)
        self.assertEqual(copy.read_bytes(), lines.read_bytes())
        receiver = Receiver()
        with sinks.Udp(port=receiver.port) as udp:
            sinks.replay(lines, [udp], blueprint=network().blueprint())
        self.assertEqual({m["connections"] for m in receiver.all()}, {25, 30})
        events = list(sinks.read(lines))
        for i, event in enumerate(events):
            event["t1_ns"] = (i // CELLS) * 20_000_000
        with sinks.JsonLines(copy) as file:
            began = time.monotonic()
            sinks.replay(events, file, speed=2)
            self.assertGreaterEqual(time.monotonic() - began, 0.01 * (PASSES - 1))

    def test_what_is_no_recording(self):
        lines = self.folder / "e.jsonl"
        with sinks.JsonLines(lines) as file:
            observed(file)
        first = json.loads(lines.read_text().splitlines()[0])
        for key, value in (("pass", -1), ("pass", True), ("mean", "x"), ("at", [0, 0]), ("path", 3),
                           ("enabled", None), ("first_bad", 1), ("t0_ns", 0.5), ("count", None),
                           ("active_share", None)):
            lines.write_text(json.dumps(first) + "\n" + json.dumps({**first, key: value}) + "\n")
            with self.assertRaisesRegex(ValueError, "e.jsonl: line 2: %s: expects" % key):
                list(sinks.read(lines))
        for text in ("", "{", "[]", "1"):
            lines.write_text(text + "\n")
            with self.assertRaisesRegex(ValueError, "line 1"):
                list(sinks.read(lines))
        lines.write_text("")
        self.assertEqual(list(sinks.read(lines)), [])
        with self.assertRaises(ValueError):
            sinks.replay([], [], speed=-1)

    def test_what_is_refused(self):
        for make in (lambda: sinks.Udp(port=0), lambda: sinks.Udp(queue_size=0),
                     lambda: sinks.Http("localhost"), lambda: sinks.Http("ftp://a/"),
                     lambda: sinks.Http("http://a/", timeout=0),
                     lambda: sinks.Http("http://a/", batch=True)):
            self.assertRaises(ValueError, make)
        with self.assertRaises(OSError):
            sinks.Udp("no.such.host.invalid")
        with self.assertRaises(TypeError):
            observed([print])
        closed = sinks.JsonLines(self.folder / "e.jsonl")
        closed.close()
        closed.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            observed(closed)

    def test_a_sink_of_the_host(self):
        class Means(sinks.Sink):
            def begin(self, blueprint):
                self.layers = blueprint["models"][0]["total_layers"]
                self.means = []

            def add(self, event):
                self.means.append(event["mean"])

        means = Means()
        events, _ = observed(means)
        self.assertEqual(means.layers, CELLS)
        self.assertEqual(means.means, [event["mean"] for event in events])

    def test_a_sink_that_fails_ends_with_its_block(self):
        class Fails(sinks.Sink):
            def add(self, event):
                raise KeyError("mine")

        session = network().session(max_rows=8)
        x = np.zeros((2, 4), np.float32)
        with self.assertRaises(KeyError):
            with session.observe(sink=Fails()):
                session.run(x)
        session.run(x)
        with self.assertRaises(KeyError):
            with session.observe(window=5, sink=Fails()):
                session.run(x)
        session.run(x)
        with session.observe() as events:
            session.run(x)
        self.assertEqual(len(events), CELLS)

    def test_no_socket_unless_asked(self):
        code = ("import socket, sys\n"
                "sys.addaudithook(lambda name, args: sys.exit('opened') "
                "if name.startswith('socket.') else None)\n"
                "import numpy as np, welvet\n"
                "from welvet import layers, sinks\n"
                "n = welvet.Network(layers.Sequential(layers.Input(4), layers.Linear(3)))\n"
                "s = n.session()\n"
                "with s.observe(sink=sinks.JsonLines(%r)): s.run(np.ones((2, 4), np.float32))\n"
                % os.fspath(self.folder / "e.jsonl"))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))



class OthersThanSessions(unittest.TestCase):
    def test_trainers_and_meshes_send_and_replay(self):
        network = Network(L.Sequential(L.Input(4), L.Linear(3, activation="tanh"), L.Linear(2)),
                          seed=1)
        x = np.random.default_rng(0).normal(size=(32, 4)).astype(np.float32)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "events.jsonl")
            trainer = network.trainer(x, x[:, :2], steps=4, batch_size=8)
            with sinks.JsonLines(path) as lines, trainer.observe(weights=True, sink=lines) as seen:
                trainer.run()
            mesh = StepMesh(Network({"format": "loom-topology", "version": 3, "depth": 3,
                                     "step_mesh": True, "input": {"width": 1}, "cells": []}))
            ticks = os.path.join(folder, "ticks.jsonl")
            with sinks.JsonLines(ticks) as lines, mesh.observe(sink=lines):
                mesh.run(np.ones((5, 1), np.float32))
            self.assertEqual(len(list(sinks.read(ticks))), 3 * 5)
            again = list(sinks.read(path))
            # Two cells forward and backward, and four parameters, in four steps.
            self.assertEqual((len(again), len(seen)), (32, 32))
            for one, two in zip(again, seen):
                self.assertEqual({k: one[k] for k in two}, two)
                self.assertGreaterEqual(one["t1_ns"], one["t0_ns"])
            with sinks.TensorBoard(folder) as board:
                self.assertEqual(sinks.replay(path, board), 32)
            content = b"".join(p.read_bytes() for p in pathlib.Path(folder).glob("events.out*"))
            for tag in (b"0.0.0.1/mean", b"0.0.0.1/backward/mean", b"0.0.0.0:bias/weights/std"):
                self.assertIn(tag, content)
        with self.assertRaisesRegex(TypeError, "sink: expects a welvet.sinks.Sink, got int"):
            network.trainer(x, x[:, :2], steps=4).observe(sink=[3])
