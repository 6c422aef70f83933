"""Layers in the field's terms: what builds a network's topology.

    from welvet import Network, layers
    network = Network(layers.Sequential(layers.Input(784), layers.Dense(128, activation="relu"), layers.Dense(10)), seed=1)

Every function gives a cell as docs/reference/topology.md has it, a plain dict; widths follow from what arrives. Common to all are `dtype` (how matrices
are stored and multiplied: "f32", "bf16", "i8", ...), `name` and `enabled`. Activations: linear, relu, relu2, leaky_relu, silu, gelu_tanh, gelu_erf, tanh,
sigmoid, softplus, mish.
"""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Union

Size = Union[int, Sequence[int]]  # one number for all dimensions, or one for each

__all__ = [
    "Activation", "AdaptiveSoftmax", "Attention", "AvgPool1d", "AvgPool2d", "AvgPool3d", "BatchNorm", "Binary", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d",
    "ConvTranspose3d", "Dense", "Dropout", "Each", "Embedding", "Flatten", "GRU", "GroupNorm", "Input", "InstanceNorm", "KMeans", "LSTM", "Layer", "LayerNorm", "LogSoftmax",
    "MaxPool1d", "MaxPool2d", "MaxPool3d", "MixtureOfSoftmaxes", "Parallel", "Permute", "Pick", "RMSNorm", "RNN", "Reduce", "Reshape", "Residual", "Select", "Sequential", "Softmax",
    "Standardize", "SwiGLU", "Unary", "ValueMatmul",
]


class Layer(Dict[str, Any]):
    """A cell: its type and settings. Settings that stand at their defaults are left out."""

    def __init__(self, type: str, settings: Dict[str, Any], common: Dict[str, Any]) -> None:
        unknown = sorted(set(common) - {"dtype", "name", "enabled", "tie"})
        if unknown:
            raise TypeError("%s: no setting %r" % (type, unknown[0]))
        super().__init__(type=type)
        for key, value in {**settings, **common}.items():
            if value is not None:
                self[key] = list(value) if isinstance(value, tuple) else value


class Input(Layer):
    """What arrives at a network, the first of its Sequential: Input(784) values, Input(1, 28, 28) values with dimensions (channels first; steps, then
    features), or Input(ids=512) ids below 512."""

    def __init__(self, *dims: int, ids: int = 0) -> None:
        if bool(dims) == bool(ids):
            raise TypeError("Input: give sizes, or ids=")
        super().__init__("input", {}, {})
        self.described = {"ids": ids} if ids else {"width": dims[0]} if len(dims) == 1 else {"dims": list(dims)}


class Sequential(Layer):
    """Layers one after another: a network where the first is an Input, else a layer of another one."""

    def __init__(self, *layers: Layer, **common: Any) -> None:
        for i, layer in enumerate(layers):
            if isinstance(layer, Input) and i > 0:
                raise TypeError("Sequential: an Input is the first of a network's layers")
        super().__init__("sequential", {"layers": list(layers)}, common)

    def topology(self, input: Optional[Input] = None) -> Dict[str, Any]:
        """The topology of a network of these layers: one cell each. `input`: in place of a first Input."""
        cells: List[Layer] = self["layers"]
        if cells and isinstance(cells[0], Input):
            input, cells = cells[0], cells[1:]
        if input is None:
            raise TypeError("Sequential: a network begins with an Input: Sequential(Input(784), ...)")
        return {"format": "loom-topology", "version": 1, "layers_per_cell": max(1, len(cells)), "input": input.described,
                "cells": [{"at": [0, 0, 0, i], **cell} for i, cell in enumerate(cells)]}


class Residual(Layer):
    """x + block(x) for the layers of a block. Without any: adds, inside of a Sequential, the input of the layer before it to its output."""

    def __init__(self, *block: Layer, **common: Any) -> None:
        if not block:
            super().__init__("residual", {}, common)
            return
        inner = block[0] if len(block) == 1 else Sequential(*block)
        super().__init__("sequential", {"layers": [inner, Layer("residual", {}, {})]}, common)


# ---- products


def Dense(out: int, activation: str = "linear", bias: bool = True, **common: Any) -> Layer:
    """activation(W x + b) with `out` values: torch.nn.Linear(in, out) and an activation. Parameters: weight (out, in), bias."""
    return Layer("dense", {"out": out, "activation": activation, "bias": bias}, common)


