"""Files that Python reads for the library: a path, bytes, or an object with seek and readinto."""
from __future__ import annotations

import ctypes
import itertools
import os
from typing import Any, Dict

from . import call as _call
from .errors import LoomError
from .raw import CODES

_ERROR = ctypes.POINTER(_call.Error)
_READ = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p,
                         ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t), _ERROR)
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Source(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("user", ctypes.c_void_p), ("bytes", ctypes.c_uint64),
                ("name", ctypes.c_char_p), ("read", _READ), ("release", _RELEASE)]


_open: Dict[int, Any] = {}  # files that the library reads from, by what it calls them
_numbers = itertools.count(1)


def _fail(error: Any, what: BaseException) -> int:
    """The exception as the library's error: it is the cause of what the call raises."""
    if isinstance(what, LoomError):
        code = CODES[what.code]
    else:
        code = CODES["io" if isinstance(what, OSError) else "invalid_argument"]
    text = "%s: %s" % (type(what).__name__, what)
    error.contents.code = code
    error.contents.message = text.encode("utf-8", "replace")[:1019].decode("utf-8",
                                                                           "ignore").encode()
    _call.raised.what = what
    return code


def _read(user: int, offset: int, out: int, count: int, got: Any, error: Any) -> int:
    try:
        file = _open[user]
        file.seek(offset)
        memory = memoryview((ctypes.c_char * count).from_address(out)).cast("B")
        done = 0
        while done < count:
            n = file.readinto(memory[done:])
            if not n:
                break
            done += n
        got[0] = done
        return 0
    except BaseException as what:  # nothing goes through C
        return _fail(error, what)


def _released(user: int) -> None:
    _open.pop(user, None)


_read_callback, _release_callback = _READ(_read), _RELEASE(_released)


def _open_object(file: Any) -> int:
    """A handle of kind file over a file object, which must stay open as long as what is made of it
    reads from it."""
    size = file.seek(0, os.SEEK_END)
    if not isinstance(size, int):
        raise TypeError("file: seek() returns the new position, got %r" % (size,))
    number = next(_numbers)
    _open[number] = file
    name = str(getattr(file, "name", "") or "")
    return _call.open_source(_Source(ctypes.sizeof(_Source), number, size,
                                     name.encode("utf-8", "replace"), _read_callback,
                                     _release_callback))


def open_file(source: Any) -> int:
    """A handle of kind file. Raises TypeError for what is no path, no bytes and no binary file."""
    if isinstance(source, (str, os.PathLike)):
        return int(_call.call("file_open", os.fspath(source)))
    if hasattr(source, "readinto") and hasattr(source, "seek"):
        return _open_object(source)
    try:
        memoryview(source)
    except TypeError:
        raise TypeError("expects a path, bytes, or a binary file with seek and readinto, got %s"
                        % type(source).__name__) from None
    data = _call.new_bytes(source)
    try:
        return int(_call.call("file_open_bytes", data))
    finally:
        _call.call("release", data)


def is_file_object(source: Any) -> bool:
    return hasattr(source, "readinto") and hasattr(source, "seek")
