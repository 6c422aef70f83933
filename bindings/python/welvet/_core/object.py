"""What all objects over a handle have in common."""
from __future__ import annotations

import operator
import os
import time
import weakref
from typing import Any, List, Optional, Tuple, TypeVar

from .call import call, interruptible
from .errors import LoomError, Paused

_Self = TypeVar("_Self", bound="Object")
_SHORT = 0.02  # seconds of a run that is waited for


def _release(handle: int, owner: int) -> None:
    # A forked child has none of the threads that objects own: it leaves them to its parent.
    if os.getpid() == owner:
        call("release", handle)


def _microseconds(budget_us: Any) -> int:
    try:
        if isinstance(budget_us, bool):
            raise TypeError
        budget = operator.index(budget_us)
    except TypeError:
        raise TypeError("budget_us: expects a whole number, got %r" % (budget_us,)) from None
    if budget < 1:
        raise ValueError("budget_us: expects at least 1, got %d" % budget)
    return budget


class Object:
    """Holds a handle. close() gives it back, and so does the end of a `with` block or of the
    object's life. Closing twice is fine; a call on a closed object raises InvalidHandle."""

    _handle = 0

    def _own(self, handle: int) -> None:
        self._handle = handle
        self._finalizer = weakref.finalize(self, _release, handle, os.getpid())
        self._finalizer.atexit = False  # the process gives everything back anyway

    @classmethod
    def _of(cls, handle: int) -> Any:
        """An object over a handle that is already there."""
        made = cls.__new__(cls)
        made._own(handle)
        return made

    @property
    def closed(self) -> bool:
        return self._handle == 0

    def close(self) -> None:
        if self._handle:
            self._handle = 0
            self._finalizer()

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    _instead = "make it again where it is to be used"  # of a pickle or a copy

    def __reduce__(self) -> Any:
        """A handle is a number of this process, so only what has a form in bytes can be pickled or
        copied."""
        raise TypeError("cannot pickle or copy a welvet.%s: %s"
                        % (type(self).__name__.lstrip("_"), self._instead))

    def _describe(self) -> str:
        return ""

    def __repr__(self) -> str:
        what = "closed" if self.closed else self._describe()
        return "<welvet.%s%s>" % (type(self).__name__, " " + what if what else "")


class Runner(Object):
    """Of these, what runs a network. Ctrl-C ends a run that takes long between two instructions:
    it runs in a thread of its own, unless the run before, for its size, was short. A network whose
    layers are functions of Python's runs in the caller's thread."""

    _nothing: Tuple[Any, ...] = ()  # name and arguments of a call that runs nothing
    _in_place = False

    def _run(self, name: str, *inputs: Any, size: Any = 1) -> Any:
        """A call of the library's that runs `size` rows or steps; it refuses what is no number."""
        size, begin = max(1, size) if isinstance(size, int) else 1, time.perf_counter()
        seconds = self.__dict__.setdefault("_seconds", {})  # that the last one took, by its size
        if self._in_place or size * seconds.get(name, 1.0) < _SHORT:
            result = call(name, self._handle, *inputs)
        else:
            result = interruptible(lambda: call(name, self._handle, *inputs), self.cancel,
                                   self._spend)
        seconds[name] = (time.perf_counter() - begin) / size
        return result

    _budget = 0  # microseconds of a run; 0: as many as it takes

    def _within(self, budget_us: Optional[int], name: str, *inputs: Any, size: Any = 1) -> bool:
        """A run of _run; False where `budget_us` has passed, and the same call again continues."""
        budget = 0 if budget_us is None else _microseconds(budget_us)
        if budget != self._budget:
            call("pause_after", self._handle, budget)
            self._budget = budget
        if not budget:
            self._run(name, *inputs, size=size)
            return True
        try:
            call(name, self._handle, *inputs)
        except Paused:
            return False
        return True

    def cancel(self) -> None:
        """From any thread: what runs now, or else the next run, raises Cancelled, within
        milliseconds as a rule."""
        call("cancel", self._handle)

    def _spend(self) -> None:
        """Ends a cancel that no run has seen."""
        try:
            call(self._nothing[0], self._handle, *self._nothing[1:])
        except LoomError:
            pass


class Idle:
    """Objects that wait for their next use, so that several threads, and several streams of one
    thread, each get their own. A forked process begins without any."""

    def __init__(self) -> None:
        self._items: List[Tuple[int, Any]] = []

    def take(self) -> Any:
        while self._items:
            try:
                owner, item = self._items.pop()
            except IndexError:  # another thread was faster
                break
            if owner == os.getpid():
                return item
        return None

    def put(self, item: Any) -> None:
        self._items.append((os.getpid(), item))

    def close(self) -> None:
        item = self.take()
        while item is not None:
            item.close()
            item = self.take()


def cell_name(cell: Any) -> str:
    """ "z.y.x.l" of a string or of four numbers. """
    return cell if isinstance(cell, str) else ".".join(str(int(part)) for part in cell)
