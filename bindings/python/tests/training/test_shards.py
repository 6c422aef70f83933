"""Steps in shards, fixed parameters, moments by name, federations."""
import unittest

import numpy as np
import welvet
from welvet import Network, flower
from welvet import layers as L

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(96, 6)).astype(np.float32)
Y = (X[:, :3] * X[:, 3:]).astype(np.float32)


def network():
    return Network(L.Sequential(L.Input(6), L.Linear(9, activation="tanh", fixed=["bias"]),
                                L.BatchNorm(), L.Linear(3)), seed=1)


def trainer(net, **settings):
    return net.trainer(X, Y, **{"batch_size": 24, "steps": 9, "lr": 0.02, "micro_batches": 4,
                                **settings})


class Shards(unittest.TestCase):

    def test_workers_have_the_bits_of_one(self):
        for optimizer in ("adamw", "adam", {"type": "sgd", "momentum": 0.9}):
            alone = trainer(network(), optimizer=optimizer)
            workers = [trainer(network(), optimizer=optimizer) for _ in range(3)]
            for _ in range(6):
                loss = alone.step().loss
                shards = [workers[(i * 2) % 3].shard(i) for i in reversed(range(4))][::-1]
                for worker in workers:
                    self.assertEqual(worker.apply(shards).loss, loss)
            self.assertEqual({w.digest() for w in workers}, {alone.digest()})

    def test_given_samples(self):
        one = trainer(network())
        data = welvet.Data.values(X[:6], Y[:6])
        shards = [one.shard(i, data) for i in range(4)]
        self.assertEqual(one.apply(shards).rows, 24)
        with self.assertRaisesRegex(ValueError, "at most the 6 samples"):
            one.shard(0, welvet.Data.values(X[:7], Y[:7]))

    def test_refusals(self):
        one = trainer(network())
        shards = [one.shard(i) for i in range(4)]
        before = one.digest()
        for wrong, message in ((shards[:3], "got 3 shards"), (shards[::-1], "shard 0 is number 3"),
                               (shards[:3] + [b"nothing"], "these bytes are none"),
                               (shards[:3] + [shards[3][:-1] + b"x"], "SHA-256")):
            with self.assertRaisesRegex(welvet.LoomError, message):
                one.apply(wrong)
        self.assertEqual(one.digest(), before)
        with self.assertRaisesRegex(ValueError, "another spec"):
            trainer(network(), lr=0.03).apply(shards)
        other = network()
        other.set("0.0.0.2:bias", np.ones((1, 3)))
        with self.assertRaisesRegex(ValueError, "other weights"):
            trainer(other).apply(shards)
        with self.assertRaisesRegex(ValueError, "fp8"):
            trainer(network(), fp8=True).shard(0)
        one.apply(shards)
        with self.assertRaisesRegex(ValueError, "is of step 1, the next one is 2"):
            one.apply(shards)

    def test_moments_continue_a_training(self):
        net = network()
        one = trainer(net)
        one.step(4)
        two = trainer(net.copy())
        for name, shape in one.moments.items():
            self.assertEqual(one.get_moment(name).shape, shape)
            two.set_moment(name, one.get_moment(name))
        two.set_step(4)
        one.step(5)
        two.step(5)
        self.assertEqual(one.digest(), two.digest())
        with self.assertRaisesRegex(welvet.LoomError, "no moment"):
            one.set_moment("0.0.0.0:bias:m", np.zeros((1, 9)))  # fixed
        with self.assertRaises(ValueError):
            one.set_moment("0.0.0.0:weight:m", np.full((9, 6), np.nan))


class Fixed(unittest.TestCase):

    def test_what_is_fixed_stays_with_every_method(self):
        for method in ("back_propagation", "mono_forward", "target_propagation",
                       "direct_feedback_alignment"):
            net = Network(L.Sequential(L.Input(6), L.Linear(8, activation="tanh", fixed=["bias"]),
                                       L.Linear(8, activation="tanh", fixed=["all"]),
                                       L.Linear(3)), seed=2)
            net.set("0.0.0.0:bias", np.full((1, 8), 0.25))
            before = {p.name: net.get(p.name) for p in net.parameters}
            net.train(X, Y, epochs=2, method=method, progress=False)
            moved = {name for name in before if (net.get(name) != before[name]).any()}
            self.assertEqual(moved, {"0.0.0.0:weight", "0.0.0.2:weight", "0.0.0.2:bias"})
        again = Network(net.topology, seed=2)
        self.assertEqual(again.topology, net.topology)

    def test_unknown_roles_are_refused(self):
        with self.assertRaisesRegex(ValueError, "there is no parameter gain"):
            Network(L.Sequential(L.Input(6), L.Linear(3, fixed=["gain"])))
        with self.assertRaises((ValueError, TypeError)):
            Network(L.Sequential(L.Input(6), L.Linear(3, fixed=True)))

    def test_batch_norm_keeps_batch_statistics_where_the_gain_is_fixed(self):
        for roles, moves in ((["gain", "bias"], True), (["all"], False)):
            net = Network(L.Sequential(L.Input(6), L.BatchNorm(fixed=roles), L.Linear(3)), seed=1)
            net.train(X, Y, epochs=1, progress=False)
            mean = net.get("0.0.0.0:running_mean")
            self.assertEqual(bool((mean != 0).any()), moves)
            self.assertTrue((net.get("0.0.0.0:gain") == 1).all())


