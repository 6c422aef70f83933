"""Layers that Python registers."""
import copy
import os
import pickle
import subprocess
import tempfile
import unittest

import numpy as np

import welvet
from welvet import Network, layers


class Linear:
    fail = None

    def __init__(self, out: int = 4) -> None:
        self.out = out

    def plan(self, dims):
        if len(dims) != 1:
            raise ValueError("wants one dimension, got %r" % (dims,))
        return {"out": [self.out],
                "params": [{"role": "weight", "rows": self.out, "cols": dims[0], "init": "normal",
                            "std": 0.5},
                                              {"role": "bias", "cols": self.out}]}

    def forward(self, x, params, y):
        if Linear.fail:
            Linear.fail()
        y[:] = x @ params[0].T + params[1]

    def backward(self, x, y, gy, params, gx, gparams):
        gx[:] = gy @ params[0]
        gparams[0][:] = gy.T @ x
        gparams[1][:] = gy.sum(axis=0)


Mine = welvet.custom_layer("py.linear", version=2)(Linear)


def network(middle, dtype="f32"):
    return Network(layers.Sequential(layers.Input(3), layers.Linear(3, activation="tanh"), middle,
                                     layers.Linear(1), dtype=dtype), seed=1)


class Custom(unittest.TestCase):
    def setUp(self):
        Linear.fail = None
        random = np.random.default_rng(0)
        self.x = random.standard_normal((32, 3)).astype(np.float32)
        self.y = self.x[:, :1] - 0.5 * self.x[:, 1:2]

    def test_learns_as_dense_does(self):
        mine, dense = network(Mine(out=4)), network(layers.Linear(4))
        dense.set("0.0.0.1:weight", mine.get("0.0.0.1:weight"))
        for net in (mine, dense):
            net.train(self.x, self.y, epochs=5, batch_size=8, schedule={"lr": 0.02})
        np.testing.assert_allclose(mine(self.x), dense(self.x), atol=1e-5)

    def test_copies_pickles_and_calls(self):
        net = network(Mine(5))
        want = net(self.x)
        for other in (copy.copy(net), pickle.loads(pickle.dumps(net))):
            np.testing.assert_array_equal(other(self.x), want)
        x, layer = layers.Input(3), Mine(3)
        twice = Network(layers.Model(x, layers.Linear(1)(layer(layer(x)))), seed=1)
        self.assertEqual(twice.info["parameters"], 3 * 3 + 3 + 3 + 1)
        self.assertEqual(network(Mine(4), "f64")(self.x).shape, (32, 1))

    def test_errors(self):
        net = network(Mine(4))
        want = net(self.x)

        def fail():
            raise RuntimeError("the moon is full")

        Linear.fail = fail
        with self.assertRaisesRegex(welvet.LoomError,
                                    "py.linear@2 at 0.0.0.1: forward: RuntimeError: the moon is "
                                    "full"):
            net(self.x)
        Linear.fail = lambda: net(self.x)
        with self.assertRaisesRegex(welvet.Busy, "calls back into the library"):
            net(self.x)
        Linear.fail = None
        np.testing.assert_array_equal(net(self.x), want)
        with self.assertRaisesRegex(welvet.LoomError, "wants one dimension"):
            Network(layers.Sequential(layers.Input(2, 3), layers.Custom("py.linear", 2)), seed=1)
        with self.assertRaisesRegex(welvet.NotFound, "no custom layer py.linear@1 is registered"):
            network(layers.Custom("py.linear"))
        with self.assertRaises(TypeError):
            Mine(size=4)

    def test_registration(self):
        welvet.register_layer(Linear, "py.linear", 2)  # the same again

        class Other(Linear):
            pass

        with self.assertRaisesRegex(welvet.InvalidArgument, "registered already"):
            welvet.register_layer(Other, "py.linear", 2)
        with self.assertRaisesRegex(TypeError, "has a function plan"):
            welvet.register_layer(int, "py.int")
        welvet.register_layer(Other, "py.other")
        net = network(layers.Custom("py.other", config={"out": 2}))
        with self.assertRaisesRegex(welvet.Busy, "is part of a network"):
            welvet.unregister_layer("py.other")
        self.assertEqual(net(self.x).shape, (32, 1))
        data = pickle.dumps(net)
        net.close()
        welvet.unregister_layer("py.other")
        with self.assertRaisesRegex(welvet.NotFound, "py.other@1"):
            pickle.loads(data)

    def test_what_a_function_raises_is_the_cause_and_an_interrupt_stays_one(self):
        raised = [ValueError("the moon is full")]

        @welvet.custom_layer("py.raises", version=1)
        class Raises:
            def plan(self, dims):
                return {"out": dims}

            def forward(self, x, params, y):
                if raised:
                    raise raised[0]
                y[:] = x

        network = Network(layers.Sequential(layers.Input(3), Raises(), layers.Linear(1)), seed=1)
        x = np.ones((2, 3), np.float32)
        with self.assertRaises(welvet.LoomError) as caught:
            network(x)
        self.assertIs(caught.exception.__cause__, raised[0])
        for interrupt in (KeyboardInterrupt(), SystemExit(3)):
            raised[0] = interrupt
            with self.assertRaises(type(interrupt)):
                network(x)
        raised.clear()
        self.assertEqual(network(x).shape, (2, 1))
        with self.assertRaises(welvet.LoomError) as caught:  # nothing of before is left
            network.get("0.0.0.9:weight")
        self.assertIsNone(caught.exception.__cause__)

    def trained(self, net, steps, **settings):
        return net.trainer(self.x, self.y, steps=steps, batch_size=8, seed=3, threads=2,
                           schedule={"lr": 0.02}, **settings)

    def test_trainings_go_on_from_a_checkpoint(self):
        for settings in ({}, {"lora": {"rank": 1, "targets": ["weight"]}}):
            with self.subTest(**settings), tempfile.TemporaryDirectory() as folder:
                net = network(Mine(4))
                before = net(self.x)
                whole = self.trained(net, 30, **settings)
                whole.step(11)
                whole.save(folder + "/half")
                whole.step(19)
                again = network(Mine(4))
                rest = self.trained(again, 30, **settings)
                rest.resume(folder + "/half")
                self.assertNotEqual(rest.digest(), whole.digest())
                rest.run()
                self.assertEqual(rest.digest(), whole.digest())
                np.testing.assert_array_equal(again(self.x), net(self.x))
                self.assertFalse(np.array_equal(net(self.x), before))

    def test_an_adapter_stands_beside_it(self):
        net = network(Mine(4))
        before, own = net(self.x), net.get("0.0.0.1:weight")
        self.trained(net, 20, lora={"rank": 1, "targets": ["weight"]}).run()
        adapted = net(self.x)
        with tempfile.TemporaryDirectory() as folder:
            net.save_adapter(folder + "/adapter")
            net.unload_adapter()
            np.testing.assert_array_equal(net(self.x), before)
            net.load_adapter(folder + "/adapter")
        np.testing.assert_array_equal(net(self.x), adapted)
        net.merge_adapter()
        np.testing.assert_allclose(net(self.x), adapted, atol=1e-5)
        np.testing.assert_array_equal(net.get("0.0.0.1:weight"), own)

    def test_the_program_refuses_it_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/mine.entity"
            network(Mine(4)).save(path)
            program = os.path.join(os.path.dirname(os.environ.get("LOOM_LIBRARY", "")), "loom")
            if not os.path.exists(program):
                self.skipTest("no program beside the library")
            for arguments in (["convert", path, folder + "/mine.safetensors"],
                              ["predict", path, "--data", path]):
                ran = subprocess.run([program] + arguments, capture_output=True, text=True)
                self.assertIn(ran.returncode, (1, 2, 3), arguments)
                self.assertIn("no custom layer py.linear@2 is registered", ran.stderr, arguments)
                self.assertEqual(os.listdir(folder), ["mine.entity"])
