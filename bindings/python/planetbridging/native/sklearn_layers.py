"""scikit-learn's own multi-layer perceptron."""
from __future__ import annotations

import warnings
from typing import Any, List, Sequence

import numpy as np
import sklearn
from sklearn.neural_network import MLPRegressor

from ..bedrocks import BedrockModel
from .chain import Made, Planet, Spec, Training

_ACTIVATIONS = {"relu": "relu", "tanh": "tanh", "sigmoid": "logistic", "linear": "identity"}


class ScikitLearn(Planet):
    """An estimator is the whole chain."""

    framework = "scikit-learn " + str(sklearn.__version__)

    def __init__(self) -> None:
        super().__init__()
        self._specs: List[Spec] = []
        self._estimator: Any = None

    def tensor(self, x: np.ndarray, ids: bool) -> Any:
        return x.astype(np.float32)

    def dense(self, spec: Spec) -> Made:
        i = len(self._specs)
        self._specs.append(spec)
        return Made(lambda x: x, lambda: {
            "weights": self._estimator.coefs_[i].T,
            "bias": self._estimator.intercepts_[i] if spec["use_bias"] else None})

    def run(self, model: BedrockModel, layers: Sequence[Made], inputs: Sequence[Any]) -> Any:
        if self._estimator is None:  # estimators have no weights before they are fitted
            self._fit(np.zeros((2, self._specs[0]["input_dim"])),
                      np.zeros((2, self._specs[-1]["output_dim"])), 1, 2, 1e-9)
        return self._estimator.predict(inputs[0])

    def _fit(self, x: np.ndarray, y: np.ndarray, epochs: int, batch: int, rate: float) -> None:
        kinds = {spec["activation"] for spec in self._specs[:-1]} or {"linear"}
        self._estimator = MLPRegressor(
            hidden_layer_sizes=tuple(spec["output_dim"] for spec in self._specs[:-1]),
            activation=_ACTIVATIONS[kinds.pop()], solver="adam", alpha=0.0, batch_size=batch,
            learning_rate_init=rate, max_iter=epochs, random_state=42, early_stopping=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it has not converged
            self._estimator.fit(x.astype(np.float32), y.astype(np.float32))
        if not self._specs[0]["use_bias"]:  # it always has intercepts
            self._estimator.intercepts_ = [np.zeros_like(b) for b in self._estimator.intercepts_]

    def train(self, model: BedrockModel, layers: Sequence[Made], training: Training) -> None:
        self._fit(training.x, training.y, training.epochs, training.batch_size,
                  training.learning_rate)


def make_planet() -> Planet:
    return ScikitLearn()
