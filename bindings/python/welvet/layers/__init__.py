"""Layers with PyTorch's names in the order of its Lazy modules, which build a network's topology.

    from welvet import Network, layers
    network = Network(layers.Sequential(layers.Input(784),
                                        layers.Linear(128, activation="relu"),
                                        layers.Linear(10)), seed=1)

Input sizes are inferred from the Input. Arguments that PyTorch has may be given by place, in its
order; all others, as `activation`, go by name. What PyTorch accepts and Loom cannot do is refused
by name. A layer is a plain dict, the cell as docs/reference/layers.md has it; `repr` writes it as
one would, and containers print as a tree. Dense is Linear by Keras' name. Common to all are `dtype`
(how matrices are stored and multiplied: "f32", "bf16", "i8", ...), `name`, `enabled`, `tie` and
`fixed`.
Activations: linear, relu, relu2, leaky_relu, silu, gelu_tanh, gelu_erf, tanh, sigmoid, softplus,
mish, gelu, gelu_new, gelu_pytorch_tanh, swish.

Made by tools/generate from the field lists in src: edit those.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from ._base import Layer
from ._names import missing
from .attention import Attention, CrossAttention, Positions
from .containers import Custom, Input, Metacognition, Residual, Sequential
from .convolutions import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .equivalents import (
    AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool1d, AdaptiveMaxPool2d,
    AdaptiveMaxPool3d, BatchNorm1d, BatchNorm2d, BatchNorm3d, CELU, ELU, GELU, Hardsigmoid,
    Hardswish, Hardtanh, Identity, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, LeakyReLU, Mish,
    MultiheadAttention, ReLU, ReLU6, SELU, SiLU, Sigmoid, Softplus, Softsign, Tanh,
)
from .functions import (
    Activation, BatchedMatmul, Binary, IndexSelect, Permute, Reduce, Select, Unary,
)
from .linear import Embedding, Genome, Linear, SwiGLU
from .model import Model, add, average, concat
from .norms import BatchNorm, Dropout, GroupNorm, InstanceNorm, LayerNorm, RMSNorm, Standardize
from .pools import AvgPool1d, AvgPool2d, AvgPool3d, MaxPool1d, MaxPool2d, MaxPool3d
from .probabilities import AdaptiveSoftmax, KMeans, LogSoftmax, MixtureOfSoftmaxes, Softmax
from .recurrent import GRU, LSTM, PoolSteps, RNN
from .shapes import Flatten, Parallel, Part, Reshape, TimeDistributed

Dense = Linear  # Keras' word, with the arguments of Linear

__all__ = [
    "Activation", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AdaptiveSoftmax", "Attention",
    "AvgPool1d", "AvgPool2d", "AvgPool3d", "BatchNorm", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d",
    "BatchedMatmul", "Binary", "CELU", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d",
    "ConvTranspose2d", "ConvTranspose3d", "CrossAttention", "Custom", "Dense", "Dropout", "ELU",
    "Embedding", "Flatten", "GELU", "GRU", "Genome", "GroupNorm", "Hardsigmoid", "Hardswish",
    "Hardtanh", "Identity", "IndexSelect", "Input", "InstanceNorm", "InstanceNorm1d",
    "InstanceNorm2d", "InstanceNorm3d", "KMeans", "LSTM", "Layer", "LayerNorm", "LeakyReLU",
    "Linear", "LogSoftmax", "MaxPool1d", "MaxPool2d", "MaxPool3d", "Metacognition", "Mish",
    "MixtureOfSoftmaxes", "Model", "MultiheadAttention", "Parallel", "Part", "Permute", "PoolSteps",
    "Positions", "RMSNorm", "RNN", "ReLU", "ReLU6", "Reduce", "Reshape", "Residual", "SELU",
    "Select", "Sequential", "SiLU", "Sigmoid", "Softmax", "Softplus", "Softsign", "Standardize",
    "SwiGLU", "Tanh", "TimeDistributed", "Unary", "add", "average", "concat",
]

if not TYPE_CHECKING:

    def __getattr__(name):
        raise AttributeError(missing(name))
