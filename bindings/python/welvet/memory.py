"""Memory of this process over time."""
from __future__ import annotations

import json
import os
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Type, Union

from ._core.call import call

if TYPE_CHECKING:
    from .network import Network, Session


class MemoryHistory:
    """Samples of the memory that this process holds now, not its peak: one every `every` seconds in
    a thread (None: none), and one for each call of sample(), in a `with` block.

    `samples` are dicts, the keys of `loom train --memory`: elapsed_sec, label,
    host_weights_bytes (of `network`, or of that of `session`), gpu_weights_bytes and gpu_kv_bytes
    (of a `session` on a device), accelerator_bytes and resident_bytes; None where not known.
    `resident_bytes`: what the process holds now."""

    def __init__(self, every: Optional[float] = 0.1, network: Optional["Network"] = None,
                 session: Optional["Session"] = None) -> None:
        if every is not None and not every > 0:
            raise ValueError("every: expects seconds above 0 or None, got %r" % (every,))
        self.samples: List[Dict[str, Any]] = []
        self._every, self._label = every, ""
        self._network = network if network is not None or session is None else session._network
        self._session = session
        self._began = time.perf_counter()
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread: Optional[threading.Thread] = None
        self._parts: Dict[str, Optional[int]] = {}

    @property
    def resident_bytes(self) -> Optional[int]:
        return call("audit", {"device": "cpu"})["memory"]["resident"]  # type: ignore[no-any-return]

    def _take(self) -> None:
        self.samples.append({
            "elapsed_sec": time.perf_counter() - self._began, "label": self._label,
            "host_weights_bytes": self._parts.get("host"),
            "gpu_weights_bytes": self._parts.get("weights"), "gpu_kv_bytes": self._parts.get("kv"),
            "accelerator_bytes": None, "resident_bytes": self.resident_bytes})

    def sample(self, label: str = "") -> Dict[str, Any]:
        """A sample now, which it returns. The label stands with those that follow, too, until the
        next one."""
        parts: Dict[str, Optional[int]] = {}
        if self._network is not None:
            parts["host"] = self._network.info["weight_bytes"]
        if self._session is not None:
            info = self._session.info
            if info["device"] is not None:
                parts["weights"], parts["kv"] = info["weight_bytes"], info["state_bytes"]
        with self._lock:
            self._label, self._parts = label or self._label, parts
            self._take()
            return self.samples[-1]

    def write(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """The samples as JSON, an object a line."""
        with self._lock, open(path, "w", encoding="utf-8", newline="\n") as file:
            for one in self.samples:
                file.write(json.dumps(one, separators=(",", ":")) + "\n")

    def _work(self) -> None:
        while not self._end.wait(self._every):
            with self._lock:
                self._take()

    def __enter__(self) -> "MemoryHistory":
        if self._thread is not None:
            raise RuntimeError("MemoryHistory: is open")
        self._end.clear()
        self.sample("begin")
        if self._every is not None:
            self._thread = threading.Thread(target=self._work, daemon=True, name="welvet-memory")
            self._thread.start()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self.sample("end")
