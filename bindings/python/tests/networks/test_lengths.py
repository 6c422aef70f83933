"""Sequences of unequal length, first and last states, attention dropout (findings A9, D)."""

import json
import re
import unittest

import numpy as np

from source import ROOT
import welvet
from welvet import Network, layers as L
from welvet.layers import model as _model

SEQUENCES = [np.arange(k) % 9 for k in (3, 8, 1, 5)]
TAGS = [s % 4 for s in SEQUENCES]


def tagger(**settings):
    x, n = L.Input(8, ids=9, name="x"), L.Input(ids=9, name="lengths")
    h = L.LSTM(6, bidirectional=True)(L.Embedding(5, std=0.5)(x), lengths=n)
    return L.Model([x, n], L.Linear(4)(h))


def arrays():
    x = np.zeros((4, 8), int)
    tags = np.full((4, 8), -100)
    for row, tag, s, t in zip(x, tags, SEQUENCES, TAGS):
        row[: len(s)], tag[: len(s)] = s, t
    return {"x": x, "lengths": [len(s) for s in SEQUENCES]}, tags


class Lengths(unittest.TestCase):
    def setUp(self):
        self.net = Network(tagger(), seed=1)

    def test_lists_are_padded_and_their_lengths_filled_in(self):
        x, _ = arrays()
        want = self.net(x)
        for given in (
            SEQUENCES,
            [s.tolist() for s in SEQUENCES],
            tuple(SEQUENCES),
            {"x": SEQUENCES},
            np.array(SEQUENCES, dtype=object),
        ):
            np.testing.assert_array_equal(self.net(given), want)
        x["x"][0, 3:] = 7  # nobody sees it
        np.testing.assert_array_equal(self.net(x), want)
        even = self.net(
            [SEQUENCES[3], SEQUENCES[3]]
        )  # shorter than the network's steps, all of them
        np.testing.assert_array_equal(even, want[[3, 3]])

    def test_unequal_lists_are_learned_as_padded_arrays_are(self):
        same = Network(tagger(), seed=1)
        how = dict(epochs=30, lr=0.02, progress=False)
        a = self.net.train(SEQUENCES, TAGS, validation=(SEQUENCES, TAGS), **how)
        x, y = arrays()
        b = same.train(x, y, **how)
        self.assertEqual(a.losses, b.losses)
        self.assertEqual(self.net.digest(), same.digest())
        self.assertLess(a.losses[-1], a.losses[0] / 3)
        self.assertGreater(a["validation_accuracy"][-1], 0.9)

    def test_a_training_is_saved_and_goes_on(self):
        x, y = arrays()
        whole, cut = Network(tagger(), seed=1), Network(tagger(), seed=1)
        with whole.trainer(x, y, epochs=6, batch_size=2) as trainer:
            trainer.run()
        with cut.trainer(x, y, epochs=6, batch_size=2) as trainer:
            trainer.step(5)
            state = trainer.to_bytes()
        again = Network(tagger(), seed=1)
        with again.trainer(x, y, epochs=6, batch_size=2) as trainer:
            trainer.resume(state)
            trainer.run()
        self.assertEqual(again.digest(), whole.digest())
        np.testing.assert_array_equal(again(x), whole(x))

    def test_what_does_not_fit_is_refused_by_name(self):
        plain = Network(
            L.Sequential(L.Input(8, ids=9), L.Embedding(5), L.LSTM(3), L.Linear(2)), seed=1
        )
        x, y = arrays()
        for bad, error, text in (
            (lambda: plain(SEQUENCES), ValueError, "sequences of 1 and of 8 steps.*lengths"),
            (
                lambda: self.net(SEQUENCES + [np.zeros(9, int)]),
                ValueError,
                "sequence 4 has 9 steps.*8",
            ),
            (
                lambda: self.net({"x": SEQUENCES, "lengths": x["lengths"]}),
                ValueError,
                "'lengths' is given",
            ),
            (
                lambda: plain.train(x["x"], TAGS, progress=False),
                ValueError,
                "targets of 1 and of 8",
            ),
            (
                lambda: self.net.train(SEQUENCES, [t + 0.5 for t in TAGS], progress=False),
                ValueError,
                "targets of 1 and of 8",
            ),
            (
                lambda: self.net({**x, "lengths": [9, 1, 1, 1]}),
                welvet.LoomError,
                "row 0: lengths.*below 9, got 9",
            ),
            (
                lambda: self.net({**x, "lengths": [1, -1, 1, 1]}),
                welvet.LoomError,
                "row 1: lengths.*got -1",
            ),
            (lambda: self.net({**x, "lengths": [1, 1.5, 1, 1]}), ValueError, "lengths.*got 1.5"),
            (
                lambda: Network(L.Model(L.Input(3), L.Linear(2)(L.Input(3), lengths=1))),
                TypeError,
                "dense: takes no operand 'lengths'",
            ),
        ):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                bad()
        layer, value, n = L.LSTM(2), L.Input(8, 3, name="v"), L.Input(ids=9, name="n")
        layer(value)
        with self.assertRaisesRegex(TypeError, "takes nothing by name elsewhere, lengths here"):
            layer(value, lengths=n)
        with self.assertRaisesRegex(TypeError, "takes no operand 'length'"):
            L.GRU(2)(value, length=n)
        with self.assertRaisesRegex(welvet.LoomError, "outputs: 1 is of ids"):
            Network(L.Model([value, n], [L.GRU(2)(value, lengths=n), n]))
        with self.assertRaisesRegex(welvet.LoomError, "one id below 9.*below 30"):
            k = L.Input(ids=30, name="k")
            Network(L.Model([value, k], L.GRU(2)(value, lengths=k)))

    def test_inputs_have_lengths_of_their_own(self):
        a, n, b, m = (
            L.Input(4, 3, name="a"),
            L.Input(ids=5, name="a_lengths"),
            L.Input(6, 2, name="b"),
            L.Input(ids=7, name="lengths"),
        )
        net = Network(
            L.Model(
                [a, n, b, m],
                L.concat(L.PoolSteps()(a, lengths=n), L.PoolSteps("last")(b, lengths=m)),
            ),
            seed=1,
        )
        rng = np.random.default_rng(1)
        one, two = [rng.normal(size=(k, 3)) for k in (1, 4)], [
            rng.normal(size=(k, 2)) for k in (6, 2)
        ]
        y = net({"a": one, "b": two})
        np.testing.assert_allclose(y[:, :3], [s.mean(0) for s in one], rtol=1e-5)
        np.testing.assert_allclose(y[:, 3:], [s[-1] for s in two], rtol=1e-6)


