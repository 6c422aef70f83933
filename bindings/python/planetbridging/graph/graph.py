"""Layers with parameters, as all frameworks have them, in one place: each front end brings its
weights into the order that is said here."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

from .cells import Elsewhere, Value
from .constant import Constant
from .functions import Functions
from .shape import Batch, Shape, count, dims_of, row_of, size_of, text_of


def _filled(**fills: Optional[Constant]) -> Dict[str, Constant]:
    return {role: c for role, c in fills.items() if c is not None}


class Graph(Functions):
    """A network while it is written.

        g = Graph()
        x = g.input("x", (Batch(), 8))
        y = g.dense(x, Constant.named("0.weight", w), Constant.named("0.bias", b))
        topology, fills = g.topology([("y", y)]), g.fills()
    """

    def dense(self, x: Value, weight: Constant, bias: Optional[Constant] = None,
              activation: str = "linear") -> Value:
        """`weight` is [out, in]; the last axis of x is `in`."""
        out = weight.shape[0]
        config: Dict[str, Any] = {"type": "dense", "out": out}
        if bias is None:
            config["bias"] = False
        if activation != "linear":
            config["activation"] = activation
        try:
            return self.layer(config, x, x.shape[:-1] + (out,), takes=_steps(x.shape),
                              dims=_steps(x.shape[:-1] + (out,)),
                              fills=_filled(weight=weight, bias=bias))
        except Elsewhere:
            return self._shifted(self.dense(x, weight), bias, activation)

    def _shifted(self, x: Value, bias: Optional[Constant], activation: str = "linear",
                 trailing: int = 0) -> Value:
        """A bias that is another cell's, added behind a layer: `trailing` axes behind its own."""
        if bias is None:
            raise self._shared_twice()
        value = self.value(bias)
        shape = tuple(bias.shape) + (1,) * trailing
        made = self.value(self.binary(x, Value(value.cell, shape), "add"))
        return made if activation == "linear" else self.activation(made, activation)

    def _shared_twice(self) -> Exception:
        from ..errors import Unmapped
        return Unmapped(self.where, "a parameter that another module has, too",
                        "only a layer's first matrix, or a bias, can be another one's")

    def whole(self, config: Dict[str, Any], x: Value, shape: Shape,
              fills: Optional[Dict[str, Constant]] = None) -> Value:
        """A layer over all axes behind the first, which holds the batch: where more is merged with
        that, it works on each part."""
        if not x.shape or not isinstance(x.shape[0], Batch):
            raise ValueError("%s over %s: expects the batch first"
                             % (config["type"], text_of(x.shape)))
        parts = size_of(x.shape[0])
        if parts == 1:
            return self.layer(config, x, shape, fills=fills, axis="channels")
        given = {"/0:" + role: constant for role, constant in (fills or {}).items()}
        return self.layer({"type": "time_distributed", "count": parts, "layers": [config]}, x,
                          shape, fills=given)

    def embedding(self, ids: Value, weight: Constant) -> Value:
        """`weight` is [ids, out]. The ids are an input."""
        if not ids.ids:
            from ..errors import Unmapped
            raise Unmapped(self.where, "an embedding of computed ids",
                           "ids are an input of the network")
        out = weight.shape[1]
        if ids.ids != weight.shape[0]:
            raise ValueError("ids below %d into a table of %d" % (ids.ids, weight.shape[0]))
        shape = ids.shape + (out,)
        made = self.cell({"type": "embedding", "out": out}, [ids], shape,
                         dims=dims_of(ids.shape + (out,)), fills={"weight": weight})
        made.axis = "steps" if len(dims_of(shape)) == 2 else "ids"
        return made

    def conv(self, x: Value, weight: Constant, bias: Optional[Constant] = None, *,
             stride: Sequence[int] = (), padding: Sequence[int] = (), dilation: Sequence[int] = (),
             groups: int = 1) -> Value:
        """x is [batch, channels, space...], `weight` [filters, channels / groups, kernel...];
        `padding` one number for each dimension, or all begins and then all ends."""
        rank, kernel = len(x.shape) - 2, list(weight.shape[2:])
        stride, dilation = list(stride) or [1] * rank, list(dilation) or [1] * rank
        padding = list(padding) or [0] * rank
        both = padding + padding if len(padding) == rank else padding
        space = [(size_of(n) + both[i] + both[rank + i] - dilation[i] * (kernel[i] - 1) - 1)
                 // stride[i] + 1 for i, n in enumerate(x.shape[2:])]
        config: Dict[str, Any] = {"type": "conv%dd" % rank, "filters": weight.shape[0],
                                  "kernel": kernel, "stride": stride, "padding": padding,
                                  "dilation": dilation, "groups": groups}
        if bias is None:
            config["bias"] = False
        flat = weight.reshaped((weight.shape[0], count(weight.shape[1:])))
        try:
            return self.whole(config, x, (x.shape[0], weight.shape[0], *space),
                              _filled(weight=flat, bias=bias))
        except Elsewhere:
            return self._shifted(self.conv(x, weight, stride=stride, padding=padding,
                                           dilation=dilation, groups=groups), bias, trailing=rank)

    def conv_transpose(self, x: Value, weight: Constant, bias: Optional[Constant] = None, *,
                       stride: Sequence[int] = (), padding: Sequence[int] = (),
                       output_padding: Sequence[int] = (), dilation: Sequence[int] = (),
                       groups: int = 1) -> Value:
        """x is [batch, channels, space...], `weight` [channels, filters / groups, kernel...]."""
        rank, kernel = len(x.shape) - 2, list(weight.shape[2:])
        stride, dilation = list(stride) or [1] * rank, list(dilation) or [1] * rank
        padding, more = list(padding) or [0] * rank, list(output_padding) or [0] * rank
        filters = weight.shape[1] * groups
        space = [(size_of(n) - 1) * stride[i] - 2 * padding[i] + dilation[i] * (kernel[i] - 1)
                 + more[i] + 1 for i, n in enumerate(x.shape[2:])]
        config: Dict[str, Any] = {"type": "conv_transpose%dd" % rank, "filters": filters,
                                  "kernel": kernel, "stride": stride, "padding": padding,
                                  "dilation": dilation, "groups": groups, "output_padding": more}
        if bias is None:
            config["bias"] = False
        inputs, outputs = weight.shape[0] // groups, count(weight.shape[1:])
        flat = weight.reshaped((groups, inputs, outputs)).transposed((0, 2, 1)).reshaped(
            (groups * outputs, inputs))
        try:
            return self.whole(config, x, (x.shape[0], filters, *space),
                              _filled(weight=flat, bias=bias))
        except Elsewhere:
            return self._shifted(self.conv_transpose(
                x, weight, stride=stride, padding=padding, output_padding=output_padding,
                dilation=dilation, groups=groups), bias, trailing=rank)

    def dropout(self, x: Value, rate: float) -> Value:
        """Nothing but while training."""
        if rate <= 0:
            return x
        return self._kept({"type": "dropout", "rate": rate}, x)

    def batch_norm(self, x: Value, mean: Constant, variance: Constant, gain: Optional[Constant],
                   bias: Optional[Constant], *, eps: float, momentum: float = 0.1) -> Value:
        """Channels at axis 1. `momentum`: what a batch weighs in the running numbers, 0 where they
        stay."""
        config: Dict[str, Any] = {"type": "batch_norm", "eps": eps, "momentum": momentum}
        if gain is None and bias is None:
            config["affine"] = False
        elif gain is None or bias is None:
            import numpy as np
            gain = gain or Constant.of(np.ones(mean.shape))
            bias = bias or Constant.of(np.zeros(mean.shape))
        return self.whole(config, x, x.shape, _filled(
            gain=gain, bias=bias, running_mean=mean, running_var=variance))

    def group_norm(self, x: Value, groups: int, gain: Optional[Constant] = None,
                   bias: Optional[Constant] = None, *, eps: float) -> Value:
        """Channels at axis 1; as many groups as channels: an instance norm."""
        config: Dict[str, Any] = {"type": "group_norm", "groups": groups, "eps": eps}
        if gain is None and bias is None:
            config["affine"] = False
            return self.whole(config, x, x.shape)
        import numpy as np
        channels = size_of(x.shape[1])
        return self.whole(config, x, x.shape, {
            "gain": gain or Constant.of(np.ones(channels)),
            "bias": bias or Constant.of(np.zeros(channels))})

    def layer_norm(self, x: Value, gain: Optional[Constant], bias: Optional[Constant], *,
                   eps: float) -> Value:
        """Over the last axis."""
        import numpy as np
        width = row_of(x.shape)[-1]
        ones, zeros = Constant.of(np.ones(width)), Constant.of(np.zeros(width))
        fills = {"gain": gain or ones, "bias": bias or zeros}
        dims = _steps(x.shape)
        try:
            return self.layer({"type": "layer_norm", "eps": eps}, x, x.shape, takes=dims,
                              dims=dims, fills=fills)
        except Elsewhere:
            made = self.layer({"type": "layer_norm", "eps": eps}, x, x.shape, takes=dims,
                              dims=dims, fills={"gain": ones, "bias": zeros})
            made = self.value(self.binary(made, self.value(fills["gain"]), "mul"))
            return self._shifted(made, fills["bias"])

    def pool(self, x: Value, kind: str, kernel: Sequence[int], *, stride: Sequence[int] = (),
             padding: Sequence[int] = (), dilation: Sequence[int] = (), ceil: bool = False,
             count_padding: bool = True) -> Value:
        """`kind`: max or avg, over [batch, channels, space...]."""
        rank = len(x.shape) - 2
        stride, dilation = list(stride) or list(kernel), list(dilation) or [1] * rank
        padding = list(padding) or [0] * rank
        both = padding + padding if len(padding) == rank else padding
        space: List[int] = []
        for i, n in enumerate(size_of(axis) for axis in x.shape[2:]):
            reach = n + both[i] + both[rank + i] - dilation[i] * (kernel[i] - 1) - 1
            out = (-(-reach // stride[i]) if ceil else reach // stride[i]) + 1
            # A window that would begin in the padding behind the input is none.
            if ceil and (out - 1) * stride[i] >= n + both[i]:
                out -= 1
            space.append(out)
        config: Dict[str, Any] = {"type": "%s_pool%dd" % (kind, rank), "kernel": list(kernel),
                                  "stride": stride, "padding": padding, "ceil_mode": ceil}
        if kind == "max":
            config["dilation"] = dilation
        else:
            config["count_include_pad"] = count_padding
        return self.whole(config, x, (x.shape[0], x.shape[1], *space))

    def attention(self, x: Value, weights: Dict[str, Constant], heads: int, *,
                  keys: Optional[Value] = None, causal: bool = False,
                  dropout: float = 0.0, lengths: Optional[Value] = None) -> Value:
        """Multi-head attention of [batch, steps, features], in any order of the first two, to
        itself or to the steps of `keys`. `weights`: q, k, v, o [out, in], and with q_bias, k_bias,
        v_bias and o_bias [out] or without. `lengths`: an input of one id, behind which no key is
        seen."""
        config: Dict[str, Any] = {"type": "attention" if keys is None else "cross_attention",
                                  "heads": heads, "qkv_bias": "q_bias" in weights,
                                  "out_bias": "o_bias" in weights}
        if weights["q"].shape[0] != row_of(x.shape)[-1]:
            config["head_dim"] = weights["q"].shape[0] // heads
        if keys is None:
            config.update(causal=causal, rope=False)
        elif causal:
            raise ValueError("causal attention to other steps")
        if dropout:
            config["dropout"] = dropout
        shape = x.shape[:-1] + (weights["o"].shape[0],)
        if lengths is not None:
            config["takes"] = ["lengths"]
        return self.layer(config, [o for o in (x, keys, lengths) if o is not None], shape,
                          fills=weights)

    def recurrent(self, kind: str, x: Value, fills: Dict[str, Constant], hidden: int, *,
                  layers: int = 1, bidirectional: bool = False, bias: bool = True,
                  activation: str = "", last: bool = False, operands: Sequence[Value] = (),
                  takes: Sequence[str] = (), states: bool = False) -> Tuple[Value, ...]:
        """rnn, gru or lstm over x, whose axes are the batch and steps, in any order, and features.
        `fills` have PyTorch's names and gate orders (docs/reference/layers.md). Several operands
        (h0, c0) stand behind x, named by `takes`. `states`: h, and c of an LSTM, come too, as
        [layers x directions, batch, hidden]."""
        steps = [axis for axis in x.shape[:-1] if not isinstance(axis, Batch)]
        if len(x.shape) != 3 or len(steps) != 1:
            raise ValueError("%s over %s: expects the batch, steps and features"
                             % (kind, text_of(x.shape)))
        ways = 2 if bidirectional else 1
        config: Dict[str, Any] = {"type": kind, "hidden": hidden, "num_layers": layers,
                                  "bidirectional": bidirectional, "bias": bias}
        if activation:
            config["activation"] = activation
        if last:
            config["output"] = "last"
        if takes:
            config["takes"] = list(takes)
        if states:
            config["return_state"] = True
        shape: Shape = x.shape[:-1] + (ways * hidden,)
        if last:
            shape = tuple(a for a in x.shape[:-1] if isinstance(a, Batch)) + (ways * hidden,)
        y = self.layer(config, [x, *operands], shape, takes=(steps[0], row_of(x.shape)[-1]),
                       fills=fills)
        if not states:
            return (y,)
        state: Shape = (layers * ways, Batch(), hidden)
        made = [Value(y.cell, shape)]
        parts = []
        for i in range(3 if kind == "lstm" else 2):
            of = shape if i == 0 else state
            parts.append(self.cell({"type": "part", "index": i}, made, of, dims=None))
        return tuple(parts)


def _steps(shape: Shape) -> Tuple[int, ...]:
    """The dimensions of a layer that works on the last axis."""
    rows = row_of(shape)
    outer = count(rows[:-1])
    return (rows[-1],) if outer == 1 else (outer, rows[-1])
