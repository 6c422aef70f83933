"""Live models as .entity files: a stack of dense layers with its activations, as earlier versions
took it, or, without layer_specs and layer_units, any model that planetbridging.from_* maps.

    from planetbridging import absorb
    absorb.pytorch(net, input_dim=4, layer_units=(2, 1), output_path="net.entity")
    absorb.pytorch(net, inputs=x, native_outputs=net(x).detach(), output_path="net.entity")
"""
from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy as np

from . import engines
from ._binary import repo_root
from .compare import compare_outputs, diff_label
from .engines import EngineStreamResult
from .layers.dense import (DenseLayer, LayerSpec, layers_from_jax, layers_from_keras,
                           layers_from_pytorch, layers_from_sklearn)
from .stream import FilePath, StreamResult, stream_dense

Specs = Optional[Sequence[LayerSpec]]
Units = Optional[Sequence[int]]


def stream(bedrock: str, planet: str, *, model_id: Optional[str] = None,
           **options: Any) -> EngineStreamResult:
    """engines.stream."""
    return engines.stream(bedrock, planet, model_id=model_id, **options)


def stream_all_bedrocks(planet: str, **options: Any) -> List[EngineStreamResult]:
    """engines.stream_all_bedrocks."""
    return engines.stream_all_bedrocks(planet, **options)


def stream_all_planets(bedrock: str, **options: Any) -> List[EngineStreamResult]:
    """engines.stream_all_planets."""
    return engines.stream_all_planets(bedrock, **options)


def _dense_specs(layer_specs: Specs, layer_units: Units, activation: str
                 ) -> Optional[Tuple[LayerSpec, ...]]:
    if layer_specs is not None:
        return tuple(layer_specs)
    if layer_units is not None:
        return tuple(LayerSpec(units, activation) for units in layer_units)
    return None


def _dense_stack(read: Callable[..., List[DenseLayer]], model: Any, specs: Sequence[LayerSpec],
                 input_dim: Optional[int], planet: str, model_id: str,
                 options: Any) -> StreamResult:
    if input_dim is None:
        raise ValueError("input_dim required: the numbers that the first layer takes")
    return stream_dense(planet=planet, model_id=model_id,
                        layers=read(model, specs, input_dim=input_dim), input_dim=input_dim,
                        **options)


_ANY = {"inputs", "native_outputs", "output_path", "models_dir", "root", "skip_infer"}


def _any_model(absorbed: Any, planet: str, model_id: str, options: Any) -> StreamResult:
    """A model by its graph: the file, and its outputs where `inputs` are given."""
    unknown = sorted(set(options) - _ANY)
    if unknown:
        raise TypeError("%s: goes with layer_specs or layer_units only" % ", ".join(unknown))
    path = options.get("output_path")
    if path is None:
        base = options.get("models_dir") or Path(options.get("root") or repo_root()) / "models"
        path = Path(base) / planet / model_id / (model_id + ".stream.entity")
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    network = absorbed.network()
    network.save(path)
    outputs, native = np.zeros((0,)), options.get("native_outputs")
    inputs = options.get("inputs")
    if inputs is not None and not options.get("skip_infer"):
        given = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
        made = absorbed.predict(*(np.asarray(x) for x in given), network=network)
        parts = made if isinstance(made, (tuple, list)) else [made]
        outputs = np.concatenate([np.asarray(p, np.float64).reshape(len(p), -1) for p in parts], 1)
    largest = mean = exact = label = None
    if native is not None and outputs.size:
        native = np.asarray(native, np.float64).reshape(len(outputs), -1)
        largest, mean, exact = compare_outputs(native, outputs)
        label = diff_label(largest, exact=exact)
    numbers = sum(p.rows * p.cols for p in network.parameters)
    return StreamResult(str(path), outputs, len(absorbed.report), 4 * numbers, largest, mean, exact,
                        label, native)


def pytorch(net: Any, *, planet: str = "pytorch", model_id: str = "model",
            input_dim: Optional[int] = None, layer_specs: Specs = None, layer_units: Units = None,
            activation: str = "relu", **options: Any) -> StreamResult:
    """A PyTorch module. With layer_specs (or layer_units, all with `activation` but as they say) its
    Linear modules, in order; without, what torch.export takes of it, for which `inputs` are the
    example, or zeros of input_dim numbers. `options`: inputs, native_outputs, output_path,
    models_dir, root, and of dense stacks what stream_bedrock takes."""
    specs = _dense_specs(layer_specs, layer_units, activation)
    if specs is not None:
        return _dense_stack(layers_from_pytorch, net, specs, input_dim, planet, model_id, options)
    import torch
    inputs = options.get("inputs")
    if inputs is None and input_dim is None:
        raise ValueError("inputs, input_dim, layer_specs or layer_units required")
    example = (np.zeros((2, input_dim or 1), np.float32),) if inputs is None else (
        tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,))
    tensors = tuple(x if isinstance(x, torch.Tensor) else torch.as_tensor(
        np.asarray(x, np.float32 if np.asarray(x).dtype.kind == "f" else None)) for x in example)
    from .torch import from_torch
    return _any_model(from_torch(net, tensors), planet, model_id, options)


def keras(net: Any, *, planet: str = "tensorflow", model_id: str = "model",
          input_dim: Optional[int] = None, layer_specs: Specs = None, layer_units: Units = None,
          activation: str = "relu", **options: Any) -> StreamResult:
    """A Keras model: its Dense layers with layer_specs or layer_units, else all of it."""
    specs = _dense_specs(layer_specs, layer_units, activation)
    if specs is not None:
        return _dense_stack(layers_from_keras, net, specs, input_dim, planet, model_id, options)
    return _any_model(_from("keras")(net), planet, model_id, options)


def jax(params: Any, *, planet: str = "jax", model_id: str = "model",
        input_dim: Optional[int] = None, layer_specs: Specs = None, layer_units: Units = None,
        activation: str = "relu", module: Any = None, **options: Any) -> StreamResult:
    """Parameters of Flax: the blocks Dense_0, Dense_1, ... with layer_specs or layer_units; else
    those of `module`, of which `inputs` are the example."""
    specs = _dense_specs(layer_specs, layer_units, activation)
    if specs is not None:
        return _dense_stack(layers_from_jax, params, specs, input_dim, planet, model_id, options)
    if module is None or options.get("inputs") is None:
        raise ValueError("layer_specs or layer_units required, or module and inputs: parameters "
                         "alone do not say what is computed of them")
    return _any_model(_from("jax")(module, params, options["inputs"]), planet, model_id, options)


def sklearn(reg: Any, *, planet: str = "sklearn", model_id: str = "model",
            input_dim: Optional[int] = None, layer_specs: Specs = None, layer_units: Units = None,
            activation: str = "linear", **options: Any) -> StreamResult:
    """An estimator: the coefficients of a multi-layer perceptron with layer_specs or layer_units,
    else what its attributes say."""
    specs = _dense_specs(layer_specs, layer_units, activation)
    if specs is not None:
        return _dense_stack(layers_from_sklearn, reg, specs, input_dim, planet, model_id, options)
    return _any_model(_from("sklearn")(reg), planet, model_id, options)


def _from(framework: str) -> Callable[..., Any]:
    import planetbridging
    made: Callable[..., Any] = getattr(planetbridging, "from_" + framework)
    return made
