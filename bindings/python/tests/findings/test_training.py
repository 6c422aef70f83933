"""How people train: callbacks, counts and masks (findings D)."""

import unittest

import numpy as np

import welvet
from welvet import Data, Network, Session, layers
from welvet.training import fit

X = np.random.RandomState(0).rand(20, 3).astype(np.float32)
Y = X.sum(axis=1, keepdims=True)
CLASSES = (Y[:, 0] > 1.5).astype(np.int64)


def small(out=1):
    return Network(layers.Sequential(layers.Input(3), layers.Linear(out)), seed=1)


class Callbacks(unittest.TestCase):
    def test_D_false_of_numpy_stops(self):
        for answer in (False, np.bool_(False), np.array(False)):
            with self.subTest(repr(answer)):
                history = small().train(X, Y, epochs=5, batch_size=10,
                                        callbacks=[lambda p, a=answer: a]
                )
                self.assertEqual((history.stopped, history.steps), (True, [1]))

                class Watch(welvet.Callback):
                    def on_epoch(self, epoch, answer=answer):
                        return answer

                history = small().train(X, Y, epochs=5, batch_size=10, callbacks=[Watch()])
                self.assertEqual((history.stopped, history["epoch"]), (True, [1]))
                trainer = small().trainer(X, Y, steps=10**6)
                self.assertLess(trainer.run(lambda s, a=answer: a).step, 100)

    def test_D_nothing_else_stops(self):
        for answer in (None, True, np.bool_(True), 0, 0.0, "", np.array([])):
            with self.subTest(repr(answer)):
                history = small().train(X, Y, epochs=2, batch_size=10,
                                        callbacks=[lambda p, a=answer: a]
                )
                self.assertEqual((history.stopped, history.steps), (False, [1, 2, 3, 4]))

    def test_D_early_stopping_begins_anew(self):
        stopping = welvet.EarlyStopping(patience=2)
        # A loss that hardly changes is never lower by 1: epoch 1 is the best, 2 and 3 are stale.
        stopping.delta = 1.0
        for _ in range(3):
            history = small().train(X, Y, epochs=9, lr=1e-9, callbacks=[stopping])
            self.assertEqual((history.stopped, history["epoch"]), (True, [1, 2, 3]))


