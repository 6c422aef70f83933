"""Functions of single numbers, of two tensors, and over axes."""
from __future__ import annotations

import math
from typing import Any, List, Optional

import numpy as np

from ..graph import Constant, Tensor, Value
from ..graph.shape import size_of
from .walk import Args, Walk, rule

_UNARY = {"abs": "abs", "neg": "neg", "sqrt": "sqrt", "reciprocal": "reciprocal", "exp": "exp",
          "log": "log", "floor": "floor", "ceil": "ceil", "sign": "sign", "sgn": "sign",
          "erf": "erf", "sin": "sin", "cos": "cos", "trunc": "trunc", "fix": "trunc",
          "logical_not": "not", "bitwise_not": "not", "isnan": "is_nan", "square": "square",
          "special_erf": "erf"}
_ACTIVATIONS = {"relu": "relu", "tanh": "tanh", "sigmoid": "sigmoid", "silu": "silu",
                "mish": "mish", "special_expit": "sigmoid"}
_COMPARED = {"eq": "equal", "lt": "less", "le": "less_equal", "gt": "greater",
             "ge": "greater_equal", "logical_and": "and", "logical_or": "or",
             "logical_xor": "xor", "maximum": "max", "minimum": "min", "fmax": "max",
             "fmin": "min", "mul": "mul"}


def _unary(op: str) -> Any:
    def run(w: Walk, a: Args) -> Any:
        if op == "not" and "bitwise" in w.operator() and w.node.meta["val"].dtype != w.torch.bool:
            raise w.refuse("bits of whole numbers")
        return w.g.unary(a.self, op)
    return run


for _name, _op in _UNARY.items():
    rule(_name)(_unary(_op))
for _name, _op in _ACTIVATIONS.items():
    rule(_name)(lambda w, a, op=_op: w.g.activation(a.self, op))  # type: ignore[misc]
for _name, _op in _COMPARED.items():
    rule(_name)(lambda w, a, op=_op: w.g.binary(  # type: ignore[misc]
        w.tensor(a.self), w.tensor(a.other), op))


def scaled(w: Walk, x: Tensor, factor: Any) -> Tensor:
    return x if factor == 1 else w.g.binary(x, w.tensor(factor), "mul")


@rule("bitwise_and", "bitwise_or", "bitwise_xor", "__and__", "__or__", "__xor__")
def _bits(w: Walk, a: Args) -> Any:
    if w.node.meta["val"].dtype != w.torch.bool:
        raise w.refuse("bits of whole numbers")
    op = next(o for o in ("xor", "and", "or") if o in w.operator())
    return w.g.binary(w.tensor(a.self), w.tensor(a.other), op)


@rule("ne")
def _ne(w: Walk, a: Args) -> Any:
    return w.g.unary(w.g.binary(w.tensor(a.self), w.tensor(a.other), "equal"), "not")


@rule("add", "sub")
def _add(w: Walk, a: Args) -> Any:
    op = "add" if ".add." in w.operator() else "sub"
    return w.g.binary(w.tensor(a.self), scaled(w, w.tensor(a.other), a.alpha), op)


@rule("rsub")
def _rsub(w: Walk, a: Args) -> Any:
    return w.g.binary(w.tensor(a.other), scaled(w, w.tensor(a.self), a.alpha), "sub")


@rule("div", "true_divide")
def _div(w: Walk, a: Args) -> Any:
    made = w.g.binary(w.tensor(a.self), w.tensor(a.other), "div")
    mode = a.get("rounding_mode")
    return made if mode is None else w.g.unary(made, mode)


@rule("floor_divide")
def _floor_divide(w: Walk, a: Args) -> Any:
    return w.g.unary(w.g.binary(w.tensor(a.self), w.tensor(a.other), "div"), "floor")


@rule("remainder", "fmod")
def _remainder(w: Walk, a: Args) -> Any:
    x, y = w.tensor(a.self), w.tensor(a.other)
    whole = w.g.unary(w.g.binary(x, y, "div"), "trunc" if "fmod" in w.operator() else "floor")
    return w.g.binary(x, w.g.binary(whole, y, "mul"), "sub")


