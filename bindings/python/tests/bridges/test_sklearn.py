"""planetbridging.sklearn: estimators as networks, against scikit-learn itself where it is there
(tests/parity/bridges/sklearn_models.py has random ones), and trees by hand where it is not."""
import base64
import json
import os
import tempfile
import unittest

import numpy as np

import welvet

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import sklearn
except ImportError:
    sklearn = None


def text(values, kind):
    return base64.b64encode(np.asarray(values, kind).tobytes()).decode()


class Trees(unittest.TestCase):
    CELL = {"at": [0, 0, 0, 0], "type": "trees", "features": 2, "outputs": 1, "sizes": [3, 5]}

    def topology(self, **changes):
        # x1 <= 0.5 ? a : b, and x0 <= -1 (NaN left) ? c : (x1 <= 2 ? d : e); B is 1
        nodes = [1 << 2 | 1, 0, 0, 1 << 2 | 1 << 1, 0, 1 << 2 | 1, 0, 0]
        cell = {**self.CELL, "nodes": text(nodes, "<u4"),
                "thresholds": text([0.5, -1, 2], "<f4"), **changes}
        return {"format": "loom-topology", "version": 3, "layers_per_cell": 1,
                "input": {"width": 2}, "cells": [cell]}

    def test_a_row_ends_at_its_leaves(self):
        with welvet.Network(self.topology(), seed=None) as network:
            network.set("0.0.0.0:values", np.array([[1], [2], [10], [20], [40]], np.float32))
            network.set("0.0.0.0:base", np.array([[100]], np.float32))
            x = np.array([[-1, 0.5], [0, 0.6], [0, 3], [np.nan, np.nan]], np.float32)
            self.assertEqual(network(x).ravel().tolist(), [111, 122, 142, 112])

    def test_tables_that_lead_nowhere_are_refused(self):
        for changes, what in (({"sizes": [3, 6]}, "nodes"), ({"features": 3}, "2 values|nodes"),
                              ({"nodes": "!!!!"}, "base64"), ({"thresholds": ""}, "thresholds"),
                              ({"single": True, "outputs": 3}, "outputs")):
            with self.subTest(changes), self.assertRaisesRegex(welvet.InvalidArgument, what):
                welvet.Network(self.topology(**changes), seed=None)

    def test_trainers_leave_them(self):
        topology = self.topology()
        topology["layers_per_cell"] = 2
        topology["cells"].append({"at": [0, 0, 0, 1], "type": "dense", "out": 1})
        with welvet.Network(topology, seed=3) as network:
            before = network.get("0.0.0.0:values").copy()
            dense = network.get("0.0.0.1:weight").copy()
            x = np.random.default_rng(1).normal(size=(32, 2)).astype(np.float32)
            network.train(x, x[:, :1], steps=5)
            self.assertTrue((network.get("0.0.0.0:values") == before).all())
            self.assertFalse((network.get("0.0.0.1:weight") == dense).all())


@unittest.skipUnless(sklearn, "needs scikit-learn")
class Estimators(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from sklearn.datasets import make_classification
        x, y = make_classification(2000, 10, n_classes=3, n_informative=6, random_state=0)
        cls.x, cls.y = x.astype(np.float32), np.array(["low", "mid", "high"])[y]

    def absorbed(self, estimator, **options):
        from planetbridging.sklearn import from_sklearn
        return from_sklearn(estimator, **options)

    def test_a_forest_has_the_labels_and_digits(self):
        from sklearn.ensemble import RandomForestClassifier
        forest = RandomForestClassifier(30, random_state=0).fit(self.x[:500], self.y[:500])
        absorbed = self.absorbed(forest)
        self.assertTrue((absorbed.predict(self.x) == forest.predict(self.x)).all())
        wide = self.absorbed(forest, dtype="f64")
        self.assertTrue((wide.numbers(self.x) == forest.predict_proba(self.x)).all())
        self.assertEqual(absorbed.metadata["classes"], ["high", "low", "mid"])
        json.dumps(absorbed.metadata)

    def test_a_pipeline_goes_through_a_file(self):
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        pipe = make_pipeline(StandardScaler(), LogisticRegression()).fit(self.x, self.y)
        absorbed = self.absorbed(pipe)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pipe.entity")
            absorbed.save(path)
            with welvet.Network.load(path) as network:
                got = absorbed.numbers(self.x, network)
        self.assertLess(np.abs(got - pipe.predict_proba(self.x)).max(), 1e-5)
        names = [name for names in absorbed.names.values() for name in names]
        self.assertIn("logisticregression.coef_", names)

    def test_weights_follow_a_new_fit(self):
        from sklearn.linear_model import Ridge
        ridge = Ridge().fit(self.x, self.x[:, 0])
        absorbed = self.absorbed(ridge)
        ridge.fit(self.x, self.x[:, 1] * 3)
        with absorbed.network() as network:
            self.assertLess(np.abs(absorbed.predict(self.x, network=network)
                                   - ridge.predict(self.x)).max(), 1e-4)

    def test_missing_values_go_where_the_trees_say(self):
        from sklearn.ensemble import HistGradientBoostingRegressor
        x = np.where(np.random.default_rng(0).random(self.x.shape) < 0.1, np.nan,
                     self.x).astype(np.float32)
        model = HistGradientBoostingRegressor(max_iter=20).fit(x, self.x[:, 0])
        self.assertTrue((self.absorbed(model, dtype="f64").predict(x) == model.predict(x)).all())

    def test_refusals_name_path_class_and_setting(self):
        from planetbridging.errors import Unmapped
        from sklearn.ensemble import GradientBoostingClassifier, IsolationForest
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import Pipeline
        from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
        cases = [
            (IsolationForest(n_estimators=2).fit(self.x), "IsolationForest"),
            (GradientBoostingClassifier(n_estimators=2, init=LogisticRegression()).fit(
                self.x, self.y), r"GradientBoostingClassifier\(init="),
            (Pipeline([("f", FunctionTransformer(np.tanh)), ("m", LogisticRegression())]).fit(
                self.x, self.y), r"^f: FunctionTransformer\(func="),
            (OneHotEncoder().fit(np.array([["a"], ["b"]])), "no numbers"),
            (LogisticRegression(), "not fitted"),
        ]
        for estimator, what in cases:
            with self.subTest(what), self.assertRaisesRegex(Unmapped, what):
                self.absorbed(estimator)

    def test_wrong_arguments(self):
        from sklearn.linear_model import LogisticRegression
        model = LogisticRegression().fit(self.x, self.y)
        with self.assertRaisesRegex(ValueError, "method"):
            self.absorbed(model, method="proba")
        with self.assertRaisesRegex(ValueError, "dtype"):
            self.absorbed(model, dtype="f16")
        absorbed = self.absorbed(model, method="decision_function")
        self.assertLess(np.abs(absorbed.numbers(self.x)
                               - model.decision_function(self.x)).max(), 1e-4)
        with self.assertRaisesRegex(ValueError, "expects rows"):
            absorbed.predict(self.x[0])
        with self.assertRaises(TypeError):
            absorbed.predict(self.x, self.x)