def Embedding(out: int, std: float = 0.02, **common: Any) -> Layer:
    """A row of `out` values per id; the input's ids say how many there are. `std` of the first values."""
    return Layer("embedding", {"out": out, "std": std}, common)


def SwiGLU(hidden: int, bias: bool = False, out_std: float = 0.0, activation: str = "silu", sub_norm: bool = False, sub_norm_eps: float = 1e-5, **common: Any) -> Layer:
    """down(silu(gate(x)) * up(x)), the feed-forward part of Llama (arXiv 2002.05202). `out_std` of the first down projection; 0: 1/sqrt(hidden). `sub_norm`: an RMSNorm before
    the down projection."""
    return Layer("swiglu", {"hidden": hidden, "bias": bias, "out_std": out_std, "activation": activation, "sub_norm": sub_norm, "sub_norm_eps": sub_norm_eps}, common)


def Attention(heads: int, kv_heads: int = 0, head_dim: int = 0, window: int = 0, causal: bool = True, qkv_bias: bool = False, out_bias: bool = False, qk_norm: bool = False,
              qk_norm_eps: float = 1e-6, rope: bool = True, rope_theta: float = 10000.0, rope_scaling: str = "none", rope_factor: float = 1.0, rope_low_freq_factor: float = 1.0,
              rope_high_freq_factor: float = 4.0, rope_original_positions: int = 8192, sub_norm: bool = False, sub_norm_eps: float = 1e-5, out_std: float = 0.0,
              **common: Any) -> Layer:
    """Multi-head attention over the rows of a sequence (arXiv 1706.03762), with grouped keys (`kv_heads`), a sliding `window` and rotary positions. `sub_norm`: an RMSNorm before
    the output projection.
    `rope_scaling`: none, linear, llama3. Zeros mean: as many as heads, width / heads, no window."""
    return Layer("attention", {
        "heads": heads, "kv_heads": kv_heads, "head_dim": head_dim, "window": window, "causal": causal, "qkv_bias": qkv_bias, "out_bias": out_bias, "qk_norm": qk_norm,
        "qk_norm_eps": qk_norm_eps, "rope": rope, "rope_theta": rope_theta, "rope_scaling": rope_scaling, "rope_factor": rope_factor, "rope_low_freq_factor": rope_low_freq_factor,
        "rope_high_freq_factor": rope_high_freq_factor, "rope_original_positions": rope_original_positions, "sub_norm": sub_norm, "sub_norm_eps": sub_norm_eps,
        "out_std": out_std}, common)


# ---- convolutions and pools, channels first


def _conv(rank: int, filters: int, kernel: Size, stride: Size, padding: Size, dilation: Size, groups: int, bias: bool, activation: str, common: Dict[str, Any],
          output_padding: Optional[Size] = None) -> Layer:
    name = ("cnn%d" if output_padding is None else "conv_transposed%d") % rank
    return Layer(name, {"filters": filters, "kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation, "groups": groups, "bias": bias, "activation": activation,
                        "output_padding": output_padding}, common)


def Conv1d(filters: int, kernel: Size = 3, stride: Size = 1, padding: Size = 0, dilation: Size = 1, groups: int = 1, bias: bool = True, activation: str = "linear", **common: Any) -> Layer:
    """Convolution over (channels, length). `padding`: a number, one per dimension, or all begins and then all ends."""
    return _conv(1, filters, kernel, stride, padding, dilation, groups, bias, activation, common)


def Conv2d(filters: int, kernel: Size = 3, stride: Size = 1, padding: Size = 0, dilation: Size = 1, groups: int = 1, bias: bool = True, activation: str = "linear", **common: Any) -> Layer:
    """Convolution over (channels, height, width)."""
    return _conv(2, filters, kernel, stride, padding, dilation, groups, bias, activation, common)


def Conv3d(filters: int, kernel: Size = 3, stride: Size = 1, padding: Size = 0, dilation: Size = 1, groups: int = 1, bias: bool = True, activation: str = "linear", **common: Any) -> Layer:
    """Convolution over (channels, depth, height, width)."""
    return _conv(3, filters, kernel, stride, padding, dilation, groups, bias, activation, common)


