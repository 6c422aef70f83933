"""Keras' activations: functions of single numbers, and a few over an axis."""
from __future__ import annotations

from typing import Any, Callable, Dict, Optional

from ..graph.cells import Tensor, Value
from ..graph.laid import by_itself
from .walk import Walk

# Those that a dense layer computes itself.
OWN = {"linear": "linear", "relu": "relu", "tanh": "tanh", "sigmoid": "sigmoid", "silu": "silu",
       "softplus": "softplus", "mish": "mish"}

_UNARY: Dict[str, Any] = {
    "elu": ("elu", 1.0, 0.0), "selu": ("selu", 1.6732632423543772, 1.0507009873554805),
    "celu": ("celu", 1.0, 0.0), "softsign": ("softsign", 0.0, 0.0),
    "exponential": ("exp", 0.0, 0.0), "hard_sigmoid": ("hard_sigmoid", 1 / 6, 0.5),
    "hard_silu": ("hard_swish", 1 / 6, 0.5), "relu6": ("clip", 0.0, 6.0),
    "hard_tanh": ("clip", -1.0, 1.0), "leaky_relu": ("leaky_relu", 0.2, 0.0),
    "hard_shrink": ("shrink", 0.5, 0.0), "soft_shrink": ("shrink", 0.5, 0.5)}


def _log_sigmoid(w: Walk, x: Value) -> Value:
    return w.unary(w.g.activation(w.unary(x, "neg"), "softplus"), "neg")


def _squareplus(w: Walk, x: Value) -> Value:
    root = w.unary(w.plus(w.unary(x, "square"), 4.0), "sqrt")
    return w.scaled(w.two(x, root, "add"), 0.5)


_MADE: Dict[str, Callable[[Walk, Value], Value]] = {
    "log_sigmoid": _log_sigmoid, "squareplus": _squareplus,
    "tanh_shrink": lambda w, x: w.two(x, w.g.activation(x, "tanh"), "sub"),
    "sparse_sigmoid": lambda w, x: w.unary(w.plus(w.scaled(x, 0.5), 0.5), "clip", 0.0, 1.0)}


def name_of(activation: Any) -> Optional[str]:
    """Keras' own name of a function, None for another."""
    if activation is None:
        return "linear"
    kind = activation if isinstance(activation, type) else getattr(activation, "__func__",
                                                                   activation)
    module = str(getattr(kind, "__module__", ""))
    if isinstance(kind, (str, bytes)) or not module.startswith("keras."):
        return None
    return str(getattr(kind, "__name__", "")) or None


def activate(w: Walk, x: Tensor, activation: Any) -> Value:
    """A function, or an activation layer, as Dense and Activation have them."""
    import keras
    if isinstance(activation, keras.layers.Layer):
        from .model import call
        return w.g.value(call(w, activation, x))
    name = name_of(activation)
    if name is None:
        raise w.refuse("the activation %s" % getattr(activation, "__name__", activation),
                       "a function of the model's code")
    return by_name(w, x, name)


def by_name(w: Walk, x: Tensor, name: str) -> Value:
    x = w.value(x)
    if name == "linear":
        return x
    if name in ("softmax", "log_softmax"):
        return w.g.softmax(x, -1, log=name == "log_softmax")
    kind = {"gelu": "gelu_erf", **OWN}.get(name)
    if kind is not None:
        return by_itself(x, w.g, lambda v: w.g.activation(v, str(kind)))
    if name in _UNARY:
        op, a, b = _UNARY[name]
        return w.unary(x, op, a, b)
    if name in _MADE:
        return by_itself(x, w.g, lambda v: _MADE[name](w, v))
    if name == "glu":
        from .operations import halves
        a, b = halves(w, x, -1)
        return w.two(a, w.g.activation(b, "sigmoid"), "mul")
    raise w.refuse("the activation %s" % name, "no layer of Loom computes it")


def relu(w: Walk, x: Value, slope: float, ceiling: Optional[float], threshold: float) -> Value:
    """Keras' relu: below the threshold slope * (x - threshold), x above, at most `ceiling`."""
    if not slope and not threshold and ceiling is None:
        return by_name(w, x, "relu")
    if not threshold:
        made = w.unary(x, "leaky_relu", slope) if slope else by_name(w, x, "relu")
        return made if ceiling is None else w.two(made, w.g.number(ceiling), "min")
    shifted = w.plus(x, -threshold)
    below = w.scaled(w.unary(shifted, "clip", -3.4e38, 0.0), slope)
    reached = w.two(x, w.g.number(threshold), "greater_equal")
    over = x if ceiling is None else w.two(x, w.g.number(ceiling), "min")
    return w.g.select(reached, over, below)
