"""Parameters with several uses: what is written twice would learn twice."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence, Set, Tuple

import numpy as np

from .constant import Constant
from .graph import Graph


def overlapping(fills: Sequence[Tuple[str, Constant]],
                shapes: Mapping[str, Sequence[int]]) -> Set[str]:
    """Names of parameters that learn and of which a number is in two parameters of the network.

    Each number is followed by its place: the arrangements are those of Constant.read().
    """
    uses: Dict[str, List[Constant]] = {}
    for _, constant in fills:
        if constant.trainable:
            for name in set(constant.names):
                uses.setdefault(name, []).append(constant)
    found: Set[str] = set()
    for name, constants in uses.items():
        if len(constants) < 2:
            continue
        seen = np.zeros(int(np.prod(shapes[name], dtype=np.int64)), np.int64)
        for constant in constants:
            def places(other: str, name: str = name) -> np.ndarray:
                size = int(np.prod(shapes[other], dtype=np.int64))
                numbers = np.arange(size) if other == name else np.full(size, -1)
                return numbers.reshape(tuple(shapes[other]))
            used = np.unique(constant.read(places))
            seen[used[used >= 0]] += 1
        if (seen > 1).any():
            found.add(name)
    return found


class Shared(Graph):
    """A graph that is written again where parameters have several uses: `clashes` are the names
    of those that no layer can share."""

    def __init__(self) -> None:
        super().__init__()
        self.clashes: Set[str] = set()

    def _place(self, cell: Dict[str, Any], fills: Dict[str, Constant], at: int) -> None:
        for i, (role, constant) in enumerate(fills.items()):
            home = self._homes.get(constant.key)
            if constant.trainable and home is not None and (i or role.startswith("/")):
                self.clashes.update(constant.names)
        super()._place(cell, {} if self.clashes else fills, at)
