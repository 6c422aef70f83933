"""The bedrocks in NumPy, float64: a reference that needs no framework."""
from __future__ import annotations

from itertools import product
from typing import Any, Callable, Dict, Sequence, Tuple

import numpy as np

from ..bedrocks import BedrockModel
from .chain import Made, Planet, Spec, Training


def _sigmoid(x: np.ndarray) -> np.ndarray:
    out: np.ndarray = 0.5 * (1.0 + np.tanh(0.5 * x))
    return out


_ACTIVATIONS: Dict[str, Callable[[Any], Any]] = {
    "linear": lambda x: x, "relu": lambda x: np.maximum(x, 0.0), "tanh": np.tanh,
    "sigmoid": _sigmoid}


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    out: np.ndarray = e / e.sum(-1, keepdims=True)
    return out


def _conv(x: np.ndarray, w: np.ndarray, stride: int, padding: int) -> np.ndarray:
    """x [samples, channels, space...], w [filters, channels, kernel...]."""
    rank = w.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(padding, padding)] * rank)
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], tuple(range(2, 2 + rank)))
    windows = windows[(slice(None),) * 2 + (slice(None, None, stride),) * rank]
    axes = [1] + list(range(2 + rank, 2 + 2 * rank))
    return np.moveaxis(np.tensordot(windows, w, (axes, list(range(1, w.ndim)))), -1, 1)


def _conv_transpose(x: np.ndarray, w: np.ndarray, stride: int, padding: int) -> np.ndarray:
    """Each number of the input adds its multiple of the kernel to the output."""
    rank, kernel = w.ndim - 2, w.shape[2]
    space: Tuple[int, ...] = x.shape[2:]
    y = np.zeros((len(x), len(w)) + tuple((n - 1) * stride + kernel for n in space))
    whole: Tuple[Any, ...] = (slice(None), slice(None))
    for tap in product(range(kernel), repeat=rank):
        place = tuple(slice(t, t + (n - 1) * stride + 1, stride) for t, n in zip(tap, space))
        y[whole + place] += np.moveaxis(np.tensordot(x, w[whole + tap], ([1], [1])), -1, 1)
    return y[whole + tuple(slice(padding, n - padding) for n in y.shape[2:])]


