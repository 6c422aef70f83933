"""Products: linear layers, convolutions, embeddings, attention."""
from __future__ import annotations

import math
from typing import Any, List, Optional, Set

import numpy as np

from ..graph import Batch, Constant, Tensor, Value
from ..graph.shape import batch_axis, size_of
from .elementwise import scaled
from .walk import Args, Walk, rule


def _axis(w: Walk, x: Tensor, at: int) -> Tensor:
    sizes: Any = list(x.shape)
    sizes.insert(at if at >= 0 else len(sizes) + 1 + at, 1)
    if isinstance(x, Constant):
        return x.reshaped(sizes)
    return Value(x.cell, tuple(sizes), None)


def _without(w: Walk, x: Tensor, at: int) -> Tensor:
    sizes: Any = list(x.shape)
    del sizes[at]
    return x.reshaped(sizes) if isinstance(x, Constant) else Value(x.cell, tuple(sizes), None)


def matmul(w: Walk, a: Tensor, b: Tensor) -> Tensor:
    """torch.matmul."""
    g = w.g
    if isinstance(b, Constant) and len(b.shape) == 2 and isinstance(a, Value) and len(a.shape) > 1 \
            and not isinstance(a.shape[-1], Batch):
        return g.dense(a, b.transposed())
    first, second = len(a.shape) == 1, len(b.shape) == 1
    a = _axis(w, a, 0) if first else a
    b = _axis(w, b, -1) if second else b
    if any(isinstance(n, Batch) for n in b.shape[-2:]) or isinstance(a.shape[-1], Batch):
        return _apart(w, a, b, first, second)
    made: Tensor = g.matmul(a, b)
    made = _without(w, made, -1) if second else made
    return _without(w, made, -2 + second) if first else made


def _apart(w: Walk, a: Tensor, b: Tensor, first: bool, second: bool) -> Tensor:
    """W @ x, of which x has the batch among its columns."""
    if first or second or not isinstance(b.shape[-1], Batch) or len(b.shape) > 2 or len(
            a.shape) != 2:
        raise w.refuse("a product over the batch")
    g = w.g
    return g.transpose(matmul(w, g.transpose(b, [1, 0]), g.transpose(a, [1, 0])), [1, 0])


@rule("linear")
def _linear(w: Walk, a: Args) -> Any:
    return linear(w, a.input, a.weight, a.bias)


def linear(w: Walk, x: Tensor, weight: Tensor, bias: Optional[Tensor]) -> Tensor:
    g = w.g
    known = isinstance(weight, Constant) and (bias is None or isinstance(bias, Constant))
    if known and isinstance(x.shape[-1], Batch):
        raise w.refuse("a product over the batch")
    if known:
        return g.dense(g.value(x), weight, bias)  # type: ignore[arg-type]
    made = matmul(w, x, g.transpose(weight, [1, 0]))
    return made if bias is None else g.binary(made, bias, "add")


@rule("matmul", "mm", "bmm", "mv", "dot", "vdot")
def _matmul(w: Walk, a: Args) -> Any:
    other = a.get("other", a.get("mat2", a.get("vec", a.get("tensor"))))
    return matmul(w, w.tensor(a.self), w.tensor(other))


@rule("addmm", "baddbmm", "addmv", "addbmm")
def _addmm(w: Walk, a: Args) -> Any:
    one = a.get("mat1", a.get("batch1", a.get("mat")))
    two = a.get("mat2", a.get("batch2", a.get("vec")))
    if w.operator().startswith("aten.addbmm"):
        raise w.refuse("a sum over the batch")
    if a.beta == 1 and a.alpha == 1 and "addmm" in w.operator() and isinstance(
            two, Constant) and isinstance(a.self, Constant) and len(a.self.shape) == 1:
        return linear(w, one, two.transposed(), a.self)
    made = scaled(w, matmul(w, one, two), a.alpha)
    return w.g.binary(made, scaled(w, w.tensor(a.self), a.beta), "add")


@rule("outer", "ger")
def _outer(w: Walk, a: Args) -> Any:
    return w.g.binary(_axis(w, a.self, 1), _axis(w, a.get("vec2"), 0), "mul")


@rule("bilinear")
def _bilinear(w: Walk, a: Args) -> Any:
    g = w.g
    x, y = g.value(a.input1), g.value(a.input2)
    out, n, m = a.weight.shape
    left = g.dense(x, w.constant(a.weight, "weights").transposed(  # type: ignore[union-attr]
        (0, 2, 1)).reshaped((out * m, n)))
    left = Value(left.cell, x.shape[:-1] + (out, m), None)
    made: Tensor = g.reduce(g.binary(left, _axis(w, y, -2), "mul"), "sum", [-1])
    return made if a.bias is None else g.binary(made, a.bias, "add")



