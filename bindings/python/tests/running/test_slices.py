"""Runs that pause after some microseconds and continue."""
import unittest

import numpy as np

import welvet
from welvet import Network, layers


def _deep():
    return Network(layers.Sequential(layers.Input(64), *[layers.Linear(64, activation="relu")
                                                         for _ in range(20)]), seed=2)


class Slices(unittest.TestCase):
    def test_a_run_continues_with_its_bits(self):
        network = _deep()
        session = network.session(threads=1)
        x = np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32)
        whole = session.run(x)
        calls = 1
        while (y := session.run(x, budget_us=1)) is None:
            calls += 1
        self.assertGreater(calls, 5)
        np.testing.assert_array_equal(y, whole)
        # Without a budget what has begun ends at once; with other arguments it is dropped.
        self.assertIsNone(session.run(x, budget_us=1))
        np.testing.assert_array_equal(session.run(x), whole)
        self.assertIsNone(session.run(x, budget_us=1))
        np.testing.assert_array_equal(session.run(x[:3], budget_us=10**6), whole[:3])

    def test_a_change_of_the_network_begins_anew(self):
        network = _deep()
        session = network.session(threads=1)
        x = np.ones((8, 64), np.float32)
        self.assertIsNone(session.run(x, budget_us=1))
        name = network.parameters[0].name
        network.set(name, 0.5 * network.get(name))
        while (y := session.run(x, budget_us=1)) is None:
            pass
        np.testing.assert_array_equal(y, network(x))

    def test_tokens_of_a_prompt(self):
        network = Network({"format": "loom-topology", "version": 3, "layers_per_cell": 3,
                           "input": {"ids": 11}, "cells": [
                               {"at": [0, 0, 0, 0], "type": "embedding", "out": 32},
                               {"at": [0, 0, 0, 1], "type": "attention", "heads": 4},
                               {"at": [0, 0, 0, 2], "type": "dense", "out": 11}]})
        network.initialize(3)
        cut, whole = (network.session(max_positions=64, threads=1) for _ in range(2))
        for first, last in ((0, 20), (20, 21), (21, 40)):
            ids, places = np.arange(first, last) % 11, np.arange(first, last)
            while (y := cut.run_tokens(ids, places, budget_us=1)) is None:
                pass
            np.testing.assert_array_equal(y, whole.run_tokens(ids, places))

    def test_a_step_mesh_shows_whole_ticks(self):
        network = Network({"format": "loom-topology", "version": 3, "depth": 3, "step_mesh": True,
                           "input": {"width": 16}, "cells": [
                               {"at": [z, 0, 0, 0], "type": "dense", "out": 16,
                                "activation": "tanh"} for z in range(3)]})
        network.initialize(1)
        x = np.random.default_rng(0).normal(size=(200, 16)).astype(np.float32)
        whole = welvet.StepMesh(network, threads=1).run(x)
        mesh = welvet.StepMesh(network, threads=1)
        ticks = [0]
        while (y := mesh.run(x, budget_us=1)) is None:
            ticks.append(mesh.tick)
            self.assertEqual(mesh.value(2).shape, (16,))
        self.assertEqual(ticks, sorted(ticks))
        self.assertGreater(len(set(ticks)), 2)
        np.testing.assert_array_equal(y, whole)

    def test_budgets_are_whole_numbers(self):
        network = _deep()
        session = network.session()
        x = np.zeros((1, 64), np.float32)
        for budget, error in ((0, ValueError), (-5, ValueError), (1.5, TypeError),
                              (True, TypeError), ("1", TypeError)):
            with self.assertRaisesRegex(error, "budget_us"):
                session.run(x, budget_us=budget)
        with session.observe():
            with self.assertRaisesRegex(welvet.Unsupported, "observed"):
                session.run(x, budget_us=5)
        rule = {"when": "std", "above": 9, "do": "freeze"}
        ruled = Network(layers.Sequential(
            layers.Input(2), layers.Metacognition(layers.Linear(2), rules=[rule])))
        with self.assertRaisesRegex(welvet.Unsupported, "ignore_rules"):
            ruled.session().run(np.zeros((1, 2)), budget_us=5)
        with self.assertRaisesRegex(welvet.Unsupported, "do not pause"):
            welvet._core.call.call("pause_after", network._handle, 5)
        with self.assertRaisesRegex(welvet.InvalidArgument, "microseconds"):
            welvet._core.call.call("pause_after", session._handle, -1)