class Counts(unittest.TestCase):
    def test_D_batch_and_epochs_are_whole_and_above_0(self):
        for name, values in (("batch_size", (0, -5, 2.5, float("nan"), "8")),
                             ("epochs", (0, -1, 1.5))):
            for value in values:
                with self.subTest(name, value=value):
                    for train in (
                        lambda **s: small().train(X, Y, **s),
                        lambda **s: small().trainer(X, Y, **s),
                    ):
                        with self.assertRaisesRegex(
                            ValueError, r"^%s: expects a whole number of at least 1, got " % name
                        ):
                            train(**{name: value})
        self.assertEqual(
            small().train(X, Y, epochs=np.int64(2), batch_size=np.int32(10)).steps, [1, 2, 3, 4]
        )
        self.assertEqual(small().trainer(X, Y, steps=3, batch_size=20).run().step, 3)


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
            for train in (Network.train, Network.trainer):
                with self.subTest(key, train=train):
                    with self.assertRaisesRegex(ValueError, "'%s' has no effect here" % key):
                        small().train(X, Y, **{key: value})
        with self.assertRaisesRegex(ValueError, "'network' has no effect here"):
            small().train(X, Y, network={})
        for key, right in {"batch": "batch_size", "callback": "callbacks", "classes": "y",
                           "validation_split": "validation", "learning_rate": "lr"}.items():
            with self.assertRaisesRegex(TypeError, "'%s': write .*%s" % (key, right)):
                small().train(X, Y, **{key: 1})
        with self.assertRaisesRegex(welvet.LoomError, "unknown key \"stepz\""):
            small().train(X, Y, stepz=1)

    def test_C5_steps_in_place_of_epochs(self):
        # 20 samples by 8: epochs end after steps 3 (24 of 20), 5 (40 of 40) and, the last, 7.
        history = small().train(X, Y, steps=7, batch_size=8, lr=0.01)
        self.assertEqual(history.steps, [1, 2, 3, 4, 5, 6, 7])
        self.assertEqual((history["epoch"], history["step"]), ([1, 2, 3], [3, 5, 7]))
        one, two = small(), small()
        one.train(X, Y, steps=6, batch_size=10)
        two.train(X, Y, epochs=3, batch_size=10)
        self.assertEqual(one.digest(), two.digest())
        with self.assertRaisesRegex(TypeError, "either epochs or steps"):
            small().train(X, Y, steps=1, epochs=1)
        with self.assertRaisesRegex(ValueError, "^steps: expects a whole number of at least 1"):
            small().train(X, Y, steps=0)

    def test_C5_other_settings_work(self):
        # Each changes the weights, or, where bits are to stay the same, is taken.
        def digest(**settings):
            network = small()
            network.train(X, Y, epochs=2, batch_size=10, **settings)
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
                layers.Linear(8, activation="tanh"),
                layers.Dropout(0.5),
                layers.Linear(1),
            ),
            seed=1,
        )

    def test_D_a_longer_trainer_goes_on_as_one_training(self):
        # 20 samples by 8: order, masks and moments are those of one training of 3 epochs.
        one, many = self.noisy(), self.noisy()
        whole = one.trainer(X, Y, epochs=3, batch_size=8, seed=5)
        whole.run()
        trainer = many.trainer(X, Y, epochs=1, batch_size=8, seed=5)
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
            again.train(X, Y, epochs=1, batch_size=8, seed=5)
        self.assertNotEqual(again.digest(), one.digest())

    def test_D_extend_beyond_the_end_of_a_schedule(self):
        # At the end of a cosine the rate is 0: nothing would be learned, without a word.
        trainer = small().trainer(X, Y, epochs=1, batch_size=10,
                                  schedule={"type": "cosine", "lr": 0.1})
        trainer.run()
        with self.assertRaisesRegex(ValueError, '"cosine" ends at step 2, this would be step 4'):
            trainer.extend(epochs=1)
        longer = {"type": "cosine", "lr": 0.1, "steps": 4}
        one, two = small(), small()
        one.trainer(X, Y, epochs=2, batch_size=10, schedule=longer).run()
        trainer = two.trainer(X, Y, epochs=1, batch_size=10, schedule=longer)
        trainer.run()
        trainer.extend(epochs=1)
        trainer.run()
        self.assertEqual(one.digest(), two.digest())

    def test_D_adapters_go_on_too(self):
        one, two = small(), small()
        whole = one.trainer(X, Y, steps=6, batch_size=5, lora={"rank": 1, "targets": ["weight"]})
        whole.run()
        trainer = two.trainer(X, Y, steps=2, batch_size=5, lora={"rank": 1, "targets": ["weight"]})
        trainer.run()
        trainer.extend(epochs=1)
        self.assertEqual(trainer.run().step, 4)
        trainer.extend(steps=2)
        trainer.run()
        self.assertEqual(trainer.digest(), whole.digest())

    def test_logits_of_an_adapters_training_are_never_whole(self):
        classes, rows = 3000, 400
        cells = [{"type": "embedding", "out": 8}, {"type": "dense", "out": 8},
                 {"type": "dense", "out": classes}]
        network = welvet.Network({
            "format": "loom-topology", "version": 1, "layers_per_cell": 3,
            "input": {"ids": classes},
            "cells": [{"at": [0, 0, 0, i], **cell} for i, cell in enumerate(cells)]})
        data = welvet.Data.tokens(np.arange(rows + 1, dtype=np.int32).reshape(1, -1), length=rows)
        planned = {}
        for name, more in (("all", {}),
                           ("adapter", {"lora": {"rank": 1, "targets": ["0.0.0.1:weight"]}})):
            trainer = network.copy().trainer(data, loss="cross_entropy", steps=1, batch_size=1,
                                             **more)
            planned[name] = trainer.info["arena_bytes"]
            trainer.run()
        logits = rows * classes * 4
        self.assertGreater(planned["all"], logits)
        self.assertLess(planned["adapter"], logits / 2)

    def test_D_an_adapter_that_is_there_learns_or_is_refused(self):
        lora = {"rank": 1, "targets": ["weight"]}
        still = {"schedule": {"lr": 1e-30}, "steps": 1, "batch_size": 5}
        network = self.noisy()
        network.trainer(X, Y, steps=20, batch_size=5, lora=lora).run()
        learned = network.forward(X)
        # A training that left it out had another loss than the network that it ran beside.
        for train in (network.train, network.trainer):
            with self.assertRaisesRegex(welvet.InvalidArgument, "the network runs with an adapter"):
                train(X, Y, **still)
        # The next adapter is not a new one.
        network.trainer(X, Y, lora=lora, **still).run()
        np.testing.assert_array_equal(network.forward(X), learned)
        for other in ({**lora, "rank": 2}, {**lora, "alpha": 3},
                      {"rank": 1, "targets": ["0.0.0.0:weight"]}):
            with self.assertRaisesRegex(welvet.InvalidArgument,
                                        "runs with one of rank 1, alpha 16.0 beside "
                                        "0.0.0.0:weight, "):
                network.trainer(X, Y, lora=other, **still)
        network.unload_adapter()
        network.trainer(X, Y, lora={**lora, "rank": 2}, **still)

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
        learned, held = fit._hold_back(y, share, seed, -100)
        assert sorted([*learned, *held]) == list(range(len(y)))  # each sample is on one side
        return [[int((y[part] == c).sum()) for c in np.unique(y)] for part in (held, learned)]

    def test_E_classes_keep_their_proportions(self):
        # As Loom's own split: tests of Split in src/train.
        y = [0] * 90 + [1] * 20 + [2] * 7 + [3] * 2 + [4] + [-100] * 4
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
            learned, held = fit._hold_back(y, 0.2, 3, -100)
            self.assertEqual((len(learned), len(held)), (16, 4))
        history = small(2).train(X, CLASSES, epochs=1, validation=0.2)
        self.assertEqual(len(history["validation_accuracy"]), 1)


