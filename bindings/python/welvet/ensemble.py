"""Networks that answer together."""
from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._core.call import array, call
from .network import Network


class Match(NamedTuple):
    """Two members, first < second. Shares of samples: `coverage`, that one of them or both have
    right; `overlap`, that both have right. `cosine` of their lists of right answers."""

    first: int
    second: int
    coverage: float
    overlap: float
    cosine: float


def matches(correct: Any, min_coverage: float = 0.0) -> List[Match]:
    """Pairs of members that complete each other, by descending coverage, then ascending overlap.
    correct: (members, samples), whether each answer was right."""
    right = array(correct, np.int32, "correct")
    if right.ndim != 2:
        raise ValueError("correct: expects (members, samples), got the shape %s" % (right.shape,))
    found = call("ensemble_matches", right, right.shape[1], {"min_coverage": min_coverage})
    return [Match(**one) for one in found]


class Ensemble:
    """Networks of the same inputs and classes that answer together (docs/guide/ensembles.md).

    vote: "mean", the weighted mean of the members' scores, or "majority", the share of the weights
    whose member has its greatest score there. weights: one for each member; None: equal. softmax:
    scores are probabilities of the members' outputs; False where the outputs are such already.
    """

    def __init__(self, networks: Sequence[Network], *, vote: str = "mean",
                 weights: Optional[Sequence[float]] = None, softmax: bool = True) -> None:
        self.networks = list(networks)
        for i, network in enumerate(self.networks):
            if not isinstance(network, Network):
                raise TypeError("networks[%d]: expects a Network, got %s"
                                % (i, type(network).__name__))
        if not self.networks:
            raise ValueError("networks: expects at least one")
        widths = [network.info["output"]["width"] for network in self.networks]
        for i, network in enumerate(self.networks):
            if "parts" in network.info["output"] or len(network.info["output"].get("dims", ())) > 1:
                raise ValueError("networks[%d]: expects one output of a score for each class, got "
                                 "%s" % (i, network.info["output"]))
            if softmax and _ends_in_softmax(network):
                raise ValueError("networks[%d]: its outputs are probabilities: give softmax=False"
                                 % i)
        if min(widths) != max(widths) or widths[0] < 2:
            raise ValueError("networks: expects outputs of one width, at least 2 classes, got %s"
                             % widths)
        self.vote, self.softmax = vote, softmax
        self.weights = np.ones(len(widths)) if weights is None else array(
            weights, np.float64, "weights")
        self._call(np.zeros((len(widths), 1, widths[0]), np.float32))  # refuses what it would later

    def __repr__(self) -> str:
        return "<welvet.Ensemble members=%d, vote=%s>" % (len(self.networks), self.vote)

    def scores(self, x: Any) -> np.ndarray:
        """What the members say, (members, rows, classes)."""
        return np.stack([_scores(network, x, self.softmax) for network in self.networks])

    def _call(self, scores: np.ndarray) -> np.ndarray:
        members, rows, width = scores.shape
        y = np.empty((rows, width), np.float32)
        call("ensemble_vote", np.ascontiguousarray(scores), members, width, self.weights, self.vote,
             y)
        return y

    def __call__(self, x: Any) -> np.ndarray:
        """The vote, (rows, classes)."""
        return self._call(self.scores(x))

    def predict(self, x: Any) -> np.ndarray:
        """The class of each row with the greatest vote."""
        return self(x).argmax(axis=1)  # type: ignore[no-any-return]

    def accuracy(self, x: Any, classes: Any) -> float:
        """The share of rows whose class it predicts."""
        found = self.predict(x)
        return float(np.mean(found == _classes(classes, len(found))))

    def matches(self, x: Any, classes: Any, min_coverage: float = 0.0) -> List[Match]:
        """Pairs of members that complete each other on these samples: matches()."""
        found = self.scores(x).argmax(axis=2)
        return matches(found == _classes(classes, found.shape[1]), min_coverage)

    def merge(self) -> Network:
        """One network that answers as this ensemble does, up to rounding: whole copies of the
        members beside each other, whose outputs meet in the weighted mean. It runs, learns and is
        saved like any other. Raises ValueError for the vote "majority", which is no mean."""
        if self.vote != "mean":
            raise ValueError('merge: the vote "%s" is no mean of networks: make the ensemble with '
                             'vote="mean"' % self.vote)
        kept = [i for i, weight in enumerate(self.weights) if weight > 0]
        members = [self.networks[i] for i in kept]
        weights = self.weights[kept]
        equal = bool((weights == weights[0]).all())
        merged = Network.graft(members, combine="mean" if equal else "gated", softmax=self.softmax)
        if not equal:  # a gate that looks at nothing: softmax(log w) = w
            bias = [p.name for p in merged.parameters if p.name.endswith(":gate_bias")][-1]
            merged.set(bias, np.log(weights / weights.sum()).astype(np.float32)[None, :])
        return merged

    @classmethod
    def select(cls, networks: Sequence[Network], x: Any, classes: Any, *, steps: int = 20,
               softmax: bool = True) -> "Tuple[Ensemble, Selection]":
        """The ensemble of those members whose mean of scores has most of these classes right, on
        samples that they have not learned from: each step adds the member that helps most
        (Caruana et al., ICML 2004). Also returns what the choice was."""
        whole = cls(networks, softmax=softmax)
        scores = whole.scores(x)
        found = call("ensemble_select", scores, scores.shape[0], scores.shape[2],
                     array(classes, np.int32, "classes"), steps)
        weights = found["weights"]
        kept = [i for i, weight in enumerate(weights) if weight > 0]
        made = cls([whole.networks[i] for i in kept], weights=[weights[i] for i in kept],
                   softmax=softmax)
        return made, Selection(weights, found["accuracy"], found["best_member"])


class Selection(NamedTuple):
    """What Ensemble.select chose: the weight of every network that was given, the accuracy of
    their weighted mean on the samples, and that of the best one alone."""

    weights: List[float]
    accuracy: float
    best_member: float


def _classes(classes: Any, rows: int) -> np.ndarray:
    classes = array(classes, np.int32, "classes")
    if classes.shape != (rows,):
        raise ValueError("classes: expects one for each of %d rows, got the shape %s"
                         % (rows, classes.shape))
    return classes


def _ends_in_softmax(network: Network) -> bool:
    cells = network.topology["cells"]
    last = max(cells, key=lambda cell: cell["at"]) if cells else {}
    while last.get("layers") and last.get("type") == "sequential":
        last = last["layers"][-1]
    return last.get("type") == "softmax"


def _scores(network: Network, x: Any, softmax: bool) -> np.ndarray:
    y = np.asarray(network(x), np.float32)
    if not softmax:
        return y
    e = np.exp(y - y.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]
