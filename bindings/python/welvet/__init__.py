"""Loom, the embeddable neural engine: networks that train and run with the same bits on every
machine.

    from welvet import Transformer
    model = Transformer.load_model("embedded")
    for piece in model.generate_stream("Once upon a time"):
        print(piece, end="", flush=True)
"""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple

import numpy as np

from . import cluster, layers, sinks
from ._core import call as _call
from ._core.errors import (
    Busy, Cancelled, Corrupt, Internal, InvalidArgument, InvalidHandle, IOFailed, LoomError,
    NotFound, OutOfMemory, OutOfRange, Paused, Truncated, Unsupported,
)
from .custom import custom_layer, register_layer, unregister_layer
from .ensemble import Ensemble, Match, Selection, matches
from .files import Fitted, Training, convert, evaluate, export, fit
from .graph import Graph, from_onnx
from .introspect import methods
from .measure import correlation, deviation
from .memory import MemoryHistory
from .network import Forecast, Network, Parameter, Session
from .observe import Observation
from .online import Online
from .population import Genome, Population
from .predictor import Predictor
from .program import Program
from .seq2seq import Found, Seq2Seq
from .step_mesh import StepMesh
from .text import Decoder, Tokenizer
from .training import (
    Callback, Data, EarlyStopping, Epoch, History, Progress, Step, Trainer, distill,
)
from .transformer import Piece, Text, Transformer
from .webgpu import use_webgpu
from .weights import FromWeights, OpenQuestions, from_weights, weights_report

__all__ = [
    "Busy", "Callback", "Cancelled", "Corrupt", "Data", "Decoder", "EarlyStopping", "Ensemble",
    "Epoch", "Fitted", "Forecast", "Found", "FromWeights", "Genome", "Graph", "History", "IOFailed",
    "Internal", "InvalidArgument", "InvalidHandle", "LoomError", "Match", "MemoryHistory",
    "Network", "NotFound", "Observation", "Online", "OpenQuestions", "OutOfMemory", "OutOfRange",
    "Parameter", "Paused", "Piece", "Population", "Predictor", "Program", "Progress", "Selection",
    "Seq2Seq", "Session", "Step", "StepMesh", "Text", "Tokenizer", "Trainer", "Training",
    "Transformer", "Truncated", "Unsupported", "Verification", "audit", "cluster", "compareDNA",
    "compare_dna", "convert", "correlation", "custom_layer", "defaultTweenConfig", "deviation",
    "distill", "dna", "evaluate", "export", "fake_quantize", "fit", "from_onnx", "from_weights",
    "graft", "info", "layers", "live_handles", "matches", "methods", "numerics_version",
    "register_layer", "simulate", "sinks", "unregister_layer", "use_webgpu", "verify",
    "version", "weights_report",
]
__version__ = "0.1.0"


class Verification(NamedTuple):
    """The numerics table of this machine. `equal`: its fingerprint is the golden one, which every
    build must have."""

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
    """What this build and machine can do: version, abi_version, numerics_version, isa, isas,
    fast_isas, threads, dtypes, formats, layers, embedded_model, and the path of the library."""
    return {**_call.call("info"), "library": _call.library().path}


def audit(device: str = "auto", measure: bool = False) -> Dict[str, Any]:
    """What this machine offers to Loom: os, cpu, caches, memory, gpus, measured, loom, and
    `unknown`, which holds the reason for each value that is None by its path ("cpu.model"):
    docs/reference/audit.md. `device`: "auto" looks for a GPU, "cpu" does not, "gpu" raises
    Unsupported where there is none. `measure` adds speeds of memory and products, which takes a
    second or two. Opens no socket."""
    return _call.interruptible(  # type: ignore[no-any-return]
        lambda: _call.call("audit", {"device": device, "measure": measure}))


def fake_quantize(x: Any, format: str) -> np.ndarray:
    """What weights are once they are held in `format` ("i8", "i4:row", "ternary",
    "fp8e4m3:block32"): rounded, scaled and decoded, as a network sees them after `morph`. The first
    dimension of x counts the rows of the matrix, as in PyTorch's weights; one dimension is one row.
    Returns float32 of the same shape. Raises InvalidArgument for an unknown format, or where x is
    empty."""
    values = _call.array(x, np.float32, "x")
    rounded = np.empty_like(values)
    rows = values.shape[0] if values.ndim > 1 else 1
    _call.call("fake_quantize", values.reshape(-1), format, rows, rounded.reshape(-1))
    return rounded


simulate = fake_quantize  # the name of the project's earlier documents


def dna(network: Network) -> Dict[str, Any]:
    """Network.dna: what identifies each weighted layer."""
    return network.dna()


def compare_dna(a: Network, b: Network) -> Dict[str, Any]:
    """Network.compare_dna: how the layers of two networks relate."""
    return a.compare_dna(b)


def graft(*networks: Network, **options: Any) -> Network:
    """Network.graft: whole networks as the branches of one."""
    return Network.graft(networks, **options)


compareDNA = compare_dna  # the name of the project's earlier documents


def defaultTweenConfig() -> Dict[str, Any]:
    """What the earlier engine learned by local targets with, as arguments of Network.train:
    `network.train(x, y, **welvet.defaultTweenConfig())`. Its rule adds a tenth of an update to the
    velocity, so that its rate of 0.01 is 0.001 here (docs/guide/methods.md)."""
    return {"method": "target_propagation", "optimizer": {"type": "sgd", "momentum": 0.9},
            "lr": 0.001, "batch_size": 1}


def verify(isa: str = "", threads: int = 0) -> Verification:
    """Runs the numerics table of docs/reference/numerics.md; takes seconds. `isa`: "" is the best
    here; `threads`: 0 is one per core."""
    report = _call.interruptible(lambda: _call.call("verify", {"isa": isa, "threads": threads}))
    return Verification(**{key: report[key] for key in Verification._fields})


def live_handles() -> int:
    """How many handles of the library exist in this process: what a test of leaks looks at."""
    return _call.call("live_handles")  # type: ignore[no-any-return]
