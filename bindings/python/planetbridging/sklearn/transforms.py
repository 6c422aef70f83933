"""Transformers: scalers, encoders, projections, selections."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

import numpy as np

from ..graph import Constant, Value
from .linear import kmeans_distances
from .walk import Walk, class_name


def standard_scaler(walk: Walk, e: Any, x: Value) -> Value:
    mean = walk.numbers("mean_", lambda: e.mean_) if e.with_mean else None
    scale = walk.numbers("scale_", lambda: e.scale_).computed(
        "1 / x", np.reciprocal) if e.with_std else None
    return walk.shifted(x, mean, scale)


def min_max_scaler(walk: Walk, e: Any, x: Value) -> Value:
    low, high = (float(v) for v in e.feature_range)
    y = walk.shifted(x, walk.numbers("data_min_", lambda: e.data_min_),
                     walk.numbers("scale_", lambda: e.scale_))
    if low != 0:
        y = walk.add(y, low)
    return walk.graph.unary(y, "clip", low, high) if e.clip else y


def max_abs_scaler(walk: Walk, e: Any, x: Value) -> Value:
    y = walk.shifted(x, None, walk.numbers("scale_", lambda: e.scale_).computed(
        "1 / x", np.reciprocal))
    return walk.graph.unary(y, "clip", -1.0, 1.0) if getattr(e, "clip", False) else y


def robust_scaler(walk: Walk, e: Any, x: Value) -> Value:
    center = walk.numbers("center_", lambda: e.center_) if e.with_centering else None
    scale = walk.numbers("scale_", lambda: e.scale_).computed(
        "1 / x", np.reciprocal) if e.with_scaling else None
    return walk.shifted(x, center, scale)


def normalizer(walk: Walk, e: Any, x: Value) -> Value:
    kinds = {"l1": "l1", "l2": "l2", "max": "max"}
    if e.norm not in kinds:
        raise walk.refuse(e, "norm", "known are l1, l2 and max")
    length = walk.graph.reduce(walk.graph.unary(x, "abs") if e.norm == "max" else x,
                               kinds[e.norm], [1], keep=True)
    empty = walk.binary(length, Constant.of(np.float64(0)), "equal")
    return walk.binary(x, walk.binary(length, empty, "add"), "div")  # 1 in place of 0


def binarizer(walk: Walk, e: Any, x: Value) -> Value:
    return walk.binary(x, Constant.of(np.float64(e.threshold)), "greater")


def pca(walk: Walk, e: Any, x: Value) -> Value:
    if e.whiten:
        weight = walk.numbers("components_", lambda: e.components_ / np.maximum(
            np.sqrt(e.explained_variance_), np.finfo(np.float64).eps)[:, None], True)
    else:
        weight = walk.numbers("components_", lambda: e.components_, True)
    return walk.graph.dense(walk.shifted(x, walk.numbers("mean_", lambda: e.mean_), None), weight)


def truncated_svd(walk: Walk, e: Any, x: Value) -> Value:
    return walk.graph.dense(x, walk.numbers("components_", lambda: e.components_, True))


def simple_imputer(walk: Walk, e: Any, x: Value) -> Value:
    if e.add_indicator:
        raise walk.refuse(e, "add_indicator", "columns that mark what was missing")
    if not (isinstance(e.missing_values, float) and np.isnan(e.missing_values)):
        raise walk.refuse(e, "missing_values", "only NaN is missing")
    statistics = np.asarray(e.statistics_, np.float64)
    if np.isnan(statistics).any():
        raise walk.unmapped("SimpleImputer", "a column has only missing values")
    n = walk.width(x)
    present = walk.graph.layer({"type": "standardize", "missing": True}, x, x.shape, fills={
        "mean": Constant.of(np.zeros(n)), "scale": Constant.of(np.ones(n))})
    filled = walk.binary(walk.graph.unary(x, "is_nan"),
                         walk.numbers("statistics_", lambda: e.statistics_), "mul")
    return walk.binary(present, filled, "add")


# ---- encoders of whole numbers and other values

def _equal(walk: Walk, e: Any, x: Value, j: int) -> Value:
    """For each category of column j whether a row has it."""
    categories = np.asarray(e.categories_[j])
    if categories.dtype.kind not in "iufb":
        raise walk.unmapped("%s of column %d" % (class_name(e), j),
                            "its categories are no numbers but %s" % categories.dtype)
    numbers = categories.astype(np.float64)
    if np.isnan(numbers).any():
        raise walk.unmapped("%s of column %d" % (class_name(e), j), "NaN is a category")
    if len(np.unique(numbers.astype(np.float32))) != len(numbers):
        raise walk.unmapped("%s of column %d" % (class_name(e), j),
                            "two categories are one number in f32")
    return walk.binary(walk.columns(x, [j]), Constant.of(numbers), "equal")


def _no_rare(walk: Walk, e: Any) -> None:
    for name in ("min_frequency", "max_categories"):
        if getattr(e, name, None) is not None:
            raise walk.refuse(e, name, "rare categories are one")


def one_hot(walk: Walk, e: Any, x: Value) -> Value:
    _no_rare(walk, e)
    if e.handle_unknown not in ("error", "ignore"):
        raise walk.refuse(e, "handle_unknown", "known are error and ignore")
    parts: List[Value] = []
    for j in range(walk.width(x)):
        hot = _equal(walk, e, x, j)
        if e.handle_unknown == "error":  # scikit-learn raises: the row is NaN here
            hot = walk.binary(hot, walk.row_sum(hot), "div")
        dropped = None if e.drop_idx_ is None else e.drop_idx_[j]
        if dropped is not None:
            left = [i for i in range(len(e.categories_[j])) if i != dropped]
            if not left:
                continue
            hot = walk.columns(hot, left)
        parts.append(hot)
    return walk.beside(parts)


def ordinal(walk: Walk, e: Any, x: Value) -> Value:
    _no_rare(walk, e)
    parts: List[Value] = []
    for j in range(walk.width(x)):
        hot = _equal(walk, e, x, j)
        places = Constant.of(np.arange(len(e.categories_[j]), dtype=np.float64))
        place, known = walk.row_sum(walk.binary(hot, places, "mul")), walk.row_sum(hot)
        unknown = e.unknown_value if e.handle_unknown == "use_encoded_value" else float("nan")
        if np.isnan(unknown):
            parts.append(walk.binary(place, known, "div"))
        else:
            other = walk.add(walk.graph.unary(known, "neg"), 1.0)
            parts.append(walk.binary(place, walk.times(other, float(unknown)), "add"))
    return walk.beside(parts)


def selected(walk: Walk, e: Any, x: Value) -> Value:
    places = e.get_support(indices=True)
    if len(places) == 0:
        raise walk.unmapped(class_name(e), "it keeps no column")
    return walk.columns(x, places)


def function(walk: Walk, e: Any, x: Value) -> Value:
    known = {None: "", np.exp: "exp", np.log: "log", np.sqrt: "sqrt", np.abs: "abs",
             np.square: "square", np.log1p: "log1p", np.expm1: "expm1"}
    if e.func not in known or e.kw_args:
        raise walk.refuse(e, "func", "functions of Python are not seen through")
    kind = known[e.func]
    if kind == "log1p":
        return walk.graph.unary(walk.add(x, 1.0), "log")
    if kind == "expm1":
        return walk.add(walk.graph.unary(x, "exp"), -1.0)
    return walk.graph.unary(x, kind) if kind else x


def polynomial(walk: Walk, e: Any, x: Value) -> Value:
    """Each column is a product of columns."""
    powers = e.powers_
    columns = walk.beside([walk.graph.value(walk.add(walk.times(walk.columns(x, [0]), 0.0), 1.0)),
                           x])
    degree = int(powers.sum(1).max(initial=0))
    if degree == 0:
        raise walk.unmapped("PolynomialFeatures", "only the constant")
    places = np.zeros((degree, len(powers)), np.int64)
    for i, row in enumerate(powers):
        factors = [j + 1 for j, n in enumerate(row) for _ in range(int(n))]
        places[:len(factors), i] = factors
    y = walk.columns(columns, places[0])
    for row in places[1:]:
        y = walk.binary(y, walk.columns(columns, row), "mul")
    return y


Map = Callable[[Walk, Any, Value], Value]
TRANSFORMERS: Dict[str, Map] = {
    "StandardScaler": standard_scaler, "MinMaxScaler": min_max_scaler,
    "MaxAbsScaler": max_abs_scaler, "RobustScaler": robust_scaler, "Normalizer": normalizer,
    "Binarizer": binarizer, "PCA": pca, "IncrementalPCA": pca, "TruncatedSVD": truncated_svd,
    "SimpleImputer": simple_imputer, "OneHotEncoder": one_hot, "OrdinalEncoder": ordinal,
    "SelectKBest": selected, "SelectPercentile": selected, "SelectFromModel": selected,
    "VarianceThreshold": selected, "RFE": selected, "FunctionTransformer": function,
    "PolynomialFeatures": polynomial, "KMeans": kmeans_distances,
    "MiniBatchKMeans": kmeans_distances}


def transform(walk: Walk, e: Any, x: Value) -> Optional[Value]:
    """None where the class is no transformer that is known."""
    found = TRANSFORMERS.get(class_name(e))
    if found is None:
        return None
    if class_name(e) != "FunctionTransformer" and found is not kmeans_distances:
        walk.takes(e, x)
    return found(walk, e, x)


__all__ = ["TRANSFORMERS", "transform"]
