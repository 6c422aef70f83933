"""Weights on their way back: a trained network's numbers under the model's own names."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Tuple

import numpy as np

from .constant import Constant

if TYPE_CHECKING:
    from .absorbed import Absorbed

SHIFT = float(2 ** 40)  # no model has as many numbers


class Places:
    """Where each number of the model's arrays lies, one array behind the other."""

    def __init__(self, absorbed: "Absorbed") -> None:
        self.read = absorbed._read
        self.first: Dict[str, int] = {}
        self.arrays: Dict[str, np.ndarray] = {}
        self.size = 0

    def probe(self, shift: float) -> Any:
        """Reads numbers' places in place of the numbers."""
        def numbered(name: str) -> np.ndarray:
            if name not in self.first:
                array = np.array(self.read(name))
                self.arrays[name], self.first[name] = array, self.size
                self.size += array.size
            start, shape = self.first[name], self.arrays[name].shape
            return shift + start + np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape)
        return numbered

    def of(self, constant: Constant) -> Tuple[np.ndarray, np.ndarray]:
        """The place of each number of a constant, and whether it has one; none has where it is a
        function of the model's numbers."""
        here = np.asarray(constant.read(self.probe(0)), np.float64)
        there = np.asarray(constant.read(self.probe(SHIFT)), np.float64)
        named = there - here == SHIFT
        places = np.where(named, here, 0)
        if not np.all(named | (here == there)) or np.any(places != np.floor(places)):
            named = np.zeros(here.shape, bool)
        return places.astype(np.int64), named


def state_dict(absorbed: "Absorbed", network: Any) -> Dict[str, np.ndarray]:
    """See Absorbed.state_dict."""
    places = Places(absorbed)
    taken: Dict[str, Tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
    for parameter, constant in absorbed._fills:
        if constant.names:
            where, named = places.of(constant)
            values = np.asarray(network.get(parameter), np.float64).reshape(where.shape)
            if not named.all():
                _unmoved(absorbed, parameter, constant, values, named)
            taken[parameter] = where[named], values[named], named
    numbers = np.full(places.size, np.nan)
    for parameter, (where, values, _) in taken.items():
        before = numbers[where]
        moved = ~np.isnan(before) & (before != values)
        if moved.any():
            raise ValueError("%s is in several places of the network, and training has moved them "
                             "apart: %s" % (_name_at(places, int(where[moved][0])), parameter))
        numbers[where] = values
    found: Dict[str, np.ndarray] = {}
    for name, array in places.arrays.items():
        start = places.first[name]
        new = numbers[start:start + array.size].reshape(array.shape)
        found[name] = np.where(np.isnan(new), array, new).astype(array.dtype)
    return _all_names(absorbed, found)


def _unmoved(absorbed: "Absorbed", parameter: str, constant: Constant, values: np.ndarray,
             named: np.ndarray) -> None:
    """Numbers that are no parameters of the model stay what they were."""
    was = np.asarray(constant.read(absorbed._read), np.float32).reshape(values.shape)
    moved = (np.abs(values - was) > 1e-6 * np.maximum(1, np.abs(was))) & ~named
    if moved.any():
        raise ValueError("%s has learned here, and the model computes it of %s" % (
            parameter, ", ".join(constant.names)))


def _name_at(places: Places, place: int) -> str:
    return next(name for name, start in places.first.items()
                if start <= place < start + places.arrays[name].size)


def _all_names(absorbed: "Absorbed", found: Dict[str, np.ndarray]) -> Dict[str, np.ndarray]:
    """In the model's order, with what does not go into the network as it is."""
    names = getattr(absorbed._read, "names", None)
    if names is None:
        return found
    alias = getattr(absorbed._read, "alias", {})
    return {name: found[alias.get(name, name)] if alias.get(name, name) in found
            else np.array(absorbed._read(name)) for name in names()}
