"""Classes of PyTorch's that are a setting of another layer here: activations, adaptive pools,
multi-head attention as `torch.nn` has it, and norms for one, two and three dimensions."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Type

from ._base import Layer, Size, checked
from .attention import Attention
from .functions import Activation, Unary
from .norms import BatchNorm, InstanceNorm
from .pools import AvgPool1d, AvgPool2d, AvgPool3d, MaxPool1d, MaxPool2d, MaxPool3d

# ---- activations: a layer of their own, where PyTorch has one; `activation=` of a layer is the
# same


class Identity(Activation):
    """x."""

    @checked
    def __init__(self, **common: Any) -> None:
        super().__init__("linear", **common)


class ReLU(Activation):
    """max(x, 0)."""

    @checked
    def __init__(self, inplace: bool = False, **common: Any) -> None:
        super().__init__("relu", **common)


class LeakyReLU(Unary):
    """x above 0, `negative_slope` x below."""

    @checked
    def __init__(self, negative_slope: float = 0.01, inplace: bool = False, **common: Any) -> None:
        super().__init__("leaky_relu", negative_slope, **common)

    @property
    def negative_slope(self) -> float:
        return float(self["a"])


class ELU(Unary):
    """x above 0, `alpha` (exp(x) - 1) below."""

    @checked
    def __init__(self, alpha: float = 1.0, inplace: bool = False, **common: Any) -> None:
        super().__init__("elu", alpha, **common)

    @property
    def alpha(self) -> float:
        return float(self["a"])


class CELU(Unary):
    """x above 0, `alpha` (exp(x / alpha) - 1) below."""

    @checked
    def __init__(self, alpha: float = 1.0, inplace: bool = False, **common: Any) -> None:
        super().__init__("celu", alpha, **common)

    @property
    def alpha(self) -> float:
        return float(self["a"])


class SELU(Unary):
    """scale (x above 0, alpha (exp(x) - 1) below), the two as in PyTorch (arXiv 1706.02515)."""

    @checked
    def __init__(self, inplace: bool = False, **common: Any) -> None:
        super().__init__("selu", 1.6732632423543772, 1.0507009873554805, **common)


class GELU(Activation):
    """x times the normal distribution's function (arXiv 1606.08415); `approximate`: "none", or
    "tanh"."""

    @checked
    def __init__(self, approximate: str = "none", **common: Any) -> None:
        if approximate not in ("none", "tanh"):
            raise ValueError('GELU: approximate: expects "none" or "tanh", got %r' % approximate)
        super().__init__("gelu_tanh" if approximate == "tanh" else "gelu_erf", **common)

    @property
    def approximate(self) -> str:
        return "tanh" if self["activation"] == "gelu_tanh" else "none"


class SiLU(Activation):
    """x sigmoid(x), which is also called swish."""

    @checked
    def __init__(self, inplace: bool = False, **common: Any) -> None:
        super().__init__("silu", **common)


class Mish(Activation):
    """x tanh(softplus(x)) (arXiv 1908.08681)."""

    @checked
    def __init__(self, inplace: bool = False, **common: Any) -> None:
        super().__init__("mish", **common)


class Tanh(Activation):
    """tanh(x)."""

    @checked
    def __init__(self, **common: Any) -> None:
        super().__init__("tanh", **common)


class Sigmoid(Activation):
    """1 / (1 + exp(-x))."""

    @checked
    def __init__(self, **common: Any) -> None:
        super().__init__("sigmoid", **common)


class Softplus(Activation):
    """log(1 + exp(x)), at every x: PyTorch's becomes x above its `threshold`."""

    @checked
    def __init__(self, **common: Any) -> None:
        super().__init__("softplus", **common)


class Softsign(Unary):
    """x / (1 + |x|)."""

    @checked
    def __init__(self, **common: Any) -> None:
        super().__init__("softsign", **common)


class ReLU6(Unary):
    """x within 0 to 6."""

    @checked
    def __init__(self, inplace: bool = False, **common: Any) -> None:
        super().__init__("clip", 0.0, 6.0, **common)


class Hardtanh(Unary):
    """x within `min_val` to `max_val`."""

    @checked
    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False,
                 **common: Any) -> None:
        super().__init__("clip", min_val, max_val, **common)

    @property
    def min_val(self) -> float:
        return float(self["a"])

    @property
    def max_val(self) -> float:
        return float(self["b"])


class Hardsigmoid(Unary):
    """x / 6 + 1/2 within 0 to 1."""

    @checked
    def __init__(self, inplace: bool = False, **common: Any) -> None:
        super().__init__("hard_sigmoid", 1 / 6, 0.5, **common)


class Hardswish(Unary):
    """x times (x / 6 + 1/2 within 0 to 1)."""

    @checked
    def __init__(self, inplace: bool = False, **common: Any) -> None:
        super().__init__("hard_swish", **common)


