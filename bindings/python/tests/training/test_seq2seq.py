"""Encoder-decoders that learn, run step by step and find sequences."""
import unittest

import numpy as np
import welvet
from welvet import layers as L

WORDS, STEPS = 12, 6  # ids: 0 padding, 1 start, 2 end


def reversing(dtype=None):
    """A transformer that can learn to turn sequences around."""
    source = L.Input(STEPS, ids=WORDS, name="source")
    lengths = L.Input(ids=STEPS + 1, name="source_lengths")
    target = L.Input(STEPS + 1, ids=WORDS, name="target")
    width = 32
    memory = L.Positions()(L.Embedding(width)(source))
    own = L.Attention(4, causal=False, rope=False, qkv_bias=True, out_bias=True)
    memory = L.LayerNorm()(memory + own(memory, lengths=lengths))
    h = L.Positions()(L.Embedding(width)(target))
    h = L.LayerNorm()(h + L.Attention(4, rope=False, qkv_bias=True, out_bias=True)(h))
    h = L.LayerNorm()(h + L.CrossAttention(4, qkv_bias=True, out_bias=True)(h, memory,
            lengths=lengths))
    h = L.LayerNorm()(h + L.Linear(width)(L.Linear(64, activation="relu")(h)))
    return L.Model([source, lengths, target], L.Linear(WORDS)(h), dtype=dtype)


def samples(count, seed):
    r = np.random.default_rng(seed)
    return [r.integers(3, WORDS, r.integers(1, STEPS + 1)) for _ in range(count)]


def to_learn(sources):
    """x and classes: the target begins with 1 and is followed by 2."""
    target = np.zeros((len(sources), STEPS + 1), int)
    classes = np.full((len(sources), STEPS + 1), -100)
    for row, ids in enumerate(sources):
        turned = ids[::-1]
        target[row, 0], target[row, 1 : len(ids) + 1] = 1, turned
        classes[row, : len(ids)], classes[row, len(ids)] = turned, 2
    return {"source": sources, "target": target}, classes


