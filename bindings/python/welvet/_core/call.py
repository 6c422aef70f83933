"""The shared library, and one way to call all of its functions: what a parameter needs follows from
its kind in the table of raw.py.

call(name, inputs...) takes the input parameters in their order and returns the outputs: None, one
value, or a tuple. Inputs are str (texts), anything for json (a str is passed as it is), int
(handles, numbers), NumPy arrays (read, fill); outputs are numbers, str, the values of JSON, NumPy
arrays of int32, and int for handles. ctypes releases the GIL while a call runs.
"""
from __future__ import annotations

import _thread
import atexit
import ctypes
import json
import operator
import os
import threading
from typing import Any, Callable, List, Optional, Set, Tuple

import numpy as np

from . import raw as _raw
from .errors import BY_CODE, Cancelled, LoomError

_DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}
_NUMBERS = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "u64": ctypes.c_uint64,
            "f64": ctypes.c_double, "bool": ctypes.c_int32, "pointer": ctypes.c_void_p}


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char * 1020)]


# What a function of Python's raised in the middle of a call of this thread (custom.py), until the
# call has failed of it.
raised = threading.local()


def raise_error(error: Error) -> None:
    """Raises what the library says. What was raised in between is its cause, and an interrupt stays
    one."""
    cause, raised.what = getattr(raised, "what", None), None
    if isinstance(cause, (KeyboardInterrupt, SystemExit)):
        raise cause
    raise BY_CODE.get(error.code, LoomError)(error.message.decode("utf-8", "replace")) from cause


# Whether functions of Python's are layers (custom.py). They are called in the thread that calls the
# library, which then is the caller's, where an interrupt reaches them.
python_layers = False


def find_library() -> str:
    """$LOOM_LIBRARY; else in the package, where a wheel has it; else in the build folder of a
    source tree."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # the package
    given = os.environ.get("LOOM_LIBRARY")
    if given:
        return given
    tried = [os.path.join(here, "libloom.so"),
             os.path.join(here, "..", "..", "..", "build", "release", "libloom.so")]
    for path in tried:
        if os.path.exists(path):
            return os.path.normpath(path)
    raise ImportError(
        "libloom.so is neither in the package nor in a build tree (%s): set LOOM_LIBRARY to its "
        "path" % ", ".join(map(os.path.normpath, tried)))


# ---- arguments: each encoder appends what C gets


# Puts a value into the arguments of a call; returns what must live until it is over.
_Encode = Callable[[Any, List[Any]], Any]


def _text(value: Any, out: List[Any]) -> None:
    data = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(value)
    out += [data, len(data)]


def _named_text(parameter: str) -> _Encode:
    def encode(value: Any, out: List[Any]) -> None:
        # A number would become as many zero bytes.
        if not isinstance(value, (str, bytes, bytearray, memoryview)):
            raise TypeError("%s: expects a text, got %s" % (parameter, type(value).__name__))
        _text(value, out)
    return encode


def _json(value: Any, out: List[Any]) -> None:
    if not isinstance(value, (str, bytes)):
        try:
            value = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
        except ValueError:
            raise ValueError("%s: expects finite numbers" % _endless(value, "options")) from None
    _text(value, out)


def _endless(value: Any, name: str) -> str:
    """Where a number that is NaN or infinite stands in a value."""
    listed = enumerate(value) if isinstance(value, (list, tuple)) else ()
    for key, item in value.items() if isinstance(value, dict) else listed:
        found = _endless(item, key if isinstance(key, str) else "%s[%d]" % (name, key))
        if found:
            return found
    return name if isinstance(value, (float, np.floating)) and not np.isfinite(value) else ""


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays inside of options."""
    if isinstance(value, (np.generic, np.ndarray)):
        return unmasked(value, "an option").tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError("%s is no JSON" % type(value).__name__)