class Reference(Planet):
    framework = "numpy " + np.__version__

    def tensor(self, x: np.ndarray, ids: bool) -> Any:
        # Frameworks take f32: what it rounds is no difference of theirs.
        return x.astype(np.int64) if ids else x.astype(np.float32).astype(np.float64)

    def train(self, model: BedrockModel, layers: Sequence[Made], training: Training) -> None:
        raise ValueError("the NumPy reference does not train")

    def _draw(self, *shape: int) -> np.ndarray:
        """Weights that f32 holds, of about the size that frameworks begin with."""
        fan = int(np.prod(shape[1:])) or 1
        drawn = self.rng.standard_normal(shape) / np.sqrt(fan if len(shape) > 1 else 100)
        return drawn.astype(np.float32).astype(np.float64)

    def dense(self, spec: Spec) -> Made:
        w = self._draw(spec["output_dim"], spec["input_dim"])
        b = self._draw(spec["output_dim"]) if spec["use_bias"] else None
        act = _ACTIVATIONS[spec["activation"]]
        return Made(lambda x: act(x @ w.T + (0.0 if b is None else b)),
                    lambda: {"weights": w, "bias": b})

    def cnn(self, spec: Spec) -> Made:
        rank = int(spec["kind"][-1])
        w = self._draw(spec["filters"], spec["in_channels"], *[spec["kernel_size"]] * rank)
        act = _ACTIVATIONS[spec["activation"]]
        return Made(lambda x: act(_conv(x, w, spec["stride"], spec["padding"])),
                    lambda: {"weights": w})

    def convt(self, spec: Spec) -> Made:
        rank = int(spec["kind"][-1])
        w = self._draw(spec["filters"], spec["in_channels"], *[spec["kernel_size"]] * rank)
        b = self._draw(spec["filters"])
        act = _ACTIVATIONS[spec["activation"]]
        return Made(lambda x: act(_conv_transpose(x, w, spec["stride"], spec["padding"])
                                  + b.reshape((-1,) + (1,) * rank)),
                    lambda: {"weights": w, "bias": b})

    def mha(self, spec: Spec) -> Made:
        width, heads = spec["d_model"], spec["num_heads"]
        matrix = {role: self._draw(width, width) for role in "qkvo"}
        bias = {role: self._draw(width) for role in "qkvo"}

        def run(x: np.ndarray) -> np.ndarray:
            q, k, v = ((x @ matrix[role].T + bias[role]).reshape(
                x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3) for role in "qkv")
            scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(width // heads)
            mixed = (_softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(x.shape)
            out: np.ndarray = mixed @ matrix["o"].T + bias["o"]
            return out

        return Made(run, lambda: {**{r + "_weights": a for r, a in matrix.items()},
                                  **{r + "_bias": a for r, a in bias.items()}})

    def _cell(self, spec: Spec, count: int) -> Any:
        features, hidden = spec["input_size"], spec["hidden_size"]
        return [(self._draw(hidden, features), self._draw(hidden, hidden), self._draw(hidden))
                for _ in range(count)]

    @staticmethod
    def _flat(parts: Any) -> np.ndarray:
        return np.concatenate([part.reshape(-1) for part in parts])

    def rnn(self, spec: Spec) -> Made:
        w_ih, w_hh, b = parts = self._cell(spec, 1)[0]

        def run(x: np.ndarray) -> np.ndarray:
            h, out = np.zeros((len(x), len(b))), []
            for t in range(x.shape[1]):
                h = np.tanh(x[:, t] @ w_ih.T + h @ w_hh.T + b)
                out.append(h)
            return np.stack(out, 1)

        return Made(run, lambda: {"weights": self._flat(parts)})

    def lstm(self, spec: Spec) -> Made:
        cells = dict(zip("ifgo", self._cell(spec, 4)))

        def run(x: np.ndarray) -> np.ndarray:
            h = c = np.zeros((len(x), spec["hidden_size"]))
            out = []
            for t in range(x.shape[1]):
                i, f, g, o = (x[:, t] @ w.T + h @ u.T + b for w, u, b in cells.values())
                c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
                h = _sigmoid(o) * np.tanh(c)
                out.append(h)
            return np.stack(out, 1)

        return Made(run, lambda: {gate + "_weights": self._flat(parts)
                                  for gate, parts in cells.items()})

    def layernorm(self, spec: Spec) -> Made:
        gain, bias = 1 + self._draw(spec["dim"]), self._draw(spec["dim"])
        gain = gain.astype(np.float32).astype(np.float64)

        def run(x: np.ndarray) -> np.ndarray:
            at = x - x.mean(-1, keepdims=True)
            out: np.ndarray = at / np.sqrt((at ** 2).mean(-1, keepdims=True) + 1e-5) * gain + bias
            return out

        return Made(run, lambda: {"weights": np.concatenate([gain, bias])})

    def rmsnorm(self, spec: Spec) -> Made:
        gain = (1 + self._draw(spec["dim"])).astype(np.float32).astype(np.float64)
        return Made(lambda x: x / np.sqrt((x ** 2).mean(-1, keepdims=True) + 1e-6) * gain,
                    lambda: {"weights": gain})

    def embedding(self, spec: Spec) -> Made:
        table = self._draw(spec["vocab_size"], spec["embedding_dim"])
        return Made(lambda ids: table[ids], lambda: {"weights": table})

    def swiglu(self, spec: Spec) -> Made:
        dim, hidden = spec["input_dim"], spec["intermediate_dim"]
        gate, up, down = self._draw(hidden, dim), self._draw(hidden, dim), self._draw(dim, hidden)
        biases = [self._draw(hidden), self._draw(hidden), self._draw(dim)]

        def run(x: np.ndarray) -> np.ndarray:
            g = x @ gate.T + biases[0]
            out: np.ndarray = (g * _sigmoid(g) * (x @ up.T + biases[1])) @ down.T + biases[2]
            return out

        return Made(run, lambda: {"weights": self._flat([gate, up, down, *biases])})

    def softmax(self, spec: Spec) -> Made:
        return Made(_softmax, dict)


def make_planet() -> Planet:
    return Reference()
