"""Functions over axes that are open: sums, means, norms, pools, and what moves numbers."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from ..graph import Batch, Constant, Tensor, Value
from ..graph.shape import size_of
from .elementwise import axes_of
from .opened import LOWEST, Opened, handler
from .shapes import MOVES, filled_with
from .walk import Args

HIGHEST = 1e30
_REDUCED = {"sum": 0.0, "linalg_vector_norm": 0.0, "norm": 0.0, "frobenius_norm": 0.0, "any": 0.0,
            "all": 1.0, "prod": 1.0, "amax": LOWEST, "argmax": LOWEST, "logsumexp": LOWEST,
            "max.default": LOWEST, "max.dim": LOWEST, "amin": HIGHEST, "argmin": HIGHEST,
            "min.default": HIGHEST, "min.dim": HIGHEST}


def _axes(o: Opened, node: Any, a: Args) -> List[int]:
    """Those that a reduction goes over."""
    rank = len(o.sizes.kept[node.args[0]])
    found = axes_of(a)
    return list(range(rank)) if found is None else [i % rank for i in found]


def _over(o: Opened, node: Any, axes: List[int]) -> List[Tuple[int, Any]]:
    return [(i, e) for i, e in o.axes(node.args[0]) if i in axes]


def _reduced(fill: float) -> Any:
    def run(o: Opened, node: Any, rule: Any) -> Any:
        a = o.w._args(node)
        power = a.get("ord", a.get("p"))
        over = _over(o, node, _axes(o, node, a))
        if over and isinstance(power, (int, float)) and power < 0:
            raise o.refuse("a negative power over an open dimension")
        return o.with_inputs(node, rule, {node.args[0]: o.hide(
            o.w.env[node.args[0]], over, fill)})
    return run


for _name, _fill in _REDUCED.items():
    handler(_name)(_reduced(_fill))


def _mean(o: Opened, x: Tensor, over: List[Tuple[int, Any]], axes: List[int], sizes: Any,
          keep: bool, less: float = 0.0) -> Tensor:
    """A sum by how many there are, less some."""
    g = o.g
    number = o.places([sizes[i] for i in axes])
    if less:
        number = g.binary(number, Constant.of(np.float64(less)), "sub")
    return g.binary(g.reduce(o.hide(x, over, 0.0), "sum", axes, keep), number, "div")


@handler("mean")
def _means(o: Opened, node: Any, rule: Any) -> Any:
    a = o.w._args(node)
    axes = _axes(o, node, a)
    over = _over(o, node, axes)
    if not over:
        return rule(o.w, a)
    return _mean(o, a.self, over, axes, o.sizes.kept[node.args[0]], a.get("keepdim", False))


@handler("var", "std", "var_mean", "std_mean")
def _var(o: Opened, node: Any, rule: Any) -> Any:
    a, g = o.w._args(node), o.g
    axes = _axes(o, node, a)
    over, sizes = _over(o, node, axes), o.sizes.kept[node.args[0]]
    if not over:
        return rule(o.w, a)
    correction = a.get("correction", 1 if a.get("unbiased", True) else 0)
    mean = _mean(o, a.self, over, axes, sizes, True)
    square = g.unary(g.binary(a.self, mean, "sub"), "square")
    made = _mean(o, square, over, axes, sizes, a.get("keepdim", False),
                 1.0 if correction is None else float(correction))
    if "std" in o.w.operator():
        made = g.unary(made, "sqrt")
    if "_mean" not in o.w.operator():
        return made
    return [made, _mean(o, a.self, over, axes, sizes, a.get("keepdim", False))]


@handler("group_norm", "native_group_norm", "instance_norm")
def _group_norm(o: Opened, node: Any, rule: Any) -> Any:
    """Of each group the mean and the variance up to the end."""
    a, g = o.w._args(node), o.g
    open_ = o.axes(node.args[0])
    if not open_ or "instance" in o.w.operator() and not a.use_input_stats:
        return rule(o.w, a)
    x = g.value(a.input)
    sizes = list(o.sizes.kept[node.args[0]])
    if min(i for i, _ in open_) < 2 or x.shape[0] != Batch():
        raise o.over()
    channels = size_of(x.shape[1])
    groups = channels if "instance" in o.w.operator() else a.get("num_groups", a.get("group"))
    each = channels // groups
    cut = g.reshape(x, [None, groups, each, *x.shape[2:]])
    over = [(i + 1, e) for i, e in open_]
    axes = list(range(2, len(x.shape) + 1))
    counted = [sizes[0], groups, each, *sizes[2:]]
    centered = g.binary(cut, _mean(o, cut, over, axes, counted, True), "sub")
    spread = _mean(o, g.unary(centered, "square"), over, axes, counted, True)
    deviation = g.unary(g.binary(spread, Constant.of(np.float64(a.eps)), "add"), "sqrt")
    made = g.reshape(g.binary(centered, deviation, "div"), [None, *x.shape[1:]])
    for parameter, op in ((a.weight, "mul"), (a.bias, "add")):
        constant = o.w.constant(parameter, "a gain or bias")
        if constant is not None:
            made = g.binary(made, constant.reshaped(
                (channels,) + (1,) * (len(x.shape) - 2)), op)
    return [made, None, None] if "native" in o.w.operator() else made


@handler("layer_norm", "native_layer_norm", "rms_norm", "_fused_rms_norm")
def _last_axes(o: Opened, node: Any, rule: Any) -> Any:
    rank, n = len(o.sizes.kept[node.args[0]]), len(node.args[1])
    if any(i >= rank - n for i, _ in o.axes(node.args[0])):
        raise o.over()
    return rule(o.w, o.w._args(node))


@handler("glu")
def _glu(o: Opened, node: Any, rule: Any) -> Any:
    a = o.w._args(node)
    if any(i == a.dim % len(o.sizes.kept[node]) for i, _ in o.axes(node.args[0])):
        raise o.over()
    return rule(o.w, a)


@handler("linear")
def _linear(o: Opened, node: Any, rule: Any) -> Any:
    last = {n: len(o.sizes.kept[n]) - 1 for n in node.args[:2]}
    return o.with_inputs(node, rule, {
        n: o.hide(o.w.env[n], [(i, e) for i, e in o.axes(n) if i == last[n]], 0.0)
        for n in node.args[:2] if o.axes(n)})


@handler("embedding")
def _embedding(o: Opened, node: Any, rule: Any) -> Any:
    if o.axes(node.args[0]):
        raise o.over()
    return rule(o.w, o.w._args(node))


@handler("scaled_dot_product_attention", "lstm.default", "gru.default", "rnn_tanh.default",
         "rnn_relu.default")
def _by_the_rule(o: Opened, node: Any, rule: Any) -> Any:
    return rule(o.w, o.w._args(node))


# ---- pools


def _padded(padding: Any) -> bool:
    return any(padding) if isinstance(padding, (list, tuple)) else bool(padding)


@handler("avg_pool1d", "avg_pool2d", "avg_pool3d")
def _avg_pool(o: Opened, node: Any, rule: Any) -> Any:
    a = o.w._args(node)
    if not _padded(a.padding) and not a.ceil_mode:
        return rule(o.w, a)
    if a.ceil_mode or not a.count_include_pad:
        raise o.refuse("windows at the end of an open dimension that count less")
    x = node.args[0]
    return o.with_inputs(node, rule, {x: o.hide(o.w.env[x], o.axes(x), 0.0)})


@handler("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d",
         "_adaptive_avg_pool2d", "_adaptive_avg_pool3d")
def _adaptive(o: Opened, node: Any, rule: Any) -> Any:
    """Axis by axis, by a matrix for each length."""
    x = node.args[0]
    before, after = o.sizes.kept[x], o.sizes.kept[node]
    rank = int(o.w.operator().split("pool")[1][0])
    made: Tensor = o.hide(o.w.env[x], o.axes(x), 0.0)
    for i in range(len(before) - rank, len(before)):
        names = sorted({*o.sizes.names(before[i]), *o.sizes.names(after[i])})
        n, m = size_of(made.shape[i]), int(o.sizes.at(after[i], o.sizes.largest))

        def matrix(lengths: Dict[str, int], i: int = i, n: int = n, m: int = m) -> np.ndarray:
            full = np.zeros((n, m), np.float32)
            size, out = (int(o.sizes.at(s[i], lengths)) for s in (before, after))
            for j in range(out):
                first, end = j * size // out, -(-(j + 1) * size // out)
                full[first:end, j] = 1 / (end - first)
            return full

        if names:
            made = o.linear(made, i, names, matrix, m)
        elif m == 1:
            made = o.g.reduce(made, "mean", [i], True)
        elif n != m:
            made = o.g.transpose(o.g.dense(o.g.value(o.g.transpose(made, _swapped(made, i))),
                                           Constant.of(matrix({}).T)), _swapped(made, i))
    return made


@handler("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def _adaptive_max(o: Opened, node: Any, rule: Any) -> Any:
    """One maximum over each open axis."""
    x = node.args[0]
    made = o.sizes.kept[node][0]
    if any(made[i] != 1 for i, _ in o.axes(x)):
        raise o.over()
    return o.with_inputs(node, rule, {x: o.hide(o.w.env[x], o.axes(x), LOWEST)})


def _swapped(x: Tensor, axis: int) -> List[int]:
    order = list(range(len(x.shape)))
    order[axis], order[-1] = order[-1], order[axis]
    return order


# ---- places


@handler("view", "reshape", "_unsafe_view", "flatten", "unflatten", "squeeze", "unsqueeze",
         "view_as", "reshape_as", "squeeze_copy", "view_copy", "unsqueeze_copy")
def _reshape(o: Opened, node: Any, rule: Any) -> Any:
    """Numbers before the end must stay the first of each axis."""
    x = node.args[0]
    whole = [np.arange(int(np.prod(o.dims(n, o.sizes.largest)))).reshape(
        o.dims(n, o.sizes.largest)) for n in (x, node)]
    for lengths in o.probes():
        first, then = (places[tuple(slice(n) for n in o.dims(m, lengths))].ravel()
                       for places, m in zip(whole, (x, node)))
        if not np.array_equal(first, then):
            raise o.refuse("%s into %s: behind an open dimension only axes of a fixed size can be "
                           "merged with it" % (_text(o, x), _text(o, node)))
    return rule(o.w, o.w._args(node))


def _text(o: Opened, node: Any) -> str:
    return "[%s]" % ", ".join(" x ".join(o.sizes.names(e)) or str(e) for e in o.sizes.kept[node])


@handler("cat", "concat", "concatenate")
def _cat(o: Opened, node: Any, rule: Any) -> Any:
    """One behind the other's end."""
    axis = o.w._args(node).dim % len(o.sizes.kept[node])
    parts = [n for n in node.args[0] if o.sizes.kept[n] != (0,)]
    names = sorted({m for n in parts for m in o.sizes.names(o.sizes.kept[n][axis])})
    if not any(o.sizes.names(o.sizes.kept[n][axis]) for n in parts[:-1]):
        return rule(o.w, o.w._args(node))
    out = int(o.sizes.at(o.sizes.kept[node][axis], o.sizes.largest))
    made: Optional[Tensor] = None
    for k, part in enumerate(parts):
        def matrix(lengths: Dict[str, int], k: int = k) -> np.ndarray:
            sizes = [int(o.sizes.at(o.sizes.kept[n][axis], lengths)) for n in parts[:k + 1]]
            return np.eye(n, out, sum(sizes[:-1]), dtype=np.float32) * (
                np.arange(n) < sizes[-1])[:, None]

        x = o.hide(o.w.env[part], o.axes(part), 0.0)
        n = size_of(x.shape[axis])
        one = o.linear(x, axis, names, matrix, out)
        made = one if made is None else o.g.binary(made, one, "add")
    return made


