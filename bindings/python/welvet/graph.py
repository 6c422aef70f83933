"""ONNX graphs."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Dict, Optional, Tuple, Union

import numpy as np

from ._core.call import call, new_bytes, plain
from ._core.errors import Unsupported
from ._core.object import Runner
from .network import Network

_TYPES = {"float": np.float32, "double": np.float64, "float16": np.float16, "bool": np.bool_,
          "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
          "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64}
# Types that NumPy has only with the package ml_dtypes: their names there, and what results are
# without it.
_SMALL = {"bfloat16": ("bfloat16", np.float32), "float8e4m3fn": ("float8_e4m3fn", np.float32),
          "float8e4m3fnuz": ("float8_e4m3fnuz", np.float32),
          "float8e5m2": ("float8_e5m2", np.float32),
          "float8e5m2fnuz": ("float8_e5m2fnuz", np.float32),
          "float8e8m0": ("float8_e8m0fnu", np.float32), "float4e2m1": ("float4_e2m1fn", np.float32),
          "int4": ("int4", np.int8),
          "uint4": ("uint4", np.uint8), "int2": ("int2", np.int8), "uint2": ("uint2", np.uint8)}


def _type_of(name: str) -> Any:
    if name in _TYPES:
        return _TYPES[name]
    own, instead = _SMALL[name]
    try:
        import ml_dtypes
    except ImportError:
        return instead
    return getattr(ml_dtypes, own, instead)


class Graph(Runner):
    """A graph of an .onnx file. Immutable; any number of threads may run it. Made by
    from_onnx()."""

    _nothing = ("onnx_run", [], ())

    def __init__(self) -> None:
        raise TypeError("use from_onnx")

    @property
    def info(self) -> Dict[str, Any]:
        """producer, opset, nodes (a count per operator), inputs and outputs (name, type, dims: -1
        where open)."""
        return call("onnx_info", self._handle)  # type: ignore[no-any-return]

    def run(self, inputs: Dict[str, Any]) -> Dict[str, np.ndarray]:
        """One run: arrays by the names of the inputs, in the graph's types; the results by the
        names of the outputs. float8, float4, bfloat16 and integers below a byte are types of the
        package ml_dtypes; without it results have wider ones.

        It computes in float32. Raises Unsupported, with the name of the node, for what no layer
        does; OutOfRange for integers beyond 2^24.
        """
        arrays = {name: plain(value, name) for name, value in inputs.items()}
        for name, a in arrays.items():
            if a.dtype.kind not in "biuf" and a.dtype.name not in (own for own,
                                                                   _ in _SMALL.values()):
                raise Unsupported("the input '%s' of %s is not mapped: expects numbers"
                                  % (name, a.dtype))
        values = np.concatenate(
            [a.astype(np.float64).ravel() for a in arrays.values()]) if arrays else np.zeros(0)
        outputs, results = self._run("onnx_run",
                                     [{"name": name, "dims": list(a.shape)} for name,
                                      a in arrays.items()], values)
        try:
            pointer, size = call("bytes_data", results)
            data = np.frombuffer((ctypes.c_char * size).from_address(pointer),
                                 "<f8").copy() if size else np.zeros(0)
        finally:
            call("release", results)
        made, at = {}, 0
        for out in outputs:
            count = int(np.prod(out["dims"], dtype=np.int64))
            made[out["name"]] = data[at:at + count].reshape(out["dims"]).astype(
                _type_of(out["type"]))
            at += count
        return made

    def network(self, dims: Optional[Dict[str, int]] = None, max: Optional[Dict[str, int]] = None
                ) -> Tuple[Network, Dict[str, Any]]:
        """The graph as a Network that trains, morphs and saves, and its ports: inputs and outputs
        with their first column in the row, and a report: which dimension is the batch, then a line
        per node.

        Where the first dimension of an input is the only one left open, it is the batch: rows of
        the network. Other open dimensions get their sizes here, by name, or as "x:1" where the
        dimension 1 of the input x has none: network({"seq": 128}). run() takes any size.

        With max={"seq": 128} the network takes any length up to that: rows are padded, the last
        input "lengths" says how long each is, and outputs are 0 behind it."""
        handle, ports = call("onnx_network", self._handle, {"dims": dims or {}, "max": max or {}})
        return Network._of(handle), ports


def from_onnx(source: Union[str, "os.PathLike[str]", bytes, bytearray, memoryview]) -> Graph:
    """A graph from the path of an .onnx file, or from its bytes."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        handle = new_bytes(source)
        try:
            return Graph._of(call("onnx_load_bytes", handle))  # type: ignore[no-any-return]
        finally:
            call("release", handle)
    return Graph._of(call("onnx_load", os.fspath(source)))  # type: ignore[no-any-return]
