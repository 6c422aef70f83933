"""Trained networks over raw data: what `loom predict`, `accuracy` and `plan` do, in Python."""
from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Sequence

from ._core.call import call, interruptible
from ._core.object import Runner
from .network import Path

_ROWS = 256  # of a call: Ctrl-C is seen between them


class Predictor(Runner):
    """A network that was trained from files, over data as it learned them: a table (CSV), arrays,
    images, texts, a time series. One thread at a time.

        welvet.Predictor("fruit.entity").predict("table.csv")

    `network`: an .entity file. Options are threads, isa, device and mode
    (docs/reference/options.md, predictor_open). Networks of specs and programs take values as they
    are: an array (.npy, idx) or a table of numbers, and answer as Network.inputs says."""

    _nothing = ("predictor_info",)
    notes: List[str]  # what was left out of the data that were read last, line by line

    def __init__(self, network: Path, **options: Any) -> None:
        self.notes = []
        self._own(interruptible(lambda: call("predictor_open", os.fspath(network), options)))

    def info(self) -> Dict[str, Any]:
        """raw, series, classes, labels, inputs, outputs, bytes (of the weights) and what
        computes."""
        return call("predictor_info", self._handle)  # type: ignore[no-any-return]

    def predict(self, data: Path) -> List[Dict[str, Any]]:
        """The answer to each row of the data, a path, in their order: {row, class, probability,
        probabilities}, {row, class, scores} without probabilities, or {row, values} in the unit of
        the target, None where one is not finite; with `file` where each row is one. Targets may be
        there, and are not looked at. Raises what the readers of the data raise: NotFound,
        InvalidArgument, Corrupt."""
        self._read(data)
        answers: List[Dict[str, Any]] = []
        while True:
            more = self._run("predictor_next", _ROWS, size=_ROWS)
            if not more:
                return answers
            answers += more

    def forecast(self, horizon: int = 12, data: Optional[Path] = None) -> List[Dict[str, Any]]:
        """The next `horizon` steps of a time series, after the table of training or after `data`, a
        table that goes on: {date, forecast, low80, high80, low95, high95, measured}, where 80 and
        95 of 100 values lie within the intervals. Raises Unsupported for other networks."""
        path = "" if data is None else os.fspath(data)
        answer = self._run("predictor_forecast", path, horizon, size=horizon)
        self.notes = answer["notes"]
        return answer["forecasts"]  # type: ignore[no-any-return]

    def measure(self, data: Optional[Path] = None) -> Dict[str, Any]:
        """Judges the answers by the targets of the data (None: those that were read last): rows,
        loss (cross-entropy in nats, or the mean squared error), accuracy (0 to 1) and confusion, or
        mae, rmse and r2; text, and the bytes of the weights. Raises InvalidArgument where no row
        has a target."""
        self._read(data)
        return self._run("predictor_measure")  # type: ignore[no-any-return]

    def morph(self, format: str) -> None:
        """Stores and multiplies all matrices in another format: "i8", "i4:row", "q4_0"
        (docs/reference/dtypes.md)."""
        call("predictor_morph", self._handle, format)

    def plan(self, data: Optional[Path] = None, *, bytes: float = 0, ms: float = 0,
             loss: float = 0, formats: Sequence[str] = (), rows: int = 512,
             seed: int = 0) -> Dict[str, Any]:
        """Chooses a format for each matrix by the targets of the data (None: those that were read
        last), and gives the network the plan, which save() writes. One limit: the least loss within
        `bytes` of weights, or of what runs 64 rows in `ms` milliseconds here, or the fewest bytes
        with at most this `loss`; without one, f32. `formats` are the candidates, `rows` as many as
        losses are measured on. Returns rows, seed, measured, plan (with a limit) and a table by
        formats. Raises OutOfRange where no formats meet the limit."""
        self._read(data)
        options = {"bytes": bytes, "ms": ms, "loss": loss, "formats": list(formats), "rows": rows,
                   "seed": seed}
        return self._run("predictor_plan", options)  # type: ignore[no-any-return]

    def save(self, path: Path) -> None:
        """Writes the network in the formats it has now, an .entity file for Predictor."""
        call("predictor_save", self._handle, os.fspath(path))

    def _read(self, data: Optional[Path]) -> None:
        if data is None:
            return
        path = os.fspath(data)
        self.notes = interruptible(lambda: call("predictor_read", self._handle, path))["notes"]
