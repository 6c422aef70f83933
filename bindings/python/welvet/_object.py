"""What all objects over a handle have in common."""
from __future__ import annotations

import os
import weakref
from typing import Any, List, Tuple, TypeVar

from ._call import call

_Self = TypeVar("_Self", bound="Object")


def _release(handle: int, owner: int) -> None:
    # A forked child has none of the threads that objects own: it leaves them to its parent.
    if os.getpid() == owner:
        call("release", handle)


class Object:
    """Holds a handle. close() gives it back, and so does the end of a `with` block or of the object's life. Closing twice is fine; a
    call on a closed object raises InvalidHandle."""

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
        """A handle is a number of this process, so only what has a form in bytes can be pickled or copied."""
        raise TypeError("cannot pickle or copy a welvet.%s: %s" % (type(self).__name__.lstrip("_"), self._instead))

    def _describe(self) -> str:
        return ""

    def __repr__(self) -> str:
        what = "closed" if self.closed else self._describe()
        return "<welvet.%s%s>" % (type(self).__name__, " " + what if what else "")


class Idle:
    """Objects that wait for their next use, so that several threads, and several streams of one thread, each get their own. A forked
    process begins without any."""

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
