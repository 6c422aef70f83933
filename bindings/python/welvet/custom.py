"""Layers of one's own: a class whose functions compute with NumPy, registered under a name.

    @welvet.custom_layer("acme.scale", version=1)
    class Scale:
        def __init__(self, by=2.0):              # the layer's config
            self.by = by

        def plan(self, dims):                    # of a row -> of a row, and parameters
            return {"out": dims, "params": []}

        def forward(self, x, params, y):         # writes all of y
            y[:] = self.by * x

        def backward(self, x, y, gy, params, gx, gparams):
            gx[:] = self.by * gy                 # and all of gx and gparams

    net = Network(Sequential(Input(8), Scale(by=3.0), layers.Linear(2)))

Scale(...) is then a layer, as those of welvet.layers. Its functions get views of the library's
memory, valid for the call alone, in the thread that called the library.
"""
from __future__ import annotations

import ctypes
import inspect
import json
from typing import Any, Callable, Dict, List, Tuple, Type

import numpy as np

from ._core import call as _call, raw as _raw
from ._core.errors import LoomError
from .layers import Custom, Layer

_F32, _F64, _ROW_DEPENDENT = 1, 2, 4


class _Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("rows", ctypes.c_int64), ("cols", ctypes.c_int64),
                ("stride", ctypes.c_int64)]

    def view(self, dtype: Any, writable: bool = False) -> np.ndarray:
        size = np.dtype(dtype).itemsize
        count = (self.rows - 1) * self.stride + self.cols
        memory = (ctypes.c_char * (count * size)).from_address(self.data)
        a: np.ndarray = np.ndarray((self.rows, self.cols), dtype, memory,
                                   strides=(self.stride * size, size))
        a.flags.writeable = writable
        return a


class _Arrays(ctypes.Structure):
    _fields_ = [("config", ctypes.c_void_p), ("config_size", ctypes.c_size_t),
                ("f64", ctypes.c_int32), ("param_count", ctypes.c_int32),
                ("x", _Array), ("y", _Array), ("gy", _Array), ("gx", _Array),
                ("params", _Array * 4), ("gparams", _Array * 4)]


_ERROR = ctypes.POINTER(_call.Error)
_PLAN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
                         ctypes.POINTER(ctypes.c_uint64), _ERROR)
_RUN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(_Arrays), _ERROR)


class _Registration(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("version", ctypes.c_int32),
                ("flags", ctypes.c_int32), ("user", ctypes.c_void_p), ("plan", _PLAN),
                ("forward", _RUN), ("backward", _RUN), ("release", ctypes.c_void_p)]


def _fail(error: Any, what: BaseException) -> int:
    """The exception as the library's error: of its own class, or as an invalid argument."""
    code = _raw.CODES[what.code] if isinstance(what, LoomError) else _raw.CODES["invalid_argument"]
    text = str(what) if isinstance(what, LoomError) else "%s: %s" % (type(what).__name__, what)
    error.contents.code = code
    whole = text.encode("utf-8", "replace")[:1019].decode("utf-8", "ignore")
    error.contents.message = whole.encode()
    _call.raised.what = what
    return code