# What cells print as, where they are one of these.
KNOWN: List[Layer] = [
    Identity(), ReLU(), GELU(), GELU("tanh"), SiLU(), Mish(), Tanh(), Sigmoid(), Softplus(),
    Softsign(), LeakyReLU(), ELU(), SELU(), ReLU6(), Hardtanh(), Hardsigmoid(), Hardswish(),
]


# ---- pools of a whole channel


class AdaptiveAvgPool1d(AvgPool1d):
    """The mean of each whole channel: (channels,) times 1 for each dimension of space.
    `output_size`: 1 alone."""

    @checked
    def __init__(self, output_size: Size, **common: Any) -> None:
        Layer.__init__(self, "avg_pool1d", {"global": True}, common)

    @property
    def output_size(self) -> int:
        return 1


class AdaptiveAvgPool2d(AvgPool2d):
    """The mean of each whole channel: (channels,) times 1 for each dimension of space.
    `output_size`: 1 alone."""

    @checked
    def __init__(self, output_size: Size, **common: Any) -> None:
        Layer.__init__(self, "avg_pool2d", {"global": True}, common)

    @property
    def output_size(self) -> int:
        return 1


class AdaptiveAvgPool3d(AvgPool3d):
    """The mean of each whole channel: (channels,) times 1 for each dimension of space.
    `output_size`: 1 alone."""

    @checked
    def __init__(self, output_size: Size, **common: Any) -> None:
        Layer.__init__(self, "avg_pool3d", {"global": True}, common)

    @property
    def output_size(self) -> int:
        return 1


class AdaptiveMaxPool1d(MaxPool1d):
    """The largest value of each whole channel: (channels,) times 1 for each dimension of space.
    `output_size`: 1 alone."""

    @checked
    def __init__(self, output_size: Size, return_indices: bool = False, **common: Any) -> None:
        Layer.__init__(self, "max_pool1d", {"global": True}, common)

    @property
    def output_size(self) -> int:
        return 1


class AdaptiveMaxPool2d(MaxPool2d):
    """The largest value of each whole channel: (channels,) times 1 for each dimension of space.
    `output_size`: 1 alone."""

    @checked
    def __init__(self, output_size: Size, return_indices: bool = False, **common: Any) -> None:
        Layer.__init__(self, "max_pool2d", {"global": True}, common)

    @property
    def output_size(self) -> int:
        return 1


class AdaptiveMaxPool3d(MaxPool3d):
    """The largest value of each whole channel: (channels,) times 1 for each dimension of space.
    `output_size`: 1 alone."""

    @checked
    def __init__(self, output_size: Size, return_indices: bool = False, **common: Any) -> None:
        Layer.__init__(self, "max_pool3d", {"global": True}, common)

    @property
    def output_size(self) -> int:
        return 1


ADAPTIVE: Dict[str, Type[Layer]] = {
    "avg_pool1d": AdaptiveAvgPool1d, "avg_pool2d": AdaptiveAvgPool2d,
    "avg_pool3d": AdaptiveAvgPool3d, "max_pool1d": AdaptiveMaxPool1d,
    "max_pool2d": AdaptiveMaxPool2d, "max_pool3d": AdaptiveMaxPool3d,
}

# ---- attention, and norms by the number of dimensions


class MultiheadAttention(Attention):
    """The steps of a row (steps, features) attend to one another as in `torch.nn`: all see all,
    without positions, with learned vectors added to queries, keys, values and output. Of two
    values, as `attn(x, memory, memory)` there, CrossAttention.

    * `num_heads`: heads, which divide the features.
    * `dropout`: of the weights of keys while training.
    * `bias`: adds learned vectors to all four projections.
    * `causal`: a step sees no later one, as with `is_causal` there.
    * By name, when called: `lengths`, and `mask` as PyTorch's `key_padding_mask`.
    """

    @checked
    def __init__(self, *, num_heads: int, dropout: float = 0.0, bias: bool = True,
                 causal: bool = False, **common: Any) -> None:
        super().__init__(num_heads, causal=causal, rope=False, qkv_bias=bias, out_bias=bias,
                         dropout=dropout, **common)

    @property
    def bias(self) -> bool:
        return bool(self["qkv_bias"])


def equivalent(cell: Dict[str, Any]) -> Optional[Layer]:
    """The layer of this file that a cell is, for printing; None where it is none."""
    if cell.get("type") == "attention" and cell.get("heads"):
        made = MultiheadAttention(num_heads=cell["heads"], dropout=cell.get("dropout", 0.0),
                                  bias=bool(cell.get("qkv_bias")),
                                  causal=bool(cell.get("causal", True)))
        return made if all(made.get(key) == value for key, value in cell.items()) else None
    return next((known for known in KNOWN if cell == known), None)


# A row knows its dimensions: one class serves all of them.
BatchNorm1d = BatchNorm2d = BatchNorm3d = BatchNorm
InstanceNorm1d = InstanceNorm2d = InstanceNorm3d = InstanceNorm
