"""Convolutions, pools, and what pads, cuts and grows spaces. Keras' are channels-last: the cells
work on [channels, space...], and values are brought back where something reads them so."""
from __future__ import annotations

from typing import Any, List, Sequence, Tuple

import numpy as np

from ..graph.cells import Tensor, Value
from ..graph.constant import Constant
from ..graph.laid import channels_first, laid
from ..graph.shape import count, row_of
from .activations import activate
from .basic import _whole
from .walk import Walk, maps, numpy_of, pair, sizes_of


def _first(w: Walk, layer: Any, x: Tensor) -> Tuple[Value, Tuple[int, ...]]:
    """[batch, channels, space...] and the way back."""
    value = w.value(x)
    return channels_first(w.g, value, 1 if layer.data_format == "channels_first" else -1)


def _padding(kind: str, sizes: Sequence[int], kernel: Sequence[int], stride: Sequence[int],
             dilation: Sequence[int]) -> List[int]:
    """All begins and then all ends."""
    begins, ends = [], []
    for n, k, s, d in zip(sizes, kernel, stride, dilation):
        reach = (k - 1) * d + 1
        if kind == "causal":
            begin, end = reach - 1, 0
        elif kind == "same":
            both = max((-(-n // s) - 1) * s + reach - n, 0)
            begin, end = both // 2, both - both // 2
        else:
            begin = end = 0
        begins.append(begin)
        ends.append(end)
    return begins + ends


def _conv(w: Walk, x: Value, weight: Constant, bias: Any, kind: str, stride: Sequence[int],
          dilation: Sequence[int], groups: int) -> Value:
    kernel = weight.shape[2:]
    return w.g.conv(x, weight, bias, stride=stride, dilation=dilation, groups=groups,
                    padding=_padding(kind, row_of(x.shape)[2:], kernel, stride, dilation))


@maps("Conv1D", "Conv2D", "Conv3D")
def conv(w: Walk, layer: Any, x: Tensor) -> Value:
    _whole(w, layer)
    rank = int(layer.rank)
    first, back = _first(w, layer, x)
    kernel = w.named(layer._kernel if hasattr(layer, "_kernel") else layer.kernel)
    made = _conv(w, first, kernel.transposed([rank + 1, rank, *range(rank)]), w.maybe(layer.bias),
                 layer.padding, pair(layer.strides, rank), pair(layer.dilation_rate, rank),
                 int(layer.groups))
    return _after(w, layer, made, back)


def _after(w: Walk, layer: Any, made: Value, back: Sequence[int]) -> Value:
    """The activation of a convolution, where its axes are Keras'."""
    return activate(w, laid(w.g, made, back), layer.activation)


def _depthwise(kernel: Constant, rank: int) -> Constant:
    """[kernel..., channels, multiplier] as [channels x multiplier, 1, kernel...]."""
    size = kernel.shape
    return kernel.transposed([rank, rank + 1, *range(rank)]).reshaped(
        (size[rank] * size[rank + 1], 1, *size[:rank]))


@maps("DepthwiseConv1D", "DepthwiseConv2D")
def depthwise(w: Walk, layer: Any, x: Tensor) -> Value:
    rank = int(layer.rank)
    first, back = _first(w, layer, x)
    made = _conv(w, first, _depthwise(w.named(layer.kernel), rank), w.maybe(layer.bias),
                 layer.padding, pair(layer.strides, rank), pair(layer.dilation_rate, rank),
                 row_of(first.shape)[1])
    return _after(w, layer, made, back)


@maps("SeparableConv1D", "SeparableConv2D")
def separable(w: Walk, layer: Any, x: Tensor) -> Value:
    rank = int(layer.rank)
    first, back = _first(w, layer, x)
    middle = _conv(w, first, _depthwise(w.named(layer.depthwise_kernel), rank), None,
                   layer.padding, pair(layer.strides, rank), pair(layer.dilation_rate, rank),
                   row_of(first.shape)[1])
    points = w.named(layer.pointwise_kernel).transposed([rank + 1, rank, *range(rank)])
    ones = (1,) * rank
    made = _conv(w, middle, points, w.maybe(layer.bias), "valid", ones, ones, 1)
    return _after(w, layer, made, back)


@maps("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose")
def conv_transpose(w: Walk, layer: Any, x: Tensor) -> Value:
    rank = int(layer.rank)
    first, back = _first(w, layer, x)
    stride, dilation = pair(layer.strides, rank), pair(layer.dilation_rate, rank)
    given = layer.output_padding
    wanted = [None] * rank if given is None else list(pair(given, rank))
    kernel = w.named(layer.kernel)
    begins, ends, extra, space = [], [], [], []
    for i, n in enumerate(row_of(first.shape)[2:]):
        reach = (kernel.shape[i] - 1) * dilation[i] + 1
        before, behind = _crop(layer.padding, reach, stride[i], wanted[i])
        begins.append(before)
        ends.append(max(behind, 0))
        extra.append(max(-behind, 0))
        space.append((n - 1) * stride[i] + reach - before - behind)
    filters = kernel.shape[rank]
    config = {"type": "conv_transpose%dd" % rank, "filters": filters,
              "kernel": list(kernel.shape[:rank]), "stride": list(stride),
              "padding": begins + ends, "dilation": list(dilation)}
    if any(extra):
        config["output_padding"] = extra
    fills = {"weight": kernel.transposed([rank, *range(rank), rank + 1]).reshaped(
        (filters * count(kernel.shape[:rank]), kernel.shape[-1]))}
    if layer.bias is not None:
        fills["bias"] = w.named(layer.bias)
    else:
        config["bias"] = False
    made = w.g.layer(config, first, (first.shape[0], filters, *space), fills=fills)
    return _after(w, layer, made, back)


def _crop(kind: str, reach: int, stride: int, extra: Any) -> Tuple[int, int]:
    """What Keras leaves out of a transposed convolution at both ends; below 0: what it adds."""
    if kind == "valid":
        more = max(reach, stride) - reach if extra is None else int(extra)
        return 0, -more
    both = stride + reach - 2 if extra is None else reach + reach % 2 - 2 + int(extra)
    left = min(both // 2 + both % 2, reach - 1)
    return reach - 1 - left, reach - 1 - (both - left)


# ---- pools

@maps("MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "AveragePooling1D", "AveragePooling2D",
      "AveragePooling3D")
def pool(w: Walk, layer: Any, x: Tensor) -> Value:
    first, back = _first(w, layer, x)
    rank = len(first.shape) - 2
    size = pair(layer.pool_size, rank)
    stride = size if layer.strides is None else pair(layer.strides, rank)
    padding = _padding(layer.padding, row_of(first.shape)[2:], size, stride, (1,) * rank)
    kind = "max" if type(layer).__name__.startswith("Max") else "avg"
    return laid(w.g, w.g.pool(first, kind, size, stride=stride, padding=padding,
                              count_padding=False), back)


@maps("GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D", "GlobalAveragePooling1D",
      "GlobalAveragePooling2D", "GlobalAveragePooling3D")
def global_pool(w: Walk, layer: Any, x: Tensor, mask: Any = None) -> Value:
    value = w.value(x)
    first = layer.data_format == "channels_first"
    axes = list(range(2, len(value.shape)) if first else range(1, len(value.shape) - 1))
    op = "max" if "Max" in type(layer).__name__ else "mean"
    if mask is not None and op == "mean":
        weights = w.value(mask)
        wide = w.g.value(w.g.reshape(weights, [None, 1, weights.shape[1]] if first else
                                     [None, weights.shape[1], 1]))
        total = w.g.reduce(w.two(value, wide, "mul"), "sum", axes, keep=bool(layer.keepdims))
        return w.two(total, w.g.reduce(wide, "sum", axes, keep=bool(layer.keepdims)), "div")
    return w.g.reduce(value, op, axes, keep=bool(layer.keepdims))


@maps("AdaptiveAveragePooling1D", "AdaptiveAveragePooling2D", "AdaptiveAveragePooling3D",
      "AdaptiveMaxPooling1D", "AdaptiveMaxPooling2D", "AdaptiveMaxPooling3D")
def adaptive_pool(w: Walk, layer: Any, x: Tensor) -> Value:
    first, back = _first(w, layer, x)
    sizes = row_of(first.shape)[2:]
    wanted = pair(layer.output_size, len(sizes))
    if any(n % k for n, k in zip(sizes, wanted)):
        raise w.refuse("%s of %s to %s" % (type(layer).__name__, list(sizes), list(wanted)),
                       "windows of different sizes")
    kind = "max" if "Max" in type(layer).__name__ else "avg"
    return laid(w.g, w.g.pool(first, kind, [n // k for n, k in zip(sizes, wanted)]), back)


# ---- spaces

def _axes(layer: Any, rank: int) -> Tuple[int, ...]:
    first = getattr(layer, "data_format", "channels_last") == "channels_first"
    return tuple(range(2, rank) if first else range(1, rank - 1))


@maps("ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D")
def zero_padding(w: Walk, layer: Any, x: Tensor) -> Value:
    value = w.value(x)
    pads = layer.padding
    pads = [pads] if isinstance(pads[0], int) else pads
    where = [(0, 0)] * len(value.shape)
    for axis, both in zip(_axes(layer, len(value.shape)), pads):
        where[axis] = (int(both[0]), int(both[1]))
    return padded(w, value, where)


def padded(w: Walk, x: Value, pads: Sequence[Tuple[int, int]], fill: float = 0.0) -> Value:
    places = np.pad(w.g.places(x), list(pads), constant_values=-1)
    shape = tuple(n if not sum(p) else int(size) for n, size, p in
                  zip(x.shape, places.shape, pads))
    return w.g.gather(x, places, shape, fill)


@maps("Cropping1D", "Cropping2D", "Cropping3D")
def cropping(w: Walk, layer: Any, x: Tensor) -> Value:
    made: Tensor = w.value(x)
    cuts = layer.cropping
    cuts = [cuts] if isinstance(cuts[0], int) else cuts
    for axis, (begin, end) in zip(_axes(layer, len(made.shape)), cuts):
        made = w.g.take(made, axis, np.arange(begin, row_of(made.shape)[axis] - end))
    return w.g.value(made)


@maps("UpSampling1D", "UpSampling2D", "UpSampling3D")
def up_sampling(w: Walk, layer: Any, x: Tensor) -> Value:
    made: Tensor = w.value(x)
    how = getattr(layer, "interpolation", "nearest")
    axes = _axes(layer, len(made.shape))
    for axis, by in zip(axes, pair(layer.size, len(axes))):
        n = row_of(made.shape)[axis]
        if how == "nearest":
            made = w.g.take(made, axis, np.repeat(np.arange(n), by))
        else:
            made = _mixed(w, made, axis, _resize(n, n * by, how))
    return w.g.value(made)


def _resize(n: int, wanted: int, how: str) -> np.ndarray:
    """What Keras' resize makes of each place of an axis: [wanted, n]."""
    import keras
    unit = np.eye(n, dtype=np.float32).reshape(n, n, 1, 1)
    made = numpy_of(keras.ops.image.resize(unit, (wanted, 1), interpolation=how,
                                           data_format="channels_last"))
    return made.reshape(n, wanted).T


def _mixed(w: Walk, x: Tensor, axis: int, matrix: np.ndarray) -> Value:
    """A matrix over an axis."""
    rank = len(x.shape)
    order = [i for i in range(rank) if i != axis] + [axis]
    moved = w.g.value(w.g.transpose(x, order))
    made = w.g.dense(moved, Constant.of(matrix))
    return w.g.value(w.g.transpose(made, [order.index(i) for i in range(rank)]))


__all__ = ["sizes_of", "padded"]
