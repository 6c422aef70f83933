"""Products of a row and weights.

Made by tools/generate from the field lists in src: edit those.
"""
from __future__ import annotations

from typing import List, Optional, Sequence

from ._base import Layer, checked, numbers


class Linear(Layer):
    """activation(W x + b): `torch.nn.Linear(in, out)` and an activation. Parameters: `weight`
    (out, in), `bias`. Weights begin normal with the deviation 1 / sqrt(in), sqrt(2 / in) before
    relu and its like, the bias as 0: PyTorch's are uniform within 1 / sqrt(in).

    * `out_features`: outputs per row; at least 1.
    * `bias`: adds a learned vector.
    * `activation`: applied to the sum.
    """

    out_features: int
    bias: bool
    activation: str
    _kind = "dense"

    @checked
    def __init__(self, out_features: int, bias: bool = True, *, activation: str = "linear",
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("dense", {
            "out": out_features, "bias": bias, "activation": activation},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class Embedding(Layer):
    """A row of `out` values per id, (steps, out) for a row of several; the input's ids say how
    many there are. Parameter: `weight` (ids, out). The table begins with a deviation of 0.02,
    PyTorch's with 1.

    * `embedding_dim`: values per id; at least 1.
    * `std`: standard deviation of the initial table; at least 0.
    """

    embedding_dim: int
    std: float
    _kind = "embedding"

    @checked
    def __init__(self, embedding_dim: int, *, std: float = 0.02, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("embedding", {
            "out": embedding_dim, "std": std},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class SwiGLU(Layer):
    """down(silu(gate(x)) * up(x)), the feed-forward part of Llama (arXiv 2002.05202). Parameters:
    `gate` and `up` (hidden, in), `down` (in, hidden).

    * `hidden`: width between the projections; at least 1.
    * `bias`: adds learned vectors to all three projections.
    * `out_std`: standard deviation of the initial down projection; 0: 1/sqrt(hidden); at least 0.
    * `activation`: of the gate.
    * `sub_norm`: RMSNorm before the down projection (BitNet b1.58).
    * `sub_norm_eps`: its eps; with `sub_norm`; 1e-8 to 1.
    """

    hidden: int
    bias: bool
    out_std: float
    activation: str
    sub_norm: bool
    sub_norm_eps: float
    _kind = "swiglu"

    @checked
    def __init__(self, hidden: int, bias: bool = False, out_std: float = 0.0,
                 activation: str = "silu", sub_norm: bool = False, sub_norm_eps: float = 1e-05, *,
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("swiglu", {
            "hidden": hidden, "bias": bias, "out_std": out_std, "activation": activation,
            "sub_norm": sub_norm, "sub_norm_eps": sub_norm_eps},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class Genome(Layer):
    """Single nodes and edges, as evolution makes them (docs/reference/evolution.md). Values of the
    row are the nodes 0, 1, ...; a node behind them is its activation of the sum of its `bias`
    and, edge by edge in their order, of `weight` times the value that the edge comes from. The
    last `out` nodes are the output. Parameters: `weight` (1, edges), `bias` (1, nodes).

    * `out`: how many of the last nodes are the output; at least 1.
    * `activations`: of each node behind the values of the row: `linear`, `sigmoid`, `steep_sigmoid`
      (sigmoid(4.9 x)), `tanh`, `relu`, `gaussian` (exp(-x^2)), `sin` or `abs`; `linear`, `relu` and
      `abs` are limited to +-1e28.
    * `edges`: the two nodes of each edge, one edge behind the other: from, to, from, to, ...;
      without any, nodes have their bias alone; at least 0.
    * `ticks`: 0: edges lead to later nodes. Else they may form cycles: from values of 0, all nodes
      compute at once as many times, from the values of the time before; 0 to 1000.
    """

    out: int
    activations: Sequence[str]
    edges: List[int]
    ticks: int
    _kind = "genome"

    @checked
    def __init__(self, out: int, activations: Sequence[str], edges: Optional[Sequence[int]] = (),
                 ticks: int = 0, *, dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("genome", {
            "out": out, "activations": activations, "edges": numbers(edges), "ticks": ticks},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})
