"""Weights to an .entity file by the program `loom-stream`, one function for each bedrock."""
from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from ._binary import repo_root, run_loom_stream
from ._fixtures import resolve_fixtures_dir
from .compare import compare_outputs, diff_label
from .layers.dense import DenseLayer

FilePath = Union[str, Path]


@dataclass(frozen=True)
class StreamResult:
    """The file, what the network answers, and how that differs from the framework's outputs where
    they were given. outputs: [samples, numbers]."""

    entity_path: str
    outputs: np.ndarray
    layer_count: int
    weight_bytes: int
    max_abs_diff: Optional[float] = None
    mean_abs_diff: Optional[float] = None
    exact_match: Optional[bool] = None
    compare_label: Optional[str] = None
    native_reference: Optional[np.ndarray] = None

    @property
    def output_dim(self) -> int:
        return 1 if self.outputs.ndim == 1 else int(self.outputs.shape[-1])


def _copied(entity_path: str, output_path: Optional[FilePath]) -> str:
    """Where another program wrote elsewhere than it was told, its file comes to the place."""
    if output_path is None or not entity_path or Path(entity_path) == Path(output_path):
        return entity_path
    Path(output_path).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(entity_path, output_path)
    return str(output_path)


def _result(reply: Mapping[str, Any], layers: int, native: Optional[np.ndarray],
            entity_path: str) -> StreamResult:
    outputs = np.asarray(reply.get("outputs", []), np.float64)
    largest = mean = exact = label = None
    if native is not None and outputs.size:
        largest, mean, exact = compare_outputs(native, outputs)
        label = diff_label(largest, exact=exact)
    return StreamResult(entity_path, outputs, int(reply.get("layer_count", layers)),
                        int(reply.get("weight_bytes", 0)), largest, mean, exact, label, native)


def stream_bedrock(bedrock: str, payload: Mapping[str, Any], *, fixture_version: str = "",
                   output_path: Optional[FilePath] = None, models_dir: Optional[FilePath] = None,
                   fixtures_dir: Optional[FilePath] = None, root: Optional[FilePath] = None,
                   inputs: Any = None, native_outputs: Any = None,
                   binary: Optional[FilePath] = None, skip_infer: bool = False) -> StreamResult:
    """Streams a payload (planetbridging.protocol says what it holds). `inputs`: the samples to
    run, else those of `fixture_version`; `native_outputs`: what the framework answered, [samples,
    numbers]. Raises ValueError without layers, RuntimeError with what the program says."""
    bedrock = bedrock.lower().strip()
    if not payload.get("layers"):
        raise ValueError("payload.layers required")
    base = Path(root) if root else repo_root()
    version = fixture_version or str(payload.get("fixture_version", ""))
    if fixtures_dir is None and version and inputs is None and not skip_infer:
        fixtures_dir = resolve_fixtures_dir(bedrock, base, version)
    envelope: Dict[str, Any] = {"bedrock": bedrock, "root": str(base)}
    for key, value in (("fixture_version", version), ("models_dir", models_dir),
                       ("fixtures_dir", fixtures_dir), ("output_path", output_path)):
        if value:
            envelope[key] = str(value)
    if skip_infer:
        envelope["skip_infer"] = True
    if inputs is not None:
        x = np.asarray(inputs, np.float64)
        x = x.reshape(1, -1) if x.ndim == 1 else x.reshape(len(x), -1)
        envelope["inputs"] = x.tolist()
    body = {"bedrock": bedrock, **({"fixture_version": version} if version else {}), **payload}
    reply = run_loom_stream(binary=binary, envelope=envelope, payload=body)
    if reply.get("status") != "ok":
        raise RuntimeError(str(reply.get("message", reply)))
    native = None if native_outputs is None else np.asarray(native_outputs)
    return _result(reply, len(payload["layers"]), native,
                   _copied(str(reply.get("entity_path", "")), output_path))


def stream_dense(*, planet: str, model_id: str, layers: Sequence[DenseLayer], input_dim: int,
                 fixture_version: str = "", **options: Any) -> StreamResult:
    """Streams dense layers; `options` are those of stream_bedrock."""
    if not layers:
        raise ValueError("layers required")
    payload = {"planet": planet, "model_id": model_id, "fixture_version": fixture_version,
               "input_dim": input_dim, "layers": [layer.to_json_dict() for layer in layers]}
    return stream_bedrock("dense", payload, fixture_version=fixture_version, **options)


def stream_mixer(*, planet: str, model_id: str, layers: List[Dict[str, Any]], output_dim: int,
                 fixture_version: str = "mixer_bedrock_v1", **options: Any) -> StreamResult:
    """Streams a chain of layers of different kinds; `options` are those of stream_bedrock."""
    payload = {"bedrock": "mixer", "planet": planet, "model_id": model_id,
               "fixture_version": fixture_version, "output_dim": output_dim, "layers": layers}
    return stream_bedrock("mixer", payload, fixture_version=fixture_version, **options)


def stream_cnn1(payload: Mapping[str, Any], **options: Any) -> StreamResult:
    return stream_bedrock("cnn1", payload, **options)


def stream_cnn2(payload: Mapping[str, Any], **options: Any) -> StreamResult:
    return stream_bedrock("cnn2", payload, **options)


def stream_cnn3(payload: Mapping[str, Any], **options: Any) -> StreamResult:
    return stream_bedrock("cnn3", payload, **options)


def stream_mha(payload: Mapping[str, Any], **options: Any) -> StreamResult:
    return stream_bedrock("mha", payload, **options)


def stream_lstm(payload: Mapping[str, Any], **options: Any) -> StreamResult:
    return stream_bedrock("lstm", payload, **options)


def stream_rnn(payload: Mapping[str, Any], **options: Any) -> StreamResult:
    return stream_bedrock("rnn", payload, **options)


def stream_layernorm(payload: Mapping[str, Any], **options: Any) -> StreamResult:
    return stream_bedrock("layernorm", payload, **options)


def stream_embedding(payload: Mapping[str, Any], **options: Any) -> StreamResult:
    return stream_bedrock("embedding", payload, **options)


def stream_rmsnorm(payload: Mapping[str, Any], **options: Any) -> StreamResult:
    return stream_bedrock("rmsnorm", payload, **options)


def stream_swiglu(payload: Mapping[str, Any], **options: Any) -> StreamResult:
    return stream_bedrock("swiglu", payload, **options)


def stream_residual(payload: Mapping[str, Any], **options: Any) -> StreamResult:
    return stream_bedrock("residual", payload, **options)
