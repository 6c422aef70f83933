"""Layers in the field's terms: what builds a network's topology.

    from welvet import Network, layers
    network = Network(layers.Sequential(layers.Input(784),
                                        layers.Dense(128, activation="relu"),
                                        layers.Dense(10)), seed=1)

Every function gives a cell as docs/reference/layers.md has it, a plain dict; widths
follow from what arrives. Common to all are `dtype` (how matrices are stored and
multiplied: "f32", "bf16", "i8", ...), `name`, `enabled` and `tie`.
Activations: linear, relu, relu2, leaky_relu, silu, gelu_tanh, gelu_erf, tanh, sigmoid,
softplus, mish, gelu, gelu_new, gelu_pytorch_tanh, swish.

Made by tools/generate from the field lists in src: edit those.
"""
from __future__ import annotations

from typing import Any, List, Optional, Sequence

from ._cells import Custom, Input, Layer, Residual, Sequential
from ._convolutions import (
    Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, MaxPool1d,
    MaxPool2d, MaxPool3d, AvgPool1d, AvgPool2d, AvgPool3d,
)
from ._model import Model, add, average, concat

__all__ = [
    "Activation", "AdaptiveSoftmax", "Attention", "AvgPool1d", "AvgPool2d", "AvgPool3d",
    "BatchNorm", "BatchedMatmul", "Binary", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d",
    "ConvTranspose2d", "ConvTranspose3d", "CrossAttention", "Custom", "Dense", "Dropout",
    "Embedding", "Flatten", "GRU", "GroupNorm", "IndexSelect", "Input", "InstanceNorm",
    "KMeans", "LSTM", "Layer", "LayerNorm", "LogSoftmax", "MaxPool1d", "MaxPool2d", "MaxPool3d",
    "MixtureOfSoftmaxes", "Model", "Parallel", "Part", "Permute", "PoolSteps", "Positions",
    "RMSNorm", "RNN", "Reduce", "Reshape", "Residual", "Select", "Sequential", "Softmax",
    "Standardize", "SwiGLU", "TimeDistributed", "Unary", "add", "average", "concat",
]


def _list(values: Optional[Sequence[int]]) -> Optional[List[int]]:
    return None if values is None else list(values) or None


# ---- products


def Dense(out: int, activation: str = "linear", bias: bool = True, **common: Any) -> Layer:
    """activation(W x + b): `torch.nn.Linear(in, out)` and an activation. Parameters: `weight`
    (out, in), `bias`.

    * `out`: outputs per row; at least 1.
    * `activation`: applied to the sum.
    * `bias`: adds a learned vector.
    """
    return Layer("dense", {"out": out, "activation": activation, "bias": bias}, common)


def Embedding(out: int, std: float = 0.02, **common: Any) -> Layer:
    """A row of `out` values per id, (steps, out) for a row of several; the input's ids say how
    many there are. Parameter: `weight` (ids, out).

    * `out`: values per id; at least 1.
    * `std`: standard deviation of the initial table; at least 0.
    """
    return Layer("embedding", {"out": out, "std": std}, common)


def SwiGLU(hidden: int, bias: bool = False, out_std: float = 0.0, activation: str = "silu",
           sub_norm: bool = False, sub_norm_eps: float = 1e-05, **common: Any) -> Layer:
    """down(silu(gate(x)) * up(x)), the feed-forward part of Llama (arXiv 2002.05202). Parameters:
    `gate` and `up` (hidden, in), `down` (in, hidden).

    * `hidden`: width between the projections; at least 1.
    * `bias`: adds learned vectors to all three projections.
    * `out_std`: standard deviation of the initial down projection; 0: 1/sqrt(hidden); at least
      0.
    * `activation`: of the gate.
    * `sub_norm`: RMSNorm before the down projection (BitNet b1.58).
    * `sub_norm_eps`: its eps; with `sub_norm`; 1e-8 to 1.
    """
    return Layer("swiglu", {
        "hidden": hidden, "bias": bias, "out_std": out_std, "activation": activation,
        "sub_norm": sub_norm, "sub_norm_eps": sub_norm_eps}, common)


