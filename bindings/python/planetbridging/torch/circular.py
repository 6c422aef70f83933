"""Inverses of circular and hyperbolic functions, of arithmetic, roots and logarithms: the formulas
of src/onnx/rules/circular.cpp."""
from __future__ import annotations

import math
from typing import Any, Callable, Dict, Union

from .walk import Args, Walk, rule

_Number = Union["_Term", float]


class _Term:
    """A value in formulas that become cells."""

    def __init__(self, w: Walk, value: Any) -> None:
        self.w, self.value = w, value

    def unary(self, kind: str) -> "_Term":
        return _Term(self.w, self.w.g.unary(self.value, kind))

    def _with(self, other: _Number, kind: str, swapped: bool = False) -> "_Term":
        here, there = self.value, other.value if isinstance(other, _Term) else self.w.tensor(other)
        if swapped:
            here, there = there, here
        return _Term(self.w, self.w.g.binary(here, there, kind))

    def __add__(self, other: _Number) -> "_Term":
        return self._with(other, "add")

    def __sub__(self, other: _Number) -> "_Term":
        return self._with(other, "sub")

    def __rsub__(self, other: _Number) -> "_Term":
        return self._with(other, "sub", True)

    def __mul__(self, other: _Number) -> "_Term":
        return self._with(other, "mul")

    def __truediv__(self, other: _Number) -> "_Term":
        return self._with(other, "div")

    def __rtruediv__(self, other: _Number) -> "_Term":
        return self._with(other, "div", True)

    def above(self, other: _Number) -> "_Term":
        return self._with(other, "greater")

    def where(self, condition: "_Term", otherwise: _Number) -> "_Term":
        other = otherwise.value if isinstance(otherwise, _Term) else self.w.tensor(otherwise)
        return _Term(self.w, self.w.g.select(condition.value, self.value, other))


def _log1p(u: _Term) -> _Term:
    """log(1 + u) of u >= 0: what 1 + u rounds off is made up for by u over what was added."""
    more = u + 1.0
    added = more - 1.0
    none = added._with(0.0, "equal")
    one = _Term(u.w, u.w.tensor(1.0))
    near = u.where(none, more.unary("log") * u / one.where(none, added))
    return u.unary("log").where(u.above(1e7), near)


def _atan(x: _Term) -> _Term:
    """tan(y / 2) = t / (1 + sqrt(1 + t^2)) twice leaves at most tan(pi / 16), where five terms are
    enough."""
    size = x.unary("abs")
    beyond = size.above(1.0)
    t = (1.0 / size).where(beyond, size)
    for _ in range(2):
        t = t / ((t.unary("square") + 1.0).unary("sqrt") + 1.0)
    square = t.unary("square")
    total = square * (1 / 9)
    for c in (-1 / 7, 1 / 5, -1 / 3):
        total = (total + c) * square
    y = (total + 1.0) * t * 4.0
    return (math.pi / 2 - y).where(beyond, y) * x.unary("sign")


def _asinh(x: _Term) -> _Term:
    """Far from 0 the 1 below the root is lost, and squares would overflow."""
    size = x.unary("abs")
    square = size.unary("square")
    near = _log1p(size + square / ((square + 1.0).unary("sqrt") + 1.0))
    return (size.unary("log") + math.log(2)).where(size.above(4096.0), near) * x.unary("sign")


def _acosh(x: _Term) -> _Term:
    t = (x - 1.0).where(x._with(1.0, "greater_equal"), -0.5)  # below 1 the root is no number
    near = _log1p(t + (t.unary("square") + t * 2.0).unary("sqrt"))
    return (x.unary("log") + math.log(2)).where(x.above(4096.0), near)


def _atanh(x: _Term) -> _Term:
    size = x.unary("abs")
    return _log1p(size * 2.0 / (1.0 - size)) * 0.5 * x.unary("sign")


_INVERSES: Dict[str, Callable[[_Term], _Term]] = {
    "atan": _atan, "arctan": _atan, "asinh": _asinh, "arcsinh": _asinh, "acosh": _acosh,
    "arccosh": _acosh, "atanh": _atanh, "arctanh": _atanh,
    "asin": lambda x: _atan(x / ((1.0 - x) * (x + 1.0)).unary("sqrt")),
    "acos": lambda x: _atan(((1.0 - x) / (x + 1.0)).unary("sqrt")) * 2.0,
}
_INVERSES["arcsin"], _INVERSES["arccos"] = _INVERSES["asin"], _INVERSES["acos"]


@rule(*_INVERSES)
def _inverse(w: Walk, a: Args) -> Any:
    return _INVERSES[w.operator().split(".")[1]](_Term(w, w.g.value(a.self))).value


@rule("atan2", "arctan2")
def _angle(w: Walk, a: Args) -> Any:
    """Of the point (x, y) = (other, self); 0 at the origin, whatever the signs there."""
    y, x = (_Term(w, w.g.value(w.tensor(one))) for one in (a.self, a.other))
    flat = x._with(0.0, "equal")
    one = _Term(w, w.tensor(1.0))
    side = y.unary("sign")
    angle = _atan(y / one.where(flat, x))
    up = one.where(y._with(0.0, "greater_equal"), -1.0)
    turned = (angle + up * math.pi).where(x._with(0.0, "less"), angle)
    return (side * (math.pi / 2)).where(flat, turned).value