class Classes(unittest.TestCase):
    """-1 was "no class": half of the labels -1 and +1 were dropped, and the accuracy was 1.0."""

    def test_A3_labels_of_minus_one_are_refused(self):
        labels = np.where(CLASSES == 1, 1, -1)
        row = int(np.argmax(labels == -1))
        steps = Network(layers.Sequential(layers.Input(2, 3), layers.Linear(2)), seed=1)
        words = Network(
            layers.Sequential(layers.Input(2, ids=9), layers.Embedding(4), layers.Linear(2)),
            seed=1,
        )
        for name, call in {
            "train": lambda: small(2).train(X, labels),
            "floats": lambda: small(2).train(X, labels * 1.0, loss="cross_entropy"),
            "Network.train": lambda: small(2).train(X, labels),
            "Data": lambda: small(2).train(Data.classes(X, labels)),
            "a class for every step": lambda: steps.train(np.zeros((10, 2, 3)),
                                                          np.reshape(labels, (10, 2))
            ),
            "ids": lambda: words.train(np.ones((10, 2), int), np.reshape(labels, (10, 2))),
        }.items():
            with self.subTest(name):
                with self.assertRaisesRegex(
                    welvet.LoomError, r"classes, row \d+.* is -1: .*labels -1 and \+1 the classes 0"
                ):
                    call()
        with self.assertRaisesRegex(welvet.LoomError, "classes, row %d is -1: " % row):
            small(2).train(X, labels)
        with self.assertRaisesRegex(ValueError, "validation: y, row %d has the class -1" % row):
            small(2).train(X, CLASSES, validation=(X, labels))

    def test_A3_one_class_is_left_out(self):
        part = CLASSES.copy()
        part[10:] = -100
        one, two, three = small(2), small(2), small(2)
        settings = {"epochs": 3, "batch_size": 10, "shuffle": False, "optimizer": "sgd"}
        h = one.train(X[:10], CLASSES[:10], **settings)
        # Steps of ten rows that all count, and others of which none does.
        rows = np.stack([X[:10], X[10:]], axis=1).reshape(20, 3)
        both = np.stack([part[:10], part[10:]], axis=1).reshape(20)
        settings["batch_size"] = 20
        self.assertEqual(two.train(rows, both, **settings).losses, h.losses)
        self.assertEqual(one.digest(), two.digest())
        both[both == -100] = 255
        with self.assertRaisesRegex(welvet.LoomError, "classes, row 1 is 255: "):
            three.train(rows, both, **settings)
        held = three.train(rows, both, ignore=255, validation=(rows, both), **settings
        )["validation_loss"]
        self.assertEqual(one.digest(), three.digest())
        only = small(2).train(X[:10], CLASSES[:10], validation=(X[:10], CLASSES[:10]),
                              **{**settings, "batch_size": 10})["validation_loss"]
        np.testing.assert_allclose(held, only, rtol=1e-12)

    def test_A3_tables_of_class_numbers(self):
        table = "a,b,c,y\n" + "".join("%g,%g,%g,%d\n" % (*x, 2 * c - 1) for x, c in zip(X, CLASSES))
        data = Data.table(table, **{"class": "y"})
        with self.assertRaisesRegex(welvet.LoomError, r"classes, row \d+ is -1: "):
            small(2).train(data, loss="cross_entropy")
        small(2).train(data, loss="cross_entropy", ignore=-1, batch_size=20)

    def test_A8_ids_beyond_the_vocabulary(self):
        words = Network(layers.Sequential(layers.Input(ids=9), layers.Embedding(4),
                                          layers.Linear(9)),
                        seed=1)
        with self.assertRaisesRegex(
            welvet.LoomError, r"ids, sequence 0, position 2 \(from 0\) is 9: .* ids below 9"
        ):
            words.train(Data.tokens([1, 2, 9, 3]))
        with self.assertRaisesRegex(welvet.LoomError, r"classes, sequence 0, position 1 .* is 9: "):
            words.train(Data.tokens([1, 2, 9]))


