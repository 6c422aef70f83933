"""Primitives that move numbers: shapes, slices, looking up."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from ..graph.cells import Value
from ..graph.constant import Constant
from ..graph.laid import laid
from ..graph.shape import Axis, Batch, count
from .walk import Ids, Known, NeedsIds, Walk, bind, known, maps, row, sizes_of, symbolic


@maps("transpose")
def transpose(w: Walk, eqn: Any, x: Known) -> Any:
    order = [int(o) for o in eqn.params["permutation"]]
    if isinstance(x, Ids):
        return Ids(x.name, w.g.value(w.g.transpose(x.value, order)), x.how)
    if isinstance(x, Constant):
        return x.transposed(order)
    return laid(w.g, w.value(x), order)


@maps("reshape", "squeeze", "expand_dims")
def reshape(w: Walk, eqn: Any, x: Known) -> Any:
    aval = eqn.outvars[0].aval
    if isinstance(x, Constant):
        return x.reshaped(row(aval))
    value = x.value if isinstance(x, Ids) else w.value(x)
    if any(isinstance(n, Batch) for n in value.shape):
        made = w.g.value(w.g.reshape(value, [None if symbolic(n) else int(n)
                                             for n in aval.shape]))
    else:
        made = w.g.value(w.g.reshape(value, row(aval)))
    return Ids(x.name, made, x.how) if isinstance(x, Ids) else made


@maps("broadcast_in_dim")
def broadcast_in_dim(w: Walk, eqn: Any, x: Known, *sizes: Known) -> Any:
    aval = eqn.outvars[0].aval
    where = [int(d) for d in eqn.params["broadcast_dimensions"]]
    wide = [1] * len(aval.shape)
    given = (x.value if isinstance(x, Ids) else x).shape  # type: ignore[union-attr]
    shape: List[Axis] = list(wide)
    for d, n in zip(where, given):
        shape[d] = n
    grown = any(row(aval)[i] != (n.before * n.after if isinstance(n, Batch) else n)
                for i, n in enumerate(shape))
    if isinstance(x, Ids):
        if grown:
            x = w.value(x)
        else:
            return Ids(x.name, w.g.value(w.g.reshape(x.value, sizes_of(shape))), x.how)
    if isinstance(x, Constant):
        rows = x.reshaped([1 if isinstance(n, Batch) else n for n in shape])
        return rows if not grown else w.g.expand(w.plain(rows), row(aval))
    value = w.value(x)
    whole = w.g.value(w.g.reshape(value, sizes_of(shape)))
    if not grown:
        return whole
    wanted = tuple(n if isinstance(n, Batch) else row(aval)[i] for i, n in enumerate(shape))
    return w.g.expand(whole, wanted)


@maps("concatenate")
def concatenate(w: Walk, eqn: Any, *parts: Known) -> Any:
    if symbolic(eqn.invars[0].aval.shape[eqn.params["dimension"]]):
        raise ValueError("samples one behind the other")
    return w.g.concat([w.plain(p) for p in parts], int(eqn.params["dimension"]))


@maps("split")
def split(w: Walk, eqn: Any, x: Known) -> Any:
    sizes = [int(n) for n in eqn.params["sizes"]]
    ends = np.cumsum([0] + sizes)
    return [w.g.take(w.plain(x), int(eqn.params["axis"]), np.arange(a, b))
            for a, b in zip(ends, ends[1:])]


@maps("slice")
def slice_(w: Walk, eqn: Any, x: Known) -> Any:
    made = x if isinstance(x, Constant) else w.value(x)
    steps = eqn.params["strides"] or [1] * len(made.shape)
    for axis, (a, b, s) in enumerate(zip(eqn.params["start_indices"], eqn.params["limit_indices"],
                                         steps)):
        if symbolic(eqn.invars[0].aval.shape[axis]):
            if symbolic(a) or a != 0 or b != eqn.invars[0].aval.shape[axis] or s != 1:
                raise ValueError("a part of the batch")
            continue
        if isinstance(made, Constant) and s == 1:
            if (a, b) != (0, made.shape[axis]):
                made = made.part(axis, int(a), int(b))
        else:
            made = w.g.take(made, axis, np.arange(a, b, s))  # type: ignore[assignment]
    return made


@maps("rev")
def rev(w: Walk, eqn: Any, x: Known) -> Any:
    if isinstance(x, Constant):
        return x.flipped([int(d) for d in eqn.params["dimensions"]])
    return _moved(w, eqn, [x])


@maps("pad")
def pad(w: Walk, eqn: Any, x: Known, fill: Known) -> Any:
    if not isinstance(fill, Constant):
        raise ValueError("with numbers that are computed")
    value = w.value(x)
    import jax
    places = np.asarray(jax.lax.pad(np.arange(count(value.row)).reshape(value.row), -1,
                                    eqn.params["padding_config"]))
    if symbolic(eqn.invars[0].aval.shape[0]) and any(eqn.params["padding_config"][0]):
        raise ValueError("of the batch")
    return w.g.gather(value, places, _shape(value, eqn.outvars[0].aval), float(fill.array))


def _shape(x: Value, aval: Any) -> Tuple[Axis, ...]:
    """JAX's shape, with the batch as x has it."""
    own: Optional[Batch] = next((n for n in x.shape if isinstance(n, Batch)), None)
    shape: List[Axis] = []
    for n, size in zip(aval.shape, row(aval)):
        if symbolic(n) and own is not None and own.before * own.after == size:
            shape.append(own)
        else:
            shape.append(size)
    return tuple(shape)