# ---- einsum


@rule("einsum")
def _einsum(w: Walk, a: Args) -> Any:
    return einsum(w, a.equation, [w.tensor(t) for t in a.tensors])


def einsum(w: Walk, equation: str, parts: List[Tensor]) -> Tensor:
    given, _, out = equation.replace(" ", "").partition("->")
    terms = given.split(",")
    if "->" not in equation:
        letters = sorted(set(given) - {",", "."})
        out = "".join(c for c in letters if given.count(c) == 1)
        if "..." in given:
            out = "..." + out
    if "." in given:
        terms, out = _spelled(terms, out, parts)
    for term in terms:
        if len(set(term)) != len(term):
            raise w.refuse("a diagonal, %s" % term)
    while len(terms) > 1:
        later = set(out).union(*terms[2:])
        made, term = _pair(w, terms[0], parts[0], terms[1], parts[1], later)
        terms, parts = [term, *terms[2:]], [made, *parts[2:]]
    made, term = _summed(w, parts[0], terms[0], set(out))
    return w.g.transpose(made, [term.index(c) for c in out]) if term != out else made


def _spelled(terms: List[str], out: str, parts: List[Tensor]) -> Any:
    """Letters for "..."."""
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in "".join(terms)]
    most = max(len(p.shape) - len(t) + 3 for t, p in zip(terms, parts) if "..." in t)
    names = "".join(free[:most])
    terms = [t.replace("...", names[len(names) - (len(p.shape) - len(t) + 3):])
             if "..." in t else t for t, p in zip(terms, parts)]
    return terms, out.replace("...", names)


def _summed(w: Walk, x: Tensor, term: str, keep: Set[str]) -> Any:
    gone = [i for i, c in enumerate(term) if c not in keep]
    if not gone:
        return x, term
    return w.g.reduce(x, "sum", gone), "".join(c for c in term if c in keep)


def _pair(w: Walk, s: str, x: Tensor, t: str, y: Tensor, later: Set[str]) -> Any:
    """Two of them as one product of matrices."""
    g = w.g
    x, s = _summed(w, x, s, later | set(t))
    y, t = _summed(w, y, t, later | set(s))
    held = {c for term, p in ((s, x), (t, y)) for c, n in zip(term, p.shape)
            if isinstance(n, Batch)}
    over = [c for c in s if c in t and c not in later]
    if held & set(over):
        raise w.refuse("a sum over the batch")
    both = [c for c in s + t if c in held]
    both += [c for c in s if c in t and c in later and c not in both]
    both = list(dict.fromkeys(both))
    rows, columns = ([c for c in term if c not in both and c not in over] for term in (s, t))
    one = _laid(w, x, s, both, rows, over)
    two = _laid(w, y, t, both, over, columns)
    made = g.value(g.matmul(one[0], two[0]))
    axes = [p if p != 1 else q for p, q in zip(one[0].shape[:len(both)], two[0].shape)]
    sizes = axes + [one[1][c] for c in rows] + [two[1][c] for c in columns]
    plain = [None if isinstance(n, Batch) else n for n in sizes]
    return (g.reshape(made, plain) if batch_axis(made.shape) is not None else
            Value(made.cell, tuple(sizes), None)), "".join(both + rows + columns)


def _laid(w: Walk, x: Tensor, term: str, both: List[str], first: List[str],
          second: List[str]) -> Any:
    """[both..., first, second], and the sizes by letter; letters of `both` that it has not are
    1."""
    sizes = dict(zip(term, x.shape))
    order = [term.index(c) for c in [*both, *first, *second] if c in term]
    moved = w.g.value(w.g.transpose(x, order))
    shape = tuple(sizes.get(c, 1) for c in both) + tuple(
        int(np.prod([size_of(sizes[c]) for c in group], dtype=np.int64)) for group in (first,
                                                                                      second))
    return Value(moved.cell, shape, None), sizes


# ---- convolutions


def _three(x: Any, rank: int) -> List[int]:
    x = [x] if isinstance(x, int) else [int(n) for n in x]
    return x * rank if len(x) == 1 else x


