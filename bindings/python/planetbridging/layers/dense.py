"""Stacks of dense layers, out of live models."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence

import numpy as np


@dataclass(frozen=True)
class LayerSpec:
    """What one dense layer is, where the model itself does not say: its activation."""

    units: int
    activation: str = "relu"
    bias: bool = True


@dataclass(frozen=True)
class DenseLayer:
    """One dense layer with its weights, [out x in] row-major, f32."""

    index: int
    input_dim: int
    output_dim: int
    activation: str
    weights: np.ndarray
    bias: Optional[np.ndarray] = None

    def to_json_dict(self) -> Dict[str, Any]:
        made: Dict[str, Any] = {
            "kind": "dense", "index": self.index, "input_dim": self.input_dim,
            "output_dim": self.output_dim, "activation": self.activation,
            "weights": np.asarray(self.weights, np.float64).reshape(-1).tolist()}
        if self.bias is not None and len(self.bias) > 0:
            made["bias"] = np.asarray(self.bias, np.float64).reshape(-1).tolist()
        return made


def keras_kernel_to_loom(kernel: Any) -> np.ndarray:
    """[in, out] to [out x in]."""
    return np.ascontiguousarray(np.asarray(kernel, np.float32).T).reshape(-1)


def pytorch_weight_to_loom(weight: Any) -> np.ndarray:
    """[out, in] to [out x in]."""
    return np.ascontiguousarray(np.asarray(weight, np.float32)).reshape(-1)


def layers_from_specs(*, input_dim: int, specs: Sequence[LayerSpec], kernels: Sequence[Any],
                      biases: Sequence[Any], transposed: Optional[bool] = None
                      ) -> List[DenseLayer]:
    """Layers of kernels [out, in], or [in, out] where `transposed`; None: whichever fits, and
    [out, in] of a square one. Raises ValueError with the layer that does not fit."""
    if len(kernels) != len(specs) or len(biases) != len(specs):
        raise ValueError("%d kernels and %d biases for %d layer specs"
                         % (len(kernels), len(biases), len(specs)))
    made: List[DenseLayer] = []
    width = input_dim
    for i, spec in enumerate(specs):
        kernel = np.asarray(kernels[i], np.float32)
        turned = transposed
        if turned is None:
            turned = kernel.ndim == 2 and kernel.shape != (spec.units, width)
        expected = (width, spec.units) if turned else (spec.units, width)
        if kernel.ndim == 2 and kernel.shape != expected or kernel.size != width * spec.units:
            raise ValueError("layer %d: a kernel of the shape %s, expects %s"
                             % (i, kernel.shape, expected))
        flat = kernel.T if turned and kernel.ndim == 2 else kernel
        bias = None
        if spec.bias and biases[i] is not None:
            bias = np.asarray(biases[i], np.float32).reshape(-1)
            if bias.size != spec.units:
                raise ValueError("layer %d: a bias of %d numbers, expects %d"
                                 % (i, bias.size, spec.units))
        made.append(DenseLayer(i, width, spec.units, spec.activation.lower(),
                               np.ascontiguousarray(flat).reshape(-1), bias))
        width = spec.units
    return made


def _counted(what: str, found: int, specs: Sequence[LayerSpec]) -> None:
    if found != len(specs):
        raise ValueError("%s: the model has %d of them, the specs are %d"
                         % (what, found, len(specs)))


def _all_biases(specs: Sequence[LayerSpec], biases: Sequence[Any], what: str) -> List[Any]:
    """A bias that a spec leaves out would be lost in silence."""
    for i, (spec, bias) in enumerate(zip(specs, biases)):
        if bias is not None and not spec.bias and np.any(np.asarray(bias) != 0):
            raise ValueError("%s: layer %d has a bias, its spec says bias=False" % (what, i))
    return list(biases)


def layers_from_pytorch(net: Any, specs: Sequence[LayerSpec], *, input_dim: int
                        ) -> List[DenseLayer]:
    """The Linear modules of a module, in its order."""
    import torch
    found = [m for m in net.modules() if isinstance(m, torch.nn.Linear)]
    _counted("Linear modules", len(found), specs)
    biases = [None if m.bias is None else m.bias.detach().cpu().numpy() for m in found]
    return layers_from_specs(
        input_dim=input_dim, specs=specs, transposed=False,
        kernels=[m.weight.detach().cpu().numpy() for m in found],
        biases=_all_biases(specs, biases, "pytorch"))


def layers_from_keras(net: Any, specs: Sequence[LayerSpec], *, input_dim: int
                      ) -> List[DenseLayer]:
    """The Dense layers of a Keras model."""
    found = [layer for layer in net.layers if type(layer).__name__ == "Dense"]
    _counted("Dense layers", len(found), specs)
    weights = [layer.get_weights() for layer in found]
    for i, (held, spec) in enumerate(zip(weights, specs)):
        if len(held) < (2 if spec.bias else 1):
            raise ValueError("keras: layer %d has %s" % (i, "no bias" if held else "no weights"))
    biases = [held[1] if len(held) > 1 else None for held in weights]
    return layers_from_specs(input_dim=input_dim, specs=specs, transposed=True,
                             kernels=[held[0] for held in weights],
                             biases=_all_biases(specs, biases, "keras"))


def layers_from_jax(params: Any, specs: Sequence[LayerSpec], *, input_dim: int
                    ) -> List[DenseLayer]:
    """The blocks Dense_0, Dense_1, ... of Flax's parameters."""
    held = params.get("params", params) if hasattr(params, "get") else {}
    blocks = []
    for i in range(len(specs)):
        block = held.get("Dense_%d" % i)
        if block is None:
            raise ValueError("jax: no block Dense_%d among the parameters: %s"
                             % (i, ", ".join(sorted(map(str, held))) or "there are none"))
        blocks.append(block)
    further = sum(1 for name in held if str(name).startswith("Dense_"))
    _counted("Dense blocks", further, specs)
    return layers_from_specs(input_dim=input_dim, specs=specs, transposed=True,
                             kernels=[np.asarray(block["kernel"]) for block in blocks],
                             biases=_all_biases(specs, [block.get("bias") for block in blocks],
                                                "jax"))


def layers_from_sklearn(reg: Any, specs: Sequence[LayerSpec], *, input_dim: int
                        ) -> List[DenseLayer]:
    """The coefficients of an MLPRegressor or MLPClassifier."""
    _counted("layers of coefficients", len(reg.coefs_), specs)
    return layers_from_specs(input_dim=input_dim, specs=specs, transposed=True,
                             kernels=reg.coefs_,
                             biases=_all_biases(specs, reg.intercepts_, "sklearn"))
