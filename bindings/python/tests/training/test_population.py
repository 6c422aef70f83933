"""Neuroevolution."""
import os
import tempfile
import unittest

import numpy as np

import welvet

X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
Y = np.array([0, 1, 1, 0], np.float32)
XOR_SEED_1 = "7f43958639ab6906ab9f505007c03ef489fef96cffda9fefcdea2e65f2066009"


class PopulationTest(unittest.TestCase):
    def test_xor_has_its_champion_for_any_threads(self):
        for threads in (1, 2):
            with welvet.Population("xor", threads=threads) as p:
                info = p.run(300)
                self.assertTrue(info["reached"])
                self.assertEqual(info["champion"]["sha256"], XOR_SEED_1)
                y = p.champion.activate(X)
                self.assertEqual(y.shape, (4, 1))
                self.assertTrue(np.array_equal(y[:, 0] > 0.5, Y > 0.5))
                self.assertTrue(np.array_equal(p.champion.activate(X[1]), y[1]))
                self.assertEqual(p.champion.data["sha256"], XOR_SEED_1)

    def test_a_function_gives_the_bits_of_the_task(self):
        def fitness(genome):
            y = genome.activate(X)[:, 0].astype(np.float64)
            return 4 - sum((y - Y) ** 2)

        p = welvet.Population(inputs=2, outputs=1, goal=3.9)
        seen = []
        info = p.run(300, fitness, progress=lambda i: seen.append(i["generation"]))
        self.assertEqual(info["champion"]["sha256"], XOR_SEED_1)
        self.assertEqual(seen, list(range(info["generation"] + 1)))

    def test_a_table_and_a_file(self):
        p = welvet.Population(x=X, y=Y, score="accuracy", population=40, seed=3)
        p.run(5)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.json")
            saved = p.save(path)
            q, r = welvet.Population.load(path, threads=1), welvet.Population.load(saved)
        p.run(4)
        q.run(4, progress=lambda info: None)
        r.run(4)
        self.assertEqual(p.save(), q.save())
        self.assertEqual(p.save(), r.save())
        with self.assertRaises(welvet.Corrupt):
            welvet.Population.load(saved.replace(b'"generation":4', b'"generation":5'))

    def test_recurrent_genomes_hold_values(self):
        p = welvet.Population(inputs=1, outputs=1, recurrent=True, add_edge=1, population=30)
        for _ in range(8):
            p.set_fitness(np.arange(30))
            p.step()
        genome = max((p[i] for i in range(30)), key=lambda g: len(g.data["edges"]))
        a = genome.activate(np.ones((6, 1)))
        genome.reset()
        b = np.stack([genome.activate([1]) for _ in range(6)])
        self.assertTrue(np.array_equal(a, b))
        self.assertFalse((a[0] == a[1:]).all())

    def test_refusals(self):
        with self.assertRaisesRegex(welvet.InvalidArgument, "populaton"):
            welvet.Population("xor", populaton=3)
        with self.assertRaisesRegex(welvet.InvalidArgument, "inputs"):
            welvet.Population()
        with self.assertRaises(TypeError):
            welvet.Population(5)
        with self.assertRaises(TypeError):
            welvet.Population("xor", x=X)
        with self.assertRaises(ValueError):
            welvet.Population(x=[[np.nan]], y=[[1]])
        p = welvet.Population(inputs=2, outputs=1, population=5)
        with self.assertRaises(welvet.InvalidArgument):
            p.evaluate()
        with self.assertRaises(welvet.InvalidArgument):
            p.champion.activate([0, 0])
        with self.assertRaises(welvet.InvalidArgument):
            p.set_fitness([1, 2])
        with self.assertRaises(ValueError):
            p.activate([1, 2, 3], 0)
        with self.assertRaises(welvet.InvalidArgument):
            p.activate([np.inf, 2], 0)
        with self.assertRaises(IndexError):
            p[5]
        with self.assertRaises(ValueError):
            p.run(0)
        first = p[0]
        p.set_fitness(range(5))
        p.step()
        with self.assertRaisesRegex(ValueError, "generation 0"):
            first.activate([0, 0])
        p = welvet.Population("double_pole")
        p.cancel()
        with self.assertRaises(welvet.Cancelled):
            p.run(100)

    def start(self, seed=1):
        L = welvet.layers
        return welvet.Network(L.Sequential(L.Input(2), L.Linear(5, activation="tanh"),
                                           L.Linear(2)), seed=seed)

    def test_children_share_nothing_and_repeat(self):
        a, b = self.start(1), self.start(2)
        before = a.digest(), b.digest()
        one, report = a.splice(b, method="uniform", align=True, seed=7)
        two, _ = a.splice(b, method="uniform", align=True, seed=7)
        self.assertEqual(one.digest(), two.digest())
        self.assertEqual(report["crossed"], 2)
        one.set("0.0.0.0:bias", np.full(5, 9, np.float32))
        mutant, done = a.mutate(3, insert=1, retype=1)
        self.assertEqual(mutant.digest(), a.mutate(3, insert=1, retype=1)[0].digest())
        self.assertTrue(done["done"])
        self.assertTrue(np.isfinite(mutant(X)).all())
        self.assertEqual((a.digest(), b.digest()), before)
        with self.assertRaises(TypeError):
            a.splice(3)
        with self.assertRaisesRegex(welvet.InvalidArgument, "alpha"):
            a.splice(b, method="point", alpha=0.5)

    def test_grafts_are_whole_networks(self):
        a, b = self.start(1), self.start(2)
        mean = welvet.graft(a, b, combine="mean")(X)
        self.assertTrue(np.allclose(mean, (a(X) + b(X)) / 2, atol=1e-6))
        self.assertEqual(welvet.graft(a, b, a)(X).shape, (4, 6))
        with self.assertRaisesRegex(welvet.InvalidArgument, "at least one"):
            welvet.graft()
        with self.assertRaises(TypeError):
            welvet.Network.graft([a, 1])

    def test_networks_evolve_by_a_function_with_trained_weights(self):
        p = welvet.Population(network=self.start(), population=4, seed=2)
        self.assertEqual((p.inputs, p.outputs, len(p)), (2, 2, 4))

        def fitness(member):
            return -float(((member.activate(X)[:, 0] - Y) ** 2).mean())
        info = p.run(3, fitness)
        self.assertEqual(info["level"], "networks")
        self.assertEqual(p.champion.data["sha256"], info["champion"]["sha256"])
        self.assertTrue(np.array_equal(p.network()(X), p.champion.activate(X)))
        q = welvet.Population.load(p.save())
        self.assertEqual(q.save(), p.save())
        member = q[1].network
        name = member.parameters[0].name
        member.set(name, np.zeros_like(member.get(name)))
        q[1].network = member
        self.assertEqual(q[1].network.digest(), member.digest())
        with self.assertRaisesRegex(welvet.InvalidArgument, "topology"):
            q[1].network = welvet.graft(self.start(), self.start())

    def test_the_champion_becomes_a_network(self):
        p = welvet.Population("xor", seed=1)
        p.run(300)
        network = p.network()
        x = np.float32([[0, 0], [0, 1], [1, 0], [1, 1]])
        y = np.float32([[0], [1], [1], [0]])
        self.assertTrue(np.array_equal(network(x), p.champion.activate(x)))
        self.assertTrue(np.array_equal(p[3].network(x), p[3].activate(x)))
        before = float(((network(x) - y) ** 2).mean())
        network.train(x, y, epochs=200, batch_size=4, lr=0.02, progress=False)
        self.assertLess(float(((network(x) - y) ** 2).mean()), before / 4)
        with self.assertRaisesRegex(welvet.Unsupported, "from row to row"):
            welvet.Population("double_pole", recurrent=True).network(0)
        with self.assertRaisesRegex(welvet.Unsupported, "take no weights"):
            p.set_network(0, network)