class Learned(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.network = welvet.Network(reversing(), seed=3)
        x, classes = to_learn(samples(1500, 1))
        cls.network.train(x, classes, epochs=24, batch_size=50, lr=3e-3,
                          optimizer="adamw", progress=False)

    def test_finds_what_it_learned(self):
        given = samples(40, 2)
        both = welvet.Seq2Seq(self.network, "target")
        wanted = [list(ids[::-1]) + [2] for ids in given]
        for options in ({}, {"beams": 3}):
            found = both.generate({"source": given}, start=1, end=2, **options)
            right = sum(a == b for a, b in zip(found, wanted))
            self.assertGreaterEqual(right, 38, options)
        best = both.search({"source": given}, start=[1], end=2, beams=3)
        self.assertTrue(all(len(row) == 3 for row in best))
        self.assertTrue(all(row[0].finished for row in best))

    def test_is_saved_and_loaded(self):
        given = samples(5, 3)
        again = welvet.Network.from_bytes(self.network.to_bytes())
        one, two = (welvet.Seq2Seq(n, "target").search({"source": given}, start=1, end=2, beams=2)
                    for n in (self.network, again))
        self.assertEqual(one, two)

    def test_draws_repeat_by_seed(self):
        both = welvet.Seq2Seq(self.network, "target")
        draw = lambda seed: both.generate({"source": samples(4, 4)}, start=1, end=2,
                                          temperature=3.0, seed=seed)
        self.assertEqual(draw(5), draw(5))
        self.assertNotEqual(draw(5), draw(6))
        self.assertEqual(draw(-1), draw(2**64 - 1))


class Steps(unittest.TestCase):
    def setUp(self):
        self.network = welvet.Network(reversing(), seed=1)
        self.x, _ = to_learn(samples(5, 9))

    def check_steps(self, network, kind):
        whole = network.forward(self.x)
        both = welvet.Seq2Seq(network, "target")
        both.encode(source=self.x["source"])
        for t in range(STEPS + 1):
            y = both.step(self.x["target"][:, t])
            self.assertEqual(y.dtype, kind)
            np.testing.assert_array_equal(y, whole[:, t])

    def test_are_the_bits_of_whole_rows(self):
        self.check_steps(self.network, np.float32)
        self.check_steps(welvet.Network(reversing("f64"), seed=1), np.float64)

    def test_see_changes_of_the_network(self):
        both = welvet.Seq2Seq(self.network, "target")
        both.encode(self.x["source"])
        before = both.step([1] * 5)
        self.network.initialize(7)
        with self.assertRaisesRegex(welvet.InvalidArgument, "after encode"):
            both.step([1] * 5)
        both.encode(self.x["source"])
        self.assertFalse(np.array_equal(before, both.step([1] * 5)))
        self.network.morph("i8")
        both.encode(self.x["source"])
        self.assertTrue(np.isfinite(both.step([1] * 5)).all())

    def test_go_on_in_other_rows(self):
        both = welvet.Seq2Seq(self.network, "target", lanes=5)
        both.encode(self.x["source"])
        both.step([1, 2, 3, 4, 5])
        straight = both.step([6] * 5)
        both.encode(self.x["source"])
        both.step([1, 2, 3, 4, 5])
        both.reorder([4, 0, 0])
        np.testing.assert_array_equal(both.step([6] * 3), straight[[4, 0, 0]])
        self.assertEqual(both.info["rows"], 3)
        self.assertEqual(both.info["position"], 2)

    def test_values_are_a_target_too(self):
        history, target = L.Input(6, 2, name="history"), L.Input(4, 2, name="target")
        _, h = L.GRU(5, return_state=True)(history)
        model = L.Model([history, target], L.Linear(2)(L.GRU(5)(target, h0=h)))
        network = welvet.Network(model, seed=2)
        r = np.random.default_rng(1)
        x = {"history": r.normal(size=(3, 6, 2)), "target": r.normal(size=(3, 4, 2))}
        both = welvet.Seq2Seq(network, "target")
        both.encode(x["history"])
        got = np.stack([both.step(x["target"][:, t]) for t in range(4)], 1)
        np.testing.assert_array_equal(got, network.forward(x))
        with self.assertRaisesRegex(welvet.InvalidArgument, "a search is for ids"):
            both.generate(x["history"], start=1)


class Refused(unittest.TestCase):
    def test_by_name(self):
        network = welvet.Network(reversing(), seed=1)
        both = welvet.Seq2Seq(network, "target", lanes=2)
        for wanted, do in (
            ("no input is named", lambda: welvet.Seq2Seq(network, "tgt")),
            ("attention", lambda: welvet.Seq2Seq(network, "source")),
            ("name the device", lambda: welvet.Seq2Seq(network, "target", mode="auto")),
            ("unknown key.*lane", lambda: welvet.Seq2Seq(network, "target", lane=2)),
            ("1 to 2 rows", lambda: both.encode(samples(3, 1))),
            ("after encode", lambda: both.step([])),
            ("start", lambda: both.search(samples(1, 1), start=[])),
            ("ids are below", lambda: both.search(samples(1, 1), start=99)),
            ("lanes", lambda: both.search(samples(1, 1), start=1, beams=3)),
            ("positions", lambda: both.search(samples(1, 1), start=1, max_tokens=99)),
            ("temperature", lambda: both.search(samples(1, 1), start=1, beams=2, temperature=1.0)),
        ):
            with self.subTest(wanted), self.assertRaisesRegex(welvet.LoomError, wanted):
                do()
        for do in (
            lambda: both.encode({"source": samples(1, 1), "target": [[1]]}),
            lambda: both.encode(samples(1, 1), source=samples(1, 1)),
            lambda: both.search(samples(1, 1), start=1, beams=2.5),
            lambda: both.search(samples(1, 1), start=1.5),
            lambda: both.search(samples(1, 1), start=True),
            lambda: both.step([1.5]),
        ):
            with self.assertRaises((TypeError, ValueError)):
                do()

    def test_nothing_is_taken_and_ignored(self):
        source, n = L.Input(4, ids=9, name="source"), L.Input(ids=6, name="n")
        target = L.Input(5, ids=9, name="target")
        h = L.Positions()(L.Embedding(8)(target))
        h = L.Attention(2, rope=False)(h, lengths=n)  # of the target, which steps do not have
        model = L.Model([source, n, target], L.CrossAttention(2)(h, L.Embedding(8)(source)))
        network = welvet.Network(model)
        both = welvet.Seq2Seq(network, "target")
        self.assertEqual([one["name"] for one in both.info["sources"]], ["source"])
        with self.assertRaisesRegex(TypeError, "'n' is no input"):
            both.encode({"source": [[1, 2, 3, 4]], "n": [2]})
        with self.assertRaisesRegex(welvet.OutOfRange, "\"max_positions\" are 9, and .* has 5"):
            welvet.Seq2Seq(network, "target", max_positions=9)
        history, values = L.Input(3, 2, name="history"), L.Input(4, 2, name="target")
        _, state = L.GRU(5, return_state=True)(history)
        network = welvet.Network(L.Model([history, values], L.GRU(5)(values, h0=state)))
        both = welvet.Seq2Seq(network, "target")
        with self.assertRaisesRegex(welvet.OutOfRange, "value 1 is 1e.?39, beyond the f32"):
            both.encode([[[0, 1e39], [0, 0], [0, 0]]])
        both.encode(np.zeros((1, 3, 2)))
        with self.assertRaisesRegex(welvet.OutOfRange, "beyond the f32"):
            both.step([[0, -1e39]])
        both.step([[0, 1]])  # a refused step has changed nothing

    def test_layers_that_need_all_steps(self):
        source, target = L.Input(4, ids=9, name="source"), L.Input(5, ids=9, name="target")
        memory = L.Embedding(8)(source)
        h = L.Embedding(8)(target)
        for layer, wanted in (
            (L.LSTM(8, bidirectional=True), "lstm at"),
            (L.Attention(2, causal=False), "causal"),
            (L.GRU(8, output="last"), "gru at"),
            (L.TimeDistributed(L.Linear(8)), "time_distributed at"),
        ):
            y = L.CrossAttention(2)(L.Linear(8)(h), memory)
            whole = layer(y)
            with self.assertRaisesRegex(welvet.Unsupported, wanted):
                welvet.Seq2Seq(welvet.Network(L.Model([source, target], whole)), "target")
