"""Functions of whole rows, as ONNX graphs become them.

Made by tools/generate from the field lists in src: edit those.
"""
from __future__ import annotations

from typing import List, Optional, Sequence

from ._base import Layer, checked, numbers


class Activation(Layer):
    """A function of each value by itself.

    * `activation`: the function.
    """

    activation: str
    _kind = "activation"

    @checked
    def __init__(self, activation: str = "relu", *, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("activation", {
            "activation": activation},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class Unary(Layer):
    """A function of single values, with up to two parameters.

    * `op`: the function ([kinds](../../src/ops/graph/kinds.h)).
    * `a`: its first parameter.
    * `b`: its second parameter.
    """

    op: str
    a: float
    b: float
    _kind = "unary"

    @checked
    def __init__(self, op: str, a: float = 0.0, b: float = 0.0, *, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("unary", {
            "op": op, "a": a, "b": b},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class Binary(Layer):
    """Two operands that arrive side by side, spread as NumPy does; or one, and a learned one, the
    parameter `value`.

    * `op`: the function ([kinds](../../src/ops/graph/kinds.h)).
    * `shapes`: of both operands, or of the one; none: two that come as `operands`; at least 1.
    * `constant`: shape of the learned operand, where only one arrives; at least 1.
    * `constant_first`: the learned operand is the first.
    """

    op: str
    shapes: Sequence[Sequence[int]]
    constant: List[int]
    constant_first: bool
    _kind = "binary"

    @checked
    def __init__(self, op: str, shapes: Sequence[Sequence[int]] = (),
                 constant: Optional[Sequence[int]] = (), constant_first: bool = False, *,
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("binary", {
            "op": op, "shapes": [list(s) for s in shapes], "constant": numbers(constant),
            "constant_first": constant_first},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class Select(Layer):
    """`numpy.where` of three operands that arrive side by side.

    * `shapes`: of condition, then, otherwise; none: three that come as `operands`; at least 1.
    """

    shapes: Sequence[Sequence[int]]
    _kind = "select"

    @checked
    def __init__(self, shapes: Sequence[Sequence[int]] = (), *, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("select", {
            "shapes": [list(s) for s in shapes]},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class Reduce(Layer):
    """A sum, a mean, a maximum, ... over dimensions of the row.

    * `op`: the function ([kinds](../../src/ops/graph/kinds.h)).
    * `axes`: which of them are reduced; none: all; at least 0.
    * `dims`: dimensions of the row; none: those it comes with; at least 1.
    * `keepdims`: they stay, with size 1.
    """

    op: str
    axes: List[int]
    dims: List[int]
    keepdims: bool
    _kind = "reduce"

    @checked
    def __init__(self, op: str, axes: Optional[Sequence[int]] = (),
                 dims: Optional[Sequence[int]] = (), keepdims: bool = True, *,
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("reduce", {
            "op": op, "axes": numbers(axes), "dims": numbers(dims), "keepdims": keepdims},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class Permute(Layer):
    """Dimensions in another order: `numpy.transpose`.

    * `order`: which of them becomes the first, the second, ...; at least 0.
    * `dims`: dimensions of the row; none: those it comes with; at least 1.
    """

    order: List[int]
    dims: List[int]
    _kind = "permute"

    @checked
    def __init__(self, order: Sequence[int], dims: Optional[Sequence[int]] = (), *,
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("permute", {
            "order": numbers(order), "dims": numbers(dims)},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class IndexSelect(Layer):
    """Values by their places in the row.

    * `dims`: dimensions of the result; none: one; at least 1.
    * `runs`: places, as runs of first, step, count; first -1 with step 0: `fill`.
    * `fill`: what stands where no place is.
    """

    dims: List[int]
    runs: List[int]
    fill: float
    _kind = "index_select"

    @checked
    def __init__(self, dims: Sequence[int], runs: Sequence[int], fill: float = 0.0, *,
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("index_select", {
            "dims": numbers(dims), "runs": numbers(runs), "fill": fill},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class BatchedMatmul(Layer):
    """The product of two operands that arrive side by side, NumPy's matmul for two dimensions or
    more.

    * `shapes`: of both: [..., M, K] and [..., K, N]; none: two that come as `operands`; at least 1.
    """

    shapes: Sequence[Sequence[int]]
    _kind = "batched_matmul"

    @checked
    def __init__(self, shapes: Sequence[Sequence[int]] = (), *, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("batched_matmul", {
            "shapes": [list(s) for s in shapes]},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})
