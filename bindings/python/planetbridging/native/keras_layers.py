"""Keras' own layers, on TensorFlow or another backend."""
from __future__ import annotations

import importlib
import os
from typing import Any, Callable, Dict, Sequence

import numpy as np

from ..bedrocks import BedrockModel
from . import keras_backend
from .chain import Made, Planet, Spec, Training, gates, lstm_weights, swiglu_weights

os.environ.setdefault("KERAS_BACKEND", keras_backend() or "tensorflow")
keras: Any = importlib.import_module("keras")
ops: Any = keras.ops


def _front(array: np.ndarray, places: int = 2) -> np.ndarray:
    """A kernel [space..., a, b] as [b, a, space...]."""
    rank = array.ndim - places
    return array.transpose(tuple(range(rank, array.ndim))[::-1] + tuple(range(rank)))


class Keras(Planet):
    framework = "keras %s on %s" % (keras.__version__, keras.config.backend())

    def tensor(self, x: np.ndarray, ids: bool) -> Any:
        return ops.convert_to_tensor(x.astype(np.int32 if ids else np.float32))

    def array(self, x: Any) -> np.ndarray:
        made: np.ndarray = np.asarray(ops.convert_to_numpy(x))
        return made

    def reshape(self, x: Any, shape: Any) -> Any:
        return ops.reshape(x, shape)

    def make(self, spec: Spec) -> Made:
        keras.utils.set_random_seed(int(self.rng.integers(1 << 31)))
        return super().make(spec)

    def _built(self, layer: Any, *shapes: Any) -> Any:
        layer.build(*shapes)
        layer.set_weights([self.moved(w) for w in layer.get_weights()])
        return layer

    def dense(self, spec: Spec) -> Made:
        m = self._built(keras.layers.Dense(spec["output_dim"], activation=spec["activation"],
                                           use_bias=spec["use_bias"]), (None, spec["input_dim"]))

        def weights() -> Dict[str, Any]:
            held = m.get_weights()
            return {"weights": held[0].T, "bias": held[1] if spec["use_bias"] else None}

        return Made(m, weights, m)

    def _channels_last(self, spec: Spec, layer: Any) -> Made:
        rank = int(spec["kind"][-1])
        sizes = [spec["input_" + a] for a in {1: ("length",), 2: ("height", "width"),
                                              3: ("depth", "height", "width")}[rank]]
        m = self._built(layer, (None, *sizes, spec["in_channels"]))

        def run(x: Any) -> Any:
            return ops.moveaxis(m(ops.moveaxis(x, 1, -1)), -1, 1)

        def weights() -> Dict[str, Any]:
            held = m.get_weights()
            kernel = _front(held[0])
            if spec["kind"].startswith("convt"):  # [space..., filters, channels]
                kernel = kernel.swapaxes(0, 1)
            return {"weights": kernel, "bias": held[1] if len(held) > 1 else None}

        return Made(run, weights, m)

    def cnn(self, spec: Spec) -> Made:
        kind = getattr(keras.layers, "Conv%sD" % spec["kind"][-1])
        return self._channels_last(spec, kind(
            spec["filters"], spec["kernel_size"], spec["stride"], "valid", use_bias=False,
            activation=spec["activation"], data_format="channels_last"))

    def convt(self, spec: Spec) -> Made:
        kind = getattr(keras.layers, "Conv%sDTranspose" % spec["kind"][-1])
        return self._channels_last(spec, kind(
            spec["filters"], spec["kernel_size"], spec["stride"], "valid",
            activation=spec["activation"], data_format="channels_last"))

    def mha(self, spec: Spec) -> Made:
        shape = (None, spec["seq_len"], spec["d_model"])
        m = self._built(keras.layers.MultiHeadAttention(spec["num_heads"], spec["head_dim"]),
                        shape, shape)

        def weights() -> Dict[str, Any]:
            held, made = m.get_weights(), {}
            for role, w, b in zip("qkv", held[0:6:2], held[1:6:2]):
                made.update({role + "_weights": w.reshape(spec["d_model"], -1).T,
                             role + "_bias": b})
            return {**made, "o_weights": held[6].reshape(-1, spec["d_model"]).T, "o_bias": held[7]}

        return Made(lambda x: m(x, x), weights, m)

    def _cell(self, kind: Any, spec: Spec,
              weights: Callable[..., Dict[str, Any]]) -> Made:
        m = self._built(kind(spec["hidden_size"], return_sequences=True),
                        (None, spec["seq_len"], spec["input_size"]))
        return Made(m, lambda: weights(*m.get_weights()), m)

    def lstm(self, spec: Spec) -> Made:
        return self._cell(keras.layers.LSTM, spec, lambda w, u, b: lstm_weights(
            np.split(w.T, 4), np.split(u.T, 4), np.split(b, 4)))

    def rnn(self, spec: Spec) -> Made:
        return self._cell(keras.layers.SimpleRNN, spec, lambda w, u, b: {
            "weights": gates([w.T], [u.T], [b])[0]})

    def layernorm(self, spec: Spec) -> Made:
        m = self._built(keras.layers.LayerNormalization(epsilon=1e-5), (None, None, spec["dim"]))
        return Made(m, lambda: {"weights": np.concatenate(m.get_weights())}, m)

    def rmsnorm(self, spec: Spec) -> Made:
        m = self._built(keras.layers.RMSNormalization(epsilon=1e-6), (None, None, spec["dim"]))
        return Made(m, lambda: {"weights": m.get_weights()[0]}, m)

    def embedding(self, spec: Spec) -> Made:
        m = self._built(keras.layers.Embedding(spec["vocab_size"], spec["embedding_dim"]), (None,))
        return Made(m, lambda: {"weights": m.get_weights()[0]}, m)

    def swiglu(self, spec: Spec) -> Made:
        dim, hidden = spec["input_dim"], spec["intermediate_dim"]
        gate, up, down = (self._built(keras.layers.Dense(out), (None, None, width))
                          for out, width in ((hidden, dim), (hidden, dim), (dim, hidden)))

        def weights() -> Dict[str, Any]:
            held = [m.get_weights() for m in (gate, up, down)]
            return swiglu_weights([w.T for w, _ in held], [b for _, b in held])

        return Made(lambda x: down(ops.silu(gate(x)) * up(x)), weights)

    def add(self, a: Any, b: Any) -> Any:
        return keras.layers.Add()([a, b])

    def softmax(self, spec: Spec) -> Made:
        return Made(keras.layers.Softmax(), dict)

    def train(self, model: BedrockModel, layers: Sequence[Made], training: Training) -> None:
        keras.utils.set_random_seed(42)
        net = keras.Sequential([keras.Input(model.inputs[0]), *(made.layer for made in layers)])
        net.compile(optimizer=keras.optimizers.Adam(training.learning_rate), loss="mse")
        net.fit(training.x.astype(np.float32), training.y.astype(np.float32),
                batch_size=training.batch_size, epochs=training.epochs, verbose=0)


def make_planet() -> Planet:
    return Keras()
