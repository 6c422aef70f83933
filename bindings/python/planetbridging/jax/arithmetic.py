"""Primitives of single numbers, and over axes."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

import numpy as np

from ..graph.cells import Value
from ..graph.constant import Constant
from ..graph.laid import by_itself
from ..graph.shape import Batch, row_of
from .walk import Ids, Known, Pending, Walk, known, maps, symbolic

_TWO = {"add": "add", "add_any": "add", "sub": "sub", "mul": "mul", "div": "div", "max": "max",
        "min": "min", "pow": "pow", "lt": "less", "le": "less_equal", "gt": "greater",
        "ge": "greater_equal", "eq": "equal", "and": "and", "or": "or", "xor": "xor"}
_NUMPY: Dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
    "max": np.maximum, "min": np.minimum, "and": np.logical_and, "or": np.logical_or}


def _of_ids(name: str, a: Known, b: Known) -> Optional[Ids]:
    """A function of ids and one number, or of the same ids twice."""
    how = _NUMPY.get(name)
    if how is None:
        return None
    if isinstance(a, Ids) and isinstance(b, Ids) and a.value.cell == b.value.cell:
        one, two = a.how, b.how
        return Ids(a.name, a.value, lambda ids: how(one(ids), two(ids)))
    if isinstance(a, Ids) and isinstance(b, Constant) and b.array.size == 1:
        number = b.array.reshape(())
        return a.then(lambda x: how(x, number))
    if isinstance(b, Ids) and isinstance(a, Constant) and a.array.size == 1:
        first = a.array.reshape(())
        return b.then(lambda x: how(first, x))
    return None


@maps(*_TWO, "ne")
def two(w: Walk, eqn: Any, a: Known, b: Known) -> Any:
    name = eqn.primitive.name
    if isinstance(a, Ids) or isinstance(b, Ids):
        made = _of_ids(name, a, b)
        if made is not None:
            return made
    if name in ("add", "add_any"):
        biased = _bias(w, a, b) or _bias(w, b, a)
        if biased is not None:
            return biased
    if name == "max" and isinstance(b, Constant) and known(b) and b.array.size == 1 and (
            not b.array.any() and isinstance(a, Value)):
        return by_itself(w.value(a), w.g, lambda v: w.g.activation(v, "relu"))
    if name == "ne":
        return w.g.unary(w.g.value(w.g.binary(w.plain(a), w.plain(b), "equal")), "not")
    x, y = w.plain(a), w.plain(b)
    if name == "max" and isinstance(y, Value) and isinstance(x, Constant) and (
            np.isneginf(x.array).all()):
        return y
    return w.g.value(w.g.binary(x, y, _TWO[name]))


def _bias(w: Walk, x: Known, bias: Known) -> Optional[Value]:
    """A product and what is added to it, as one layer."""
    if not isinstance(x, Pending) or not x.untouched or not isinstance(bias, Constant) or (
            not bias.trainable or any(n in w.loose for n in bias.names)):
        return None
    free = x.free
    shape = (1,) * (len(x.shape) - len(bias.shape)) + tuple(bias.shape)
    wanted = tuple(row_of(x.shape)[i] if i in free else 1 for i in range(len(x.shape)))
    if shape != wanted or len(shape) != len(x.shape):
        return None
    return x.make(bias.reshaped((bias.array.size,)) if bias.array.ndim != 1 else bias)


def _unary(op: str) -> Callable[[Walk, Value], Value]:
    return lambda w, x: w.g.unary(x, op)


def _plus(w: Walk, x: Value, n: float) -> Value:
    return w.g.value(w.g.binary(x, w.g.number(n), "add"))


def _tan(w: Walk, x: Value) -> Value:
    return w.g.value(w.g.binary(w.g.unary(x, "sin"), w.g.unary(x, "cos"), "div"))


def _finite(w: Walk, x: Value) -> Value:
    return w.g.unary(w.g.value(w.g.binary(w.g.unary(x, "is_nan"), w.g.unary(x, "is_inf"), "or")),
                     "not")


_ONE: Dict[str, Callable[[Walk, Value], Value]] = {
    **{name: _unary(name) for name in ("abs", "neg", "sqrt", "exp", "log", "floor", "ceil", "sign",
                                       "erf", "sin", "cos", "square", "not")},
    "tanh": lambda w, x: w.g.activation(x, "tanh"), "tan": _tan, "is_finite": _finite,
    "logistic": lambda w, x: w.g.activation(x, "sigmoid"),
    "rsqrt": lambda w, x: w.g.unary(w.g.unary(x, "sqrt"), "reciprocal"),
    "log1p": lambda w, x: w.g.unary(_plus(w, x, 1.0), "log"),
    "expm1": lambda w, x: _plus(w, w.g.unary(x, "exp"), -1.0),
    "erfc": lambda w, x: _plus(w, w.g.unary(w.g.unary(x, "erf"), "neg"), 1.0),
    "exp2": lambda w, x: w.g.unary(w.g.value(w.g.binary(x, w.g.number(float(np.log(2))), "mul")),
                                   "exp")}


@maps(*_ONE)
def one(w: Walk, eqn: Any, x: Known) -> Value:
    how = _ONE[eqn.primitive.name]
    return by_itself(w.value(x), w.g, lambda v: how(w, v))


@maps("round")
def rounded(w: Walk, eqn: Any, x: Known) -> Value:
    if int(eqn.params["rounding_method"]) != 1:
        raise ValueError("halves away from zero")
    return w.g.unary(w.value(x), "round")


@maps("integer_pow")
def integer_pow(w: Walk, eqn: Any, x: Known) -> Value:
    n = int(eqn.params["y"])
    value = w.value(x)
    made: Optional[Value] = None
    power = value
    rest = abs(n)
    while rest:
        if rest & 1:
            made = power if made is None else w.g.value(w.g.binary(made, power, "mul"))
        rest >>= 1
        if rest:
            power = w.g.unary(power, "square")
    if made is None:
        raise ValueError("to the power of 0")
    return w.g.unary(made, "reciprocal") if n < 0 else made


@maps("clamp")
def clamp(w: Walk, eqn: Any, low: Known, x: Known, high: Known) -> Any:
    if isinstance(x, Ids) and all(isinstance(b, Constant) and b.array.size == 1
                                  for b in (low, high)):
        floor, ceiling = (b.array.reshape(()) for b in (low, high))  # type: ignore[union-attr]
        return x.then(lambda ids: np.clip(ids, floor, ceiling))
    made = w.g.binary(w.plain(x), w.plain(low), "max")
    return w.g.value(w.g.binary(made, w.plain(high), "min"))


def _each(x: Known) -> Callable[[np.ndarray], Any]:
    """The function of single ids that a function of ids or one number is."""
    if isinstance(x, Ids):
        return x.how
    assert isinstance(x, Constant)
    number = x.array.reshape(())
    return lambda ids: number


@maps("select_n")
def select_n(w: Walk, eqn: Any, which: Known, *cases: Known) -> Any:
    if len(cases) != 2:
        raise ValueError("of %d cases" % len(cases))
    if isinstance(which, Ids) and all(isinstance(c, Ids) or isinstance(c, Constant)
                                      and c.array.size == 1 for c in cases):
        parts = [_each(c) for c in cases]
        test = which.how
        return Ids(which.name, which.value, lambda ids: np.where(
            test(ids).astype(bool), parts[1](ids), parts[0](ids)))
    return w.g.select(w.plain(which), w.plain(cases[1]), w.plain(cases[0]))


@maps("rem")
def rem(w: Walk, eqn: Any, a: Known, b: Known) -> Value:
    x, y = w.plain(a), w.plain(b)
    whole = w.g.unary(w.g.value(w.g.binary(x, y, "div")), "trunc")
    return w.g.value(w.g.binary(x, w.g.binary(whole, y, "mul"), "sub"))


@maps("convert_element_type", "reduce_precision", "copy", "copy_p", "optimization_barrier",
      "sharding_constraint", "pvary", "mesh_cast")
def cast(w: Walk, eqn: Any, *inputs: Known) -> Any:
    made: List[Any] = []
    for x, before, after in zip(inputs, eqn.invars, eqn.outvars):
        old, new = before.aval.dtype, after.aval.dtype
        if np.dtype(new).itemsize < 4 and not np.issubdtype(new, np.integer) and new != np.bool_:
            raise ValueError("to %s: numbers here are f32" % new)
        if isinstance(x, Constant) or not np.issubdtype(new, np.integer) or (
                not np.issubdtype(old, np.floating)):
            made.append(x)
        else:
            made.append(w.g.unary(w.value(x), "trunc"))
    return made


@maps("stop_gradient")
def stop_gradient(w: Walk, eqn: Any, x: Known) -> Any:
    """Only of maxima, as softmax has them: their gradients come to nothing."""
    if isinstance(x, Value) and x.cell not in w.largest:
        raise w.refuse("stop_gradient", "in training all cells hand gradients back")
    return x


_REDUCE = {"reduce_sum": "sum", "reduce_max": "max", "reduce_min": "min", "reduce_prod": "prod",
           "reduce_and": "min", "reduce_or": "max", "argmax": "argmax", "argmin": "argmin"}


@maps(*_REDUCE)
def reduce(w: Walk, eqn: Any, x: Known) -> Value:
    axes = [int(a) for a in eqn.params["axes"]]
    if any(symbolic(eqn.invars[0].aval.shape[a]) for a in axes):
        raise ValueError("over the batch")
    value = w.value(x)
    if not axes:
        return value
    return w.g.reduce(value, _REDUCE[eqn.primitive.name], axes)


@maps("cumsum")
def cumsum(w: Walk, eqn: Any, x: Known) -> Value:
    axis = int(eqn.params["axis"])
    value = w.value(x)
    if isinstance(value.shape[axis], Batch):
        raise ValueError("over the batch")
    n = row_of(value.shape)[axis]
    matrix = np.ones((n, n))
    order = [i for i in range(len(value.shape)) if i != axis] + [axis]
    made = w.g.dense(w.g.value(w.g.transpose(value, order)), Constant.of(
        np.triu(matrix) if eqn.params["reverse"] else np.tril(matrix)))
    return w.g.value(w.g.transpose(made, [order.index(i) for i in range(len(order))]))