def unmasked(x: Any, name: str) -> Any:
    """x, which is no masked array any more. Raises ValueError where values are masked: Loom knows
    of no mask."""
    count_masked: Any = np.ma.count_masked
    if isinstance(x, (list, tuple)):
        parts: List[Any] = [part for part in x if isinstance(part, np.ma.MaskedArray)]
        masked = sum([int(count_masked(part)) for part in parts])
    elif isinstance(x, np.ma.MaskedArray):
        masked, x = int(count_masked(x)), x.data
    else:
        return x
    if masked:
        raise ValueError("%s: %d values are masked, and a mask would be lost: fill them "
                         "(x.filled(0)) or leave their samples out" % (name, masked))
    return x


def plain(x: Any, name: str = "array") -> np.ndarray:
    """x as an array of real numbers, of its own type. `name`: what messages call it. Raises
    TypeError for what NumPy makes real numbers of: texts, dates, complex numbers."""
    if type(x) is np.ndarray and x.dtype.kind in "fiu":
        return x
    x = _anything(x, name)
    # A float that NumPy itself does not have, as bfloat16 of ml_dtypes, is of the kind V.
    extended = x.dtype.kind == "V" and x.dtype.names is None and np.can_cast(x.dtype, np.float32)
    if x.dtype.kind not in "biufO" and not extended:
        raise TypeError("%s: expects numbers, got an array of %s%s"
                        % (name, x.dtype, _INSTEAD.get(x.dtype.kind, "")))
    return x  # type: ignore[no-any-return]


def _anything(x: Any, name: str) -> np.ndarray:
    if not isinstance(x, np.ndarray) and hasattr(x, "__dlpack__"):
        x = np.from_dlpack(x)
    if hasattr(x, "toarray") and hasattr(x, "nnz"):  # NumPy takes it for a single object
        raise TypeError("%s: expects an array, got a sparse matrix: x.toarray() is one" % name)
    return np.asarray(unmasked(x, name))


_INSTEAD = {"c": ": give x.real and x.imag",
            "M": ": (x - x.min()) / np.timedelta64(1, 'D') are days",
            "m": ": x / np.timedelta64(1, 's') are seconds"}


def seed_of(seed: Any) -> int:
    """A seed's 64 bits as a signed number, which JSON has; so -1 and 2^64-1 are one, as in PyTorch.
    Raises ValueError."""
    try:
        value = operator.index(seed)
    except TypeError:
        value = 2**64
    if not -2**63 <= value < 2**64:
        raise ValueError("seed: expects a whole number from -2^63 to 2^64-1, got %r" % (seed,))
    return (value + 2**63) % 2**64 - 2**63


def array(x: Any, dtype: Any, name: str = "array") -> np.ndarray:
    """x as a contiguous array of dtype: itself where it is one, a view of DLPack and buffer objects
    where they allow it, else a copy. `name`: what messages call it. Raises ValueError where values
    are masked, and where integers are wanted for what is no whole number or beyond their range."""
    if type(x) is np.ndarray and x.dtype == dtype and x.ndim and x.flags.c_contiguous:
        return x
    if np.issubdtype(dtype, np.integer):
        return np.ascontiguousarray(_integers(_anything(x, name), np.dtype(dtype), name))
    given = plain(x, name)
    if given.dtype.kind == "O" and any(v is None for v in given.flat):  # NumPy makes NaN of it
        raise TypeError("%s: expects numbers, got None: a missing value is float('nan')" % name)
    return np.ascontiguousarray(given, dtype=dtype)


def numbers(x: Any, name: str) -> np.ndarray:
    """x to learn from: float64 where its type has more than float32 holds, which the library keeps
    for cells of f64, else float32."""
    given = plain(x, name)
    if given.dtype.kind in "iu" and given.dtype.itemsize == 8 and given.size:
        beyond = max(-int(given.min()), int(given.max()))
        if beyond > 1 << 53:
            raise ValueError("%s: has integers as large as %d, and float64 holds all of them up to "
                             "2^53: take an offset off them" % (name, beyond))
    narrow = np.can_cast(given.dtype, np.float32)
    return array(given, np.float32 if narrow else np.float64, name)


