"""welvet.layers against the library's own lists of settings; Network.train, its callbacks,
histories and adapters."""
import contextlib
import inspect
import io
import os
import re
import tempfile
import unittest

import numpy as np

from source import ROOT
import welvet
from welvet import Data, Network, Transformer, layers
from welvet.layers._names import key_of, only

TINY = ROOT / "tests/cases/data/tiny.entity"
# What a constructor needs besides its defaults.
NEEDED = {
    "Linear": (3,), "Embedding": (3,), "SwiGLU": (5,), "Attention": (2,), "Reshape": (2, 2),
    "Parallel": (layers.Linear(2), layers.Linear(3)), "TimeDistributed": (layers.Linear(2),),
    "Unary": ("exp",), "Genome": (1, ["tanh"]), "Trees": (4, [1], "AAAAAA==", ""),
    "Binary": ("add", [[2], [2]]), "Select": ([[1], [1], [2]],), "Reduce": ("sum",),
    "Permute": ([1, 0],), "IndexSelect": ([2], [0, 1, 2]), "BatchedMatmul": ([[1, 2], [2, 1]],),
    "AdaptiveSoftmax": (4, [2]), "MixtureOfSoftmaxes": (4, 2), "KMeans": (3,), "RNN": (3,),
    "GRU": (3,), "LSTM": (3,), "Conv1d": (2, 3), "Conv2d": (2, 3), "Conv3d": (2, 3),
    "ConvTranspose1d": (2, 3),
    "ConvTranspose2d": (2, 3), "ConvTranspose3d": (2, 3),
    **{kind + "Pool%dd" % n: (2,) for kind in ("Max", "Avg") for n in (1, 2, 3)},
    "CrossAttention": (1,), "GroupNorm": (1,), "Residual": (), "Metacognition": (layers.Linear(2),),
    "Sequential": (layers.Linear(3),),
}
NO_SETTING = {"layers", "branches", "block", "layer", "dtype", "name", "enabled", "tie", "fixed"}


def constructors():
    # A Custom is of a layer that a host registers: networks/test_custom.py. Classes of
    # equivalents.py are settings of another one: networks/test_layers.py.
    others = ("Custom", "Input", "Layer", "Model", "Dense")
    return {name: getattr(layers, name) for name in layers.__all__
            if name not in others and inspect.isclass(getattr(layers, name))
            and getattr(layers, name).__module__ != "welvet.layers.equivalents"
            and getattr(layers, name).__name__ == name}


class Layers(unittest.TestCase):
    def test_every_type_and_setting_of_the_library_is_there(self):
        network = Network({"format": "loom-topology", "version": 1, "layers_per_cell": 1,
                           "input": {"width": 4}, "cells": []}, seed=None)
        known = {}
        for kind in welvet.info()["layers"]:
            with self.assertRaises(welvet.InvalidArgument) as caught:
                network.set_cell("0.0.0.0", {"type": kind, "?": 1})
            found = re.search(r"this layer has (.*)", str(caught.exception))[1]
            known[kind] = set() if found == "no settings" else set(found.split(", "))
        built = {}
        for name, make in constructors().items():
            cell = make(*NEEDED.get(name, ()))
            built[cell["type"]] = name
            parameters = {key_of(cell["type"], p) for p in inspect.signature(make).parameters
                          if only(cell["type"], p) is None} - NO_SETTING
            if cell["type"] in ("sequential", "residual"):
                continue
            # What a layer takes is said where it is called.
            self.assertEqual(parameters, known[cell["type"]] - {"takes", "global"}, name)
            self.assertTrue(make.__doc__, name)
        self.assertEqual(set(built) | {"custom"}, set(known))

    def test_defaults_are_those_of_the_library(self):
        inputs = {"rank1": layers.Input(2, 8), "rank2": layers.Input(2, 8, 8),
                  "rank3": layers.Input(2, 8, 8, 8), "ids": layers.Input(ids=7),
                  "values": layers.Input(4)}
        for name, make in constructors().items():
            if name in ("Select", "BatchedMatmul", "Binary", "Sequential", "Residual", "Permute",
                        "CrossAttention", "Part"):
                continue  # they need inputs of their own; their settings have no other defaults
            kind = "ids" if name == "Embedding" else "rank" + name[-2] if name.endswith(
                "d") and name[-2] in "123" else "rank1" if name in ("TimeDistributed", "Positions",
                "RNN", "GRU", "LSTM", "PoolSteps", "InstanceNorm") else "values"
            cell = make(*NEEDED.get(name, ()))
            with self.subTest(name):
                whole = Network(layers.Sequential(inputs[kind], cell), seed=None).cell("0.0.0.0")
                given = list(inspect.signature(make).parameters)[:len(NEEDED.get(name, ()))]
                given = ["type", "layers"] + [key_of(cell["type"], p) for p in given]
                needed = {k: v for k, v in cell.items() if k in given}
                if name == "Reshape":
                    needed = dict(cell)
                least = Network(layers.Sequential(inputs[kind],
                                                  layers.Layer(needed.pop("type"), needed, {})),
                                                    seed=None).cell("0.0.0.0")
                self.assertEqual(whole, least)

    def test_builds_what_json_says(self):
        block = layers.Residual(layers.RMSNorm(), layers.SwiGLU(8))
        spec = layers.Sequential(layers.Input(4),
                                 layers.Linear(6, activation="relu", dtype="bf16", name="first"),
                                 block, layers.Linear(2)).topology()
        self.assertEqual(spec["input"], {"width": 4})
        self.assertEqual(spec["cells"][0],
                         {"at": [0, 0, 0, 0], "type": "dense", "out": 6, "activation": "relu",
                          "bias": True, "dtype": "bf16", "name": "first"})
        self.assertEqual([layer["type"] for layer in spec["cells"][1]["layers"]],
                         ["sequential", "residual"])
        self.assertEqual(Network(spec, seed=3).digest(),
                         Network(layers.Sequential(layers.Input(4),
                                                   layers.Linear(6, activation="relu", dtype="bf16",
                                                                 name="first"), block,
                                                                   layers.Linear(2)),
                                                                     seed=3).digest())
        with self.assertRaisesRegex(TypeError, "begins with an Input"):
            Network(layers.Sequential(layers.Linear(3)))
        with self.assertRaisesRegex(TypeError, "no setting 'actvation'"):
            layers.Linear(3, actvation="relu")


