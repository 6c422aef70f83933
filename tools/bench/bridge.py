#!/usr/bin/env python3
"""tools/bench/bridge.py [--bytes N] [--rounds N]: the speed of a push to `loom bridge`, beside a
bare sender and receiver that write and fsync the same bytes.

Both receive on loopback and write into one folder. The bare pair sends in pieces of 1 MiB, without
checksums; the push has a CRC for each chunk, SHA-256 of each tensor, and makes a network. Before
each round the disk is synced. Prints
seconds of each round, and the share of the medians. Needs build/release/loom.
"""
import argparse
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings/python"))

from planetbridging import wire  # noqa: E402

RECEIVER = """
import os, socket, sys
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
peer, _ = listener.accept()
piece = bytearray(1 << 20)
with open(sys.argv[1], "wb", buffering=0) as out:
    while n := peer.recv_into(piece):
        out.write(memoryview(piece)[:n])
    os.fsync(out.fileno())
peer.sendall(b"k")
"""


def bare(data, path):
    receiver = subprocess.Popen([sys.executable, "-c", RECEIVER, str(path)],
                                stdout=subprocess.PIPE, text=True)
    port = int(receiver.stdout.readline())
    began = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port)) as peer:
        for at in range(0, len(data), 1 << 20):
            peer.sendall(data[at:at + (1 << 20)])
        peer.shutdown(socket.SHUT_WR)
        assert peer.recv(1) == b"k"
    took = time.perf_counter() - began
    receiver.wait()
    path.unlink()
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=10 ** 9)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    side = int((args.bytes / 4) ** 0.5)
    topology = {"format": "loom-topology", "version": 3, "input": {"width": side},
                "cells": [{"at": [0, 0, 0, 0], "type": "dense", "out": side, "bias": False}]}
    data = memoryview(bytearray(os.urandom(1 << 20)) * (side * side * 4 // (1 << 20) + 1))
    data = data[:side * side * 4]
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        folder = pathlib.Path(folder)
        server = subprocess.Popen([str(ROOT / "build/release/loom"), "bridge", "--port", "0",
                                   "--models", str(folder)], stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.DEVNULL)
        try:
            url = server.stdout.readline().strip()
            token = (folder / ".bridge/token").read_text()
            times = {"bare": [], "push": []}
            for i in range(args.rounds):
                os.sync()
                times["bare"].append(bare(data, folder / "bare"))
                os.sync()
                began = time.perf_counter()
                wire.push(url, token, topology,
                          [("0.0.0.0:weight", "f32", (side, side), data)], name="net")
                times["push"].append(time.perf_counter() - began)
                print("round %d: bare %.2f s, push %.2f s" % (
                    i + 1, times["bare"][-1], times["push"][-1]), flush=True)
        finally:
            server.terminate()
            server.wait()
    medians = {name: statistics.median(all_) for name, all_ in times.items()}
    print("%d bytes: bare %.0f MB/s, push %.0f MB/s, %.0f %% of it" % (
        len(data), len(data) / medians["bare"] / 1e6, len(data) / medians["push"] / 1e6,
        100 * medians["bare"] / medians["push"]))


if __name__ == "__main__":
    main()