class Weights(unittest.TestCase):
    """sample_weight and class_weight, as Keras and scikit-learn name them (finding D)."""

    W = np.where(np.arange(20) % 3 == 0, 2.0, 0.5)

    def digest(self, y=CLASSES, x=X, **settings):
        network = small(2)
        h = network.train(x, y, epochs=3, batch_size=5, lr=0.1, **settings)
        return network.digest(), h

    def test_D_classes_and_samples_have_weights(self):
        plain = self.digest()[0]
        want = self.digest(class_weight={1: 4.0})[0]
        self.assertNotEqual(plain, want)
        self.assertEqual(self.digest(class_weight=[1, 4])[0], want)
        self.assertEqual(self.digest(class_weights=[1, 4])[0], want)
        self.assertEqual(self.digest(sample_weight=np.where(CLASSES == 1, 4, 1))[0], want)
        counts = np.bincount(CLASSES)
        balanced = self.digest(class_weight="balanced")[0]
        self.assertEqual(self.digest(class_weight=20 / (2 * counts))[0], balanced)
        network = small(2)
        network.train(X, CLASSES, epochs=3, batch_size=5, class_weight={1: 4},
                      schedule={"type": "constant", "lr": 0.1})
        self.assertEqual(network.digest(), want)
        data = Data.classes(X, CLASSES).weighted(np.where(CLASSES == 1, 4, 1))
        self.assertTrue(data.info["weighted"])
        network = small(2)
        network.train(data, epochs=3, batch_size=5, lr=0.1)
        self.assertEqual(network.digest(), want)

    def test_D_validation_is_judged_by_weights(self):
        def judged(network, x, y, w):
            out = network(x).astype(np.float64)
            losses = np.log(np.exp(out).sum(1)) - out[np.arange(len(y)), y]
            return (losses * w).sum() / w.sum(), (out.argmax(1) == y).mean()

        of_class = np.array([1.0, 4.0])
        for settings, w in (
            ({}, np.ones(20)),
            ({"class_weight": {1: 4}}, of_class[CLASSES]),
            ({"sample_weight": self.W}, np.ones(20)),
        ):
            network = small(2)
            h = network.train(X, CLASSES, epochs=1, validation=(X, CLASSES), **settings)
            loss, accuracy = judged(network, X, CLASSES, w)
            np.testing.assert_allclose(h["validation_loss"], [loss], rtol=1e-6)
            np.testing.assert_allclose(h["validation_accuracy"], [accuracy])
        network = small(2)
        h = network.train(X, CLASSES, epochs=1, validation=(X, CLASSES, self.W))
        np.testing.assert_allclose(h["validation_loss"], [judged(network, X, CLASSES, self.W)[0]],
                                   rtol=1e-6)
        network = small()
        h = network.train(X, Y, epochs=1, sample_weight=self.W, validation=0.25, seed=4)
        back = np.sort(np.random.RandomState(4).permutation(20)[:5])
        want = (((network(X[back]) - Y[back]) ** 2)[:, 0] * self.W[back]).sum() / self.W[back].sum()
        np.testing.assert_allclose(h["validation_loss"], [want], rtol=1e-6)

    def test_D_weights_that_are_none(self):
        for settings, said in (
            ({"sample_weight": [1, 2]}, "sample_weight: expects a weight for each of 20"),
            ({"sample_weight": -self.W}, "sample_weight: weights are at least 0"),
            ({"class_weight": {2: 1}}, "class_weight: names the class 2, the network has 0 to 1"),
            ({"class_weight": [1, 2, 3]}, "has 3 weights, the network gives 2 logits"),
            ({"class_weight": "heavy"}, "expected .balanced., or a list"),
        ):
            with self.subTest(settings=settings):
                with self.assertRaisesRegex(ValueError, said):
                    self.digest(**settings)
        with self.assertRaisesRegex(ValueError, "go with the loss"):
            small().train(X, Y, class_weight=[1])


