"""What the maps of estimators share: the graph that is written, and what is read of attributes."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ..errors import Unmapped
from ..graph import Batch, Constant, Graph, Value

# How a network's numbers become what predict() answers.
Answer = Dict[str, Any]


def class_name(estimator: Any) -> str:
    return type(estimator).__name__


class Walk:
    """A graph while estimators are mapped into it. `where` is the path of the present one in the
    whole ("pca", "columns.numbers.scale")."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.readers: Dict[str, Callable[[], Any]] = {}

    def unmapped(self, operator: str, why: str = "") -> Unmapped:
        return Unmapped(self.graph.where, operator, why)

    def refuse(self, estimator: Any, parameter: str, why: str) -> Unmapped:
        """For a setting of an estimator."""
        value = getattr(estimator, parameter, None)
        return self.unmapped("%s(%s=%r)" % (class_name(estimator), parameter, value), why)

    def within(self, name: str) -> "Within":
        return Within(self.graph, name)

    def numbers(self, name: str, read: Callable[[], Any], trainable: bool = False) -> Constant:
        """Numbers of the estimator that is being mapped, by the name of their attribute."""
        path = "%s.%s" % (self.graph.where, name) if self.graph.where else name

        def present() -> np.ndarray:
            return np.asarray(read(), np.float64)
        self.readers[path] = present
        return Constant.named(path, present(), trainable)

    def read(self, name: str) -> Any:
        return self.readers[name]()

    # ---- what is made of values

    def width(self, x: Value) -> int:
        return int(x.shape[-1])  # type: ignore[arg-type]

    def takes(self, estimator: Any, x: Value) -> None:
        """Checks the number of features that an estimator was fitted for."""
        wanted = getattr(estimator, "n_features_in_", None)
        if wanted is None:
            raise self.unmapped(class_name(estimator), "it is not fitted")
        if int(wanted) != self.width(x):
            raise self.unmapped(class_name(estimator), "it takes %d features, %d arrive"
                                % (wanted, self.width(x)))

    def shifted(self, x: Value, mean: Optional[Constant], scale: Optional[Constant]) -> Value:
        """(x - mean) * scale by columns."""
        n = self.width(x)
        return self.graph.layer({"type": "standardize"}, x, x.shape, fills={
            "mean": mean or Constant.of(np.zeros(n)), "scale": scale or Constant.of(np.ones(n))})

    def columns(self, x: Value, places: Sequence[int]) -> Value:
        return self.graph.value(self.graph.take(x, 1, np.asarray(places, np.int64)))

    def beside(self, parts: List[Value]) -> Value:
        return parts[0] if len(parts) == 1 else self.graph.value(self.graph.concat(parts, 1))

    def add(self, x: Value, number: Any) -> Value:
        return self.graph.value(self.graph.binary(x, Constant.of(np.asarray(number)), "add"))

    def times(self, x: Value, number: Any) -> Value:
        return self.graph.value(self.graph.binary(x, Constant.of(np.asarray(number)), "mul"))

    def binary(self, a: Any, b: Any, op: str) -> Value:
        return self.graph.value(self.graph.binary(a, b, op))

    def row_sum(self, x: Value) -> Value:
        return self.graph.reduce(x, "sum", [1], keep=True)

    def both(self, p: Value) -> Value:
        """[1 - p, p] of one column."""
        return self.beside([self.add(self.graph.unary(p, "neg"), 1.0), p])

    def sigmoid(self, x: Value) -> Value:
        return self.graph.activation(x, "sigmoid")


class Within:
    """The name of a step, while it is mapped."""

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name, self.before = graph, name, graph.where

    def __enter__(self) -> None:
        self.graph.where = "%s.%s" % (self.before, self.name) if self.before else self.name

    def __exit__(self, *_: Any) -> None:
        self.graph.where = self.before


def columns_of(rows: int) -> Tuple[Any, ...]:
    return (Batch(), rows)