@rule("pow")
def _pow(w: Walk, a: Args) -> Any:
    x, e = w.tensor(a.self), a.exponent
    if isinstance(e, Constant) and not e.trainable and e.array.ndim == 0:
        e = float(e.array)
    if isinstance(e, (int, float)):
        if e in (1, 2, 0.5, -1):
            return x if e == 1 else w.g.unary(
                x, {2: "square", 0.5: "sqrt", -1: "reciprocal"}[e])
        if e == -0.5:
            return w.g.unary(w.g.unary(x, "sqrt"), "reciprocal")
        if e in (3, 4):
            square = w.g.unary(x, "square")
            return w.g.unary(square, "square") if e == 4 else w.g.binary(square, x, "mul")
    return w.g.binary(x, w.tensor(e), "pow")


@rule("rsqrt")
def _rsqrt(w: Walk, a: Args) -> Any:
    return w.g.unary(w.g.unary(a.self, "sqrt"), "reciprocal")


@rule("log2", "log10", "log1p", "exp2", "expm1", "tan", "sinh", "cosh", "erfc")
def _made_of_others(w: Walk, a: Args) -> Any:
    g, x, name = w.g, a.self, w.operator().split(".")[1]
    one = w.tensor(1.0)
    if name in ("log2", "log10"):
        return scaled(w, g.unary(x, "log"), 1 / math.log(2 if name == "log2" else 10))
    if name == "log1p":
        return g.unary(g.binary(x, one, "add"), "log")
    if name == "exp2":
        return g.unary(scaled(w, x, math.log(2)), "exp")
    if name == "expm1":
        return g.binary(g.unary(x, "exp"), one, "sub")
    if name == "tan":
        return g.binary(g.unary(x, "sin"), g.unary(x, "cos"), "div")
    if name == "erfc":
        return g.binary(one, g.unary(x, "erf"), "sub")
    other = g.unary(g.unary(x, "neg"), "exp")
    return scaled(w, g.binary(g.unary(x, "exp"), other, "sub" if name == "sinh" else "add"), 0.5)


@rule("round")
def _round(w: Walk, a: Args) -> Any:
    if a.get("decimals"):
        raise w.refuse("decimals")
    return w.g.unary(a.self, "round")


@rule("clamp", "clamp_min", "clamp_max", "clip", "hardtanh")
def _clamp(w: Walk, a: Args) -> Any:
    low = a.get("min", a.get("min_val"))
    high = a.get("max", a.get("max_val"))
    if isinstance(low, (Value, Constant)) or isinstance(high, (Value, Constant)):
        made = w.tensor(a.self)
        made = made if low is None else w.g.binary(made, w.tensor(low), "max")
        return made if high is None else w.g.binary(made, w.tensor(high), "min")
    if low is not None and high is not None:
        return w.g.unary(a.self, "clip", low, high)
    return w.g.binary(w.tensor(a.self), w.tensor(high if low is None else low),
                      "min" if low is None else "max")


@rule("relu6")
def _relu6(w: Walk, a: Args) -> Any:
    return w.g.unary(a.self, "clip", 0, 6)


@rule("gelu")
def _gelu(w: Walk, a: Args) -> Any:
    return w.g.activation(a.self, "gelu_tanh" if a.approximate == "tanh" else "gelu_erf")


@rule("leaky_relu")
def _leaky(w: Walk, a: Args) -> Any:
    return w.g.unary(a.self, "leaky_relu", a.negative_slope)


@rule("rrelu", "rrelu_with_noise", "rrelu_with_noise_functional")
def _rrelu(w: Walk, a: Args) -> Any:
    w.differs("RReLU draws its slopes")
    made = w.g.unary(a.self, "leaky_relu", (a.lower + a.upper) / 2)
    return made if w.operator().startswith("aten.rrelu.") else [made, None]