class Batches(unittest.TestCase):
    """Batches from generators and iterators, as Keras' fit takes them (finding D)."""

    class Loader:
        """As PyTorch's DataLoader: it has a length, and begins again; a batch is a list."""

        def __init__(self, size=5):
            self.size = size

        def __len__(self):
            return -(-20 // self.size)

        def __iter__(self):
            for i in range(0, 20, self.size):
                yield [X[i:i + self.size], CLASSES[i:i + self.size]]

    def forever(self, sizes=(5, 5, 5, 5)):
        while True:
            at = 0
            for size in sizes:
                yield X[at:at + size], CLASSES[at:at + size]
                at += size

    def test_D_batches_are_steps_in_their_order(self):
        one, two, three = small(2), small(2), small(2)
        want = one.train(X, CLASSES, epochs=3, batch_size=5, shuffle=False)
        got = two.train(self.forever(), epochs=3, steps_per_epoch=4)
        self.assertEqual((got.losses, two.digest()), (want.losses, one.digest()))
        self.assertEqual((got["epoch"], got["step"]), (want["epoch"], want["step"]))
        got = three.train(self.Loader(), epochs=3, validation=(X, CLASSES))
        self.assertEqual((got.losses, three.digest()), (want.losses, one.digest()))
        self.assertEqual(len(got["validation_accuracy"]), 3)

    def test_D_batches_of_any_size(self):
        sizes = (1, 12, 3, 4)
        network = small(2)
        h = network.train(self.forever(sizes), steps=6, lr=0.1, optimizer="sgd")
        self.assertEqual((h.steps, h["epoch"]), ([1, 2, 3, 4, 5, 6], [1]))
        # What PyTorch's SGD makes of the same batches, in f64.
        w = small(2).get("0.0.0.0:weight").astype(np.float64)
        b = np.zeros(2)
        batches = self.forever(sizes)
        for _ in range(6):
            x, y = next(batches)
            out = x @ w.T + b
            p = np.exp(out) / np.exp(out).sum(1, keepdims=True)
            p[np.arange(len(y)), y] -= 1
            w, b = w - 0.1 * p.T @ x / len(y), b - 0.1 * p.mean(0)
        np.testing.assert_allclose(network.get("0.0.0.0:weight"), w, atol=1e-5)

    def test_D_batches_with_weights_values_and_data(self):
        w = np.where(CLASSES == 1, 4.0, 1.0)
        one, two = small(2), small(2)
        one.train(X, CLASSES, epochs=2, batch_size=20, shuffle=False, sample_weight=w)
        two.train(iter([(X, CLASSES, w)] * 2), steps=2)
        self.assertEqual(one.digest(), two.digest())
        # Weights may begin later, and values and Data are batches too.
        small(2).train(iter([(X, CLASSES), (X, CLASSES, w)]), steps=2)
        one, two = small(), small()
        one.train(X, Y, epochs=2, batch_size=20, shuffle=False)
        data = Data.values(X, Y)
        two.train(iter([data, data]), steps=2)
        self.assertEqual(one.digest(), two.digest())
        self.assertEqual(data.info["samples"], 20)

    def test_D_what_an_iterator_does_not_tell_is_refused(self):
        for settings, error, said in (
            ({}, TypeError, "give steps_per_epoch, or steps"),
            ({"epochs": 3}, TypeError, "give steps_per_epoch, or steps"),
            ({"steps": 2, "validation": 0.2}, ValueError,
             "nothing of an iterator can be held back"),
            ({"steps": 2, "shuffle": True}, ValueError, "'shuffle' is not for batches"),
            ({"steps": 2, "batch_size": 4}, ValueError, "'batch_size' is not for batches"),
            ({"steps": 2, "micro_batches": 2}, ValueError, "'micro_batches' is not for batches"),
            ({"steps": 2, "sample_weight": [1]}, ValueError, "give .x, y, sample_weight."),
            ({"steps": 2, "class_weight": "balanced"}, ValueError, "needs all samples"),
        ):
            with self.subTest(settings=settings):
                with self.assertRaisesRegex(error, said):
                    small(2).train(self.forever(), **settings)
        with self.assertRaisesRegex(ValueError, "ended after 3 batches, 5 steps are to be done"):
            small(2).train(iter([(X, CLASSES)] * 3), steps=5)
        with self.assertRaisesRegex(ValueError, "ended after 0 batches"):
            small(2).train(iter([]), steps=5)
        for batch, said in (((X,), "batch 1: expects .* got a tuple of 1"),
                            (3, "batch 1: expects .* got a int")):
            with self.assertRaisesRegex(TypeError, said):
                small(2).train(iter([batch]), steps=1)
        with self.assertRaisesRegex(ValueError, "batch 2: x has 20 samples, y 3"):
            small(2).train(iter([(X, CLASSES), (X, CLASSES[:3])]), steps=2)
        with self.assertRaisesRegex(welvet.LoomError, r"classes, row \d+ is -1"):
            small(2).train(iter([(X, CLASSES), (X, CLASSES - 1)]), steps=2)
        with self.assertRaisesRegex(ValueError, "steps_per_epoch is for batches"):
            small(2).train(X, CLASSES, steps_per_epoch=2)
        with self.assertRaisesRegex(TypeError, "are for Network.train"):
            small(2).trainer(self.forever(), steps=2)


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
            "x": lambda: network.train(self.masked(X), Y),
            "y": lambda: network.train(X, self.masked(Y)),
            "y of classes": lambda: small(2).train(X, self.masked(CLASSES)),
            "validation": lambda: network.train(X, Y, validation=(self.masked(X), Y)),
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
            "fake_quantize": lambda: welvet.fake_quantize(self.masked(X), "i8"),
        }.items():
            with self.subTest(name):
                with self.assertRaisesRegex(ValueError, r"^[a-z]+: 2 values are masked"):
                    call()

    def test_D_masked_arrays_without_masked_values_are_arrays(self):
        np.testing.assert_array_equal(small()(np.ma.array(X)), small()(X))
        np.testing.assert_array_equal(small()(self.masked(X, 0)), small()(X))
        one, two = small(2), small(2)
        one.train(np.ma.array(X), np.ma.array(CLASSES), epochs=2)
        two.train(X, CLASSES, epochs=2)
        self.assertEqual(one.digest(), two.digest())
