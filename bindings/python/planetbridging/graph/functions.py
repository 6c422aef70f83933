"""Functions of tensors, with axes as the framework counts them. Of constants alone they are
computed here; what is computed of a parameter that learns stays a function of it."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from .cells import Cells, Tensor, Value
from .constant import Constant
from .shape import Batch, Shape, batch_axis, broadcast, count, reshaped, row_of, size_of, text_of

_BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
           "pow": np.power, "max": np.maximum, "min": np.minimum, "less": np.less,
           "less_equal": np.less_equal, "greater": np.greater,
           "greater_equal": np.greater_equal, "equal": np.equal, "and": np.logical_and,
           "or": np.logical_or, "xor": np.logical_xor}


def runs_of(places: Sequence[int]) -> List[int]:
    """A list of places as runs of first, step, count; -1 stands for no place."""
    runs: List[int] = []
    places = [int(p) for p in places]
    i = 0
    while i < len(places):
        if places[i] < 0:
            step = 0
        else:
            step = places[i + 1] - places[i] if i + 1 < len(places) and places[i + 1] >= 0 else 1
        n = 1
        while i + n < len(places) and places[i + n] == places[i] + n * step and (
                places[i] < 0) == (places[i + n] < 0):
            n += 1
        runs += [max(places[i], -1), step if n > 1 or places[i] < 0 else 0, n]
        i += n
    return runs


class Functions(Cells):
    """What tensors are computed with."""

    def number(self, value: float) -> Constant:
        return Constant.of(np.float64(value))

    # ---- of single numbers

    def unary(self, x: Tensor, op: str, a: float = 0.0, b: float = 0.0) -> Value:
        """One of the functions of `unary` (docs/reference/layers.md)."""
        x = self.value(x)
        config = {"type": "unary", "op": op}
        config.update({k: float(v) for k, v in (("a", a), ("b", b)) if v})  # type: ignore[misc]
        return self.cell(config, [x], x.shape)

    def activation(self, x: Tensor, kind: str) -> Value:
        return self._kept({"type": "activation", "activation": kind}, self.value(x))

    def _kept(self, config: Dict[str, Any], x: Value) -> Value:
        """A cell that leaves dimensions as they are."""
        made = self.cell(config, [x], x.shape, dims=None if x.ids else x.dims)
        made.axis = x.axis
        return made

    def binary(self, a: Tensor, b: Tensor, op: str) -> Tensor:
        """A function of two, spread to each other."""
        if isinstance(a, Constant) and isinstance(b, Constant) and not (a.trainable or b.trainable):
            return Constant.of(_BINARY[op](a.array, b.array))
        shape = broadcast(a.shape, b.shape)
        if isinstance(a, Constant) and isinstance(b, Constant):
            a = self.value(a)
        config = {"type": "binary", "op": op}
        if isinstance(a, Value) and isinstance(b, Value):
            config["shapes"] = [list(a.row) or [1], list(b.row) or [1]]  # type: ignore[assignment]
            return self.cell(config, [a, b], shape)
        known, other = (a, b) if isinstance(a, Constant) else (b, a)
        assert isinstance(known, Constant) and isinstance(other, Value)
        config["shapes"] = [list(other.row) or [1]]  # type: ignore[assignment]
        config["constant"] = list(known.shape) or [1]  # type: ignore[assignment]
        if known is a:
            config["constant_first"] = True  # type: ignore[assignment]
        return self.cell(config, [other], shape, fills={"value": known})

    def select(self, condition: Tensor, a: Tensor, b: Tensor) -> Value:
        """numpy.where."""
        given = [self.value(t) for t in (condition, a, b)]
        shape = broadcast(broadcast(given[0].shape, given[1].shape), given[2].shape)
        return self.cell({"type": "select", "shapes": [list(v.row) or [1] for v in given]}, given,
                         shape)

    # ---- of axes

    def reduce(self, x: Tensor, op: str, axes: Optional[Sequence[int]] = None,
               keep: bool = False) -> Value:
        """A sum, a mean, ... over axes; none: all. The batch's axis cannot be among them."""
        x = self.value(x)
        rank = len(x.shape)
        which = sorted(a % rank for a in (range(rank) if axes is None else axes))
        if any(isinstance(x.shape[a], Batch) for a in which):
            raise ValueError("%s over the axes %s of %s would mix samples"
                             % (op, which, text_of(x.shape)))
        shape = tuple(1 if i in which else axis for i, axis in enumerate(x.shape)
                      if keep or i not in which)
        config = {"type": "reduce", "op": op, "dims": list(x.row) or [1], "axes": which,
                  "keepdims": keep}
        if not which:
            return x
        return self.cell(config, [x], shape)

    def transpose(self, x: Tensor, order: Sequence[int]) -> Tensor:
        """Axes in another order."""
        order = [o % len(x.shape) for o in order]
        if isinstance(x, Constant):
            return x.transposed(order)
        shape = tuple(x.shape[o] for o in order)
        solid = [o for o in order if size_of(x.shape[o]) > 1]
        if solid == sorted(solid):  # the numbers stay where they are
            return Value(x.cell, shape, x.dims, x.ids, x.axis)
        return self.cell({"type": "permute", "dims": list(x.row), "order": order}, [x], shape)

    def reshape(self, x: Tensor, sizes: Sequence[Any]) -> Tensor:
        """Other axes over the same numbers; None is the one that holds the batch."""
        if isinstance(x, Constant):
            return x.reshaped(sizes)
        return Value(x.cell, reshaped(x.shape, sizes), x.dims, x.ids, x.axis)

    def expand(self, x: Tensor, shape: Shape) -> Tensor:
        """Spread to a shape."""
        if tuple(x.shape) == tuple(shape):
            return x
        if batch_axis(x.shape) is None and batch_axis(shape) is not None:
            # The batch's axis stays 1: whatever it meets spreads it.
            at = batch_axis(shape)
            axis = shape[at]  # type: ignore[index]
            if size_of(axis) == 1:
                rows = tuple(1 if i == at else n for i, n in enumerate(row_of(shape)))
                return self._spread(x, rows)
        return self._spread(x, shape)

    def _spread(self, x: Tensor, shape: Shape) -> Tensor:
        if broadcast(x.shape, shape) != tuple(shape):
            raise ValueError("%s does not spread to %s" % (text_of(x.shape), text_of(shape)))
        rows = row_of(shape)
        if isinstance(x, Constant):
            if not x.trainable:
                return Constant.of(np.broadcast_to(x.array, rows))
            x = self.value(x)
        places = np.broadcast_to(np.arange(count(x.row)).reshape(
            (1,) * (len(shape) - len(x.shape)) + (x.row or ())), rows)
        return self.gather(x, places, shape)

    def gather(self, x: Tensor, places: Any, shape: Shape, fill: float = 0.0) -> Value:
        """Number j of the result is number places[j] of a sample's; -1: `fill`."""
        x = self.value(x)
        flat = np.asarray(places, np.int64).ravel()
        config = {"type": "index_select", "runs": runs_of(flat.tolist())}
        if fill and (flat < 0).any():
            config["fill"] = float(fill)  # type: ignore[assignment]
        return self.cell(config, [x], shape)

    def places(self, x: Value) -> np.ndarray:
        """The numbers of a sample's places, in its axes: what gather() takes."""
        return np.arange(count(x.row)).reshape(x.row)

    def take(self, x: Tensor, axis: int, indices: Any) -> Tensor:
        """Places of an axis: slices, halves, one by one, again and again."""
        axis %= len(x.shape)
        indices = np.asarray(indices, np.int64)
        if isinstance(x, Constant):
            return x.taken(indices, axis)
        if isinstance(x.shape[axis], Batch):
            raise ValueError("places of the batch's axis of %s" % text_of(x.shape))
        size = size_of(x.shape[axis])
        indices = np.where(indices < 0, indices + size, indices)
        if indices.size and (indices.min() < 0 or indices.max() >= size):
            raise ValueError("place %d of an axis of %d" % (indices.max(), size))
        shape = x.shape[:axis] + indices.shape + x.shape[axis + 1:]
        if indices.ndim == 1 and len(indices) == size and (indices == np.arange(size)).all():
            return x
        return self.gather(x, np.take(self.places(x), indices, axis), shape)

    def concat(self, parts: Sequence[Tensor], axis: int) -> Tensor:
        """Side by side along an axis."""
        axis %= len(parts[0].shape)
        constants = [p for p in parts if isinstance(p, Constant)]
        if len(constants) == len(parts):
            return Constant.joined(constants, axis)
        batched = next(p for p in parts if batch_axis(p.shape) is not None)
        values = [self.value(self._batched(p, batched.shape, axis)) for p in parts]
        if isinstance(values[0].shape[axis], Batch):
            raise ValueError("samples one behind the other: %s at axis %d"
                             % (text_of(values[0].shape), axis))
        firsts = np.cumsum([0] + [count(v.row) for v in values])
        places = np.concatenate([self.places(v) + first for v, first in zip(values, firsts)], axis)
        size = sum(size_of(v.shape[axis]) for v in values)
        shape = values[0].shape[:axis] + (size,) + values[0].shape[axis + 1:]
        joined = self.cell({}, values, shape)
        if (places.ravel() == np.arange(places.size)).all():
            return joined
        return self.gather(joined, places, shape)

    def _batched(self, x: Tensor, like: Shape, axis: int) -> Tensor:
        """The same for each sample, beside tensors of which each sample has its own."""
        at = batch_axis(like)
        if batch_axis(x.shape) is not None or at is None or at == axis:
            return x
        if x.shape[at] != 1 and x.shape[at] != size_of(like[at]):
            raise ValueError("%s beside %s" % (text_of(x.shape), text_of(like)))
        if x.shape[at] != size_of(like[at]):
            x = self._spread(x, tuple(size_of(like[at]) if i == at else n
                                      for i, n in enumerate(x.shape)))
        value = self.value(x)
        return Value(value.cell, tuple(like[at] if i == at else n
                                       for i, n in enumerate(value.shape)), value.dims,
                     value.ids, value.axis)

    # ---- products

    def matmul(self, a: Tensor, b: Tensor) -> Value:
        """numpy.matmul of two axes or more."""
        x, y = self.value(a), self.value(b)
        if isinstance(x.shape[-1], Batch) or any(isinstance(s, Batch) for s in y.shape[-2:]):
            raise ValueError("a product over the batch: %s and %s"
                             % (text_of(x.shape), text_of(y.shape)))
        shape = broadcast(x.shape[:-2], y.shape[:-2]) + (x.shape[-2], y.shape[-1])
        return self.cell({"type": "batched_matmul", "shapes": [list(x.row), list(y.row)]}, [x, y],
                         shape)

    def softmax(self, x: Tensor, axis: int = -1, log: bool = False) -> Value:
        """Over one axis."""
        x = self.value(x)
        axis %= len(x.shape)
        if isinstance(x.shape[axis], Batch):
            raise ValueError("a softmax over the batch of %s" % text_of(x.shape))
        last = len(x.shape) - 1
        order = [i for i in range(last + 1) if i != axis] + [axis]
        moved = self.value(self.transpose(x, order))
        rows = row_of(moved.shape)
        made = self.layer({"type": "log_softmax" if log else "softmax"}, moved, moved.shape,
                          takes=(count(rows[:-1]), rows[-1]), dims=(count(rows[:-1]), rows[-1]))
        back = [order.index(i) for i in range(last + 1)]
        return self.value(self.transpose(made, back))
