"""Norms, pools, resampling and recurrent layers."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from ..graph import Batch, Constant, Tensor, Value
from ..graph.shape import count, size_of
from .products import _three
from .walk import Args, Walk, rule


@rule("batch_norm", "_native_batch_norm_legit_no_training", "native_batch_norm", "cudnn_batch_norm")
def _batch_norm(w: Walk, a: Args) -> Any:
    if a.get("training") or a.running_mean is None:
        raise w.refuse("a norm over the batch, without running statistics")
    made = w.g.batch_norm(
        w.g.value(a.input), _moving(w, a.running_mean), _moving(w, a.running_var),
        w.constant(a.weight, "a gain"), w.constant(a.bias, "a bias"), eps=a.eps,
        momentum=a.momentum)
    return made if w.operator() == "aten.batch_norm.default" else [made, None, None]


def _moving(w: Walk, x: Any) -> Constant:
    """Running statistics, which training moves."""
    constant = w.constant(x, "a statistic")
    assert constant is not None
    return Constant(constant.array, ("moving", constant.key), constant.read, constant.names, True)


@rule("layer_norm", "native_layer_norm")
def _layer_norm(w: Walk, a: Args) -> Any:
    g, x = w.g, w.g.value(a.input)
    rank, n = len(a.normalized_shape), count(a.normalized_shape)
    gain, bias = w.constant(a.weight, "a gain"), w.constant(a.bias, "a bias")
    flat = Value(x.cell, x.shape[:-rank] + (n,), x.dims, x.ids, x.axis)
    made = g.layer_norm(flat, gain.reshaped((n,)) if gain is not None else None,
                        bias.reshaped((n,)) if bias is not None else None, eps=a.eps)
    made = Value(made.cell, x.shape, made.dims, 0, made.axis)
    return [made, None, None] if "native" in w.operator() else made


@rule("rms_norm", "_fused_rms_norm")
def _rms_norm(w: Walk, a: Args) -> Any:
    g, x = w.g, w.g.value(a.input)
    rank, n = len(a.normalized_shape), count(a.normalized_shape)
    gain = w.constant(a.weight, "a gain")
    gain = Constant.of(np.ones(n)) if gain is None else gain.reshaped((n,))
    eps = a.eps
    if eps is None:  # the dtype's
        eps = w.torch.finfo(w.torch.float32).eps
    flat = Value(x.cell, x.shape[:-rank] + (n,), x.dims, x.ids, x.axis)
    outer = count([size_of(s) for s in flat.shape[:-1]])
    dims = (n,) if outer == 1 else (outer, n)
    made = g.layer({"type": "rms_norm", "eps": eps}, flat, flat.shape, takes=dims, dims=dims,
                   fills={"gain": gain})
    made = Value(made.cell, x.shape, made.dims, 0, made.axis)
    return [made, None] if "fused" in w.operator() else made


@rule("group_norm", "native_group_norm")
def _group_norm(w: Walk, a: Args) -> Any:
    groups = a.get("num_groups", a.get("group"))
    made = w.g.group_norm(w.g.value(a.input), groups, w.constant(a.weight, "a gain"),
                          w.constant(a.bias, "a bias"), eps=a.eps)
    return [made, None, None] if "native" in w.operator() else made


@rule("instance_norm")
def _instance_norm(w: Walk, a: Args) -> Any:
    x, gain, bias = w.g.value(a.input), w.constant(a.weight, "a gain"), w.constant(a.bias, "a bias")
    if not a.use_input_stats:
        return w.g.batch_norm(x, _moving(w, a.running_mean), _moving(w, a.running_var), gain, bias,
                              eps=a.eps, momentum=0)
    return w.g.group_norm(x, size_of(x.shape[1]), gain, bias, eps=a.eps)


@rule("dropout.default")
def _dropout(w: Walk, a: Args) -> Any:
    if w.operator() != "planetbridging.dropout.default":
        return a.input
    x = w.g.value(a.x)
    if a.kind == "dropout":
        return w.g.dropout(x, a.p)
    if a.kind != "feature_dropout":
        w.differs(a.kind)
        return x
    # Whole channels: of ones, which spread.
    ones = w.g.value(Constant.of(np.ones([1, size_of(x.shape[1])] + [1] * (len(x.shape) - 2),
                                         np.float32)))
    return w.g.binary(x, w.g.dropout(ones, a.p), "mul")


# ---- pools


@rule("max_pool1d", "max_pool2d", "max_pool3d", "max_pool2d_with_indices",
      "max_pool3d_with_indices", "max_pool1d_with_indices")
def _max_pool(w: Walk, a: Args) -> Any:
    if "with_indices" in w.operator() and w.used(1):
        raise w.refuse("places of maxima")
    x = w.g.value(a.self)
    rank = int(w.operator().split("pool")[1][0])
    made = w.g.pool(x, "max", _three(a.kernel_size, rank), stride=_three(
        a.stride or a.kernel_size, rank), padding=_three(a.padding, rank),
        dilation=_three(a.dilation, rank), ceil=a.ceil_mode)
    return [made, None] if "with_indices" in w.operator() else made


@rule("avg_pool1d", "avg_pool2d", "avg_pool3d")
def _avg_pool(w: Walk, a: Args) -> Any:
    rank = int(w.operator().split("pool")[1][0])
    kernel, stride = _three(a.kernel_size, rank), _three(a.stride or a.kernel_size, rank)
    if a.get("divisor_override"):
        raise w.refuse("divisor_override")
    return w.g.pool(w.g.value(a.self), "avg", kernel, stride=stride, padding=_three(
        a.padding, rank), ceil=a.ceil_mode, count_padding=a.count_include_pad)


@rule("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d",
      "_adaptive_avg_pool2d", "_adaptive_avg_pool3d")
def _adaptive_avg(w: Walk, a: Args) -> Any:
    x = w.g.value(a.self)
    rank = int(w.operator().split("pool")[1][0])
    shape = w.node.meta["val"].shape
    return _separable(w, x, rank, [int(n) for n in shape[-rank:]])


@rule("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def _adaptive_max(w: Walk, a: Args) -> Any:
    if w.used(1):
        raise w.refuse("places of maxima")
    x = w.g.value(a.self)
    rank = int(w.operator().split("pool")[1][0])
    made: Tensor = x
    for i, out in enumerate(_three(a.output_size, rank)):
        axis = len(x.shape) - rank + i
        n = size_of(x.shape[axis])
        windows = [list(range(j * n // out, -(-(j + 1) * n // out))) for j in range(out)]
        longest = max(map(len, windows))
        places = np.array([p + p[-1:] * (longest - len(p)) for p in windows])
        made = w.g.reduce(w.g.take(made, axis, places), "max", [axis + 1])
    return [made, None]


@rule("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d",
      "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa")
def _upsample(w: Walk, a: Args) -> Any:
    x = w.g.value(a.get("self", a.get("input")))
    rank = len(x.shape) - 2
    return _separable(w, x, rank, [int(n) for n in w.node.meta["val"].shape[-rank:]])


def _separable(w: Walk, x: Value, rank: int, sizes: List[int]) -> Tensor:
    """A weighted mean of places along each axis in its turn: the weights are what PyTorch makes of
    single ones."""
    torch, g, made = w.torch, w.g, x
    args, kwargs = (w._plain_args(tuple(w.node.args[1:]), 1),
                    w._plain_args(dict(w.node.kwargs), 1))
    space = [size_of(n) for n in x.shape[-rank:]]
    for i in range(rank):
        n, axis = space[i], len(x.shape) - rank + i
        ones = torch.eye(n, dtype=torch.float64).reshape([n, 1] + [n if j == i else 1
                                                                   for j in range(rank)])
        ones = ones.expand([n, 1] + space).contiguous()
        full = w.node.target(ones, *args, **kwargs)
        matrix = full.reshape(n, *sizes).movedim(1 + i, -1).reshape(n, -1, sizes[i])[:, 0]
        if n == sizes[i] and torch.equal(matrix, torch.eye(n, dtype=torch.float64)):
            continue
        if sizes[i] == 1 and torch.allclose(matrix, torch.full_like(matrix, 1 / n), atol=1e-12):
            made = g.reduce(made, "mean", [axis], True)
            continue
        order = [j for j in range(len(x.shape)) if j != axis] + [axis]
        moved = g.value(g.transpose(made, order))
        moved = g.dense(moved, Constant.of(matrix.T.to(torch.float32).numpy()))
        made = g.value(g.transpose(moved, [order.index(j) for j in range(len(order))]))
    return made


# ---- recurrent layers


def projects(node: Any) -> bool:
    """Whether an LSTM has proj_size: its steps are then mapped one by one."""
    _, _, params, biases, layers, _, _, both = node.args[:8]
    return len(params) != (4 if biases else 2) * layers * (2 if both else 1)


@rule("lstm.input", "gru.input", "rnn_tanh.input", "rnn_relu.input", "lstm.default", "gru.default",
      "rnn_tanh.default", "rnn_relu.default")
def _recurrent(w: Walk, a: Args) -> Any:
    kind = w.operator().split(".")[1]
    states = list(a.hx) if isinstance(a.hx, (list, tuple)) else [a.hx]
    ways = 2 if a.bidirectional else 1
    each = 4 if a.has_biases else 2
    x = w.g.value(a.input)
    results: List[Tensor] = []
    cells: List[Tensor] = []
    if len(x.shape) != 3:
        raise w.refuse("an input without a batch")
    ends = _ends(w, x, ways)
    for layer in range(a.num_layers):
        if layer and a.dropout:
            x = w.g.dropout(x, a.dropout)
        given = a.params[layer * each * ways:(layer + 1) * each * ways]
        first = [_part(w, s, layer, ways) for s in states]
        x, c = _layer(w, kind, x, given, first, ways, bool(a.has_biases), ends)
        results.append(_last(w, x, ways))
        if c is not None:
            cells.append(c)
    outputs: List[Any] = [x, w.g.concat(results, 0) if w.used(1) else None]
    if kind == "lstm":
        outputs.append(w.g.concat(cells, 0) if w.used(2) else None)
    return outputs


def _ends(w: Walk, x: Value, ways: int) -> Optional[Value]:
    """The input of lengths, where steps behind the end would be seen."""
    if w.opened is None or not (ways == 2 or w.operator().split(".")[1] == "lstm" and w.used(2)):
        return None
    return w.opened.operand(w.node.args[0], _steps(x))


def _steps(x: Value) -> int:
    return next(i for i in (0, 1) if not isinstance(x.shape[i], Batch))


def _part(w: Walk, state: Tensor, layer: int, ways: int) -> Tensor:
    return w.g.take(state, 0, np.arange(layer * ways, (layer + 1) * ways))


def _layer(w: Walk, kind: str, x: Value, params: List[Any], states: List[Tensor], ways: int,
           bias: bool, ends: Optional[Value] = None) -> Tuple[Value, Optional[Value]]:
    """One layer of several, both directions."""
    roles = ["weight_ih_l0", "weight_hh_l0"] + (["bias_ih_l0", "bias_hh_l0"] if bias else [])
    names = roles + [r + "_reverse" for r in roles] if ways == 2 else roles
    fills: Dict[str, Constant] = {}
    for name, p in zip(names, params):
        constant = w.constant(p, "weights")
        assert constant is not None
        fills[name] = constant
    hidden = fills["weight_hh_l0"].shape[1]
    zero = all(isinstance(s, Constant) and not s.trainable and not np.any(s.array) for s in states)
    operands = [] if zero else [w.g.value(s) for s in states]
    parts = any(isinstance(n, Batch) and size_of(n) > 1 for n in x.shape)
    wanted = kind == "lstm" and w.used(2)
    own = {"rnn_tanh": "rnn", "rnn_relu": "rnn"}.get(kind, kind)
    activation = "relu" if kind == "rnn_relu" else ""
    if parts:
        if operands or wanted or ends is not None:
            raise w.refuse("states of what is merged with the batch")
        config = {"type": own, "hidden": hidden, "bidirectional": ways == 2, "bias": bias}
        if activation:
            config["activation"] = activation
        order = [1, 0, 2] if isinstance(x.shape[1], Batch) else [0, 1, 2]
        moved = w.g.value(w.g.transpose(x, order))
        y = w.g.whole(config, moved, moved.shape[:2] + (ways * hidden,), fills)
        return w.g.value(w.g.transpose(y, order)), None
    made = w.g.recurrent(own, x, fills, hidden, bidirectional=ways == 2, bias=bias,
                         activation=activation,
                         operands=([] if ends is None else [ends]) + operands,
                         takes=([] if ends is None else ["lengths"]) + ["h0", "c0"][
                             :len(operands)], states=wanted)
    return made[0], made[2] if wanted else None


def _last(w: Walk, y: Value, ways: int) -> Tensor:
    """[directions, batch, hidden] of the states after the last step."""
    g = w.g
    steps = _steps(y)
    n, hidden = size_of(y.shape[steps]), size_of(y.shape[2]) // ways
    parts = []
    for way in range(ways):
        if way == 0 and w.opened is not None and w.opened.steps(w.node.args[0], steps):
            if not w.used(1):
                continue
            one = w.opened.last(y, w.node.args[0], steps, steps)
        else:
            one = g.take(y, steps, np.array([n - 1 if way == 0 else 0]))
        one = g.take(one, 2, np.arange(hidden) + way * hidden)
        parts.append(one if steps == 0 else g.transpose(one, [1, 0, 2]))
    return g.concat(parts, 0) if len(parts) > 1 else parts[0] if parts else y


@rule("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
def _cell(w: Walk, a: Args) -> Any:
    """One step, of the sums that the layers have."""
    from .products import linear
    g, kind = w.g, w.operator().split(".")[1]
    hx = a.hx if isinstance(a.hx, list) else [a.hx]
    x = linear(w, a.input, a.w_ih, a.b_ih)
    h = linear(w, g.value(hx[0]), a.w_hh, a.b_hh)
    n = size_of(hx[0].shape[-1])

    def part(t: Tensor, i: int) -> Tensor:
        return g.take(t, -1, np.arange(n) + i * n)

    if kind == "gru_cell":
        r, z = (g.activation(g.binary(part(x, i), part(h, i), "add"), "sigmoid") for i in (0, 1))
        new = g.activation(g.binary(part(x, 2), g.binary(r, part(h, 2), "mul"), "add"), "tanh")
        return g.binary(new, g.binary(z, g.binary(hx[0], new, "sub"), "mul"), "add")
    both = g.binary(x, h, "add")
    if kind != "lstm_cell":
        return g.activation(both, "relu" if "relu" in kind else "tanh")
    i, f, c, o = (g.activation(part(both, k), "tanh" if k == 2 else "sigmoid") for k in range(4))
    cell = g.binary(g.binary(f, hx[1], "mul"), g.binary(i, c, "mul"), "add")
    return [g.binary(o, g.activation(cell, "tanh"), "mul"), cell]
