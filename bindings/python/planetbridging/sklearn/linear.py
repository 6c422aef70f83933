"""Linear models and multilayer perceptrons."""
from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from ..graph import Value
from .walk import Answer, Walk, class_name

REGRESSORS = ("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "LassoLars",
              "ElasticNet", "ElasticNetCV", "MultiTaskLasso", "MultiTaskElasticNet",
              "SGDRegressor", "LinearSVR", "HuberRegressor", "BayesianRidge", "ARDRegression",
              "TheilSenRegressor", "Lars", "OrthogonalMatchingPursuit",
              "PassiveAggressiveRegressor", "QuantileRegressor")
EXPONENTIAL = ("PoissonRegressor", "GammaRegressor")
CLASSIFIERS = ("LogisticRegression", "LogisticRegressionCV", "SGDClassifier", "LinearSVC",
               "RidgeClassifier", "RidgeClassifierCV", "Perceptron",
               "PassiveAggressiveClassifier")


def product(walk: Walk, estimator: Any, x: Value) -> Value:
    """coef_ x + intercept_."""
    walk.takes(estimator, x)
    coef = walk.numbers("coef_", lambda: estimator.coef_, True)
    if coef.array.ndim == 1:
        coef = coef.reshaped((1, coef.array.shape[0]))
    bias = None
    if np.any(np.asarray(estimator.intercept_)) or getattr(estimator, "fit_intercept", True):
        bias = walk.numbers("intercept_", lambda: np.broadcast_to(
            np.ravel(estimator.intercept_), (np.atleast_2d(estimator.coef_).shape[0],)), True)
    return walk.graph.dense(x, coef, bias)


def regressor(walk: Walk, estimator: Any, x: Value) -> Tuple[Value, Answer]:
    y = product(walk, estimator, x)
    if class_name(estimator) in EXPONENTIAL:
        y = walk.graph.unary(y, "exp")
    flat = np.ndim(estimator.coef_) == 1
    return y, {"kind": "values", "flat": flat}


def probable(estimator: Any) -> bool:
    """Whether predict_proba is there."""
    name = class_name(estimator)
    return name.startswith("Logistic") or name == "SGDClassifier" and estimator.loss in (
        "log_loss", "modified_huber")


def classifier(walk: Walk, estimator: Any, x: Value, method: str) -> Tuple[Value, Answer]:
    y = product(walk, estimator, x)
    classes = estimator.classes_
    binary = walk.width(y) == 1
    if method != "predict_proba":
        return y, {"kind": "sign" if binary else "argmax", "classes": classes, "flat": binary}
    if not probable(estimator):
        raise walk.unmapped("%s.predict_proba" % class_name(estimator), "it has none")
    if getattr(estimator, "loss", "") == "modified_huber":
        if not binary:
            raise walk.refuse(estimator, "loss", "probabilities of more than two classes; "
                              "method=\"decision_function\" is")
        p = walk.times(walk.add(walk.graph.unary(y, "clip", -1.0, 1.0), 1.0), 0.5)
        return walk.both(p), {"kind": "argmax", "classes": classes}
    if binary:
        return walk.both(walk.sigmoid(y)), {"kind": "argmax", "classes": classes}
    if class_name(estimator) == "SGDClassifier" or getattr(estimator, "multi_class", "") == "ovr":
        return normalized(walk, walk.sigmoid(y)), {"kind": "argmax", "classes": classes}
    return walk.graph.softmax(y), {"kind": "argmax", "classes": classes}


def normalized(walk: Walk, p: Value) -> Value:
    """Over their sum, row by row."""
    return walk.binary(p, walk.row_sum(p), "div")


# ---- multilayer perceptrons

_ACTIVATIONS = {"identity": "linear", "logistic": "sigmoid", "tanh": "tanh", "relu": "relu"}


def perceptron(walk: Walk, estimator: Any, x: Value) -> Value:
    """All layers up to the numbers behind the last one's activation."""
    walk.takes(estimator, x)
    last = len(estimator.coefs_) - 1
    for i in range(last + 1):
        weight = walk.numbers("coefs_.%d" % i, lambda i=i: estimator.coefs_[i],  # type: ignore
                              True).transposed()
        bias = walk.numbers("intercepts_.%d" % i,
                            lambda i=i: estimator.intercepts_[i], True)  # type: ignore
        kind = estimator.activation if i < last else estimator.out_activation_
        if kind in _ACTIVATIONS:
            x = walk.graph.dense(x, weight, bias, _ACTIVATIONS[kind])
        elif kind == "softmax":
            x = walk.graph.softmax(walk.graph.dense(x, weight, bias))
        elif kind == "exp":
            x = walk.graph.unary(walk.graph.dense(x, weight, bias), "exp")
        else:
            raise walk.refuse(estimator, "activation", "known are %s" % ", ".join(_ACTIVATIONS))
    return x


def perceptron_regressor(walk: Walk, estimator: Any, x: Value) -> Tuple[Value, Answer]:
    y = perceptron(walk, estimator, x)
    return y, {"kind": "values", "flat": estimator.n_outputs_ == 1}


def perceptron_classifier(walk: Walk, estimator: Any, x: Value) -> Tuple[Value, Answer]:
    p = perceptron(walk, estimator, x)
    if estimator.out_activation_ == "softmax":
        return p, {"kind": "argmax", "classes": estimator.classes_}
    if walk.width(p) == 1:
        return walk.both(p), {"kind": "argmax", "classes": estimator.classes_}
    return p, {"kind": "labels"}


def one_vs_rest(walk: Walk, estimator: Any, x: Value, method: str) -> Tuple[Value, Answer]:
    if getattr(estimator, "multilabel_", False):
        raise walk.unmapped("OneVsRestClassifier", "it has several labels for a row")
    parts = []
    for i, one in enumerate(estimator.estimators_):
        with walk.within("estimators_.%d" % i):
            if class_name(one) not in CLASSIFIERS:
                raise walk.unmapped("OneVsRestClassifier(%s)" % class_name(one),
                                    "its estimators are linear")
            if method == "predict_proba" and not (
                    probable(one) and getattr(one, "loss", "log_loss") == "log_loss"):
                raise walk.unmapped("OneVsRestClassifier.predict_proba", "of %s"
                                    % class_name(one))
            parts.append(product(walk, one, x))
    y, classes = walk.beside(parts), estimator.classes_
    if len(parts) == 1:
        if method == "predict_proba":
            return walk.both(walk.sigmoid(y)), {"kind": "argmax", "classes": classes}
        return y, {"kind": "sign", "classes": classes, "flat": True}
    if method == "predict_proba":
        y = normalized(walk, walk.sigmoid(y))
    return y, {"kind": "argmax", "classes": classes}


def kmeans_distances(walk: Walk, estimator: Any, x: Value) -> Value:
    """Distances to the centers."""
    walk.takes(estimator, x)
    centers = walk.numbers("cluster_centers_", lambda: estimator.cluster_centers_)
    row = walk.graph.value(walk.graph.reshape(x, [None, 1, walk.width(x)]))
    away = walk.graph.unary(walk.binary(row, centers, "sub"), "square")
    return walk.graph.unary(walk.graph.reduce(away, "sum", [2]), "sqrt")


__all__ = ["CLASSIFIERS", "EXPONENTIAL", "REGRESSORS", "classifier",
           "kmeans_distances", "one_vs_rest", "perceptron_classifier", "perceptron_regressor",
           "regressor"]