def Attention(heads: int, kv_heads: int = 0, head_dim: int = 0, window: int = 0,
              causal: bool = True, qkv_bias: bool = False, out_bias: bool = False,
              qk_norm: bool = False, qk_norm_eps: float = 1e-06, rope: bool = True,
              rope_theta: float = 10000.0, rope_scaling: str = "none", rope_factor: float = 1.0,
              rope_low_freq_factor: float = 1.0, rope_high_freq_factor: float = 4.0,
              rope_original_positions: float = 8192.0, sub_norm: bool = False,
              sub_norm_eps: float = 1e-05, out_std: float = 0.0, alibi: bool = False,
              dropout: float = 0.0, **common: Any) -> Layer:
    """Multi-head attention (arXiv 1706.03762) over the steps of a row (steps, features), or over
    the rows of a sequence where a row is one position, with grouped keys, a sliding window and
    rotary positions. Parameters: `q`, `k`, `v`, `o`.

    * `heads`: query heads; 1 to 65536.
    * `kv_heads`: key/value heads; 0: as many as heads; at least 0.
    * `head_dim`: values per head; 0: width / heads; 0 to 65536.
    * `window`: positions a query sees, its own included; 0: all; at least 0.
    * `causal`: a query sees no later position; where positions are rows, sessions of one that
      is false run whole sequences, without a cache.
    * `qkv_bias`: adds learned vectors to queries, keys and values.
    * `out_bias`: adds a learned vector to the output.
    * `qk_norm`: RMSNorm of every query and key head before rotation.
    * `qk_norm_eps`: its eps; without `qk_norm` it does nothing.
    * `rope`: rotary positions.
    * `rope_theta`: base of the rotary frequencies; with `rope`.
    * `rope_scaling`: how frequencies are scaled to longer sequences; with `rope`; one of none,
      linear, llama3.
    * `rope_factor`: how many times as long they are; with `rope_scaling` `linear` or `llama3`.
    * `rope_low_freq_factor`: frequencies below are scaled; with `rope_scaling` `llama3`.
    * `rope_high_freq_factor`: frequencies above are not scaled; with `rope_scaling` `llama3`.
    * `rope_original_positions`: positions the model was first trained on; with `rope_scaling`
      `llama3`.
    * `sub_norm`: RMSNorm before the output projection (BitNet b1.58).
    * `sub_norm_eps`: its eps; with `sub_norm`; 1e-8 to 1.
    * `out_std`: standard deviation of the initial output projection; 0: 1/sqrt(its inputs); at
      least 0.
    * `alibi`: ALiBi (arXiv 2108.12409): a score falls by its head's slope, 2^(-8h/heads), with
      every position between query and key; positions need no end. Without `rope`.
    * `dropout`: of the weights of keys while training, as the layer `dropout`; of steps in a
      row; at least 0, below 1.
    * By name, when called: `lengths`, steps of a row, an input of one id: keys behind them are
      not seen, outputs are 0; `mask` [steps] hides keys by a value other than 0, as PyTorch's
      `key_padding_mask`.
    """
    return Layer("attention", {
        "heads": heads, "kv_heads": kv_heads, "head_dim": head_dim, "window": window,
        "causal": causal, "qkv_bias": qkv_bias, "out_bias": out_bias, "qk_norm": qk_norm,
        "qk_norm_eps": qk_norm_eps, "rope": rope, "rope_theta": rope_theta,
        "rope_scaling": rope_scaling, "rope_factor": rope_factor,
        "rope_low_freq_factor": rope_low_freq_factor,
        "rope_high_freq_factor": rope_high_freq_factor,
        "rope_original_positions": rope_original_positions, "sub_norm": sub_norm,
        "sub_norm_eps": sub_norm_eps, "out_std": out_std, "alibi": alibi,
        "dropout": dropout}, common)


