"""Networks as values that layers are called with: several inputs, shared layers, branches that
meet."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

from ._base import Layer, with_links
from .containers import Input

_JOINS = {"concat": "concat", "add": "add", "average": "avg"}


class Value:
    """What a layer gives for other values, or an input. Layers are called with it; + adds two of
    the same dimensions, - * / spread them as NumPy does."""

    def __init__(self, layer: Optional[Layer], operands: Tuple["Value", ...],
                 merge: str = "") -> None:
        self.layer, self.operands, self.merge = layer, operands, merge

    def __add__(self, other: Any) -> "Value":
        return add(self, other)

    def __sub__(self, other: Any) -> "Value":
        return _both("sub", self, other)

    def __mul__(self, other: Any) -> "Value":
        return _both("mul", self, other)

    def __truediv__(self, other: Any) -> "Value":
        return _both("div", self, other)

    def __iter__(self) -> Any:
        raise TypeError("a value of a network has no items: it is known when the network runs")

    def __bool__(self) -> bool:
        raise TypeError(
            "a value of a network is neither true nor false: it is known when the network runs")


class InputValue(Value):
    """An Input that layers are called with."""

    def __init__(self, given: Input) -> None:
        super().__init__(None, ())
        self.given = given


def values_of(what: str, given: Sequence[Any]) -> Tuple[Value, ...]:
    """Values from inputs and values, or from one list of them, as Keras takes them."""
    if len(given) == 1 and isinstance(given[0], (list, tuple)):
        given = given[0]
    if not given:
        raise TypeError("%s: give the values that it takes" % what)
    made = []
    for value in given:
        if isinstance(value, Input):
            value = value.value()
        if not isinstance(value, Value):
            raise TypeError("%s: expects an Input, or what another layer gave, got %s: arrays go "
                            "through the network that is made of it" % (what, type(value).__name__))
        made.append(value)
    return tuple(made)


# Operands that a layer takes by name, and the states that `return_state` gives.
_TAKES = {"rnn": ("lengths", "h0"), "gru": ("lengths", "h0"), "lstm": ("lengths", "h0", "c0"),
          "attention": ("lengths", "mask"), "cross_attention": ("lengths", "mask"),
          "pool_steps": ("lengths",)}
_STATES = {"rnn": 1, "gru": 1, "lstm": 2}


def _take(layer: Layer, named: Dict[str, Any]) -> None:
    """Notes the operands by name of a layer, which are the same wherever it is called."""
    kind = str(layer["type"])
    known = _TAKES.get(kind, ())
    for name in named:
        if name not in known:
            raise TypeError("%s: takes no operand %r%s" % (
                kind, name, ": it takes " + ", ".join(known) if known else
                ": values alone, layer(x); what is inside of it is called by itself"))
    before = list(layer.get("takes", ())) if layer._called or layer.get("takes") else list(named)
    if named and before != list(named):
        raise TypeError("%s: takes %s elsewhere, %s here: a layer takes the same everywhere, in "
                        "one order" % (kind, ", ".join(before) or "nothing by name",
                                       ", ".join(named)))
    layer._called = True
    if named:
        layer["takes"] = before


def call(layer: Layer, given: Sequence[Any], named: Optional[Dict[str, Any]] = None) -> Any:
    """What a layer gives for values: several are its operands, the last of which come by name."""
    kind = str(layer["type"])
    if kind == "input":
        raise TypeError("an Input is a value, no layer: call a layer with it")
    if kind == "residual":
        raise TypeError("Residual() adds inside of a Sequential: here x + y does")
    operands = values_of(type(layer).__name__, given)
    _take(layer, named or {})
    for name, value in (named or {}).items():
        operands += values_of("%s: %s" % (kind, name), (value,))
    value = Value(layer, operands, "operands" if len(operands) > 1 else "")
    if not layer.get("return_state"):
        return value
    return tuple(Value(Layer("part", {"index": i}, {}), (value,)) for i in range(1 + _STATES[kind]))


def _both(op: str, a: Any, b: Any) -> Value:
    return call(Layer("binary", {"op": op}, {}), (a, b))


def _join(how: str, given: Sequence[Any]) -> Value:
    operands = values_of(how, given)
    return operands[0] if len(operands) == 1 else Value(None, operands, _JOINS[how])


def concat(*values: Any) -> Value:
    """Values side by side: features of steps, channels, or numbers of rows without dimensions."""
    return _join("concat", values)


def add(*values: Any) -> Value:
    """The sum of values of the same dimensions: x + y."""
    return _join("add", values)


def average(*values: Any) -> Value:
    """The mean of values of the same dimensions."""
    return _join("average", values)


class Model:
    """A network of values: Model(inputs, outputs), as in Keras.

        image, table = L.Input(1, 8, 8, name="image"), L.Input(5, name="table")
        x = L.Flatten()(L.Conv2d(8, 3, activation="relu")(image))
        network = Network(L.Model([image, table], L.Linear(2)(L.concat(x, table))))
        network({"image": ..., "table": ...})

    A layer that is called twice is one set of weights. Several inputs have names, by which arrays
    are given; one alone needs none. Several outputs are a dict by their names, and so is then what
    the network gives, or a list, of which it gives a tuple. `dtype` is that of all layers which
    name none.
    """

    def __init__(self, inputs: Any, outputs: Any, dtype: Optional[str] = None) -> None:
        self.inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        for given in self.inputs:
            if not isinstance(given, Input):
                raise TypeError("Model: inputs are Inputs, got %s" % type(given).__name__)
        names = [given.name for given in self.inputs]
        if len(names) > 1 and (None in names or len(set(names)) < len(names)):
            raise TypeError(
                "Model: several inputs have a name each, one of its own: L.Input(5, "
                "name=\"table\")")
        self.names: List[str] = []
        if isinstance(outputs, (list, tuple)) and len(outputs) > 1:
            outputs = {"%d" % i: value for i, value in enumerate(outputs)}
        if isinstance(outputs, dict) and len(outputs) > 1:
            self.names, outputs = [str(name) for name in outputs], list(outputs.values())
        elif isinstance(outputs, dict):
            raise TypeError("Model: one output has no name: give it alone")
        found = values_of("Model", [outputs])
        self.output = found[0] if len(found) == 1 else Value(None, found, "operands")
        self.dtype = dtype

    def _ordered(self) -> List[Value]:
        """All values, each behind its operands, without recursion: networks are deep."""
        order: List[Value] = []
        done: Dict[int, bool] = {}
        waiting: List[Tuple[Value, bool]] = [(self.output, False)]
        while waiting:
            value, ready = waiting.pop()
            if id(value) in done:
                continue
            if ready:
                done[id(value)] = True
                order.append(value)
                continue
            waiting.append((value, True))
            waiting.extend((operand, False) for operand in reversed(value.operands))
        return order

    def _inputs_used(self, order: List[Value]) -> None:
        used = {id(value.given) for value in order if isinstance(value, InputValue)}
        known = {id(given) for given in self.inputs}
        if used - known:
            raise TypeError("Model: a layer takes an Input that is not among the model's inputs")
        for given in self.inputs:
            if id(given) not in used:
                raise TypeError("Model: no layer takes the input %s"
                                % (given.name or given.described))

    def topology(self) -> Dict[str, Any]:
        """The topology of this network: the first cell hands on what arrives, each value is a
        cell."""
        order = self._ordered()
        self._inputs_used(order)
        named = self.inputs[0].name is not None
        cells: List[Layer] = []
        at: Dict[int, int] = {}  # of values
        links: List[Tuple[List[int], str]] = []
        for value in order:
            if isinstance(value, InputValue) and not named:
                at[id(value)] = 0
                continue
            layer: Optional[Layer] = value.layer
            reads = [at[id(operand)] for operand in value.operands]
            if isinstance(value, InputValue):
                layer, reads = Layer("part", {"of": value.given.name}, {}), [0]
            cells.append(layer if layer is not None else Layer("", {}, {}))
            links.append((reads, value.merge))
            at[id(value)] = len(cells)
        placed = with_links(cells, 1)
        for i, (cell, (reads, merge)) in enumerate(zip(placed, links)):
            if not cell.get("type"):
                cell.pop("type", None)
            elif self.dtype is not None and "dtype" not in cell:
                cell["dtype"] = self.dtype
            if reads != [i]:  # not what stands before it alone
                cell["links"] = [{"read": [0, 0, 0, r]} for r in reads] + cell.get("links", [])
            if merge not in ("", "concat"):
                cell["merge"] = merge
        given: Dict[str, Any] = self.inputs[0].described
        if named:
            given = {"parts": [{"name": one.name, **one.described} for one in self.inputs]}
        return {"format": "loom-topology", "version": 3, "layers_per_cell": len(placed) + 1,
                "input": given, **({"outputs": self.names} if self.names else {}),
                "cells": [{"at": [0, 0, 0, i + 1], **cell} for i, cell in enumerate(placed)]}
