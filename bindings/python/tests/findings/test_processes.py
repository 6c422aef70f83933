"""Copies, pickles and forked processes: findings A4 and G13."""
import copy
import gc
import multiprocessing
import os
import pickle
import threading
import unittest

import numpy as np

from source import ROOT
import welvet
from welvet import Data, Network, Session, Trainer, Transformer

TINY = ROOT / "tests/cases/data/tiny.entity"
SMALL = {"format": "loom-topology", "version": 1, "layers_per_cell": 2, "input": {"width": 3},
         "cells": [
    {"at": [0, 0, 0, 0], "type": "dense", "out": 8, "activation": "tanh"},
    {"at": [0, 0, 0, 1], "type": "dense", "out": 2}]}
X = np.array([[1, 2, 3], [0, -1, 0.5], [2, 2, -2], [0.25, 0, 1]], np.float32)
Y = np.array([[1, 0], [0, 1], [1, 1], [0.5, 0]], np.float32)
SPEC = {"steps": 100, "batch": 4, "loss": "mse"}
WAYS = {"pickle": lambda o: pickle.loads(pickle.dumps(o)), "copy": copy.copy,
        "deepcopy": copy.deepcopy}


class Copies(unittest.TestCase):
    """A4: raw handle numbers went into pickles, and copies shared them."""

    def test_A4_what_has_no_bytes_is_refused_by_its_class(self):
        network = Network(SMALL, seed=1)
        data = Data.values(X, Y)
        model = Transformer(TINY)
        objects = [Session(network, threads=1), data, Trainer(network, data, SPEC, threads=1),
                   model.tokenizer,
                   model.tokenizer.decoder(), welvet.from_onnx(ROOT / "tests/cases/data/tiny.onnx"),
                   model._generator()]
        for o in objects:
            for name, way in WAYS.items():
                with self.subTest(type(o).__name__, way=name):
                    with self.assertRaisesRegex(TypeError,
                                                "welvet.%s" % type(o).__name__.lstrip("_")):
                        way(o)

    def test_A4_a_transformer_is_copied_by_bytes(self):
        model = Transformer(TINY, context=64, threads=1)
        want = model.generate("Once upon", max_tokens=5, seed=3)
        for name, way in WAYS.items():
            with self.subTest(way=name):
                other = way(model)
                self.assertNotEqual(other._handle, model._handle)
                self.assertEqual(other._options, model._options)
                self.assertEqual(other.generate("Once upon", max_tokens=5, seed=3).fingerprint,
                                 want.fingerprint)
                # What happens to one does not happen to the other.
                with other.network as network:
                    network.initialize(7)
                self.assertEqual(model.generate("Once upon", max_tokens=5, seed=3).fingerprint,
                                 want.fingerprint)
                other.close()
                self.assertEqual(model.generate("Once upon", max_tokens=5, seed=3).fingerprint,
                                 want.fingerprint)

    def test_A4_a_network_is_copied_by_bytes(self):
        network = Network(SMALL, seed=1)
        before = network.digest()
        for name, way in WAYS.items():
            with self.subTest(way=name):
                other = way(network)
                self.assertEqual(other.digest(), before)
                other.initialize(9)
                del other
                gc.collect()
                self.assertEqual(network.digest(), before)


def _work(job):
    """In a child: with what the parent made and used."""
    kind, value = job
    if kind == "forward":
        return _parents["network"].forward(X).tolist()
    if kind == "session":
        return _parents["session"].run(X).tolist()
    if kind == "train":
        return _parents["trainer"].step(value).step
    if kind == "generate":
        return _parents["model"].generate("Once upon", max_tokens=4, seed=value).fingerprint
    made = Network(SMALL, seed=value)
    made.train(X, Y, steps=3, batch_size=4, threads=2)
    return made.digest()


_parents = {}


@unittest.skipUnless(hasattr(os, "fork"), "this system has no fork")
class Forks(unittest.TestCase):
    """G13: a child of fork() hung in whatever its parent had used."""

    def setUp(self):
        network = Network(SMALL, seed=1)
        trained = Network(SMALL, seed=2)
        _parents.update(network=network, session=Session(network, threads=3),
                        trainer=Trainer(trained, Data.values(X, Y), SPEC, threads=3),
                        model=Transformer(TINY, threads=2))
        self.want = {kind: _work((kind, 1))
                     for kind in ("forward", "session", "train", "generate", "own")}

    def tearDown(self):
        _parents.clear()

    def test_G13_multiprocessing_with_fork_works(self):
        jobs = [(kind, 1) for kind in self.want for _ in range(3)]
        with multiprocessing.get_context("fork").Pool(2) as pool:
            got = pool.map_async(_work, jobs, chunksize=1).get(timeout=60)
        for (kind, _), answer in zip(jobs, got):
            if kind == "train":
                # each child goes on from the parent's step
                self.assertGreater(answer, self.want[kind])
            else:
                self.assertEqual(answer, self.want[kind], kind)
        # Nothing of it is the parent's.
        self.assertEqual(_parents["trainer"].done, 1)
        self.assertEqual(_work(("session", 1)), self.want["session"])

    def test_G13_a_fork_while_a_thread_is_inside_never_hangs(self):
        stop = threading.Event()

        def train():
            network = Network(SMALL, seed=3)
            _parents["busy"] = network
            trainer = Trainer(network, Data.values(X, Y), {**SPEC, "steps": 10**9}, threads=2)
            while not stop.is_set():
                trainer.step(50)

        thread = threading.Thread(target=train)
        thread.start()
        try:
            context = multiprocessing.get_context("fork")
            for _ in range(5):
                queue = context.SimpleQueue()
                child = context.Process(target=_in_child, args=(queue,))
                child.start()
                child.join(timeout=30)
                self.assertIsNotNone(child.exitcode, "the child hangs")
                self.assertEqual(child.exitcode, 0)
                busy, own = queue.get()
                self.assertIn(busy, ("fine", "Busy"))
                self.assertEqual(own, self.want["own"])
        finally:
            stop.set()
            thread.join()


def _in_child(queue):
    try:
        if "busy" in _parents:
            _parents["busy"].digest()
        busy = "fine"
    except welvet.LoomError as e:
        busy = type(e).__name__
    queue.put((busy, _work(("own", 1))))
