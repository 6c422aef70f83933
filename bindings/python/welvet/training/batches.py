"""Batches that come one by one, for Network.train: from a generator, an iterator, or what can be
iterated again and again, as a PyTorch DataLoader."""
from __future__ import annotations

import array as _array
from typing import Any, Callable, Dict, Iterator, Optional, Tuple

from .trainer import Data, at_least_one

# Settings of data that the trainer reads, in its own order.
_NOT_HERE = {
    "batch_size": "batches have the size that they come in",
    "shuffle": "batches are learned in the order in which they come",
    "micro_batches": "give smaller batches",
    "streams": "they are cut from data that is known: give a Data object, or arrays",
    "random_translate": "move the images where the batches are made",
    "sample_weight": "give (x, y, sample_weight)",
}


def come_one_by_one(x: Any) -> bool:
    """Whether x is iterated for batches, not an array of samples."""
    whole = isinstance(x,
                       (Data, list, tuple, dict, str, bytes, bytearray, memoryview, _array.array))
    arrays = ("dtype", "__array__", "__array_interface__", "__dlpack__")
    return hasattr(x, "__iter__") and not whole and not any(hasattr(x, name) for name in arrays)


def check(settings: Dict[str, Any]) -> None:
    """Raises ValueError for what is given and cannot be had of batches that are not known
    before."""
    for key, instead in _NOT_HERE.items():
        if settings.get(key) is not None:
            raise ValueError("train: %r is not for batches from an iterator: %s" % (key, instead))
    weights = settings.get("class_weight", settings.get("class_weights"))
    if isinstance(weights, str) and weights == "balanced":
        raise ValueError(
            "train: class_weight=\"balanced\" needs all samples, which an iterator does "
                         "not tell: give a weight for each class")
    if isinstance(settings.get("validation"), (int, float)) and settings["validation"]:
        raise ValueError("train: nothing of an iterator can be held back: give validation=(x, y)")


class Batches:
    """The batches of a training: `steps` of them, `per_epoch` in each epoch."""

    def __init__(self, source: Any, make: Callable[[int, Any], Data], steps: Optional[int],
                 epochs: Optional[int], per_epoch: Optional[int]) -> None:
        if per_epoch is None and hasattr(source, "__len__"):
            per_epoch = len(source)
        if steps is None and per_epoch is None:
            raise TypeError("train: an iterator does not tell how many batches an epoch has: give "
                            "steps_per_epoch, or steps")
        if steps is None:
            steps = at_least_one("epochs", 10 if epochs is None else epochs) \
                * at_least_one("steps_per_epoch", per_epoch)
        self.steps = at_least_one("steps", steps)
        self.per_epoch = at_least_one("steps_per_epoch", self.steps if per_epoch is None
                                      else per_epoch)
        self._made, self._make, self._given = self._drawn(source), make, 0

    @staticmethod
    def _drawn(source: Any) -> Iterator[Any]:
        while True:
            batches, any_came = iter(source), False
            for batch in batches:
                any_came = True
                yield batch
            if batches is source or not any_came:  # it has one pass, or none
                return

    def next(self) -> Data:
        """The data of the next batch. Raises ValueError where none comes."""
        for batch in self._made:
            self._given += 1
            return self._make(self._given, batch)
        raise ValueError(
            "train: the iterator ended after %d batches, %d steps are to be done: what "
                         "was learned stays" % (self._given, self.steps))


def parts_of(number: int, batch: Any) -> Tuple[Any, Any, Any]:
    """x, y and the weights of samples, None where there are none."""
    if isinstance(batch, (tuple, list)) and len(batch) in (2, 3):
        return batch[0], batch[1], batch[2] if len(batch) == 3 else None
    count = " of %d" % len(batch) if isinstance(batch, (tuple, list)) else ""
    raise TypeError("train: batch %d: expects (x, y) or (x, y, sample_weight), got a %s%s"
                    % (number, type(batch).__name__, count))
