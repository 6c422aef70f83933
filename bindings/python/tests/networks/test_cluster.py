"""Groups of rows, and networks that answer together."""
import unittest

import numpy as np

import welvet
from welvet import Ensemble, Network, cluster, layers


def _network(weights, softmax=False):
    rows = [layers.Input(2), layers.Linear(2, bias=False)]
    network = Network(layers.Sequential(*rows, *([layers.Softmax()] if softmax else [])))
    name = [p.name for p in network.parameters if "weight" in p.name or ":" in p.name][0]
    network.set(name, np.array(weights, np.float32))
    return network


class Clusters(unittest.TestCase):
    def test_groups_are_found(self):
        random = np.random.default_rng(1)
        x = np.concatenate([random.normal(c, 0.2, (20, 3)) for c in (0, 4, 9)])
        found = cluster.k_means(x, 3, starts=4, seed=7)
        self.assertEqual([len(set(found.labels[i:i + 20])) for i in (0, 20, 40)], [1, 1, 1])
        self.assertEqual(found.centers.shape, (3, 3))
        again = cluster.k_means(x, start=found.centers)
        self.assertEqual(again.inertia, found.inertia)
        self.assertGreater(cluster.silhouettes(x, found.labels).min(), 0.7)
        merges = cluster.hierarchy(x.tolist(), linkage="single")
        self.assertEqual(sorted(cluster.cut(merges, 3)), [0] * 20 + [1] * 20 + [2] * 20)
        self.assertEqual(cluster.cut(merges, distance=1e9).tolist(), [0] * 60)

    def test_one_row_and_none(self):
        self.assertEqual(cluster.hierarchy([[1.0, 2.0]]).shape, (0, 4))
        self.assertEqual(cluster.cut(np.empty((0, 4)), 1).tolist(), [0])
        self.assertEqual(cluster.k_means([[1.0]], 1).inertia, 0)
        for call in (lambda: cluster.k_means(np.empty((0, 2)), 1),
                     lambda: cluster.hierarchy(np.empty((0, 2))),
                     lambda: cluster.hierarchy(np.empty((3, 0)))):
            with self.assertRaises(welvet.InvalidArgument):
                call()

    def test_wrong_input_is_refused_by_name(self):
        x = np.eye(4)
        for message, call in (
                ("clusters", lambda: cluster.k_means(x, 5)),
                ("clusters", lambda: cluster.k_means(x, 0)),
                ("integer", lambda: cluster.k_means(x, "two")),
                ("clusters", lambda: cluster.k_means(x, 3, start=np.eye(4)[:2])),
                ("starts", lambda: cluster.k_means(x, 2, starts=0)),
                ("row 1, column 2", lambda: cluster.k_means(np.where(
                    np.arange(16).reshape(4, 4) == 6, np.nan, x), 2)),
                ("start", lambda: cluster.k_means(x, start=np.eye(3))),
                ("labels", lambda: cluster.silhouettes(x, [0, 0, 0, 0])),
                ("labels", lambda: cluster.silhouettes(x, [0, 1])),
                ("distance", lambda: cluster.silhouettes(x, [0, 0, 1, 1], distance="city")),
                ("linkage", lambda: cluster.hierarchy(x, linkage="mean")),
                ("ward", lambda: cluster.hierarchy(x, linkage="ward", distance="cosine")),
                ("precomputed", lambda: cluster.hierarchy(x, distance="precomputed")),
                ("clusters", lambda: cluster.cut(cluster.hierarchy(x), 5)),
                ("one of", lambda: cluster.cut(cluster.hierarchy(x))),
                ("merges", lambda: cluster.cut([[0, 0, 1, 2], [0, 3, 2, 3]], 1)),
                ("ascend", lambda: cluster.cut([[0, 1, 2, 2], [2, 3, 1, 3]], 1)),
                ("shape", lambda: cluster.k_means(np.zeros(3), 1))):
            with self.assertRaisesRegex((ValueError, TypeError, welvet.LoomError), message):
                call()