def CrossAttention(heads: int = 1, head_dim: int = 0, qkv_bias: bool = False,
                   out_bias: bool = False, dropout: float = 0.0, **common: Any) -> Layer:
    """Multi-head attention of the steps of one operand (steps, features) to those of a second,
    (steps, features) (arXiv 1706.03762), without positions. Every step sees all of them, except
    those that a third operand, (steps), masks by a value other than 0, as `True` does in
    PyTorch's `key_padding_mask`. The result of a step that sees none is `o_bias`, or 0 without
    it. Operands come by `merge` or `combine`: `operands`. Parameters: `q`, `k`, `v`, `o`.

    * `heads`: heads; 1 to 65536.
    * `head_dim`: values per head; 0: width / heads; 0 to 65536.
    * `qkv_bias`: adds learned vectors to queries, keys and values.
    * `out_bias`: adds a learned vector to the output.
    * `dropout`: of the weights of keys while training, as the layer `dropout`; at least 0,
      below 1.
    * By name, when called: `mask`, or `lengths`, steps that are attended to, an input of one
      id; none: a third is a `mask`.
    """
    return Layer("cross_attention", {
        "heads": heads, "head_dim": head_dim, "qkv_bias": qkv_bias, "out_bias": out_bias,
        "dropout": dropout}, common)


def Positions(kind: str = "learned", count: int = 0, std: float = 0.02, **common: Any) -> Layer:
    """Adds a vector per position to the steps of a row (steps, features), or to rows that are
    positions of sequences, as language models have them. Parameter of those learned: `weight`
    (count, features).

    * `kind`: `learned`, or `sinusoidal`: sin(p / 10000^(2i / features)) at feature 2i of
      position p, and its cosine at 2i + 1.
    * `count`: positions; 0: the steps of a row; with `kind` `learned`; at least 0.
    * `std`: standard deviation of the initial vectors; with `kind` `learned`; at least 0.
    """
    return Layer("positions", {"kind": kind, "count": count or None, "std": std}, common)


# ---- recurrent, and pools, over (steps, features)


def RNN(hidden_size: int, num_layers: int = 1, bias: bool = True, bidirectional: bool = False,
        output: str = "all", stateful: bool = False, activation: str = "tanh",
        return_state: bool = False, **common: Any) -> Layer:
    """Elman's network over (steps, features); a row without dimensions is one step, and where rows
    are positions of a sequence (behind single ids), the next step of that. Names, layouts and
    gate orders (LSTM: i f g o; GRU: r z n) of recurrent layers are PyTorch's: `weight_ih_l0`
    (gates x hidden, features), `weight_hh_l0` (gates x hidden, hidden), `bias_ih_l0`,
    `bias_hh_l0`, then `..._l0_reverse`, `..._l1`. Behind the length of a row outputs are 0 and
    states stay; the reverse direction begins at its last step.

    * `hidden_size`: values of a state; at least 1.
    * `num_layers`: layers on one another: each takes all steps of the one before; 1 to 32768.
    * `bias`: adds learned numbers to both products.
    * `bidirectional`: a second state runs from the last step to the first.
    * `output`: `all`: the states of all steps, [steps, directions x hidden]; `last`: that after
      the last, directions x hidden.
    * `stateful`: a run continues from the state that the sequence's last run left, unless its
      position is 0; in training where that has `streams`.
    * `activation`: of the sum.
    * `return_state`: the last states are a further operand of the output, `h`, as `h0` is.
    * By name, when called: `lengths`, steps of a row, an input of one id; `h0`, states before
      the first step, [num_layers x directions, hidden], else 0.
    """
    return Layer("rnn", {
        "hidden": hidden_size, "num_layers": num_layers, "bias": bias,
        "bidirectional": bidirectional, "output": output, "stateful": stateful,
        "activation": activation, "return_state": return_state}, common)


