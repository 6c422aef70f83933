"""Networks of values: several inputs by name, shared layers, what is refused."""
import datetime
import os
import tempfile
import unittest

import numpy as np

from source import ROOT
import welvet
from welvet import Network, layers as L


def twins():
    left, right = L.Input(4, name="left"), L.Input(4, name="right")
    tower = L.Sequential(L.Linear(6, activation="tanh"), L.Linear(3))
    return L.Model([left, right], L.Linear(2)(L.concat(tower(left), tower(right))))


class Models(unittest.TestCase):
    def setUp(self):
        r = np.random.default_rng(1)
        self.x = {"left": r.normal(size=(40, 4)), "right": r.normal(size=(40, 4))}
        self.y = (self.x["left"][:, 0] > self.x["right"][:, 0]).astype(int)

    def test_a_layer_that_is_called_twice_is_one_set_of_weights(self):
        net = Network(twins(), seed=1)
        self.assertEqual(len(net.parameters), 6)
        swapped = {"left": self.x["right"], "right": self.x["left"]}
        net.set("0.0.0.6:weight", np.tile([[1, 2, 3]], (2, 2)))  # the same for both twins
        np.testing.assert_allclose(net(self.x), net(swapped), rtol=1e-5)

    def test_arrays_by_name_are_rows_side_by_side(self):
        net = Network(twins(), seed=1)
        rows = np.concatenate([self.x["left"], self.x["right"]], axis=1)
        np.testing.assert_array_equal(net(self.x), net(rows))
        turned = {"right": self.x["right"], "left": self.x["left"]}
        np.testing.assert_array_equal(net(self.x), net(turned))
        np.testing.assert_array_equal(net(self.x), net((self.x["left"], self.x["right"])))
        self.assertEqual([p["name"] for p in net.info["input"]["parts"]], ["left", "right"])

    def test_it_learns_is_saved_and_goes_on(self):
        net = Network(twins(), seed=1)
        history = net.train(self.x, self.y, epochs=30, lr=0.01, validation=0.2)
        self.assertLess(history["loss"][-1], history["loss"][0] / 2)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "twins.entity")
            net.save(path)
            again = Network(path)
        np.testing.assert_array_equal(net(self.x), again(self.x))
        self.assertEqual(net.topology, again.topology)
        with net.trainer(self.x, self.y, epochs=2) as trainer:
            trainer.run()
            trainer.extend(epochs=2)
            self.assertEqual(trainer.run().step, 5)  # four times 40 samples, 32 a step

    def test_the_sum_and_the_mean_of_values(self):
        x = L.Input(3)
        doubled, same = Network(L.Model(x, x + x)), Network(L.Model(x, L.average(x, x)))
        np.testing.assert_array_equal(doubled([[1, 2, 3]]), [[2, 4, 6]])
        np.testing.assert_array_equal(same([[1, 2, 3]]), [[1, 2, 3]])
        for value, want in ((x - x, [[0, 0, 0]]), (x * x, [[1, 4, 9]]), (x / x, [[1, 1, 1]]),
                            (x * L.Reduce("sum")(x), [[6, 12, 18]])):
            np.testing.assert_array_equal(Network(L.Model(x, value))([[1, 2, 3]]), want)
        with self.assertRaisesRegex(TypeError, "float"):
            x * 2.0
        with self.assertRaisesRegex(welvet.InvalidArgument, "cannot add"):
            Network(L.Model(x, L.add(x, L.Linear(2)(x))))

    def test_dtype_of_all_layers_that_name_none(self):
        x = L.Input(4)
        net = Network(L.Model(x, L.Linear(2)(L.Linear(4, dtype="bf16")(x)), dtype="i8"))
        self.assertEqual([p.format for p in net.parameters if p.role == "weight"], ["bf16", "i8"])

    def test_f64_goes_through_parts_and_merges(self):
        a, b = L.Input(1, name="a"), L.Input(1, name="b")
        net = Network(L.Model([a, b], L.concat(a, b) + L.concat(b, a), dtype="f64"))
        self.assertEqual(net.info["input"]["dtype"], "f64")
        big = 1e9 + np.arange(3.0)
        y = net({"a": big, "b": np.zeros(3)})
        self.assertEqual(y.dtype, np.float64)
        np.testing.assert_array_equal(y, np.stack([big, big], axis=1))
        rows = np.stack([big, np.zeros(3)], axis=1)
        np.testing.assert_array_equal(net.session().run(rows), y)
        dense = Network(L.Sequential(L.Input(2), L.Linear(2), dtype="f64"))
        session = dense.session()
        self.assertEqual(session.run(rows).dtype, np.float64)
        dense.morph("f32")  # the session follows, and takes float32
        self.assertEqual(session.run(rows).dtype, np.float32)

    def test_what_float32_would_merge_is_not_learned(self):
        big = 1e9 + np.arange(20.0)
        net = Network(L.Sequential(L.Input(1), L.Linear(1)))
        for call in (lambda: net.train(big[:, None], big * 0, epochs=1),
                     lambda: net.train(big[:, None], (big * 0)[:, None], epochs=1),
                     lambda: net.train(iter([(big[:, None], big * 0)]), steps=1)):
            with self.assertRaisesRegex(ValueError, "x: column 0 .*take an offset off"):
                call()
        a = L.Input(1, name="a")
        with self.assertRaisesRegex(ValueError, "x: column 0"):
            Network(L.Model(a, L.Linear(1)(a))).train({"a": big}, big * 0, epochs=1)

    def test_arrays_that_do_not_fit_are_refused_by_name(self):
        net = Network(twins())
        left, right = self.x["left"], self.x["right"]
        for x, error, said in (({"left": left}, TypeError, "'right' is missing"),
                               ({**self.x, "centre": left}, TypeError, "'centre' is no input"),
                               ({"left": left, "right": right[:3]}, ValueError, "samples"),
                               ({"left": left, "right": right[:, :2]}, ValueError, r"x\['right'\]"),
                               (left, ValueError, "expects")):
            with self.assertRaisesRegex(error, said):
                net(x)
        with self.assertRaisesRegex(TypeError, "no inputs by name"):
            Network(L.Sequential(L.Input(4), L.Linear(1)))({"x": left})

    def test_errors_name_the_part_and_its_column(self):
        net = Network(twins())
        bad = self.x["right"].copy()
        bad[4, 2] = np.nan
        with self.assertRaisesRegex(welvet.InvalidArgument,
                                    r"x, row 4, column 2 of 'right' \(from 0\) is NaN"):
            net.train({**self.x, "right": bad}, self.y, epochs=1)
        far = np.tile(np.arange(40.0)[:, None], (1, self.x["right"].shape[1])) + 1e9
        with self.assertRaisesRegex(welvet.InvalidArgument,
                                    r"x: column 0 of 'right' \(from 0\) lies between 1000000000"):
            net.train({**self.x, "right": far}, self.y, epochs=1)
        tiny = np.full_like(bad, 1e-14)
        with self.assertRaisesRegex(welvet.InvalidArgument,
                                    r"x, column 0 of 'right' \(from 0\) is nowhere above"):
            net.train({**self.x, "right": tiny}, self.y, epochs=1)

    def test_several_outputs_have_names_and_losses(self):
        x = L.Input(6, 4)
        h = L.GRU(8)(x)
        model = L.Model(x, {"tag": L.Linear(5)(h), "box": L.Linear(3)(L.Flatten()(h))})
        net = Network(model, seed=3)
        r = np.random.RandomState(0)
        rows, boxes = r.rand(24, 6, 4), r.rand(24, 3)
        tags = np.where(r.rand(24, 6) < 0.3, -100, r.randint(0, 5, (24, 6)))
        y = {"tag": tags, "box": boxes}
        before = net(rows)
        self.assertEqual({key: v.shape for key, v in before.items()},
                         {"tag": (24, 6, 5), "box": (24, 3)})
        again = Network.from_bytes(net.to_bytes())(rows)
        for key in before:
            np.testing.assert_array_equal(again[key], before[key])
        history = net.copy().train(rows, y, loss_weights={"tag": 1, "box": 2}, epochs=2,
                                   batch_size=24, validation=(rows, y))
        scores = before["tag"].astype(np.float64)
        losses = np.log(np.exp(scores).sum(-1)) - np.take_along_axis(scores,
                                                                     np.maximum(tags, 0)[..., None],
                                                                     -1)[..., 0]
        want = losses[tags != -100].mean() + 2 * ((before["box"] - boxes) ** 2).mean()
        self.assertAlmostEqual(history.losses[0], want, places=5)
        self.assertAlmostEqual(history["validation_tag_loss"][0] + 2
                               * history["validation_box_loss"][0],
                               history["validation_loss"][0], places=6)
        parts = [net.copy(), net.copy()]  # however a step is cut, it means the same
        for part, micro in zip(parts, (1, 4)):
            part.train(rows, y, epochs=2, batch_size=24, micro_batches=micro)
        for key, v in parts[0](rows).items():
            np.testing.assert_allclose(parts[1](rows)[key], v, rtol=0, atol=1e-5)
        for given, said in ((boxes, "has the outputs tag, box"),
                            ({"tag": tags}, "'box' is missing"),
                            ({**y, "bax": 1}, "'bax' is no output"),
                            ({**y, "box": boxes[:, :2]}, "3 values"),
                            ({**y, "box": boxes[:3]}, "24 samples and 'box' 3"),
                            ({**y, "tag": tags * 0 - 100}, "\"tag\": no row has a class"),
                            ({**y, "tag": tags + 9}, "is -91|is 13|is 1[0-3]")):
            with self.assertRaisesRegex((TypeError, ValueError, welvet.LoomError), said):
                net.copy().train(rows, given, epochs=1)
        with self.assertRaisesRegex(TypeError, "in this order"):
            net.copy().train(rows, y,
                             heads=[{"name": "box"}, {"name": "tag", "loss": "cross_entropy"}],
                             epochs=1)
        with self.assertRaisesRegex(TypeError, "'box' is missing"):
            net.copy().train(rows, y, loss={"tag": "cross_entropy"}, epochs=1)
        with self.assertRaisesRegex(TypeError, "one output"):
            Network(L.Sequential(L.Input(3), L.Linear(1))).train(np.zeros((2, 3)), {"y": [0, 1]},
                                                                 epochs=1)

    def test_a_list_of_outputs_gives_a_tuple(self):
        x = L.Input(3)
        net = Network(L.Model(x, [L.Linear(2)(x), L.Linear(1)(x)]), seed=1)
        self.assertEqual([v.shape for v in net(np.zeros((5, 3)))], [(5, 2), (5, 1)])
        net.train(np.zeros((5, 3)), [np.zeros(5, int), np.zeros((5, 1))], epochs=1)
        with self.assertRaisesRegex(TypeError, "has the outputs 0, 1"):
            net.train(np.zeros((5, 3)), np.zeros((5, 3)), epochs=1)
        with self.assertRaisesRegex(TypeError, "out: takes one output"):
            net(np.zeros((5, 3)), out=np.zeros((5, 3)))
        topology = net.topology
        for outputs, said in ((["a"], "1 names, and the last cell hands on"), (["a", "a"], "twice"),
                              ([], "name them by")):
            with self.assertRaisesRegex(welvet.InvalidArgument, said):
                Network({**topology, "outputs": outputs})

    def test_what_is_no_model_is_refused(self):
        a, b, named = L.Input(3), L.Input(3), L.Input(3, name="a")
        for make, said in ((lambda: L.Model([a, b], L.Linear(1)(L.concat(a, b))),
                            "have a name each"),
                           (lambda: L.Model([named, named], L.Linear(1)(named)),
                            "have a name each"),
                           (lambda: L.Model(a, L.Linear(1)(b)).topology(), "not among"),
                           (lambda: L.Model([named, L.Input(2, name="b")],
                                            L.Linear(1)(named)).topology(), "no layer takes"),
                           (lambda: L.Model(a, {"y": L.Linear(1)(a)}), "give it alone"),
                           (lambda: L.Model(L.Linear(1)(a), L.Linear(1)(a)), "inputs are Inputs"),
                           (lambda: L.Linear(1)(np.zeros(3)), "ndarray"),
                           (lambda: L.Linear(1)(), "give the values"),
                           (lambda: L.Residual()(a), "x \\+ y"),
                           (lambda: a(a), "no layer"),
                           (lambda: L.Sequential(named, L.Linear(1)), "without a name"),
                           (lambda: L.Input(3, name=""), "name"),
                           (lambda: bool(a + b), "neither true nor false"),
                           (lambda: list(a + b), "no items")):
            with self.assertRaisesRegex(TypeError, said):
                make()
        with self.assertRaisesRegex(welvet.InvalidArgument, "takes one operand"):
            Network(L.Model(a, L.Linear(1)(a, L.Linear(2)(a))))

    def test_ids_stand_beside_values(self):
        text, price, country = L.Input(5, ids=9, name="text"), L.Input(1,
                name="price"), L.Input(ids=4, name="country")
        joined = L.concat(L.LSTM(4, output="last")(L.Embedding(3)(text)), price,
                          L.Embedding(2)(country))
        net = Network(L.Model([text, price, country], L.Linear(2)(joined)), seed=1)
        r = np.random.default_rng(2)
        x = {"text": r.integers(0, 9, (30, 5)), "price": r.normal(size=30),
             "country": r.integers(0, 4, 30)}
        history = net.train(x, x["country"] % 2, epochs=30, lr=0.05)
        self.assertLess(history["loss"][-1], 0.1)
        self.assertEqual(net(x).shape, (30, 2))
        for name, wrong in (("text", 9), ("text", -1), ("country", 4)):
            bad = {**x, name: np.full_like(x[name], wrong)}
            with self.assertRaisesRegex(welvet.OutOfRange, "row 0: %s takes ids" % name):
                net(bad)
            with self.assertRaisesRegex(welvet.OutOfRange, "row 0: %s takes ids" % name):
                net.train(bad, x["country"] % 2, epochs=1)
        with self.assertRaises(ValueError):
            net({**x, "text": x["text"] + 0.5})

    def test_forecasts_of_a_series(self):
        net = Network(ROOT / "tests/cases/data/series.entity")
        steps = net.forecast(14)
        self.assertEqual([s.date for s in (steps[0], steps[13])], ["1961-01", "1962-02"])
        self.assertEqual([s.measured for s in steps], [True] * 12 + [False] * 2)
        self.assertTrue(all(s.low95 < s.low80 < s.forecast < s.high80 < s.high95 for s in steps))
        history = [400 + i for i in range(15)]
        later = net.forecast(1, history=history, last=datetime.date(1965, 3, 1))
        self.assertEqual(later, net.forecast(1, history=[0] + history, last="1965-03"))
        self.assertEqual(later[0].date, "1965-04")
        for wrong in ({"history": history}, {"last": "1965-03"},
                      {"history": history[1:], "last": "1965-03"},
                      {"history": history, "last": "1965"}, {"horizon": 0}):
            with self.assertRaises(welvet.InvalidArgument):
                net.forecast(**wrong)
        with self.assertRaisesRegex(ValueError, "history"):
            net.forecast(history=[history], last="1965-03")
        net.morph("i8")
        self.assertFalse(net.forecast(1)[0].measured)
        with self.assertRaisesRegex(welvet.Unsupported, "no time series"):
            Network(L.Sequential(L.Input(3), L.Linear(1))).forecast()

    def test_deep_networks_need_no_recursion(self):
        x = L.Input(2)
        h = L.Linear(2)(x)
        for _ in range(3000):
            h = L.Activation("relu")(h)
        self.assertEqual(len(L.Model(x, h).topology()["cells"]), 3001)
