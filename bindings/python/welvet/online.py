"""Networks that learn while they answer."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple, Union

import numpy as np

from ._core.call import array, call, place
from ._core.object import Runner
from ._core.rows import rows_of
from .network import Network

if TYPE_CHECKING:
    from .training import Data

_Named = Union[str, Dict[str, Any], None]


class Online(Runner):
    """Learns a copy of a network while it answers, in one thread (docs/guide/online.md). answer()
    takes the published weights; learn() trains a copy of them for as long as it is told, and
    publishes what it has learned between two answers. Made by Network.online, which says what it
    takes. One thread at a time (Busy otherwise)."""

    _instead = "commit() what was learned, and pickle the network"
    _nothing = ("online_learn", 0, 1)

    def __init__(self, network: Network, spec: Optional[Dict[str, Any]] = None, *,
                 device: Optional[str] = None, **options: Any) -> None:
        """spec: a training spec as a dict. options: docs/reference/options.md, online_create."""
        if not isinstance(network, Network):
            raise TypeError("network: expects a Network, got " + type(network).__name__)
        if device is not None:
            options["device"] = device
        self.network = network
        self._own(call("online_create", network._handle, spec or {}, options))
        info = self.info
        self._input = network.info["input"]
        self._classes, self._places = info.get("classes"), info.get("places", 1)
        self._ids, self._outputs = info["input_dtype"] == "ids", info["output_width"]
        self._last: Tuple[int, int] = (0, 0)  # the answers of the last call
        self._in_place = info["numerics"].startswith("custom(")

    @property
    def info(self) -> Dict[str, Any]:
        """Where it stands: task, tasks, outputs, judged, correct, accuracy, steps, in_step, loss,
        lr, publications, published_step, recent, older; its form and its machine."""
        return call("online_info", self._handle)  # type: ignore[no-any-return]

    @property
    def report(self) -> Dict[str, Any]:
        """Accuracy by window and by task, recovery, forgetting, latency: keys of
        docs/reference/online.md."""
        return call("online_report", self._handle)  # type: ignore[no-any-return]

    def _describe(self) -> str:
        info = self.info
        return "task=%r, outputs=%d, steps=%d" % (info["task"], info["outputs"], info["steps"])

    @property
    def last(self) -> int:
        """Number of the first answer of the last call of answer()."""
        return self._last[0]

    def answer(self, x: Any, out: Any = None) -> np.ndarray:
        """The output for a row, (output width,), or for rows, (rows, output width), at once, by the
        published weights; `out` takes it where given. x: (width,) or with the dimensions of the
        network's input, or rows of those."""
        values, lead = rows_of(x, self._input)
        if len(lead) > 1:
            raise ValueError("x: expects a row or rows, got the dimensions %s before them"
                             % (lead,))
        values = np.ascontiguousarray(values, np.int32 if self._ids else np.float32)
        y = place(out, np.float32, lead + (self._outputs,))
        name = "online_answer_ids" if self._ids else "online_answer"
        first = call(name, self._handle, values.reshape(-1), y.reshape(-1))
        self._last = (int(first), len(values))
        return y if out is None else out  # type: ignore[no-any-return]

    def feedback(self, y: Any, answer: Optional[int] = None) -> None:
        """What would have been right: for the answers of the last call of answer(), or for those
        from number `answer` (see last) on. Classes, whole numbers, with the loss cross_entropy;
        else values as the output has them. They are judged, and become samples to learn from.
        Raises NotFound for an answer that has its feedback, or that is no longer kept."""
        first, rows = self._last if answer is None else (answer, None)
        width = self._places if self._classes else self._outputs
        targets = array(y, np.int32 if self._classes else np.float32, "y").reshape(-1)
        if rows is not None and targets.size != rows * width:
            raise ValueError("y: expects %d for each of %d answers, got %d"
                             % (width, rows, targets.size))
        call("online_feedback_classes" if self._classes else "online_feedback", self._handle, first,
             targets)

    def add(self, x: Any, y: Any = None) -> None:
        """Samples to learn from that were not answered: arrays, or a Data object without y."""
        data = self._data(x, y)
        call("online_add", self._handle, data._handle)

    def _data(self, x: Any, y: Any) -> "Data":
        from .training import Data

        if isinstance(x, Data):
            if y is not None:
                raise TypeError("y: Data objects have theirs")
            return x
        if y is None:
            raise TypeError("y: expects classes or values for x, or x as a Data object")
        rows = rows_of(x, self._input, to_learn=True)[0]
        if self._ids:
            return Data.ids(rows, classes=y) if self._classes else Data.ids(rows, y)
        return Data.classes(rows, y) if self._classes else Data.values(rows, y)

    def change_task(self, name: str) -> None:
        """Says that the task is another one from now on. Changes that nobody says are detected."""
        call("online_task", self._handle, name)

    def learn(self, seconds: Optional[float] = None, steps: Optional[int] = None) -> int:
        """Learns for as many seconds, or until as many steps are complete, and publishes what it
        has learned; returns the steps that this call has completed. A step that the time does not
        suffice for goes on in the next call. With `steps` alone the result does not depend on time.
        """
        if seconds is None and steps is None:
            raise TypeError("learn: expects seconds or steps")
        if seconds is not None and not seconds >= 0:
            raise ValueError("seconds: expects at least 0, got %r" % (seconds,))
        if steps is not None and steps < 1:
            raise ValueError("steps: expects at least 1, got %r" % (steps,))
        microseconds = -1 if seconds is None else int(min(seconds * 1e6, 2.0**52))
        if seconds is not None and seconds < 0.02:
            return int(call("online_learn", self._handle, microseconds, steps or 0))
        return int(self._run("online_learn", microseconds, steps or 0, size=steps or 1))

    def publish(self) -> None:
        """Answers have the weights of the last complete step from now on."""
        call("online_publish", self._handle)

    def measure(self, x: Any, y: Any = None, task: Optional[str] = None) -> float:
        """The share of held samples that the published weights answer correctly: arrays, or a Data
        object without y. The report keeps it under `task`, the present one where none is given, for
        forgetting."""
        data = self._data(x, y)
        name = self.info["task"] if task is None else task
        return float(call("online_measure", self._handle, data._handle, name))

    def commit(self) -> None:
        """The network has the published weights from now on."""
        call("online_commit", self._handle)


def spec_of(spec: Optional[Dict[str, Any]], named: Dict[str, Any]) -> Dict[str, Any]:
    """A training spec with what its keywords say."""
    merged = dict(spec or {})
    lr = named.pop("lr")
    for key, value in named.items():
        if value is not None:
            merged[key] = ({"type": value} if key != "loss" and key != "method"
                           and isinstance(value, str) else value)
    if lr is not None:
        merged["schedule"] = {**merged.get("schedule", {"type": "constant"}), "lr": lr}
    return merged