def GRU(hidden_size: int, num_layers: int = 1, bias: bool = True, bidirectional: bool = False,
        output: str = "all", stateful: bool = False, linear_before_reset: bool = True,
        return_state: bool = False, **common: Any) -> Layer:
    """Gated recurrent units over (steps, features). Without `linear_before_reset` `weight_hh` and
    `bias_hh` have r and z, `weight_hn` (hidden, hidden) and `bias_hn` the rest.

    * `hidden_size`: values of a state; at least 1.
    * `num_layers`: layers on one another: each takes all steps of the one before; 1 to 32768.
    * `bias`: adds learned numbers to both products.
    * `bidirectional`: a second state runs from the last step to the first.
    * `output`: `all`: the states of all steps, [steps, directions x hidden]; `last`: that after
      the last, directions x hidden.
    * `stateful`: a run continues from the state that the sequence's last run left, unless its
      position is 0; in training where that has `streams`.
    * `linear_before_reset`: the reset gate acts on the state's product, as in PyTorch; false:
      on the state, ONNX's default.
    * `return_state`: the last states are a further operand of the output, `h`, as `h0` is.
    * By name, when called: `lengths`, steps of a row, an input of one id; `h0`, states before
      the first step, [num_layers x directions, hidden], else 0.
    """
    return Layer("gru", {
        "hidden": hidden_size, "num_layers": num_layers, "bias": bias,
        "bidirectional": bidirectional, "output": output, "stateful": stateful,
        "linear_before_reset": linear_before_reset, "return_state": return_state}, common)


def LSTM(hidden_size: int, num_layers: int = 1, bias: bool = True, bidirectional: bool = False,
         output: str = "all", stateful: bool = False, return_state: bool = False,
         **common: Any) -> Layer:
    """Long short-term memory over (steps, features).

    * `hidden_size`: values of a state; at least 1.
    * `num_layers`: layers on one another: each takes all steps of the one before; 1 to 32768.
    * `bias`: adds learned numbers to both products.
    * `bidirectional`: a second state runs from the last step to the first.
    * `output`: `all`: the states of all steps, [steps, directions x hidden]; `last`: that after
      the last, directions x hidden.
    * `stateful`: a run continues from the state that the sequence's last run left, unless its
      position is 0; in training where that has `streams`.
    * `return_state`: the last states are further operands of the output, `h` and `c`, as `h0`
      and `c0` are.
    * By name, when called: `lengths`, steps of a row, an input of one id; `h0`, `c0`, states
      before the first step, [num_layers x directions, hidden], else 0.
    """
    return Layer("lstm", {
        "hidden": hidden_size, "num_layers": num_layers, "bias": bias,
        "bidirectional": bidirectional, "output": output, "stateful": stateful,
        "return_state": return_state}, common)


def PoolSteps(op: str = "mean", **common: Any) -> Layer:
    """One vector from the steps of a row (steps, features): their mean, maximum or sum, or the
    last of them.

    * `op`: which; one of mean, max, sum, last.
    * By name, when called: `lengths`, steps of a row, an input of one id: those behind do not
      count, and without any the result is 0.
    """
    return Layer("pool_steps", {"op": op}, common)


# ---- norms and noise


def LayerNorm(eps: float = 1e-05, **common: Any) -> Layer:
    """Mean 0 and variance 1 over the row, times a gain, plus a bias (arXiv 1607.06450).

    * `eps`: added to the mean square or variance before the root; 1e-8 to 1.
    """
    return Layer("layer_norm", {"eps": eps}, common)


def RMSNorm(eps: float = 1e-05, **common: Any) -> Layer:
    """The row divided by the root of its mean square, times a gain (arXiv 1910.07467).

    * `eps`: added to the mean square or variance before the root; 1e-8 to 1.
    """
    return Layer("rms_norm", {"eps": eps}, common)


def BatchNorm(eps: float = 1e-05, momentum: float = 0.1, affine: bool = True,
              **common: Any) -> Layer:
    """Channels of (channels, space...) normalized by the batch's statistics while training, by
    running ones otherwise (arXiv 1502.03167); without dimensions each value is a channel.
    Training takes the statistics of the micro-batch's rows, and each update moves
    `running_mean` and `running_var` (of a sample, as PyTorch has it) towards those of the last
    micro-batch.

    * `eps`: added to the variance before the root; 1e-8 to 1.
    * `momentum`: what a batch weighs in the running mean and variance; 0 to 1.
    * `affine`: learns a gain and a bias per channel.
    """
    return Layer("batch_norm", {"eps": eps, "momentum": momentum, "affine": affine}, common)


