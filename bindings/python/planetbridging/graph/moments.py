"""An optimizer's moments by the parameters of the network."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, Tuple

import numpy as np

from .absorbed import Absorbed


def bring(absorbed: Absorbed, arrays: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    """`arrays`: of each moment (velocity, m, v) those by the model's names; `absorbed.moments()`
    then has them as the network's parameters lie."""
    made: List[Tuple[str, str, np.ndarray]] = []
    for moment, of in arrays.items():
        for parameter, constant in absorbed._fills:
            if constant.trainable and all(name in of for name in constant.names):
                made.append((parameter, moment, np.asarray(constant.read(
                    lambda name, of=of: of[name]))))  # type: ignore[misc]
    kept = list(made)

    def moments() -> Iterator[Tuple[str, str, np.ndarray]]:
        return iter(kept)

    absorbed.moments = moments  # type: ignore[attr-defined]


def continued(trainer: Any, absorbed: Absorbed) -> None:
    """Sets a welvet trainer's moments and step to those that came along."""
    shapes: Dict[str, Tuple[int, int]] = trainer.moments
    for parameter, moment, array in getattr(absorbed, "moments", lambda: ())():
        name = "%s:%s" % (parameter, moment)
        trainer.set_moment(name, np.asarray(array, np.float64).reshape(shapes[name]))
    step = int(absorbed.training.get("step", 0))
    if step:
        trainer.set_step(step)
