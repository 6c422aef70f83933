"""The bedrocks: kinds of layers that are compared with every framework, and the models of each.

A model is a chain of layers as `loom-stream` takes them, without their weights: dicts with `kind`,
`index` and sizes. Where the 13 of planetbridging 0.7.3 are counted, the bedrocks that joined
later (transposed convolutions, softmax) are in FURTHER_BEDROCK_IDS.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .mixers import MIXER_INPUTS, mixer_v1, mixer_v2

Layers = Tuple[Dict[str, Any], ...]

BEDROCK_IDS: Tuple[str, ...] = ("dense", "cnn1", "cnn2", "cnn3", "mha", "lstm", "rnn", "layernorm",
                                "embedding", "rmsnorm", "swiglu", "residual", "mixer")
FURTHER_BEDROCK_IDS: Tuple[str, ...] = ("convt1", "convt2", "convt3", "softmax")
ALL_BEDROCK_IDS: Tuple[str, ...] = BEDROCK_IDS + FURTHER_BEDROCK_IDS

FIXTURE_VERSIONS: Dict[str, str] = {
    bedrock: "%s_bedrock_v%d" % (bedrock, 2 if bedrock == "dense" else 1)
    for bedrock in ALL_BEDROCK_IDS}

# The model that a bedrock is streamed with where none is named.
STREAM_MODEL_IDS: Dict[str, str] = {
    "dense": "mlp_32_64_32_16_8_relu",
    "cnn1": "conv1_32_8_4_2layer",
    "cnn2": "conv2_8_4_2layer",
    "cnn3": "conv3_4_4_2layer",
    "mha": "mha_8_2_4",
    "lstm": "lstm_4_4_4",
    "rnn": "rnn_4_4_4",
    "layernorm": "layernorm_8",
    "embedding": "embedding_16_4_4",
    "rmsnorm": "rmsnorm_8",
    "swiglu": "swiglu_8_16_4",
    "residual": "residual_8",
    "mixer": "mixer_all_v2",
    "convt1": "convt1_8_4",
    "convt2": "convt2_4_4",
    "convt3": "convt3_2_4",
    "softmax": "softmax_8",
}
SMOKE_MODEL_IDS = STREAM_MODEL_IDS

_SEQUENCE_PLANETS = ("pytorch", "tensorflow", "jax")
BEDROCK_PLANETS: Dict[str, Tuple[str, ...]] = {
    bedrock: _SEQUENCE_PLANETS + (("sklearn",) if bedrock == "dense" else ())
    for bedrock in ALL_BEDROCK_IDS}


@dataclass(frozen=True)
class BedrockModel:
    """One model of a bedrock: its layers, the shape of a sample of each input, and the numbers
    that are compared."""

    id: str
    bedrock: str
    layers: Layers
    inputs: Tuple[Tuple[int, ...], ...]
    output_dim: int
    ids: int = 0  # the last input holds whole numbers below this
    scored: bool = True  # counts in the bedrock's table; two-layer models stand beside it


@dataclass(frozen=True)
class BedrockInfo:
    """What is known of a bedrock without running it."""

    id: str
    fixture_version: str
    stream_model_id: str
    layer_count: int

    @property
    def smoke_model_id(self) -> str:
        return self.stream_model_id


def _dense(model_id: str, input_dim: int, units: Sequence[int], activation: str = "relu",
           bias: bool = True) -> BedrockModel:
    layers: List[Dict[str, Any]] = []
    width = input_dim
    for i, out in enumerate(units):
        last = i == len(units) - 1
        layers.append({"kind": "dense", "index": i, "input_dim": width, "output_dim": out,
                       "activation": "linear" if last else activation, "use_bias": bias})
        width = out
    return BedrockModel(model_id, "dense", tuple(layers), ((input_dim,),), width)


_AXES = {1: ("length",), 2: ("height", "width"), 3: ("depth", "height", "width")}


def _conv(model_id: str, rank: int, size: int, specs: Sequence[Tuple[int, int, int, str]],
          transposed: bool = False, channels: int = 1) -> BedrockModel:
    """`specs`: filters, kernel, stride, activation of each layer; the input has `size` along every
    axis."""
    layers: List[Dict[str, Any]] = []
    kind = "%s%d" % ("convt" if transposed else "cnn", rank)
    inputs = ((channels,) + (size,) * rank,)
    for i, (filters, kernel, stride, activation) in enumerate(specs):
        layer: Dict[str, Any] = {"kind": kind, "index": i, "in_channels": channels,
                                 "filters": filters}
        layer.update({"input_" + axis: size for axis in _AXES[rank]})
        layer.update({"kernel_size": kernel, "stride": stride, "padding": 0,
                      "activation": activation, "use_bias": transposed})
        layers.append(layer)
        channels = filters
        size = (size - 1) * stride + kernel if transposed else (size - kernel) // stride + 1
    return BedrockModel(model_id, kind, tuple(layers), inputs, channels * size ** rank,
                        scored=len(specs) == 1)


def _recurrent(kind: str, features: int, hidden: int, steps: int) -> BedrockModel:
    layer = {"kind": kind, "index": 0, "input_size": features, "hidden_size": hidden,
             "seq_len": steps}
    return BedrockModel("%s_%d_%d_%d" % (kind, features, hidden, steps), kind, (layer,),
                        ((steps, features),), steps * hidden)


def _attention(model_id: str, width: int, heads: int, steps: int) -> BedrockModel:
    layer = {"kind": "mha", "index": 0, "d_model": width, "num_heads": heads,
             "num_kv_heads": heads, "head_dim": width // heads, "seq_len": steps,
             "causal": False, "rope": False}
    return BedrockModel(model_id, "mha", (layer,), ((steps, width),), steps * width)


def _rows(kind: str, dim: int, steps: int = 4) -> BedrockModel:
    """A layer over each of `steps` rows of `dim` numbers."""
    inputs = ((steps, dim),) * (2 if kind == "residual" else 1)
    return BedrockModel("%s_%d" % (kind, dim), kind, ({"kind": kind, "index": 0, "dim": dim},),
                        inputs, steps * dim)


def _swiglu(dim: int, hidden: int, steps: int) -> BedrockModel:
    layer = {"kind": "swiglu", "index": 0, "input_dim": dim, "intermediate_dim": hidden}
    return BedrockModel("swiglu_%d_%d_%d" % (dim, hidden, steps), "swiglu", (layer,),
                        ((steps, dim),), steps * dim)


def _embedding(ids: int, steps: int, dim: int) -> BedrockModel:
    layer = {"kind": "embedding", "index": 0, "vocab_size": ids, "embedding_dim": dim,
             "seq_len": steps}
    return BedrockModel("embedding_%d_%d_%d" % (ids, steps, dim), "embedding", (layer,),
                        ((steps,),), steps * dim, ids)


def _mixer(model_id: str, layers: Layers) -> BedrockModel:
    second = model_id.endswith("v2")
    return BedrockModel(model_id, "mixer", layers, MIXER_INPUTS if second else MIXER_INPUTS[:1], 8,
                        16 if second else 0)


def _models() -> Dict[str, Tuple[BedrockModel, ...]]:
    made: Dict[str, List[BedrockModel]] = {
        "dense": [
            _dense("linear_16_4", 16, (4,)),
            _dense("linear_32_4", 32, (4,)),
            _dense("mlp_32_16_4_relu", 32, (16, 4)),
            _dense("mlp_32_16_4_tanh", 32, (16, 4), "tanh"),
            _dense("mlp_32_16_4_sigmoid", 32, (16, 4), "sigmoid"),
            _dense("mlp_64_32_16_4_relu", 64, (32, 16, 4)),
            _dense("mlp_32_32_32_8_relu", 32, (32, 32, 8)),
            _dense("mlp_128_64_32_16_4_relu", 128, (64, 32, 16, 4)),
            _dense("mlp_32_128_32_8_relu", 32, (128, 32, 8)),
            _dense("mlp_32_16_8_no_bias", 32, (16, 8), bias=False),
            _dense("mlp_16_16_16_16_4_relu", 16, (16, 16, 16, 4)),
            _dense("mlp_32_64_32_16_8_relu", 32, (64, 32, 16, 8))],
        "cnn1": [
            _conv("conv1_32_4", 1, 32, [(4, 32, 1, "linear")]),
            _conv("conv1_64_8", 1, 64, [(8, 64, 1, "linear")]),
            _conv("conv1_16_4", 1, 16, [(4, 16, 1, "relu")]),
            _conv("conv1_32_8_relu", 1, 32, [(8, 32, 1, "relu")]),
            _conv("conv1_32_8_4_2layer", 1, 32, [(8, 16, 2, "relu"), (4, 8, 1, "linear")])],
        "cnn2": [
            _conv("conv2_8_4", 2, 8, [(4, 8, 1, "linear")]),
            _conv("conv2_16_4", 2, 16, [(4, 16, 1, "relu")]),
            _conv("conv2_16_8_relu", 2, 16, [(8, 16, 1, "relu")]),
            _conv("conv2_32_8", 2, 32, [(8, 32, 1, "linear")]),
            _conv("conv2_8_4_2layer", 2, 8, [(4, 4, 2, "relu"), (4, 3, 1, "linear")])],
        "cnn3": [
            _conv("conv3_4_4", 3, 4, [(4, 4, 1, "linear")]),
            _conv("conv3_8_4", 3, 8, [(4, 8, 1, "relu")]),
            _conv("conv3_8_8_relu", 3, 8, [(8, 8, 1, "relu")]),
            _conv("conv3_6_4", 3, 6, [(4, 6, 1, "linear")]),
            _conv("conv3_4_4_2layer", 3, 4, [(4, 2, 2, "relu"), (4, 2, 1, "linear")])],
        "mha": [_attention("mha_8_2_4", 8, 2, 4), _attention("mha_16_2_8", 16, 2, 4),
                _attention("mha_16_4_4", 16, 4, 4), _attention("mha_8_4_8", 8, 4, 8)],
        "embedding": [_embedding(*sizes) for sizes in
                      ((16, 4, 4), (32, 4, 8), (32, 8, 4), (64, 8, 8))],
        "swiglu": [_swiglu(*sizes) for sizes in
                   ((4, 8, 4), (8, 16, 4), (4, 16, 4), (8, 8, 4))],
        "mixer": [_mixer("mixer_all_v1", mixer_v1()), _mixer("mixer_all_v2", mixer_v2())],
        "convt1": [_conv("convt1_8_4", 1, 8, [(4, 3, 1, "linear")], True),
                   _conv("convt1_8_8_relu", 1, 8, [(8, 4, 2, "relu")], True, 2),
                   _conv("convt1_16_4", 1, 16, [(4, 5, 3, "linear")], True, 3),
                   _conv("convt1_4_2", 1, 4, [(2, 2, 2, "linear")], True, 4)],
        "convt2": [_conv("convt2_4_4", 2, 4, [(4, 3, 1, "linear")], True),
                   _conv("convt2_4_8_relu", 2, 4, [(8, 2, 2, "relu")], True, 2),
                   _conv("convt2_3_4", 2, 3, [(4, 4, 2, "linear")], True, 3),
                   _conv("convt2_8_2", 2, 8, [(2, 3, 2, "linear")], True, 4)],
        "convt3": [_conv("convt3_2_4", 3, 2, [(4, 3, 1, "linear")], True),
                   _conv("convt3_2_8_relu", 3, 2, [(8, 2, 2, "relu")], True, 2),
                   _conv("convt3_3_4", 3, 3, [(4, 2, 1, "linear")], True, 3),
                   _conv("convt3_4_2", 3, 4, [(2, 3, 2, "linear")], True, 2)],
    }
    for kind in ("lstm", "rnn"):
        made[kind] = [_recurrent(kind, *sizes) for sizes in
                      ((4, 4, 4), (8, 4, 8), (4, 8, 4), (8, 8, 8))]
    for kind in ("layernorm", "rmsnorm", "residual", "softmax"):
        made[kind] = [_rows(kind, dim) for dim in (4, 8, 16, 32)]
    return {bedrock: tuple(made[bedrock]) for bedrock in ALL_BEDROCK_IDS}


MODELS: Dict[str, Tuple[BedrockModel, ...]] = _models()


def model_of(bedrock: str, model_id: Optional[str] = None) -> BedrockModel:
    """A model by its id; none: the one that the bedrock is streamed with. Raises ValueError with
    what there is."""
    bedrock = bedrock.lower().strip()
    if bedrock not in MODELS:
        raise ValueError("unknown bedrock %r: there are %s" % (bedrock, ", ".join(MODELS)))
    wanted = model_id or STREAM_MODEL_IDS[bedrock]
    for model in MODELS[bedrock]:
        if model.id == wanted:
            return model
    raise ValueError("unknown model %r of %s: there are %s" % (
        wanted, bedrock, ", ".join(m.id for m in MODELS[bedrock])))


STREAM_LAYER_COUNTS: Dict[str, int] = {bedrock: len(model_of(bedrock).layers)
                                       for bedrock in ALL_BEDROCK_IDS}

BEDROCKS: Dict[str, BedrockInfo] = {
    bedrock: BedrockInfo(bedrock, FIXTURE_VERSIONS[bedrock], STREAM_MODEL_IDS[bedrock],
                         STREAM_LAYER_COUNTS[bedrock]) for bedrock in ALL_BEDROCK_IDS}
