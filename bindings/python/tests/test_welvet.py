"""What the Python binding promises beyond the cases that all hosts run. Debian's python3 with numpy
suffices."""
import copy
import gc
import hashlib
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import numpy as np

from source import ROOT
sys.path.insert(0, str(ROOT / "tests/cases"))

import welvet
from welvet import Data, Network, Session, Tokenizer, Trainer, Transformer

TINY = ROOT / "tests/cases/data/tiny.entity"
SMALL = {"format": "loom-topology", "version": 1, "layers_per_cell": 2, "input": {"width": 3},
         "cells": [
    {"at": [0, 0, 0, 0], "type": "dense", "out": 8, "activation": "tanh"},
    {"at": [0, 0, 0, 1], "type": "dense", "out": 2}]}


def run_python(code, **environment):
    """A Python of its own with the package; its output."""
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)],
                          env={**os.environ, "PYTHONPATH": path, **environment},
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Graphs(unittest.TestCase):
    """ONNX graphs: welvet.from_onnx."""

    def test_runs_on_arrays_and_becomes_a_network(self):
        path = ROOT / "tests/cases/data/tiny.onnx"
        x = np.array([[1, 2, 3], [-1, 0, 1]], np.float32)
        want = np.maximum(x @ np.array([[1, -1], [0.5, 2], [0, 1]], np.float32)
                          + np.array([0.25, -1], np.float32), 0)
        for source in (path, str(path), path.read_bytes()):
            with welvet.from_onnx(source) as graph:
                got = graph.run({"x": x})
                self.assertEqual(list(got), ["y"])
                self.assertEqual(got["y"].dtype, np.float32)
                np.testing.assert_array_equal(got["y"], want)
                self.assertEqual(graph.info["nodes"], {"Gemm": 1, "Relu": 1})
        network, ports = graph_of(path)
        np.testing.assert_array_equal(Session(network).run(x), want)
        self.assertEqual(ports["outputs"][0]["dims"], [1, 2])

    def test_a_gpt2_with_past_and_present_gives_its_publishers_tokens(self):
        folder = ROOT / "../shared/data/models/tiny_random_gpt2"
        if not folder.is_dir():
            self.skipTest(
                "test material is absent: models/tiny_random_gpt2 (expected in ../shared/data)")
        golden = json.loads((folder / "golden.json").read_text())
        with welvet.from_onnx(folder / "past.onnx") as graph:
            text = np.array(golden["input_ids"], np.int32)
            past = [np.zeros((2, len(text), 4, 0, 8), np.float32)] * 5
            new = text
            while text.shape[1] < golden["max_length"]:
                seen = past[0].shape[3]
                ids = {"input_ids": new,
                       "position_ids": np.tile(np.arange(seen, seen + new.shape[1], dtype=np.int32),
                                               (len(text), 1)),
                                                 "attention_mask": np.ones_like(text)}
                out = graph.run({**ids, **{"past_%d" % i: p for i, p in enumerate(past)}})
                past = [out["present_%d" % i] for i in range(5)]
                new = out["logits"][:, -1].argmax(1).astype(np.int32)[:, None]
                text = np.concatenate([text, new], 1)
        self.assertEqual(text.tolist(), golden["expected_greedy"])

    def test_networks_that_pytorch_exported_give_its_outputs(self):
        files = sorted((ROOT / "tests/golden/onnx").glob("*.onnx"))
        self.assertEqual(len(files), 8)
        for path in files:
            with self.subTest(path.stem), welvet.from_onnx(path) as graph:
                for run in json.loads(path.with_suffix(".json").read_text())["runs"]:
                    x, y = (np.array(run[k]["values"],
                                     run[k]["type"].replace("float", "float32")).reshape(
                                     run[k]["dims"]) for k in "xy")
                    np.testing.assert_allclose(graph.run({"x": x})["y"], y, rtol=1e-5, atol=1e-5)

    def test_an_open_dimension_is_fixed_or_has_a_maximum(self):
        case = json.loads((ROOT / "tests/golden/onnx/opened.json").read_text())["cases"][0]
        with welvet.from_onnx(bytes.fromhex(case["model"])) as graph:
            with self.assertRaisesRegex(ValueError, "'seq' is open: .*--dim 'seq=128'"):
                graph.network()
            with self.assertRaisesRegex(ValueError, "no open dimension 'q': open are batch, seq"):
                graph.network({"q": 3})
            opened, ports = graph.network(max={"seq": case["max"]})
            self.assertEqual(ports["inputs"][-1]["name"], "lengths")
            self.assertIn("'batch' is the batch", ports["report"][0])
            for run in case["runs"]:
                dims = run["x"]["dims"]
                x = np.array(run["x"]["values"], run["x"]["type"].replace("float", "float32")
                             ).reshape(dims)
                want = graph.run({"x": x})["y"]
                np.testing.assert_allclose(want.ravel(), run["y"]["values"], rtol=1e-5, atol=1e-5)
                fixed, at = graph.network({"seq": dims[1]})
                self.assertEqual(at["inputs"][0]["dims"], dims)
                np.testing.assert_allclose(fixed(x.reshape(1, -1).astype(np.float32)).ravel(),
                                           want.ravel(), rtol=1e-6, atol=1e-6)
                row = np.zeros(ports["inputs"][0]["dims"], np.float32)
                row[:, :dims[1]] = x
                y = opened(np.append(row.ravel(), np.float32(dims[1]))[None])
                y = y.reshape(ports["outputs"][0]["dims"])
                np.testing.assert_allclose(y[tuple(map(slice, want.shape))], want, rtol=1e-5,
                                           atol=1e-5)

    def test_errors_say_what(self):
        graph = welvet.from_onnx(ROOT / "tests/cases/data/tiny.onnx")
        with self.assertRaisesRegex(ValueError, "no input 'q'"):
            graph.run({"q": np.zeros(3)})
        with self.assertRaisesRegex(ValueError, "'x'"):
            graph.run({"x": np.zeros((2, 4))})
        with self.assertRaises(welvet.LoomError):
            welvet.from_onnx(b"what is this")