def together(*arrays: np.ndarray) -> Tuple[np.ndarray, ...]:
    """Arrays of numbers() in one type."""
    dtype = np.result_type(*arrays)
    return tuple(a.astype(dtype, copy=False) for a in arrays)


def _integers(x: np.ndarray, dtype: Any, name: str) -> np.ndarray:
    """x in an integer type: nothing wraps, and no fraction is cut off."""
    if x.size == 0 or np.can_cast(x.dtype, dtype):
        return x.astype(dtype, copy=False)
    if x.dtype.kind not in "iufO":
        raise TypeError("%s: expects whole numbers, got an array of %s" % (name, x.dtype))
    info = np.iinfo(dtype)
    if x.dtype.kind == "O":  # Python's integers beyond 64 bits, and what is no number
        fits = np.array([_whole(v, info.min, info.max) for v in x.reshape(-1)]).reshape(x.shape)
    elif x.dtype.kind == "f":
        # Both ends as floats that no rounding moves: -2^n and 2^n. NaN is on neither side.
        fits = (x >= float(info.min)) & (x < -float(info.min)) & (np.floor(x) == x)
    else:
        fits = x <= info.max
        if x.dtype.kind == "i":
            fits &= x >= info.min
    if not fits.all():
        at = np.unravel_index(int(np.argmin(fits)), x.shape)
        value = x[at].item() if isinstance(x[at], np.generic) else x[at]
        where = " at [%s]" % ", ".join("%d" % i for i in at) if at else ""
        raise ValueError("%s: expects whole numbers from %d to %d, got %r%s"
                         % (name, info.min, info.max, value, where))
    return x.astype(dtype)


def _whole(value: Any, least: int, most: int) -> bool:
    if isinstance(value, (float, np.floating)):
        return bool(np.floor(value) == value and least <= value <= most)
    try:
        return least <= operator.index(value) <= most
    except TypeError:
        return False


def place(x: Any, dtype: Any, shape: Tuple[int, ...]) -> np.ndarray:
    """x, which takes a result, as an array that shares its memory; a new one where x is None.
    Raises TypeError or ValueError where it does not fit."""
    if x is None:
        return np.empty(shape, dtype)
    if isinstance(x, np.ndarray):
        a, writable = x, x.flags.writeable
    elif hasattr(x, "__dlpack__"):
        # NumPy calls it read-only; who offers it as `out` says otherwise. It lives as long as x,
        # which the caller holds.
        a, writable = np.from_dlpack(x), True
        if a.flags.c_contiguous:
            memory: Any = (ctypes.c_char * a.nbytes).from_address(a.ctypes.data)
            a = np.ndarray(a.shape, a.dtype, memory)
    else:
        a = np.asarray(memoryview(x))
        writable = a.flags.writeable
    if a.dtype != dtype or not a.flags.c_contiguous or not writable:
        raise TypeError("out: expects a writable, contiguous array of %s, got %s%s"
                        % (np.dtype(dtype), a.dtype, "" if writable else ", read-only"))
    if a.shape != shape:
        raise ValueError("out: expects the shape %s, got %s" % (shape, a.shape))
    return a


def _read(dtype: Any, name: str) -> _Encode:
    def encode(value: Any, out: List[Any]) -> Any:
        a = array(value, dtype, name)
        out += (a.ctypes.data if a.size else None, a.size)
        return a
    return encode


def _fill(dtype: Any) -> _Encode:
    def encode(value: Any, out: List[Any]) -> None:
        if not isinstance(value,
                          np.ndarray) or value.dtype != dtype or not value.flags.c_contiguous:
            raise TypeError("expects a contiguous array of %s for the result" % np.dtype(dtype))
        out += (value.ctypes.data if value.size else None, value.size)
    return encode


_RANGES = {"i32": (-2**31, 2**31 - 1), "i64": (-2**63, 2**63 - 1), "u64": (0, 2**64 - 1)}


