"""What trains a module: its optimizer, loss and schedule, with the moments so far."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np

from ..errors import Unmapped
from ..graph import Absorbed

# Loom's moments, and the names that PyTorch's optimizers have for them.
_MOMENTS = {"SGD": {"velocity": "momentum_buffer"}, "Adam": {"m": "exp_avg", "v": "exp_avg_sq"},
            "AdamW": {"m": "exp_avg", "v": "exp_avg_sq"},
            "RMSprop": {"v": "square_avg", "mean": "grad_avg", "velocity": "momentum_buffer"}}


def take_training(absorbed: Absorbed, reader: Any, optimizer: Any, loss: Any,
                  scheduler: Any) -> None:
    """Fills `training` (docs/reference/training-spec.md) and what moments() reads. Raises Unmapped
    for what Loom does not do alike."""
    different = absorbed.metadata.get("trains_differently")
    if different:
        raise Unmapped("", "training on", "; ".join(different))
    if loss is not None:
        absorbed.training.update(_loss(loss))
    if optimizer is None:
        if scheduler is not None:
            raise ValueError("scheduler: without an optimizer")
        return
    learned = _Learned(absorbed, reader, optimizer)
    absorbed.training["optimizer"] = learned.spec()
    step = learned.step()
    if step == 0 and learned.kind == "SGD" and scheduler is not None:
        step = int(scheduler.last_epoch)  # SGD counts no steps
    absorbed.training["schedule"] = _schedule(scheduler, learned.group["lr"], step)
    absorbed.step = step
    absorbed.moments_of(learned.moments)


class _Learned:
    """An optimizer, whose parameters are those of the network."""

    def __init__(self, absorbed: Absorbed, reader: Any, optimizer: Any) -> None:
        self.absorbed, self.optimizer = absorbed, optimizer
        self.kind = type(optimizer).__name__
        if self.kind not in _MOMENTS:
            raise Unmapped("", "the optimizer " + self.kind, "Loom has SGD, Adam, AdamW, RMSprop")
        self.group: Dict[str, Any] = optimizer.param_groups[0]
        self.tensors: Dict[str, Any] = reader.tensors
        self.names = self._names()

    def _names(self) -> List[str]:
        held = {id(p) for g in self.optimizer.param_groups for p in g["params"]}
        names = [n for _, c in self.absorbed._fills if c.trainable for n in c.names
                 if n in self.tensors and self.tensors[n].requires_grad]
        missing = [n for n in names if id(self.tensors[n]) not in held]
        if missing:
            raise Unmapped("", "the optimizer " + self.kind,
                           "it does not have %s: set requires_grad_(False)" % missing[0])
        return names

    def _decay(self) -> Dict[str, Any]:
        """The same for all, or for matrices alone."""
        rates: Dict[int, float] = {}
        for group in self.optimizer.param_groups:
            for key, value in group.items():
                if key not in ("params", "weight_decay", "initial_lr") and \
                        value != self.group.get(key):
                    raise Unmapped("", "groups of parameters that differ in " + key)
            for p in group["params"]:
                rates[id(p)] = float(group["weight_decay"])
        own = {n: rates[id(self.tensors[n])] for n in self.names}
        some = set(own.values())
        if some <= {0.0}:
            return {}
        if len(some) == 1:
            return {"weight_decay": some.pop(), "decay_vectors": True}
        decay = max(some)
        for _, constant in self.absorbed._fills:
            shape = constant.shape
            matrix = len(shape) > 1 and int(np.prod(shape[:-1])) > 1
            for name in constant.names if constant.trainable else ():
                if name in own and own[name] != (decay if matrix else 0.0):
                    raise Unmapped("", "weight_decay by groups",
                                   "Loom's is that of all, or of what has more than one row: %s "
                                   "is another case" % name)
        return {"weight_decay": decay}

    def spec(self) -> Dict[str, Any]:
        g, decay = self.group, self._decay()
        for key in ("amsgrad", "maximize", "dampening"):
            if g.get(key):
                raise Unmapped("", "%s of the optimizer %s" % (key, self.kind))
        if self.kind == "SGD":
            made: Dict[str, Any] = {"type": "sgd"}
            if g["momentum"]:
                made["momentum"] = float(g["momentum"])
            if g["nesterov"]:
                made["nesterov"] = True
            return {**made, **decay}
        if self.kind == "RMSprop":
            made = {"type": "rmsprop", "alpha": float(g["alpha"]), "eps": float(g["eps"])}
            if g["momentum"]:
                made["momentum"] = float(g["momentum"])
            if g["centered"]:
                made["centered"] = True
            return {**made, **decay}
        coupled = self.kind == "Adam" and bool(decay) and not g.get("decoupled_weight_decay")
        return {"type": "adam" if coupled else "adamw", "beta1": float(g["betas"][0]),
                "beta2": float(g["betas"][1]), "eps": float(g["eps"]), **decay}

    def step(self) -> int:
        """Steps done."""
        for name in self.names:
            state = self.optimizer.state.get(self.tensors[name], {})
            if "step" in state:
                return int(state["step"])
        return 0

    def moments(self) -> Iterator[Tuple[str, str, np.ndarray]]:
        for ours, theirs in _MOMENTS[self.kind].items():
            def read(name: str, key: str = theirs) -> np.ndarray:
                tensor = self.tensors[name]
                state = self.optimizer.state.get(tensor, {}).get(key)
                return np.zeros(tuple(tensor.shape)) if state is None else \
                    state.detach().cpu().double().numpy()

            if not any(self.optimizer.state.get(self.tensors[n], {}).get(theirs) is not None
                       for n in self.names):
                continue
            for parameter, constant in self.absorbed._fills:
                if constant.trainable and all(n in self.names for n in constant.names):
                    yield parameter, ours, np.asarray(constant.read(read))


_LOSSES = {"MSELoss": "mse", "L1Loss": "mae", "BCEWithLogitsLoss": "bce",
           "CrossEntropyLoss": "cross_entropy", "HuberLoss": "huber", "SmoothL1Loss": "huber"}


def _loss(loss: Any) -> Dict[str, Any]:
    name = type(loss).__name__
    if name not in _LOSSES:
        raise Unmapped("", "the loss " + name, "Loom has %s" % ", ".join(_LOSSES))
    if getattr(loss, "reduction", "mean") != "mean":
        raise Unmapped("", "the loss " + name, "reduction %r: Loom's is the mean" % loss.reduction)
    made: Dict[str, Any] = {"loss": _LOSSES[name]}
    if name == "HuberLoss":
        made["delta"] = float(loss.delta)
    elif name == "SmoothL1Loss" and loss.beta != 1:
        raise Unmapped("", "SmoothL1Loss", "beta %g: Loom's huber is that of 1" % loss.beta)
    elif name == "CrossEntropyLoss":
        if loss.label_smoothing:
            raise Unmapped("", "label_smoothing of CrossEntropyLoss")
        if loss.ignore_index != -100:
            made["ignore"] = int(loss.ignore_index)
        if loss.weight is not None:
            made["class_weights"] = [float(w) for w in loss.weight]
    elif name == "BCEWithLogitsLoss" and (loss.weight is not None or loss.pos_weight is not None):
        raise Unmapped("", "weights of BCEWithLogitsLoss")
    return made


def _schedule(scheduler: Any, lr: float, step: int) -> Dict[str, Any]:
    if scheduler is None:
        return {"type": "constant", "lr": float(lr)}
    name = type(scheduler).__name__
    made: Optional[Dict[str, Any]] = None
    if name == "StepLR":
        made = {"type": "step", "every": scheduler.step_size, "factor": scheduler.gamma}
    elif name == "MultiStepLR":
        made = {"type": "multi_step", "milestones": sorted(scheduler.milestones.elements()),
                "factor": scheduler.gamma}
    elif name == "ExponentialLR":
        made = {"type": "exponential", "factor": scheduler.gamma}
    elif name == "CosineAnnealingLR":
        made = {"type": "cosine", "floor": scheduler.eta_min, "steps": scheduler.T_max}
    elif name == "CosineAnnealingWarmRestarts":
        made = {"type": "cosine_restarts", "floor": scheduler.eta_min, "every": scheduler.T_0,
                "multiplier": scheduler.T_mult}
    if made is None:
        raise Unmapped("", "the scheduler " + name)
    if scheduler.last_epoch != step:
        raise Unmapped("", "the scheduler " + name, "it counts %d, the optimizer %d steps: Loom's "
                       "counts steps" % (scheduler.last_epoch, step))
    return {**made, "lr": float(scheduler.base_lrs[0])}
