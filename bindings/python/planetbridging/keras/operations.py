"""keras.ops in functional models: each node is an operation on tensors and numbers."""
from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np

from ..graph.cells import Tensor, Value
from ..graph.constant import Constant
from ..graph.products import contract, einsum
from ..graph.shape import Batch, row_of
from .activations import by_name, relu
from .basic import joined, unit
from .spatial import padded
from .walk import Walk, maps, numpy_of, sizes_of


def operand(w: Walk, x: Any) -> Tensor:
    """A tensor, a variable of the model, or numbers."""
    if isinstance(x, Value):
        return w.value(x)
    if isinstance(x, Constant):
        return x
    if id(x) in w.names:
        return w.parameter(w.named(x))
    return Constant.of(numpy_of(x).astype(np.float64))


def halves(w: Walk, x: Value, axis: int) -> Tuple[Value, Value]:
    n = row_of(x.shape)[axis]
    return (w.g.value(w.g.take(x, axis, np.arange(n // 2))),
            w.g.value(w.g.take(x, axis, np.arange(n // 2, n))))


def _axes(axis: Any, rank: int) -> List[int]:
    if axis is None:
        return list(range(rank))
    return [int(a) % rank for a in (axis if isinstance(axis, (tuple, list)) else [axis])]


# ---- two operands

_TWO = {"Add": "add", "Subtract": "sub", "Multiply": "mul", "Divide": "div", "TrueDivide": "div",
        "Maximum": "max", "Minimum": "min", "Fmax": "max", "Fmin": "min", "Power": "pow",
        "Less": "less", "LessEqual": "less_equal", "Greater": "greater",
        "GreaterEqual": "greater_equal", "Equal": "equal", "LogicalAnd": "and",
        "LogicalOr": "or", "LogicalXor": "xor"}


@maps(*("ops." + name for name in _TWO))
def two(w: Walk, op: Any, a: Any, b: Any) -> Value:
    kind = type(op).__name__
    if kind == "Power" and not isinstance(b, Value) and np.ndim(b) == 0 and float(b) == 2.0:
        return w.unary(operand(w, a), "square")
    if kind == "Equal":
        ids, other = (a, b) if isinstance(a, Value) and a.ids else (b, a)
        if isinstance(ids, Value) and ids.ids and not isinstance(other, (Value, Constant)):
            return w.looked_up(ids, np.arange(ids.ids) == float(other))
    return w.g.value(w.g.binary(operand(w, a), operand(w, b), _TWO[kind]))


@maps("ops.NotEqual")
def not_equal(w: Walk, op: Any, a: Any, b: Any) -> Value:
    ids, other = (a, b) if isinstance(a, Value) and a.ids else (b, a)
    if isinstance(ids, Value) and ids.ids and not isinstance(other, (Value, Constant)):
        return w.looked_up(ids, np.arange(ids.ids) != float(other))
    return w.unary(w.g.value(w.g.binary(operand(w, a), operand(w, b), "equal")), "not")


@maps("ops.Matmul", "ops.Dot")
def matmul(w: Walk, op: Any, a: Any, b: Any) -> Value:
    x, y = operand(w, a), operand(w, b)
    if len(x.shape) < 2 or len(y.shape) < 2:
        raise ValueError("operands of at least two axes")
    if type(op).__name__ == "Dot" and (len(x.shape) > 2 or len(y.shape) > 2):
        raise ValueError("keras.ops.dot of more than two axes; matmul is mapped")
    if len(y.shape) == 2 and isinstance(y, Constant) and isinstance(x, Value):
        left = "abcdefgh"[:len(x.shape) - 1] + "z"
        return w.g.value(contract(w.g, x, y, left, "zy", left[:-1] + "y"))
    return w.g.matmul(x, y)


@maps("ops.Einsum")
def einsum_op(w: Walk, op: Any, *operands: Any) -> Value:
    return w.g.value(einsum(w.g, op.subscripts, [operand(w, x) for x in operands]))


@maps("ops.Where")
def where(w: Walk, op: Any, condition: Any, a: Any = None, b: Any = None) -> Value:
    if a is None or b is None:
        raise ValueError("places of a condition: their number depends on data")
    return w.g.select(operand(w, condition), operand(w, a), operand(w, b))


@maps("ops.FloorDivide")
def floor_divide(w: Walk, op: Any, a: Any, b: Any) -> Value:
    return w.unary(w.g.value(w.g.binary(operand(w, a), operand(w, b), "div")), "floor")


# ---- of single numbers

_ONE: Dict[str, Callable[[Walk, Value], Value]] = {
    "Absolute": lambda w, x: w.unary(x, "abs"), "Abs": lambda w, x: w.unary(x, "abs"),
    "Negative": lambda w, x: w.unary(x, "neg"), "Sqrt": lambda w, x: w.unary(x, "sqrt"),
    "Reciprocal": lambda w, x: w.unary(x, "reciprocal"), "Exp": lambda w, x: w.unary(x, "exp"),
    "Log": lambda w, x: w.unary(x, "log"), "Floor": lambda w, x: w.unary(x, "floor"),
    "Ceil": lambda w, x: w.unary(x, "ceil"), "Sign": lambda w, x: w.unary(x, "sign"),
    "Trunc": lambda w, x: w.unary(x, "trunc"), "Erf": lambda w, x: w.unary(x, "erf"),
    "Sin": lambda w, x: w.unary(x, "sin"), "Cos": lambda w, x: w.unary(x, "cos"),
    "Square": lambda w, x: w.unary(x, "square"), "LogicalNot": lambda w, x: w.unary(x, "not"),
    "Isnan": lambda w, x: w.unary(x, "is_nan"), "Isinf": lambda w, x: w.unary(x, "is_inf"),
    "Rsqrt": lambda w, x: w.unary(w.unary(x, "sqrt"), "reciprocal"),
    "Log1p": lambda w, x: w.unary(w.plus(x, 1.0), "log"),
    "Expm1": lambda w, x: w.plus(w.unary(x, "exp"), -1.0),
    "Exp2": lambda w, x: w.unary(w.scaled(x, math.log(2)), "exp"),
    "Log2": lambda w, x: w.scaled(w.unary(x, "log"), 1 / math.log(2)),
    "Log10": lambda w, x: w.scaled(w.unary(x, "log"), 1 / math.log(10)),
    "OnesLike": lambda w, x: w.plus(w.scaled(x, 0.0), 1.0),
    "ZerosLike": lambda w, x: w.scaled(x, 0.0), "Copy": lambda w, x: x}
_NAMED = {"Sigmoid": "sigmoid", "Tanh": "tanh", "Relu": "relu", "Relu6": "relu6", "Silu": "silu",
          "Softplus": "softplus", "Softsign": "softsign", "Selu": "selu",
          "HardSigmoid": "hard_sigmoid", "HardSilu": "hard_silu", "HardTanh": "hard_tanh",
          "LogSigmoid": "log_sigmoid", "TanhShrink": "tanh_shrink",
          "SparseSigmoid": "sparse_sigmoid", "Mish": "mish"}


@maps(*("ops." + name for name in _ONE))
def one(w: Walk, op: Any, x: Any) -> Value:
    return _ONE[type(op).__name__](w, w.g.value(operand(w, x)))


@maps(*("ops." + name for name in _NAMED))
def named(w: Walk, op: Any, x: Any) -> Value:
    return by_name(w, operand(w, x), _NAMED[type(op).__name__])


@maps("ops.Gelu")
def gelu(w: Walk, op: Any, x: Any) -> Value:
    return w.g.activation(operand(w, x), "gelu_tanh" if op.approximate else "gelu_erf")


@maps("ops.LeakyRelu")
def leaky(w: Walk, op: Any, x: Any) -> Value:
    return w.unary(operand(w, x), "leaky_relu", float(op.negative_slope))


@maps("ops.Elu", "ops.Celu")
def elu(w: Walk, op: Any, x: Any) -> Value:
    return w.unary(operand(w, x), type(op).__name__.lower(), float(op.alpha))


@maps("ops.SoftShrink", "ops.HardShrink")
def shrink(w: Walk, op: Any, x: Any) -> Value:
    t = float(op.threshold)
    return w.unary(operand(w, x), "shrink", t, t if type(op).__name__ == "SoftShrink" else 0.0)


@maps("ops.ReLU")
def relu_op(w: Walk, op: Any, x: Any) -> Value:
    return relu(w, w.g.value(operand(w, x)), float(op.negative_slope or 0), op.max_value,
                float(op.threshold or 0))


@maps("ops.Clip")
def clip(w: Walk, op: Any, x: Any) -> Value:
    made = operand(w, x)
    for bound, how in ((op.x_min, "max"), (op.x_max, "min")):
        if bound is not None:
            made = w.g.binary(made, operand(w, bound), how)
    return w.g.value(made)


@maps("ops.Cast", "ops.ConvertToTensor", "ops.StopGradient")
def cast(w: Walk, op: Any, x: Any, *_: Any, **__: Any) -> Value:
    if type(op).__name__ == "StopGradient":
        raise w.refuse("keras.ops.stop_gradient", "in training all cells hand gradients back")
    value = w.g.value(operand(w, x))
    if type(op).__name__ == "Cast" and "int" in str(op.dtype):
        return w.unary(value, "trunc")
    return value


@maps("ops.LogSoftmax")
def log_softmax(w: Walk, op: Any, x: Any) -> Value:
    return w.g.softmax(operand(w, x), int(op.axis), log=True)


@maps("ops.Normalize")
def normalize(w: Walk, op: Any, x: Any) -> Value:
    if op.order != 2:
        raise ValueError("of order %s" % op.order)
    return unit(w, w.g.value(operand(w, x)), _axes(op.axis, len(x.shape)),
                1e-12 if op.epsilon is None else float(op.epsilon))


# ---- over axes

_REDUCE = {"Mean": "mean", "Sum": "sum", "Max": "max", "Min": "min", "Prod": "prod",
           "Amax": "max", "Amin": "min", "Logsumexp": "log_sum_exp"}


@maps(*("ops." + name for name in _REDUCE))
def reduce(w: Walk, op: Any, x: Any) -> Value:
    value = w.g.value(operand(w, x))
    if getattr(op, "initial", None) is not None:
        raise ValueError("with an initial value")
    return w.g.reduce(value, _REDUCE[type(op).__name__], _axes(op.axis, len(value.shape)),
                      keep=bool(op.keepdims))


@maps("ops.Var", "ops.Std")
def variance(w: Walk, op: Any, x: Any) -> Value:
    value = w.g.value(operand(w, x))
    axes = _axes(op.axis, len(value.shape))
    middle = w.two(value, w.g.reduce(value, "mean", axes, keep=True), "sub")
    made = w.g.reduce(w.unary(middle, "square"), "mean", axes, keep=bool(op.keepdims))
    return w.unary(made, "sqrt") if type(op).__name__ == "Std" else made


@maps("ops.Argmax", "ops.Argmin")
def arg(w: Walk, op: Any, x: Any) -> Value:
    if op.axis is None:
        raise ValueError("over all axes")
    return w.g.reduce(operand(w, x), type(op).__name__.lower(), [op.axis], keep=bool(op.keepdims))


@maps("ops.Cumsum")
def cumsum(w: Walk, op: Any, x: Any) -> Value:
    value = w.g.value(operand(w, x))
    if op.axis is None:
        raise ValueError("over all axes")
    rank = len(value.shape)
    axis = int(op.axis) % rank
    n = row_of(value.shape)[axis]
    order = [i for i in range(rank) if i != axis] + [axis]
    made = w.g.dense(w.g.value(w.g.transpose(value, order)),
                     Constant.of(np.tril(np.ones((n, n)))))
    return w.g.value(w.g.transpose(made, [order.index(i) for i in range(rank)]))


# ---- shapes

@maps("ops.Transpose")
def transpose(w: Walk, op: Any, x: Any) -> Value:
    value = w.g.value(operand(w, x))
    return w.g.value(w.g.transpose(value, op.axes or range(len(value.shape))[::-1]))


@maps("ops.Swapaxes", "ops.Moveaxis")
def swapaxes(w: Walk, op: Any, x: Any) -> Value:
    value = w.g.value(operand(w, x))
    probe = np.empty(tuple(range(2, 2 + len(value.shape))))  # sizes say where axes went
    moved = (np.swapaxes(probe, op.axis1, op.axis2) if type(op).__name__ == "Swapaxes"
             else np.moveaxis(probe, op.source, op.destination))
    return w.g.value(w.g.transpose(value, [n - 2 for n in moved.shape]))


@maps("ops.ExpandDims")
def expand_dims(w: Walk, op: Any, x: Any) -> Value:
    value = w.g.value(operand(w, x))
    axes = sorted(a % (len(value.shape) + (len(op.axis) if isinstance(op.axis, (
        tuple, list)) else 1)) for a in (op.axis if isinstance(op.axis, (tuple, list))
                                         else [op.axis]))
    sizes = sizes_of(value.shape)
    for a in axes:
        sizes.insert(a, 1)
    return w.g.value(w.g.reshape(value, sizes))


@maps("ops.Squeeze")
def squeeze(w: Walk, op: Any, x: Any) -> Value:
    value = w.g.value(operand(w, x))
    gone = ([i for i, n in enumerate(value.shape) if n == 1] if op.axis is None
            else _axes(op.axis, len(value.shape)))
    return w.g.value(w.g.reshape(value, [n for i, n in enumerate(sizes_of(value.shape))
                                         if i not in gone]))


@maps("ops.Concatenate")
def concatenate(w: Walk, op: Any, xs: Sequence[Any]) -> Value:
    return joined(w, [operand(w, x) for x in xs], int(op.axis))


@maps("ops.Stack")
def stack(w: Walk, op: Any, xs: Sequence[Any]) -> Value:
    values = [w.g.value(operand(w, x)) for x in xs]
    axis = int(op.axis) % (len(values[0].shape) + 1)
    rows = []
    for v in values:
        sizes = sizes_of(v.shape)
        sizes.insert(axis, 1)
        rows.append(w.g.reshape(v, sizes))
    return joined(w, rows, axis)


@maps("ops.Split")
def split(w: Walk, op: Any, x: Any) -> List[Value]:
    value = w.g.value(operand(w, x))
    parts = np.split(np.arange(row_of(value.shape)[op.axis]), op.indices_or_sections)
    return [w.g.value(w.g.take(value, op.axis, part)) for part in parts]


@maps("ops.Flip")
def flip(w: Walk, op: Any, x: Any) -> Value:
    made: Tensor = w.g.value(operand(w, x))
    for axis in _axes(op.axis, len(made.shape)):
        made = w.g.take(made, axis, np.arange(row_of(made.shape)[axis])[::-1])
    return w.g.value(made)


@maps("ops.Roll")
def roll(w: Walk, op: Any, x: Any) -> Value:
    if op.axis is None or isinstance(op.axis, (tuple, list)):
        raise ValueError("over one axis")
    value = w.g.value(operand(w, x))
    return w.g.value(w.g.take(value, op.axis, np.roll(np.arange(row_of(value.shape)[op.axis]),
                                                      op.shift)))


@maps("ops.Repeat")
def repeat(w: Walk, op: Any, x: Any) -> Value:
    if op.axis is None:
        raise ValueError("without an axis")
    value = w.g.value(operand(w, x))
    return w.g.value(w.g.take(value, op.axis, np.repeat(np.arange(row_of(value.shape)[op.axis]),
                                                        op.repeats)))


@maps("ops.Tile")
def tile(w: Walk, op: Any, x: Any) -> Value:
    made: Tensor = w.g.value(operand(w, x))
    repeats = [op.repeats] if isinstance(op.repeats, int) else list(op.repeats)
    repeats = [1] * (len(made.shape) - len(repeats)) + repeats
    for axis, n in enumerate(repeats):
        if n != 1:
            made = w.g.take(made, axis, np.tile(np.arange(row_of(made.shape)[axis]), n))
    return w.g.value(made)


@maps("ops.Pad")
def pad(w: Walk, op: Any, x: Any, constant_values: Any = None) -> Value:
    value = w.g.value(operand(w, x))
    pads = [(int(p[0]), int(p[1])) for p in op.pad_width]
    pads = pads * len(value.shape) if len(pads) == 1 else pads
    if isinstance(value.shape[0], Batch) and any(pads[0]):
        raise ValueError("padding of the batch")
    if op.mode != "constant":
        places = np.pad(w.g.places(value), pads, mode=op.mode)
        return w.g.gather(value, places, (value.shape[0], *places.shape[1:]))
    return padded(w, value, pads, float(constant_values or 0.0))


@maps("ops.GetItem")
def get_item(w: Walk, op: Any, x: Any, key: Any) -> Value:
    """Slices, numbers, new axes and dots; the batch stays whole."""
    value = w.g.value(operand(w, x))
    keys = list(key) if isinstance(key, (tuple, list)) else [key]
    own = [k for k in keys if k is not None and k is not Ellipsis]
    at = next((i for i, k in enumerate(keys) if k is Ellipsis), len(keys))
    keys[at:at + 1] = [slice(None)] * (len(value.shape) - len(own))
    made: Tensor = value
    sizes: List[Any] = []
    axis = 0
    for k in keys:
        if k is None:
            sizes.append(1)
            continue
        n = row_of(made.shape)[axis]
        if isinstance(made.shape[axis], Batch):
            if k != slice(None):
                raise ValueError("a part of the batch")
            sizes.append(None)
        elif isinstance(k, slice):
            made = w.g.take(made, axis, np.arange(n)[k])
            sizes.append(made.shape[axis])
        elif isinstance(k, (int, np.integer)):
            made = w.g.take(made, axis, [int(k)])
        else:
            raise ValueError("indices of type %s" % type(k).__name__)
        axis += 1
    return w.g.value(w.g.reshape(made, sizes))


@maps("ops.Take")
def take(w: Walk, op: Any, x: Any, indices: Any) -> Value:
    if isinstance(indices, Value):
        table = operand(w, x)
        if indices.ids and isinstance(table, Constant) and op.axis == 0 and len(table.shape) == 2:
            return w.g.embedding(indices, table)
        raise ValueError("places that are computed")
    if op.axis is None:
        raise ValueError("without an axis")
    return w.g.value(w.g.take(operand(w, x), op.axis, numpy_of(indices)))


@maps("ops.BroadcastTo")
def broadcast_to(w: Walk, op: Any, x: Any) -> Value:
    value = w.g.value(operand(w, x))
    shape = [Batch() if n is None or n == -1 else int(n) for n in op.shape]
    return w.g.value(w.g.expand(value, tuple(shape)))


@maps("ops.Ravel")
def ravel(w: Walk, op: Any, x: Any) -> Value:
    raise ValueError("the batch would lie in the same axis as the rest")

