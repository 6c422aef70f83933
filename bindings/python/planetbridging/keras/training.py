"""The optimizer of a compiled model: its settings in a training spec's words, and its moments by
the network's parameters."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from ..graph.absorbed import Absorbed
from ..graph.moments import arranged
from .walk import numpy_of


def bring_training(model: Any, absorbed: Absorbed, names: Mapping[int, str]) -> None:
    """Fills `training` and `moments()` from `model.optimizer`. What Loom does not do in the same
    way is said in `metadata["not_brought"]`, and nothing is brought then."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        return
    spec, why = _settings(model, optimizer)
    if spec is None:
        absorbed.metadata["not_brought"] = why
        return
    absorbed.training = {"optimizer": spec, "schedule": {"type": "constant", "lr": _rate(
        optimizer)}}
    absorbed.step = int(numpy_of(optimizer.iterations))
    absorbed.moments_of(lambda: arranged(absorbed, _moments(optimizer, spec, names)))


def _rate(optimizer: Any) -> float:
    return float(numpy_of(optimizer.learning_rate))


def _settings(model: Any, optimizer: Any) -> Tuple[Optional[Dict[str, Any]], str]:
    """The optimizer's object of a training spec, or why there is none."""
    kind = type(optimizer).__name__
    import keras
    if isinstance(getattr(optimizer, "_learning_rate", None),
                  keras.optimizers.schedules.LearningRateSchedule):
        return None, "the schedule %s" % type(optimizer._learning_rate).__name__
    for what in ("clipnorm", "clipvalue", "gradient_accumulation_steps", "loss_scale_factor",
                 "amsgrad", "use_ema"):
        if getattr(optimizer, what, None):
            return None, "%s with %s" % (kind, what)
    if any(getattr(layer, "kernel_regularizer", None) for layer in model._flatten_layers()):
        return None, "a kernel_regularizer, whose loss no training here has"
    spec: Dict[str, Any] = {}
    if optimizer.global_clipnorm:
        spec["clip_norm"] = float(optimizer.global_clipnorm)
    decay = float(optimizer.weight_decay or 0.0)
    if decay and getattr(optimizer, "_exclude_from_weight_decay", None):
        return None, "%s with variables excluded from weight decay" % kind
    if kind == "SGD" and not decay:
        spec.update(type="sgd", momentum=float(optimizer.momentum))
        if optimizer.nesterov:
            spec["nesterov"] = True
        return spec, ""
    if kind in ("Adam", "AdamW"):
        spec.update(type="adamw", beta1=float(optimizer.beta_1), beta2=float(optimizer.beta_2),
                    eps=float(optimizer.epsilon), uncorrected_eps=True)
        if decay:
            spec.update(weight_decay=decay, decay_vectors=True)
        return spec, ""
    return None, kind + (" with weight_decay" if decay else
                         ", whose epsilon stands under the root" if kind == "RMSprop" else "")


def _moments(optimizer: Any, spec: Mapping[str, Any],
             names: Mapping[int, str]) -> Dict[str, Dict[str, np.ndarray]]:
    """Arrays by moment and by the model's names."""
    variables: List[Any] = list(getattr(optimizer, "_trainable_variables", []) or [])
    if not variables:
        return {}

    def of(series: Any, factor: float = 1.0) -> Dict[str, np.ndarray]:
        return {names[id(v)]: numpy_of(m) * factor for v, m in zip(variables, series)
                if id(v) in names}

    if spec["type"] == "sgd":
        rate = _rate(optimizer)
        return {"velocity": of(optimizer.momentums, -1 / rate)} if spec["momentum"] and rate else {}
    return {"m": of(optimizer._momentums), "v": of(optimizer._velocities)}
