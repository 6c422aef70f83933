"""Shapes and branches.

Made by tools/generate from the field lists in src: edit those.
"""
from __future__ import annotations

from typing import List, Optional, Sequence

from ._base import Container, Layer, checked, numbers


class Flatten(Layer):
    """Forgets the dimensions of a row.

    * `start_dim`: only 1: a whole sample becomes flat: Reshape(...) gives other dimensions.
    * `end_dim`: only -1: a whole sample becomes flat: Reshape(...) gives other dimensions.
    """

    start_dim: int
    end_dim: int
    _kind = "flatten"

    @checked
    def __init__(self, start_dim: int = 1, end_dim: int = -1, *, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("flatten", {
            },
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class Reshape(Layer):
    """The same values, counted in the same order, with other dimensions.

    * `dims`: the new dimensions of a row; one of them may be -1: what is left; at least -1.
    """

    dims: List[int]
    _kind = "reshape"

    @checked
    def __init__(self, *dims: int, dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("reshape", {
            "dims": numbers(dims)},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class Parallel(Container):
    """Its layers are branches side by side. With `top_k` a row goes only to the branches of its k
    largest scores (the first of equal ones), and the softmax is over these. A branch runs on
    the rows that go to it: layers that see other rows (attention, `batch_norm`, `dropout`,
    gumbel noise, `stateful`) are refused in it. Parameters: `gate` (branches, width),
    `gate_bias`, `stitch1` ...

    * `input`: `broadcast`: every branch gets the row; `split`: each gets an equal part of it.
    * `combine`: how the outputs of the branches are combined; `gated`: weighted by a learned gate,
      a mixture of experts; `operands`: as several inputs of the layer after it (from version 2 on).
    * `stitch`: where branches must have equal widths, a learned matrix projects each to the width
      of the first; `false`: other widths are refused. Not for `concat`.
    * `temperature`: of the gate; with `combine` `gated`; above 0, at most 1e6.
    * `top_k`: branches that a row goes to; 0: all; with `combine` `gated`; at least 0.
    * `grid`: rows and columns; with `combine` `grid_scatter`.
    * `places`: row and column of each branch; empty places hold zeros; with `combine`
      `grid_scatter`.
    """

    input: str
    combine: str
    stitch: bool
    temperature: float
    top_k: int
    grid: List[int]
    places: List[int]
    _kind = "parallel"

    @checked
    def __init__(self, *branches: Layer, input: str = "broadcast", combine: str = "concat",
                 stitch: bool = False, temperature: float = 1.0, top_k: int = 0,
                 grid: Optional[Sequence[int]] = (), places: Optional[Sequence[int]] = (),
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("parallel", {
            "layers": list(branches), "input": input, "combine": combine, "stitch": stitch,
            "temperature": temperature, "top_k": top_k or None, "grid": numbers(grid),
            "places": numbers(places)},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class TimeDistributed(Container):
    """One layer applied to every part of the row: a part is a row to it.

    * `count`: parts; 0: the first dimension of the row; at least 0.
    """

    count: int
    _kind = "time_distributed"

    @checked
    def __init__(self, layer: Layer, *, count: int = 0, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("time_distributed", {
            "layers": [layer], "count": count},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class Part(Layer):
    """One of several operands of a row: `of` names a part of the network's input, or `index`
    counts.

    * `of`: its name.
    * `index`: which one, from 0; -1: that of the name `of`; at least -1.
    """

    of: str
    index: int
    _kind = "part"

    @checked
    def __init__(self, of: str = "", index: int = -1, *, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("part", {
            "of": of, "index": index},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})