class _Moved:
    """What an operator that moves numbers makes of places, for each length."""

    def __init__(self, o: Opened, node: Any) -> None:
        self.o, self.node, self.x = o, node, next(n for n in node.all_input_nodes)
        self.args, self.kwargs = list(node.args), dict(node.kwargs)
        self.fill = filled_with(o.w, o.w._args(node), self.args, self.kwargs)

    def of(self, places: np.ndarray, lengths: Dict[str, int]) -> List[np.ndarray]:
        o, torch = self.o, self.o.w.torch
        rest = o.at(tuple(self.args[1:]), lengths)
        made = self.node.target(torch.from_numpy(places), *rest, **o.at(self.kwargs, lengths))
        return [t.numpy() for t in (made if isinstance(made, (tuple, list)) else [made])]

    def places(self, lengths: Dict[str, int]) -> np.ndarray:
        """1, 2, ... at the maximum, those up to the end."""
        dims = self.o.dims(self.x, self.o.sizes.largest)
        whole = np.arange(1.0, int(np.prod(dims)) + 1).reshape(dims)
        return np.ascontiguousarray(whole[tuple(slice(n) for n in self.o.dims(self.x, lengths))])

    def stays(self, hidden: bool) -> bool:
        """Whether the results at a length are the first of those at the maximum; `hidden`: with
        what it fills with behind the end."""
        largest = self.o.sizes.largest
        whole = self.of(self.places(largest), largest)
        for lengths in self.o.probes():
            places = self.places(lengths)
            if hidden:
                whole = self.of(np.pad(places, [(0, n - m) for n, m in zip(
                    self.o.dims(self.x, largest), places.shape)]), largest)
            made = self.of(places, lengths)
            if len(made) != len(whole) or not all(np.array_equal(
                    w[tuple(slice(n) for n in m.shape)], m) for w, m in zip(whole, made)):
                return False
        return True

    def along(self, axis: int, lengths: Dict[str, int]) -> Optional[np.ndarray]:
        """The places of one axis that it takes, -1 for what it fills; None where it does more."""
        places = self.places(lengths)
        shape = [-1 if i == axis else 1 for i in range(places.ndim)]
        coordinates = np.broadcast_to(np.arange(1.0, places.shape[axis] + 1).reshape(shape),
                                      places.shape).copy()
        made = self.of(coordinates, lengths)[0]
        same = made.ndim == places.ndim
        lines = np.moveaxis(made, axis, -1).reshape(-1, made.shape[axis]) if same else \
            made.reshape(-1, 1)
        if not lines.size or (lines != lines[:1]).any():
            return None
        taken = lines[0].astype(np.int64) - 1
        want = np.where((taken < 0).reshape(shape), 0, np.take(places, taken.clip(0), axis))
        got = self.of(places, lengths)[0]
        return taken if np.array_equal(want if same else want.squeeze(axis), got) else None