def _number(kind: str, name: str) -> _Encode:
    least, most = _RANGES.get(kind, _RANGES["u64"])  # handles

    def encode(value: Any, out: List[Any]) -> None:
        if type(value) is int and least <= value <= most:
            out.append(value)
            return
        if kind == "bool":
            value = bool(value)
        elif getattr(value, "ndim", 0) == 0 and hasattr(value, "item"):  # of NumPy, PyTorch, ...
            value = value.item()
        if not _whole(value, least, most):
            raise ValueError("%s: expects a whole number from %d to %d, got %r"
                             % (name, least, most, value))
        out.append(int(value))
    return encode


# ---- results


# How a parameter is passed: what encodes it into the arguments (None: it is a result), the type of
# a result in C, what takes the result (None: its value as it is).
_Step = Tuple[Optional[_Encode], Any, Optional[Callable[[Any], Any]]]


class Library:
    """libloom.so, whose functions are called by name."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.c = ctypes.CDLL(path)
        self.c.loom_abi_version.restype = ctypes.c_int32
        version = self.c.loom_abi_version()
        if version != _raw.ABI_VERSION:
            raise ImportError("%s has version %d of the interface, this package is for version %d"
                              % (path, version, _raw.ABI_VERSION))
        self._functions = {name: self._bind(name, returns, params) for name,
                           (returns, params) in _raw.FUNCTIONS.items()}

    def call(self, name: str, *inputs: Any) -> Any:
        return self._functions[name](*inputs)

    def _marshal(self, parameter: str, kind: str) -> Tuple[List[Any], _Step]:
        """The types of a parameter in C, and how its value goes there or comes back."""
        head, _, what = kind.partition(" ")
        if kind in ("text", "json"):
            return ([ctypes.c_char_p, ctypes.c_size_t],
                    (_json if kind == "json" else _named_text(parameter), None, None))
        if head in ("read", "fill"):
            dtype = _DTYPES[what]
            encoder = _read(dtype, parameter) if head == "read" else _fill(dtype)
            return [ctypes.c_void_p, ctypes.c_size_t], (encoder, None, None)
        if head == "out":
            return [ctypes.c_void_p], (None, _NUMBERS[what], None)
        if head == "new":
            take = {"text": self.take_text, "json": self.take_json, "i32s": self.take_ids}
            return [ctypes.c_void_p], (None, ctypes.c_uint64, take.get(what))
        return ([_NUMBERS.get(kind, ctypes.c_uint64)],  # handles and numbers
                (_number(kind, parameter), None, None))

    def _bind(self, name: str, returns: str, params: Tuple[Tuple[str, str], ...]) -> Callable[...,
            Any]:
        function = getattr(self.c, "loom_" + name)  # a library that lacks one is refused here
        function.restype = ctypes.c_char_p if returns == "cstr" else ctypes.c_int32
        marshalled = [self._marshal(parameter, kind) for parameter, kind in params]
        steps = [step for _, step in marshalled]
        types = [one for several, _ in marshalled for one in several]
        if returns == "code":
            types.append(ctypes.c_void_p)
        function.argtypes = types
        inputs_wanted = sum(1 for encode, _, _ in steps if encode)
        takers = [take for encode, _, take in steps if not encode]

        def invoke(*inputs: Any) -> Any:
            if len(inputs) != inputs_wanted:
                raise TypeError("%s takes %d arguments, got %d"
                                % (name, inputs_wanted, len(inputs)))
            arguments: List[Any] = []
            outputs: List[Any] = []
            kept, given = [], iter(inputs)  # until the call is over
            for encode, result_type, _ in steps:
                if encode:
                    kept.append(encode(next(given), arguments))
                else:
                    outputs.append(result_type())
                    arguments.append(ctypes.addressof(outputs[-1]))
            if returns != "code":
                result = function(*arguments)
                return result.decode() if returns == "cstr" else result
            error = Error()
            raised.what = None
            if function(*arguments, ctypes.addressof(error)) != 0:
                raise_error(error)
            done = [take(o.value) if take else o.value for take, o in zip(takers, outputs)]
            return None if not done else done[0] if len(done) == 1 else tuple(done)

        return invoke

    def take(self, handle: int) -> bytes:
        """The content of a bytes object, which is released."""
        try:
            data, size = self.call("bytes_data", handle)
            return ctypes.string_at(data, size) if size else b""
        finally:
            self.call("release", handle)

    def take_text(self, handle: int) -> str:
        return self.take(handle).decode("utf-8", "replace")

    def take_json(self, handle: int) -> Any:
        return json.loads(self.take(handle))

    def take_ids(self, handle: int) -> np.ndarray:
        return np.frombuffer(self.take(handle), np.int32)


_library: Optional[Library] = None
_loading = threading.Lock()


def library() -> Library:
    """The library of this process, loaded at the first use."""
    global _library
    if _library is None:
        with _loading:
            if _library is None:
                _library = Library(find_library())
    return _library


def call(name: str, *inputs: Any) -> Any:
    return library().call(name, *inputs)


def register_layer(layer: Any) -> None:
    """Of a loom_layer, which has functions, and so no kind of parameter in the table."""
    function = library().c.loom_layer_register
    function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_void_p], ctypes.c_int32
    error = Error()
    if function(ctypes.byref(layer), ctypes.byref(error)):
        raise_error(error)


def open_source(source: Any) -> int:
    """A file of a loom_source, which has functions, too."""
    function = library().c.loom_file_open_source
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    function.restype = ctypes.c_int32
    handle, error = ctypes.c_uint64(), Error()
    if function(ctypes.byref(source), ctypes.byref(handle), ctypes.byref(error)):
        raise_error(error)
    return handle.value


def use_webgpu(function: Any) -> None:
    """With the address of a function."""
    use = library().c.loom_use_webgpu
    use.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    use.restype = ctypes.c_int32
    error = Error()
    if use(function, ctypes.byref(error)):
        raise_error(error)


def new_bytes(data: Any) -> int:
    """A bytes object with a copy of `data`: bytes, or any object with a contiguous buffer."""
    size = memoryview(data).nbytes
    handle: int = call("bytes_create", size)
    if size:
        ctypes.memmove(call("bytes_data", handle)[0], np.frombuffer(data, np.uint8).ctypes.data,
                       size)
    return handle


_running: Set[Any] = set()  # of interruptible calls: locks that are free when they have ended


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_running.clear)  # calls of the parent's threads


@atexit.register
def _wait_for_calls() -> None:
    for ended in list(_running):
        ended.acquire()


def interruptible(function: Callable[[], Any], cancel: Optional[Callable[[], None]] = None,
                  spend: Optional[Callable[[], None]] = None) -> Any:
    """function(), for calls that may take long: Ctrl-C gets through at once. With `cancel` the call
    is told to stop and waited for; without, its result is dropped when it comes, and the end of the
    process waits for it. `spend` is called where the cancel came too late for the call, and would
    end the next one."""
    if threading.get_ident() != threading.main_thread().ident:
        return function()  # only the main thread gets KeyboardInterrupt
    # Threads and events of `threading` are Python code between taking and giving back locks of
    # their own: an interrupt there keeps them for ever. A bare lock is taken, or it is not.
    result: List[Any] = []
    begun: List[bool] = []
    given_up: List[bool] = []
    ended = _thread.allocate_lock()
    ended.acquire()

    def run() -> None:
        _running.add(ended)
        begun.append(True)
        try:
            if not given_up:
                result.append((function(), None))
        except BaseException as e:  # raised again in the caller's thread
            result.append((None, e))
        _running.discard(ended)
        ended.release()

    try:
        _thread.start_new_thread(run, ())
        ended.acquire()
    except BaseException:
        given_up.append(True)  # one that has not begun will not
        if cancel and begun and not result:
            cancel()
            while not result and not ended.acquire(timeout=0.05):
                pass
            if spend and not (result and isinstance(result[0][1], Cancelled)):
                spend()
        raise
    value, error = result.pop()
    if error is not None:
        raise error
    return value
