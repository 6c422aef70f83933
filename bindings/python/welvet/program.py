"""Saved programs."""
from __future__ import annotations

from typing import Any, Dict, Optional

import numpy as np

from ._core.call import array, call, new_bytes
from ._core.object import Runner
from .network import Network


class Program(Runner):
    """A saved program with the weights of a network (docs/reference/program.md): what
    Network.save_program or StepMesh.save_program wrote, here or on another machine. `network` has
    every weight that the program names, in its format; changes of its values count from the next
    run on. Called with the inputs by name, it runs and returns the outputs:
    `program(x=rows)["y"]`. Ctrl-C ends a run, as cancel() does from another thread.
    One thread at a time (Busy otherwise).

    Options: those of program_create in docs/reference/options.md. Raises Corrupt where the bytes
    are no program, and InvalidArgument where a weight does not fit.
    """

    _instead = "pickle the network and the bytes of the program"
    _nothing = ("program_set", "", np.empty(0))

    def __init__(self, network: Network, program: Any, *, device: Optional[str] = None,
                 **options: Any) -> None:
        if not isinstance(network, Network):
            raise TypeError("network: expects a Network, got " + type(network).__name__)
        if device is not None:
            options["device"] = device
        try:
            handle = new_bytes(program)
        except TypeError:
            raise TypeError("program: expects bytes, got " + type(program).__name__) from None
        try:
            self._own(call("program_create", network._handle, handle, options))
        finally:
            call("release", handle)

    @property
    def info(self) -> Dict[str, Any]:
        """sha256, instructions, registers (name, type, max, value), buffers (name, kind, type,
        rows, max_rows, cols, of_row), target (what computes), device, note, numerics, threads."""
        return call("program_info", self._handle)  # type: ignore[no-any-return]

    @property
    def text(self) -> str:
        """A line per register, buffer and instruction."""
        return call("program_text", self._handle)  # type: ignore[no-any-return]

    def _describe(self) -> str:
        info = self.info
        return "instructions=%d, sha256=%s" % (info["instructions"], info["sha256"][:8])

    def _buffer(self, name: str, kind: str) -> Dict[str, Any]:
        found = [b for b in self.info["buffers"] if b["kind"] in (kind, "state")]
        for buffer in found:
            if buffer["name"] == name:
                return buffer  # type: ignore[no-any-return]
        raise KeyError("%s: the program has %s" % (name, ", ".join(b["name"] for b in found)))

    def set(self, **registers: float) -> None:
        """Sets registers by their names: program.set(R=3)."""
        for name, value in registers.items():
            call("program_set", self._handle, name, np.array([value], np.float64))

    def write(self, name: str, values: Any) -> None:
        """All values of an input or state: (rows, cols), or (rows, ...) with as many values in a
        row, of which an input may have any number. An input whose rows one register counts sets
        that register. Raises ValueError for another shape."""
        buffer = self._buffer(name, "input")
        ids = buffer["type"] in ("u32", "i32")
        kind = np.int32 if ids else np.float64 if buffer["type"] == "f64" else np.float32
        flat, of_row, cols = array(values, kind, name), buffer["of_row"], buffer["cols"]
        # Values are not put into other rows than those of the array.
        row = int(np.prod(flat.shape[1:])) if flat.ndim > 1 else \
            flat.size if flat.size == of_row else 1
        if row not in (of_row, cols):
            raise ValueError("%s: expects rows of %d values, got the shape %s"
                             % (name, of_row, flat.shape))
        suffix = "_ids" if ids else "_f64" if kind is np.float64 else ""
        call("program_write" + suffix, self._handle, name, flat.reshape(-1))

    def read(self, name: str) -> np.ndarray:
        """All values of an output or state, (rows, cols)."""
        buffer = self._buffer(name, "output")
        wide = buffer["type"] != "f32"
        y = np.empty((buffer["rows"], buffer["cols"]), np.float64 if wide else np.float32)
        call("program_read" + ("_f64" if wide else ""), self._handle, name, y.reshape(-1))
        return y

    def run(self) -> None:
        """Runs the program once. Every register must have been set, and every input written."""
        self._run("program_run", size=self.info["instructions"])

    def __call__(self, **inputs: Any) -> Dict[str, np.ndarray]:
        """Writes inputs, which stay until they are written again, runs, and returns all outputs by
        name."""
        for name, values in inputs.items():
            self.write(name, values)
        self.run()
        return {b["name"]: self.read(b["name"]) for b in self.info["buffers"]
                if b["kind"] == "output"}

    def reset(self) -> None:
        """All states are 0 again."""
        call("program_reset", self._handle)