@rule("conv1d", "conv2d", "conv3d", "convolution", "_convolution")
def _conv(w: Walk, a: Args) -> Any:
    weight = w.constant(a.weight, "weights")
    bias = w.constant(a.bias, "a bias")
    assert weight is not None
    rank = len(weight.shape) - 2
    stride, dilation = _three(a.stride, rank), _three(a.dilation, rank)
    if a.get("transposed"):
        return _transposed(w, a)
    if isinstance(a.padding, str):
        reach = [dilation[i] * (weight.shape[2 + i] - 1) if a.padding == "same" else 0
                 for i in range(rank)]
        padding = [n // 2 for n in reach] + [n - n // 2 for n in reach]
    else:
        padding = _three(a.padding, rank)
    x = w.g.value(a.input)
    if len(x.shape) != rank + 2:
        raise w.refuse("an input without a batch")
    return w.g.conv(x, weight, bias, stride=stride, padding=padding, dilation=dilation,
                    groups=a.groups)


@rule("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def _transposed(w: Walk, a: Args) -> Any:
    weight, bias = w.constant(a.weight, "weights"), w.constant(a.bias, "a bias")
    assert weight is not None
    rank = len(weight.shape) - 2
    return w.g.conv_transpose(w.g.value(a.input), weight, bias, stride=_three(a.stride, rank),
                              padding=_three(a.padding, rank), dilation=_three(a.dilation, rank),
                              output_padding=_three(a.output_padding, rank), groups=a.groups)


# ---- embeddings


@rule("embedding")
def _embedding(w: Walk, a: Args) -> Any:
    if a.padding_idx is not None and a.padding_idx >= 0:
        w.differs("padding_idx: that row does not learn")
    if a.scale_grad_by_freq or a.sparse:
        w.differs("scale_grad_by_freq or sparse")
    return looked_up(w, a.indices, a.weight)


def looked_up(w: Walk, ids: Tensor, weight: Tensor) -> Tensor:
    """Rows of a table."""
    g = w.g
    if isinstance(ids, Constant):
        if isinstance(weight, Constant):
            flat = np.asarray(ids.array, np.int64)
            if not weight.trainable or len(np.unique(flat)) == flat.size:
                return weight.taken(flat, 0)
        return g.take(g.value(weight), 0, ids.array)
    if isinstance(weight, Constant) and ids.ids == weight.shape[0] and ids.dims is not None:
        return g.embedding(ids, weight)
    # Ids that are computed, or of another table too: a product with one 1 for each.
    n = size_of(weight.shape[0])
    ids = g.real(ids)
    hit = g.binary(_axis(w, ids, len(ids.shape)), Constant.of(np.arange(n)), "equal")
    return matmul(w, hit, weight)


# ---- attention


@rule("scaled_dot_product_attention")
def _attention(w: Walk, a: Args) -> Any:
    g, rank = w.g, len(a.query.shape)
    q, k, v = w.tensor(a.query), w.tensor(a.key), w.tensor(a.value)
    if a.get("enable_gqa"):
        times = size_of(q.shape[-3]) // size_of(k.shape[-3])
        again = np.repeat(np.arange(size_of(k.shape[-3])), times)
        k, v = g.take(k, -3, again), g.take(v, -3, again)
    scale = 1 / math.sqrt(size_of(q.shape[-1])) if a.scale is None else a.scale
    order = [*range(rank - 2), rank - 1, rank - 2]
    scores: Tensor = matmul(w, scaled(w, q, scale), g.transpose(k, order))
    if a.is_causal:
        n, m = size_of(q.shape[-2]), size_of(k.shape[-2])
        hidden = np.where(np.tril(np.ones((n, m), bool)), 0, -np.inf).astype(np.float32)
        scores = g.binary(scores, finite(Constant.of(hidden)), "add")
    if a.attn_mask is not None:
        node = w.node.kwargs.get("attn_mask") or w.node.args[3]
        if node.meta["val"].dtype == w.torch.bool:
            mask = a.attn_mask
            if isinstance(mask, Constant):
                hidden = np.where(mask.array.astype(bool), 0, -np.inf).astype(np.float32)
                scores = g.binary(scores, finite(Constant.of(hidden)), "add")
            else:
                scores = g.select(mask, scores, w.tensor(LOWEST))
        else:
            mask = a.attn_mask
            scores = g.binary(scores, finite(mask) if isinstance(mask, Constant) else mask, "add")
    if w.opened is not None:
        scores, v = w.opened.attended(w.node, scores, v)
    return matmul(w, g.dropout(g.softmax(scores, -1), _rate(w) or a.dropout_p), v)


def _rate(w: Walk) -> float:
    """Of dropout in a module for attention, which in eval mode has none."""
    from .export import stack_of
    for path, kind in stack_of(w.node):
        if kind.endswith(".MultiheadAttention"):
            return float(w.exported.module.get_submodule(path).dropout)
    return 0.0


LOWEST = -1e30  # for -inf in scores: its softmax is 0 all the same


def finite(x: Constant) -> Constant:
    if np.isfinite(x.array).all():
        return x
    return x.computed("finite", lambda a: np.where(np.isneginf(a), LOWEST, a))