@handler(*MOVES)
def _moves(o: Opened, node: Any, rule: Any) -> Any:
    moved = _Moved(o, node)
    if moved.stays(False):
        return rule(o.w, o.w._args(node))
    if moved.stays(True):
        return o.with_inputs(node, rule, {moved.x: o.hide(
            o.w.env[moved.x], o.axes(moved.x), moved.fill)})
    if isinstance(o.sizes.kept[node], list):
        raise o.over()
    names = {n for m in [moved.x, node] for _, e in o.axes(m) for n in o.sizes.names(e)}
    names |= {n for m in node.all_input_nodes for n in o.sizes.names(o.sizes.kept.get(m))}
    for axis in range(len(o.sizes.kept[moved.x])):
        made = _taken(o, moved, axis, sorted(names)) if len(names) == 1 else None
        if made is not None:
            return made
    raise o.over()


@handler("index", "gather", "_unsafe_index", "take_along_dim")
def _index(o: Opened, node: Any, rule: Any) -> Any:
    x = node.args[0]
    if not any(isinstance(o.w.env[n], Value) for n in node.all_input_nodes if n is not x):
        return _moves(o, node, rule)
    return o.with_inputs(node, rule, {x: o.hide(o.w.env[x], o.axes(x), 0.0)})


@handler("bucketize", "searchsorted")
def _bucketize(o: Opened, node: Any, rule: Any) -> Any:
    edges = node.args[0] if "searchsorted" in o.w.operator() else node.args[1]
    if o.axes(edges):
        raise o.over()
    return rule(o.w, o.w._args(node))


