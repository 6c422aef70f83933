"""A bedrock's model as a chain of a framework's layers."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ..bedrocks import BedrockModel

Spec = Dict[str, Any]
_SPACE = {"1": ("length",), "2": ("height", "width"), "3": ("depth", "height", "width")}


@dataclass(frozen=True)
class Native:
    """What a framework answered, [samples, numbers] in float64, its layers with their weights, and
    the framework by name and version."""

    outputs: np.ndarray
    layers: List[Spec]
    framework: str


class Training(NamedTuple):
    """Samples and targets that a model of dense layers learns before it runs."""

    x: np.ndarray
    y: np.ndarray
    epochs: int
    batch_size: int = 64
    learning_rate: float = 0.01


class Made(NamedTuple):
    """One layer of a framework: runs a tensor of [samples, *takes()], and hands out its weights by
    the keys of `loom-stream`. `layer` is the framework's own object, which training needs."""

    run: Callable[[Any], Any]
    weights: Callable[[], Dict[str, Any]]
    layer: Any = None


class Planet:
    """A framework. A layer's kind is the name of the method that makes it."""

    framework = ""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def tensor(self, x: np.ndarray, ids: bool) -> Any:
        raise NotImplementedError

    def array(self, x: Any) -> np.ndarray:
        return np.asarray(x)

    def add(self, a: Any, b: Any) -> Any:
        return a + b

    def make(self, spec: Spec) -> Made:
        kind = spec["kind"]
        name = kind[:-1] if kind[-1] in "123" else kind
        made: Made = getattr(self, name)(spec)
        return made

    def train(self, model: BedrockModel, layers: Sequence[Made], training: Training) -> None:
        raise NotImplementedError

    def run(self, model: BedrockModel, layers: Sequence[Made], inputs: Sequence[Any]) -> Any:
        """The chain over tensors."""
        samples = inputs[0].shape[0]
        x, before = inputs[0], None
        for spec, layer in zip(model.layers, layers):
            came = x
            if spec["kind"] == "embedding":
                x = layer.run(inputs[-1])
            elif spec["kind"] == "residual":
                other = inputs[-1] if before is None else before
                shape = (samples, *takes(spec, _numbers(x)))
                x = self.add(self.reshape(x, shape), self.reshape(other, shape))
            else:
                x = layer.run(self.reshape(x, (samples, *takes(spec, _numbers(x)))))
            before = came
        return x

    def reshape(self, x: Any, shape: Tuple[int, ...]) -> Any:
        return x.reshape(shape)

    def moved(self, array: Any) -> np.ndarray:
        """Parameters that start as one number, such as biases and gains, moved apart."""
        array = np.asarray(array, np.float32)
        if array.size and (array == array.flat[0]).all():
            return array + 0.1 * self.rng.standard_normal(array.shape).astype(np.float32)
        return array


def takes(spec: Spec, total: int) -> Tuple[int, ...]:
    """The shape of a sample that a layer takes, out of `total` numbers."""
    kind = spec["kind"]
    if kind[-1] in "123":
        return (spec["in_channels"], *(spec["input_" + axis] for axis in _SPACE[kind[-1]]))
    if kind == "dense":
        return (spec["input_dim"],)
    if kind == "mha":
        return (spec["seq_len"], spec["d_model"])
    if kind in ("lstm", "rnn"):
        return (spec["seq_len"], spec["input_size"])
    width = spec["input_dim"] if kind == "swiglu" else spec["dim"]
    return (total // width, width)


def gates(w_ih: Sequence[Any], w_hh: Sequence[Any], bias: Sequence[Any]) -> List[np.ndarray]:
    """[W_ih | W_hh | b] of each gate."""
    return [np.concatenate([np.asarray(part, np.float32).reshape(-1) for part in one])
            for one in zip(w_ih, w_hh, bias)]


def lstm_weights(w_ih: Sequence[Any], w_hh: Sequence[Any], bias: Sequence[Any]
                 ) -> Dict[str, np.ndarray]:
    """The gates i, f, g, o."""
    return dict(zip(("i_weights", "f_weights", "g_weights", "o_weights"),
                    gates(w_ih, w_hh, bias)))


def swiglu_weights(matrices: Sequence[Any], biases: Sequence[Any]) -> Dict[str, np.ndarray]:
    """gate, up and down, [out, in] each, then their biases."""
    return {"weights": np.concatenate([np.asarray(part, np.float32).reshape(-1)
                                       for part in (*matrices, *biases)])}


def streamed(spec: Spec, weights: Dict[str, Any]) -> Spec:
    """A layer as `loom-stream` takes it."""
    made = {key: value for key, value in spec.items() if key != "use_bias"}
    for key, array in weights.items():
        if array is not None:
            made[key] = np.asarray(array, np.float64).reshape(-1).tolist()
    return made


def _numbers(x: Any) -> int:
    return int(np.prod([int(n) for n in x.shape[1:]]))


def run_chain(planet: Planet, model: BedrockModel, inputs: Sequence[np.ndarray], seed: int,
              training: Optional[Training]) -> Native:
    planet.rng = np.random.default_rng(seed + sum(map(ord, model.id)))
    layers = [Made(lambda x: x, dict) if spec["kind"] == "residual" else planet.make(spec)
              for spec in model.layers]
    if training is not None and model.bedrock == "dense":
        planet.train(model, layers, training)
    tensors = [planet.tensor(x, bool(model.ids) and i == len(inputs) - 1)
               for i, x in enumerate(inputs)]
    y = planet.array(planet.run(model, layers, tensors)).astype(np.float64)
    return Native(y.reshape(len(inputs[0]), -1)[:, :model.output_dim],
                  [streamed(spec, made.weights()) for spec, made in zip(model.layers, layers)],
                  planet.framework)