def graph_of(path):
    with welvet.from_onnx(path) as graph:
        return graph.network()


class Calls(unittest.TestCase):
    def test_errors_are_what_they_resemble(self):
        with self.assertRaises(FileNotFoundError) as caught:
            Network.load("/no/such/file.entity")
        self.assertIsInstance(caught.exception, welvet.NotFound)
        self.assertEqual(caught.exception.code, "not_found")
        self.assertIn("file.entity", str(caught.exception))
        with self.assertRaises(ValueError):
            Network({"format": "loom-topology", "version": 1, "cells": 7})
        with self.assertRaises(IndexError):
            Network(SMALL).cell((0, 0, 0, 9))
        with self.assertRaises(MemoryError):
            from welvet._core.call import call
            call("bytes_create", 2**62)
        for name in welvet._core.raw.CODES:
            if name != "ok":
                self.assertTrue(
                    issubclass(welvet._core.errors.BY_CODE[welvet._core.raw.CODES[name]],
                               welvet.LoomError))

    def test_objects_close_once_and_say_so(self):
        before = welvet.live_handles()
        with Network(SMALL) as network:
            self.assertIn("3 -> 2", repr(network))
        network.close()
        self.assertTrue(network.closed)
        self.assertIn("closed", repr(network))
        with self.assertRaises(welvet.InvalidHandle):
            network.digest()
        del network
        Network(SMALL).forward(np.zeros((4, 3)))  # with a session
        gc.collect()
        self.assertEqual(welvet.live_handles(), before)

    def test_modes_give_the_same_bits(self):
        x, y = np.linspace(-1, 1, 24, dtype=np.float32).reshape(8, 3), np.zeros((8, 2), np.float32)
        digests, answers = set(), set()
        for mode in ("cpu-normal", "cpu-sc", "cpu-mc", "auto"):
            network = Network(SMALL, seed=1)
            network.train(x, y, epochs=2, batch_size=4, mode=mode)
            digests.add(network.digest())
            answers.add(Session(network, mode=mode).run(x).tobytes())
        self.assertEqual((len(digests), len(answers)), (1, 1))
        with self.assertRaisesRegex(welvet.InvalidArgument, "there is no 'turbo'"):
            Session(Network(SMALL), mode="turbo")

    def test_many_cycles_leave_nothing(self):
        def resident():
            with open("/proc/self/statm") as f:
                return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        def cycles(n):
            for _ in range(n):
                network = Network(SMALL)
                session = Session(network, threads=1, max_rows=2)
                session.run(np.zeros((1, 3), np.float32))

        cycles(500)
        gc.collect()
        handles, before = welvet.live_handles(), resident()
        cycles(10000)
        gc.collect()
        self.assertEqual(welvet.live_handles(), handles)
        self.assertLess(resident() - before, 1 << 20)

    def test_the_whole_interface_is_bound(self):
        api = json.loads((ROOT / "api/loom.json").read_text())
        # What takes functions is called by hand (custom.py, networks/test_custom.py) or is for
        # hosts in C; structs are C's alone.
        functions = {f["name"] for g in api["groups"] for f in g["functions"]
                     if all(kind not in ("layer", "image_decoder", "source", "function")
                            and not kind.startswith("options ")
                            for _, kind, _ in f.get("params", []))}
        self.assertEqual(set(welvet._core.raw.FUNCTIONS), functions)


