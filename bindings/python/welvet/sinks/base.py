"""What a sink is, and one that hands its events to a thread."""
from __future__ import annotations

import queue
import threading
import time
from types import TracebackType
from typing import Any, Dict, List, Optional, Type, TypeVar

Event = Dict[str, Any]
_Self = TypeVar("_Self", bound="Sink")


class Sink:
    """Takes events. Subclasses have add(); begin() and close() where they need them.

    `sent`: events that have arrived, or are written; `failed`: that could not be delivered, for
    the reason `error`; `dropped`: for which the queue had no room. Together they are all events
    after close()."""

    def __init__(self) -> None:
        self.sent = self.failed = self.dropped = 0
        self.error = ""

    def begin(self, blueprint: Dict[str, Any]) -> None:
        """Before the first event: Network.blueprint() of what is observed."""

    def add(self, event: Event) -> None:
        """One event: the keys of Observation, and t0_ns and t1_ns: when the pass began and ended,
        in nanoseconds since the observation began."""
        raise NotImplementedError

    def flush(self) -> None:
        """Returns when what add() took is delivered, written, or given up."""

    def close(self) -> None:
        """The last call: flushes, and ends threads, files and sockets. Again: nothing."""

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


class QueuedSink(Sink):
    """Delivers in a thread, so that a run never waits: events that find `queue_size` others waiting
    are dropped and counted."""

    def __init__(self, queue_size: int = 1024, batch: int = 1) -> None:
        super().__init__()
        for name, value in (("queue_size", queue_size), ("batch", batch)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError("%s: expects at least 1, got %r" % (name, value))
        self._batch = batch
        self._waiting: "queue.Queue[Any]" = queue.Queue(queue_size)
        self._thread: Optional[threading.Thread] = None
        self._closed = False
        self._stop_by = float("inf")

    def deliver(self, items: List[Any]) -> None:
        """In the thread: up to `batch` items at once. An OSError makes them failed."""
        raise NotImplementedError

    def put(self, item: Any) -> None:
        if self._closed:
            raise ValueError("%s: is closed" % type(self).__name__)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True,
                                            name="welvet-" + type(self).__name__.lower())
            self._thread.start()
        try:
            self._waiting.put_nowait(item)
        except queue.Full:
            self.dropped += 1

    def _work(self) -> None:
        end = False
        while not end:
            items = [self._waiting.get()]
            while len(items) < self._batch:
                try:
                    items.append(self._waiting.get_nowait())
                except queue.Empty:
                    break
            end = items[-1] is None
            whole = [item for item in items if item is not None]
            try:
                if whole and time.monotonic() < self._stop_by:
                    self.deliver(whole)
                    self.sent += len(whole)
                else:
                    self.dropped += len(whole)
            except OSError as error:
                self.failed += len(whole)
                self.error = str(error) or type(error).__name__
            finally:
                for _ in items:
                    self._waiting.task_done()

    def flush(self) -> None:
        if self._thread is not None and not self._closed:
            self._waiting.join()

    def close(self, within: float = 2.0) -> None:
        """What is not delivered `within` these seconds is dropped."""
        if self._closed:
            return
        self._closed = True
        if self._thread is not None:
            self._stop_by = time.monotonic() + within
            self._waiting.put(None)
            self._thread.join()
            self._thread = None
        self._shut()

    def _shut(self) -> None:
        """Ends what deliver() needs."""