def halves(count=120, seed=0):
    x = np.random.RandomState(seed).rand(count, 1, 4, 4).astype(np.float32)
    return x, (x[:, 0, :2].sum(axis=(1, 2)) > x[:, 0, 2:].sum(axis=(1, 2))).astype(np.int64)


def small(seed=1):
    return Network(layers.Sequential(layers.Input(1, 4, 4),
                                     layers.Conv2d(4, 3, padding=1, activation="relu"),
                                     layers.Flatten(), layers.Linear(2)), seed=seed)


class Training(unittest.TestCase):
    def test_learns_classes_and_tells_by_epochs(self):
        x, y = halves(200)
        network = small()
        history = network.train(x, y, lr=0.01, epochs=12, batch_size=16, validation=0.2, threads=1)
        self.assertEqual(history["epoch"], list(range(1, 13)))
        self.assertEqual({len(v) for v in history.values()}, {12})
        self.assertEqual(history.steps, list(range(1, len(history.losses) + 1)))
        self.assertEqual(history["step"][-1], len(history.losses))
        self.assertLess(history["validation_loss"][-1], history["validation_loss"][0])
        self.assertGreater(history["validation_accuracy"][-1], 0.85)
        self.assertFalse(history.stopped)

    def test_is_the_trainer_of_the_same_spec(self):
        x, y = halves()
        one, two = small(), small()
        one.train(x, y, optimizer={"type": "sgd", "momentum": 0.9}, schedule="cosine", lr=0.02,
                  epochs=3, batch_size=10, seed=4, callbacks=[lambda p: None])
        spec = {"optimizer": {"type": "sgd", "momentum": 0.9},
                "schedule": {"type": "cosine", "lr": 0.02}, "epochs": 3, "batch": 10, "seed": 4,
                "loss": "cross_entropy"}
        welvet.Trainer(two, Data.classes(x.reshape(len(x), -1), y), spec).run()
        three = small()
        three.train(x, y, spec={**spec, "epochs": 9}, epochs=3)
        self.assertEqual(three.digest(), two.digest())
        self.assertEqual(one.digest(), two.digest())

    def test_callbacks_see_and_stop(self):
        x, y = halves()
        seen = []

        class Watch(welvet.Callback):
            def on_step(self, progress):
                seen.append(progress)

            def on_epoch(self, epoch):
                seen.append(epoch)
                return epoch.epoch < 2

        history = small().train(x, y, epochs=9, batch_size=40, callbacks=[Watch()])
        self.assertEqual([(type(s).__name__, s.step, s.epoch) for s in seen],
                         [("Progress", 1, 1), ("Progress", 2, 1), ("Progress", 3, 1),
                          ("Epoch", 3, 1), ("Progress", 4, 2), ("Progress", 5, 2),
                          ("Progress", 6, 2), ("Epoch", 6, 2)])
        self.assertTrue(history.stopped)
        self.assertEqual(len(history["loss"]), 2)
        history = small().train(x, y, epochs=9, batch_size=40,
                                callbacks=[lambda progress: progress.step < 5])
        self.assertEqual(history.steps[-1], 5)
        stopping = welvet.EarlyStopping(patience=2)
        history = small().train(x, y, epochs=50, lr=1e-9, callbacks=[stopping],
                                validation=(x[:20], y[:20]))
        self.assertTrue(history.stopped)
        self.assertLess(len(history["loss"]), 50)

    def test_values_losses_and_their_validation(self):
        x = np.linspace(-1, 1, 60).reshape(-1, 1)
        for loss in ("mse", "mae", "huber", "bce"):
            network = Network(layers.Sequential(layers.Input(1),
                                                layers.Linear(8, activation="tanh"),
                                                layers.Linear(2)), seed=0)
            y = np.concatenate([x > 0, x * x], axis=1)
            history = network.train(x, y, loss=loss, lr=0.02, epochs=10, batch_size=60,
                                    shuffle=False, validation=(x, y), threads=1)
            # All samples in a step: the loss before step n + 1 is what was judged after step n.
            np.testing.assert_allclose(history["validation_loss"][:-1], history.losses[1:],
                                       rtol=1e-5, err_msg=loss)
            self.assertLess(history.losses[-1], history.losses[0])

    def test_heads_and_checkpoints(self):
        x, y = halves()
        targets = np.stack([y, x.reshape(len(x), -1).mean(axis=1)], axis=1)
        network = Network(layers.Sequential(layers.Input(1, 4, 4), layers.Flatten(),
                                            layers.Linear(8, activation="tanh"), layers.Linear(3)),
                                              seed=1)
        other = network.copy()
        heads = [{"name": "half", "columns": 2, "loss": "cross_entropy"},
                 {"name": "mean", "columns": 1, "weight": 4}]
        history = network.train(x, targets, heads=heads, lr=0.02, epochs=8)
        self.assertLess(history["loss"][-1], 0.8 * history["loss"][0])
        other.train(x, targets, heads=heads, lr=0.02, epochs=8, checkpoint=True)
        self.assertEqual(other.digest(), network.digest())

    def test_wrong_arguments_say_so(self):
        x, y = halves()
        with self.assertRaisesRegex(ValueError, "x has 120 samples, y 119"):
            small().train(x, y[:-1])
        with self.assertRaisesRegex(ValueError, "a share is above 0 and below 1"):
            small().train(x, y, validation=1.5)
        with self.assertRaisesRegex(TypeError, "give y"):
            small().train(x)
        with self.assertRaisesRegex(welvet.InvalidArgument, "unknown key \"optimiser\""):
            small().train(x, y, optimiser="sgd")
        with self.assertRaisesRegex(welvet.InvalidArgument, "unknown optimizer"):
            small().train(x, y, optimizer="adagrad")

    def test_a_bar_is_for_terminals(self):
        x, y = halves()
        for shown, expected in ((None, False), (True, True)):
            err = io.StringIO()
            with contextlib.redirect_stderr(err):
                small().train(x, y, epochs=2, progress=shown)
            self.assertEqual("epoch 2/2  100%|" in err.getvalue(), expected)
            self.assertEqual(bool(err.getvalue()), expected)


