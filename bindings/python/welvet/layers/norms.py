"""Norms and noise.

Made by tools/generate from the field lists in src: edit those.
"""
from __future__ import annotations

from typing import Optional, Sequence

from ._base import Layer, checked


class LayerNorm(Layer):
    """Mean 0 and variance 1 over the row, times a gain, plus a bias (arXiv 1607.06450).

    * `eps`: added to the mean square or variance before the root; 1e-12 to 1.
    """

    eps: float
    _kind = "layer_norm"

    @checked
    def __init__(self, *, eps: float = 1e-05, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("layer_norm", {
            "eps": eps},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class RMSNorm(Layer):
    """The row divided by the root of its mean square, times a gain (arXiv 1910.07467). `eps` is
    1e-05, where PyTorch's None is 1.2e-07 for float32.

    * `eps`: added to the mean square or variance before the root; 1e-12 to 1.
    """

    eps: float
    _kind = "rms_norm"

    @checked
    def __init__(self, *, eps: float = 1e-05, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("rms_norm", {
            "eps": eps},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class BatchNorm(Layer):
    """Channels of (channels, space...) normalized by the batch's statistics while training, by
    running ones otherwise (arXiv 1502.03167); without dimensions each value is a channel.
    Training takes the statistics of the micro-batch's rows, and each update moves
    `running_mean` and `running_var` (of a sample, as PyTorch has it) towards those of the last
    micro-batch.

    * `eps`: added to the variance before the root; 1e-12 to 1.
    * `momentum`: what a batch weighs in the running mean and variance; 0 to 1.
    * `affine`: learns a gain and a bias per channel.
    * `track_running_stats`: only True: BatchNorm runs by running statistics; GroupNorm and
      InstanceNorm have none.
    """

    eps: float
    momentum: float
    affine: bool
    track_running_stats: bool
    _kind = "batch_norm"

    @checked
    def __init__(self, eps: float = 1e-05, momentum: float = 0.1, affine: bool = True,
                 track_running_stats: bool = True, *, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("batch_norm", {
            "eps": eps, "momentum": momentum, "affine": affine},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class GroupNorm(Layer):
    """Each of `groups` of channels normalized by itself (arXiv 1803.08494).

    * `num_groups`: number of groups, which divides the channels; at least 1.
    * `eps`: added to the variance before the root; 1e-12 to 1.
    * `affine`: learns a gain and a bias per channel.
    """

    num_groups: int
    eps: float
    affine: bool
    _kind = "group_norm"

    @checked
    def __init__(self, num_groups: int, *, eps: float = 1e-05, affine: bool = True,
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("group_norm", {
            "groups": num_groups, "eps": eps, "affine": affine},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class InstanceNorm(Layer):
    """Each channel normalized by itself (arXiv 1607.08022). Its defaults are those of
    `torch.nn.InstanceNorm2d`, not of its Lazy form.

    * `eps`: added to the variance before the root; 1e-12 to 1.
    * `momentum`: only 0.1: there are no running statistics that it is of.
    * `affine`: learns a gain and a bias per channel.
    * `track_running_stats`: only False: BatchNorm has running statistics, InstanceNorm none.
    """

    eps: float
    momentum: float
    affine: bool
    track_running_stats: bool
    _kind = "instance_norm"

    @checked
    def __init__(self, eps: float = 1e-05, momentum: float = 0.1, affine: bool = False,
                 track_running_stats: bool = False, *, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("instance_norm", {
            "eps": eps, "affine": affine},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class Standardize(Layer):
    """(x - `mean`) * `scale` by columns; the two are set, not learned.

    * `missing`: a value that is not a number becomes 0, as the mean does.
    """

    missing: bool
    _kind = "standardize"

    @checked
    def __init__(self, missing: bool = False, *, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("standardize", {
            "missing": missing},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class Dropout(Layer):
    """While training, values are 0 with a probability and the others grow by 1 / (1 - rate); a
    function of the training's `seed`, the step and micro-batch, the layer's path and the
    value's place.

    * `p`: probability of a 0 while training; at least 0, below 1.
    * `inplace`: only False: leave it out: memory is planned for the whole network.
    """

    p: float
    inplace: bool
    _kind = "dropout"

    @checked
    def __init__(self, p: float = 0.5, inplace: bool = False, *, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("dropout", {
            "rate": p},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})
