"""Encoder-decoders, step by step."""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional

import numpy as np

from ._core.call import array, call, seed_of
from ._core.object import Runner
from ._core.rows import rows_of
from .network import Network


class Found(NamedTuple):
    """A sequence of Seq2Seq.search: `ids` behind `start`, the one that ends it included; `score`,
    the logarithm of their probability; `finished`: by `end`."""

    ids: List[int]
    score: float
    finished: bool


class Seq2Seq(Runner):
    """Runs an encoder-decoder as it is used: what depends on its other inputs alone runs once
    (encode), and the input `target`, [steps] ids or [steps, features], comes step by step (step),
    each continuing from the caches and states of those before. Answers are those of the network for
    whole rows. Ctrl-C ends a run, as cancel() does from another thread; encode is then due again.
    One thread at a time (Busy otherwise). Where the network changes, encode is due again.

    Options: those of seq2seq_create in docs/reference/options.md; without `lanes` there are as many
    as are used. Raises Unsupported, by the layer's name, where one needs all steps at once.
    """

    _told: Optional[Dict[str, Any]] = None  # info, when encode or reorder had run
    _instead = "pickle the network, and make a Seq2Seq of it"
    _nothing = ("seq2seq_step", (), np.empty(0))

    def __init__(self, network: Network, target: str, *, lanes: Optional[int] = None,
                 **options: Any) -> None:
        self._network = network
        self._grows = lanes is None
        self._options = {"target": target, "lanes": 1 if lanes is None else lanes, **options}
        self._own(call("seq2seq_create", network._handle, self._options))
        self._in_place = self.info["numerics"].startswith("custom(")

    @property
    def info(self) -> Dict[str, Any]:
        """sources: inputs that encode takes, target, answer_width, lanes, rows, position,
        max_positions, device, numerics, threads, state_bytes."""
        return call("seq2seq_info", self._handle)  # type: ignore[no-any-return]

    def _sources(self, x: Any, named: Dict[str, Any], beams: int) -> np.ndarray:
        """Rows of sources, with lanes for so many beams of each."""
        if named:
            if x is not None:
                raise TypeError("sources come in one object or by their names, not as both")
            x = named
        given = self.info["sources"]
        if not isinstance(x, (dict, tuple)) and len(given) == 1:
            x = {given[0]["name"]: x}
        # A single sequence of a source that it is one of: its row.
        rows, _ = rows_of(x, {"parts": given, "dtype": "f64"}, "x")
        self._room(len(rows) * beams)
        return rows

    def _room(self, lanes: int) -> None:
        if not self._grows or lanes <= self._options["lanes"]:
            return
        made = call("seq2seq_create", self._network._handle, {**self._options, "lanes": lanes})
        self.close()
        self._options["lanes"] = lanes
        self._own(made)

    def encode(self, x: Any = None, **sources: Any) -> None:
        """Begins anew with these sources, of which each row is one: arrays by the names of the
        inputs, as Network.forward takes them, but for the target and its lengths. Lists of unequal
        arrays are padded."""
        rows = self._sources(x, sources, 1)
        self._run("seq2seq_encode", len(rows), rows, size=len(rows))
        self._told = self.info

    def step(self, target: Any) -> np.ndarray:
        """The next step of all rows: (rows,) ids, or (rows, features). Gives (rows, answer width),
        float32, or float64 of a network whose cells compute in f64. Raises InvalidArgument before
        encode, OutOfRange behind the last position."""
        info = self._told or self.info
        ids = "ids" in info["target"]
        values = array(target, np.int32 if ids else np.float64, "target").astype(np.float64)
        shape = (info["rows"],) if ids else (info["rows"], info["target"]["width"])
        if info["rows"] and values.shape != shape:
            raise ValueError("target: expects the shape %s, got the shape %s"
                             % (shape, values.shape))
        y = np.empty((info["rows"], info["answer_width"]))
        self._run("seq2seq_step", values.reshape(-1), y, size=len(y))
        return y if self._network._takes_f64() else y.astype(np.float32)

    def reorder(self, rows: Any) -> None:
        """Row i continues from where row rows[i] was, as beams do; there are len(rows) rows then.
        Without `lanes` they are at most as many as encode or search has had."""
        call("seq2seq_reorder", self._handle, array(rows, np.int32, "rows"))
        self._told = self.info

    def search(self, x: Any = None, *, start: Any, end: int = -1, max_tokens: int = 0,
               beams: int = 1, seed: int = 0, **options: Any) -> List[List[Found]]:
        """Sequences of ids for each row of the sources `x` (a dict by name, or the array of a
        single source), the best first, as many as there are beams. `start`: the id, or ids, that
        every sequence begins with; `end`: the id that ends one. One beam takes the most probable
        next id, or draws with a `temperature` (top_k, top_p, min_p, seed); several follow the most
        probable sequences, compared with a `length_penalty`. Options: those of seq2seq_search in
        docs/reference/options.md. Answers are logits, or what a softmax or log_softmax at the
        network's end makes of them."""
        first = [start] if np.ndim(start) == 0 else list(start)
        if any(isinstance(id, (bool, np.bool_)) for id in first):
            raise TypeError("start: expects ids, got %r" % (start,))
        first = [int(id) for id in array(first, np.int32, "start")]
        if not isinstance(beams, (int, np.integer)) or isinstance(beams, bool):
            raise TypeError("beams: expects an integer, got %r" % (beams,))
        rows = self._sources(x, {}, max(1, int(beams)))
        self._told = None
        found = self._run("seq2seq_search", len(rows), rows,
                          {"start": first, "end": end, "max_tokens": max_tokens,
                           "beams": int(beams), "seed": seed_of(seed), **options}, size=len(rows))
        return [[Found(**one) for one in row] for row in found]

    def generate(self, x: Any = None, **options: Any) -> List[List[int]]:
        """The ids of the best sequence of search for each row."""
        return [row[0].ids if row else [] for row in self.search(x, **options)]
