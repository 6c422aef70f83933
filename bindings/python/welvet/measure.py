"""Figures of values: how far answers are from what was expected, and how columns go together
(docs/guide/observe.md)."""
from __future__ import annotations

import operator
from typing import Any, Dict

import numpy as np

from ._core.call import array, call


def deviation(actual: Any, expected: Any, keep: int = 10) -> Dict[str, Any]:
    """How far answers are from what was expected, in percent: |a - e| / |e|, and |a - e| where |e|
    is below 1e-10. Both are (samples,) or (samples, values), of which the mean counts. Returns
    samples, mean (of the finite ones), score (the mean of max(0, 100 - deviation)), equal (the
    share of samples without any), not_finite, worst (the `keep` samples with the largest) and
    buckets (percent, count, and the first `keep` samples of each)."""
    a, e = array(actual, np.float64, "actual"), array(expected, np.float64, "expected")
    if a.shape != e.shape:
        raise ValueError("expected: has the shape %s, and actual %s" % (e.shape, a.shape))
    if a.ndim == 0:
        raise ValueError("actual: expects (samples,) or (samples, values), got a number")
    width = a.size // len(a) if len(a) else 1
    return call("measure_deviation", a.reshape(-1), e.reshape(-1),  # type: ignore[no-any-return]
                width, operator.index(keep))


def correlation(x: Any, kind: str = "pearson") -> np.ndarray:
    """The correlations of the columns of x, (rows, columns): (columns, columns), NaN where a column
    is constant. `kind`: pearson, or spearman, of the ranks."""
    x = array(x, np.float64, "x")
    if x.ndim != 2:
        raise ValueError("x: expects (rows, columns), got the shape %s" % (x.shape,))
    out = np.empty((x.shape[1], x.shape[1]))
    call("measure_correlation", x, x.shape[1], kind, out)
    return out
