"""Windows: pools."""
from __future__ import annotations

from typing import Any

from ..graph.laid import laid
from ..graph.shape import Batch, count, row_of
from .walk import Known, Walk, maps, sizes_of


@maps("reduce_window_max", "reduce_window_sum")
def reduce_window(w: Walk, eqn: Any, x: Known) -> Any:
    p = eqn.params
    value = w.value(x)
    rank = len(value.shape)
    size, stride = ([int(n) for n in p[k]] for k in ("window_dimensions", "window_strides"))
    pads = [(int(a), int(b)) for a, b in p["padding"]]
    dilation = [int(n) for n in p["window_dilation"]]
    if any(int(n) != 1 for n in p["base_dilation"]) or any(n < 0 for b in pads for n in b):
        raise ValueError("with zeros between numbers")
    space = [i for i in range(rank) if size[i] > 1 or stride[i] > 1 or any(pads[i])]
    at = next((i for i, n in enumerate(value.shape) if isinstance(n, Batch)), -1)
    if at in space or at < 0:
        raise ValueError("over the batch")
    space = space or [i for i in range(rank) if i != at][-1:]
    others = [i for i in range(rank) if i not in space and i != at]
    if len(space) > 3:
        raise ValueError("over %d axes" % len(space))
    total = eqn.primitive.name == "reduce_window_sum"
    if total and any(dilation[i] > 1 for i in space):
        raise ValueError("sums with a dilation")
    order = [at, *others, *space]
    moved = w.g.value(w.g.transpose(value, order))
    flat = w.g.value(w.g.reshape(moved, [None, count([row_of(value.shape)[i] for i in others]),
                                         *[value.shape[i] for i in space]]))
    made = w.g.pool(flat, "avg" if total else "max", [size[i] for i in space],
                    stride=[stride[i] for i in space],
                    padding=[pads[i][0] for i in space] + [pads[i][1] for i in space],
                    dilation=[dilation[i] for i in space])
    if total:
        made = w.g.value(w.g.binary(made, w.g.number(count([size[i] for i in space])), "mul"))
    wide = w.g.value(w.g.reshape(made, [None, *[value.shape[i] for i in others],
                                        *sizes_of(made.shape[2:])]))
    return laid(w.g, wide, [order.index(i) for i in range(rank)])