def ConvTranspose1d(filters: int, kernel: Size = 3, stride: Size = 1, padding: Size = 0, dilation: Size = 1, groups: int = 1, bias: bool = True, activation: str = "linear",
                    output_padding: Size = 0, **common: Any) -> Layer:
    """Transposed convolution over (channels, length)."""
    return _conv(1, filters, kernel, stride, padding, dilation, groups, bias, activation, common, output_padding)


def ConvTranspose2d(filters: int, kernel: Size = 3, stride: Size = 1, padding: Size = 0, dilation: Size = 1, groups: int = 1, bias: bool = True, activation: str = "linear",
                    output_padding: Size = 0, **common: Any) -> Layer:
    """Transposed convolution over (channels, height, width)."""
    return _conv(2, filters, kernel, stride, padding, dilation, groups, bias, activation, common, output_padding)


def ConvTranspose3d(filters: int, kernel: Size = 3, stride: Size = 1, padding: Size = 0, dilation: Size = 1, groups: int = 1, bias: bool = True, activation: str = "linear",
                    output_padding: Size = 0, **common: Any) -> Layer:
    """Transposed convolution over (channels, depth, height, width)."""
    return _conv(3, filters, kernel, stride, padding, dilation, groups, bias, activation, common, output_padding)


def _pool(name: str, kernel: Size, stride: Size, padding: Size, dilation: Size, ceil_mode: bool, whole: bool, common: Dict[str, Any], count_include_pad: Optional[bool] = None) -> Layer:
    return Layer(name, {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation, "ceil_mode": ceil_mode, "global": whole, "count_include_pad": count_include_pad}, common)


def MaxPool1d(kernel: Size = 2, stride: Size = 0, padding: Size = 0, dilation: Size = 1, ceil_mode: bool = False, whole: bool = False, **common: Any) -> Layer:
    """The largest value of each window. `stride` 0: the kernel. `whole`: the window is the whole space ("global" in files)."""
    return _pool("max_pool1", kernel, stride, padding, dilation, ceil_mode, whole, common)


def MaxPool2d(kernel: Size = 2, stride: Size = 0, padding: Size = 0, dilation: Size = 1, ceil_mode: bool = False, whole: bool = False, **common: Any) -> Layer:
    """The largest value of each window of (height, width)."""
    return _pool("max_pool2", kernel, stride, padding, dilation, ceil_mode, whole, common)


def MaxPool3d(kernel: Size = 2, stride: Size = 0, padding: Size = 0, dilation: Size = 1, ceil_mode: bool = False, whole: bool = False, **common: Any) -> Layer:
    """The largest value of each window of (depth, height, width)."""
    return _pool("max_pool3", kernel, stride, padding, dilation, ceil_mode, whole, common)


def AvgPool1d(kernel: Size = 2, stride: Size = 0, padding: Size = 0, dilation: Size = 1, ceil_mode: bool = False, whole: bool = False, count_include_pad: bool = True, **common: Any) -> Layer:
    """The mean of each window. `count_include_pad`: padding counts in the divisor."""
    return _pool("avg_pool1", kernel, stride, padding, dilation, ceil_mode, whole, common, count_include_pad)


def AvgPool2d(kernel: Size = 2, stride: Size = 0, padding: Size = 0, dilation: Size = 1, ceil_mode: bool = False, whole: bool = False, count_include_pad: bool = True, **common: Any) -> Layer:
    """The mean of each window of (height, width)."""
    return _pool("avg_pool2", kernel, stride, padding, dilation, ceil_mode, whole, common, count_include_pad)


def AvgPool3d(kernel: Size = 2, stride: Size = 0, padding: Size = 0, dilation: Size = 1, ceil_mode: bool = False, whole: bool = False, count_include_pad: bool = True, **common: Any) -> Layer:
    """The mean of each window of (depth, height, width)."""
    return _pool("avg_pool3", kernel, stride, padding, dilation, ceil_mode, whole, common, count_include_pad)


# ---- recurrent, over (steps, features)


def _recurrent(name: str, hidden: int, stack: int, bias: bool, bidirectional: bool, returns: str, carry: bool, more: Dict[str, Any], common: Dict[str, Any]) -> Layer:
    return Layer(name, {"hidden": hidden, "stack": stack, "bias": bias, "bidirectional": bidirectional, "return": returns, "carry": carry, **more}, common)


