"""The walk through a model of Keras: tensors of its graph, variables as constants, and the layers'
functions by their classes' names."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Set, Tuple

import numpy as np

from ..errors import Unmapped
from ..graph.cells import Tensor, Value
from ..graph.constant import Constant
from ..graph.graph import Graph
from ..graph.overlaps import Shared
from ..graph.laid import by_itself
from ..graph.shape import Batch, Shape, batch_axis

Handler = Callable[..., Any]
HANDLERS: Dict[str, Handler] = {}  # by a layer's or operation's class


def maps(*names: str) -> Callable[[Handler], Handler]:
    """Says which classes a function maps: it takes the walk, the layer, and what the call had."""
    def register(function: Handler) -> Handler:
        for name in names:
            HANDLERS[name] = function
        return function
    return register


class Walk:
    """What a layer's function writes with: `g` the network, `node` the call that is mapped."""

    def __init__(self, names: Dict[int, str], loose: Set[str]) -> None:
        self.g, self.names, self.loose = Shared(), names, loose
        self.outputs: List[Any] = []  # of the call that is mapped: Keras' own tensors

    def refuse(self, what: str, why: str = "") -> Unmapped:
        return Unmapped(self.g.where, what, why)

    # ---- constants

    def named(self, variable: Any) -> Constant:
        """A variable of the model."""
        return Constant.named(self.names[id(variable)], numpy_of(variable),
                              bool(variable.trainable))

    def maybe(self, variable: Any) -> Optional[Constant]:
        return None if variable is None else self.named(variable)

    def is_loose(self, constant: Optional[Constant]) -> bool:
        """Whether a parameter has several uses that no layer shares: it is a cell then."""
        return constant is not None and any(n in self.loose for n in constant.names)

    def parameter(self, constant: Constant) -> Tensor:
        """A parameter as functions take it: one that is used in several ways is one cell, from
        which all of them come."""
        return self.g.value(constant) if self.is_loose(constant) else constant

    # ---- functions

    def value(self, x: Tensor) -> Value:
        x = self.g.value(x)
        return self.numbers(x) if x.ids else x

    def numbers(self, ids: Value) -> Value:
        """Ids as numbers: a table that has each at its place."""
        return self.looked_up(ids, np.arange(ids.ids))

    def looked_up(self, ids: Value, table: Any) -> Value:
        """A number for each id."""
        rows = Constant.of(np.asarray(table, np.float32).reshape(-1, 1))
        made = self.g.embedding(ids, rows)
        return self.g.value(self.g.reshape(made, sizes_of(ids.shape)))

    def dense(self, x: Value, weight: Constant, bias: Optional[Constant],
              activation: str = "linear") -> Value:
        """`weight` is [out, in]. Also of a parameter that other cells use otherwise."""
        if not (self.is_loose(weight) or self.is_loose(bias)):
            return self.g.dense(x, weight, bias, activation)
        y: Tensor = self.g.matmul(x, self.g.transpose(self.loosened(weight), (1, 0)))
        if bias is not None:
            y = self.g.binary(y, self.loosened(bias), "add")
        made = self.g.value(y)
        return made if activation == "linear" else self.g.activation(made, activation)

    def loosened(self, constant: Constant) -> Value:
        """The value of an arrangement of a parameter, from the cell that holds the parameter."""
        if len(constant.names) != 1 or not self.is_loose(constant):
            return self.g.value(constant)
        name = constant.names[0]
        whole = self.whole[name]
        holder = self.g.value(whole)
        places = constant.read(lambda _: np.arange(whole.array.size).reshape(whole.shape))
        if constant.shape == whole.shape and (places.ravel() == np.arange(places.size)).all():
            return holder
        return self.g.gather(holder, places, constant.shape)

    whole: Dict[str, Constant] = {}

    def unary(self, x: Tensor, op: str, a: float = 0.0, b: float = 0.0) -> Value:
        return by_itself(x, self.g, lambda v: self.g.unary(v, op, a, b))

    def scaled(self, x: Tensor, by: float) -> Value:
        return by_itself(x, self.g, lambda v: self.g.value(
            self.g.binary(v, self.g.number(by), "mul")))

    def plus(self, x: Tensor, what: float) -> Value:
        return by_itself(x, self.g, lambda v: self.g.value(
            self.g.binary(v, self.g.number(what), "add")))

    def two(self, a: Tensor, b: Tensor, op: str) -> Value:
        """A function of two tensors, spread to each other."""
        return self.g.value(self.g.binary(self.plain(a), self.plain(b), op))

    def plain(self, x: Tensor) -> Tensor:
        return self.value(x) if isinstance(x, Value) else x


def sizes_of(shape: Shape) -> List[Any]:
    """The sizes that reshape() takes: None for the batch's axis."""
    return [None if isinstance(n, Batch) else n for n in shape]


def numpy_of(x: Any) -> np.ndarray:
    """The numbers of a variable or tensor of any backend."""
    if isinstance(x, (np.ndarray, int, float, bool)):
        return np.asarray(x)
    import keras
    return np.asarray(keras.ops.convert_to_numpy(x))


def shape_of(tensor: Any, what: str) -> Shape:
    """The shape of a tensor of Keras' graph: None first is the batch."""
    shape = tuple(tensor.shape)
    if not shape or any(n is None for n in shape[1:]):
        raise Unmapped(what, "the shape %s" % (shape,),
                       "all dimensions but the batch have a size")
    return (Batch(), *shape[1:])


def with_batch(g: Graph, x: Tensor, like: Shape) -> Value:
    """A value whose first axis holds the batch: numbers without it are those of each sample."""
    value = g.value(x)
    if batch_axis(value.shape) is not None or batch_axis(like) is None:
        return value
    if len(value.shape) < len(like):
        value = g.value(g.reshape(value, [1] * (len(like) - len(value.shape))
                                  + list(value.shape)))
    spread = g.value(g.expand(value, (1, *[n for n in like[1:]])))
    return Value(spread.cell, (Batch(), *spread.shape[1:]), spread.dims)


def pair(x: Any, n: int = 2) -> Tuple[int, ...]:
    return tuple(int(v) for v in x) if isinstance(x, (tuple, list)) else (int(x),) * n
