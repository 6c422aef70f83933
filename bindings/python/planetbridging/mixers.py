"""The mixers: chains of seven and of twelve kinds of layers, without their weights."""
from __future__ import annotations

from typing import Any, Dict, List, Tuple

MIXER_INPUTS: Tuple[Tuple[int, ...], ...] = ((1, 2, 2, 2), (2,))  # a volume; v2: and two ids

Layer = Dict[str, Any]


def _dense(input_dim: int, activation: str = "linear") -> Layer:
    return {"kind": "dense", "input_dim": input_dim, "output_dim": 8, "activation": activation,
            "use_bias": True}


def _conv(rank: int, filters: int, kernel: int, **sizes: int) -> Layer:
    return {"kind": "cnn%d" % rank, "in_channels": 1, "filters": filters, **sizes,
            "kernel_size": kernel, "stride": 1, "padding": 0, "activation": "linear",
            "use_bias": False}


def _first_six() -> List[Layer]:
    return [_conv(3, 2, 2, input_depth=2, input_height=2, input_width=2), _dense(2),
            _conv(2, 2, 2, input_height=2, input_width=4), _dense(6, "relu"),
            _conv(1, 4, 8, input_length=8), _dense(4)]


def _attention() -> Layer:
    return {"kind": "mha", "d_model": 4, "num_heads": 2, "num_kv_heads": 2, "head_dim": 2,
            "seq_len": 2, "causal": False, "rope": False}


def _last_three() -> List[Layer]:
    sizes = {"input_size": 4, "hidden_size": 4, "seq_len": 2}
    return [{"kind": "rnn", **sizes}, {"kind": "lstm", **sizes}, _dense(8)]


def _numbered(layers: List[Layer]) -> Tuple[Layer, ...]:
    return tuple({"kind": layer["kind"], "index": i, **layer} for i, layer in enumerate(layers))


def mixer_v1() -> Tuple[Layer, ...]:
    return _numbered(_first_six() + [_attention()] + _last_three())


def mixer_v2() -> Tuple[Layer, ...]:
    """Its embedding takes ids of their own, so the six layers before it do not reach the output;
    they are in the network all the same."""
    return _numbered(_first_six() + [
        {"kind": "embedding", "vocab_size": 16, "embedding_dim": 4},
        {"kind": "layernorm", "dim": 4}, _attention(), {"kind": "residual", "dim": 4},
        {"kind": "rmsnorm", "dim": 4},
        {"kind": "swiglu", "input_dim": 4, "intermediate_dim": 8}, {"kind": "residual", "dim": 4},
    ] + _last_three())
