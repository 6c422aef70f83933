"""How people train: callbacks, counts and masks (findings D)."""

import os
import pathlib
import sys
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
if os.environ.get("WELVET_INSTALLED") != "1":
    sys.path.insert(0, str(ROOT / "bindings/python"))

import welvet  # noqa: E402
from welvet import Data, Network, Session, fitting, layers  # noqa: E402

X = np.random.RandomState(0).rand(20, 3).astype(np.float32)
Y = X.sum(axis=1, keepdims=True)
CLASSES = (Y[:, 0] > 1.5).astype(np.int64)


def small(out=1):
    return Network(layers.Sequential(layers.Input(3), layers.Dense(out)), seed=1)


class Callbacks(unittest.TestCase):
    def test_D_false_of_numpy_stops(self):
        for answer in (False, np.bool_(False), np.array(False)):
            with self.subTest(repr(answer)):
                history = welvet.train(
                    small(), X, Y, epochs=5, batch=10, callbacks=[lambda p, a=answer: a]
                )
                self.assertEqual((history.stopped, history.steps), (True, [1]))

                class Watch(welvet.Callback):
                    def on_epoch(self, epoch, answer=answer):
                        return answer

                history = welvet.train(small(), X, Y, epochs=5, batch=10, callbacks=[Watch()])
                self.assertEqual((history.stopped, history["epoch"]), (True, [1]))
                self.assertLess(
                    small().train(X, Y, steps=10**6, callback=lambda s, a=answer: a).step, 100
                )

    def test_D_nothing_else_stops(self):
        for answer in (None, True, np.bool_(True), 0, 0.0, "", np.array([])):
            with self.subTest(repr(answer)):
                history = welvet.train(
                    small(), X, Y, epochs=2, batch=10, callbacks=[lambda p, a=answer: a]
                )
                self.assertEqual((history.stopped, history.steps), (False, [1, 2, 3, 4]))

    def test_D_early_stopping_begins_anew(self):
        stopping = welvet.EarlyStopping(patience=2)
        # A loss that hardly changes is never lower by 1: epoch 1 is the best, 2 and 3 are stale.
        stopping.delta = 1.0
        for _ in range(3):
            history = welvet.train(small(), X, Y, epochs=9, rate=1e-9, callbacks=[stopping])
            self.assertEqual((history.stopped, history["epoch"]), (True, [1, 2, 3]))


class Counts(unittest.TestCase):
    def test_D_batch_and_epochs_are_whole_and_above_0(self):
        for name, values in (("batch", (0, -5, 2.5, float("nan"), "8")), ("epochs", (0, -1, 1.5))):
            for value in values:
                with self.subTest(name, value=value):
                    for train in (
                        lambda **s: welvet.train(small(), X, Y, **s),
                        lambda **s: small().train(X, Y, **s),
                    ):
                        with self.assertRaisesRegex(
                            ValueError, r"^%s: expects a whole number of at least 1, got " % name
                        ):
                            train(**{name: value})
        self.assertEqual(
            welvet.train(small(), X, Y, epochs=np.int64(2), batch=np.int32(10)).steps, [1, 2, 3, 4]
        )
        self.assertEqual(small().train(X, Y, steps=3, batch=20).step, 3)


