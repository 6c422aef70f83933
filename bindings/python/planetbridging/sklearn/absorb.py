"""from_sklearn, and what it returns."""
from __future__ import annotations

from typing import Any, Dict, List, Optional

import numpy as np

from ..graph import Absorbed, Batch
from .compose import METHODS, default_method, predicted
from .walk import Walk, class_name

_DTYPES = {"f32": np.float32, "f64": np.float64}


class SklearnModel(Absorbed):
    """What an estimator became.

    classes       the labels in the order of the outputs' columns, where it has some
    method        what the outputs are: predict_proba, decision_function, predict or transform
    `predict(x)` answers what the estimator's own does (of a transformer: transform), `numbers(x)`
    the outputs as they are.
    """

    def __init__(self, estimator: Any, walk: Walk, outputs: Any, answer: Dict[str, Any],
                 method: str, dtype: str) -> None:
        classes = answer.get("classes")
        self.classes: Optional[np.ndarray] = None if classes is None else np.asarray(classes)
        self.method, self._answer, self._dtype = method, answer, _DTYPES[dtype]
        names = getattr(estimator, "feature_names_in_", None)
        self.features: Optional[List[str]] = None if names is None else [str(n) for n in names]
        metadata: Dict[str, Any] = {
            "framework": "scikit-learn", "estimator": class_name(estimator), "method": method,
            "postprocessing": answer["kind"]}
        if self.classes is not None:
            metadata["classes"] = self.classes.tolist()
        if self.features is not None:
            metadata["features"] = self.features
        super().__init__(walk.graph, outputs, walk.read, metadata=metadata)
        self.described = self._described(estimator)
        if dtype == "f64":
            for cell in self.topology["cells"]:
                if "type" in cell:
                    cell["dtype"] = "f64"

    def _described(self, estimator: Any) -> Optional[Dict[str, Any]]:
        """Names of features and classes, for the network's `inputs`. Not those of classes that
        are no texts, numbers or truths, or of boosted trees with one sum, 0 of which is a class of
        its own; nor names of features that stand twice."""
        made: Dict[str, Any] = {}
        if self.features is not None and len(set(self.features)) == len(self.features):
            made["columns"] = [{"name": name, "kind": "number"} for name in self.features]
        labels = [] if self.classes is None else self.classes.tolist()
        if labels and self._answer["kind"] in ("argmax", "sign") and all(
                isinstance(label, (str, int, float)) for label in labels):
            likely = self.method != "decision_function" and hasattr(estimator, "predict_proba")
            made.update(labels=labels, answers="probabilities" if likely else "scores")
        return made or None

    def numbers(self, x: Any, network: Any = None) -> np.ndarray:
        """The outputs for rows [n, features]: [n, columns], in the network's type. A table with
        names of columns must have those of the fit, in their order."""
        names = getattr(x, "columns", None)
        if names is not None and self.features is not None and list(names) != self.features:
            raise ValueError("the columns are %s, expects %s" % (list(names), self.features))
        if hasattr(x, "toarray"):
            x = x.toarray()
        rows = np.ascontiguousarray(x, self._dtype)
        if rows.ndim != 2:
            raise ValueError("expects rows [n, %s], got the shape %s" % (
                self.inputs[0].shape[1], rows.shape))
        if network is None:
            if self._network is None:
                self._network = self.network()
            network = self._network
        return np.asarray(network(rows))

    def predict(self, *arrays: Any, network: Any = None, **named: Any) -> Any:
        """The estimator's predict(x); of a transformer transform(x)."""
        if named or len(arrays) != 1:
            raise TypeError("predict takes one array of rows")
        y = self.numbers(arrays[0], network)
        kind = self._answer["kind"]
        if kind == "values":
            return y[:, 0] if self._answer["flat"] else y
        if kind == "nearest":
            return np.argmin(y, 1).astype(np.int32)
        if kind == "labels":
            return (y > 0.5).astype(np.int64)
        assert self.classes is not None
        if kind == "argmax":
            return self.classes[np.argmax(y, 1)]
        return self.classes[(y[:, 0] >= 0 if kind == "sign_or_zero" else y[:, 0] > 0).astype(int)]


def from_sklearn(estimator: Any, *, method: str = "", dtype: str = "f32") -> SklearnModel:
    """A fitted estimator or pipeline as a network.

    `method`: what the network's outputs are, by default predict_proba, where the estimator has it,
    else decision_function, predict or transform. `dtype`: f32, or f64, in which trees and products
    have scikit-learn's own digits. Raises Unmapped for classes and settings that no layer computes,
    by their path in the pipeline.
    """
    if method and method not in METHODS:
        raise ValueError("method: known are %s, got %r" % (", ".join(METHODS), method))
    if dtype not in _DTYPES:
        raise ValueError("dtype: f32 or f64, got %r" % (dtype,))
    width = getattr(estimator, "n_features_in_", None)
    walk = Walk()
    if width is None:
        raise walk.unmapped(class_name(estimator), "it is not fitted")
    method = method or default_method(estimator)
    x = walk.graph.input("x", (Batch(), int(width)))
    y, answer = predicted(walk, estimator, x, method)
    return SklearnModel(estimator, walk, [("y", y)], answer, method, dtype)
