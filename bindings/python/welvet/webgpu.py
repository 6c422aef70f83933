"""The WebGPU library of the process, where it has one (docs/reference/modes.md)."""
from __future__ import annotations

import ctypes
import importlib
from typing import Any

from ._core import call as _call


class _Name(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


_FIND = ctypes.CFUNCTYPE(ctypes.c_void_p, _Name)
_FUNCTION: Any = type(_FIND()).__mro__[1]  # what all pointers to functions of ctypes are
_kept: Any = None  # what the library calls


def _address(function: Any) -> int:
    """Of an address, a pointer of ctypes or one of cffi."""
    if isinstance(function, (_FUNCTION, ctypes.c_void_p)):
        return ctypes.cast(function, ctypes.c_void_p).value or 0
    if type(function).__module__ == "_cffi_backend":
        cffi = importlib.import_module("cffi")  # has no declarations
        return int(cffi.FFI().cast("uintptr_t", function))
    if isinstance(function, int) and not isinstance(function, bool):
        return function
    raise TypeError("use_webgpu: expects the address of a function, or a pointer of ctypes or cffi "
                    "to it, got %s" % type(function).__name__)


def _find_by(functions: Any) -> Any:
    """A function like wgpuGetProcAddress over a dict of functions."""
    addresses = {name: _address(function) for name, function in functions.items()}

    def find(name: _Name) -> int:
        return addresses.get(ctypes.string_at(name.data, name.size).decode("utf-8", "replace"), 0)
    return _FIND(find)


def use_webgpu(functions: Any) -> None:
    """Devices that are opened from now on (`device="gpu"`) run through the WebGPU library that this
    process has: a recent Dawn. `functions`: its wgpuGetProcAddress, as an address or a pointer of
    ctypes or cffi, or a dict of all functions by their names ("wgpuCreateInstance"); None: not any
    more. Loom makes a device there that is its alone. What runs already keeps its device. Raises
    Unsupported, naming the first function that is missing.

        from wgpudawn._lib import ffi, lib
        welvet.use_webgpu(ffi.addressof(lib, "wgpuGetProcAddress"))
    """
    global _kept
    given = functions
    if functions is None:
        given = 0
    elif isinstance(functions, dict):
        given = _find_by(functions)
    _call.use_webgpu(_address(given))
    _kept = given
