"""Loom, the embeddable neural engine: networks that train and run with the same bits on every machine.

    from welvet import Transformer
    model = Transformer.load_model("embedded")
    for piece in model.generate_stream("Once upon a time"):
        print(piece, end="", flush=True)
"""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple

from . import _call
from ._errors import (
    Busy, Cancelled, Corrupt, Internal, InvalidArgument, InvalidHandle, IOFailed, LoomError, NotFound, OutOfMemory, OutOfRange, Truncated, Unsupported,
)
from .network import Network, Parameter, Session
from .text import Decoder, Tokenizer
from .training import Data, Step, Trainer
from .transformer import Piece, Text, Transformer

__all__ = [
    "Busy", "Cancelled", "Corrupt", "Data", "Decoder", "Internal", "InvalidArgument", "InvalidHandle", "IOFailed", "LoomError", "Network", "NotFound", "OutOfMemory",
    "OutOfRange", "Parameter", "Piece", "Session", "Step", "Text", "Tokenizer", "Trainer", "Transformer", "Truncated", "Unsupported", "Verification", "info",
    "live_handles", "numerics_version", "verify", "version",
]
__version__ = "0.1.0"


class Verification(NamedTuple):
    """The numerics table of this machine. `equal`: its fingerprint is the golden one, which every build must have."""

    equal: bool
    fingerprint: str
    golden: str
    numerics_version: int
    rows: List[Dict[str, str]]  # name, hash


def version() -> str:
    """Version of the library."""
    return _call.call("version")  # type: ignore[no-any-return]


def numerics_version() -> int:
    """Version of the numerics contract: equal versions give equal bits."""
    return _call.call("numerics_version")  # type: ignore[no-any-return]


def info() -> Dict[str, Any]:
    """What this build and machine can do: version, abi_version, numerics_version, isa, isas, threads, dtypes, formats, layers,
    embedded_model, and the path of the library."""
    return {**_call.call("info"), "library": _call.library().path}


def verify(isa: str = "", threads: int = 0) -> Verification:
    """Runs the numerics table of docs/reference/numerics.md; takes seconds. `isa`: "" is the best here; `threads`: 0 is one per core."""
    report = _call.interruptible(lambda: _call.call("verify", {"isa": isa, "threads": threads}))
    return Verification(**{key: report[key] for key in Verification._fields})


def live_handles() -> int:
    """How many handles of the library exist in this process: what a test of leaks looks at."""
    return _call.call("live_handles")  # type: ignore[no-any-return]
