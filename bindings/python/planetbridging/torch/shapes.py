"""Axes, places, and what is put together or cut."""
from __future__ import annotations

from typing import Any, Dict, List

import numpy as np

from ..graph import Constant, Tensor, Value
from ..graph.shape import batch_axis, count, size_of
from .walk import Args, Each, Walk, rule


@rule("view", "reshape", "_unsafe_view", "flatten", "unflatten", "squeeze", "unsqueeze",
      "view_as", "reshape_as", "squeeze_copy", "view_copy", "unsqueeze_copy")
def _reshape(w: Walk, a: Args) -> Any:
    if isinstance(a.self, Constant):
        return a.self.reshaped([w.places(n) for n in w.node.meta["val"].shape])
    sizes = w.sizes()
    at = batch_axis(a.self.shape)
    if at is not None and None not in sizes:
        raise w.refuse("its shape has no axis for the batch")
    if at is None:  # of numbers without a batch: as for one sample
        sizes = [w.places(n) for n in w.node.meta["val"].shape]
    return w.g.reshape(a.self, sizes)


@rule("transpose", "t", "permute", "movedim", "swapaxes", "moveaxis", "numpy_T", "mT", "adjoint",
      "transpose_copy", "permute_copy")
def _transpose(w: Walk, a: Args) -> Any:
    torch, rank = w.torch, len(a.self.shape)
    if "permute" in w.operator():
        order = [d % rank for d in a.dims]
    elif "moveaxis" in w.operator() or "movedim" in w.operator():
        marks = torch.empty([i + 2 for i in range(rank)], device="meta")
        order = [n - 2 for n in torch.movedim(marks, a.source, a.destination).shape]
    else:
        order = list(range(rank))
        one, two = (a.get("dim0", a.get("axis0", -1)), a.get("dim1", a.get("axis1", -2)))
        if rank > 1:
            order[one], order[two] = order[two], order[one]
    return w.g.transpose(a.self, order)


@rule("contiguous", "clone", "alias", "lift_fresh_copy", "lift_fresh", "dropout", "positive",
      "feature_dropout", "alpha_dropout", "expand_copy", "alias_copy", "lift")
def _same(w: Walk, a: Args) -> Any:
    return a.get("self", a.get("input"))


@rule("detach", "detach_")
def _detach(w: Walk, a: Args) -> Any:
    w.differs("detach: no gradient goes through")
    return a.self


@rule("to", "_to_copy", "type_as", "float", "double", "half", "bool", "int", "long")
def _to(w: Walk, a: Args) -> Any:
    kind = w.node.meta["val"].dtype
    was = next(n for n in w.node.all_input_nodes).meta["val"].dtype
    if was.is_complex or kind.is_complex:
        raise w.refuse("complex numbers")
    if kind == w.torch.bool and was != w.torch.bool:
        return w.g.unary(w.g.unary(a.self, "not"), "not")
    if was.is_floating_point and not kind.is_floating_point:
        return w.g.unary(a.self, "trunc")
    return a.self


@rule("expand", "expand_as", "broadcast_to")
def _expand(w: Walk, a: Args) -> Any:
    x, shape = a.self, w.shape(a.self)
    if batch_axis(x.shape) is not None:
        return w.g.expand(x, shape)
    # Of numbers without a batch: as for one sample.
    return w.g.expand(x, tuple(size_of(n) for n in shape))


@rule("zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "fill",
      "empty_like", "new_empty")
def _full(w: Walk, a: Args) -> Any:
    name = w.operator().split(".")[1]
    value = a.get("fill_value", a.get("value", 1.0 if "ones" in name else 0.0))
    sizes = [w.places(n) for n in w.node.meta["val"].shape]
    if isinstance(value, Value):
        return w.g.expand(value, w.shape(value))
    value = value.array if isinstance(value, Constant) else value
    return Constant.of(np.broadcast_to(np.asarray(value, np.float32), sizes))


@rule("cat", "concat", "concatenate", "stack", "hstack", "vstack", "column_stack", "dstack")
def _cat(w: Walk, a: Args) -> Any:
    name = w.operator().split(".")[1]
    parts: List[Tensor] = [w.tensor(t) for t in a.tensors]
    if name == "stack":
        axis = a.dim % (len(parts[0].shape) + 1)
        parts = [_with_axis(w, p, axis) for p in parts]
        return w.g.concat(parts, axis)
    if name not in ("cat", "concat", "concatenate"):
        rank = len(parts[0].shape)
        if rank < 2 or (name == "dstack" and rank < 3):
            raise w.refuse("tensors of one axis")
        return w.g.concat(parts, {"hstack": 1, "vstack": 0, "column_stack": 1, "dstack": 2}[name])
    parts = [p for p in parts if tuple(p.shape) != (0,)]
    return parts[0] if len(parts) == 1 else w.g.concat(parts, a.dim)