class _Functions:
    """The C functions of a class. Its objects are made of their config, once for each."""

    def __init__(self, cls: Type[Any]) -> None:
        self.cls = cls
        self.objects: Dict[str, Any] = {}
        self.plan, self.forward = _PLAN(self._plan), _RUN(self._forward)
        self.backward = _RUN(self._backward) if hasattr(cls, "backward") else _RUN()

    def _object(self, config: Any) -> Any:
        key = json.dumps(config, sort_keys=True)
        if key not in self.objects:
            if not isinstance(config, dict):
                raise TypeError("config: expects the arguments of %s by name, got %r"
                                % (self.cls.__name__, config))
            self.objects[key] = self.cls(**config)
        return self.objects[key]

    def _plan(self, user: Any, request: int, size: int, out: Any, error: Any) -> int:
        try:
            asked = json.loads(ctypes.string_at(request, size))
            plan = self._object(asked["config"]).plan(asked["dims"])
            if not isinstance(plan, dict):
                plan = {"out": [int(n) for n in np.atleast_1d(plan)]}
            text = json.dumps(plan, default=_call._plain).encode()
            out[0] = _call.new_bytes(text)
            return 0
        except BaseException as what:  # nothing goes through C
            return _fail(error, what)

    def _arrays(self, call: Any) -> Tuple[Any, Any, _Arrays, Callable[..., List[np.ndarray]]]:
        c = call.contents
        dtype = np.float64 if c.f64 else np.float32
        config = json.loads(ctypes.string_at(c.config, c.config_size))

        def params(of: Any, writable: bool = False) -> List[np.ndarray]:
            return [of[i].view(dtype, writable) for i in range(c.param_count)]

        return self._object(config), dtype, c, params

    def _forward(self, user: Any, call: Any, error: Any) -> int:
        try:
            layer, dtype, c, params = self._arrays(call)
            result = layer.forward(c.x.view(dtype), params(c.params), c.y.view(dtype, True))
            _nothing(result, "forward", "y")
            return 0
        except BaseException as what:
            return _fail(error, what)

    def _backward(self, user: Any, call: Any, error: Any) -> int:
        try:
            layer, dtype, c, params = self._arrays(call)
            result = layer.backward(c.x.view(dtype), c.y.view(dtype), c.gy.view(dtype),
                                    params(c.params), c.gx.view(dtype, True),
                                    params(c.gparams, True))
            _nothing(result, "backward", "gx and gparams")
            return 0
        except BaseException as what:
            return _fail(error, what)


def _nothing(result: Any, name: str, written: str) -> None:
    if result is not None:
        raise TypeError("%s writes into %s (y[:] = ...) and returns nothing, got %s"
                        % (name, written, type(result).__name__))


_registered: Dict[Tuple[str, int], _Functions] = {}
_alive: List[_Functions] = []  # networks may call them for as long as the process lives


def register_layer(cls: Type[Any], name: str = "", version: int = 1, *,
                   dtypes: Tuple[str, ...] = ("f32", "f64"), row_dependent: bool = False) -> None:
    """Registers a class with plan(dims), forward(x, params, y) and, where it learns,
    backward(x, y, gy, params, gx, gparams) for this process. Files and topologies name it by `name`
    (the class's, where none is given) and `version`. The same class again changes nothing.
    `dtypes`: what it computes in; `row_dependent`: whether a row of y depends on other rows of
    x."""
    name = name or cls.__name__
    for function in ("plan", "forward"):
        if not callable(getattr(cls, function, None)):
            raise TypeError("%s: a custom layer has a function %s" % (cls.__name__, function))
    wrong = sorted(set(dtypes) - {"f32", "f64"})
    if wrong or not dtypes:
        raise ValueError("dtypes: f32, f64 or both, got %r" % (wrong[0] if wrong else dtypes,))
    known = _registered.get((name, version))
    functions = known if known is not None and known.cls is cls else _Functions(cls)
    flags = ("f32" in dtypes) * _F32 | ("f64" in dtypes) * _F64
    layer = _Registration(ctypes.sizeof(_Registration), name.encode(), version,
                          flags | bool(row_dependent) * _ROW_DEPENDENT, None, functions.plan,
                          functions.forward, functions.backward, None)
    _call.register_layer(layer)
    if functions is not known:
        _alive.append(functions)
    _registered[name, version] = functions
    _call.python_layers = True


def unregister_layer(name: str, version: int = 1) -> None:
    """The layer is not found any more. Raises Busy while a network, session or trainer has it."""
    _call.call("layer_unregister", name, version)
    _registered.pop((name, version), None)


def custom_layer(name: str = "", version: int = 1, *, dtypes: Tuple[str, ...] = ("f32", "f64"),
                 row_dependent: bool = False) -> Callable[[Type[Any]], Callable[..., Layer]]:
    """Registers the class below, and makes of it a function that gives a layer: its arguments are
    the layer's config."""
    def decorate(cls: Type[Any]) -> Callable[..., Layer]:
        register_layer(cls, name, version, dtypes=dtypes, row_dependent=row_dependent)

        def make(*args: Any, **named: Any) -> Layer:
            common = {key: named.pop(key) for key in ("dtype", "enabled") if key in named}
            config = inspect.signature(cls).bind(*args, **named).arguments
            return Custom(name or cls.__name__, version, dict(config), **common)

        make.__name__, make.__doc__ = cls.__name__, cls.__doc__
        return make
    return decorate
