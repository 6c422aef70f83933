"""Layers of layers, what arrives at a network, and layers that a host registered."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

from ._base import Container, Layer, checked, tree, with_links


class Input(Layer):
    """What arrives at a network, the first of its Sequential: Input(784) values, Input(1, 28, 28)
    values with dimensions (channels first; steps, then features), Input(40, ids=512) rows of 40 ids
    below 512, or Input(ids=512) single ids, positions of sequences that go on in other rows, as
    language models have them. `axis`: what the first dimension counts, "steps" or "channels"; None:
    what the first layer takes it for. `name`: of one of several inputs of a Model."""

    dims: List[int]
    ids: int
    axis: Optional[str]
    name: Optional[str]
    _kind = "input"
    _made: Any = None

    @checked
    def __init__(self, *dims: int, ids: int = 0, axis: Optional[str] = None,
                 name: Optional[str] = None) -> None:
        if not dims and not ids:
            raise TypeError("Input: give sizes, or ids=")
        if len(dims) > 1 and ids:
            raise TypeError("Input: a row of ids has one dimension, its steps")
        if name == "":
            raise TypeError("Input: a name is a text, got ''")
        super().__init__("input", {"dims": list(dims), "ids": ids or None, "axis": axis,
                                   "name": name})

    @property
    def described(self) -> Dict[str, Any]:
        """What a topology says of it."""
        out: Dict[str, Any] = {"ids": self["ids"]} if self.ids else {}
        if len(self.dims) == 1 and not self.ids:
            out["width"] = self.dims[0]
        elif self.dims:
            out["dims"] = list(self.dims)
        if self.axis is not None:
            out["axis"] = self.axis
        return out

    def value(self) -> Any:
        """The value that stands for it in a Model: one, however many layers take it."""
        from .model import InputValue

        if self._made is None:
            self._made = InputValue(self)
        return self._made

    def __add__(self, other: Any) -> Any:
        return self.value() + other

    def __sub__(self, other: Any) -> Any:
        return self.value() - other

    def __mul__(self, other: Any) -> Any:
        return self.value() * other

    def __truediv__(self, other: Any) -> Any:
        return self.value() / other


class Sequential(Container):
    """Layers one after another: a network where the first is an Input, else a layer of another one.
    One object in several places is one set of weights, as in PyTorch, where the first of them is on
    the network's top level. `dtype` is that of all its layers which name none; `name`, `enabled`,
    `tie` and `fixed` are of a layer in another one, not of a network. `self[0]` is the first
    layer."""

    _kind = "sequential"

    @checked
    def __init__(self, *layers: Any, dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        if len(layers) == 1 and isinstance(layers[0], (list, tuple)):  # as Keras has it
            layers = tuple(layers[0])
        for i, layer in enumerate(layers):
            if isinstance(layer, Input) and i > 0:
                raise TypeError("Sequential: an Input is the first of a network's layers")
            if isinstance(layer, Input) and layer.name is not None:
                raise TypeError("Sequential: takes one Input, without a name: several by name are "
                                "those of a Model")
        super().__init__("sequential", {"layers": list(layers)},
                         {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie,
                          "fixed": fixed})

    def topology(self, input: Optional[Input] = None) -> Dict[str, Any]:
        """The topology of a network of these layers: one cell each. `input`: in place of a first
        Input."""
        cells: List[Layer] = self["layers"]
        if cells and isinstance(cells[0], Input):
            input, cells = cells[0], cells[1:]
        if input is None:
            raise TypeError("Sequential: a network begins with an Input: Sequential(Input(784), "
                            "...)")
        for key in ("name", "enabled", "tie", "fixed"):
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


class Residual(Container):
    """x + block(x) for the layers of a block. Without any: adds, inside of a Sequential, the input
    of the layer before it to its output."""

    _kind = "residual"

    @checked
    def __init__(self, *block: Layer, dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        common = {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed}
        if not block:
            super().__init__("residual", {}, common)
            return
        inner = block[0] if len(block) == 1 else Sequential(*block)
        super().__init__("sequential", {"layers": [inner, Residual()]}, common)

    def __repr__(self) -> str:
        if "layers" not in self:
            return super().__repr__()
        return tree("Residual", [("0", repr(self["layers"][0]))])


class Metacognition(Container):
    """Computes the layer that it wraps. A session watches the output of that layer and changes it
    between runs, by rules (docs/guide/metacognition.md); `session.trace()` says what was done.

    * `rules`: a list of dicts such as {"when": "std", "below": 0.1, "do": "morph", "dtype": "i4"},
      whose keys are in docs/reference/topology.md, or "default".
    * `every`: runs 0, every, 2 * every, ... of a session are observed; at least 1.
    * `gate`: the output is multiplied by this; 0 to 1.
    * `frozen`: trainers leave the weights of the layer as they are.
    """

    rules: Any
    every: int
    gate: float
    frozen: bool
    _kind = "metacognition"

    @checked
    def __init__(self, layer: Layer, *, rules: Any = None, every: int = 1, gate: float = 1.0,
                 frozen: bool = False, dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        if rules is not None and not isinstance(rules, str):
            rules = [dict(rule) for rule in rules]
        super().__init__("metacognition", {"layers": [layer], "rules": rules, "every": every,
                                           "gate": gate, "frozen": frozen},
                         {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie,
                          "fixed": fixed})


class Custom(Layer):
    """A layer that welvet.register_layer or another host registered, by its name; `config` is what
    it reads, any JSON."""

    layer: str
    version: int
    config: Any
    _kind = "custom"

    @checked
    def __init__(self, layer: str, version: int = 1, config: Any = None, *,
                 dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("custom", {"layer": layer, "version": version,
                                    "config": {} if config is None else config},
                         {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie,
                          "fixed": fixed})