class Arrays(unittest.TestCase):
    def setUp(self):
        self.network = Network(SMALL, seed=3)
        self.x = np.random.RandomState(0).rand(700, 3).astype(np.float32)

    def reference(self, x):
        get = lambda name: self.network.get(name, np.float64)  # noqa: E731
        h = np.tanh(x @ get("0.0.0.0:weight").T + get("0.0.0.0:bias"))
        return h @ get("0.0.0.1:weight").T + get("0.0.0.1:bias")

    def test_forward_is_what_numpy_computes(self):
        y = self.network.forward(self.x)
        self.assertEqual((y.shape, y.dtype), ((700, 2), np.float32))
        np.testing.assert_allclose(y, self.reference(self.x), atol=1e-6)
        np.testing.assert_array_equal(self.network(self.x[5]), y[5])
        np.testing.assert_array_equal(
            self.network.forward(self.x.reshape(7, 100, 3)).reshape(700, 2), y)
        np.testing.assert_array_equal(
            self.network.forward(self.x.astype(np.float64)[:, ::-1][:, ::-1]), y)
        self.assertEqual(self.network.forward(np.zeros((0, 3))).shape, (0, 2))

    def test_many_rows_and_few_have_the_same_bits(self):
        many = np.random.RandomState(1).rand(9001, 3).astype(np.float32)
        parts = [self.network.forward(many[i:i + 100]) for i in range(0, len(many), 100)]
        for _ in range(2):  # the second time in the session that runs 4,096 rows
            np.testing.assert_array_equal(self.network.forward(many), np.concatenate(parts))
        np.testing.assert_array_equal(self.network.forward(many[:7]), parts[0][:7])
        # with the threads of the session before, as an actor of Ray asks for them
        network = self.network.copy()
        network._sessions.put(network._session(max_rows=256, threads=1))
        network.forward(many)
        session = network._sessions.take()
        self.assertEqual((session._rows, session.info["threads"]), (4096, 1))

    def test_results_go_where_they_are_wanted(self):
        y = self.network.forward(self.x)
        out = np.empty_like(y)
        self.assertIs(self.network.forward(self.x, out=out), out)
        np.testing.assert_array_equal(out, y)
        raw = bytearray(y.nbytes)
        self.network.forward(self.x, out=memoryview(raw).cast("f", y.shape))
        self.assertEqual(bytes(raw), y.tobytes())
        for wrong in (np.empty((700, 2)), np.empty((2, 700), np.float32).T):
            with self.assertRaises(TypeError):
                self.network.forward(self.x, out=wrong)
        with self.assertRaises(ValueError):
            self.network.forward(self.x, out=np.empty((699, 2), np.float32))
        with self.assertRaises(ValueError):
            self.network.forward(np.zeros((2, 4)))

    def test_dlpack_objects_are_not_copied(self):
        class Foreign:
            """Has what PyTorch, JAX and CuPy arrays have, and nothing else."""

            def __init__(self, a):
                self.a = a

            def __dlpack__(self, **settings):
                return self.a.__dlpack__(**settings)

            def __dlpack_device__(self):
                return self.a.__dlpack_device__()

        from welvet._core.call import array
        self.assertEqual(array(Foreign(self.x), np.float32).ctypes.data, self.x.ctypes.data)
        self.assertEqual(array(self.x, np.float32).ctypes.data, self.x.ctypes.data)
        out = np.empty((700, 2), np.float32)
        self.network.forward(Foreign(self.x), out=Foreign(out))
        np.testing.assert_array_equal(out, self.network.forward(self.x))

    def test_parameters_come_and_go(self):
        weight = self.network.get("0.0.0.1:weight")
        self.assertEqual(weight.shape, (2, 8))
        self.network.set("0.0.0.1:weight", weight * 2)
        np.testing.assert_array_equal(self.network.get("0.0.0.1:weight"), weight * 2)
        self.assertEqual([p.name for p in self.network.parameters],
                         ["0.0.0.0:weight", "0.0.0.0:bias", "0.0.0.1:weight", "0.0.0.1:bias"])
        with self.assertRaises(LookupError):
            self.network.get("0.0.0.1:wait")


