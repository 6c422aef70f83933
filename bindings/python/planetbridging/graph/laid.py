"""Values whose axes lie in another order than they are read in: [batch, height, width, channels]
over a cell of [batch, channels, height, width]. The cell that reorders is made when something
reads it; convolutions one behind the other read the source."""
from __future__ import annotations

from typing import Callable, Optional, Sequence, Tuple

from .cells import Tensor, Value
from .constant import Constant
from .functions import Functions


class Laid(Value):
    """`source` transposed by `order`."""

    def __init__(self, graph: Functions, source: Value, order: Sequence[int]) -> None:
        self.graph, self.source, self.order = graph, source, tuple(order)
        self.shape = tuple(source.shape[o] for o in order)
        self.dims, self.ids, self.axis = None, 0, ""
        self._cell: Optional[int] = None

    @property
    def cell(self) -> int:  # type: ignore[override]
        if self._cell is None:
            self._cell = self.graph.value(self.graph.transpose(self.source, self.order)).cell
        return self._cell


def laid(g: Functions, source: Value, order: Sequence[int]) -> Value:
    """The value transposed, without a cell so far."""
    if isinstance(source, Laid):
        order, source = [source.order[o] for o in order], source.source
    if list(order) == sorted(order):
        return source
    return Laid(g, source, order)


def by_itself(x: Tensor, g: Functions, how: Callable[[Value], Value]) -> Value:
    """A function of single numbers, of the source where it lies otherwise."""
    value = x if isinstance(x, Value) else g.value(x)
    return laid(g, how(value.source), value.order) if isinstance(value, Laid) else how(value)


def channels_first(g: Functions, x: Tensor, axis: int = -1) -> Tuple[Value, Tuple[int, ...]]:
    """The value with an axis moved to place 1, and the order that brings the result back."""
    value = g.value(x) if isinstance(x, Constant) else x
    rank = len(value.shape)
    axis %= rank
    order = [0, axis] + [i for i in range(1, rank) if i != axis]
    made = laid(g, value, order)
    if isinstance(made, Laid):
        made = g.value(g.transpose(made.source, made.order))
    return made, tuple(order.index(i) for i in range(rank))