def GroupNorm(num_groups: int = 1, eps: float = 1e-05, affine: bool = True,
              **common: Any) -> Layer:
    """Each of `groups` of channels normalized by itself (arXiv 1803.08494).

    * `num_groups`: number of groups, which divides the channels; at least 1.
    * `eps`: added to the variance before the root; 1e-8 to 1.
    * `affine`: learns a gain and a bias per channel.
    """
    return Layer("group_norm", {"groups": num_groups, "eps": eps, "affine": affine}, common)


def InstanceNorm(eps: float = 1e-05, affine: bool = False, **common: Any) -> Layer:
    """Each channel normalized by itself (arXiv 1607.08022).

    * `eps`: added to the variance before the root; 1e-8 to 1.
    * `affine`: learns a gain and a bias per channel.
    """
    return Layer("instance_norm", {"eps": eps, "affine": affine}, common)


def Standardize(missing: bool = False, **common: Any) -> Layer:
    """(x - `mean`) * `scale` by columns; the two are set, not learned.

    * `missing`: a value that is not a number becomes 0, as the mean does.
    """
    return Layer("standardize", {"missing": missing}, common)


def Dropout(p: float = 0.5, **common: Any) -> Layer:
    """While training, values are 0 with a probability and the others grow by 1 / (1 - rate); a
    function of the training's `seed`, the step and micro-batch, the layer's path and the
    value's place.

    * `p`: probability of a 0 while training; at least 0, below 1.
    """
    return Layer("dropout", {"rate": p}, common)


# ---- shapes and branches


def Flatten(**common: Any) -> Layer:
    """Forgets the dimensions of a row."""
    return Layer("flatten", {}, common)


def Reshape(*dims: int, **common: Any) -> Layer:
    """The same values, counted in the same order, with other dimensions.

    * `dims`: the new dimensions of a row; one of them may be -1: what is left; at least -1.
    """
    return Layer("reshape", {"dims": _list(dims)}, common)


def Parallel(*branches: Layer, input: str = "broadcast", combine: str = "concat",
             stitch: bool = False, temperature: float = 1.0, top_k: int = 0,
             grid: Optional[Sequence[int]] = (), places: Optional[Sequence[int]] = (),
             **common: Any) -> Layer:
    """Its layers are branches side by side. With `top_k` a row goes only to the branches of its k
    largest scores (the first of equal ones), and the softmax is over these. A branch runs on
    the rows that go to it: layers that see other rows (attention, `batch_norm`, `dropout`,
    gumbel noise, `stateful`) are refused in it. Parameters: `gate` (branches, width),
    `gate_bias`, `stitch1` ...

    * `input`: `broadcast`: every branch sees the row; `split`: each an equal part of it.
    * `combine`: how branches meet; `gated`: weighed by a learned gate, a mixture of experts;
      `operands`: for a layer behind it that takes several (from version 2 on).
    * `stitch`: where widths must agree, a learned matrix brings each branch to the width of the
      first; false: they must. Not of `concat`.
    * `temperature`: of the gate; with `combine` `gated`; above 0, at most 1e6.
    * `top_k`: branches that a row goes to; 0: all; with `combine` `gated`; at least 0.
    * `grid`: rows and columns; with `combine` `grid_scatter`.
    * `places`: row and column of each branch; empty places hold zeros; with `combine`
      `grid_scatter`.
    """
    return Layer("parallel", {
        "layers": list(branches), "input": input, "combine": combine, "stitch": stitch,
        "temperature": temperature, "top_k": top_k or None, "grid": _list(grid),
        "places": _list(places)}, common)


def TimeDistributed(layer: Layer, count: int = 0, **common: Any) -> Layer:
    """One layer applied to every part of the row: a part is a row to it.

    * `count`: parts; 0: the first dimension of the row; at least 0.
    """
    return Layer("time_distributed", {"layers": [layer], "count": count}, common)