def _taken(o: Opened, moved: _Moved, axis: int, names: List[str]) -> Optional[Tensor]:
    if any(moved.along(axis, lengths) is None for lengths in o.probes()):
        return None
    x = o.hide(o.w.env[moved.x], o.axes(moved.x), 0.0)
    n, rank = size_of(x.shape[axis]), len(x.shape)
    dropped = len(o.sizes.kept[moved.node]) < rank
    out = 1 if dropped else int(o.sizes.at(o.sizes.kept[moved.node][axis], o.sizes.largest))

    def matrix(lengths: Dict[str, int]) -> np.ndarray:
        taken = moved.along(axis, lengths)
        if taken is None:
            raise o.over()
        full = np.zeros((n, out), np.float32)
        for j, place in enumerate(taken):
            if place >= 0:
                full[place, j] = 1
        return full

    made = o.linear(x, axis, names, matrix, out)
    if moved.fill:
        made = _filled(o, made, moved, axis, names, out)
    if not dropped:
        return made
    value = o.g.value(made)
    return Value(value.cell, tuple(s for i, s in enumerate(value.shape) if i != axis))


def _filled(o: Opened, x: Tensor, moved: _Moved, axis: int, names: List[str],
            out: int) -> Tensor:
    def numbers(lengths: Dict[str, int]) -> np.ndarray:
        taken = moved.along(axis, lengths)
        assert taken is not None
        return np.where(taken < 0, moved.fill, 0)

    table = o.table(names, numbers, (out,))
    shape = tuple(out if i == axis else 1 for i in range(len(x.shape)))
    return o.g.binary(x, Value(table.cell, shape), "add")
