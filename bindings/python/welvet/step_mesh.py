"""Networks that run by ticks."""
from __future__ import annotations

import operator
from typing import Any, Dict, Optional, Sequence, Tuple, Union, overload

import numpy as np

from ._core.call import array, call, library, new_bytes, place, plain
from ._core.errors import InvalidArgument
from ._core.object import Runner, cell_name
from .network import Network
from .observe import KEPT, Observation
from .sinks import Sink


def _whole(value: Any, name: str) -> int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError("%s: expects a whole number, got %r" % (name, value)) from None


class StepMesh(Runner):
    """Runs a network by ticks (docs/reference/step-mesh.md): in each, every cell computes at once,
    from the values of the tick before. Values begin at 0, and stay between the runs. `streams` run
    side by side, each for itself. Where the network changes, the mesh follows, and keeps its values
    if they fit. Ctrl-C ends a run, as cancel() does from another thread: the mesh is then as after
    `tick`, the last tick that it has done. One thread at a time (Busy otherwise).

    Options: those of step_mesh_create in docs/reference/options.md. Raises Unsupported, by the
    layer's name, where one looks at other rows.
    """

    _instead = "pickle the network and the snapshot(), and restore() that in a mesh of the network"
    _cells: Optional[Dict[str, int]] = None  # their widths
    _seen: Optional[Observation] = None
    _nothing = ("step_mesh_run", 0, (), np.empty(0, np.float32))

    def __init__(self, network: Network, streams: int = 1, *, device: Optional[str] = None,
                 **options: Any) -> None:
        if not isinstance(network, Network):
            raise TypeError("network: expects a Network, got " + type(network).__name__)
        self._network = network
        if device is not None:
            options["device"] = device
        options["streams"] = _whole(streams, "streams")
        self._own(call("step_mesh_create", network._handle, options))
        info = self.info
        self.streams: int = info["streams"]
        # The network's info describes every cell, which takes longer than ticks.
        self._dims = tuple(network.info["input"].get("dims", ()))
        self._in_place = info["numerics"].startswith("custom(")

    @property
    def info(self) -> Dict[str, Any]:
        """streams, tick, cells, input_width, input_dtype (f32, f64, ids), output_width,
        output_dtype, target (what computes), device, note, numerics, threads."""
        return call("step_mesh_info", self._handle)  # type: ignore[no-any-return]

    def _describe(self) -> str:
        return "streams=%d, tick=%d" % (self.streams, self.tick)

    @property
    def tick(self) -> int:
        """Ticks since the values were 0."""
        return int(self.info["tick"])

    def _rows(self, x: Any, kind: Any, about: Dict[str, Any], before: Sequence[str],
              ) -> Tuple[np.ndarray, Tuple[int, ...]]:
        """x in one row, and its shape without the values of a tick. `before`: what that shape
        counts, streams first; a single stream may be left out."""
        x = array(x, kind, "x")
        dims = self._dims
        width = about["input_width"]
        flat = () if about["input_dtype"] == "ids" and not dims else (width,)
        for shape in (dims, flat) if dims else (flat,):
            lead = x.shape[:x.ndim - len(shape)]
            if len(shape) > x.ndim or x.shape[x.ndim - len(shape):] != shape:
                continue
            if len(lead) == len(before) and lead[0] == self.streams:
                return x.reshape(-1), lead
            if len(lead) == len(before) - 1 and self.streams == 1:
                return x.reshape(-1), lead
        names = [str(self.streams), *before[1:], *map(str, dims or flat)]
        wanted = "(%s)" % ", ".join(names)
        if self.streams == 1:
            wanted = "(%s%s) or %s" % (", ".join(names[1:]), "," if len(names) == 2 else "", wanted)
        raise ValueError("x: expects the shape %s, got the shape %s" % (wanted, x.shape))

    def _take(self, x: Any, ticks: Optional[int], before: Sequence[str], last: bool,
              out: Any, budget_us: Optional[int] = None) -> Any:
        about = self.info
        ids = about["input_dtype"] == "ids"
        given = x if ids else plain(x, "x")
        wide = about["input_dtype"] == "f64" and given.dtype == np.float64
        kind = np.float64 if wide else np.float32
        values, lead = self._rows(given, np.int32 if ids else kind, about, before)
        count = lead[-1] if ticks is None else ticks
        shape = lead[:len(lead) - (ticks is None)] + (() if last else (count,))
        y = place(out, kind, shape + (about["output_width"],))
        name = "step_mesh_run_" + ("ids" if ids else "f64") if ids or wide else "step_mesh_run"
        if self._seen is not None:
            self._seen._begins()
        try:
            if not self._within(budget_us, name, count, values, y.reshape(-1), size=max(1, count)):
                return None
            if self._seen is not None:
                self._seen._ran(count)
        except InvalidArgument:
            if not wide or self.info["input_dtype"] == "f64":
                raise
            # A change of the network has given its cells another type.
            return self._take(given.astype(np.float32), ticks, before, last, out, budget_us)
        return y if out is None else out

    @overload
    def run(self, x: Any, ticks: Optional[int] = None, *, last: bool = False,
            out: Any = None) -> np.ndarray: ...
    @overload
    def run(self, x: Any, ticks: Optional[int] = None, *, last: bool = False,
            out: Any = None, budget_us: int) -> Optional[np.ndarray]: ...

    def run(self, x: Any, ticks: Optional[int] = None, *, last: bool = False, out: Any = None,
            budget_us: Optional[int] = None) -> Optional[np.ndarray]:
        """Runs ticks: x is (streams, ticks, input width), or with a single stream (ticks, input
        width); the result has the same shape with the output width, float32, and `out` takes it
        where given. With `ticks`, x is what arrives at each of them: (streams, input width), or
        (input width,) with a single stream. `last`: the result is that of the last tick alone,
        without the dimension of ticks. float64 goes in and comes out as it is where x has that type
        and the network takes it; ids are whole numbers, of which a tick may be one without a
        dimension. `budget_us`: returns None after about this many microseconds where it is not
        done, and the same call again continues, with the same bits; meanwhile `tick` and value()
        show the last tick that is done, and another run continues from it. Raises ValueError for
        another shape."""
        if ticks is not None:
            ticks = _whole(ticks, "ticks")
            if ticks < 1:
                raise ValueError("ticks: expects at least 1, got %d" % ticks)
        before = ("streams", "ticks") if ticks is None else ("streams",)
        return self._take(x, ticks, before, last, out, budget_us)  # type: ignore[no-any-return]

    @overload
    def step(self, x: Any, out: Any = None) -> np.ndarray: ...
    @overload
    def step(self, x: Any, out: Any = None, *, budget_us: int) -> Optional[np.ndarray]: ...

    def step(self, x: Any, out: Any = None, *,
             budget_us: Optional[int] = None) -> Optional[np.ndarray]:
        """Runs one tick: x is (streams, input width), or (input width,) with a single stream; the
        result has the same shape with the output width. `budget_us`: as of run()."""
        return self._take(x, 1, ("streams",), True, out,  # type: ignore[no-any-return]
                          budget_us)

    SystolicForward = step  # the name of the project's earlier documents

    def value(self, cell: Union[int, str, Sequence[int]], stream: int = 0) -> np.ndarray:
        """The values of a cell after the last tick, float64: as many as its output has. `cell`: its
        number in the order of the grid, or its coordinate, "z.y.x.l" or (z, y, x, l). Raises
        IndexError."""
        try:
            return self._value(cell, _whole(stream, "stream"))
        except InvalidArgument:  # the network may have changed
            self._cells = None
            return self._value(cell, _whole(stream, "stream"))

    def _value(self, cell: Any, stream: int) -> np.ndarray:
        if self._cells is None:
            self._cells = {one["path"]: one["width"]
                           for one in call("step_mesh_cells", self._handle)}
        if isinstance(cell, (int, np.integer)) and not isinstance(cell, bool):
            if not 0 <= cell < len(self._cells):
                raise IndexError("cell: expects 0 to %d, got %d" % (len(self._cells) - 1, cell))
            name = list(self._cells)[cell]
        elif isinstance(cell, (str, tuple, list)):
            name = cell_name(cell)
        else:
            raise TypeError('cell: expects a number, "z.y.x.l" or four numbers, got %r' % (cell,))
        y = np.empty(self._cells.get(name, 0))
        call("step_mesh_value", self._handle, name, stream, y)
        return y

    def observe(self, every: int = 1, passes: int = 0, window: int = 1,
                keep: int = KEPT, sink: Union[Sink, Sequence[Sink]] = ()) -> Observation:
        """Statistics of what every cell gives to all streams, from the next tick on
        (docs/guide/observe.md): a list that grows with each run, to be used in a `with` block, at
        whose end observation ends. `every`: ticks 0, every, 2 * every, ... from here on are
        observed; `passes`: at most this many of them (0: all); `window`: observed ticks that become
        one event per cell; `keep`: the last ticks of a run whose events are kept, with room for all
        cells; its `dropped` counts those of the ones before; `sink`: as of Session.observe. All
        values keep their bits. A second observation ends the first."""
        before = self._seen
        if before is not None:
            before._owner = self._seen = None
        self._seen = Observation(self, "step_mesh", every, window, sink=sink, passes=passes,
                                 keep=keep)
        return self._seen

    def reset(self) -> None:
        """All values are 0 again, at tick 0."""
        call("step_mesh_reset", self._handle)

    def save_program(self, ticks: int = 1) -> bytes:
        """The program of a number of ticks, which welvet.Program runs: its input "x" has a row of
        ticks x input width for each stream, its output "y" likewise, and its states are the values
        of the cells."""
        return library().take(call("step_mesh_save_program", self._handle, ticks))

    def snapshot(self) -> bytes:
        """The values of all cells, and the tick."""
        return library().take(call("step_mesh_snapshot", self._handle))

    def restore(self, snapshot: Any) -> None:
        """Continues from a snapshot, with the same bits: of a mesh with as many streams, whose
        cells have as many values (InvalidArgument otherwise; Corrupt where the bytes are none)."""
        try:
            handle = new_bytes(snapshot)
        except TypeError:
            raise TypeError("snapshot: expects bytes, got " + type(snapshot).__name__) from None
        try:
            call("step_mesh_restore", self._handle, handle)
        finally:
            call("release", handle)
