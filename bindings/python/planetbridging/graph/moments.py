"""An optimizer's moments by the parameters of the network."""
from __future__ import annotations

from typing import Iterator, Mapping, Tuple

import numpy as np

from .absorbed import Absorbed

Arrays = Mapping[str, Mapping[str, np.ndarray]]  # by moment, and by the model's names


def arranged(absorbed: Absorbed, arrays: Arrays) -> Iterator[Tuple[str, str, np.ndarray]]:
    """Parameter, moment (velocity, m, v), numbers: as the network's parameters lie."""
    for moment, of in arrays.items():
        def read(name: str, of: Mapping[str, np.ndarray] = of) -> np.ndarray:
            return of[name]

        for parameter, constant in absorbed._fills:
            if constant.trainable and all(name in of for name in constant.names):
                yield parameter, moment, np.asarray(constant.read(read))
