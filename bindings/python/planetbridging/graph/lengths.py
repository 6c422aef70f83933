"""Open lengths: axes of inputs that are as long as each call has them, up to a maximum. The network
has the maximum; an input of one id says how long a row is, and what is behind the end is padding.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Tuple

import numpy as np

from .shape import Batch, Shape

Count = Callable[[Dict[str, int]], int]  # places of an axis, of the lengths by their names


class Length(NamedTuple):
    """`name`: as it was declared; `port`: the input of the network that holds it."""

    name: str
    port: str
    minimum: int
    maximum: int

    def checked(self, n: int, where: str) -> int:
        """Raises ValueError with the name and number where it is too long or too short."""
        if n > self.maximum:
            raise ValueError("%s is %d: %s goes up to %d" % (where, n, self.name, self.maximum))
        if n < self.minimum:
            raise ValueError("%s is %d: %s begins at %d" % (where, n, self.name, self.minimum))
        return n


class Lengths:
    """Those of a network: `inputs` says for each input the axes that are open, `outputs` for each
    output how many places of an axis there are."""

    def __init__(self, lengths: List[Length], inputs: Dict[str, Dict[int, Tuple[str, Count]]],
                 outputs: List[Dict[int, Count]]) -> None:
        self.lengths, self.inputs, self.outputs = lengths, inputs, outputs

    @property
    def ports(self) -> List[str]:
        return [one.port for one in self.lengths]

    def found(self, arrays: Dict[str, Any]) -> Dict[str, int]:
        """The length that the arrays of a call have, by name."""
        made: Dict[str, int] = {}
        first: Dict[str, str] = {}
        for name, axes in self.inputs.items():
            shape = np.shape(arrays[name])
            for axis, (length, count) in axes.items():
                own = next(one for one in self.lengths if one.name == length)
                if axis >= len(shape):
                    raise ValueError("%s: %d axes, axis %d is the %s" % (
                        name, len(shape), axis, length))
                where = "%s: axis %d of %s" % (name, axis, list(shape))
                n = own.checked(self._solved(own, count, shape[axis], where), where)
                if made.setdefault(length, n) != n:
                    raise ValueError("%s is %d: %s has the same %s, and %d" % (
                        where, n, first[length], length, made[length]))
                first.setdefault(length, name)
        return made

    @staticmethod
    def _solved(own: Length, count: Count, size: int, where: str) -> int:
        """The length of which an axis is as long as this: of a dimension that was declared as 2
        times another, half."""
        if count({own.name: own.maximum}) == own.maximum:
            return size
        sizes = {count({own.name: n}): n for n in range(own.minimum, own.maximum + 1)}
        if size not in sizes:
            raise ValueError("%s is %d, which no %s from %d to %d makes" % (
                where, size, own.name, own.minimum, own.maximum))
        return sizes[size]

    def padded(self, name: str, array: Any, shape: Shape) -> np.ndarray:
        """With zeros behind the end, as long as the network has it."""
        array = np.asarray(array)
        axes = self.inputs.get(name, {})
        behind = [(0, 0)] * array.ndim
        for axis in axes:
            size = shape[axis]
            assert not isinstance(size, Batch)
            behind[axis] = (0, size - array.shape[axis])
        return np.pad(array, behind) if axes else array

    def rows(self, found: Dict[str, int], rows: int) -> Dict[str, np.ndarray]:
        """What the inputs for lengths take."""
        return {one.port: np.full((rows, 1), found[one.name], np.int32) for one in self.lengths}

    def cut(self, arrays: List[np.ndarray], found: Dict[str, int]) -> List[np.ndarray]:
        """Outputs without what is behind the ends."""
        return [array[tuple(slice(axes[i](found)) if i in axes else slice(None)
                            for i in range(array.ndim))]
                for array, axes in zip(arrays, self.outputs)]