class States(unittest.TestCase):
    def test_a_sequence_cut_in_two_goes_on_from_its_state(self):
        x = np.random.default_rng(1).normal(size=(5, 6, 3)).astype(np.float32)
        for kind in (L.RNN, L.GRU, L.LSTM):
            whole = Network(L.Sequential(L.Input(6, 3), kind(4)), seed=1)
            first, second, layer = (
                L.Input(3, 3, name="first"),
                L.Input(3, 3, name="second"),
                kind(4, return_state=True),
            )
            names = ["h0", "c0"] if kind is L.LSTM else ["h0"]
            start = {name: L.Input(4, name=name) for name in names}
            _, *states = layer(first, **start)
            _, *ends = layer(second, **dict(zip(names, states)))
            cut = (
                Network(L.Model([first, second, *start.values()], ends), seed=None)
                if len(ends) > 1
                else Network(L.Model([first, second, *start.values()], ends[0]), seed=None)
            )
            for p in whole.parameters:
                where = next(q for q in cut.parameters if q.role == p.role)
                cut.set(where.name, whole.get(p.name))
            zeros = np.zeros((5, 4), np.float32)
            y = cut({"first": x[:, :3], "second": x[:, 3:], **{name: zeros for name in names}})
            np.testing.assert_array_equal(y[0] if len(ends) > 1 else y, whole(x)[:, -1])

    def test_operands_by_name_are_those_of_the_library(self):
        schema = json.loads((ROOT / "docs/reference/topology.schema.json").read_text())
        described = {}
        for kind, layer in schema["$defs"].items():
            takes = layer.get("properties", {}).get("takes")
            if takes:
                described[kind] = set(re.findall("`(lengths|mask|h0|c0)`", takes["description"]))
        self.assertEqual({kind: set(names) for kind, names in _model._TAKES.items()}, described)

    def test_hidden_keys_lie_below_every_score(self):
        """Also below those of -1e38: a query that sees one key alone gives its value."""
        for named, key, of in (
            ("mask", L.Input(3, name="k"), [[0, 1, 1]]),
            ("lengths", L.Input(ids=4, name="k"), [1]),
        ):
            for dtype, size in (("f32", 1e16), ("f32", 1e19), ("f64", 1e100)):
                x = L.Input(3, 2, name="x")
                layer = L.Attention(1, causal=False, rope=False)
                network = Network(
                    L.Model([x, key], layer(x, **{named: key}), dtype=dtype), seed=None
                )
                for parameter in network.parameters:
                    network.set(parameter.name, -np.eye(2) if parameter.role == "q" else np.eye(2))
                given = np.array([[[size, 0], [-size, 0], [0, size]]])
                self.assertEqual(
                    network({"x": given, "k": of})[0, 0, 0],
                    network({"x": given, "k": of}).dtype.type(size),
                )

    def test_dropout_of_attention_is_of_training_alone(self):
        def made(rate):
            return Network(
                L.Sequential(
                    L.Input(5, 4), L.Attention(2, dropout=rate), L.PoolSteps(), L.Linear(2)
                ),
                seed=1,
            )

        x, y = np.random.default_rng(1).normal(size=(8, 5, 4)), np.arange(8) % 2
        np.testing.assert_array_equal(made(0.5)(x), made(0)(x))
        losses = {}
        for rate, seed in ((0, 1), (0.5, 1), (0.5, 2)):
            net = made(rate)
            losses[rate, seed] = net.train(x, y, epochs=3, seed=seed, progress=False).losses
            again = made(rate)
            self.assertEqual(
                again.train(x, y, epochs=3, seed=seed, threads=2, progress=False).losses,
                losses[rate, seed],
            )
        self.assertEqual(len({tuple(v) for v in losses.values()}), 3)
