"""The state of an optax optimizer, whose settings its functions keep to themselves."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, Tuple

import numpy as np

from ..errors import Unmapped
from ..graph.absorbed import Absorbed
from ..graph.moments import arranged
from .absorb import _key

_FIELDS = {"mu": "m", "nu": "v", "trace": "velocity"}
_QUIET = ("EmptyState", "ScaleState", "MaskedState", "ScaleByScheduleState", "ScaleByLearningRate")


def with_optax(absorbed: Absorbed, state: Any, *, lr: float, **settings: Any) -> Absorbed:
    """Brings the moments and the step of optax.sgd, adam or adamw along.

    state     what `optimizer.update` returned last, over the tree that was absorbed or, of Flax,
              its collection `params`
    lr        the learning rate
    settings  of the optimizer in a training spec's words: momentum, nesterov, beta1, beta2, eps,
              weight_decay. optax decays norms and biases too, unless it has a mask: decay_vectors

    Raises Unmapped for a state of another optimizer, TypeError for settings of another one.
    """
    parts = list(_states(state))
    moments: Dict[str, Mapping[str, np.ndarray]] = {}
    for part in parts:
        for field, moment in _FIELDS.items():
            if hasattr(part, field):
                moments[moment] = _named(absorbed, getattr(part, field))
    counts = [int(np.asarray(part.count)) for part in parts if "count" in part._fields]
    adam = "m" in moments
    spec: Dict[str, Any] = {"type": "adamw" if adam else "sgd", **settings}
    if spec.get("weight_decay"):
        spec.setdefault("decay_vectors", True)
    if not adam and "velocity" in moments and not spec.get("momentum"):
        raise TypeError("with_optax: the state has a trace: give its momentum")
    absorbed.training.update(optimizer=spec, schedule={"type": "constant", "lr": float(lr)})
    absorbed.step = max(counts, default=0)
    absorbed.moments_of(lambda: arranged(absorbed, moments))
    return absorbed


def _states(state: Any) -> Iterator[Any]:
    """The parts of a chain; those that are no part of these optimizers are refused by name."""
    name = type(state).__name__
    if hasattr(state, "_fields"):
        if hasattr(state, "inner_state"):
            yield from _states(state.inner_state)
        elif name not in _QUIET and not any(hasattr(state, field) for field in _FIELDS):
            raise Unmapped("the optimizer", name, "optax.sgd, adam and adamw come along")
        else:
            yield state
    elif isinstance(state, (tuple, list)):
        for part in state:
            yield from _states(part)
    else:
        raise Unmapped("the optimizer", name, "optax.sgd, adam and adamw come along")


def _named(absorbed: Absorbed, tree: Any) -> Mapping[str, np.ndarray]:
    """A tree of arrays by the names of the parameters."""
    import jax
    leaves: List[Tuple[Any, Any]] = jax.tree_util.tree_flatten_with_path(tree)[0]
    given = {"/".join(_key(k) for k in path): np.asarray(leaf) for path, leaf in leaves}
    wanted = {name for of in absorbed.names.values() for name in of}
    if not any(name in wanted for name in given):
        given = {"params/" + name: array for name, array in given.items()}
    return given
