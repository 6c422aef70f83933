"""Probabilities.

Made by tools/generate from the field lists in src: edit those.
"""
from __future__ import annotations

from typing import List, Optional, Sequence

from ._base import Layer, checked, numbers


class Softmax(Layer):
    """Distributions over the last dimension, or as the kind says. `dim` is -1, where PyTorch
    guesses if nothing is said.

    * `dim`: only -1: it is over the last dimension, -1: Permute others there.
    * `kind`: `standard`; `temperature`: values are divided by it first; `grid`: `rows` x `cols`, a
      distribution for each row; `hierarchical`: a tree by `levels`. It takes logits of all nodes,
      level after level, and returns for each leaf the product along its path; `gumbel`: Gumbel
      noise while training; `masked`: over the places of `mask`; `sparsemax`; `entmax`.
    * `log`: logarithms of the probabilities; with `kind` `standard` or `temperature` or `grid`.
    * `temperature`: values are divided by it first; 1e-6 to 1e6.
    * `rows`: distributions; with `kind` `grid`; at least 1.
    * `cols`: values of each; with `kind` `grid`; at least 1.
    * `levels`: children of a node, from the root on; with `kind` `hierarchical`; at least 1.
    * `mask`: 1 for each place that counts; the others get 0; with `kind` `masked`.
    * `alpha`: 1 is softmax, 2 is sparsemax; not between 1 and 1.01; with `kind` `entmax`; 1 to 8.
    * `hard`: 1 at the largest and 0 elsewhere, with the gradient of the soft probabilities
      (straight-through estimator); with `kind` `gumbel`.
    """

    dim: Optional[int]
    kind: str
    log: bool
    temperature: float
    rows: int
    cols: int
    levels: List[int]
    mask: List[int]
    alpha: float
    hard: bool
    _kind = "softmax"

    @checked
    def __init__(self, dim: Optional[int] = -1, *, kind: str = "standard", log: bool = False,
                 temperature: float = 1.0, rows: int = 0, cols: int = 0,
                 levels: Optional[Sequence[int]] = (), mask: Optional[Sequence[int]] = (),
                 alpha: float = 1.5, hard: bool = False, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("softmax", {
            "kind": kind, "log": log, "temperature": temperature, "rows": rows or None,
            "cols": cols or None, "levels": numbers(levels), "mask": numbers(mask), "alpha": alpha,
            "hard": hard},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class LogSoftmax(Layer):
    """Logarithms of a softmax. `dim` is -1, where PyTorch guesses if nothing is said.

    * `dim`: only -1: it is over the last dimension, -1: Permute others there.
    """

    dim: Optional[int]
    _kind = "log_softmax"

    @checked
    def __init__(self, dim: Optional[int] = -1, *, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("log_softmax", {
            },
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class AdaptiveSoftmax(Layer):
    """Many classes, rare ones through narrow projections (arXiv 1609.04309):
    `torch.nn.AdaptiveLogSoftmaxWithLoss`. Parameters: `head` (cutoffs(0) + clusters, in),
    `tail0_down` (in / divide, in), `tail0_up` (classes, in / divide), ...

    * `n_classes`: classes, frequent ones first; 1 to 1073741823.
    * `cutoffs`: classes at which a cluster begins, ascending; at least 1.
    * `div_value`: cluster i sees a projection of the input to width / divide^(i + 1) values; 1 to
      1e6.
    * `head_bias`: adds learned numbers in the head.
    * `log`: logarithms of the probabilities.
    """

    n_classes: int
    cutoffs: List[int]
    div_value: float
    head_bias: bool
    log: bool
    _kind = "adaptive_softmax"

    @checked
    def __init__(self, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0,
                 head_bias: bool = False, *, log: bool = False, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("adaptive_softmax", {
            "out": n_classes, "cutoffs": numbers(cutoffs), "divide": div_value, "bias": head_bias,
            "log": log},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class MixtureOfSoftmaxes(Layer):
    """A weighted sum of softmaxes (arXiv 1711.03953): the sum over k of `prior`_k softmax(`weight`
    tanh(`latent`_k x)).

    * `n_classes`: classes; at least 1.
    * `mixtures`: softmaxes that are mixed; at least 1.
    * `hidden`: values that each sees; 0: as many as arrive; at least 0.
    * `bias`: adds learned numbers to what each sees, and to the logits.
    * `log`: logarithms of the probabilities, of at least 2^-40.
    """

    n_classes: int
    mixtures: int
    hidden: int
    bias: bool
    log: bool
    _kind = "mixture_of_softmaxes"

    @checked
    def __init__(self, n_classes: int, mixtures: int, *, hidden: int = 0, bias: bool = True,
                 log: bool = False, dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("mixture_of_softmaxes", {
            "out": n_classes, "mixtures": mixtures, "hidden": hidden, "bias": bias, "log": log},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class KMeans(Layer):
    """Soft membership of learned centers: softmax(-distance^2 / (2 temperature^2)). A row too far
    from all centers for squares in its type belongs to all alike. Parameter: `centers`
    (clusters, in).

    * `clusters`: number of centers; at least 1.
    * `temperature`: standard deviation of a cluster; 0.0001 to 10000.
    * `output`: `probabilities` of the clusters, or `features`: the centers' mean under them.
    """

    clusters: int
    temperature: float
    output: str
    _kind = "kmeans"

    @checked
    def __init__(self, clusters: int, temperature: float = 1.0, output: str = "probabilities", *,
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("kmeans", {
            "clusters": clusters, "temperature": temperature, "output": output},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})
