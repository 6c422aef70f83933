"""Shapes of tensors with one axis that holds the batch.

A network of Loom computes a row for each sample, so that the batch is no axis in it. A framework's
tensor has the batch as an axis, first or elsewhere ([steps, batch, features]), or merged with
others (batch x heads). A shape here is a tuple of sizes in which that axis is a Batch; the numbers
of a row lie in the order of the other axes, wherever the batch is.
"""
from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np


class Batch(NamedTuple):
    """An axis of `before` x batch x `after` places, `before` the slowest: [batch x heads] is
    Batch(1, heads)."""

    before: int = 1
    after: int = 1

    def __str__(self) -> str:
        parts = [str(n) for n in (self.before,) if n > 1] + ["batch"]
        return " x ".join(parts + [str(n) for n in (self.after,) if n > 1])


Axis = Union[int, Batch]
Shape = Tuple[Axis, ...]


def size_of(axis: Axis) -> int:
    """Places of one sample."""
    return axis.before * axis.after if isinstance(axis, Batch) else axis


def row_of(shape: Shape) -> Tuple[int, ...]:
    """Dimensions of the numbers of one sample: the batch's axis has what is merged with it, or
    1."""
    return tuple(size_of(axis) for axis in shape)


def dims_of(shape: Shape) -> Tuple[int, ...]:
    """The same for a layer: an axis that is the batch alone is none."""
    return tuple(size_of(axis) for axis in shape if axis != Batch())


def count(dims: Sequence[int]) -> int:
    n = 1
    for d in dims:
        n *= int(d)
    return n


def batch_axis(shape: Shape) -> Optional[int]:
    for i, axis in enumerate(shape):
        if isinstance(axis, Batch):
            return i
    return None


def text_of(shape: Shape) -> str:
    return "[%s]" % ", ".join(str(axis) for axis in shape)


def reshaped(shape: Shape, sizes: Sequence[Any]) -> Shape:
    """The shape with other axes: each of `sizes` is a number, or None for the one that holds the
    batch. Raises ValueError where the numbers do not go into them."""
    at = batch_axis(shape)
    if at is None:
        if None in sizes or count(sizes) != count(row_of(shape)):
            raise ValueError("%s does not go into %s" % (text_of(shape), list(sizes)))
        return tuple(int(n) for n in sizes)
    if list(sizes).count(None) != 1:
        raise ValueError("%s into %s: no axis would hold the batch" % (text_of(shape), list(sizes)))
    holder = list(sizes).index(None)
    own = shape[at]
    assert isinstance(own, Batch)
    slower = count(row_of(shape[:at])) * own.before  # places that are slower than the batch
    faster = count(row_of(shape[at + 1:])) * own.after
    before, outside = divmod(slower, count(sizes[:holder]))
    after, beyond = divmod(faster, count(sizes[holder + 1:]))
    if outside or beyond or before == 0 or after == 0:
        raise ValueError("%s does not go into %s" % (text_of(shape), list(sizes)))
    made: List[Axis] = [int(n) for n in sizes[:holder]]
    return tuple(made + [Batch(before, after)] + [int(n) for n in sizes[holder + 1:]])


def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape of a function of both, as NumPy spreads them. What has no batch may have a
    sample's places where the other has the batch: numbers that are the same for all samples."""
    rank = max(len(a), len(b))
    out: List[Axis] = []
    for x, y in zip((1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b)):
        if isinstance(x, Batch) != isinstance(y, Batch) and size_of(x) == size_of(y):
            out.append(x if isinstance(x, Batch) else y)
            continue
        if x != y and x != 1 and y != 1:
            raise ValueError("%s and %s do not go together" % (text_of(a), text_of(b)))
        out.append(y if x == 1 and not isinstance(x, Batch) else x)
    if sum(isinstance(axis, Batch) for axis in out) > 1:
        raise ValueError("%s and %s have the batch at different axes" % (text_of(a), text_of(b)))
    return tuple(out)


def to_rows(array: Any, shape: Shape) -> np.ndarray:
    """An array of such a shape as [batch, numbers of a sample]. Raises ValueError for another
    shape, and for anything that is no array of real numbers (a dataset, a sparse tensor)."""
    kind = type(array).__name__
    array = np.asarray(array)
    if array.dtype.kind in "OSUcMm":
        raise ValueError("expects an array of numbers, got %s%s" % (
            kind, "" if array.dtype == object else " of " + str(array.dtype)))
    at = batch_axis(shape)
    if at is None:
        raise ValueError("%s holds no batch" % text_of(shape))
    own = shape[at]
    assert isinstance(own, Batch)
    wanted = row_of(shape)
    if array.ndim != len(shape) or any(n != w for i, (n, w) in enumerate(zip(array.shape, wanted))
                                       if i != at) or array.shape[at] % (own.before * own.after):
        raise ValueError("expects %s, got %s" % (text_of(shape), list(array.shape)))
    rows = array.shape[at] // (own.before * own.after)
    cut = array.reshape(array.shape[:at] + (own.before, rows, own.after) + array.shape[at + 1:])
    return np.moveaxis(cut, at + 1, 0).reshape(rows, count(wanted))


def from_rows(rows: Any, shape: Shape) -> np.ndarray:
    """The inverse; a shape without a batch is the first row."""
    rows = np.asarray(rows)
    at = batch_axis(shape)
    if at is None:
        return rows[:1].reshape(row_of(shape))
    own = shape[at]
    assert isinstance(own, Batch)
    n, sizes = rows.shape[0], row_of(shape)
    cut = rows.reshape((n,) + sizes[:at] + (own.before, own.after) + sizes[at + 1:])
    moved = np.moveaxis(cut, 0, at + 1)
    return moved.reshape(sizes[:at] + (own.before * n * own.after,) + sizes[at + 1:])