def RNN(hidden: int, stack: int = 1, bias: bool = True, bidirectional: bool = False, returns: str = "all", carry: bool = False, activation: str = "tanh", **common: Any) -> Layer:
    """Elman's network. `stack`: layers on one another; `returns`: "all" states or the "last"; `carry`: a run goes on from the state of the one before.
    `activation`: tanh or relu."""
    return _recurrent("rnn", hidden, stack, bias, bidirectional, returns, carry, {"activation": activation}, common)


def GRU(hidden: int, stack: int = 1, bias: bool = True, bidirectional: bool = False, returns: str = "all", carry: bool = False, linear_before_reset: bool = True, **common: Any) -> Layer:
    """Gated recurrent units; `linear_before_reset` as PyTorch has them."""
    return _recurrent("gru", hidden, stack, bias, bidirectional, returns, carry, {"linear_before_reset": linear_before_reset}, common)


def LSTM(hidden: int, stack: int = 1, bias: bool = True, bidirectional: bool = False, returns: str = "all", carry: bool = False, **common: Any) -> Layer:
    """Long short-term memory; weights and gates in PyTorch's order."""
    return _recurrent("lstm", hidden, stack, bias, bidirectional, returns, carry, {}, common)


# ---- norms and noise


def LayerNorm(eps: float = 1e-5, **common: Any) -> Layer:
    """Mean 0 and variance 1 over the row, times a gain, plus a bias (arXiv 1607.06450)."""
    return Layer("layer_norm", {"eps": eps}, common)


def RMSNorm(eps: float = 1e-5, **common: Any) -> Layer:
    """The row divided by the root of its mean square, times a gain (arXiv 1910.07467)."""
    return Layer("rms_norm", {"eps": eps}, common)


def BatchNorm(eps: float = 1e-5, momentum: float = 0.1, affine: bool = True, **common: Any) -> Layer:
    """Channels normalized by the batch's statistics while training, by running ones otherwise (arXiv 1502.03167); of any number of dimensions."""
    return Layer("batch_norm", {"eps": eps, "momentum": momentum, "affine": affine}, common)


def GroupNorm(groups: int = 1, eps: float = 1e-5, affine: bool = True, **common: Any) -> Layer:
    """Each of `groups` of channels normalized by itself (arXiv 1803.08494)."""
    return Layer("group_norm", {"groups": groups, "eps": eps, "affine": affine}, common)


def InstanceNorm(eps: float = 1e-5, affine: bool = False, **common: Any) -> Layer:
    """Each channel normalized by itself (arXiv 1607.08022)."""
    return Layer("instance_norm", {"eps": eps, "affine": affine}, common)


def Standardize(missing: bool = False, **common: Any) -> Layer:
    """(x - mean) * scale by columns; the two are set, not learned. `missing`: a NaN becomes 0."""
    return Layer("standardize", {"missing": missing}, common)


def Dropout(rate: float = 0.5, **common: Any) -> Layer:
    """While training, values are 0 with this probability and the others grow by 1 / (1 - rate)."""
    return Layer("dropout", {"rate": rate}, common)


# ---- shapes and branches


def Flatten(**common: Any) -> Layer:
    """Forgets the dimensions of a row."""
    return Layer("flatten", {}, common)


def Reshape(*dims: int, **common: Any) -> Layer:
    """The same values with other dimensions; one of them may be -1."""
    return Layer("reshape", {"dims": list(dims)}, common)


def Parallel(*branches: Layer, input: str = "broadcast", combine: str = "concat", stitch: bool = False, temperature: float = 1.0, top_k: int = 0, grid: Sequence[int] = (),
             places: Sequence[int] = (), **common: Any) -> Layer:
    """Branches side by side. `input`: each sees the row (broadcast) or an equal part of it (split); `combine`: concat, add, avg, filter (a learned gate) or
    grid_scatter. `stitch`: learned matrices bring all to one width. `top_k`: of filter, a row goes to its best so many branches alone."""
    return Layer("parallel", {"layers": list(branches), "input": input, "combine": combine, "stitch": stitch, "temperature": temperature, "top_k": top_k or None,
                              "grid": list(grid) or None, "places": list(places) or None}, common)


def Each(layer: Layer, count: int = 0, **common: Any) -> Layer:
    """One layer applied to every part of the row: `count` of them, 0: its first dimension."""
    return Layer("each", {"layers": [layer], "count": count}, common)


# ---- probabilities


