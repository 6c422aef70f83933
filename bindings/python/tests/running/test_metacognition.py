"""Metacognition: rules, traces, replays, and what trains, runs and measures beside them."""
import json
import os
import tempfile
import unittest

import numpy as np

import welvet
from welvet import Network, layers

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(24, 6)).astype(np.float32)
Y = X[:, :2] * 2 - X[:, 2:4]


def rule(act, when="std", above=0.0, **more):
    limits = {} if "below" in more else {"above": above}
    return {"when": when, **limits, "do": act, **more}


def made(*rules, inner=None, seed=3, **settings):
    return Network(layers.Sequential(
        layers.Input(6),
        layers.Metacognition(inner or layers.Linear(8, activation="tanh"), rules=rules, **settings),
        layers.Linear(2)), seed=seed)


def training(network, steps=8):
    return network.trainer(X, Y, lr=0.01, steps=steps, batch_size=8, optimizer="adamw")


class Metacognition(unittest.TestCase):
    def test_acts_in_sessions_and_nowhere_else(self):
        network = made(rule("morph", dtype="i4"))
        before = network.digest()
        network(X)
        network.observe(X)
        with network.session(ignore_rules=True) as fixed:
            fixed.run(X)
            self.assertEqual((fixed.trace(), fixed.info["metacognition"]), ([], None))
        self.assertEqual(network.digest(), before)
        with network.session() as session:
            self.assertEqual(session.info["metacognition"]["rules"], 1)
            session.run(X)
            self.assertEqual(session.info["metacognition"]["acts"], 1)
            act, = session.trace()
        self.assertEqual((act["pass"], act["path"], act["act"]), (0, "0.0.0.0", "morph"))
        self.assertEqual({p.format for p in network.parameters if p.path == "0.0.0.0/0"
                          and p.role == "weight"}, {"i4"})

    def test_a_replay_has_the_same_bits_with_any_threads(self):
        rules = (rule("morph", dtype="i8", when="growth", above=1.5, over=1),
                 rule("activation", activation="relu", when="gain_drift", above=0.2),
                 rule("append", layer=layers.RMSNorm(), when="max", above=0.9, limit=1),
                 rule("gate", factor=0.5, when="active_share", below=0.9))
        xs = [X * scale for scale in (1, 1, 4, 1, 0, 2)]
        first = None
        for threads in (1, 3):
            network, twin = made(*rules), made(*rules)
            session = network.session(threads=threads)
            outputs = [session.run(x) for x in xs]
            trace = session.trace()
            self.assertGreaterEqual(len(trace), 3)
            self.assertEqual(first or trace, trace)
            first = trace
            again = twin.replay(trace, threads=4 - threads)
            for x, y in zip(xs, outputs):
                np.testing.assert_array_equal(again.run(x), y)
            self.assertEqual(again.trace(), trace)
            self.assertEqual(twin.digest(), network.digest())
            with self.assertRaisesRegex(welvet.InvalidArgument, "line 1.*does not fit"):
                twin.replay(trace)  # it is another network by now
            with self.assertRaises(welvet.Corrupt):
                made(*rules).replay([{"pass": 1}])

    def test_morphs_to_every_dtype(self):
        for dtype in welvet.info()["dtypes"]:
            with self.subTest(dtype):
                network, by_hand = made(rule("morph", dtype=dtype)), made()
                by_hand.morph(dtype, "0.0.0.0")
                with network.session() as session:
                    session.run(X)
                    after = session.run(X)
                    trace = session.trace()
                self.assertEqual(trace[0]["after"], {"dtype": dtype})
                np.testing.assert_array_equal(after, by_hand(X))
                with made(rule("morph", dtype=dtype)).replay(trace) as again:
                    again.run(X)
                    np.testing.assert_array_equal(again.run(X), after)

    def test_saves_loads_copies_and_compares(self):
        network = made(rule("append", layer={"type": "rms_norm"}, limit=1),
                       rule("gate", factor=0.5))
        with network.session() as session:
            session.run(X)
        again = Network.from_bytes(network.to_bytes())
        self.assertEqual(again.digest(), network.digest())
        self.assertEqual(network.copy().digest(), network.digest())
        np.testing.assert_array_equal(again(X), network(X))
        self.assertEqual(again.cell("0.0.0.0")["gate"], 0.5)
        self.assertEqual(len(again.cell("0.0.0.0")["layers"]), 2)
        self.assertEqual(network.compare_dna(again)["similarity"], 1)
        self.assertEqual(json.loads(json.dumps(network.topology))["cells"][0]["type"],
                         "metacognition")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "n.entity")
            network.save(path)
            self.assertEqual(Network.load(path).digest(), network.digest())

    def test_a_trainer_follows_acts_and_keeps_its_moments(self):
        plain, acting = made(rule("gate", factor=1)), made(rule("gate", factor=1))
        a, b = training(plain), training(acting)
        for _ in range(4):
            a.step()
            b.step()
        with acting.session() as session:
            session.run(X)  # changes nothing but the form
            self.assertEqual(len(session.trace()), 1)
        for _ in range(4):
            a.step()
            b.step()
        self.assertEqual(a.digest(), b.digest())

    def test_a_trainer_leaves_frozen_weights(self):
        thaw = rule("unfreeze", below=0.01)
        network = made(rule("freeze", above=0.1), thaw)
        trainer = training(network, 9)
        session = network.session()
        inner, last = "0.0.0.0/0:weight", "0.0.0.1:weight"

        def learns():
            before = network.get(inner).copy(), network.get(last).copy()
            trainer.step(3)
            return [not np.array_equal(network.get(n), b) for n, b in zip((inner, last), before)]

        self.assertEqual(learns(), [True, True])
        session.run(X)
        self.assertEqual(learns(), [False, True])
        network.set("0.0.0.0/0:bias", np.zeros(8, np.float32))
        session.run(X * 0)
        self.assertEqual([act["act"] for act in session.trace()], ["freeze", "unfreeze"])
        self.assertEqual(learns(), [True, True])

    def test_learns_on_after_every_act(self):
        for act in (rule("morph", dtype="i4"), rule("morph", dtype="f64"), rule("reset"),
                    rule("activation", activation="relu"), rule("gate", factor=0.5),
                    rule("retype", layer=layers.Linear(8, activation="silu")),
                    rule("append", layer=layers.LayerNorm())):
            with self.subTest(act["do"]):
                network = made(act)
                trainer = training(network)
                trainer.step(4)
                with network.session() as session:
                    session.run(X)
                    self.assertEqual(len(session.trace()), 1)
                    trainer.step(4)
                    self.assertTrue(np.isfinite(session.run(X)).all())

    def test_a_change_by_hand_still_ends_a_trainer(self):
        network = made(rule("gate", factor=0.5))
        trainer = training(network)
        with network.session() as session:
            session.run(X)
        network.morph("i8")
        with self.assertRaisesRegex(welvet.InvalidArgument, "make a new one"):
            trainer.step()

    def test_freezing_under_every_method(self):
        for method in ("back_propagation", "mono_forward", "direct_feedback_alignment",
                       "difference_target_propagation",
                       "target_propagation"):
            with self.subTest(method):
                network = made(frozen=True)
                before = network.get("0.0.0.0/0:weight").copy()
                try:
                    trainer = network.trainer(X, Y, lr=0.01, steps=3, batch_size=8, loss="mse",
                                              method=method)
                except welvet.LoomError as error:
                    self.assertRegex(str(error), "method|frozen")
                    continue
                trainer.step(3)
                np.testing.assert_array_equal(network.get("0.0.0.0/0:weight"), before)

    def test_two_sessions_and_an_observation_beside(self):
        network = made(rule("morph", dtype="i8", limit=1), inner=layers.Linear(8))
        one, two = network.session(), network.session()
        with one.observe() as events:
            y = one.run(X)
            two.run(X)
            z = one.run(X)
        self.assertEqual([len(one.trace()), len(two.trace())], [1, 1])
        self.assertEqual(two.trace()[0]["before"], {"dtype": "i8"})
        self.assertEqual((events.passes, len(events)), (2, 4))
        self.assertTrue(np.any(y != z))

    def test_an_act_that_fails_raises_and_changes_nothing(self):
        network = made(rule("gate", factor=0.5), rule("reset", to="initial"))
        network.pack("i8")
        before = network.digest()
        session = network.session()
        y = np.empty((24, 2), np.float32)
        for _ in range(2):
            with self.assertRaisesRegex(welvet.InvalidArgument, "metacognition at 0.0.0.0: reset"):
                session.run(X, out=y)
            self.assertEqual((network.digest(), session.trace()), (before, []))
            np.testing.assert_array_equal(y, network(X))  # the run itself is valid

    def test_refusals(self):
        with self.assertRaisesRegex(welvet.InvalidArgument, "rule 0: morph: the layer has no"):
            made(rule("morph", dtype="i4"), inner=layers.RMSNorm())
        with self.assertRaisesRegex(welvet.InvalidArgument, "did you mean"):
            made(rule("gate", factor=0.5, cooldwn=3))
        network = made(rule("gate", factor=0.5))
        with self.assertRaisesRegex(welvet.Unsupported, "metacognition at 0.0.0.0 has rules"):
            welvet.StepMesh(network)
        expert = layers.Metacognition(layers.Linear(3), rules=[rule("gate", factor=0.5)])
        mixture = Network(layers.Sequential(layers.Input(6), layers.Parallel(
            expert, layers.Linear(3), combine="gated", top_k=1)), seed=1)
        mixture(X)
        with self.assertRaisesRegex(welvet.Unsupported, "0.0.0.0/0 runs on the rows that"):
            mixture.session()