class Texts(unittest.TestCase):
    def test_a_model_learns_texts(self):
        texts = ["the ship went down", "by night it went"] * 4
        settings = {"lr": 0.01, "epochs": 2, "batch_size": 4, "lora": {"rank": 2}, "seed": 3}
        digests = set()
        for given in (texts, None):
            with Transformer(str(TINY), threads=1) as model:
                if given is None:
                    ids = [model.tokenize(text) for text in texts]
                    given = Data.tokens(ids, length=8)
                    history = model.network.train(given, **settings)
                else:
                    history = model.train(given, length=8, **settings)
                self.assertEqual(history["epoch"], [1, 2])
                model.merge_adapter()
                digests.add(model.network.digest())
        self.assertEqual(len(digests), 1)
        with Transformer(str(TINY), threads=1) as model, self.assertRaisesRegex(TypeError, "lr"):
            model.train(texts, learning_rate=1)


class Adapters(unittest.TestCase):
    def test_a_model_swaps_and_merges(self):
        model = Transformer(str(TINY), threads=1)
        ids = np.random.RandomState(0).randint(3, 60, 200)
        before, logits = model.network.digest(), model.network.forward_tokens([1, 2, 3])
        model.network.forward_tokens([1, 2, 3])
        history = model.network.train(Data.tokens(ids, length=16), lr=0.02, epochs=6, batch_size=4,
                                      lora={"rank": 4}, threads=1)
        self.assertLess(history["loss"][-1], history["loss"][0])
        self.assertEqual(model.network.digest(), before)
        adapted = model.network.forward_tokens([1, 2, 3])
        self.assertGreater(float(np.abs(adapted - logits).max()), 0.01)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "adapter")
            model.save_adapter(path)
            self.assertEqual(sorted(os.listdir(path)),
                             ["adapter_config.json", "adapter_model.safetensors"])
            model.unload_adapter()
            np.testing.assert_array_equal(model.network.forward_tokens([1, 2, 3]), logits)
            model.load_adapter(path)
            np.testing.assert_array_equal(model.network.forward_tokens([1, 2, 3]), adapted)
            written = model.generate("a", max_tokens=5, temperature=0).tokens
            model.merge_adapter()
            self.assertNotEqual(model.network.digest(), before)
            np.testing.assert_allclose(model.network.forward_tokens([1, 2, 3]), adapted, atol=1e-5)
            self.assertEqual(model.generate("a", max_tokens=5, temperature=0).tokens, written)
            with self.assertRaisesRegex(welvet.InvalidArgument, "has no adapter"):
                model.merge_adapter()
            other = small()
            with self.assertRaisesRegex(welvet.Unsupported, "belongs to no weight of this network"):
                other.load_adapter(path)
            with self.assertRaises(FileNotFoundError):
                other.load_adapter(os.path.join(folder, "none"))