class Networks(unittest.TestCase):
    def test_copies_files_and_pickles_are_equal(self):
        network = Network(SMALL, seed=5)
        digest = network.digest()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "n.entity"
            network.save(path)
            self.assertEqual(Network(path).digest(), digest)
            self.assertEqual(Network.load(path).digest(), digest)
            (pathlib.Path(folder) / "n.json").write_text(json.dumps(SMALL))
            self.assertEqual(Network(pathlib.Path(folder) / "n.json", seed=5).digest(), digest)
        self.assertEqual(Network.from_bytes(network.to_bytes()).digest(), digest)
        self.assertEqual(pickle.loads(pickle.dumps(network)).digest(), digest)
        self.assertEqual(copy.copy(network).digest(), digest)
        self.assertEqual(network.copy().digest(), digest)
        self.assertEqual(Network(network.topology, seed=5).digest(), digest)

    def test_morphing_back_loses_nothing(self):
        network = Network(SMALL, seed=5)
        x = np.ones(3, np.float32)
        y, digest = network.forward(x), network.digest()
        network.morph("i8", (0, 0, 0, 0))
        self.assertEqual(network.cell("0.0.0.0")["dtype"], "i8")
        network.morph("bf16")
        self.assertFalse(np.array_equal(network.forward(x), y))
        network.morph("f32")
        np.testing.assert_array_equal(network.forward(x), y)
        self.assertEqual(network.digest(), digest)
        network.enable("0.0.0.1", False)
        self.assertEqual(network.forward(x).shape, (8,))
        network.enable("0.0.0.1")
        network.set_cell("0.0.0.1", {"type": "dense", "out": 5})
        self.assertEqual(network.forward(x).shape, (5,))

    def test_token_networks_run_in_pieces(self):
        with Transformer(TINY) as model:
            ids = [273, 267, 315] * 30
            whole = model.network.forward_tokens(ids)
            self.assertEqual(whole.shape, (90, 320))
            np.testing.assert_array_equal(whole[-1], model.logits(ids))
            np.testing.assert_array_equal(model.network.forward_tokens(ids, last=True), whole[-1])
            np.testing.assert_array_equal(model.network.forward(ids[:10]), whole[:10])

    def test_threads_share_a_network(self):
        network = Network(SMALL, seed=1)
        x = np.random.RandomState(1).rand(64, 3).astype(np.float32)
        expected, wrong = network.forward(x), []

        def work():
            for _ in range(50):
                if not np.array_equal(network.forward(x), expected):
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(8)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        self.assertEqual(wrong, [])

    @unittest.skipUnless(hasattr(os, "fork"), "this system has no fork")
    def test_forked_processes_go_on(self):
        code = """
            import os, numpy as np, welvet
            n = welvet.Network(%r, seed=1)
            y = n.forward(np.ones((2, 3)))
            child = os.fork()
            if child == 0:
                ok = np.array_equal(n.forward(np.ones((2, 3))), y)
                n.close()
                os._exit(0 if ok else 1)
            print(os.waitpid(child, 0)[1])
        """ % (SMALL,)
        self.assertEqual(run_python(code).strip(), "0")


class Training(unittest.TestCase):
    x = [[0, 0], [0, 1], [1, 0], [1, 1]]
    spec = {"format": "loom-topology", "version": 1, "layers_per_cell": 2, "input": {"width": 2},
            "cells": [
        {"at": [0, 0, 0, 0], "type": "dense", "out": 8, "activation": "tanh"},
        {"at": [0, 0, 0, 1], "type": "dense", "out": 1}]}

    def test_learns_xor(self):
        network = Network(self.spec, seed=1)
        seen = []
        history = network.train(self.x, [0.0, 1, 1, 0], steps=600, threads=1, lr=0.02,
                                callbacks=[lambda p: seen.append(p.step)])
        self.assertEqual((history.steps[-1], history.stopped), (600, False))
        self.assertLess(history.losses[-1], 0.01)
        self.assertEqual(seen, list(range(1, 601)))
        np.testing.assert_allclose(network.forward(self.x)[:, 0], [0, 1, 1, 0], atol=0.2)

    def test_bits_do_not_depend_on_how_it_is_run(self):
        digests = set()
        for way in range(3):
            network = Network(self.spec, seed=1)
            data = Data.values(self.x, [[0], [1], [1], [0]])
            spec = {"loss": "mse", "steps": 40, "batch": 3}
            with Trainer(network, data, spec, threads=1 + way % 2) as trainer:
                if way == 0:
                    trainer.run()
                elif way == 1:
                    trainer.step(40)
                else:
                    trainer.run(lambda s: s.step < 10)
                    checkpoint = trainer.to_bytes()
                    fresh = Network(self.spec, seed=9)
                    trainer = Trainer(fresh, data, spec)
                    trainer.resume(checkpoint)
                    trainer.run()
                self.assertEqual(trainer.done, 40)
                digests.add(trainer.digest())
        self.assertEqual(len(digests), 1)

    def test_one_thread_at_a_time(self):
        network = Network(self.spec)
        network.set_cell("0.0.0.0", {"type": "dense", "out": 256})
        data = Data.values(self.x, [[0], [1], [1], [0]])
        with Trainer(network, data, {"steps": 10**6, "batch": 4}) as trainer:
            busy = threading.Event()

            def work():
                while not busy.is_set():
                    try:
                        trainer.step(5)
                    except welvet.Busy:
                        busy.set()

            threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
            [t.start() for t in threads]
            self.assertTrue(busy.wait(60))
            [t.join() for t in threads]

    def test_classes_tokens_and_tables(self):
        network = Network(self.spec)
        network.set_cell("0.0.0.1", {"type": "dense", "out": 2})
        self.assertLess(network.train(self.x, [0, 1, 1, 0], epochs=300, threads=1,
                                      lr=0.02)["loss"][-1], 0.3)
        self.assertEqual(Data.tokens([[1, 2, 3], [4, 5]], length=8).info["samples"], 2)
        self.assertEqual(Data.table("a,b\n1,2\n", targets=["b"]).info["width"], 1)
        with self.assertRaises(TypeError):
            network.train(self.x)
        with self.assertRaises(welvet.InvalidArgument):
            network.train(self.x, [0, 1, 1, 0], los="mse")


