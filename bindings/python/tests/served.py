"""`loom bridge` as tests start it, push to it and break it."""
import http.client
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import unittest
import urllib.parse

import numpy as np

from source import ROOT
from planetbridging import wire

_LIBRARY = pathlib.Path(os.environ.get("LOOM_LIBRARY", ROOT / "build/release/libloom.so"))
PROGRAM = pathlib.Path(os.environ.get("LOOM_PROGRAM", _LIBRARY.with_name("loom")))


def has_bridge():
    if not PROGRAM.is_file():
        return False
    done = subprocess.run([str(PROGRAM), "bridge", "--host", "no address", "--models", os.devnull],
                          capture_output=True, check=False, text=True)
    return "Boost" not in done.stderr and "no command" not in done.stderr


def dense(width, out, layers=1, **more):
    cells = [{"at": [0, 0, 0, i], "type": "dense", "out": out, **more} for i in range(layers)]
    return {"format": "loom-topology", "version": 3, "layers_per_cell": layers,
            "input": {"width": width}, "cells": cells}


def tensors_of(network, dtype=np.float32, name="f32"):
    return [("%s:%s" % (p.path, p.role), name, (p.rows, p.cols),
             network.get(p.name).astype(dtype)) for p in network.parameters]


class Server:
    """`loom bridge` over a folder, which can be killed and started again on its port."""

    def __init__(self, folder, *options, limits=None):
        self.folder, self.options, self.limits = folder, options, limits
        self.port = 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [str(PROGRAM), "bridge", "--models", str(self.folder), "--port", str(self.port),
             *self.options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=self.limits)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(self.process.stderr.read())
        self.port = urllib.parse.urlsplit(self.url).port
        self.token = (pathlib.Path(self.folder) / ".bridge/token").read_text().strip()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def again(self):
        """The same port and the same token: that of the file, which a start makes anew."""
        token = pathlib.Path(self.folder) / "kept_token"
        token.write_text(self.token)
        self.kill()
        if "--token-file" not in self.options:
            self.options += ("--token-file", str(token))
        old = self.token
        self.start()
        self.token = old

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=20)
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def raw(self, data, wait=5.0):
        """What comes back for bytes on a connection, until it is closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as peer:
            try:
                peer.sendall(data)
                peer.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            got = b""
            try:
                while piece := peer.recv(65536):
                    got += piece
            except OSError:
                pass
            return got

    def ask(self, method, path, body=None, headers=None, token=True):
        peer = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        all_headers = {"Authorization": "Bearer " + self.token} if token else {}
        all_headers.update(headers or {})
        peer.request(method, path, body=body, headers=all_headers)
        response = peer.getresponse()
        data = response.read()
        peer.close()
        return response.status, data

    def memory(self):
        for line in pathlib.Path("/proc/%d/status" % self.process.pid).read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) << 10
        return 0


@unittest.skipUnless(has_bridge(), "needs the program loom with its bridge (LOOM_PROGRAM)")
class Served(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.server = None

    def serve(self, *options, **more):
        self.server = Server(self.folder / "models", *options, **more)
        self.addCleanup(lambda: self.server.process.poll() is None and self.server.kill())
        return self.server

    def push(self, topology, tensors, name="net", **options):
        return wire.push(self.server.url, self.server.token, topology, tensors, name=name,
                         **options)


def big_network():
    """33 MB in five chunks, whose parts lie across tensors."""
    topology = dense(2048, 2048, 2)
    values = np.linspace(-1, 1, 2048 * 2048, dtype=np.float32)
    tensors = []
    for i in range(2):
        tensors.append(("0.0.0.%d:bias" % i, "f32", (2048,), values[i:i + 2048] * (i + 1)))
        tensors.append(("0.0.0.%d:weight" % i, "f32", (2048, 2048), np.roll(values, i)))
    return topology, tensors
