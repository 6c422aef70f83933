"""Layers that are streamed one by one."""
from .dense import (DenseLayer, LayerSpec, layers_from_jax, layers_from_keras, layers_from_pytorch,
                    layers_from_sklearn)

__all__ = ["DenseLayer", "LayerSpec", "layers_from_pytorch", "layers_from_keras",
           "layers_from_jax", "layers_from_sklearn"]
