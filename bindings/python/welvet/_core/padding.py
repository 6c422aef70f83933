"""Lists of sequences of unequal length: padded with zeros, their lengths in an input of their
own."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from .call import plain


def sequences_of(x: Any) -> Optional[List[np.ndarray]]:
    """The arrays of a list, or of an array of objects, None where x is something else."""
    if isinstance(x, np.ndarray):
        if x.dtype != object or x.ndim != 1:
            return None
    elif not isinstance(x, (list, tuple)):
        return None
    listed = (hasattr(item, "__len__") and not isinstance(item, (str, bytes, dict)) for item in x)
    if len(x) == 0 or not all(listed):
        return None
    items = [plain(item, "x") for item in x]
    return None if any(item.ndim == 0 or item.dtype.kind not in "iufb" for item in items) else items


def _ragged(x: Any) -> bool:
    """Whether a list has members of several lengths, without a look into them."""
    some = isinstance(x, (list, tuple)) or (isinstance(x, np.ndarray) and x.dtype == object)
    return some and len({len(item) if hasattr(item, "__len__") else -1 for item in x}) > 1


def unequal(items: Sequence[np.ndarray]) -> bool:
    return any(len(item) != len(items[0]) for item in items)


def lengths_input(given: Dict[str, Any], name: str) -> Optional[str]:
    """The input that has the lengths of another: "<name>_lengths", or "lengths"."""
    ids = [part["name"] for part in given.get("parts", []) if "ids" in part and "dims" not in part]
    for wanted in (name + "_lengths", "lengths"):
        if wanted in ids and wanted != name:
            return wanted
    return None


def put_together(items: Sequence[np.ndarray], steps: int, behind: float, name: str) -> np.ndarray:
    """(sequences, steps, ...), with `behind` where they have ended. Raises ValueError for one that
    is longer, or whose steps are others than those of the first."""
    for i, item in enumerate(items):
        if len(item) > steps:
            raise ValueError(
                "%s: sequence %d has %d steps, the network takes %d at most"
                % (name, i, len(item), steps)
            )
        if item.shape[1:] != items[0].shape[1:]:
            raise ValueError(
                "%s: sequence %d has steps of the shape %s, and sequence 0 of %s"
                % (name, i, item.shape[1:], items[0].shape[1:])
            )
    rows = np.full((len(items), steps) + items[0].shape[1:], behind, np.result_type(*items))
    for row, item in zip(rows, items):
        row[: len(item)] = item
    return rows


def padded(x: Any, given: Dict[str, Any], name: str) -> Any:
    """x for a network's input, as arrays by name where it has lists of sequences and the lengths
    are not given. Raises ValueError for unequal sequences without an input of lengths."""
    parts = {part["name"]: part for part in given.get("parts", [])}
    if not isinstance(x, dict):
        if not parts and not _ragged(x):
            return x
        items = sequences_of(x)
        others = [key for key in parts if lengths_input(given, key) is not None]
        if items is None or (not others and not unequal(items)):
            return x
        if len(others) != 1 or len(parts) != 2:
            if unequal(items):
                raise ValueError(_refused(name, items))
            return x
        x = {others[0]: x}
    arrays: Dict[str, Any] = dict(x)
    for key in x:
        items, lengths = sequences_of(x[key]), lengths_input(given, key)
        if items is None or key not in parts:
            continue
        if lengths is None or lengths in x:
            if unequal(items):
                raise ValueError(_refused("%s[%r]" % (name, key), items, lengths))
            continue
        steps = (parts[key].get("dims") or [parts[key].get("width", 1)])[0]
        counts = np.array([len(item) for item in items])
        if lengths in arrays and not np.array_equal(arrays[lengths], counts):
            raise ValueError(
                "%s: %r has other lengths than another input, and %r is of both: name "
                'an input "%s_lengths"' % (name, key, lengths, key)
            )
        arrays[key], arrays[lengths] = put_together(items, steps, 0, "%s[%r]" % (name, key)), counts
    return arrays


def _refused(name: str, items: Sequence[np.ndarray], lengths: Optional[str] = None) -> str:
    found = sorted({len(item) for item in items})
    text = "%s: sequences of %d and of %d steps" % (name, found[0], found[-1])
    if lengths is not None:
        return "%s, and %r is given: pad them, or leave %r to be filled in" % (
            text,
            lengths,
            lengths,
        )
    return text + (
        ": they are padded where the network has an input of their lengths, which layers "
        'take: L.Input(ids=steps + 1, name="lengths")'
    )


def padded_targets(
    y: Any, places: Sequence[int], given: Dict[str, Any], ignore: int, name: str
) -> Any:
    """y, padded with `ignore` where it has a list of classes for each sequence's steps. Raises
    ValueError for targets of unequal length that are no classes of steps."""
    if isinstance(y, np.ndarray) and y.dtype != object:
        return y
    items = sequences_of(y) if places or _ragged(y) else None
    if items is None:
        return y
    steps = places[0] if len(places) == 1 else 0
    classes = steps and all(item.ndim == 1 and item.dtype.kind in "iu" for item in items)
    if (
        classes
        and any(len(item) < steps for item in items)
        and any(lengths_input(given, part["name"]) for part in given.get("parts", []))
    ):
        return put_together(items, steps, ignore, name)
    if unequal(items):
        found = sorted({len(item) for item in items})
        raise ValueError(
            "%s: targets of %d and of %d values: lists of unequal length are classes of "
            "the steps of a network that takes lengths" % (name, found[0], found[-1])
        )
    return y