class Federation(unittest.TestCase):

    def test_the_mean_is_a_tree_over_the_partitions(self):
        parts = [(float(i + 1), {"w": RANDOM.normal(size=(3, 2))}) for i in range(5)]
        w = [weight * arrays["w"] for weight, arrays in parts]
        expected = (((w[0] + w[1]) + (w[2] + w[3])) + w[4]) / 15
        self.assertTrue((flower.tree_mean(parts)["w"] == expected).all())
        for wrong in ([], [(0.0, {"w": w[0]})], [(1.0, {"w": w[0]}), (1.0, {"v": w[0]})]):
            with self.assertRaises(ValueError):
                flower.tree_mean(wrong)

    def test_a_federation_learns_and_repeats(self):
        partitions = [(X[i::4], Y[i::4]) for i in range(4)]
        settings = {"rounds": 3, "epochs": 1, "batch_size": 8, "lr": 0.02}
        one = flower.federate(network(), partitions, **settings)
        self.assertEqual(one.digest(),
                         flower.federate(network(), partitions, **settings).digest())
        before, after = (float(((net(X) - Y)**2).mean()) for net in (network(), one))
        self.assertLess(after, before)
        lora = flower.federate(network(), partitions, lora={"rank": 2}, **settings)
        self.assertTrue((lora.get("0.0.0.2:weight") == network().get("0.0.0.2:weight")).all())
        self.assertGreater(float(np.abs(lora(X) - network()(X)).max()), 1e-3)


class SecureAggregation(unittest.TestCase):

    def test_options_out_of_range_are_refused(self):
        for options, message in (
                ({"num_shares": 2}, "num_shares: expects a whole number from 3"),
                ({"num_shares": 0.5}, "num_shares: expects a whole"),
                ({"num_shares": True}, "num_shares: expects a whole"),
                ({"reconstruction_threshold": 1}, "reconstruction_threshold: .* from 2"),
                ({"num_shares": 5, "reconstruction_threshold": 6},
                 "reconstruction_threshold: .* from 2 to 5, got 6"),
                ({"clipping_range": 0}, "clipping_range: expects a number"),
                ({"clipping_range": float("nan")}, "clipping_range: .* got nan"),
                ({"clipping_range": "8"}, "clipping_range: .* got '8'"),
                ({"quantization_range": 1 << 31}, "quantization_range: .* from 2 to 1073741824"),
                ({"quantization_range": 2.0**20}, "quantization_range: expects a whole"),
                ({"quantization_range": 64, "max_weight": 65}, "max_weight: .* from 1 to 64"),
                ({"max_weight": 0.5}, "max_weight: .* got 0.5"),
                ({"missing": -1}, "missing: .* got -1"),
                ({"timeout": 0}, "timeout: expects a number")):
            with self.assertRaisesRegex(ValueError, "^secure: " + message, msg=options):
                flower.Secure(**options)
        with self.assertRaises(TypeError):
            flower.Secure(modulus_range=1 << 20)

    def test_options_that_do_not_fit_the_clients_are_refused(self):
        for options, clients, message in (
                ({}, 2, "at least 3 clients, got 2"),
                ({"num_shares": 5}, 4, "5 is more than the 4 clients"),
                ({"num_shares": 4}, 6, "an odd number or the 6 clients, got 4"),
                ({"reconstruction_threshold": 4}, 3, "4 is more than the 3 shares"),
                ({"missing": 2}, 3, "missing: expects at most 1, as 2 of 3 shares"),
                ({"quantization_range": 1 << 30}, 4, "at most 1073741823 for 4 clients")):
            with self.assertRaisesRegex(ValueError, message):
                flower.Secure(**options).of(clients)
        made = flower.Secure(missing=3).of(8)
        self.assertEqual((made.num_shares, made.reconstruction_threshold), (8, 5))
        self.assertEqual(made.of(8), made)

    def test_a_federation_in_one_process_takes_none(self):
        partitions = [(X[i::4], Y[i::4]) for i in range(4)]
        for secure in (True, flower.Secure()):
            with self.assertRaisesRegex(ValueError, "no bits to repeat"):
                flower.federate(network(), partitions, rounds=1, secure=secure, epochs=1)
        with self.assertRaisesRegex(TypeError, "expects True or welvet.flower.Secure"):
            flower.federate(network(), partitions, rounds=1, secure={"num_shares": 3}, epochs=1)

    def test_the_bound_holds_for_what_flower_computes(self):
        random = np.random.default_rng(5)
        for _ in range(300):
            clients = int(random.integers(3, 9))
            secure = flower.Secure(
                clipping_range=float(random.choice([0.3, 1.0, 8.0, 1e6])),
                quantization_range=int(random.choice([97, 1000, 1 << 16, (1 << 28) - 1])),
                max_weight=float(random.choice([90, 96.5])))
            samples = random.integers(1, 91, clients)
            limit = secure.clipping_range
            weights = random.uniform(-limit, limit, (clients, 50))
            weights[:, :2] = limit, -limit  # the ends of the range
            q = secure.quantization_range
            parts = [round(n / secure.max_weight * q) for n in samples]
            self.assertTrue(all(parts))
            total = np.zeros(50)
            for part, w in zip(parts, weights):  # as Flower's client, without masks
                place = (np.clip(w * (part / q), -limit, limit) + limit) * (q / (2 * limit))
                up = np.ceil(place)
                total += up - (random.random(50) < up - place)
            mean = total * (2 * limit / q) - limit - (clients - 1) * limit
            mean *= q / sum(parts)
            true = (weights * samples[:, None]).sum(axis=0) / samples.sum()
            self.assertLessEqual(np.abs(mean - true).max(), secure.bound(samples))
        exact = flower.Secure(max_weight=128)
        self.assertAlmostEqual(exact.bound([64] * 4) * sum([64 * (1 << 22) // 128] * 4) / 64, 1)
        for wrong in ([64, 0], [64, 2000]):
            with self.assertRaisesRegex(ValueError, "expects 1 to max_weight"):
                exact.bound(wrong)
