"""What layers.py builds with: a cell, and the layers that are more than a cell's settings."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Union

from ._names import spelled

Size = Union[int, Sequence[int]]  # one number for all dimensions, or one for each


_COMMON = ("dtype", "name", "enabled", "tie")  # settings of every layer


class Layer(Dict[str, Any]):
    """A cell: its type and settings. Settings that stand at their defaults are left out."""

    def __init__(self, type: str, settings: Dict[str, Any], common: Dict[str, Any]) -> None:
        unknown = sorted(set(common) - set(_COMMON))
        if unknown:
            known = [spelled(type, key) for key in [*settings, *_COMMON]]
            raise TypeError("%s: no setting %r: known are %s"
                            % (type, unknown[0], ", ".join(known)))
        super().__init__(type=type)
        self.called = False  # with values, whose names it then keeps
        for key, value in {**settings, **common}.items():
            if value is not None:
                self[key] = list(value) if isinstance(value, tuple) else value

    def __call__(self, *values: Any, **named: Any) -> Any:
        """What the layer gives for an Input, or for what another layer gave; several are its
        operands (layers.Model). By name those that it `takes`: LSTM(8)(x, lengths=n)."""
        from ._model import call

        return call(self, values, named)


# Types without weights: an object in several places is as many layers.
_WEIGHTLESS = {
    "activation", "avg_pool1d", "avg_pool2d", "avg_pool3d", "binary", "dropout", "flatten",
    "log_softmax", "max_pool1d", "max_pool2d", "max_pool3d", "part", "permute", "index_select", "pool_steps",
    "reduce", "reshape", "residual", "select", "softmax", "unary", "batched_matmul",
}


def has_weights(layer: Dict[str, Any]) -> bool:
    """Whether a layer, or one inside of it, may have weights."""
    kind = layer.get("type")
    if kind == "parallel" and (layer.get("combine") in ("gated", "filter") or layer.get("stitch")):
        return True
    if "layers" in layer:
        return any(has_weights(inner) for inner in layer["layers"])
    return kind not in _WEIGHTLESS or bool(layer.get("constant"))


def with_links(layers: List[Any], first: int = 0) -> List[Dict[str, Any]]:
    """The cells of layers on the top level, from the cell `first` on, with a link for each further
    use of an object: one object is one set of weights, whose gradients add up. Raises TypeError where the first of
    several uses is inside of another layer, for links lead to cells."""
    cells: Dict[int, int] = {}  # of objects on the top level
    nested: Dict[int, Any] = {}

    def placed(layer: Any, cell: int) -> Dict[str, Any]:
        if not has_weights(layer):
            return dict(layer)
        if id(layer) in cells:
            return {"links": [{"run": [0, 0, 0, cells[id(layer)]]}]}
        if id(layer) in nested:
            raise TypeError("%s is used more than once, the first time inside of another layer: "
                            "put it on the top level of the network before its other uses, or make "
                            "a layer for each" % _called(layer))
        if cell >= 0:
            cells[id(layer)] = cell
        else:
            nested[id(layer)] = layer
        if "layers" not in layer:
            return dict(layer)
        return {**layer, "layers": [placed(inner, -1) for inner in layer["layers"]]}

    return [placed(layer, first + i) for i, layer in enumerate(layers)]


def _called(layer: Dict[str, Any]) -> str:
    """A layer in messages: its name where it has one, else its settings."""
    if "name" in layer:
        return "the %s layer '%s'" % (layer["type"], layer["name"])
    settings = [item for item in layer.items() if item[0] not in ("type", "layers")]
    shown = ", ".join("%s=%r" % item for item in settings[:3])
    return "the layer %s(%s)" % (layer["type"], shown)


def _spelled(given: Any) -> str:
    if callable(given):
        return "%s, which makes one: call it" % getattr(given, "__name__", given)
    return type(given).__name__


class Input(Layer):
    """What arrives at a network, the first of its Sequential: Input(784) values, Input(1, 28, 28)
    values with dimensions (channels first; steps, then features), Input(40, ids=512) rows of 40 ids
    below 512, or Input(ids=512) single ids, positions of sequences that go on in other rows, as
    language models have them. `axis`: what the first dimension counts, "steps" or "channels"; None:
    what the first layer takes it for. `name`: of one of several inputs of a Model."""

    def __init__(self, *dims: int, ids: int = 0, axis: Optional[str] = None,
                 name: Optional[str] = None) -> None:
        if not dims and not ids:
            raise TypeError("Input: give sizes, or ids=")
        if len(dims) > 1 and ids:
            raise TypeError("Input: a row of ids has one dimension, its steps")
        super().__init__("input", {}, {})
        self.described: Dict[str, Any] = {"ids": ids} if ids else {}
        if len(dims) == 1 and not ids:
            self.described["width"] = dims[0]
        elif dims:
            self.described["dims"] = list(dims)
        if axis is not None:
            self.described["axis"] = axis
        if name is not None and (not isinstance(name, str) or not name):
            raise TypeError("Input: a name is a text, got %r" % (name,))
        self.name = name
        self._value: Any = None

    def value(self) -> Any:
        """The value that stands for it in a Model: one, however many layers take it."""
        from ._model import InputValue

        if self._value is None:
            self._value = InputValue(self)
        return self._value

    def __add__(self, other: Any) -> Any:
        return self.value() + other

    def __sub__(self, other: Any) -> Any:
        return self.value() - other

    def __mul__(self, other: Any) -> Any:
        return self.value() * other

    def __truediv__(self, other: Any) -> Any:
        return self.value() / other


class Sequential(Layer):
    """Layers one after another: a network where the first is an Input, else a layer of another one.
    One object in several places is one set of weights, as in PyTorch, where the first of them is on
    the network's top level. `dtype` is that of all its layers which name none; `name`, `enabled`
    and `tie` are of a layer in another one, not of a network."""

    def __init__(self, *layers: Any, **common: Any) -> None:
        if len(layers) == 1 and isinstance(layers[0], (list, tuple)):  # as Keras has it
            layers = tuple(layers[0])
        for i, layer in enumerate(layers):
            if not isinstance(layer, dict):
                raise TypeError("Sequential: layer %d: expects a layer, got %s"
                                % (i, _spelled(layer)))
            if isinstance(layer, Input) and i > 0:
                raise TypeError("Sequential: an Input is the first of a network's layers")
            if isinstance(layer, Input) and layer.name is not None:
                raise TypeError("Sequential: takes one Input, without a name: several by name are "
                                "those of a Model")
        super().__init__("sequential", {"layers": list(layers)}, common)

    def topology(self, input: Optional[Input] = None) -> Dict[str, Any]:
        """The topology of a network of these layers: one cell each. `input`: in place of a first
        Input."""
        cells: List[Layer] = self["layers"]
        if cells and isinstance(cells[0], Input):
            input, cells = cells[0], cells[1:]
        if input is None:
            raise TypeError("Sequential: a network begins with an Input: Sequential(Input(784), ...)")
        for key in ("name", "enabled", "tie"):
            if key in self:
                raise TypeError("Sequential: %r is of a layer, and this one is the whole network: "
                                "give it to one of its layers" % key)
        placed = with_links(cells)
        if "dtype" in self:
            common = {"dtype": self["dtype"]}
            placed = [cell if "links" in cell else {**common, **cell} for cell in placed]
        return {"format": "loom-topology", "version": 3, "layers_per_cell": max(1, len(cells)),
                "input": input.described,
                "cells": [{"at": [0, 0, 0, i], **cell} for i, cell in enumerate(placed)]}


class Residual(Layer):
    """x + block(x) for the layers of a block. Without any: adds, inside of a Sequential, the input
    of the layer before it to its output."""

    def __init__(self, *block: Layer, **common: Any) -> None:
        if not block:
            super().__init__("residual", {}, common)
            return
        inner = block[0] if len(block) == 1 else Sequential(*block)
        super().__init__("sequential", {"layers": [inner, Layer("residual", {}, {})]}, common)


def Custom(layer: str, version: int = 1, config: Any = None, **common: Any) -> Layer:
    """A layer that welvet.register_layer or another host registered, by its name; `config` is what
    it reads, any JSON."""
    settings = {"layer": layer, "version": version, "config": {} if config is None else config}
    return Layer("custom", settings, common)