class Settings(unittest.TestCase):
    def test_C5_settings_without_an_effect_are_refused_by_name(self):
        for key, value in {
            "checkpoint_every": 1,
            "log_every": 1,
            "data": {"type": "table", "file": "t.csv", "targets": ["y"]},
            "network_file": "n.json",
            "base": "embedded",
            "base_dtype": "i8",
        }.items():
            for train in (welvet.train, Network.train):
                with self.subTest(key, train=train):
                    with self.assertRaisesRegex(ValueError, "'%s' has no effect here" % key):
                        train(small(), X, Y, **{key: value})
        with self.assertRaisesRegex(ValueError, "'network' has no effect here"):
            small().train(X, Y, network={})
        with self.assertRaisesRegex(TypeError, "argument 'network'"):
            welvet.train(small(), X, Y, network={})
        with self.assertRaisesRegex(welvet.LoomError, "unknown key \"stepz\""):
            welvet.train(small(), X, Y, stepz=1)

    def test_C5_steps_in_place_of_epochs(self):
        # 20 samples by 8: epochs end after steps 3 (24 of 20), 5 (40 of 40) and, the last, 7.
        history = welvet.train(small(), X, Y, steps=7, batch=8, rate=0.01)
        self.assertEqual(history.steps, [1, 2, 3, 4, 5, 6, 7])
        self.assertEqual((history["epoch"], history["step"]), ([1, 2, 3], [3, 5, 7]))
        one, two = small(), small()
        welvet.train(one, X, Y, steps=6, batch=10)
        welvet.train(two, X, Y, epochs=3, batch=10)
        self.assertEqual(one.digest(), two.digest())
        with self.assertRaisesRegex(TypeError, "either epochs or steps"):
            welvet.train(small(), X, Y, steps=1, epochs=1)
        with self.assertRaisesRegex(ValueError, "^steps: expects a whole number of at least 1"):
            welvet.train(small(), X, Y, steps=0)

    def test_C5_other_settings_work(self):
        # Each changes the weights, or, where bits are to stay the same, is taken.
        def digest(**settings):
            network = small()
            welvet.train(network, X, Y, epochs=2, batch=10, **settings)
            return network.digest()

        plain = digest()
        self.assertEqual(digest(checkpoint=True), plain)
        for settings in (
            {"shuffle": False},
            {"loss": "huber", "delta": 0.1},
            {"heads": [{"columns": 1, "loss": "mae"}]},
            {"quantize": {"dtype": "i8"}},
            {"fp8": True},
            {"seed": 4},
        ):
            with self.subTest(settings=settings):
                self.assertNotEqual(digest(**settings), plain)


class GoingOn(unittest.TestCase):
    def noisy(self):
        return Network(
            layers.Sequential(
                layers.Input(3),
                layers.Dense(8, activation="tanh"),
                layers.Dropout(0.5),
                layers.Dense(1),
            ),
            seed=1,
        )

    def test_D_a_longer_trainer_goes_on_as_one_training(self):
        # 20 samples by 8: order, masks and moments are those of one training of 3 epochs.
        one, many = self.noisy(), self.noisy()
        whole = one.trainer(X, Y, epochs=3, batch=8, seed=5)
        whole.run()
        trainer = many.trainer(X, Y, epochs=1, batch=8, seed=5)
        self.assertEqual(trainer.run().step, 3)
        for steps in (5, 8):
            trainer.extend(epochs=1)
            self.assertEqual(trainer.run().step, steps)
        self.assertEqual(trainer.digest(), whole.digest())
        self.assertEqual(many.digest(), one.digest())
        trainer.extend(steps=2)
        self.assertEqual((trainer.step().step, trainer.info["steps"]), (9, 10))
        # Trainings of their own begin again each time: other weights.
        again = self.noisy()
        for _ in range(3):
            again.train(X, Y, epochs=1, batch=8, seed=5)
        self.assertNotEqual(again.digest(), one.digest())

    def test_D_extend_beyond_the_end_of_a_schedule(self):
        # At the end of a cosine the rate is 0: nothing would be learned, without a word.
        trainer = small().trainer(X, Y, epochs=1, batch=10, schedule={"type": "cosine", "rate": 0.1})
        trainer.run()
        with self.assertRaisesRegex(ValueError, "'cosine' ends at step 2, this would be step 4"):
            trainer.extend(epochs=1)
        longer = {"type": "cosine", "rate": 0.1, "steps": 4}
        one, two = small(), small()
        one.trainer(X, Y, epochs=2, batch=10, schedule=longer).run()
        trainer = two.trainer(X, Y, epochs=1, batch=10, schedule=longer)
        trainer.run()
        trainer.extend(epochs=1)
        trainer.run()
        self.assertEqual(one.digest(), two.digest())

    def test_D_extend_refuses(self):
        trainer = small().trainer(X, Y, epochs=1)
        for settings in ({}, {"epochs": 1, "steps": 1}):
            with self.assertRaisesRegex(TypeError, "either epochs or steps"):
                trainer.extend(**settings)
        with self.assertRaisesRegex(ValueError, "^steps: expects a whole number"):
            trainer.extend(steps=0)
        trainer.close()
        with self.assertRaises(welvet.LoomError):
            trainer.extend(epochs=1)


