#!/usr/bin/env python3
"""Random estimators of scikit-learn, fitted on small random data, against the networks that
planetbridging.sklearn makes of them: numbers within 1e-5 (trees in f64: equal), labels equal, or
refused by name. Needs scikit-learn.

    LOOM_LIBRARY=build/release/libloom.so python3 tests/parity/bridges/sklearn_models.py --count 60
"""
import argparse
import os
import pathlib
import random
import sys
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # teams of threads that wait for busy cores
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bindings/python"))

import numpy as np  # noqa: E402
from sklearn import (cluster, compose, decomposition, ensemble, feature_selection,  # noqa: E402
                     impute, linear_model, multiclass, neural_network, pipeline, preprocessing,
                     svm, tree)

from planetbridging.errors import Unmapped  # noqa: E402
from planetbridging.sklearn import from_sklearn  # noqa: E402

TREES = ("Forest", "Tree", "Boosting")


def ranked(x, y):
    """Scores of columns for targets of any kind."""
    return x.std(0)


def scaler(r):
    return r.choice([
        lambda: preprocessing.StandardScaler(with_mean=r.random() < 0.8,
                                             with_std=r.random() < 0.8),
        lambda: preprocessing.MinMaxScaler((r.choice([0, -1]), 1), clip=r.random() < 0.5),
        preprocessing.MaxAbsScaler, preprocessing.RobustScaler,
        lambda: preprocessing.Normalizer(r.choice(["l1", "l2", "max"]))])()


def transformer(r):
    return r.choice([
        lambda: scaler(r), lambda: scaler(r),
        lambda: decomposition.PCA(r.randint(2, 4), whiten=r.random() < 0.5),
        lambda: decomposition.TruncatedSVD(3),
        lambda: preprocessing.PolynomialFeatures(2, include_bias=r.random() < 0.5),
        lambda: preprocessing.FunctionTransformer(np.abs),
        lambda: feature_selection.SelectKBest(ranked, k=4),
        lambda: cluster.KMeans(r.randint(2, 5), n_init=1),
        lambda: pipeline.FeatureUnion([("a", scaler(r)), ("b", decomposition.PCA(2))]),
        lambda: compose.ColumnTransformer(
            [("numbers", scaler(r), [0, 2]), ("rest", "passthrough", slice(3, 5)),
             ("kinds", preprocessing.OneHotEncoder(
                 handle_unknown=r.choice(["error", "ignore"]),
                 drop=r.choice([None, "first"])), [6])],
            remainder=r.choice(["drop", "passthrough"])),
        lambda: compose.ColumnTransformer([("kinds", preprocessing.OrdinalEncoder(), [6]),
                                           ("fill", impute.SimpleImputer(), [1, 5])])])()


def classifier(r):
    n, depth = r.randint(1, 30), r.choice([None, 2, 5])
    return r.choice([
        linear_model.LogisticRegression,
        lambda: linear_model.SGDClassifier(loss=r.choice(["hinge", "log_loss"])),
        svm.LinearSVC, linear_model.RidgeClassifier, linear_model.Perceptron,
        lambda: multiclass.OneVsRestClassifier(linear_model.LogisticRegression()),
        lambda: neural_network.MLPClassifier(
            (r.randint(2, 9),) * r.randint(1, 2), max_iter=30,
            activation=r.choice(["identity", "logistic", "tanh", "relu"])),
        lambda: tree.DecisionTreeClassifier(max_depth=depth),
        lambda: ensemble.RandomForestClassifier(n, max_depth=depth),
        lambda: ensemble.ExtraTreesClassifier(n, max_depth=depth),
        lambda: ensemble.GradientBoostingClassifier(n_estimators=n, max_depth=depth or 3),
        lambda: ensemble.HistGradientBoostingClassifier(max_iter=n, max_depth=depth),
        lambda: ensemble.VotingClassifier(
            [("a", linear_model.LogisticRegression()),
             ("b", tree.DecisionTreeClassifier(max_depth=3))], voting="soft",
            weights=r.choice([None, [2, 1]]))])()