def _moved(w: Walk, eqn: Any, inputs: Sequence[Known]) -> Any:
    """Whatever a primitive moves: it is asked where each number's place goes."""
    value = w.value(inputs[0])
    if any(not known(x) for x in inputs[1:]):
        raise ValueError("places that are computed")
    places = np.arange(count(value.row), dtype=np.int32).reshape(value.row)
    typed = [places] + [x.array for x in inputs[1:]]  # type: ignore[union-attr]
    moved = _bound(eqn, typed)
    size = count(value.row)
    moved = np.where((moved < 0) | (moved >= size), -1, moved)
    return w.g.gather(value, moved, _shape(value, eqn.outvars[0].aval))


def _bound(eqn: Any, arrays: Sequence[Any]) -> np.ndarray:
    """The primitive on whole numbers, for one sample."""
    import jax.numpy as jnp
    from .walk import at_one
    params = {k: at_one(v) for k, v in eqn.params.items()}
    if "fill_value" in params:
        params["fill_value"] = -1
    out = eqn.primitive.bind(*[jnp.asarray(a) for a in arrays], **params)
    return np.asarray(out)


@maps("dynamic_slice")
def dynamic_slice(w: Walk, eqn: Any, x: Known, *starts: Known) -> Any:
    return _moved(w, eqn, [x, *starts])


@maps("gather")
def gather(w: Walk, eqn: Any, x: Known, places: Known) -> Any:
    if not isinstance(places, Ids):
        if not known(places):
            raise ValueError("places that are computed")
        return _moved(w, eqn, [x, places])
    numbers = eqn.params["dimension_numbers"]
    sizes = eqn.params["slice_sizes"]
    if not isinstance(x, Constant) or len(x.shape) != 2 or tuple(
            numbers.start_index_map) != (0,) or tuple(numbers.collapsed_slice_dims) != (0,) or (
                sizes[1] != x.shape[1]) or tuple(numbers.operand_batching_dims):
        raise ValueError("places that are computed, of more than the rows of a table")
    if not places.value.ids:
        raise NeedsIds(places.name, int(x.shape[0]))
    rows = places.table().astype(np.int64)
    shape = places.shape[:-1]
    ids = w.g.value(w.g.reshape(places.value, sizes_of(shape)))
    if places.value.ids == x.shape[0] and (rows == np.arange(len(rows))).all():
        made = w.g.embedding(ids, x)
    else:
        made = w.g.embedding(ids, x.taken(np.clip(rows, 0, x.shape[0] - 1), 0))
    offset = tuple(numbers.offset_dims)
    if offset != (len(shape),):
        rank = len(shape) + 1
        order = list(range(rank - 1))
        order.insert(offset[0], rank - 1)
        return w.g.transpose(made, order)
    return made


@maps("iota")
def iota(w: Walk, eqn: Any) -> Any:
    return Constant.of(np.asarray(bind(eqn, [])[0]))


@maps("scan")
def scan(w: Walk, eqn: Any, *inputs: Known) -> Any:
    """Its steps one behind the other, which share their parameters."""
    from .walk import STEPS, run
    p = eqn.params
    n, consts, carries = int(p["length"]), int(p["num_consts"]), int(p["num_carry"])
    if n > STEPS:
        raise ValueError("of %d steps: at most %d are written one behind the other" % (n, STEPS))
    fixed, carry = list(inputs[:consts]), list(inputs[consts:consts + carries])
    series = list(inputs[consts + carries:])
    jaxpr = p["jaxpr"]
    made: List[List[Any]] = []
    for t in range(n)[::-1] if p["reverse"] else range(n):
        step = [_step(w, x, t) for x in series]
        out = run(w, jaxpr.jaxpr, jaxpr.consts, fixed + carry + step)
        carry = out[:carries]
        made.append(out[carries:])
    if p["reverse"]:
        made.reverse()
    stacked = [_stacked(w, list(parts), var) for parts, var in
               zip(zip(*made), eqn.outvars[carries:])]
    return carry + stacked


def _step(w: Walk, x: Known, t: int) -> Any:
    if isinstance(x, Ids):
        raise ValueError("over ids")
    if isinstance(x, Constant):
        return x.part(0, t, t + 1).reshaped(x.shape[1:])
    value = w.value(x)
    return w.g.reshape(w.g.take(value, 0, [t]), sizes_of(value.shape[1:]))


def _stacked(w: Walk, parts: Sequence[Any], var: Any) -> Any:
    if type(var).__name__ == "DropVar":
        return Constant.of(np.zeros(row(var.aval)))
    rows = []
    from .walk import batched
    for part in parts:
        value = w.plain(part)
        if isinstance(value, Value):
            class Step:
                shape = var.aval.shape[1:]
            value = batched(w, value, Step)
        rows.append(w.g.reshape(value, [1, *sizes_of(value.shape)]))
    return rows[0] if len(rows) == 1 else w.g.concat(rows, 0)