class Texts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = Transformer(TINY, threads=1)

    def test_stream_equals_generate(self):
        for settings in ({}, {"temperature": 0}, {"seed": 5, "top_k": 3, "stop": "e"},
                         {"max_tokens": 3}, {"seed": 2**64 - 1}):
            settings.setdefault("max_tokens", 60)
            text = self.model.generate("Once upon a time", **settings)
            pieces = list(self.model.generate_stream("Once upon a time", **settings))
            self.assertEqual("".join(pieces), text)
            self.assertEqual([p.id for p in pieces], text.tokens)
            self.assertEqual(pieces[-1].finish, text.finish)
            self.assertEqual(self.model.generate(self.model.tokenize("Once upon a time"),
                                                 **settings).fingerprint, text.fingerprint)
        self.assertIsInstance(text, str)
        self.assertEqual(text.text, text)
        self.assertEqual(self.model.generate("Once", temperature=0).info["decode_tokens"],
                         len(self.model.generate("Once", temperature=0).tokens))

    def test_streams_do_not_disturb_each_other(self):
        expected = self.model.generate("Once", max_tokens=30, seed=1)
        a, b = (self.model.generate_stream("Once", max_tokens=30, seed=1) for _ in range(2))
        both = [(p, q) for p, q in zip(a, b)]
        self.assertEqual("".join(p for p, _ in both), expected)
        self.assertEqual("".join(q for _, q in both), expected)
        for piece in self.model.generate_stream("Once", max_tokens=30, seed=1):
            break  # given up
        self.assertEqual(self.model.generate("Once", max_tokens=30, seed=1), expected)
        results = []
        threads = [
            threading.Thread(
                target=lambda: results.append(self.model.generate("Once", max_tokens=30, seed=1)))
                  for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        self.assertEqual(results, [expected] * 4)

    def test_fingerprints_are_those_of_the_cases(self):
        """The values that C, C++ and JavaScript give, too."""
        cases = json.loads((ROOT / "tests/cases/model.json").read_text())["cases"]
        case = next(c for c in cases if c["name"].startswith("logits and greedy"))
        expected = [s["expect"]["sha256"] for s in case["steps"]
                    if s.get("call") == "generator_fingerprint"]
        self.assertEqual(self.model.generate([273, 267, 315], max_tokens=3,
                                             temperature=0).fingerprint, expected[1])
        digest = next(s["expect"]["logits"]["sha256"] for s in case["steps"]
                      if s.get("call") == "generator_logits" and "expect" in s)
        self.assertEqual(hashlib.sha256(self.model.logits([273, 267, 315]).tobytes()).hexdigest(),
                         digest)

    def test_context_and_arguments(self):
        with Transformer(TINY, context=8) as model:
            self.assertEqual(len(model.generate([1, 2, 3], temperature=0, ignore_eos=True).tokens),
                             6)
            with self.assertRaises(IndexError):
                model.generate([1] * 9)
            full = model.generate([1, 2, 3], max_tokens=7, temperature=0, ignore_eos=True)
            self.assertEqual((len(full.tokens), full.finish), (6, "length"))
            with self.assertRaises(ValueError):
                model.generate("x", temperature=-1)
            with self.assertRaises(ValueError):
                model.generate("x", max_tokens=0)

    def test_conversations(self):
        messages = [{"role": "system", "content": "Weave."}, {"role": "user", "content": "hello"}]
        answer = self.model.chat(messages, max_tokens=10, seed=3)
        self.assertEqual("".join(self.model.chat_stream(messages, max_tokens=10, seed=3)), answer)
        again = self.model.chat(
            messages + [{"role": "assistant", "content": "x"}, {"role": "user", "content": "more"}],
            max_tokens=2)
        self.assertGreater(again.info["reused_tokens"], 20)
        self.assertEqual(self.model.chat("hello", max_tokens=3, temperature=0),
                         self.model.chat([{"role": "user", "content": "hello"}], max_tokens=3,
                                         temperature=0))

    def test_completions_have_the_shapes_of_openai(self):
        messages = [{"role": "user", "content": "hello"}]
        text = self.model.chat(messages, max_tokens=6, seed=3)
        whole = self.model.create_chat_completion(messages, max_tokens=6, seed=3)
        self.assertEqual(whole["object"], "chat.completion")
        self.assertEqual(whole["choices"], [{
            "index": 0, "message": {"role": "assistant", "content": str(text)}, "logprobs": None,
            "finish_reason": "length" if text.finish == "length" else "stop"}])
        self.assertEqual(whole["system_fingerprint"], text.fingerprint)
        tokens = whole["usage"]
        self.assertEqual(tokens["completion_tokens"], len(text.tokens))
        self.assertGreater(tokens["prompt_tokens"], 2)
        self.assertEqual(tokens["total_tokens"], tokens["prompt_tokens"] + len(text.tokens))
        chunks = list(self.model.create_chat_completion(messages, max_tokens=6, seed=3,
                                                        stream=True))
        self.assertEqual({c["object"] for c in chunks}, {"chat.completion.chunk"})
        self.assertEqual(len({c["id"] for c in chunks} | {whole["id"]}), 2)
        deltas = [c["choices"][0]["delta"] for c in chunks]
        self.assertEqual(deltas[0], {"role": "assistant"})
        self.assertEqual("".join(d.get("content", "") for d in deltas), text)
        self.assertEqual(chunks[-1]["choices"][0]["finish_reason"],
                         whole["choices"][0]["finish_reason"])
        with self.assertRaisesRegex(TypeError, "presence_penalty"):
            self.model.create_chat_completion(messages, presence_penalty=1.0)

    def test_variables_of_chat_templates(self):
        template = "{{ messages[0].content }}{% if think is defined %}{{ think }}{% endif %}"
        data = ROOT / "tests/cases/data"
        tokenizer = Tokenizer.parse((data / "tiny.tokenizer.json").read_text(encoding="utf-8"),
                                    json.dumps({"chat_template": template}))
        self.assertTrue(tokenizer.info["chat"])
        self.assertEqual(tokenizer.decode(tokenizer.chat("hello")), "hello")
        self.assertEqual(tokenizer.decode(tokenizer.chat("hello", think=" more")), "hello more")
        with self.assertRaisesRegex(welvet.InvalidArgument, "does not read 'tokenize'"):
            tokenizer.chat("hello", tokenize=False)
        with self.assertRaisesRegex(welvet.InvalidArgument, "does not read 'think'"):
            self.model.chat("hello", variables={"think": False})
        with self.assertRaisesRegex(welvet.InvalidArgument, "not one to set"):
            self.model.chat("hello", variables={"messages": []})

    def test_tokenizers(self):
        tokenizer = self.model.tokenizer
        text = "Once upon a time caf\u00e9 \U0001f600 <|im_end|>"
        ids = tokenizer.encode(text)
        self.assertEqual(tokenizer.decode(ids), text)
        self.assertEqual(
            self.model.detokenize(self.model.tokenize(text), skip_special_tokens=True),
            text.replace("<|im_end|>", ""))
        decoder = tokenizer.decoder()
        self.assertEqual("".join([decoder.push(i) for i in ids] + [decoder.finish()]), text)
        self.assertEqual((len(tokenizer), tokenizer.id("<|im_end|>"), tokenizer.token(2),
                          tokenizer.id("nothing")), (320, 2, "<|im_end|>", None))
        self.assertNotIn(2, tokenizer.encode(text, plain=True))
        trained = Tokenizer.train(["a b a b a b"], vocab_size=258, special_tokens=["<s>"],
                                  bos="<s>", add_bos=True)
        self.assertEqual(trained.encode("a b")[0], 0)
        self.assertEqual(Tokenizer(TINY).encode("hello"), tokenizer.encode("hello"))

    def test_models_are_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.entity")
            self.model.save(path)
            Transformer.check(path)
            again = Transformer(path)
            self.assertEqual(again.generate("a", max_tokens=5).fingerprint,
                             self.model.generate("a", max_tokens=5).fingerprint)
        self.assertEqual(Transformer.from_bytes(self.model.to_bytes(), "i8").info["vocab_size"],
                         320)
        with self.assertRaises(FileNotFoundError):
            Transformer.check("org/nothing")

    def test_models_are_made_of_their_parts(self):
        expected = self.model.generate("a", max_tokens=5).fingerprint
        info = self.model.info
        made = Transformer.from_network(self.model.network, self.model.tokenizer, **info)
        self.assertEqual(made.info, info)
        self.assertEqual(made.generate("a", max_tokens=5).fingerprint, expected)
        self.assertEqual(Transformer.from_bytes(made.to_bytes()).generate("a",
                max_tokens=5).fingerprint, expected)
        bare = Transformer.from_network(self.model.network, max_positions=64, eos=[2], name="bare")
        self.assertEqual((bare.info["name"], bare.info["eos"]), ("bare", [2]))
        with self.assertRaises(FileNotFoundError):
            bare.tokenizer
        with self.assertRaises(welvet.Unsupported):
            Transformer.from_network(Network(SMALL), max_positions=8)


class Article(unittest.TestCase):
    def test_printed_samples_run(self):
        """Word for word, with a local model under the name that the article downloads."""
        import make_tiny

        with tempfile.TemporaryDirectory() as cache:
            home = pathlib.Path(cache) / "models--HuggingFaceTB--SmolLM2-360M-Instruct"
            make_tiny.write_folder(home / "snapshots/1")
            (home / "refs").mkdir()
            (home / "refs/main").write_text("1")
            code = """
                import welvet
                welvet.Transformer.load_model("HuggingFaceTB/SmolLM2-360M-Instruct")
                welvet.Transformer.generate("Once upon a time")

                from welvet import Transformer# Load any HuggingFace model (downloads automatically if needed)
                Transformer.load_tokenizer("HuggingFaceTB/SmolLM2-360M-Instruct")
                Transformer.load_model("HuggingFaceTB/SmolLM2-360M-Instruct")
                # Generate text
                result = Transformer.generate("The meaning of life is", max_tokens=50)
                print(result.text)
                # Streaming generation (token-by-token)
                for token in Transformer.generate_stream("Once upon a time", max_tokens=100):
                    print(token, end='', flush=True)
            """
            self.assertGreater(len(run_python(code, HF_HUB_CACHE=cache, PYTHONIOENCODING="utf-8")),
                               20)

    def test_without_a_model_it_says_so(self):
        self.assertIn("load_model", run_python("""
            import welvet
            try: welvet.Transformer.generate("x")
            except RuntimeError as e: print(e)
        """))


class Interrupts(unittest.TestCase):
    @staticmethod
    def seconds_of(process):
        """What a process has computed, where the system says it: on a machine with much other work
        its answers take longer, not more."""
        try:
            fields = pathlib.Path("/proc/%d/stat" % process.pid).read_text().rpartition(")")[
                2].split()
        except OSError:
            return time.monotonic()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def interrupted(self, code, seconds=1.0, within=1.0):
        """Ctrl-C during the code; returns what it prints after "interrupted"."""
        whole = textwrap.dedent("""
            import signal, time, welvet, numpy as np
            from welvet import *
            signal.signal(signal.SIGINT, signal.default_int_handler)  # shells may ignore it
            {setup}
            print("begin", flush=True)
            try:
                while True:
                    {code}
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            {after}
        """).format(**code)
        path = os.pathsep.join(p for p in sys.path if p)
        process = subprocess.Popen([sys.executable, "-c", whole],
                                   env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        alarm = threading.Timer(60, process.kill)
        alarm.start()
        self.addCleanup(alarm.cancel)
        self.assertEqual(process.stdout.readline(), "begin\n")
        time.sleep(seconds)
        begin = self.seconds_of(process)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.stdout.readline(), "interrupted\n")
        self.assertLess(self.seconds_of(process) - begin, within)
        out, err = process.stdout.read(), process.stderr.read()
        self.assertEqual(process.wait(timeout=60), 0, err)
        process.stdout.close()
        process.stderr.close()
        return out

    def test_while_writing(self):
        code = {"setup": "m = Transformer(%r)" % str(TINY),
                "code": "m.generate('Once', max_tokens=120, ignore_eos=True)",
                "after": "print(len(m.generate('Once', max_tokens=7, ignore_eos=True).tokens))"}
        self.assertEqual(self.interrupted(code), "7\n")

    def test_while_reading_a_long_prompt(self):
        code = {"setup": "m = Transformer('embedded') if welvet.info()['embedded_model'] else "
                         "Transformer(%r); n = min(500, m.info['max_positions'] - 10)" % str(TINY),
                "code": "m.logits(list(np.random.randint(3, 300, "
                        "n)))", "after": "print(len(m.generate('Once', max_tokens=7, "
                                         "ignore_eos=True).tokens))"}
        self.assertEqual(self.interrupted(code), "7\n")

    def test_while_training(self):
        spec = {**SMALL,
                "cells": [{"at": [0, 0, 0, 0], "type": "dense", "out": 512, "activation": "tanh"},
                          {"at": [0, 0, 0, 1], "type": "dense", "out": 2}]}
        code = {"setup": "n = Network(%r); x = np.random.rand(64, 3)" % spec,
                "code": "n.train(x, x[:, :2], steps=10**8)",
                "after": "print(n.train(x, x[:, :2], steps=3).steps[-1])"}
        self.assertEqual(self.interrupted(code), "3\n")

    # A step, or a run, of two seconds and more.
    LONG = """
deep = layers.Sequential(
    layers.Input(1024), *[layers.Linear(1024, activation="tanh") for _ in range(48)])
n = Network(deep, seed=1)
x = np.random.default_rng(1).random((1024, 1024), np.float32)
"""

    def long(self, setup, code, after):
        return self.interrupted({"setup": self.LONG + setup, "code": code, "after": after}, 0.1,
                                0.5)

    def test_within_a_step(self):
        out = self.long("t = n.trainer(x, x, steps=4, batch_size=1024, threads=1)", "t.step()",
                        "print(t.done)")
        self.assertEqual(out, "0\n")

    def test_within_a_step_of_train(self):
        out = self.long("w = n.digest()", "n.train(x, x, steps=1, batch_size=1024, threads=1)",
                        "print(w == n.digest())")
        self.assertEqual(out, "True\n")

    def test_within_a_run(self):
        setup = "s = n.session(max_rows=3072, threads=1); x = np.tile(x, (3, 1))"
        self.assertEqual(self.long(setup, "s.run(x)", "print(s.run(x[:1]).shape)"), "(1, 1024)\n")

    def test_a_cancel_that_comes_before_ends_the_next_run_alone(self):
        layers = welvet.layers
        n = Network(layers.Sequential(layers.Input(3), layers.Linear(2)), seed=1)
        x = np.ones((4, 3), np.float32)
        with n.session(threads=1) as s, n.trainer(x, x[:, :2], steps=9, batch_size=4) as t:
            before, digest = s.run(x), t.digest()
            s.cancel()
            t.cancel()
            for run in (lambda: s.run(x), t.step):
                with self.assertRaises(welvet.Cancelled):
                    run()
            np.testing.assert_array_equal(s.run(x), before)
            self.assertEqual(t.digest(), digest)
            for one in (s, t):
                one.cancel()
                one._spend()
                one._spend()
            np.testing.assert_array_equal(s.run(x), before)
            self.assertEqual(t.step().step, 1)

    def test_while_verifying(self):
        self.assertEqual(
            self.interrupted({"setup": "", "code": "welvet.verify(threads=1)",
                              "after": "print('on')"}, seconds=0.3), "on\n")


class TheProgram(unittest.TestCase):
    program = ROOT / "build/release/loom"

    def test_tokens_are_those_of_the_command_line(self):
        if not self.program.exists():
            self.skipTest("build/release/loom is not built")
        if not welvet.info()["embedded_model"]:
            self.skipTest("the library has no embedded model")
        done = subprocess.run(
            [self.program, "run", "embedded", "Once upon a time", "--tokens", "40", "--seed", "3",
             "--json"], capture_output=True, text=True, check=True)
        answer = json.loads(done.stdout)
        story = Transformer("embedded", threads=1).generate("Once upon a time", max_tokens=40,
                                                            seed=3)
        self.assertEqual((story.tokens, str(story), story.finish),
                         (answer["ids"], answer["text"], answer["finish"]))


class Proof(unittest.TestCase):
    def test_verify(self):
        # a team of threads waits for its last at each instruction: for minutes where other work
        # has the cores
        report = welvet.verify(threads=1)
        self.assertTrue(report.equal, report.fingerprint)
        self.assertGreater(len(report.rows), 10)
        self.assertEqual(report.numerics_version, welvet.numerics_version())
