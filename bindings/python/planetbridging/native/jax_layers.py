"""Flax's own layers."""
from __future__ import annotations

import importlib
from typing import Any, Callable, Dict, List, Sequence

import numpy as np

from ..bedrocks import BedrockModel
from .chain import Made, Planet, Spec, Training, gates, lstm_weights, swiglu_weights

jax: Any = importlib.import_module("jax")
nn: Any = importlib.import_module("flax.linen")
jnp: Any = jax.numpy
_ACTIVATIONS: Dict[str, Callable[[Any], Any]] = {
    "linear": lambda x: x, "relu": jax.nn.relu, "tanh": jnp.tanh, "sigmoid": jax.nn.sigmoid}


class _Held:
    """A module and its parameters."""

    def __init__(self, module: Any, params: Any) -> None:
        self.module, self.params = module, params

    def __call__(self, *x: Any) -> Any:
        return self.module.apply({"params": self.params}, *x)

    def of(self, *path: str) -> np.ndarray:
        found = self.params
        for name in path:
            found = found[name]
        return np.asarray(found)


def _front(kernel: np.ndarray) -> np.ndarray:
    """[space..., channels, filters] as [filters, channels, space...]."""
    rank = kernel.ndim - 2
    return kernel.transpose((rank + 1, rank, *range(rank)))