def Part(of: str = "", index: int = -1, **common: Any) -> Layer:
    """One of several operands of a row: `of` names a part of the network's input, or `index`
    counts.

    * `of`: its name.
    * `index`: which one, from 0; -1: that of the name `of`; at least -1.
    """
    return Layer("part", {"of": of, "index": index}, common)


# ---- probabilities


def Softmax(kind: str = "standard", log: bool = False, temperature: float = 1.0, rows: int = 0,
            cols: int = 0, levels: Optional[Sequence[int]] = (),
            mask: Optional[Sequence[int]] = (), alpha: float = 1.5, hard: bool = False,
            **common: Any) -> Layer:
    """Distributions over the last dimension, or as the kind says.

    * `kind`: `standard`; `temperature`: values are divided by it first; `grid`: `rows` x
      `cols`, a distribution for each row; `hierarchical`: a tree by `levels`. It takes logits
      of all nodes, level after level, and returns for each leaf the product along its path;
      `gumbel`: Gumbel noise while training; `masked`: over the places of `mask`; `sparsemax`;
      `entmax`.
    * `log`: logarithms of the probabilities; with `kind` `standard` or `temperature` or `grid`.
    * `temperature`: values are divided by it first; 1e-6 to 1e6.
    * `rows`: distributions; with `kind` `grid`; at least 1.
    * `cols`: values of each; with `kind` `grid`; at least 1.
    * `levels`: children of a node, from the root on; with `kind` `hierarchical`; at least 1.
    * `mask`: 1 for each place that counts; the others get 0; with `kind` `masked`.
    * `alpha`: 1 is softmax, 2 is sparsemax; not between 1 and 1.01; with `kind` `entmax`; 1 to
      8.
    * `hard`: 1 at the largest and 0 elsewhere, with the gradient of the soft probabilities
      (straight-through estimator); with `kind` `gumbel`.
    """
    return Layer("softmax", {
        "kind": kind, "log": log, "temperature": temperature, "rows": rows or None,
        "cols": cols or None, "levels": _list(levels), "mask": _list(mask), "alpha": alpha,
        "hard": hard}, common)


def LogSoftmax(**common: Any) -> Layer:
    """Logarithms of a softmax."""
    return Layer("log_softmax", {}, common)


def AdaptiveSoftmax(out: int, cutoffs: Sequence[int], divide: float = 4.0, bias: bool = False,
                    log: bool = False, **common: Any) -> Layer:
    """Many classes, rare ones through narrow projections (arXiv 1609.04309):
    `torch.nn.AdaptiveLogSoftmaxWithLoss`. Parameters: `head` (cutoffs(0) + clusters, in),
    `tail0_down` (in / divide, in), `tail0_up` (classes, in / divide), ...

    * `out`: classes, frequent ones first; 1 to 1073741823.
    * `cutoffs`: classes at which a cluster begins, ascending; at least 1.
    * `divide`: cluster i sees a projection of the input to width / divide^(i + 1) values; 1 to
      1e6.
    * `bias`: adds learned numbers in the head.
    * `log`: logarithms of the probabilities.
    """
    return Layer("adaptive_softmax", {
        "out": out, "cutoffs": _list(cutoffs), "divide": divide, "bias": bias,
        "log": log}, common)


def MixtureOfSoftmaxes(out: int, mixtures: int, hidden: int = 0, bias: bool = True,
                       log: bool = False, **common: Any) -> Layer:
    """A weighted sum of softmaxes (arXiv 1711.03953): the sum over k of `prior`_k softmax(`weight`
    tanh(`latent`_k x)).

    * `out`: classes; at least 1.
    * `mixtures`: softmaxes that are mixed; at least 1.
    * `hidden`: values that each sees; 0: as many as arrive; at least 0.
    * `bias`: adds learned numbers to what each sees, and to the logits.
    * `log`: logarithms of the probabilities, of at least 2^-40.
    """
    return Layer("mixture_of_softmaxes", {
        "out": out, "mixtures": mixtures, "hidden": hidden, "bias": bias, "log": log}, common)


