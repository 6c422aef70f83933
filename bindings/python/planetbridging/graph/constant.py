"""Numbers that are known when a model is absorbed: parameters by their names there, and others.

A constant remembers how it came from the framework's arrays (transposed, cut, joined), so that the
same arrangement is made again of newer weights, and of an optimizer's moments.
"""
from __future__ import annotations

from typing import Any, Callable, Sequence, Tuple

import numpy as np

Read = Callable[[str], Any]  # an array by the name that the framework has for it


class Constant:
    """An array, and how to make it again. `trainable` where it is a parameter that learns."""

    def __init__(self, array: Any, key: Tuple[Any, ...], read: Callable[[Read], np.ndarray],
                 names: Tuple[str, ...] = (), trainable: bool = False) -> None:
        self.array = np.asarray(array)
        self.key, self._read, self.names, self.trainable = key, read, names, trainable

    @classmethod
    def named(cls, name: str, array: Any, trainable: bool = True) -> "Constant":
        """A parameter or buffer of the model."""
        return cls(array, ("named", name), lambda get: np.asarray(get(name)), (name,), trainable)

    @classmethod
    def of(cls, array: Any) -> "Constant":
        """Numbers without a name, which stay as they are."""
        array = np.asarray(array)
        return cls(array, ("of", str(array.dtype), array.shape, array.tobytes()), lambda get: array)

    @property
    def shape(self) -> Tuple[int, ...]:
        return self.array.shape

    def read(self, get: Read) -> np.ndarray:
        """The same of other arrays: newer weights, or moments."""
        return self._read(get)

    def _as(self, key: Tuple[Any, ...], how: Callable[[np.ndarray], np.ndarray]) -> "Constant":
        return Constant(how(self.array), (*key, self.key), lambda get: how(self._read(get)),
                        self.names, self.trainable)

    def transposed(self, order: Sequence[int] = ()) -> "Constant":
        """Axes in another order; none: the other way round."""
        order = tuple(int(i) for i in order) or tuple(range(self.array.ndim))[::-1]
        return self._as(("transposed", order), lambda a: a.transpose(order))

    def reshaped(self, shape: Sequence[int]) -> "Constant":
        shape = tuple(int(n) for n in shape)
        return self._as(("reshaped", shape), lambda a: a.reshape(shape))

    def part(self, axis: int, start: int, stop: int) -> "Constant":
        """Places `start` to `stop` of an axis."""
        where = (slice(None),) * (axis % self.array.ndim) + (slice(start, stop),)
        return self._as(("part", axis, start, stop), lambda a: a[where])

    def flipped(self, axes: Sequence[int]) -> "Constant":
        axes = tuple(axes)
        return self._as(("flipped", axes), lambda a: np.flip(a, axes))

    def taken(self, places: Any, axis: int) -> "Constant":
        """The places of an axis that an array of numbers names, each once at most where it is to
        learn."""
        places = np.asarray(places)
        once = len(np.unique(places)) == places.size
        made = self._as(("taken", axis, places.shape, places.tobytes()),
                        lambda a: np.take(a, places, axis))
        made.trainable = made.trainable and once
        return made

    @staticmethod
    def joined(parts: Sequence["Constant"], axis: int) -> "Constant":
        """Side by side along an axis."""
        parts = tuple(parts)
        return Constant(np.concatenate([p.array for p in parts], axis),
                        ("joined", axis, *(p.key for p in parts)),
                        lambda get: np.concatenate([p.read(get) for p in parts], axis),
                        tuple(n for p in parts for n in p.names),
                        all(p.trainable for p in parts))

    def computed(self, what: str, how: Callable[[np.ndarray], Any]) -> "Constant":
        """A function of the numbers, which learns no more: `what` names it."""
        made = self._as((what,), lambda a: np.asarray(how(a)))
        made.trainable = False
        return made