class Jax(Planet):
    framework = "jax %s, flax %s" % (jax.__version__, importlib.import_module("flax").__version__)

    def tensor(self, x: np.ndarray, ids: bool) -> Any:
        return jnp.asarray(x.astype(np.int32 if ids else np.float32))

    def _held(self, module: Any, *shapes: Sequence[int], ids: bool = False) -> _Held:
        key = jax.random.PRNGKey(int(self.rng.integers(1 << 31)))
        given = [jnp.zeros((1, *shape), jnp.int32 if ids else jnp.float32) for shape in shapes]
        params = module.init(key, *given).get("params", {})
        return _Held(module, jax.tree_util.tree_map(lambda a: jnp.asarray(self.moved(a)), params))

    def dense(self, spec: Spec) -> Made:
        m = self._held(nn.Dense(spec["output_dim"], use_bias=spec["use_bias"]),
                       (spec["input_dim"],))
        act = _ACTIVATIONS[spec["activation"]]
        return Made(lambda x: act(m(x)), lambda: {
            "weights": m.of("kernel").T, "bias": m.of("bias") if spec["use_bias"] else None},
            (m, act))

    def _channels_last(self, spec: Spec, module: Any, turned: bool) -> Made:
        rank = int(spec["kind"][-1])
        sizes = [spec["input_" + a] for a in {1: ("length",), 2: ("height", "width"),
                                              3: ("depth", "height", "width")}[rank]]
        m = self._held(module, (*sizes, spec["in_channels"]))
        act = _ACTIVATIONS[spec["activation"]]

        def weights() -> Dict[str, Any]:
            kernel = _front(m.of("kernel"))
            if turned:  # Flax's transposed convolution takes its kernel from behind
                kernel = np.flip(kernel, tuple(range(2, kernel.ndim)))
            return {"weights": kernel, "bias": m.of("bias") if turned else None}

        return Made(lambda x: jnp.moveaxis(act(m(jnp.moveaxis(x, 1, -1))), -1, 1), weights)

    def cnn(self, spec: Spec) -> Made:
        rank = int(spec["kind"][-1])
        return self._channels_last(spec, nn.Conv(
            spec["filters"], (spec["kernel_size"],) * rank, (spec["stride"],) * rank, "VALID",
            use_bias=False), False)

    def convt(self, spec: Spec) -> Made:
        rank = int(spec["kind"][-1])
        return self._channels_last(spec, nn.ConvTranspose(
            spec["filters"], (spec["kernel_size"],) * rank, (spec["stride"],) * rank, "VALID"),
            True)

    def mha(self, spec: Spec) -> Made:
        width = spec["d_model"]
        m = self._held(nn.MultiHeadDotProductAttention(spec["num_heads"]),
                       (spec["seq_len"], width))

        def weights() -> Dict[str, Any]:
            made: Dict[str, Any] = {}
            for role, name in zip("qkv", ("query", "key", "value")):
                made.update({role + "_weights": m.of(name, "kernel").reshape(width, -1).T,
                             role + "_bias": m.of(name, "bias")})
            return {**made, "o_weights": m.of("out", "kernel").reshape(-1, width).T,
                    "o_bias": m.of("out", "bias")}

        return Made(m, weights)

    def lstm(self, spec: Spec) -> Made:
        m = self._held(nn.RNN(nn.OptimizedLSTMCell(spec["hidden_size"]), name="rnn"),
                       (spec["seq_len"], spec["input_size"]))
        return Made(m, lambda: lstm_weights(
            [m.of("cell", "i" + g, "kernel").T for g in "ifgo"],
            [m.of("cell", "h" + g, "kernel").T for g in "ifgo"],
            [m.of("cell", "h" + g, "bias") for g in "ifgo"]))

    def rnn(self, spec: Spec) -> Made:
        m = self._held(nn.RNN(nn.SimpleCell(spec["hidden_size"])),
                       (spec["seq_len"], spec["input_size"]))

        def weights() -> Dict[str, Any]:
            bias = sum((m.of("cell", part, "bias") for part in "ih"
                        if "bias" in m.params["cell"][part]),
                       np.zeros(spec["hidden_size"], np.float32))
            return {"weights": gates([m.of("cell", "i", "kernel").T],
                                     [m.of("cell", "h", "kernel").T], [bias])[0]}

        return Made(m, weights)

    def layernorm(self, spec: Spec) -> Made:
        # Its fast variance, E[x^2] - E[x]^2, is the default, and of f32 rows with a large mean off
        # by up to 1e-4 from what the same formula makes in f64; this is the same layer without it.
        m = self._held(nn.LayerNorm(epsilon=1e-5, use_fast_variance=False), (spec["dim"],))
        return Made(m, lambda: {"weights": np.concatenate([m.of("scale"), m.of("bias")])})

    def rmsnorm(self, spec: Spec) -> Made:
        m = self._held(nn.RMSNorm(epsilon=1e-6), (spec["dim"],))
        return Made(m, lambda: {"weights": m.of("scale")})

    def embedding(self, spec: Spec) -> Made:
        m = self._held(nn.Embed(spec["vocab_size"], spec["embedding_dim"]), (1,), ids=True)
        return Made(m, lambda: {"weights": m.of("embedding")})

    def swiglu(self, spec: Spec) -> Made:
        dim, hidden = spec["input_dim"], spec["intermediate_dim"]
        gate, up, down = (self._held(nn.Dense(out), (width,))
                          for out, width in ((hidden, dim), (hidden, dim), (dim, hidden)))
        parts = (gate, up, down)
        return Made(lambda x: down(jax.nn.silu(gate(x)) * up(x)),
                    lambda: swiglu_weights([p.of("kernel").T for p in parts],
                                           [p.of("bias") for p in parts]))

    def softmax(self, spec: Spec) -> Made:
        return Made(jax.nn.softmax, dict)

    def train(self, model: BedrockModel, layers: Sequence[Made], training: Training) -> None:
        """Adam, as in the other frameworks, in a few lines: optax may not be here."""
        held: List[_Held] = [made.layer[0] for made in layers]
        acts = [made.layer[1] for made in layers]
        modules = [m.module for m in held]
        tree = jax.tree_util.tree_map

        def loss(params: Any, x: Any, y: Any) -> Any:
            for module, p, act in zip(modules, params, acts):
                x = act(module.apply({"params": p}, x))
            return ((x - y) ** 2).mean()

        def step(params: Any, m: Any, v: Any, t: Any, x: Any, y: Any) -> Any:
            g = jax.grad(loss)(params, x, y)
            m = tree(lambda a, b: 0.9 * a + 0.1 * b, m, g)
            v = tree(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
            rate = training.learning_rate * jnp.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
            params = tree(lambda p, a, b: p - rate * a / (jnp.sqrt(b) + 1e-8), params, m, v)
            return params, m, v

        compiled = jax.jit(step)
        params = [m.params for m in held]
        m = v = tree(jnp.zeros_like, params)
        x, y = training.x.astype(np.float32), training.y.astype(np.float32)
        order, t = np.random.default_rng(42), 0
        for _ in range(training.epochs):
            places = order.permutation(len(x))
            for begin in range(0, len(x) - training.batch_size + 1, training.batch_size):
                t += 1
                rows = places[begin:begin + training.batch_size]
                params, m, v = compiled(params, m, v, t, x[rows], y[rows])
        for one, p in zip(held, params):
            one.params = p


def make_planet() -> Planet:
    return Jax()
