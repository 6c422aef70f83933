"""Statistics of what the cells of a network hand on while it runs, and of gradients."""
from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Type, Union

from ._core.call import call
from .sinks import Sink

if TYPE_CHECKING:
    from .network import Session
    from .step_mesh import StepMesh
    from .training import Trainer

KEPT = 64  # passes whose events wait in the library until they are taken


class Observation(List[Dict[str, Any]]):
    """The events of a Session, StepMesh or Trainer, which grow with its runs, ticks or steps: a
    dict for each cell of an observed pass with path, at (z, y, x, l), type, enabled, mean, std,
    min, max (of the finite values; None where there are none), active_share (of |x| > 1e-6),
    nan_count, inf_count, count, first_bad ([row, column] of the first value that is not finite, or
    None), pass (from 0; of a window its last), passes (of the window) and direction: "forward"; of
    a Trainer also "backward", the gradient of the mean loss for what the cell gives, and "weights",
    that of the parameter `role`, and step, the number of the step from 1. Ends with its `with`
    block, or stop(). `total` are such events of all observed passes of a Session together."""

    def __init__(self, owner: "Union[Session, StepMesh, Trainer]", kind: str, every: int,
                 window: int, total: bool = False, sink: Union[Sink, Sequence[Sink]] = (),
                 **options: Any) -> None:
        super().__init__()
        sinks = (sink,) if isinstance(sink, Sink) else tuple(sink)
        for one in sinks:
            if not isinstance(one, Sink):
                raise TypeError("sink: expects a welvet.sinks.Sink, got " + type(one).__name__)
        if every < 1:
            raise ValueError("every: expects at least 1, got %r" % (every,))
        if total:
            options["total"] = True
        call(kind + "_observe", owner._handle, {"every": every, "window": window, **options})
        self._owner: "Union[Session, StepMesh, Trainer, None]" = owner
        self._kind = kind
        # The next event exists after as many runs more, at the earliest; asking costs 30 us.
        self._due = (window - 1) * every + 1
        self._between, self._window = window * every, window
        self._passes = self._observed = self._dropped = 0
        self._total: Optional[List[Dict[str, Any]]] = [] if total else None
        self._sinks = sinks
        self._began = time.perf_counter_ns()
        self._times: Optional[List[int]] = None  # of the passes since the last event
        for one in self._sinks:
            one.begin(owner._network.blueprint())  # type: ignore[union-attr]

    @property
    def passes(self) -> int:
        """Runs, ticks or steps since it began."""
        self._take()
        return self._passes

    @property
    def observed(self) -> int:
        """Those of them that were observed."""
        self._take()
        return self._observed

    @property
    def total(self) -> List[Dict[str, Any]]:
        """An event for each cell, of the values of all observed passes together; its first_bad_pass
        is the pass of first_bad, or None. Raises ValueError unless observe() got total=True."""
        if self._total is None:
            raise ValueError("total: observe(total=True) keeps it")
        self._take()
        return self._total

    @property
    def dropped(self) -> int:
        """Events of a run of more ticks than are kept, the first ones, which are not here."""
        self._take()
        return self._dropped

    def _begins(self) -> None:
        if self._times is None:
            self._times = [time.perf_counter_ns() - self._began]

    def _ran(self, passes: int = 1) -> None:
        self._due -= passes
        if self._due <= 0:
            before = len(self)
            self._take()
            self._due = self._between if len(self) > before else 1
        if self._window == 1:
            self._times = None

    def _take(self) -> None:
        """What the library has kept so far."""
        if self._owner is None:
            return
        seen = call(self._kind + "_statistics", self._owner._handle)
        self._passes, self._observed = seen["passes"], seen["observed"]
        self._dropped = seen["dropped"]
        self._total = seen.get("total")
        self.extend(seen["events"])
        if not seen["events"]:
            return
        now = time.perf_counter_ns() - self._began
        times = {"t0_ns": now if self._times is None else self._times[0], "t1_ns": now}
        self._times = None
        for event in seen["events"]:
            for sink in self._sinks:
                sink.add({**event, **times})

    def stop(self) -> None:
        """Ends observation; a window that is not full becomes an event."""
        owner = self._owner
        if owner is None:
            return
        if owner._seen is self:
            call(self._kind + "_observe", owner._handle, {"every": 0})
            owner._seen = None
            try:
                self._take()
            finally:  # where a sink refuses an event, too
                self._owner = None
        self._owner = None
        for sink in self._sinks:
            sink.flush()

    def __enter__(self) -> "Observation":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.stop()