@rule("elu")
def _elu(w: Walk, a: Args) -> Any:
    alpha, scale, inner = a.alpha, a.scale, a.input_scale
    if inner != 1:  # celu
        if abs(inner * alpha - 1) < 1e-6 and scale == 1:
            return w.g.unary(a.self, "celu", alpha)
        raise w.refuse("input_scale")
    return w.g.unary(a.self, "elu", alpha) if scale == 1 else w.g.unary(
        a.self, "selu", alpha, scale)


@rule("selu")
def _selu(w: Walk, a: Args) -> Any:
    return w.g.unary(a.self, "selu", 1.6732632423543772, 1.0507009873554805)


@rule("celu")
def _celu(w: Walk, a: Args) -> Any:
    return w.g.unary(a.self, "celu", a.alpha)


@rule("hardswish")
def _hardswish(w: Walk, a: Args) -> Any:
    return w.g.unary(a.self, "hard_swish")


@rule("hardsigmoid")
def _hardsigmoid(w: Walk, a: Args) -> Any:
    return w.g.unary(a.self, "hard_sigmoid", 1 / 6, 0.5)


@rule("softplus")
def _softplus(w: Walk, a: Args) -> Any:
    inner = scaled(w, a.self, a.beta)
    made = scaled(w, w.g.activation(inner, "softplus"), 1 / a.beta)
    if a.threshold >= 15:  # there it is the number itself in f32
        return made
    beyond = w.g.binary(inner, w.tensor(a.threshold), "greater")
    return w.g.select(beyond, a.self, made)


@rule("log_sigmoid", "log_sigmoid_forward")
def _log_sigmoid(w: Walk, a: Args) -> Any:
    made = w.g.unary(w.g.activation(w.g.unary(a.self, "neg"), "softplus"), "neg")
    return [made, None] if "forward" in w.operator() else made


@rule("softshrink", "hardshrink")
def _shrink(w: Walk, a: Args) -> Any:
    return w.g.unary(a.self, "shrink", a.lambd, a.lambd if "soft" in w.operator() else 0)


@rule("threshold")
def _threshold(w: Walk, a: Args) -> Any:
    if a.value == 0:
        return w.g.unary(a.self, "thresholded_relu", a.threshold)
    above = w.g.binary(a.self, w.tensor(a.threshold), "greater")
    return w.g.select(above, a.self, w.tensor(a.value))


@rule("prelu", "_prelu_kernel")
def _prelu(w: Walk, a: Args) -> Any:
    slope = w.tensor(a.weight)
    if len(slope.shape) == 1 and len(a.self.shape) > 1 and w.operator().startswith("aten.prelu"):
        n = size_of(slope.shape[0])
        slope = w.g.reshape(slope, [1, n] + [1] * (len(a.self.shape) - 2) if n > 1 else [1])
    return w.g.binary(a.self, slope, "prelu")


@rule("glu")
def _glu(w: Walk, a: Args) -> Any:
    n = size_of(a.self.shape[a.dim]) // 2
    first, second = (w.g.take(a.self, a.dim, np.arange(n) + i * n) for i in (0, 1))
    return w.g.binary(first, w.g.activation(second, "sigmoid"), "mul")


@rule("softmax", "_softmax", "special_softmax")
def _softmax(w: Walk, a: Args) -> Any:
    return w.g.softmax(a.self, a.dim)


@rule("log_softmax", "_log_softmax", "special_log_softmax")
def _log_softmax(w: Walk, a: Args) -> Any:
    return w.g.softmax(a.self, a.dim, log=True)


@rule("where")
def _where(w: Walk, a: Args) -> Any:
    if a.get("self") is None:
        raise w.refuse("its shape depends on data")
    return w.g.select(a.condition, w.tensor(a.self), w.tensor(a.other))


@rule("masked_fill")
def _masked_fill(w: Walk, a: Args) -> Any:
    return w.g.select(w.tensor(a.mask), w.tensor(a.value), w.tensor(a.self))


