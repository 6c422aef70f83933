"""Products and convolutions."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence

import numpy as np

from ..graph.cells import Value
from ..graph.constant import Constant
from ..graph.laid import Laid, laid
from ..graph.products import contract
from ..graph.shape import Axis, Batch
from .walk import Known, Pending, Walk, maps, row


@maps("dot_general")
def dot_general(w: Walk, eqn: Any, a: Known, b: Known) -> Any:
    (inner_a, inner_b), (both_a, both_b) = eqn.params["dimension_numbers"]
    x, y = w.plain(a), w.plain(b)
    if isinstance(x, Constant) and isinstance(y, Constant):  # one of them learns
        x, y = (w.g.value(x), y) if y.trainable else (x, w.g.value(y))
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    left = [next(letters) for _ in x.shape]
    right: List[str] = [""] * len(y.shape)
    for i, j in list(zip(inner_a, inner_b)) + list(zip(both_a, both_b)):
        right[j] = left[i]
    right = [c or next(letters) for c in right]
    mine = [c for i, c in enumerate(left) if i not in (*inner_a, *both_a)]
    yours = [c for j, c in enumerate(right) if j not in (*inner_b, *both_b)]
    out = "".join([left[i] for i in both_a] + mine + yours)
    if isinstance(x, Value) and isinstance(y, Constant) and not both_a and inner_a:
        free = range(len(mine), len(out))
        shape: List[Axis] = [x.shape[left.index(c)] for c in mine] + [
            y.shape[right.index(c)] for c in yours]

        def make(bias: Optional[Constant]) -> Value:
            return w.g.value(_dense(w, x, y, "".join(left), "".join(right), out, bias))
        return Pending(shape, list(free), make)
    return contract(w.g, x, y, "".join(left), "".join(right), out)


def _dense(w: Walk, x: Value, y: Constant, left: str, right: str, out: str,
           bias: Optional[Constant]) -> Any:
    if bias is None:
        return contract(w.g, x, y, left, right, out)
    return contract(w.g, x, y, left, right, out, bias)


@maps("conv_general_dilated")
def conv(w: Walk, eqn: Any, a: Known, b: Known) -> Any:
    p = eqn.params
    if p["batch_group_count"] != 1:
        raise ValueError("with groups of the batch")
    if not isinstance(b, Constant):
        raise ValueError("with a kernel that is computed")
    kernel = w.plain(b)
    if not isinstance(kernel, Constant):
        raise ValueError("with a parameter that has other uses")
    numbers = p["dimension_numbers"]
    x = w.value(a)
    source = laid(w.g, x, list(numbers.lhs_spec))
    if isinstance(source, Laid):
        source = w.g.value(w.g.transpose(source.source, source.order))
    if not isinstance(source.shape[0], Batch):
        raise ValueError("of a batch that lies elsewhere")
    weight = kernel.transposed(list(numbers.rhs_spec))
    source = _spread(w, source, p["lhs_dilation"], p["padding"])
    pads = [(max(int(lo), 0), max(int(hi), 0)) for lo, hi in p["padding"]]
    padding = [lo for lo, _ in pads] + [hi for _, hi in pads]
    back = [list(numbers.out_spec).index(i) for i in range(len(source.shape))]
    shape = tuple(n if i != numbers.out_spec[0] else source.shape[0]
                  for i, n in enumerate(row(eqn.outvars[0].aval)))

    def make(bias: Optional[Constant]) -> Value:
        made = w.g.conv(source, weight, bias, stride=[int(s) for s in p["window_strides"]],
                        padding=padding, dilation=[int(d) for d in p["rhs_dilation"]],
                        groups=int(p["feature_group_count"]))
        return laid(w.g, made, back)
    return Pending(shape, [numbers.out_spec[1]], make)


def _spread(w: Walk, x: Value, dilation: Sequence[int], padding: Sequence[Any]) -> Value:
    """Zeros between numbers, as a transposed convolution has them; padding below 0 cuts."""
    if all(int(d) == 1 for d in dilation) and all(int(n) >= 0 for both in padding for n in both):
        return x
    import jax
    config = [(0, 0, 0)] * 2 + [(min(int(lo), 0), min(int(hi), 0), int(d) - 1)
                                for d, (lo, hi) in zip(dilation, padding)]
    places = np.asarray(jax.lax.pad(np.arange(int(np.prod(x.row))).reshape(x.row), -1, config))
    return w.g.gather(x, places, (*x.shape[:2], *places.shape[2:]))


