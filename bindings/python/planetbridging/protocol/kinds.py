"""The layers of `loom-stream`: each kind's numbers, and the cells that they become.

A layer is a dict: `kind`, `index`, sizes, and its weights as flat lists, row-major. Beside what
planetbridging 0.7.3 sends there are `causal` and `rope` (mha, both true where they are absent),
`eps` (layernorm, rmsnorm), biases of convolutions, and the kinds convt1 to convt3 and softmax.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ..graph import Batch, Constant, Graph, Value, count

Layer = Dict[str, Any]

ACTIVATIONS = {"linear": "linear", "": "linear", "none": "linear", "identity": "linear",
               "relu": "relu", "silu": "silu", "swish": "silu", "gelu": "gelu_tanh",
               "gelu_tanh": "gelu_tanh", "gelu_erf": "gelu_erf", "tanh": "tanh",
               "sigmoid": "sigmoid", "logistic": "sigmoid", "leaky_relu": "leaky_relu",
               "leakyrelu": "leaky_relu", "relu2": "relu2"}
_SPACE = {1: ("input_length",), 2: ("input_height", "input_width"),
          3: ("input_depth", "input_height", "input_width")}


class Refused(ValueError):
    """A request that is no network: the message says which layer and what it should have."""


def name_of(layer: Layer) -> str:
    return "layer %s (%s)" % (layer.get("index"), layer.get("kind"))


def size(layer: Layer, key: str, default: Optional[int] = None, least: int = 1) -> int:
    """A whole number of a layer."""
    value = layer.get(key, default)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise Refused("%s: %s is %r, expects a whole number of at least %d"
                      % (name_of(layer), key, value, least))
    return value


def flag(layer: Layer, key: str, default: bool) -> bool:
    value = layer.get(key, default)
    if not isinstance(value, bool):
        raise Refused("%s: %s is %r, expects true or false" % (name_of(layer), key, value))
    return value


def numbers(layer: Layer, key: str, wanted: int, optional: bool = False) -> Optional[np.ndarray]:
    """A list of weights, as f32."""
    given = layer.get(key)
    if given is None or (optional and len(given) == 0):
        if optional:
            return None
        raise Refused("%s: %s is missing, expects %d numbers" % (name_of(layer), key, wanted))
    try:
        made = np.asarray(given, np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise Refused("%s: %s is no list of numbers" % (name_of(layer), key)) from None
    if made.size != wanted:
        raise Refused("%s: %s has %d numbers, expects %d"
                      % (name_of(layer), key, made.size, wanted))
    with np.errstate(over="ignore"):
        narrow = made.astype(np.float32)
    if not np.isfinite(narrow).all():
        raise Refused("%s: %s has a number that is not finite in f32" % (name_of(layer), key))
    return narrow


def activation_of(layer: Layer) -> str:
    given = layer.get("activation", "linear")
    made = ACTIVATIONS.get(str(given).lower())
    if made is None:
        raise Refused("%s: activation is %r, expects one of %s" % (
            name_of(layer), given, ", ".join(sorted(a for a in ACTIVATIONS if a))))
    return made


class Chain:
    """The network while it is written. `x` is what the last layer made, `before` what it took,
    `second` a further input where the chain has one: ids, or what a first residual adds."""

    def __init__(self, graph: Graph, x: Value, second: Optional[Value] = None) -> None:
        self.graph, self.x, self.second = graph, x, second
        self.before: Optional[Value] = None
        self.arrays: Dict[str, np.ndarray] = {}

    def fill(self, layer: Layer, key: str, array: np.ndarray) -> Constant:
        name = "layers.%d.%s" % (layer["index"], key)
        self.arrays[name] = array
        return Constant.named(name, array)

    def weights(self, layer: Layer, key: str, shape: Sequence[int],
                optional: bool = False) -> Optional[Constant]:
        array = numbers(layer, key, count(shape), optional)
        return None if array is None else self.fill(layer, key, array.reshape(tuple(shape)))

    def takes(self, layer: Layer, shape: Sequence[int]) -> Value:
        """The layer's input: what the one before made, in this shape."""
        if count(shape) != count(self.x.row):
            raise Refused("%s: takes %s, %d numbers; the layer before it makes %d" % (
                name_of(layer), list(shape), count(shape), count(self.x.row)))
        made = self.graph.reshape(self.x, (None, *shape))
        assert isinstance(made, Value)
        return made

    def rows(self, layer: Layer, width: int) -> Value:
        """Its input as rows of this width."""
        total = count(self.x.row)
        if total % width:
            raise Refused("%s: takes rows of %d numbers; the layer before it makes %d"
                          % (name_of(layer), width, total))
        return self.takes(layer, (total // width, width))

    def add(self, layer: Layer) -> None:
        kind = str(layer["kind"]).lower()
        unknown = sorted(set(layer) - {"kind", "index"} - set(_KEYS[kind]))
        if unknown:
            raise Refused("%s: unknown keys %s; there are %s" % (
                name_of(layer), ", ".join(unknown), ", ".join(_KEYS[kind])))
        self.graph.where = "layers.%d" % layer["index"]
        came = self.x
        self.x = KINDS[kind](self, layer)
        self.before = came


def _known(weights: Optional[Constant]) -> Constant:
    assert weights is not None
    return weights


def _dense(chain: Chain, layer: Layer) -> Value:
    width, out = size(layer, "input_dim"), size(layer, "output_dim")
    rows = chain.rows(layer, width)
    x = rows if rows.shape[1] != 1 else chain.takes(layer, (width,))
    return chain.graph.dense(x, _known(chain.weights(layer, "weights", (out, width))),
                             chain.weights(layer, "bias", (out,), True), activation_of(layer))


def _conv(chain: Chain, layer: Layer) -> Value:
    kind = layer["kind"].lower()
    rank, graph = int(kind[-1]), chain.graph
    channels, filters = size(layer, "in_channels"), size(layer, "filters")
    kernel, stride = size(layer, "kernel_size"), size(layer, "stride", 1)
    padding = size(layer, "padding", 0, 0)
    space = [size(layer, key) for key in _SPACE[rank]]
    x = chain.takes(layer, (channels, *space))
    bias = chain.weights(layer, "bias", (filters,), True)
    weights = _known(chain.weights(layer, "weights", (filters, channels) + (kernel,) * rank))
    if kind.startswith("cnn"):
        if any(n + 2 * padding < kernel for n in space):
            raise Refused("%s: a kernel of %d over an input of %s with a padding of %d"
                          % (name_of(layer), kernel, space, padding))
        y = graph.conv(x, weights, bias, stride=[stride] * rank, padding=[padding] * rank)
    else:
        more = size(layer, "output_padding", 0, 0)
        made = [(n - 1) * stride - 2 * padding + kernel + more for n in space]
        if more >= max(stride, 1) or min(made) < 1:
            raise Refused("%s: an output padding of %d with a stride of %d makes %s"
                          % (name_of(layer), more, stride, made))
        config: Layer = {"type": "conv_transpose%dd" % rank, "filters": filters,
                         "kernel": [kernel] * rank, "stride": [stride] * rank,
                         "padding": [padding] * rank}
        if more:
            config["output_padding"] = [more] * rank
        if bias is None:
            config["bias"] = False
        order = (0, *range(2, 2 + rank), 1)  # filters, kernel, channels
        flat = weights.transposed(order).reshaped((filters * kernel ** rank, channels))
        fills = {"weight": flat} if bias is None else {"weight": flat, "bias": bias}
        y = graph.layer(config, x, (Batch(), filters, *made), fills=fills)
    kind = activation_of(layer)
    return y if kind == "linear" else graph.activation(y, kind)


def _attention(chain: Chain, layer: Layer) -> Value:
    width, steps = size(layer, "d_model"), size(layer, "seq_len")
    heads = size(layer, "num_heads")
    grouped = size(layer, "num_kv_heads", 0, 0) or heads
    each = size(layer, "head_dim", 0, 0) or width // heads
    if heads % grouped or each < 1:
        raise Refused("%s: %d heads over %d key heads of %d numbers"
                      % (name_of(layer), heads, grouped, each))
    config: Layer = {"type": "attention", "heads": heads, "kv_heads": grouped, "head_dim": each,
                     "causal": flag(layer, "causal", True), "rope": flag(layer, "rope", True)}
    if config["rope"]:
        config["rope_theta"] = float(layer.get("rope_theta", 10000.0))
    fills: Dict[str, Constant] = {}
    sizes = {"q": (heads * each, width), "k": (grouped * each, width),
             "v": (grouped * each, width), "o": (width, heads * each)}
    for role, shape in sizes.items():
        fills[role] = _known(chain.weights(layer, role + "_weights", shape))
    biases = {role: chain.weights(layer, role + "_bias", shape[:1], True)
              for role, shape in sizes.items()}
    if any(biases[role] is not None for role in "qkv"):
        config["qkv_bias"] = True
        for role in "qkv":
            fills[role + "_bias"] = biases[role] or chain.fill(
                layer, role + "_bias", np.zeros(sizes[role][0], np.float32))
    if biases["o"] is not None:
        config["out_bias"] = True
        fills["o_bias"] = _known(biases["o"])
    x = chain.takes(layer, (steps, width))
    return chain.graph.layer(config, x, x.shape, takes=(steps, width), fills=fills)


def _gates(chain: Chain, layer: Layer, keys: Sequence[str]) -> Tuple[Value, Dict[str, Constant],
                                                                     int]:
    """The parameters of a recurrent layer; each key holds [W_ih | W_hh | b] of one gate."""
    features, hidden = size(layer, "input_size"), size(layer, "hidden_size")
    parts: List[List[np.ndarray]] = [[], [], []]
    for key in keys:
        array = numbers(layer, key, hidden * (features + hidden + 1))
        assert array is not None
        first, second = hidden * features, hidden * (features + hidden)
        parts[0].append(array[:first].reshape(hidden, features))
        parts[1].append(array[first:second].reshape(hidden, hidden))
        parts[2].append(array[second:])
    made = [np.concatenate(p) for p in parts]
    fills = {"weight_ih_l0": chain.fill(layer, "weight_ih", made[0]),
             "weight_hh_l0": chain.fill(layer, "weight_hh", made[1]),
             "bias_ih_l0": chain.fill(layer, "bias", made[2]),
             "bias_hh_l0": Constant.of(np.zeros_like(made[2]))}
    return chain.takes(layer, (size(layer, "seq_len"), features)), fills, hidden


def _lstm(chain: Chain, layer: Layer) -> Value:
    keys = ["%s_weights" % gate for gate in "ifgo"]
    return chain.graph.recurrent("lstm", *_gates(chain, layer, keys))[0]


def _rnn(chain: Chain, layer: Layer) -> Value:
    return chain.graph.recurrent("rnn", *_gates(chain, layer, ["weights"]))[0]


def _eps(layer: Layer, default: float) -> float:
    value = layer.get("eps", default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1e-8 <= value <= 1:
        raise Refused("%s: eps is %r, expects a number of 1e-8 to 1" % (name_of(layer), value))
    return float(value)


def _layer_norm(chain: Chain, layer: Layer) -> Value:
    dim = size(layer, "dim")
    array = numbers(layer, "weights", 2 * dim)
    assert array is not None
    gain, bias = (chain.fill(layer, key, part) for key, part in
                  (("gain", array[:dim]), ("bias", array[dim:])))
    return chain.graph.layer_norm(chain.rows(layer, dim), gain, bias, eps=_eps(layer, 1e-5))


def _rms_norm(chain: Chain, layer: Layer) -> Value:
    dim = size(layer, "dim")
    x = chain.rows(layer, dim)
    config = {"type": "rms_norm", "eps": _eps(layer, 1e-6)}
    return chain.graph.layer(config, x, x.shape,
                             fills={"gain": _known(chain.weights(layer, "weights", (dim,)))})


def _embedding(chain: Chain, layer: Layer) -> Value:
    ids, out = size(layer, "vocab_size"), size(layer, "embedding_dim")
    weights = _known(chain.weights(layer, "weights", (ids, out)))
    source = chain.x if chain.x.ids else chain.second
    if source is None or not source.ids:
        raise Refused("%s: there are no ids that it could take" % name_of(layer))
    return chain.graph.embedding(source, weights)


def _swiglu(chain: Chain, layer: Layer) -> Value:
    dim, hidden = size(layer, "input_dim"), size(layer, "intermediate_dim")
    array = numbers(layer, "weights", 3 * dim * hidden + 2 * hidden + dim)
    assert array is not None
    shapes = {"gate": (hidden, dim), "up": (hidden, dim), "down": (dim, hidden),
              "gate_bias": (hidden,), "up_bias": (hidden,), "down_bias": (dim,)}
    fills, at = {}, 0
    for role, shape in shapes.items():
        fills[role] = chain.fill(layer, role, array[at:at + count(shape)].reshape(shape))
        at += count(shape)
    x = chain.rows(layer, dim)
    return chain.graph.layer({"type": "swiglu", "hidden": hidden, "bias": True}, x, x.shape,
                             fills=fills)


def _residual(chain: Chain, layer: Layer) -> Value:
    other = chain.before if chain.before is not None else chain.second
    x = chain.rows(layer, size(layer, "dim"))
    if other is None or count(other.row) != count(x.row):
        raise Refused("%s: adds %s to %d numbers" % (
            name_of(layer), "nothing" if other is None else "%d" % count(other.row), count(x.row)))
    made = chain.graph.binary(x, chain.graph.reshape(other, (None, *x.row[1:])), "add")
    assert isinstance(made, Value)
    return made


def _softmax(chain: Chain, layer: Layer) -> Value:
    return chain.graph.softmax(chain.rows(layer, size(layer, "dim")))


KINDS: Dict[str, Callable[[Chain, Layer], Value]] = {
    "dense": _dense, "cnn1": _conv, "cnn2": _conv, "cnn3": _conv, "convt1": _conv,
    "convt2": _conv, "convt3": _conv, "mha": _attention, "lstm": _lstm, "rnn": _rnn,
    "layernorm": _layer_norm, "rmsnorm": _rms_norm, "embedding": _embedding, "swiglu": _swiglu,
    "residual": _residual, "softmax": _softmax}

_CONV_KEYS = ("in_channels", "filters", "kernel_size", "stride", "padding", "activation", "weights",
              "bias")
_KEYS: Dict[str, Sequence[str]] = {
    "dense": ("input_dim", "output_dim", "activation", "weights", "bias"),
    "mha": ("d_model", "num_heads", "num_kv_heads", "head_dim", "seq_len", "causal", "rope",
            "rope_theta", *("%s_%s" % (role, what) for role in "qkvo"
                            for what in ("weights", "bias"))),
    "lstm": ("input_size", "hidden_size", "seq_len",
             *("%s_weights" % gate for gate in "ifgo")),
    "rnn": ("input_size", "hidden_size", "seq_len", "weights"),
    "layernorm": ("dim", "seq_len", "eps", "weights"),
    "rmsnorm": ("dim", "seq_len", "eps", "weights"),
    "embedding": ("vocab_size", "embedding_dim", "seq_len", "weights"),
    "swiglu": ("input_dim", "intermediate_dim", "seq_len", "weights"),
    "residual": ("dim", "seq_len"),
    "softmax": ("dim", "seq_len"),
}
for _rank, _space in _SPACE.items():
    _KEYS["cnn%d" % _rank] = (*_CONV_KEYS, *_space)
    _KEYS["convt%d" % _rank] = (*_CONV_KEYS, *_space, "output_padding")
