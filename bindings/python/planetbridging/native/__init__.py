"""The bedrocks' models in their frameworks: built of the framework's own layers, run by it, and
handed on as layers of `loom-stream`, one extractor for each kind and planet."""
from __future__ import annotations

import importlib
import importlib.util
import os
from typing import Any, List, Optional, Sequence

import numpy as np

from ..bedrocks import BedrockModel
from .chain import Native, Planet, Training, run_chain

__all__ = ["Native", "Planet", "Training", "planet_installed", "run_native"]

_PLANETS = {"numpy": "reference", "pytorch": "torch_layers", "tensorflow": "keras_layers",
            "jax": "jax_layers", "sklearn": "sklearn_layers"}
_NEEDS = {"numpy": ("numpy",), "pytorch": ("torch",), "jax": ("jax", "flax"),
          "sklearn": ("sklearn",), "keras": ("keras",)}


def _found(*modules: str) -> bool:
    return all(importlib.util.find_spec(name) is not None for name in modules)


def keras_backend() -> Optional[str]:
    """What Keras runs on: KERAS_BACKEND, else TensorFlow, JAX or PyTorch, whichever is here."""
    given = os.environ.get("KERAS_BACKEND")
    if given:
        return given
    return next((name for name in ("tensorflow", "jax", "torch") if _found(name)), None)


def planet_installed(planet: str) -> bool:
    """Whether a framework can be imported. `tensorflow` is Keras on TensorFlow, or, where that is
    missing, on another backend, which results name."""
    if planet == "tensorflow":
        backend = keras_backend()
        return _found("keras") and backend is not None and _found(backend)
    return _found(*_NEEDS.get(planet, (planet,)))


def run_native(planet: str, model: BedrockModel, inputs: Sequence[np.ndarray], *, seed: int = 42,
               training: Optional[Training] = None) -> Native:
    """Builds a model in a framework, trains it where `training` says so, and runs it on `inputs`.
    Raises ValueError for a planet that there is not, ImportError for one that is not installed."""
    if planet not in _PLANETS:
        raise ValueError("unknown planet %r: there are %s" % (planet, ", ".join(_PLANETS)))
    if not planet_installed(planet):
        raise ImportError("%s dependencies not installed" % planet)
    module = importlib.import_module("." + _PLANETS[planet], __name__)
    made: Planet = module.make_planet()
    arrays: List[Any] = [np.asarray(x) for x in inputs]
    return run_chain(made, model, arrays, seed, training)
