"""Layers without a space: dense, embeddings, norms, merging, shapes, noise, preprocessing."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence

import numpy as np

from ..graph.cells import Tensor, Value
from ..graph.constant import Constant, Read
from ..graph.laid import by_itself, channels_first, laid
from ..graph.products import contract, einsum
from ..graph.shape import Batch, batch_axis, count, row_of
from .activations import OWN, activate, name_of, relu
from .walk import Walk, maps, numpy_of, sizes_of, with_batch


@maps("Dense")
def dense(w: Walk, layer: Any, x: Tensor) -> Value:
    _whole(w, layer)
    name = name_of(layer.activation)
    own = OWN.get(name or "", "linear")
    y = w.dense(w.value(x), w.named(layer._kernel if hasattr(layer, "_kernel") else layer.kernel)
                .transposed((1, 0)), w.maybe(layer.bias), own)
    return y if name in OWN else activate(w, y, layer.activation)


def _whole(w: Walk, layer: Any) -> None:
    if getattr(layer, "lora_enabled", False):
        raise w.refuse(type(layer).__name__ + " with LoRA", "merge it first")
    if getattr(layer, "quantization_mode", None):
        raise w.refuse(type(layer).__name__ + " in " + str(layer.quantization_mode),
                       "only floating-point weights")


@maps("EinsumDense")
def einsum_dense(w: Walk, layer: Any, x: Tensor) -> Value:
    _whole(w, layer)
    kernel = w.named(layer._kernel if hasattr(layer, "_kernel") else layer.kernel)
    return activate(w, projected(w, layer, w.value(x), kernel), layer.activation)


def projected(w: Walk, layer: Any, x: Value, kernel: Constant) -> Value:
    y: Tensor = einsum(w.g, layer.equation, [x, w.parameter(kernel)])
    if layer.bias is not None:
        y = w.g.binary(y, w.parameter(w.named(layer.bias)), "add")
    return w.g.value(y)


@maps("Embedding")
def embedding(w: Walk, layer: Any, x: Value) -> Value:
    _whole(w, layer)
    table = w.named(layer._embeddings if hasattr(layer, "_embeddings") else layer.embeddings)
    return w.g.embedding(x, table)


@maps("Activation")
def activation(w: Walk, layer: Any, x: Tensor) -> Value:
    return activate(w, x, layer.activation)


@maps("ReLU")
def relu_layer(w: Walk, layer: Any, x: Tensor) -> Value:
    return relu(w, w.value(x), float(layer.negative_slope or 0.0), layer.max_value,
                float(layer.threshold or 0.0))


@maps("LeakyReLU")
def leaky(w: Walk, layer: Any, x: Tensor) -> Value:
    return w.unary(x, "leaky_relu", float(layer.negative_slope))


@maps("ELU")
def elu(w: Walk, layer: Any, x: Tensor) -> Value:
    return w.unary(x, "elu", float(layer.alpha))


@maps("PReLU")
def prelu(w: Walk, layer: Any, x: Tensor) -> Value:
    return w.two(w.value(x), w.parameter(w.named(layer.alpha)), "prelu")


@maps("Softmax", "ops.Softmax")
def softmax(w: Walk, layer: Any, x: Tensor, mask: Optional[Tensor] = None) -> Value:
    value = w.value(x)
    if mask is not None:
        value = masked(w, value, mask)
    axes = layer.axis if isinstance(layer.axis, (tuple, list)) else [layer.axis]
    if len(axes) == 1:
        return w.g.softmax(value, int(axes[0]))
    rank = len(value.shape)
    which = sorted(a % rank for a in axes)
    if which != list(range(rank - len(which), rank)):
        raise w.refuse("Softmax over the axes %s" % which)
    flat = w.g.value(w.g.reshape(value, sizes_of(value.shape[:which[0]]) + [
        count(row_of(value.shape)[which[0]:])]))
    return w.g.value(w.g.reshape(w.g.softmax(flat, -1), sizes_of(value.shape)))


def masked(w: Walk, scores: Value, mask: Tensor) -> Value:
    """Scores where the mask is not 0, far below all others elsewhere."""
    if isinstance(mask, Constant):
        mask = Constant.of(mask.array.astype(np.float32))
    return w.g.select(mask, scores, Constant.of(np.full((1,) * len(scores.shape), -1e30)))


# ---- norms

@maps("BatchNormalization")
def batch_norm(w: Walk, layer: Any, x: Tensor, mask: Optional[Tensor] = None) -> Value:
    first, back = channels_first(w.g, w.value(x), int(layer.axis))
    mean, variance = w.named(layer.moving_mean), w.named(layer.moving_variance)
    gain, bias = w.maybe(layer.gamma), w.maybe(layer.beta)
    if not layer.trainable:
        return laid(w.g, _affine(w, first, mean, variance, gain, bias, layer.epsilon), back)
    if mask is not None:
        raise w.refuse("BatchNormalization with a mask", "its statistics would skip steps")
    if getattr(layer, "renorm", False):
        raise w.refuse("BatchNormalization with renorm")
    flat = first
    if len(first.shape) > 2:  # channels, and all places
        flat = w.g.value(w.g.reshape(first, [None, first.shape[1], count(row_of(first.shape)[2:])]))
    made = w.g.batch_norm(flat, mean, variance, gain, bias, eps=float(layer.epsilon),
                          momentum=1 - float(layer.momentum))
    return laid(w.g, w.g.value(w.g.reshape(made, sizes_of(first.shape))), back)


def _affine(w: Walk, x: Value, mean: Constant, variance: Constant, gain: Optional[Constant],
            bias: Optional[Constant], eps: float) -> Value:
    """What a frozen BatchNormalization is, in training too: it keeps its running numbers."""
    parts = [mean, variance] + [c for c in (gain, bias) if c is not None]
    shape = (1, row_of(x.shape)[1]) + (1,) * (len(x.shape) - 2)

    def numbers(arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        given = [np.asarray(a, np.float64) for a in arrays]
        scale = 1 / np.sqrt(given[1] + eps)
        if gain is not None:
            scale = scale * given[2]
        shift = -given[0] * scale + (given[-1] if bias is not None else 0)
        return scale.reshape(shape), shift.reshape(shape)

    made: Tensor = x
    for i, op in enumerate(("mul", "add")):
        array = numbers([c.array for c in parts])[i]
        def read(get: Read, i: int = i) -> np.ndarray:
            return numbers([c.read(get) for c in parts])[i]

        known = Constant(array, ("frozen norm", i, eps, *(c.key for c in parts)), read,
                         tuple(n for c in parts for n in c.names))
        made = w.g.binary(made, known, op)
    return w.g.value(made)


@maps("LayerNormalization", "RMSNormalization")
def layer_norm(w: Walk, layer: Any, x: Tensor) -> Value:
    value = w.value(x)
    rank = len(value.shape)
    axes = layer.axis if isinstance(layer.axis, (tuple, list)) else [layer.axis]
    which = sorted(a % rank for a in axes)
    order = [i for i in range(rank) if i not in which] + which
    moved = w.g.value(w.g.transpose(value, order))
    outer = sizes_of(moved.shape[:rank - len(which)])
    flat = w.g.value(w.g.reshape(moved, [*outer, count(row_of(moved.shape)[len(outer):])]))
    rms = type(layer).__name__ == "RMSNormalization" or getattr(layer, "rms_scaling", False)
    gain = getattr(layer, "scale" if type(layer).__name__ == "RMSNormalization" else "gamma", None)
    known = [w.maybe(v) for v in (gain, None if rms else layer.beta)]
    gain_of, bias_of = [None if c is None else c.reshaped((c.array.size,)) for c in known]
    if rms:
        width = row_of(flat.shape)[-1]
        made = w.g.layer({"type": "rms_norm", "eps": float(layer.epsilon)}, flat, flat.shape,
                         takes=(count(row_of(flat.shape)[:-1]), width),
                         dims=(count(row_of(flat.shape)[:-1]), width),
                         fills={"gain": gain_of or Constant.of(np.ones(width))})
    else:
        made = w.g.layer_norm(flat, gain_of, bias_of, eps=float(layer.epsilon))
    back = w.g.reshape(made, sizes_of(moved.shape))
    return w.g.value(w.g.transpose(back, [order.index(i) for i in range(rank)]))


@maps("GroupNormalization")
def group_norm(w: Walk, layer: Any, x: Tensor) -> Value:
    first, back = channels_first(w.g, w.value(x), int(layer.axis))
    channels = row_of(first.shape)[1]
    groups = channels if layer.groups == -1 else int(layer.groups)
    flat = w.g.value(w.g.reshape(first, [None, channels, count(row_of(first.shape)[2:])]))
    gain = w.maybe(layer.gamma) or Constant.of(np.ones(channels))
    bias = w.maybe(layer.beta) or Constant.of(np.zeros(channels))
    made = w.g.layer({"type": "group_norm", "groups": groups, "eps": float(layer.epsilon)}, flat,
                     flat.shape, fills={"gain": gain, "bias": bias})
    return laid(w.g, w.g.value(w.g.reshape(made, sizes_of(first.shape))), back)


@maps("UnitNormalization")
def unit_norm(w: Walk, layer: Any, x: Tensor) -> Value:
    value = w.value(x)
    axes = layer.axis if isinstance(layer.axis, (tuple, list)) else [layer.axis]
    return unit(w, value, axes, 1e-12)


def unit(w: Walk, x: Value, axes: Sequence[int], eps: float) -> Value:
    squares = w.g.reduce(w.unary(x, "square"), "sum", axes, keep=True)
    root = w.unary(w.two(squares, w.g.number(eps), "max"), "sqrt")
    return w.two(x, root, "div")


# ---- merging

_MERGES = {"Add": "add", "Multiply": "mul", "Maximum": "max", "Minimum": "min"}


def merged(w: Walk, parts: Sequence[Tensor], op: str) -> Value:
    values = [w.plain(p) for p in parts]
    if all(isinstance(v, Value) and v.shape == values[0].shape for v in values):
        known = [v for v in values if isinstance(v, Value)]
        order = getattr(known[0], "order", None)
        if order is not None and all(getattr(v, "order", None) == order for v in known):
            sources = [v.source for v in known]  # type: ignore[attr-defined]
            return laid(w.g, merged(w, sources, op), order)
    made: Tensor = values[0]
    for other in values[1:]:
        made = w.g.binary(made, other, op)
    return w.g.value(made)


@maps("Add", "Multiply", "Maximum", "Minimum", "Subtract", "Average")
def merge_layer(w: Walk, layer: Any, inputs: Any, *more: Any) -> Value:
    parts = _spread_ranks(w, list(inputs) if isinstance(inputs, (list, tuple)) else
                          [inputs, *more])
    kind = type(layer).__name__
    if kind == "Subtract":
        return merged(w, parts, "sub")
    if kind == "Average":
        return w.scaled(merged(w, parts, "add"), 1 / len(parts))
    return merged(w, parts, _MERGES[kind])


def _spread_ranks(w: Walk, parts: List[Tensor]) -> List[Tensor]:
    """Keras puts axes of 1 behind the batch of those with fewer."""
    rank = max(len(p.shape) for p in parts)
    return [p if len(p.shape) == rank else w.g.reshape(
        p, [None] + [1] * (rank - len(p.shape)) + sizes_of(p.shape[1:])) for p in parts]


@maps("Concatenate")
def concatenate(w: Walk, layer: Any, inputs: Any, **_: Any) -> Value:
    return joined(w, inputs, int(layer.axis))


def joined(w: Walk, inputs: Sequence[Tensor], axis: int) -> Value:
    parts = [w.plain(p) for p in inputs]
    return w.g.value(parts[0] if len(parts) == 1 else w.g.concat(parts, axis))


@maps("Dot")
def dot_layer(w: Walk, layer: Any, inputs: Sequence[Tensor]) -> Value:
    a, b = (w.value(p) for p in inputs)
    axes = [layer.axes] * 2 if isinstance(layer.axes, int) else list(layer.axes)
    i, j = axes[0] % len(a.shape), axes[1] % len(b.shape)
    if layer.normalize:
        a, b = unit(w, a, [i], 1e-12), unit(w, b, [j], 1e-12)
    left = "abcdefg"[:len(a.shape)]
    right = "a" + "hijklmn"[:len(b.shape) - 1]
    right = right[:j] + left[i] + right[j + 1:]
    out = left.replace(left[i], "") + right[1:].replace(left[i], "")
    made = w.g.value(contract(w.g, a, b, left, right, out))
    if len(made.shape) == 1:
        made = w.g.value(w.g.reshape(made, [None, 1]))
    return made


# ---- shapes

@maps("Flatten")
def flatten(w: Walk, layer: Any, x: Tensor) -> Value:
    value = w.value(x)
    if layer.data_format == "channels_first" and len(value.shape) > 2:
        value = w.g.value(w.g.transpose(value, [0, *range(2, len(value.shape)), 1]))
    return w.g.value(w.g.reshape(value, [None, count(row_of(value.shape)[1:])]))


@maps("Permute")
def permute(w: Walk, layer: Any, x: Tensor) -> Value:
    return laid(w.g, w.value(x), [0, *layer.dims])


@maps("RepeatVector")
def repeat_vector(w: Walk, layer: Any, x: Tensor) -> Value:
    value = w.value(x)
    row = w.g.value(w.g.reshape(value, [None, 1, value.shape[1]]))
    return w.g.value(w.g.take(row, 1, [0] * layer.n))


@maps("Identity", "InputLayer")
def identity(w: Walk, layer: Any, x: Tensor, mask: Optional[Tensor] = None) -> Tensor:
    return x


# ---- noise

@maps("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D")
def dropout(w: Walk, layer: Any, x: Tensor) -> Value:
    value = w.value(x)
    rate = float(layer.rate)
    if not rate:
        return value
    shape = getattr(layer, "noise_shape", None)
    if type(layer).__name__ != "Dropout":
        first = getattr(layer, "data_format", "channels_last") == "channels_first"
        shape = [None] + [1] * (len(value.shape) - 1)
        shape[1 if first else -1] = None
    if shape is None or all(n is None for n in shape):
        return by_itself(value, w.g, lambda v: w.g.dropout(v, rate))
    sizes = [int(n) if own is None else own for own, n in zip(shape[1:], row_of(value.shape)[1:])]
    if shape[0] is not None:
        raise w.refuse("Dropout with noise_shape %s" % (shape,), "one noise for all samples")
    ones = w.g.value(Constant.of(np.ones([1, *sizes])))
    noise = w.g.cell({"type": "dropout", "rate": rate}, [ones], (1, *sizes))
    return w.two(value, Value(noise.cell, (Batch(), *sizes)), "mul")


@maps("GaussianDropout", "GaussianNoise", "AlphaDropout")
def noise(w: Walk, layer: Any, x: Tensor) -> Value:
    if float(getattr(layer, "stddev", 0.0) or getattr(layer, "rate", 0.0) or 0.0):
        raise w.refuse(type(layer).__name__, "no layer of Loom makes this noise in training")
    return w.value(x)


@maps("ActivityRegularization")
def regularization(w: Walk, layer: Any, x: Tensor) -> Value:
    if layer.l1 or layer.l2:
        raise w.refuse("ActivityRegularization", "no loss of Loom reads what a layer computes")
    return w.value(x)


# ---- preprocessing

@maps("Rescaling")
def rescaling(w: Walk, layer: Any, x: Tensor) -> Value:
    made: Tensor = w.value(x)
    for what, op, no in ((layer.scale, "mul", 1.0), (layer.offset, "add", 0.0)):
        known = numpy_of(what).astype(np.float64)
        if known.ndim or float(known) != no:
            made = w.g.binary(made, Constant.of(known), op)
    return w.g.value(made)


@maps("Normalization")
def normalization(w: Walk, layer: Any, x: Tensor) -> Value:
    mean = numpy_of(layer.mean).astype(np.float64)
    root = np.maximum(np.sqrt(numpy_of(layer.variance).astype(np.float64)), 1e-7)
    value = w.value(x)
    if layer.invert:
        return w.two(w.two(value, Constant.of(root), "mul"), Constant.of(mean), "add")
    return w.two(w.two(value, Constant.of(mean), "sub"), Constant.of(root), "div")


@maps("Reshape", "ops.Reshape")
def reshape(w: Walk, layer: Any, x: Tensor) -> Value:
    """The layer, and keras.ops.reshape: the shape is that which Keras computed."""
    value = w.value(x)
    sizes = list(w.outputs[0].shape)
    if sizes.count(None) != 1:
        raise w.refuse("a reshape to %s" % sizes, "one dimension holds the batch")
    if batch_axis(value.shape) is None:
        value = with_batch(w.g, value, (Batch(), *value.shape[1:]))
    return w.g.value(w.g.reshape(value, sizes))