def Softmax(kind: str = "standard", log: bool = False, temperature: float = 1.0, rows: int = 0, cols: int = 0, levels: Sequence[int] = (), mask: Sequence[int] = (), alpha: float = 1.5,
            hard: bool = False, **common: Any) -> Layer:
    """Distributions over the last dimension. `kind`: standard, temperature, grid (`rows` x `cols`), hierarchical (`levels`), gumbel (`hard`), masked (`mask`),
    sparsemax, entmax (`alpha`)."""
    return Layer("softmax", {"kind": kind, "log": log, "temperature": temperature, "rows": rows or None, "cols": cols or None, "levels": list(levels) or None, "mask": list(mask) or None,
                             "alpha": alpha, "hard": hard}, common)


def LogSoftmax(**common: Any) -> Layer:
    """Logarithms of a softmax."""
    return Layer("log_softmax", {}, common)


def AdaptiveSoftmax(out: int, cutoffs: Sequence[int], divide: int = 4, bias: bool = False, log: bool = False, **common: Any) -> Layer:
    """Many classes, rare ones through narrow projections (arXiv 1609.04309): torch.nn.AdaptiveLogSoftmaxWithLoss."""
    return Layer("adaptive_softmax", {"out": out, "cutoffs": list(cutoffs), "divide": divide, "bias": bias, "log": log}, common)


def MixtureOfSoftmaxes(out: int, mixtures: int, hidden: int = 0, bias: bool = True, log: bool = False, **common: Any) -> Layer:
    """A weighted sum of softmaxes (arXiv 1711.03953). `hidden` 0: as many as arrive."""
    return Layer("mixture_of_softmaxes", {"out": out, "mixtures": mixtures, "hidden": hidden, "bias": bias, "log": log}, common)


def KMeans(clusters: int, temperature: float = 1.0, returns: str = "probabilities", **common: Any) -> Layer:
    """Soft membership of learned centers; `returns`: "probabilities", or "features", the centers' mean under them."""
    return Layer("kmeans", {"clusters": clusters, "temperature": temperature, "return": returns}, common)


# ---- functions of whole rows, as ONNX graphs become them


def Activation(activation: str = "relu", **common: Any) -> Layer:
    """A function of each value by itself."""
    return Layer("activation", {"activation": activation}, common)


def Unary(op: str, a: float = 0.0, b: float = 0.0, **common: Any) -> Layer:
    """A function of single values, such as exp, log, sqrt, clip, with up to two parameters."""
    return Layer("unary", {"op": op, "a": a, "b": b}, common)


def Binary(op: str, shapes: Sequence[Sequence[int]], constant: Optional[Sequence[int]] = None, constant_first: bool = False, **common: Any) -> Layer:
    """Two operands that arrive side by side, spread as NumPy does; or one, and a learned one of the shape `constant`."""
    return Layer("binary", {"op": op, "shapes": [list(s) for s in shapes], "constant": None if constant is None else list(constant), "constant_first": constant_first or None}, common)


def Select(shapes: Sequence[Sequence[int]], **common: Any) -> Layer:
    """numpy.where of three operands that arrive side by side: condition, then, otherwise."""
    return Layer("select", {"shapes": [list(s) for s in shapes]}, common)


def Reduce(op: str, dims: Sequence[int] = (), axes: Sequence[int] = (), keep: bool = True, **common: Any) -> Layer:
    """sum, mean, max, ... over axes (none: all); `keep`: they stay, with size 1."""
    return Layer("reduce", {"op": op, "dims": list(dims) or None, "axes": list(axes) or None, "keep": keep}, common)


def Permute(order: Sequence[int], dims: Sequence[int] = (), **common: Any) -> Layer:
    """Dimensions in another order: numpy.transpose."""
    return Layer("permute", {"order": list(order), "dims": list(dims) or None}, common)


def Pick(dims: Sequence[int], runs: Sequence[int], fill: float = 0.0, **common: Any) -> Layer:
    """Values by their places in the row, as runs of first, step, count (first -1: `fill`)."""
    return Layer("pick", {"dims": list(dims), "runs": list(runs), "fill": fill}, common)


def ValueMatmul(shapes: Sequence[Sequence[int]], **common: Any) -> Layer:
    """The product of two operands that arrive side by side: [..., M, K] and [..., K, N]."""
    return Layer("value_matmul", {"shapes": [list(s) for s in shapes]}, common)
