"""Outputs of a framework beside those of Loom."""
from __future__ import annotations

from typing import Any, Tuple

import numpy as np

FP32_PASS_TOLERANCE = 1e-5


def compare_outputs(native: Any, loom: Any, *,
                    tolerance: float = FP32_PASS_TOLERANCE) -> Tuple[float, float, bool]:
    """The largest and the mean absolute difference, and whether all numbers are equal. Equal
    infinities and two NaNs are no difference; one NaN alone is an infinite one. Raises ValueError
    where shapes differ."""
    del tolerance  # a label's, which takes it itself: diff_label
    a, b = np.asarray(native, np.float64), np.asarray(loom, np.float64)
    if a.shape != b.shape:
        raise ValueError("shape mismatch: native %s vs loom %s" % (a.shape, b.shape))
    if a.size == 0:
        raise ValueError("nothing to compare: both are empty, of the shape %s" % (a.shape,))
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.abs(a - b))
    difference = np.where(np.isnan(difference), np.inf, difference)
    return float(difference.max()), float(difference.mean()), bool(same.all())


def diff_label(max_abs_diff: float, *, exact: bool = False,
               tolerance: float = FP32_PASS_TOLERANCE) -> str:
    """EXACT, PASS (below the tolerance) or DIFF."""
    if exact or max_abs_diff == 0.0:
        return "EXACT"
    return "PASS" if max_abs_diff < tolerance else "DIFF"


def label_of(native: Any, loom: Any) -> str:
    """The label of two outputs."""
    largest, _, exact = compare_outputs(native, loom)
    return diff_label(largest, exact=exact)
