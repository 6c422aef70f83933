"""Where ids, classes and positions are taken, nothing is cut off and nothing wraps (finding A8)."""

import unittest

import numpy as np

from source import ROOT
from welvet import Data, Network, Session, Trainer, Transformer, layers

TINY = ROOT / "tests/cases/data/tiny.entity"
X = np.random.RandomState(0).rand(4, 3).astype(np.float32)
# What is wrong about the value at place 1, and how a message spells it.
WRONG = {
    "a fraction": ([1, 1.9, 1, 0], r"1\.9"),
    "NaN": ([1, float("nan"), 1, 0], "nan"),
    "infinity": ([1, float("inf"), 1, 0], "inf"),
    "int64": ([1, 2**32 + 1, 1, 0], "4294967297"),
    "below int32": ([1, -(2**31) - 1, 1, 0], "-2147483649"),
    "uint64": (np.array([1, 2**64 - 1, 1, 0], np.uint64), "18446744073709551615"),
    "uint32": (np.array([1, 2**31, 1, 0], np.uint32), "2147483648"),
    "float64": ([1.0, 2.0**31, 1, 0], r"2147483648\.0"),
    "float32": (np.array([1, 2**31, 1, 0], np.float32), r"2147483648\.0"),
    "Python's integers": ([1, 2**70, 1, 0], str(2**70)),
    "None": ([1, None, 1, 0], "None"),
}


def classifier():
    return Network(layers.Sequential(layers.Input(3), layers.Linear(2)), seed=1)


class Integers(unittest.TestCase):
    def setUp(self):
        self.network = Network(layers.Sequential(layers.Input(ids=8), layers.Embedding(2)), seed=1)
        self.rows = Network(layers.Sequential(layers.Input(4, ids=8), layers.Embedding(2)), seed=1)
        self.session = Session(
            self.network, max_rows=4, max_head_rows=4, max_positions=8, sequences=2
        )
        self.model = Transformer(TINY, threads=1)

    def takers(self):
        zeros = [0, 0, 0, 0]
        return {
            "classes": ("classes", lambda v: Data.classes(X, v)),
            "id classes": ("classes", lambda v: Data.ids([[0]] * 4, classes=v)),
            "ids": ("ids", lambda v: Data.ids(np.reshape(v, (2, 2)), y=X[:2])),
            "tokens": ("ids", Data.tokens),
            "documents": ("ids", lambda v: Data.tokens([v, [0, 1]])),
            "y": ("y", lambda v: classifier().train(X, v, loss="cross_entropy", epochs=1)),
            "trainer": ("y", lambda v: classifier().trainer(X, v, loss="cross_entropy", epochs=1)),
            "forward": ("x", lambda v: self.rows(v)),
            "forward_tokens": ("ids", self.network.forward_tokens),
            "run_ids": ("ids", lambda v: Session(self.rows).run_ids(np.reshape(v, (1, 4)))),
            "run_tokens": ("ids", lambda v: self.session.run_tokens(v, [0, 1, 2, 3])),
            "positions": ("positions", lambda v: self.session.run_tokens(zeros, v)),
            "sequences": ("sequences", lambda v: self.session.run_tokens(zeros, [0, 1, 2, 3], v)),
            "head": ("head", lambda v: self.session.run_tokens(zeros, [0, 1, 2, 3], head=v)),
            "prompt": ("ids", lambda v: self.model.generate(v, max_tokens=1)),
            "logits": ("ids", self.model.logits),
            "decode": ("ids", self.model.tokenizer.decode),
        }

    def test_A8_what_is_no_integer_of_32_bits_is_refused_with_its_place(self):
        for taker, (name, take) in self.takers().items():
            for kind, (values, spelled) in WRONG.items():
                with self.subTest(taker, of=kind):
                    place = r"\[0, 1\]" if taker in ("ids", "run_ids") else r"\[1\]"
                    with self.assertRaisesRegex(
                        ValueError,
                        r"^%s: expects whole numbers from -2147483648 to 2147483647, got %s at %s$"
                        % (name, spelled, place),
                    ):
                        take(values)
            with self.subTest(taker, of="texts"):
                with self.assertRaisesRegex(
                    TypeError, "^%s: expects whole numbers, got an array of <U1" % name
                ):
                    take(np.array(["1", "1", "1", "0"]))

    def test_A8_whole_numbers_of_any_type_are_integers(self):
        for dtype in (
            np.int8,
            np.uint8,
            np.int16,
            np.int64,
            np.uint64,
            np.float16,
            np.float32,
            np.float64,
            object,
        ):
            with self.subTest(np.dtype(dtype).name):
                np.testing.assert_array_equal(
                    self.network.forward_tokens(np.array([1, 7, 0], dtype)),
                    self.network.forward_tokens([1, 7, 0]),
                )
                one, two = classifier(), classifier()
                one.train(X, np.array([1, 0, 1, 0], dtype), loss="cross_entropy", epochs=1)
                two.train(X, np.array([1, 0, 1, 0], np.int32), epochs=1)
                self.assertEqual(one.digest(), two.digest())

    def test_A8_single_numbers(self):
        tokenizer = self.model.tokenizer
        trainer = Trainer(
            classifier(),
            Data.classes(X, [1, 0, 1, 0]),
            {"steps": 9, "loss": "cross_entropy"},
            threads=1,
        )
        for name, take in {
            "id": tokenizer.token,
            "steps": trainer.step,
            "length": lambda v: Data.tokens([1, 2, 3], length=v),
        }.items():
            for value in (1.9, float("nan"), 2**64 + 1, np.float32(1.5), None, "1"):
                with self.subTest(name, value=value):
                    with self.assertRaisesRegex(
                        ValueError, "^%s: expects a whole number from " % name
                    ):
                        take(value)
            for value in (3, 3.0, np.int64(3), np.array(3)):
                take(value)
        with self.assertRaisesRegex(
            ValueError,
            "^id: expects a whole number from -2147483648 to 2147483647, got 4294967299$",
        ):
            tokenizer.decoder().push(2**32 + 3)
