"""Network.inputs: names of columns and classes, from scikit-learn into files, through the program,
the bridge and ONNX, and what is refused. Judged by scikit-learn where it is there."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

from served import PROGRAM, Server, has_bridge
from source import ROOT
import welvet
from welvet import Network

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import sklearn
except ImportError:
    sklearn = None

NAMES = ["length", "width, mm", 'the "third"', "größe"]


def dense(width, out, **more):
    return {"format": "loom-topology", "version": 3, "input": {"width": width},
            "cells": [{"at": [0, 0, 0, 0], "type": "dense", "out": out, **more}]}


def cell(text):
    return '"%s"' % text.replace('"', '""') if set(text) & set(',"') else text


def table(x, names):
    lines = [",".join(map(cell, names))] if names else []
    return "\n".join(lines + [",".join(repr(float(v)) for v in row) for row in x]) + "\n"


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def predicted(self, network, data, *options):
        done = subprocess.run([str(PROGRAM), "predict", str(network), "--data", str(data),
                               *options], capture_output=True, check=False, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()


class Answers(Folder):
    """Of networks whose outputs are known."""

    def answers(self, rows, out, inputs):
        """Of an identity, or of the first column."""
        x = np.array(rows, np.float32)
        with Network(dense(x.shape[1], out), seed=None) as network:
            network.set("0.0.0.0:weight", np.eye(out, x.shape[1], dtype=np.float32))
            network.inputs = inputs
            network.save(self.path / "n.entity")
        (self.path / "x.csv").write_text(table(x, None))
        with welvet.Predictor(self.path / "n.entity", threads=1) as predictor:
            self.info = predictor.info()
            return predictor.predict(self.path / "x.csv")

    def test_logits_probabilities_and_scores(self):
        rows = [[0, 1, 0.5], [2, 1, -1]]
        labels = ["a", "b", "c"]
        logits = self.answers(rows, 3, {"labels": labels})
        e = np.exp(np.array(rows) - np.max(rows, 1, keepdims=True))
        for answer, p in zip(logits, e / e.sum(1, keepdims=True)):
            np.testing.assert_allclose(answer["probabilities"], p, rtol=1e-12)
        self.assertEqual([a["class"] for a in logits], ["b", "a"])
        self.assertEqual((self.info["classes"], self.info["labels"]), (3, labels))
        shares = self.answers(rows, 3, {"labels": [5, -1, 2.5], "answers": "probabilities"})
        self.assertEqual([a["class"] for a in shares], [-1, 5])
        self.assertEqual([a["probabilities"] for a in shares], rows)
        self.assertEqual(shares[0]["probability"], 1)
        scores = self.answers(rows, 3, {"labels": labels, "answers": "scores"})
        self.assertEqual(scores[0], {"row": 1, "class": "b", "scores": rows[0]})

    def test_one_output_of_two_classes(self):
        rows = [[-1.5], [0], [0.5], [0.75]]
        two = {"labels": [False, True]}
        logits = self.answers(rows, 1, two)
        self.assertEqual([a["class"] for a in logits], [False, False, True, True])
        self.assertAlmostEqual(logits[0]["probability"], 1 / (1 + np.exp(-1.5)), 12)
        shares = self.answers(rows[1:], 1, {**two, "answers": "probabilities"})
        self.assertEqual([a["class"] for a in shares], [False, False, True])
        self.assertEqual(shares[2]["probabilities"], [0.25, 0.75])
        scores = self.answers(rows, 1, {**two, "answers": "scores"})
        self.assertEqual([a["class"] for a in scores], [False, False, True, True])
        self.assertEqual(scores[3]["scores"], [0.75])

    def test_no_number_is_no_class(self):
        (first, second) = self.answers(
            [[np.nan, 1], [0, 1]], 2,
            {"columns": [{"name": "0"}, {"name": "1"}], "labels": ["a", "b"]})
        self.assertEqual((first["class"], first["probability"]), (None, None))
        self.assertEqual(second["class"], "b")
        if PROGRAM.is_file():
            lines = self.predicted(self.path / "n.entity", self.path / "x.csv")
            self.assertEqual(lines, ["nan,nan", "b,0.7311"])

    def test_columns_stand_by_their_names(self):
        with Network(dense(2, 1), seed=None) as network:
            network.set("0.0.0.0:weight", np.array([[1, 10]], np.float32))
            network.inputs = {"columns": [{"name": "a"}, {"name": "b"}]}
            network.save(self.path / "n.entity")
        (self.path / "x.csv").write_text("b,other,a\n1,x,2\n3,y,4\n")
        np.save(self.path / "x.npy", np.array([[2, 1], [4, 3]], np.float32))
        (self.path / "narrow.csv").write_text("a,c\n1,2\n")
        (self.path / "bare.csv").write_text("1\n2\n")
        np.save(self.path / "narrow.npy", np.zeros((2, 3), np.float32))
        with welvet.Predictor(self.path / "n.entity", threads=1) as predictor:
            for data in ("x.csv", "x.npy"):
                with self.subTest(data):
                    self.assertEqual([a["values"] for a in predictor.predict(self.path / data)],
                                     [[12], [34]])
            for data, kind, what in (("narrow.csv", welvet.NotFound, "no column 'b'"),
                                     ("bare.csv", welvet.InvalidArgument, "expected 2"),
                                     ("narrow.npy", welvet.InvalidArgument, "rows of 2 values")):
                with self.subTest(data), self.assertRaisesRegex(kind, what):
                    predictor.predict(self.path / data)

    def test_what_does_not_fit_is_refused_and_changes_nothing(self):
        with Network(dense(2, 3)) as network:
            self.assertIsNone(network.inputs)
            network.inputs = kept = {"labels": ["x", "y", "z"]}
            for inputs, what in (({"labels": ["x", "y"]}, "2 names, the network returns 3"),
                                 ({"names": ["x"]}, "'names' is unknown"),
                                 ({"columns": [{"name": "a"}]}, "1 values, the network takes 2"),
                                 ("nothing", "inputs"), ([], "an object"), ({}, "says nothing")):
                with self.subTest(inputs), self.assertRaisesRegex(welvet.InvalidArgument, what):
                    network.inputs = inputs
                self.assertEqual(network.inputs, kept)
            network.inputs = None
            self.assertIsNone(network.inputs)

    def test_names_of_a_network_that_has_changed_are_refused(self):
        with Network(dense(2, 3)) as network:
            network.inputs = {"labels": ["x", "y", "z"]}
            network.set_cell("0.0.0.0", {"type": "dense", "out": 5})
            network.save(self.path / "n.entity")
        with self.assertRaisesRegex(welvet.Corrupt, "names 3 classes, the network has 5"):
            welvet.Predictor(self.path / "n.entity")

    def test_training_and_conversions_keep_it(self):
        x = np.random.default_rng(0).normal(size=(64, 2)).astype(np.float32)
        inputs = {"columns": [{"name": "a"}, {"name": "b"}], "labels": ["no", "yes"]}
        with Network(dense(2, 2)) as network:
            network.inputs = inputs
            network.train(x, (x[:, 0] > 0).astype(np.int32), steps=5, loss="cross_entropy")
            network.morph("i8")
            network.save(self.path / "n.entity")
            network.export(self.path / "n.onnx", **{"as": "f32"})
            text = network.to_json()
        self.assertEqual(Network.load(self.path / "n.entity").inputs, inputs)
        self.assertEqual(Network.from_bytes(text.encode()).inputs, inputs)
        self.assertEqual(welvet.from_onnx(self.path / "n.onnx").network()[0].inputs, inputs)
        with welvet.Predictor(self.path / "n.entity") as predictor:
            predictor.morph("i4")
            predictor.save(self.path / "small.entity")
        with Network.load(self.path / "small.entity") as network:
            self.assertEqual(network.inputs, inputs)
        # What training from a table writes can be taken away and set again.
        with Network.load(ROOT / "tests/cases/data/table.entity") as network:
            made = network.inputs
            network.inputs = None
            network.inputs = made
            self.assertEqual(network.inputs, made)
            self.assertEqual(made["labels"], ["large", "small"])
        with Network.load(ROOT / "tests/cases/data/series.entity") as network:
            network.inputs = network.inputs
            self.assertEqual(len(network.forecast(3)), 3)


@unittest.skipUnless(sklearn, "needs scikit-learn")
class Sklearn(Folder):
    @classmethod
    def setUpClass(cls):
        from sklearn.datasets import make_classification
        x, y = make_classification(400, 4, n_classes=3, n_informative=4, n_redundant=0,
                                   random_state=1)
        cls.x, cls.y = (10 * x).astype(np.float32), y
        cls.words = np.array(["low, cold", "mid", 'a "high"'])[y]

    def estimators(self):
        from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
        from sklearn.linear_model import LogisticRegression, RidgeClassifier
        from sklearn.neural_network import MLPClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import LinearSVC
        return {
            "logistic": LogisticRegression(max_iter=1000),
            "forest": RandomForestClassifier(20, random_state=0),
            "boosting": GradientBoostingClassifier(n_estimators=10, random_state=0),
            "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
            "perceptron": make_pipeline(StandardScaler(), MLPClassifier(
                (16,), max_iter=60, random_state=0)),
            "ridge": RidgeClassifier(),
            "svc": make_pipeline(StandardScaler(), LinearSVC(random_state=0))}

    def fitted(self, estimator, y, named):
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = estimator.fit(self.x, y)
        if named:  # as a table of pandas would
            first = model.steps[0][1] if hasattr(model, "steps") else model
            first.feature_names_in_ = np.array(NAMES, object)
        return model

    def expected(self, model):
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the rows have no names
            return model.predict(self.x)

    def test_files_answer_with_the_labels_of_scikit_learn(self):
        from planetbridging import absorb
        for number, (name, estimator) in enumerate(self.estimators().items()):
            named = number % 2 == 0
            with self.subTest(name):
                model = self.fitted(estimator, self.words, named)
                want = self.expected(model).tolist()
                self.assertEqual(len(set(want)), 3)
                path = self.path / (name + ".entity")
                absorb.sklearn(model, output_path=path)
                order = [2, 0, 3, 1] if named else [0, 1, 2, 3]
                data = self.path / "x.csv"
                data.write_text(table(self.x[:, order], [NAMES[i] for i in order] if named
                                      else None))
                np.save(self.path / "x.npy", self.x)
                with welvet.Predictor(path, threads=1) as predictor:
                    self.assertEqual(predictor.info()["labels"], model.classes_.tolist())
                    for rows in (data, self.path / "x.npy"):
                        answers = predictor.predict(rows)
                        self.assertEqual([a["class"] for a in answers], want)
                if hasattr(model, "predict_proba"):
                    got = np.array([a["probabilities"] for a in answers])
                    import warnings
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        self.assertLess(np.abs(got - model.predict_proba(self.x)).max(), 1e-5)
                if PROGRAM.is_file():
                    lines = self.predicted(path, data)
                    self.assertEqual([cell(w) for w in want],
                                     [line.rsplit(",", "probability" in answers[0])[0]
                                      for line in lines])
                    lines = self.predicted(path, data, "--json")
                    self.assertEqual([json.loads(line)["class"] for line in lines], want)

    def test_labels_keep_their_type(self):
        from planetbridging import from_sklearn
        from sklearn.linear_model import LogisticRegression, RidgeClassifier
        np.save(self.path / "x.npy", self.x)
        path = self.path / "n.entity"
        for y in (self.y * 7 - 3, self.y > 0, self.y * 2.0, np.where(self.y > 1, "on", "off")):
            for estimator in (LogisticRegression(max_iter=1000), RidgeClassifier()):
                with self.subTest(y=y[:2], estimator=estimator):
                    model = self.fitted(estimator, y, False)
                    from_sklearn(model).save(path)
                    with welvet.Predictor(path, threads=1) as predictor:
                        got = [a["class"] for a in predictor.predict(self.path / "x.npy")]
                    self.assertEqual(got, self.expected(model).tolist())
                    if y.dtype != float:
                        self.assertEqual(type(got[0]), type(y[0].item()))

    def test_values_and_what_has_no_names(self):
        from planetbridging import from_sklearn
        from sklearn.ensemble import GradientBoostingClassifier
        from sklearn.linear_model import LogisticRegression, Ridge
        from sklearn.preprocessing import StandardScaler
        self.assertIsNone(from_sklearn(Ridge().fit(self.x, self.y)).described)
        self.assertIsNone(from_sklearn(StandardScaler().fit(self.x)).described)
        named = from_sklearn(self.fitted(Ridge(), self.y, True))
        self.assertEqual([c["name"] for c in named.described["columns"]], NAMES)
        with named.network() as network:
            self.assertEqual(network.inputs, named.described)
        boosted = GradientBoostingClassifier(n_estimators=2).fit(self.x, self.y > 0)
        self.assertIsNone(from_sklearn(boosted, method="decision_function").described)
        twice = self.fitted(LogisticRegression(max_iter=1000), self.y, False)
        twice.feature_names_in_ = np.array(["a", "a", "b", "c"], object)
        self.assertEqual(set(from_sklearn(twice).described), {"labels", "answers"})

    @unittest.skipUnless(has_bridge(), "needs the program loom with its bridge (LOOM_PROGRAM)")
    def test_a_push_brings_the_names_along(self):
        from planetbridging import from_sklearn, wire
        model = self.fitted(self.estimators()["pipeline"], self.words, True)
        absorbed = from_sklearn(model)
        server = Server(self.path)
        try:
            absorbed.push(server.url, token=server.token, name="net")
            absorbed.save(self.path / "here.entity")
            with Network.load(self.path / "net.entity") as there:
                self.assertEqual(there.inputs, absorbed.described)
            absorbed.push(server.url, token=server.token, name="net", weights_only=True)
            with Network.load(self.path / "net.entity") as there:
                self.assertEqual(there.inputs, absorbed.described)
            absorbed.described = {"labels": ["one", "two"]}
            with self.assertRaisesRegex(wire.BridgeError, "2 names, the network returns 3"):
                absorbed.push(server.url, token=server.token, name="net")
        finally:
            server.kill()
