"""Decision trees and ensembles of them as one layer (docs/reference/layers.md, trees)."""
from __future__ import annotations

import base64
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ..graph import Batch, Constant, Value
from .walk import Answer, Walk, class_name

FORESTS = {"RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier",
           "ExtraTreesRegressor"}
SINGLE = {"DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier",
          "ExtraTreeRegressor"}
BOOSTED = {"GradientBoostingClassifier", "GradientBoostingRegressor"}
HISTOGRAM = {"HistGradientBoostingClassifier", "HistGradientBoostingRegressor"}


class Tree(NamedTuple):
    """Nodes by number; `left` is below 0 in a leaf. `values` [nodes, columns]."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    values: np.ndarray


def rounded_down(thresholds: np.ndarray) -> np.ndarray:
    """As f32, so that x <= t decides of every f32 x as it did in f64."""
    near = thresholds.astype(np.float32)
    return np.where(near.astype(np.float64) > thresholds,
                    np.nextafter(near, np.float32(-np.inf), dtype=np.float32), near)


def levels_of(tree: Tree) -> Tuple[np.ndarray, np.ndarray]:
    """The tree's nodes level by level, so that two children stand side by side, and for each the
    place of its left child (0 of leaves)."""
    level, order, lefts, size = np.zeros(1, np.int64), [], [], 1
    while level.size:
        inner = tree.left[level] >= 0
        place = np.zeros(level.size, np.int64)
        place[inner] = size + 2 * np.arange(int(inner.sum()))
        order.append(level)
        lefts.append(place)
        children = level[inner]
        level = np.stack([tree.left[children], tree.right[children]], 1).ravel().astype(np.int64)
        size += level.size
    return np.concatenate(order), np.concatenate(lefts)


class Table:
    """What the layer's settings and parameters are made of. `down`: thresholds are rounded down,
    which is exact where features are f32; else to the nearest, as the layer rounds features, so
    that what equals a threshold still does."""

    def __init__(self, features: int, down: bool = True) -> None:
        self.features, self.bits = features, (features - 1).bit_length()
        self._round = rounded_down if down else lambda t: t.astype(np.float32)
        self.sizes: List[int] = []
        self._nodes: List[np.ndarray] = []
        self._thresholds: List[np.ndarray] = []
        self._values: List[np.ndarray] = []

    def add(self, walk: Walk, tree: Tree) -> None:
        order, left = levels_of(tree)
        inner = left > 0
        distance = np.where(inner, left - np.arange(len(order)), 0)
        if distance.max(initial=0) >> (31 - (self.bits + 1)):
            raise walk.unmapped("a tree of %d nodes over %d features" % (
                len(order), self.features), "a node has 32 bits")
        word = (distance << (self.bits + 1) | tree.missing_left[order].astype(np.int64)
                << self.bits | tree.feature[order])
        self.sizes.append(len(order))
        self._nodes.append(np.where(inner, word, 0).astype("<u4"))
        self._thresholds.append(self._round(tree.threshold[order][inner]).astype("<f4"))
        self._values.append(tree.values[order][~inner])

    @property
    def values(self) -> np.ndarray:
        return np.concatenate(self._values)

    def config(self) -> Dict[str, Any]:
        def text(parts: Sequence[np.ndarray]) -> str:
            return base64.b64encode(np.concatenate(parts).tobytes()).decode()
        return {"type": "trees", "features": self.features, "sizes": self.sizes,
                "nodes": text(self._nodes), "thresholds": text(self._thresholds)}


def of_tree(tree: Any, scale: Optional[float] = None, classes: bool = False) -> Tree:
    """An estimator's tree_. `classes`: values are weights, and become parts of one."""
    nodes = tree.__getstate__()["nodes"]
    values = tree.value
    values = values[:, 0, :] if values.shape[1] == 1 else values[:, :, 0]
    if classes:
        total = values.sum(1, keepdims=True)
        if np.abs(total - 1).max() > 1e-6:  # scikit-learn before 1.3
            values = values / np.where(total == 0, 1, total)
    if scale is not None:
        values = scale * values
    missing = (nodes["missing_go_to_left"] if "missing_go_to_left" in nodes.dtype.names
               else np.zeros(len(nodes)))
    return Tree(nodes["feature"], nodes["threshold"], nodes["left_child"], nodes["right_child"],
                missing.astype(bool), np.asarray(values, np.float64))