@rule("lerp")
def _lerp(w: Walk, a: Args) -> Any:
    x, weight = w.tensor(a.self), w.tensor(a.weight)
    return w.g.binary(x, w.g.binary(w.g.binary(w.tensor(a.end), x, "sub"), weight, "mul"), "add")


@rule("addcmul", "addcdiv")
def _addc(w: Walk, a: Args) -> Any:
    made = w.g.binary(w.tensor(a.tensor1), w.tensor(a.tensor2), w.operator()[9:12])
    return w.g.binary(w.tensor(a.self), scaled(w, made, a.value), "add")


# ---- over axes


def axes_of(a: Args) -> Optional[List[int]]:
    dims = a.get("dim")
    if dims is None or dims == []:
        return None
    return [dims] if isinstance(dims, int) else list(dims)


def _reduced(op: str) -> Any:
    return lambda w, a: w.g.reduce(a.self, op, axes_of(a), a.get("keepdim", False))


for _name, _op in {"sum": "sum", "mean": "mean", "amax": "max", "amin": "min", "prod": "prod",
                   "logsumexp": "log_sum_exp", "argmax": "argmax", "argmin": "argmin",
                   "any": "max", "all": "min", "max.default": "max", "min.default": "min"}.items():
    rule(_name)(_reduced(_op))


@rule("max.other", "min.other")
def _two(w: Walk, a: Args) -> Any:
    return w.g.binary(w.tensor(a.self), w.tensor(a.other), w.operator()[5:8])


@rule("max.dim", "min.dim")
def _with_places(w: Walk, a: Args) -> Any:
    op = w.operator()[5:8]
    return [w.g.reduce(a.self, kind, [a.dim], a.keepdim) if w.used(i) else None
            for i, kind in enumerate((op, "arg" + op))]


@rule("var", "std", "var_mean", "std_mean")
def _var(w: Walk, a: Args) -> Any:
    g, x, axes = w.g, w.g.value(a.self), axes_of(a)
    axes = list(range(len(x.shape))) if axes is None else axes
    n = int(np.prod([size_of(x.shape[i]) for i in axes]))
    correction = a.get("correction", 1 if a.get("unbiased", True) else 0)
    correction = 1 if correction is None else correction
    mean = g.reduce(x, "mean", axes, True)
    square = g.unary(g.binary(x, mean, "sub"), "square")
    made = scaled(w, g.reduce(square, "mean", axes, a.keepdim), n / (n - correction))
    if "std" in w.operator():
        made = g.unary(made, "sqrt")
    return [made, g.reduce(x, "mean", axes, a.keepdim)] if "_mean" in w.operator() else made


@rule("linalg_vector_norm", "norm", "frobenius_norm")
def _norm(w: Walk, a: Args) -> Any:
    g, p = w.g, a.get("ord", a.get("p", 2))
    p, axes, keep = 2 if p is None else p, axes_of(a), a.get("keepdim", False)
    if p in (1, 2):
        return g.reduce(a.self, "l%d" % p, axes, keep)
    size = g.unary(a.self, "abs")
    if p in (math.inf, -math.inf):
        return g.reduce(size, "max" if p > 0 else "min", axes, keep)
    powers = g.reduce(g.binary(size, w.tensor(float(p)), "pow"), "sum", axes, keep)
    return g.binary(powers, w.tensor(1 / p), "pow")


@rule("cumsum")
def _cumsum(w: Walk, a: Args) -> Any:
    g, x, axis = w.g, a.self, a.dim % len(a.self.shape)
    n, last = size_of(x.shape[axis]), len(x.shape) - 1
    order = [i for i in range(last + 1) if i != axis] + [axis]
    upper = Constant.of(np.triu(np.ones((n, n), np.float32)))
    moved = g.transpose(x, order)
    if last == 0:
        raise w.refuse("over one axis")
    return g.transpose(g.dense(g.value(moved), upper.transposed()),
                       [order.index(i) for i in range(last + 1)])
