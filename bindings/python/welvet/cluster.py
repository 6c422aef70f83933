"""Groups of rows of numbers: k-means, silhouettes, hierarchies (docs/guide/ensembles.md). Values
are float64, sums have a fixed order: the same bits everywhere. A value that is not finite is
refused by its place."""
from __future__ import annotations

import operator
from typing import Any, NamedTuple, Optional

import numpy as np

from ._core.call import array, call, seed_of


class KMeans(NamedTuple):
    labels: np.ndarray   # (rows,), int32: the center of each row
    centers: np.ndarray  # (clusters, width)
    inertia: float       # sum of squared distances to the centers
    iterations: int


def _rows(x: Any, name: str = "x") -> np.ndarray:
    x = array(x, np.float64, name)
    if x.ndim != 2:
        raise ValueError("%s: expects (rows, width), got the shape %s" % (name, x.shape))
    return x


def k_means(x: Any, clusters: Optional[int] = None, *, start: Any = None, seed: int = 0,
            starts: int = 1, max_iterations: int = 300, tolerance: float = 1e-4) -> KMeans:
    """k-means of the rows of x, (rows, width), by Lloyd's iterations, with 8 clusters where neither
    `clusters` nor `start` says. It starts from the centers
    `start`, (clusters, width), or from those of k-means++ by the seed, `starts` times, of which the
    result with the least inertia counts. With the same `start` it is scikit-learn's KMeans."""
    x = _rows(x)
    if start is None:
        begin = np.empty((0, x.shape[1]))
        clusters = 8 if clusters is None else clusters
    else:
        begin = _rows(start, "start")
        if clusters not in (None, len(begin)):
            raise ValueError("clusters: expects %d, as many as start has, got %r"
                             % (len(begin), clusters))
        clusters = len(begin)
        if begin.shape[1] != x.shape[1]:
            raise ValueError("start: expects centers of %d values, got %d"
                             % (x.shape[1], begin.shape[1]))
    clusters = operator.index(clusters)
    options = {"seed": seed_of(seed), "starts": starts, "max_iterations": max_iterations,
               "tolerance": tolerance}
    labels = np.empty(len(x), np.int32)
    if len(x) and not 0 < clusters <= len(x):
        raise ValueError("clusters: expects 1 to %d, the number of rows, got %d"
                         % (len(x), clusters))
    centers = np.empty((clusters, x.shape[1]))
    info = call("cluster_k_means", x, x.shape[1], clusters, begin, options, labels, centers)
    return KMeans(labels, centers, info["inertia"], info["iterations"])


def silhouettes(x: Any, labels: Any, *, distance: str = "euclidean") -> np.ndarray:
    """The silhouette of each row, -1 to 1: (b - a) / max(a, b) with a the mean distance to the
    others of its group and b that to the nearest other group; 0 in a group of one. Their mean says
    how good a number of groups is. `distance`: euclidean, cosine, or precomputed, with which x is
    the square of distances. Raises InvalidArgument for one group and for one row each."""
    x = _rows(x)
    out = np.empty(len(x))
    call("cluster_silhouettes", x, x.shape[1], array(labels, np.int32, "labels"), distance, out)
    return out


def hierarchy(x: Any, *, distance: str = "euclidean", linkage: str = "average") -> np.ndarray:
    """The merges of agglomerative clustering of at most 8,192 rows, (rows - 1, 4) by ascending
    distance, as SciPy's linkage has them: two groups, their distance, the rows of both; groups 0 to
    rows - 1 are the rows, rows + i is what merge i makes. `distance`: as of silhouettes();
    `linkage`: single, complete, average, ward."""
    x = _rows(x)
    merges = np.empty((max(0, len(x) - 1), 4))
    call("cluster_hierarchy", x, x.shape[1], {"distance": distance, "linkage": linkage}, merges)
    return merges


def cut(merges: Any, clusters: Optional[int] = None, *,
        distance: Optional[float] = None) -> np.ndarray:
    """The groups of hierarchy()'s merges that are as many as `clusters`, or that are joined up to a
    `distance`: one number for each row, in the order of their first rows."""
    merges = array(merges, np.float64, "merges")
    if merges.ndim != 2 or merges.shape[1] != 4:
        raise ValueError("merges: expects (rows - 1, 4), got the shape %s" % (merges.shape,))
    options = {"clusters": clusters, "distance": distance}
    labels = np.empty(len(merges) + 1, np.int32)
    call("cluster_cut", merges, {k: v for k, v in options.items() if v is not None}, labels)
    return labels