class HeldBack(unittest.TestCase):
    @staticmethod
    def parts(y, seed=0, share=0.2):
        y = np.array(y, np.int32)
        x = np.arange(len(y), dtype=np.float32)[:, None]
        learned, known, (held, judged) = fitting._hold_back(x, y, share, seed)
        rows = np.concatenate([learned, held])[:, 0].astype(int)
        assert sorted(rows) == list(range(len(y)))  # each sample is on one side
        assert (np.concatenate([known, judged]) == y[rows]).all()
        return [[int((part == c).sum()) for c in np.unique(y)] for part in (judged, known)]

    def test_E_classes_keep_their_proportions(self):
        # As Loom's own split: tests of Split in src/train.
        y = [0] * 90 + [1] * 20 + [2] * 7 + [3] * 2 + [4] + [-1] * 4
        for seed in range(3):
            with self.assertWarnsRegex(UserWarning, "of one sample are learned.*: 4$"):
                held, learned = self.parts(y, seed)
            self.assertEqual(held[1:], [18, 4, 2, 1, 0])
            self.assertEqual(learned[1:], [72, 16, 5, 1, 1])
        self.assertEqual(self.parts([0, 0, 1, 1], share=0.9), [[1, 1], [1, 1]])
        with self.assertRaisesRegex(ValueError, "no class has two samples"):
            self.parts([0, 1, 2])

    def test_E_values_and_maps_are_split_as_they_were(self):
        for y in (X[:, :1], np.zeros((20, 2), np.int32)):
            held = fitting._hold_back(X, y, 0.2, 3)[2]
            self.assertEqual((len(held[0]), len(held[1])), (4, 4))
        history = welvet.train(small(2), X, CLASSES, epochs=1, validation=0.2)
        self.assertEqual(len(history["validation_accuracy"]), 1)


class Masks(unittest.TestCase):
    """A mask was dropped, and what it hid was learned."""

    def masked(self, a, count=2):
        mask = np.zeros(a.shape, bool)
        mask.reshape(-1)[:count] = True
        return np.ma.array(a, mask=mask)

    def test_D_masked_values_are_refused(self):
        ids = np.arange(20).reshape(4, 5)
        network = small()
        reads = Network(layers.Sequential(layers.Input(ids=20), layers.Embedding(2)), seed=1)
        for name, call in {
            "x": lambda: welvet.train(network, self.masked(X), Y),
            "y": lambda: welvet.train(network, X, self.masked(Y)),
            "y of classes": lambda: welvet.train(small(2), X, self.masked(CLASSES)),
            "validation": lambda: welvet.train(network, X, Y, validation=(self.masked(X), Y)),
            "forward": lambda: network(self.masked(X)),
            "list": lambda: network([self.masked(X[0]), X[1]]),
            "session": lambda: Session(network).run(self.masked(X)),
            "values": lambda: Data.values(X, self.masked(Y)),
            "classes": lambda: Data.classes(X, self.masked(CLASSES)),
            "ids": lambda: Data.ids(self.masked(ids), y=Y[:4]),
            "tokens": lambda: Data.tokens(self.masked(ids[0])),
            "documents": lambda: Data.tokens([self.masked(ids[0]), ids[1]]),
            "forward_tokens": lambda: reads.forward_tokens(self.masked(ids[0])),
            "set": lambda: network.set("0.0.0.0:weight", self.masked(np.ones((1, 3)))),
            "simulate": lambda: welvet.simulate(self.masked(X), "i8"),
        }.items():
            with self.subTest(name):
                with self.assertRaisesRegex(ValueError, r"^[a-z]+: 2 values are masked"):
                    call()

    def test_D_masked_arrays_without_masked_values_are_arrays(self):
        np.testing.assert_array_equal(small()(np.ma.array(X)), small()(X))
        np.testing.assert_array_equal(small()(self.masked(X, 0)), small()(X))
        one, two = small(2), small(2)
        welvet.train(one, np.ma.array(X), np.ma.array(CLASSES), epochs=2)
        welvet.train(two, X, CLASSES, epochs=2)
        self.assertEqual(one.digest(), two.digest())


if __name__ == "__main__":
    unittest.main()
