"""Products of tensors by their axes' names: what einsum, dot_general and projections come to."""
from __future__ import annotations

from typing import Any, List, Sequence

from .cells import Tensor, Value
from .constant import Constant
from .graph import Graph
from .shape import Batch, batch_axis, count


def _merged(g: Graph, x: Tensor, labels: str, groups: Sequence[str]) -> Tensor:
    """Axes in the order of the groups, each group one axis."""
    order = [labels.index(a) for group in groups for a in group]
    x = g.transpose(x, order)
    sizes: List[Any] = []
    at = 0
    for group in groups:
        axes = x.shape[at:at + len(group)]
        at += len(group)
        sizes.append(None if any(isinstance(a, Batch) for a in axes) else
                     count([int(a) for a in axes]))  # type: ignore[arg-type]
    return g.reshape(x, sizes)


def contract(g: Graph, a: Tensor, b: Tensor, left: str, right: str, out: str) -> Tensor:
    """numpy.einsum("left,right->out") of two tensors, no letter twice in one of them. A product
    with a parameter is a dense layer."""
    extra = [c for c in left if c not in right + out] + [c for c in right if c not in left + out]
    for letter in extra:  # summed before the product
        if letter in left:
            a, left = g.reduce(a, "sum", [left.index(letter)]), left.replace(letter, "")
        else:
            b, right = g.reduce(b, "sum", [right.index(letter)]), right.replace(letter, "")
    if isinstance(a, Constant) and isinstance(b, Value) or (
            batch_axis(a.shape) is None and batch_axis(b.shape) is not None):
        a, b, left, right = b, a, right, left
    both = "".join(c for c in left if c in right and c in out)
    inner = "".join(c for c in left if c in right and c not in out)
    mine = "".join(c for c in left if c not in right)
    yours = "".join(c for c in right if c not in left)
    if isinstance(b, Constant) and not both and isinstance(a, Value) and inner:
        order = [right.index(c) for c in yours + inner]
        sizes = [b.shape[right.index(c)] for c in yours]
        width = count([b.shape[right.index(c)] for c in inner])
        weight = b if order == list(range(len(order))) else b.transposed(order)
        if weight.shape != (count(sizes), width):
            weight = weight.reshaped((count(sizes), width))
        x = _merged(g, a, left, [*mine, inner])
        made = g.dense(g.value(x), weight)
        kept: List[Any] = [None if isinstance(n, Batch) else n for n in made.shape[:-1]]
        y = made if len(sizes) == 1 else g.reshape(made, [*kept, *sizes])
    else:
        x = _merged(g, a, left, [*both, mine, inner])
        other = _merged(g, b, right, [*both, inner, yours])
        sized = [(c, a.shape[left.index(c)] if c in left else b.shape[right.index(c)])
                 for c in both + mine + yours]
        # An axis that one operand has once for all samples is the other's batch.
        for i, (c, n) in enumerate(sized):
            if c in both and isinstance(b.shape[right.index(c)], Batch):
                sized[i] = (c, b.shape[right.index(c)])
        y = g.reshape(g.matmul(x, other),
                      [None if isinstance(n, Batch) else n for _, n in sized])
    return g.transpose(y, [(both + mine + yours).index(c) for c in out])


def einsum(g: Graph, equation: str, operands: Sequence[Tensor]) -> Tensor:
    """numpy.einsum of one or two tensors."""
    given, _, out = equation.replace(" ", "").partition("->")
    parts = given.split(",")
    if "->" not in equation:
        out = "".join(sorted(c for c in set(given) - {","} if given.count(c) == 1))
    if len(parts) != len(operands) or len(parts) > 2:
        raise ValueError("einsum %s of %d tensors" % (equation, len(operands)))
    rest = "".join(c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in equation)
    spread = max((len(o.shape) - len(p) + 3 for p, o in zip(parts, operands) if "..." in p),
                 default=0)
    for i, (part, operand) in enumerate(zip(parts, operands)):
        if "..." in part:
            n = len(operand.shape) - len(part) + 3
            parts[i] = part.replace("...", rest[spread - n:spread])
    out = out.replace("...", rest[:spread])
    for part in parts:
        if len(set(part)) != len(part):
            raise ValueError("einsum %s: an axis twice in one tensor" % equation)
    if len(parts) == 1:
        gone = [i for i, c in enumerate(parts[0]) if c not in out]
        x: Tensor = g.reduce(operands[0], "sum", gone) if gone else operands[0]
        left = "".join(c for c in parts[0] if c in out)
        return g.transpose(x, [left.index(c) for c in out])
    return contract(g, operands[0], operands[1], parts[0], parts[1], out)
