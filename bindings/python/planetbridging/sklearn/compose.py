"""Estimators of estimators, and which map an estimator has."""
from __future__ import annotations

from typing import Any, List, Sequence, Tuple

import numpy as np

from ..graph import Value
from . import linear, trees
from .transforms import TRANSFORMERS, transform
from .walk import Answer, Walk, class_name

METHODS = ("predict_proba", "decision_function", "predict", "transform")
Made = Tuple[Value, Answer]
_WITH_METHODS = {**{c: linear.classifier for c in linear.CLASSIFIERS},
                 "OneVsRestClassifier": linear.one_vs_rest,
                 **{c: trees.boosted for c in trees.BOOSTED},
                 **{c: trees.histogram for c in trees.HISTOGRAM}}
_ALONE = {**{r: linear.regressor for r in linear.REGRESSORS + linear.EXPONENTIAL},
          "MLPRegressor": linear.perceptron_regressor,
          "MLPClassifier": linear.perceptron_classifier,
          **{f: trees.forest for f in trees.FORESTS | trees.SINGLE}}


def known() -> List[str]:
    """Names of the classes that have a map."""
    return sorted({*_WITH_METHODS, *_ALONE, *TRANSFORMERS, "Pipeline", "ColumnTransformer",
                   "FeatureUnion", "VotingClassifier", "VotingRegressor",
                   "TransformedTargetRegressor"})


def own_class(walk: Walk, e: Any) -> str:
    """The name of a class of scikit-learn's own; other classes may compute something else."""
    if not type(e).__module__.startswith("sklearn."):
        raise walk.unmapped("%s.%s" % (type(e).__module__, class_name(e)),
                            "only scikit-learn's own classes are known")
    return class_name(e)


def default_method(e: Any) -> str:
    """What the network computes where nothing is asked for."""
    kind = class_name(e)
    if kind == "Pipeline":
        return default_method(e.steps[-1][1])
    if kind in TRANSFORMERS or kind in ("ColumnTransformer", "FeatureUnion") or e is None or e in (
            "passthrough",):
        return "transform"
    for method in ("predict_proba", "decision_function"):
        if hasattr(e, method):
            return method
    return "predict"


def predicted(walk: Walk, e: Any, x: Value, method: str) -> Made:
    """The output of an estimator's method, and how it becomes predict()'s answer."""
    kind = own_class(walk, e)
    if kind == "Pipeline":
        return pipeline(walk, e, x, method)
    if method == "transform":
        return transformed(walk, e, x), {"kind": "values", "flat": False}
    if kind in ("KMeans", "MiniBatchKMeans"):
        if method != "predict":
            raise walk.unmapped("%s.%s" % (kind, method), "it has predict and transform")
        return linear.kmeans_distances(walk, e, x), {"kind": "nearest"}
    if method not in ("predict", "predict_proba", "decision_function") or not hasattr(e, method):
        raise walk.unmapped("%s.%s" % (kind, method), "it has none")
    if kind in ("VotingClassifier", "VotingRegressor"):
        return voting(walk, e, x)
    if kind == "TransformedTargetRegressor":
        return retargeted(walk, e, x)
    if kind in _WITH_METHODS:
        numbers = "predict_proba" if method == "predict" and hasattr(
            e, "predict_proba") else method
        return _WITH_METHODS[kind](walk, e, x, numbers)  # type: ignore[operator]
    if kind in _ALONE:
        return _ALONE[kind](walk, e, x)  # type: ignore[operator]
    raise walk.unmapped(kind, "known are %s" % ", ".join(known()))


def transformed(walk: Walk, e: Any, x: Value) -> Value:
    """The output of transform()."""
    if e is None or isinstance(e, str) and e == "passthrough":
        return x
    kind = own_class(walk, e)
    if kind == "Pipeline":
        return steps(walk, e.steps, x)
    if kind == "ColumnTransformer":
        return columns(walk, e, x)
    if kind == "FeatureUnion":
        return union(walk, e, x)
    made = transform(walk, e, x)
    if made is None:
        raise walk.unmapped(kind, "as a transformer known are %s" % ", ".join(
            sorted(TRANSFORMERS)))
    return made


def steps(walk: Walk, named: Sequence[Tuple[str, Any]], x: Value) -> Value:
    for name, step in named:
        with walk.within(name):
            x = transformed(walk, step, x)
    return x


def pipeline(walk: Walk, e: Any, x: Value, method: str) -> Made:
    x = steps(walk, e.steps[:-1], x)
    name, last = e.steps[-1]
    with walk.within(name):
        if last is None or isinstance(last, str):
            return x, {"kind": "values", "flat": False}
        return predicted(walk, last, x, method)


def columns(walk: Walk, e: Any, x: Value) -> Value:
    walk.takes(e, x)
    parts = []
    for name, step, _ in e.transformers_:
        places = np.asarray(e._transformer_to_input_indices[name], np.int64)
        if isinstance(step, str) and step == "drop" or len(places) == 0:
            continue
        with walk.within(name):
            parts.append(transformed(walk, step, walk.columns(x, places.tolist())))
    if not parts:
        raise walk.unmapped("ColumnTransformer", "it keeps no column")
    return walk.beside(parts)


def union(walk: Walk, e: Any, x: Value) -> Value:
    parts = []
    for name, step in e.transformer_list:
        if isinstance(step, str) and step == "drop":
            continue
        with walk.within(name):
            weight = (e.transformer_weights or {}).get(name)
            made = transformed(walk, step, x)
            parts.append(made if weight is None else walk.times(made, float(weight)))
    return walk.beside(parts)


def voting(walk: Walk, e: Any, x: Value) -> Made:
    """The mean of the members' probabilities or values."""
    classes = getattr(e, "classes_", None)
    if classes is not None and e.voting != "soft":
        raise walk.refuse(e, "voting", "a vote counts labels; soft is mapped")
    weights = e._weights_not_none
    weights = np.ones(len(e.estimators_)) if weights is None else np.asarray(weights, np.float64)
    total = None
    for i, (member, weight) in enumerate(zip(e.estimators_, weights / weights.sum())):
        with walk.within("estimators_.%d" % i):
            y, _ = predicted(walk, member, x, "predict" if classes is None else "predict_proba")
            y = walk.times(y, weight)
            total = y if total is None else walk.binary(total, y, "add")
    assert total is not None
    if classes is None:
        return total, {"kind": "values", "flat": True}
    return total, {"kind": "argmax", "classes": classes}


def retargeted(walk: Walk, e: Any, x: Value) -> Made:
    """A regressor of scaled targets: the inverse of the scaler follows."""
    with walk.within("regressor_"):
        y, answer = predicted(walk, e.regressor_, x, "predict")
    t = e.transformer_
    with walk.within("transformer_"):
        if class_name(t) == "StandardScaler":
            y = walk.times(y, t.scale_) if t.with_std else y
            y = walk.add(y, t.mean_) if t.with_mean else y
        elif class_name(t) == "FunctionTransformer" and t.inverse_func in (np.exp, np.expm1):
            y = walk.graph.unary(y, "exp")
            y = y if t.inverse_func is np.exp else walk.add(y, -1.0)
        else:
            raise walk.unmapped(class_name(t), "as a transformer of targets")
    return y, {**answer, "flat": e._training_dim == 1}
