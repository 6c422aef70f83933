#!/usr/bin/env python3
"""tests/parity/cluster.py LOOM_LIBRARY: clusters beside scikit-learn and SciPy.

k-means from the same centers: the same labels, centers, inertia and iterations; silhouettes; the
merges of every linkage and distance, and their cuts; correlations. Random rows of many sizes, with
rows that are equal, and centers that lose all rows. Votes, matches and deviations are computed
again with NumPy.
"""
import os
import pathlib
import sys
import warnings

import numpy as np
import scipy.cluster.hierarchy
import scipy.spatial.distance
import scipy.stats
import sklearn.cluster
import sklearn.metrics

os.environ["LOOM_LIBRARY"] = sys.argv[1] if len(sys.argv) > 1 else "build/release/libloom.so"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bindings/python"))
import welvet  # noqa: E402

warnings.filterwarnings("ignore")
random = np.random.default_rng(11)


def close(a, b, bound=1e-9):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape, (a.shape, b.shape)
    scale = max(1.0, float(np.abs(b).max()) if b.size else 1.0)
    assert not b.size or np.abs(a - b).max() <= bound * scale, np.abs(a - b).max()


def rows(n, width):
    """Blobs of several sizes, some rows twice."""
    centers = random.normal(size=(5, width)) * random.uniform(0.5, 4)
    x = centers[random.integers(0, 5, n)] + random.normal(size=(n, width))
    x[random.integers(0, n, n // 10)] = x[0]
    return x


def check_k_means(x, clusters):
    start = x[random.choice(len(x), clusters, replace=False)].copy()
    tolerance = random.choice([0, 1e-4, 1e-2])
    if tolerance and random.random() < 0.3:  # else the last move is 0 or rounding
        start[-1] = 1e3  # loses all rows
    ours = welvet.cluster.k_means(x, start=start, tolerance=tolerance)
    theirs = sklearn.cluster.KMeans(clusters, init=start, n_init=1, tol=tolerance,
                                    algorithm="lloyd").fit(x)
    assert np.array_equal(ours.labels, theirs.labels_)
    close(ours.centers, theirs.cluster_centers_)
    close(ours.inertia, theirs.inertia_)
    assert ours.iterations == theirs.n_iter_, (ours.iterations, theirs.n_iter_)
    return ours.labels


def check_silhouettes(x, labels):
    for distance in ("euclidean", "cosine"):
        ours = welvet.cluster.silhouettes(x, labels, distance=distance)
        # scikit-learn takes distances from dot products, which cancel.
        close(ours, sklearn.metrics.silhouette_samples(x, labels, metric=distance), 1e-6)
        close(ours.mean(), sklearn.metrics.silhouette_score(x, labels, metric=distance), 1e-6)
    square = scipy.spatial.distance.squareform(scipy.spatial.distance.pdist(x, "cityblock"))
    close(welvet.cluster.silhouettes(square, labels, distance="precomputed"),
          sklearn.metrics.silhouette_samples(square, labels, metric="precomputed"))


def same_groups(a, b):
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))


def check_hierarchy(x, clusters):
    for linkage in ("single", "complete", "average", "ward"):
        for distance in ("euclidean", "cosine") if linkage != "ward" else ("euclidean",):
            ours = welvet.cluster.hierarchy(x, distance=distance, linkage=linkage)
            theirs = scipy.cluster.hierarchy.linkage(x, linkage, distance)
            close(ours[:, 2], theirs[:, 2], 1e-7)  # roots of differences near 0
            labels = welvet.cluster.cut(ours, clusters)
            assert len(set(labels)) == clusters
            if np.diff(theirs[:, 2]).min() > 1e-9:  # else merges have no one order
                close(ours, theirs, 1e-7)
                last = len(x) - clusters - 1  # the last merge that is done
                between = theirs[last:last + 2, 2].mean() if last >= 0 else theirs[0, 2] / 2
                assert same_groups(labels, scipy.cluster.hierarchy.fcluster(
                    theirs, between, "distance")), (linkage, distance)
                fitted = sklearn.cluster.AgglomerativeClustering(
                    clusters, linkage=linkage, affinity=distance).fit(x)
                assert same_groups(labels, fitted.labels_), (linkage, distance)
            at = float(np.median(ours[:, 2]))
            assert same_groups(welvet.cluster.cut(ours, distance=at),
                               scipy.cluster.hierarchy.fcluster(ours, at, "distance"))


def check_ensemble():
    members, samples, width = random.integers(2, 7), random.integers(1, 50), random.integers(2, 6)
    scores = random.normal(size=(members, samples, width)).astype(np.float32)
    classes = random.integers(0, width, samples)
    right = scores.argmax(axis=2) == classes
    for m in welvet.matches(right):
        a, b = right[m.first], right[m.second]
        close([m.coverage, m.overlap], [(a | b).mean(), (a & b).mean()])
        norm = np.sqrt(float(a.sum()) * float(b.sum()))
        close(m.cosine, (a & b).sum() / norm if norm else 0)
    assert len(welvet.matches(right)) == members * (members - 1) // 2


def check_correlations(x):
    close(welvet.correlation(x), np.atleast_2d(np.corrcoef(x.T)))
    if x.shape[1] > 2:
        close(welvet.correlation(np.round(x), "spearman"), scipy.stats.spearmanr(np.round(x))[0])
    expected = np.round(x)
    off = np.where(np.abs(expected) < 1e-10, np.abs(x - expected),
                   np.abs(x - expected) / np.maximum(np.abs(expected), 1e-300)) * 100
    of_rows, report = off.mean(axis=1), welvet.deviation(x, expected)
    close(report["mean"], of_rows.mean())
    close(report["score"], np.maximum(0, 100 - of_rows).mean())
    edges = [0, 10, 20, 30, 40, 50, 100, np.inf]
    assert [b["count"] for b in report["buckets"]] == list(np.histogram(of_rows, edges)[0])
    assert report["worst"][0]["sample"] == of_rows.argmax()


def main():
    cases = 0
    for n in (6, 17, 60, 200, 500):
        for width in (1, 2, 7, 30):
            for clusters in {2, 3, min(8, n - 1)}:
                x = rows(n, width)
                labels = check_k_means(x, clusters)
                if 1 < len(set(labels)) < n:
                    check_silhouettes(x, labels)
                if n <= 200:
                    check_hierarchy(x if width > 1 else rows(n, 2), clusters)
                check_ensemble()
                check_correlations(x)
                cases += 1
    print("%d cases equal scikit-learn %s, SciPy %s and NumPy"
          % (cases, sklearn.__version__, scipy.__version__))


main()