class FewBits(unittest.TestCase):
    def test_weights_learn_in_the_dtype_in_which_they_run(self):
        random = np.random.default_rng(0)
        x = random.normal(size=(128, 6)).astype(np.float32)
        y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
        network = Network(layers.Sequential(layers.Input(6), layers.Linear(32, activation="relu"),
                                            layers.Linear(2)), seed=1)
        before = network(x)  # a session of f32, which goes on after the change
        history = network.train(x, y, lr=0.01, epochs=8, batch_size=16,
                                quantize={"dtype": "ternary", "keep": ["last"], "after": 20})
        self.assertLess(history["loss"][-1], history["loss"][0])
        self.assertEqual([p.format for p in network.parameters if p.role == "weight"],
                         ["ternary", "f32"])
        self.assertFalse(np.array_equal(network(x), before))
        self.assertGreater((network(x).argmax(axis=1) == y).mean(), 0.9)
        # Its logits are those of a plain network with the fake-quantized weights, up to the
        # rounding of activations to 15 bits.
        plain = network.copy()
        plain.morph("f32")
        self.assertFalse(np.array_equal(plain.get("0.0.0.0:weight"), network.get("0.0.0.0:weight")))
        plain.set("0.0.0.0:weight", welvet.fake_quantize(plain.get("0.0.0.0:weight"), "ternary"))
        np.testing.assert_array_equal(plain.get("0.0.0.0:weight"), network.get("0.0.0.0:weight"))
        np.testing.assert_allclose(plain(x), network(x), atol=2e-3)
        with self.assertRaisesRegex(welvet.InvalidArgument, "'i3' is not a weight format"):
            network.train(x, y, epochs=1, quantize={"dtype": "i3"})

    def test_fake_quantize_keeps_shapes(self):
        self.assertIs(getattr(welvet, "simulate"), welvet.fake_quantize)  # its alias
        self.assertIs(getattr(welvet, "compareDNA"), welvet.compare_dna)  # likewise
        w = np.random.default_rng(1).normal(size=(4, 3, 3, 3))
        rounded = welvet.fake_quantize(w, "i8")
        self.assertEqual((rounded.shape, rounded.dtype), (w.shape, np.float32))
        np.testing.assert_array_equal(rounded.reshape(4, -1),
                                      welvet.fake_quantize(w.reshape(4, -1), "i8"))
        self.assertLess(np.abs(rounded - w).max(), np.abs(w).max() / 127)
        np.testing.assert_array_equal(welvet.fake_quantize(w[0, 0, 0], "f32"),
                                      np.float32(w[0, 0, 0]))
        self.assertEqual(len(np.unique(np.abs(welvet.fake_quantize([1.0, -3.0, 2.0], "binary")))),
                         1)
        with self.assertRaises(welvet.InvalidArgument):
            welvet.fake_quantize([], "i8")