def _with_axis(w: Walk, x: Tensor, axis: int) -> Tensor:
    if isinstance(x, Constant):
        return x.reshaped(x.shape[:axis] + (1,) + x.shape[axis:])
    return Value(x.cell, x.shape[:axis] + (1,) + x.shape[axis:], None, x.ids)


def _moves(w: Walk, a: Args) -> Any:
    """What moves numbers alone: PyTorch moves their places."""
    target, args, kwargs = w.node.target, list(w.node.args), dict(w.node.kwargs)
    first = next(n for n in w.node.all_input_nodes)
    x = w.env[first]
    if not isinstance(x, (Value, Constant)):
        raise w.refuse("of several")
    others = [w.env[n] for n in w.node.all_input_nodes if n is not first]
    if any(isinstance(o, Value) or isinstance(o, Constant) and o.trainable for o in others):
        raise w.refuse("places that are computed")
    fill = filled_with(w, a, args, kwargs)

    def how(places: Any) -> Any:
        samples = 1 if places.numel() == count([size_of(n) for n in x.shape]) else 2
        given = w._plain_args(tuple(args), samples)
        return target(places, *given[1:], **w._plain_args(kwargs, samples))

    return w.arranged(w.g.value(x) if isinstance(x, Value) else x, how, fill)


def filled_with(w: Walk, a: Args, args: List[Any], kwargs: Dict[str, Any]) -> float:
    """What a padding puts; it puts 0 then, which is no place."""
    names = [p.name for p in w.node.target._schema.arguments]
    if "pad" not in w.operator() or "value" not in names or not a.value:
        return 0.0
    if len(args) > names.index("value"):
        args[names.index("value")] = 0.0
    kwargs.pop("value", None)
    return float(a.value)


MOVES = ("slice", "select", "narrow", "flip", "fliplr", "flipud", "roll", "rot90", "repeat",
         "tile", "repeat_interleave", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle",
         "native_channel_shuffle", "unfold", "im2col", "diagonal", "pad", "constant_pad_nd",
         "reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d",
         "replication_pad2d", "replication_pad3d", "_pad_circular", "index_select", "take",
         "tril", "triu", "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d",
         "_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_reshape_copy",
         "_upsample_nearest_exact3d", "split", "split_with_sizes", "chunk", "unbind",
         "tensor_split", "hsplit", "vsplit", "slice_copy", "split_copy", "unsafe_split",
         "unsafe_chunk", "as_strided", "diag_embed", "unfold_copy", "select_copy",
         "split_with_sizes_copy", "diagonal_copy")
for _name in MOVES:
    rule(_name)(_moves)


@rule("index", "gather", "_unsafe_index", "take_along_dim")
def _index(w: Walk, a: Args) -> Any:
    index = a.get("indices", a.get("index"))
    if isinstance(index, list) and len(index) == 2 and isinstance(index[0], Each):
        return _of_each(w, a.self, index[1])
    if "index.Tensor" not in w.operator() and "_unsafe" not in w.operator():
        if isinstance(index, Value):
            return _picked(w, a.self, index, a.dim)
        return _moves(w, a)
    if any(isinstance(i, Value) for i in index):
        return _looked_up(w, a, index)
    return _moves(w, a)


def _of_each(w: Walk, x: Tensor, index: Any) -> Any:
    """x[torch.arange(batch), index], a place of each sample."""
    if not isinstance(index, Value) or len(index.shape) != 1 or batch_axis(x.shape) != 0:
        raise w.refuse("some samples")
    x = w.g.value(x)
    last = len(x.shape) - 1
    flat = Value(x.cell, x.shape[:2] + (count([size_of(n) for n in x.shape[2:]]),), None)
    hit = hits(w, from_start(w, index, _places(w, 1)), size_of(x.shape[1]))
    made = w.g.reduce(w.g.binary(_with_axis(w, hit, 2), flat, "mul"), "sum", [1])
    return w.g.reshape(made, w.sizes()) if last != 2 else made


def _places(w: Walk, axis: int) -> Tensor:
    """How many an axis of the first argument has."""
    node = w.node.args[0]
    if w.opened is not None and w.opened.steps(node, axis):
        return w.opened.places([w.opened.sizes.kept[node][axis]])
    return w.tensor(float(node.meta["val"].shape[axis]))


def from_start(w: Walk, index: Value, n: Tensor) -> Value:
    """Places of which the negative ones count from the end."""
    if index.ids:
        return index
    before = w.g.binary(w.g.binary(index, w.tensor(0.0), "less"), n, "mul")
    return w.g.value(w.g.binary(index, before, "add"))


def hits(w: Walk, index: Value, n: int) -> Tensor:
    """[..., n] of which the place has 1."""
    return w.g.binary(_with_axis(w, index, len(index.shape)), Constant.of(np.arange(n)), "equal")


