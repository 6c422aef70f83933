"""What layers.py builds with: a cell, and the layers that are more than a cell's settings."""
from __future__ import annotations

from typing import Any, Dict, List, Optional


class Layer(Dict[str, Any]):
    """A cell: its type and settings. Settings that stand at their defaults are left out."""

    def __init__(self, type: str, settings: Dict[str, Any], common: Dict[str, Any]) -> None:
        unknown = sorted(set(common) - {"dtype", "name", "enabled", "tie"})
        if unknown:
            raise TypeError("%s: no setting %r" % (type, unknown[0]))
        super().__init__(type=type)
        for key, value in {**settings, **common}.items():
            if value is not None:
                self[key] = list(value) if isinstance(value, tuple) else value


class Input(Layer):
    """What arrives at a network, the first of its Sequential: Input(784) values, Input(1, 28, 28)
    values with dimensions (channels first; steps, then features), Input(40, ids=512) rows of 40 ids
    below 512, or Input(ids=512) single ids, positions of sequences that go on in other rows, as
    language models have them. `axis`: what the first dimension counts, "steps" or "channels"; None:
    what the first layer takes it for."""

    def __init__(self, *dims: int, ids: int = 0, axis: Optional[str] = None) -> None:
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


class Sequential(Layer):
    """Layers one after another: a network where the first is an Input, else a layer of another one."""

    def __init__(self, *layers: Layer, **common: Any) -> None:
        for i, layer in enumerate(layers):
            if isinstance(layer, Input) and i > 0:
                raise TypeError("Sequential: an Input is the first of a network's layers")
        super().__init__("sequential", {"layers": list(layers)}, common)

    def topology(self, input: Optional[Input] = None) -> Dict[str, Any]:
        """The topology of a network of these layers: one cell each. `input`: in place of a first
        Input."""
        cells: List[Layer] = self["layers"]
        if cells and isinstance(cells[0], Input):
            input, cells = cells[0], cells[1:]
        if input is None:
            raise TypeError("Sequential: a network begins with an Input: Sequential(Input(784), ...)")
        return {"format": "loom-topology", "version": 2, "layers_per_cell": max(1, len(cells)),
                "input": input.described, "cells": [{"at": [0, 0, 0, i], **cell} for i, cell in enumerate(cells)]}


class Residual(Layer):
    """x + block(x) for the layers of a block. Without any: adds, inside of a Sequential, the input
    of the layer before it to its output."""

    def __init__(self, *block: Layer, **common: Any) -> None:
        if not block:
            super().__init__("residual", {}, common)
            return
        inner = block[0] if len(block) == 1 else Sequential(*block)
        super().__init__("sequential", {"layers": [inner, Layer("residual", {}, {})]}, common)
