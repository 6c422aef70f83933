"""Exceptions: one class per result code of the C ABI, each also the built-in one that it
resembles."""
from __future__ import annotations

from typing import Dict, Type

from . import raw as _raw


class LoomError(Exception):
    """Something that Loom refused or could not do. `code` is its name in the C ABI, str() says
    what, where, and what would be right."""

    code = "internal"


class InvalidArgument(LoomError, ValueError):
    """A value is wrong."""


class NotFound(LoomError, FileNotFoundError, LookupError):
    """A file, tensor, key or cell does not exist."""


class Unsupported(LoomError, NotImplementedError):
    """Well formed, but this version cannot do it."""


class Corrupt(LoomError, ValueError):
    """Bytes contradict their format or checksum."""


class Truncated(LoomError, EOFError):
    """Fewer bytes than the format promises."""


class IOFailed(LoomError, OSError):
    """The operating system refused."""


class OutOfMemory(LoomError, MemoryError):
    """An allocation failed."""


class OutOfRange(LoomError, IndexError):
    """An index or a count beyond its limit."""


class Cancelled(LoomError, InterruptedError):
    """Somebody asked to stop."""


class Internal(LoomError, RuntimeError):
    """A broken invariant of Loom's own: please report it."""


class InvalidHandle(LoomError, ReferenceError):
    """The object was closed, or is of another kind."""


class Busy(LoomError, BlockingIOError):
    """Another thread is inside a call on this object."""


class Paused(LoomError):
    """The time of a run is over; the same call again continues it. Methods with a `budget_us`
    return None instead."""


_CLASSES = {
    "invalid_argument": InvalidArgument, "not_found": NotFound, "unsupported": Unsupported,
    "corrupt": Corrupt, "truncated": Truncated,
    "io": IOFailed, "out_of_memory": OutOfMemory, "out_of_range": OutOfRange,
    "cancelled": Cancelled, "internal": Internal,
    "invalid_handle": InvalidHandle, "busy": Busy, "paused": Paused,
}
BY_CODE: Dict[int, Type[LoomError]] = {}
for _name, _number in _raw.CODES.items():
    if _number != 0:
        BY_CODE[_number] = _CLASSES[_name]
        _CLASSES[_name].code = _name
for _class in (LoomError, *_CLASSES.values()):
    _class.__module__ = "welvet"  # where users find them, and tracebacks name them
