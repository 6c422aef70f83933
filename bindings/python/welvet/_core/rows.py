"""Rows of numbers as networks take them."""
from __future__ import annotations

import math
from typing import Any, Dict, Tuple

import numpy as np

from .call import array, numbers, plain
from .padding import padded


def _joined(x: Dict[str, Any], given: Dict[str, Any], name: str,
            to_learn: bool) -> Tuple[np.ndarray, Tuple[int, ...]]:
    """Arrays by the names of a network's inputs, side by side."""
    known = [part["name"] for part in given.get("parts", [])]
    if not known:
        raise TypeError("%s: the network takes one array, and has no inputs by name" % name)
    wrong = [key for key in x if key not in known] or [key for key in known if key not in x]
    if wrong:
        raise TypeError("%s: %r is %s: expects an array for each of %s"
                        % (name, wrong[0], "missing" if wrong[0] in known
                           else "no input of the network",
                           ", ".join(known)))
    rows = []
    for part in given["parts"]:
        called, values = "%s[%r]" % (name, part["name"]), plain(x[part["name"]], name)
        if values.ndim == 1 and "dims" not in part and part.get("width", 1) == 1:
            values = values[:, None]  # a number for each sample
        row, lead = rows_of(values, {**part, "dtype": given.get("dtype")}, called, to_learn)
        rows.append((row if to_learn else row.astype(number_type(given), copy=False), lead))
    for key, (_, lead) in zip(known, rows):
        if lead != rows[0][1]:
            raise ValueError("%s: %r has %s samples and %r %s"
                             % (name, known[0], rows[0][1], key, lead))
    return np.concatenate([part for part, _ in rows], axis=1), rows[0][1]


def rows_of(x: Any, given: Dict[str, Any], name: str = "x",
            to_learn: bool = False) -> Tuple[np.ndarray, Tuple[int, ...]]:
    """x as (rows, numbers of a row) for a network's input, and the shape of its rows. `to_learn`:
    values in float64 where their type has more than float32 holds."""
    if isinstance(x, tuple) and len(x) == len(given.get("parts", ())):
        x = dict(zip((part["name"] for part in given["parts"]), x))  # in their order
    if "name" not in given:
        x = padded(x, given, name)
    if isinstance(x, dict):
        return _joined(x, given, name, to_learn)
    if "ids" in given and "dims" not in given and "name" not in given:
        raise TypeError("%s: the network takes one id per row, positions of sequences: train it on "
                        "Data.tokens, or give its Input the steps of a row" % name)
    if to_learn and "ids" not in given:
        x = numbers(x, name)
    else:
        x = array(x, np.int32 if "ids" in given else number_type(given), name)
    dims = tuple(given.get("dims", ())) or (given.get("width", 1),)
    flat = int(math.prod(dims))
    if x.ndim >= len(dims) and x.shape[x.ndim - len(dims):] == dims:
        lead = x.shape[:x.ndim - len(dims)]
    elif x.ndim > 0 and x.shape[-1] == flat:
        lead = x.shape[:-1]
    elif x.ndim > 1 and len(dims) == 1 and int(math.prod(x.shape[1:])) == flat:
        lead = x.shape[:1]  # samples with dimensions that the network does not know
    else:
        wanted = ", ".join("%d" % d for d in dims)
        raise ValueError("%s: expects (..., %s), got the shape %s" % (name, wanted, x.shape))
    return x.reshape(-1, flat), lead


def number_type(given: Dict[str, Any]) -> Any:
    """The type of the numbers that a network takes and gives: float64 where all that reads its
    input computes in f64."""
    return np.float64 if given.get("dtype") == "f64" else np.float32


def one_sequence(ids: np.ndarray) -> np.ndarray:
    """ids, which are of one sequence: rows are several, which have one memory each."""
    if ids.ndim > 1:
        raise TypeError("ids: expects one sequence, (n,), got the shape %s: give one row at a "
                        "time, or run several at once in a Session(network, sequences=%d) by "
                        "run_tokens"
                        % (ids.shape, len(ids)))
    return ids