def _picked(w: Walk, x: Tensor, index: Value, axis: int) -> Any:
    """gather by computed places: a sum over the axis, of which one number counts."""
    g, rank = w.g, len(x.shape)
    axis %= rank
    n, m = size_of(x.shape[axis]), size_of(index.shape[axis])
    for i in range(rank):
        if i != axis and size_of(index.shape[i]) != size_of(x.shape[i]):
            if batch_axis(x.shape) == i:
                raise w.refuse("some samples")
            x = g.take(x, i, np.arange(size_of(index.shape[i])))
    order = [i for i in range(rank) if i != axis] + [axis]
    moved, places = g.transpose(x, order), g.transpose(index, order)
    hit = g.binary(_with_axis(w, places, rank), Constant.of(np.arange(n)), "equal")  # [..., m, n]
    made = g.reduce(g.binary(hit, _with_axis(w, moved, rank - 1), "mul"), "sum", [rank])
    assert size_of(made.shape[-1]) == m
    return g.transpose(made, [order.index(i) for i in range(rank)])


def _looked_up(w: Walk, a: Args, index: Any) -> Any:
    """table[ids], of a table that is the same for all samples."""
    from .products import looked_up
    if len(index) == 1 and isinstance(a.self, Constant):
        table = a.self
        made = looked_up(w, from_start(w, index[0], _places(w, 0)),
                         table.reshaped((table.shape[0], count(table.shape[1:]))))
        return w.g.reshape(made, w.sizes())
    raise w.refuse("places that are computed")


@rule("slice_scatter", "select_scatter", "index_put", "copy", "masked_scatter", "diagonal_scatter")
def _scatter(w: Walk, a: Args) -> Any:
    """Numbers put in place of others."""
    name = w.operator().split(".")[1]
    x = w.tensor(a.self)
    new = w.tensor(a.get("src", a.get("values")))
    if name == "copy":
        return w.g.expand(new, w.shape(x, new))
    indices = [i for i in w.node.all_input_nodes if i not in (w.node.args[0],)]
    if name == "masked_scatter" or a.get("accumulate"):
        raise w.refuse("numbers that are added up, or by places that are computed")
    known = [w.env[n] for n in indices if w.env[n] is not new]
    if any(isinstance(k, Value) for k in known):
        raise w.refuse("places that are computed")
    torch, target = w.torch, w.node.target
    here = torch.arange(1, count([size_of(n) for n in x.shape]) + 1, dtype=torch.float64).reshape(
        [size_of(n) for n in x.shape])
    there = -torch.arange(1, count([size_of(n) for n in new.shape]) + 1,
                          dtype=torch.float64).reshape([size_of(n) for n in new.shape])
    given = list(w._plain_args(tuple(w.node.args[1:]), 1)) if name == "index_put" else [
        there, *w._plain_args(tuple(w.node.args[2:]), 1)]
    if name == "index_put":
        given[1] = there
    _guard_batch(w, x, a)
    made = target(here, *given, **w._plain_args(dict(w.node.kwargs), 1)).to(torch.int64).numpy()
    shape = w.shape(x, new) if batch_axis(x.shape) is not None or batch_axis(
        new.shape) is not None else tuple(x.shape)
    values = [w.g.value(t) for t in (x, new)]
    first = count(values[0].row)
    places = np.where(made > 0, made - 1, first - made - 1)
    if batch_axis(shape) is None:
        values = [Value(v.cell, v.shape, v.dims) for v in values]
    return w.g.gather(w.g.cell({}, values, (first + count(values[1].row),)), places, shape)


def _guard_batch(w: Walk, x: Tensor, a: Args) -> None:
    """Only whole batches are written to."""
    at = batch_axis(x.shape)
    if at is None:
        return
    if "index_put" in w.operator():
        if at < len(a.indices) and a.indices[at] is not None:
            raise w.refuse("some samples")
        return
    if a.get("dim", 0) % len(x.shape) == at:
        stop = a.get("end")
        if "select" in w.operator() or a.get("start") or a.get("step", 1) != 1 or (
                isinstance(stop, int) and stop < 2**31):
            raise w.refuse("some samples")


@rule("one_hot")
def _one_hot(w: Walk, a: Args) -> Any:
    n = w.places(w.node.meta["val"].shape[-1])
    return hits(w, a.self, n)


@rule("bucketize", "searchsorted")
def _bucketize(w: Walk, a: Args) -> Any:
    """How many boundaries are below, or with `right` not above."""
    found = "searchsorted" in w.operator()
    x, edges = (a.self, a.sorted_sequence) if found else (a.self, a.boundaries)
    if found and a.get("sorter") is not None:
        raise w.refuse("a sorter")
    if not isinstance(edges, Constant) or len(edges.shape) != 1:
        raise w.refuse("boundaries that are computed, or several rows of them")
    right = bool(a.get("right")) or a.get("side") == "right"
    x = w.g.real(w.g.value(w.tensor(x)))
    above = w.g.binary(_with_axis(w, x, len(x.shape)), edges,
                       "greater_equal" if right else "greater")
    return w.g.reduce(above, "sum", [len(x.shape)])