def KMeans(clusters: int, temperature: float = 1.0, output: str = "probabilities",
           **common: Any) -> Layer:
    """Soft membership of learned centers: softmax(-distance^2 / (2 temperature^2)). A row too far
    from all centers for squares in its type belongs to all alike. Parameter: `centers`
    (clusters, in).

    * `clusters`: number of centers; at least 1.
    * `temperature`: standard deviation of a cluster; 0.0001 to 10000.
    * `output`: `probabilities` of the clusters, or `features`: the centers' mean under them.
    """
    return Layer("kmeans", {
        "clusters": clusters, "temperature": temperature, "output": output}, common)


# ---- functions of whole rows, as ONNX graphs become them


def Activation(activation: str = "relu", **common: Any) -> Layer:
    """A function of each value by itself.

    * `activation`: the function.
    """
    return Layer("activation", {"activation": activation}, common)


def Unary(op: str, a: float = 0.0, b: float = 0.0, **common: Any) -> Layer:
    """A function of single values, with up to two parameters.

    * `op`: the function ([kinds](../../src/ops/graph/kinds.h)).
    * `a`: its first parameter.
    * `b`: its second parameter.
    """
    return Layer("unary", {"op": op, "a": a, "b": b}, common)


def Binary(op: str, shapes: Sequence[Sequence[int]] = (),
           constant: Optional[Sequence[int]] = (), constant_first: bool = False,
           **common: Any) -> Layer:
    """Two operands that arrive side by side, spread as NumPy does; or one, and a learned one, the
    parameter `value`.

    * `op`: the function ([kinds](../../src/ops/graph/kinds.h)).
    * `shapes`: of both operands, or of the one; none: two that come as `operands`; at least 1.
    * `constant`: shape of the learned operand, where only one arrives; at least 1.
    * `constant_first`: the learned operand is the first.
    """
    return Layer("binary", {
        "op": op, "shapes": [list(s) for s in shapes], "constant": _list(constant),
        "constant_first": constant_first}, common)


def Select(shapes: Sequence[Sequence[int]] = (), **common: Any) -> Layer:
    """`numpy.where` of three operands that arrive side by side.

    * `shapes`: of condition, then, otherwise; none: three that come as `operands`; at least 1.
    """
    return Layer("select", {"shapes": [list(s) for s in shapes]}, common)


def Reduce(op: str, dims: Optional[Sequence[int]] = (), axes: Optional[Sequence[int]] = (),
           keepdims: bool = True, **common: Any) -> Layer:
    """A sum, a mean, a maximum, ... over dimensions of the row.

    * `op`: the function ([kinds](../../src/ops/graph/kinds.h)).
    * `dims`: dimensions of the row; none: those it comes with; at least 1.
    * `axes`: which of them are reduced; none: all; at least 0.
    * `keepdims`: they stay, with size 1.
    """
    return Layer("reduce", {
        "op": op, "dims": _list(dims), "axes": _list(axes), "keepdims": keepdims}, common)


def Permute(order: Sequence[int], dims: Optional[Sequence[int]] = (), **common: Any) -> Layer:
    """Dimensions in another order: `numpy.transpose`.

    * `order`: which of them becomes the first, the second, ...; at least 0.
    * `dims`: dimensions of the row; none: those it comes with; at least 1.
    """
    return Layer("permute", {"order": _list(order), "dims": _list(dims)}, common)


def IndexSelect(dims: Sequence[int], runs: Sequence[int], fill: float = 0.0,
                **common: Any) -> Layer:
    """Values by their places in the row.

    * `dims`: dimensions of the result; none: one; at least 1.
    * `runs`: places, as runs of first, step, count; first -1 with step 0: `fill`.
    * `fill`: what stands where no place is.
    """
    return Layer("index_select", {
        "dims": _list(dims), "runs": _list(runs), "fill": fill}, common)


def BatchedMatmul(shapes: Sequence[Sequence[int]] = (), **common: Any) -> Layer:
    """The product of two operands that arrive side by side, NumPy's matmul for two dimensions or
    more.

    * `shapes`: of both: [..., M, K] and [..., K, N]; none: two that come as `operands`; at
      least 1.
    """
    return Layer("batched_matmul", {"shapes": [list(s) for s in shapes]}, common)
