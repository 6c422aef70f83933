"""Methods of learning besides back-propagation, by the same train()."""
import os
import tempfile
import unittest

import numpy as np

from welvet import (
    InvalidArgument, LoomError, Network, defaultTweenConfig, layers)

METHODS = ("mono_forward", "direct_feedback_alignment", "difference_target_propagation",
           "target_propagation")


def network(seed=1, **options):
    return Network(layers.Sequential(
        layers.Input(2), layers.Linear(24, activation="tanh"), layers.LayerNorm(),
        layers.Linear(24, activation="tanh"), layers.Linear(2), **options), seed=seed)


def rings(samples=400):
    """Two classes that no line parts."""
    random = np.random.RandomState(3)
    x = random.uniform(-1, 1, (samples, 2)).astype(np.float32)
    return x, (np.square(x).sum(axis=1) > 0.5).astype(np.int32)


class MethodsTest(unittest.TestCase):
    def test_targets_are_reported(self):
        x, y = rings()
        plain = Network(layers.Sequential(
            layers.Input(2), layers.Linear(24, activation="relu"),
            layers.Linear(24, activation="relu"), layers.Linear(2)), seed=1)
        history = plain.train(x, y, lr=0.01, epochs=30, batch_size=25, method={
            "type": "tween", "mode": "layer_wise", "alignment_every": 4})
        self.assertGreater((plain.forward(x).argmax(axis=1) == y).mean(), 0.9)
        self.assertEqual(len(history.parts), 30)
        self.assertEqual(len(history["reach"]), 30)
        self.assertEqual([part["path"] for part in history.parts[-1]],
                         ["0.0.0.0", "0.0.0.1", "0.0.0.2"])
        for part in history.parts[-1]:
            self.assertTrue(0 <= part["budget"] <= 1 and part["gap"] >= 0)
            self.assertTrue(part["learned"])
            self.assertTrue(-1 <= part["alignment"] <= 1 + 1e-9)
            self.assertEqual(part["alignment_step"], 480)
        self.assertAlmostEqual(history.parts[-1][-1]["alignment"], 1)
        self.assertEqual(network().train(x, y, epochs=1).parts, [])
        with self.assertRaisesRegex(LoomError, "layer_norm at 0.0.0.1"):
            network().train(x, y, epochs=1, method={
                "type": "target_propagation", "mode": "layer_wise",
                "difference_correction": False})
        for key, value in (("gate", 2), ("gradient_scale", 0), ("output_step", -1),
                           ("alignment_every", -1), ("mode", "layers"),
                           ("difference_correction", False)):
            with self.assertRaisesRegex(InvalidArgument, key):
                network().train(x, y, epochs=1, method={"type": "target_propagation", key: value})

    def test_all_of_them_learn(self):
        x, y = rings()
        for method in METHODS + (
                {"type": "difference_target_propagation", "feedback": "learned"},
                {"type": "target_propagation", "mode": "layer_wise", "activation_slope": True}):
            learned = network()
            history = learned.train(x, y, method=method, lr=0.01, epochs=40, batch_size=25,
                                    validation=0.2)
            self.assertGreater(history["validation_accuracy"][-1], 0.93, method)
            self.assertGreater((learned.forward(x).argmax(axis=1) == y).mean(), 0.93, method)

    def test_the_settings_of_earlier_documents_learn(self):
        random = np.random.default_rng(3)
        x = random.normal(size=(200, 3)).astype(np.float32)
        network = Network(layers.Sequential(layers.Input(3), layers.Linear(8, activation="tanh"),
                                           layers.Linear(1)),
                          seed=1)
        history = network.train(x, x[:, :1] - x[:, 1:2], epochs=10, progress=False,
                                **defaultTweenConfig())
        self.assertLess(history["loss"][-1], 0.3 * history["loss"][0])
        self.assertGreater(len(history.parts[-1]), 1)

    def test_no_bit_depends_on_threads_or_on_how_it_is_spelled(self):
        x, y = rings(100)
        for method in METHODS:
            digests = set()
            for given in ({"method": method}, {"method": {"type": method}},
                          {"spec": {"method": method}}, {"method": method, "threads": 3}):
                learned = network()
                learned.train(x, y, epochs=2, seed=4, **given)
                digests.add(learned.digest())
            self.assertEqual(len(digests), 1, method)
        plain, named = network(), network()
        plain.train(x, y, epochs=2)
        named.train(x, y, epochs=2, method="back_propagation")
        self.assertEqual(plain.digest(), named.digest())

    def test_a_training_resumes_and_its_matrices_stay_in_it(self):
        x, y = rings(100)
        for method in METHODS:
            whole, half, rest = network(), network(), network()
            with whole.trainer(x, y, method=method, steps=8) as trainer:
                trainer.run()
                want = trainer.digest()
                self.assertEqual(trainer.info["spec"]["method"]["type"], method)
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "half.entity")
                with half.trainer(x, y, method=method, steps=8) as trainer:
                    trainer.step(3)
                    trainer.save(path)
                with rest.trainer(x, y, method=method, steps=8) as trainer:
                    trainer.resume(path)
                    trainer.run()
                    self.assertEqual(trainer.digest(), want)
                with network().trainer(x, y, steps=8) as trainer:
                    with self.assertRaisesRegex(InvalidArgument, 'another "method"'):
                        trainer.resume(path)
                self.assertEqual(Network.load(path).info["parameters"],
                                 network().info["parameters"])

    def test_a_step_is_a_setting(self):
        x, y = rings(60)
        digests = set()
        for step in (0.1, 0.5):
            learned = network()
            learned.train(x, y, epochs=1, method={"type": METHODS[2], "step": step})
            digests.add(learned.digest())
        learned = network()
        learned.train(x, y, epochs=1, method=METHODS[2])
        digests.add(learned.digest())
        self.assertEqual(len(digests), 2)  # 0.1 is what is meant where nothing is given

    def test_says_what_does_not_fit(self):
        x, y = rings(20)
        for given, message in (
                ({"method": "mono"}, "unknown method \"mono\""),
                ({"method": {"type": METHODS[2], "steps": 1}}, 'did you mean "step"'),
                ({"method": "mono_forward", "lora": {"rank": 2}}, '"lora"'),
                ({"method": "mono_forward", "fp8": True}, '"fp8"'),
                ({"method": "mono_forward", "checkpoint": True}, '"checkpoint"')):
            with self.assertRaisesRegex(LoomError, message):
                network().train(x, y, epochs=1, **given)
        with self.assertRaisesRegex(TypeError, "method: expects a name, as 'mono_forward'"):
            network().train(x, y, epochs=1, method=3)
        a = layers.Input(2)
        b = layers.Linear(4)(a)
        linked = Network(layers.Model([a], layers.Linear(2)(layers.concat(b, layers.Linear(3)(a)))))
        with self.assertRaisesRegex(LoomError, "has links"):
            linked.train(x, y, epochs=1, method="mono_forward")
        one = Network(layers.Sequential(layers.Input(2), layers.Linear(2)))
        with self.assertRaisesRegex(LoomError, "one cell with matrices"):
            one.train(x, y, epochs=1, method="mono_forward")