def regressor(r):
    n, depth = r.randint(1, 30), r.choice([None, 2, 5])
    return r.choice([
        linear_model.LinearRegression, lambda: linear_model.Ridge(fit_intercept=r.random() < 0.7),
        linear_model.Lasso, linear_model.ElasticNet, linear_model.SGDRegressor, svm.LinearSVR,
        lambda: neural_network.MLPRegressor(
            hidden_layer_sizes=(r.randint(2, 9),), max_iter=30,
            activation=r.choice(["identity", "logistic", "tanh", "relu"])),
        lambda: tree.DecisionTreeRegressor(max_depth=depth),
        lambda: ensemble.RandomForestRegressor(n, max_depth=depth),
        lambda: ensemble.ExtraTreesRegressor(n, max_depth=depth),
        lambda: ensemble.GradientBoostingRegressor(n_estimators=n, max_depth=depth or 3),
        lambda: ensemble.HistGradientBoostingRegressor(max_iter=n, max_depth=depth),
        lambda: ensemble.VotingRegressor([("a", linear_model.Ridge()),
                                          ("b", tree.DecisionTreeRegressor(max_depth=3))]),
        lambda: compose.TransformedTargetRegressor(linear_model.Ridge(),
                                                   transformer=preprocessing.StandardScaler())])()


def make(r):
    """An estimator, and what it is fitted on."""
    values = np.random.default_rng(r.randrange(1 << 30))
    x = values.normal(r.choice([0, 0, 3]), r.choice([1, 1, 5]), (400, 8)).astype(np.float32)
    x[:, 6] = values.integers(0, 5, 400)
    score = x[:, :4] @ values.normal(size=4).astype(np.float32) + x[:, 4] * x[:, 5]
    kind = r.choice(["classifier", "classifier", "regressor", "regressor", "transformer"])
    if kind == "transformer":
        last, y = transformer(r), score
    elif kind == "regressor":
        last, y = regressor(r), (score - score.mean()) / score.std()
    else:
        last, classes = classifier(r), r.choice([2, 2, 3, 5])
        y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
        y = np.array(["red", "green", "blue", "black", "white"])[y] if r.random() < 0.5 else y * 10
    if hasattr(last, "random_state"):
        last.set_params(random_state=0)
    if kind != "transformer" and r.random() < 0.5:
        last = pipeline.Pipeline([("t%d" % i, transformer(r) if i == 0 else scaler(r))
                                  for i in range(r.randint(1, 2))] + [("last", last)])
    return last, x, y


def check(e, x, y):
    """What differs, or nothing."""
    rows = x.astype(np.float64)  # f32 in is f32 all the way in some
    e.fit(rows, y)
    # Behind other steps values are rounded before they meet thresholds, some of which are values of
    # the data: rows may fall on the other side.
    behind = any(t in str(e) for t in TREES) and not type(e).__name__.endswith(
        ("Classifier", "Regressor"))
    wrong = []
    for dtype, bound in (("f32", 1e-5), ("f64", 1e-9)):
        share = 0 if not behind else 0.01 if dtype == "f64" else 0.3 if "Hist" in str(e) else 0.03
        absorbed = from_sklearn(e, dtype=dtype)
        want = getattr(e, absorbed.method)(rows)
        want = np.asarray(want.toarray() if hasattr(want, "toarray") else want, np.float64)
        got = absorbed.numbers(rows)
        want = want.reshape(got.shape)
        error = np.abs(got - want).max(1) / max(1.0, np.abs(want).max())
        if not (error < bound).mean() >= 1 - share:
            wrong.append("%s: numbers differ by %.1e" % (dtype, error.max()))
        if absorbed.method == "transform":
            continue
        said, answer = e.predict(rows), absorbed.predict(rows)
        if said.shape != answer.shape:
            wrong.append("%s: predict has the shape %s, not %s" % (dtype, answer.shape,
                                                                   said.shape))
        elif absorbed.classes is not None:
            two = np.sort(want, 1)[:, -2:] if want.shape[1] > 1 else np.abs(want)
            clear = (np.ptp(two, 1) if want.shape[1] > 1 else two[:, 0]) > 1e-5
            if (said != answer)[clear].mean() > share:
                wrong.append("%s: %d labels differ" % (dtype, (said != answer).sum()))
        if dtype == "f64" and "Forest" in type(e).__name__ and not (want == got).all():
            wrong.append("trees are not equal in f64: %.1e" % error.max())
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one estimator")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    failed = refused = 0
    for i in range(args.count) if args.only is None else [args.only]:
        e, x, y = make(random.Random("%d/%d" % (args.seed, i)))
        try:
            wrong = check(e, x, y)
        except Unmapped as refusal:
            print("%d %s: refused: %s" % (i, e, refusal))
            refused += 1
            continue
        except Exception as error:  # what one needs to see
            wrong = ["%s: %s" % (type(error).__name__, error)]
        if wrong:
            failed += 1
            print("FAILED %d %s: %s" % (i, e, "; ".join(wrong)))
    print("%d estimators, %d refused by name, %d failed" % (
        args.count if args.only is None else 1, refused, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