class Ensembles(unittest.TestCase):
    def test_votes(self):
        members = [_network([[1, 0], [0, 1]]), _network([[0, 1], [1, 0]]),
                   _network([[2, 0], [0, 0]])]
        x = np.array([[1, 0], [0, 3]], np.float32)
        mean = Ensemble(members, softmax=False)(x)
        np.testing.assert_allclose(mean, [[1, 1 / 3], [1, 1]], rtol=1e-6)
        majority = Ensemble(members, vote="majority", weights=[1, 1, 2])
        np.testing.assert_allclose(majority(x), [[0.75, 0.25], [0.75, 0.25]])
        self.assertEqual(majority.predict(x).tolist(), [0, 0])
        self.assertEqual(majority.accuracy(x, [0, 1]), 0.5)
        found = majority.matches(x, [0, 1])
        self.assertEqual((found[0].first, found[0].second, found[0].coverage), (0, 1, 1.0))
        self.assertIn("members=3", repr(majority))

    def test_merged_it_is_one_network(self):
        x = np.random.default_rng(3).normal(size=(20, 2)).astype(np.float32)
        members = [_network([[1, 0], [0, 1]]), _network([[0.3, 2], [1, -1]]),
                   _network([[2, 0], [0, 0]])]
        for weights in (None, [1, 2, 0.5], [1, 0, 3]):
            for softmax in (True, False):
                ensemble = Ensemble(members, weights=weights, softmax=softmax)
                merged = ensemble.merge()
                np.testing.assert_allclose(merged(x), ensemble(x), atol=2e-6)
        merged.set(merged.parameters[0].name, np.zeros((2, 2), np.float32))
        self.assertEqual(members[0].get(members[0].parameters[0].name).tolist(), [[1, 0], [0, 1]])
        with self.assertRaisesRegex(ValueError, "majority"):
            Ensemble(members, vote="majority").merge()

    def test_select_keeps_those_that_help(self):
        right = _network([[1, 0], [0, 1]])
        wrong = _network([[0, 1], [1, 0]])
        x = np.array([[1, 0], [0, 1]], np.float32)
        ensemble, choice = Ensemble.select([wrong, right], x, [0, 1], steps=3)
        self.assertEqual(choice.weights, [0.0, 1.0])
        self.assertEqual((choice.accuracy, choice.best_member), (1.0, 1.0))
        self.assertIs(ensemble.networks[0], right)

    def test_wrong_input_is_refused_by_name(self):
        two = _network([[1, 0], [0, 1]])
        three = Network(layers.Sequential(layers.Input(2), layers.Linear(3)))
        for message, call in (
                ("networks", lambda: Ensemble([])),
                ("softmax=False", lambda: Ensemble([_network([[1, 0], [0, 1]], softmax=True)])),
                ("one output", lambda: Ensemble([Network(layers.Sequential(
                    layers.Input(3, 2), layers.Linear(2)))])),
                ("classes", lambda: Ensemble([two]).accuracy(np.zeros((2, 2)), [0])),
                ("classes", lambda: Ensemble([two, two]).matches(np.zeros((2, 2)), [0])),
                ("networks", lambda: Ensemble([two, "net"])),
                ("one width", lambda: Ensemble([two, three])),
                ("weights", lambda: Ensemble([two], weights=[1, 2])),
                ("weights", lambda: Ensemble([two, two], weights=[0, 0])),
                ("kind", lambda: Ensemble([two], vote="loudest")),
                ("classes", lambda: Ensemble.select([two], np.zeros((2, 2)), [0, 2])),
                ("steps", lambda: Ensemble.select([two], np.zeros((1, 2)), [0], steps=0)),
                ("correct", lambda: welvet.matches([[1, 0]])),
                ("min_coverage", lambda: welvet.matches([[1, 0], [0, 1]], 2))):
            with self.assertRaisesRegex((ValueError, TypeError, welvet.LoomError), message):
                call()