def layer(walk: Walk, x: Value, trees: Sequence[Tree], outputs: int, *, single: bool = False,
          average: bool = False, base: Any = 0.0, down: bool = True) -> Value:
    table = Table(walk.width(x), down)
    for tree in trees:
        table.add(walk, tree)
    config = {**table.config(), "outputs": outputs, "single": single, "average": average}
    return walk.graph.layer(config, x, (Batch(), outputs), fills={
        "values": Constant.of(table.values.reshape(-1, 1 if single else outputs)),
        "base": Constant.of(np.broadcast_to(np.asarray(base, np.float64), (1, outputs)).copy())})


def _one_output(walk: Walk, estimator: Any) -> None:
    if getattr(estimator, "n_outputs_", 1) != 1:
        raise walk.unmapped(class_name(estimator), "it has %d outputs of classes"
                            % estimator.n_outputs_)


def forest(walk: Walk, estimator: Any, x: Value) -> Tuple[Value, Answer]:
    """Random forests, extra trees, and trees alone."""
    walk.takes(estimator, x)
    members = [estimator] if class_name(estimator) in SINGLE else estimator.estimators_
    classes = hasattr(estimator, "classes_")
    if classes:
        _one_output(walk, estimator)
    trees = [of_tree(member.tree_, classes=classes) for member in members]
    outputs = trees[0].values.shape[1]
    y = layer(walk, x, trees, outputs, average=len(trees) > 1)
    if classes:
        return y, {"kind": "argmax", "classes": estimator.classes_}
    return y, {"kind": "values", "flat": outputs == 1}


def probabilities(walk: Walk, raw: Value, exponential: bool = False) -> Value:
    if walk.width(raw) > 1:
        return walk.graph.softmax(raw)
    if exponential:
        raw = walk.times(raw, 2.0)
    return walk.both(walk.sigmoid(raw))


def decided(walk: Walk, estimator: Any, raw: Value, method: str, loss: str) -> Tuple[Value, Answer]:
    """The outputs of boosted trees, from their sums."""
    one = walk.width(raw) == 1
    if not hasattr(estimator, "classes_"):
        return raw, {"kind": "values", "flat": True}
    if method == "decision_function":
        return raw, {"kind": "sign_or_zero" if one else "argmax", "classes": estimator.classes_,
                     "flat": one}
    return (probabilities(walk, raw, loss == "exponential"),
            {"kind": "argmax", "classes": estimator.classes_})


def boosted(walk: Walk, estimator: Any, x: Value, method: str) -> Tuple[Value, Answer]:
    walk.takes(estimator, x)
    if estimator.init is not None and not isinstance(estimator.init, str):
        raise walk.refuse(estimator, "init", "another estimator begins")
    columns = estimator.estimators_.shape[1]
    start = estimator._raw_predict_init(np.zeros((1, walk.width(x)), np.float32))
    trees = [of_tree(member.tree_, estimator.learning_rate)
             for stage in estimator.estimators_ for member in stage]
    raw = layer(walk, x, trees, columns, single=True, base=start.reshape(1, columns))
    return decided(walk, estimator, raw, method, estimator.loss)


def histogram(walk: Walk, estimator: Any, x: Value, method: str) -> Tuple[Value, Answer]:
    walk.takes(estimator, x)
    if getattr(estimator, "is_categorical_", None) is not None:
        raise walk.refuse(estimator, "categorical_features", "splits by sets of categories")
    trees = []
    for stage in estimator._predictors:
        for predictor in stage:
            n = predictor.nodes
            if n["is_categorical"].any():
                raise walk.refuse(estimator, "categorical_features", "splits by sets")
            leaf = n["is_leaf"].astype(bool)
            trees.append(Tree(n["feature_idx"].astype(np.int64), n["num_threshold"],
                              np.where(leaf, -1, n["left"].astype(np.int64)),
                              np.where(leaf, -1, n["right"].astype(np.int64)),
                              n["missing_go_to_left"].astype(bool),
                              n["value"].astype(np.float64).reshape(-1, 1)))
    base = np.asarray(estimator._baseline_prediction, np.float64).reshape(1, -1)
    columns = base.shape[1]
    if trees:
        # These compare doubles; the others round to f32 first.
        raw = layer(walk, x, trees, columns, single=True, base=base, down=x.cell == 1)
    else:
        raw = walk.add(walk.times(walk.columns(x, [0] * columns), 0.0), base)
    if not hasattr(estimator, "classes_") and estimator.loss in ("poisson", "gamma"):
        raw = walk.graph.unary(raw, "exp")
    return decided(walk, estimator, raw, method, estimator.loss)
