"""Cells and links: what a graph of values is written with."""
from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple, Union

import numpy as np

from .constant import Constant
from .shape import Batch, Shape, count, dims_of, row_of, text_of


class Value:
    """What a cell computes: `shape` is the framework's, with the axis that holds the batch.

    `dims` is how the network itself sees the row, None where a layer must be told, and `axis` what
    it holds the first of them to be: steps, channels, or anything. `ids`: an input of whole numbers
    below it.
    """

    def __init__(self, cell: int, shape: Shape, dims: Optional[Tuple[int, ...]] = None,
                 ids: int = 0, axis: str = "") -> None:
        self.cell, self.shape, self.dims, self.ids = cell, tuple(shape), dims, ids
        self.axis = axis

    @property
    def row(self) -> Tuple[int, ...]:
        return row_of(self.shape)

    def __repr__(self) -> str:
        return "Value(cell %d, %s)" % (self.cell, text_of(self.shape))


Tensor = Union[Value, Constant]


class Port:
    """An input or output of the network: its name there, its shape in the framework."""

    def __init__(self, name: str, shape: Shape, ids: int = 0) -> None:
        self.name, self.shape, self.ids = name, tuple(shape), ids

    def __repr__(self) -> str:
        return "Port(%r, %s%s)" % (self.name, text_of(self.shape),
                                   ", ids below %d" % self.ids if self.ids else "")


class Elsewhere(Exception):
    """A parameter lies in another cell already, and this one cannot be tied to it."""


class Cells:
    """The cells of a network while it is written; Graph adds what they compute."""

    def __init__(self) -> None:
        self._cells: List[Dict[str, Any]] = []  # cell i + 1; cell 0 hands on what arrives
        self._fills: List[Dict[str, Constant]] = []  # of each cell, by "role" or "/child:role"
        self._inputs: List[Port] = []
        self._shared: Dict[Any, int] = {}  # cells by what they compute and their parameters
        self._homes: Dict[Any, Tuple[str, Tuple[int, ...]]] = {}  # of trainable constants
        self._values: Dict[Any, Value] = {}  # constants that became cells
        self.repeated: Set[str] = set()  # parameters that several cells have: they see alike rows
        self.where = ""  # the module that is being mapped: the name of the cells that are made
        self.report: List[Tuple[str, str]] = []  # module, and the type of a cell that it became

    # ---- inputs

    def input(self, name: str, shape: Shape, ids: int = 0) -> Value:
        """An input, before any cell is made: `shape` has the batch's axis. `ids`: it holds whole
        numbers below this, as an embedding takes them."""
        if any("type" in cell and cell["type"] != "part" for cell in self._cells):
            raise RuntimeError("inputs come before layers")
        shape = tuple(shape)
        if not any(isinstance(axis, Batch) for axis in shape):
            raise ValueError("the input %s, %s, has no axis for the batch" % (name, text_of(shape)))
        self._inputs.append(Port(name, shape, ids))
        self._cells.append({"type": "part", "of": name, "links": [{"read": [0, 0, 0, 0]}]})
        self._fills.append({})
        return Value(len(self._cells), shape, dims_of(shape), ids)

    # ---- cells

    def cell(self, config: Dict[str, Any], operands: Sequence[Value], shape: Shape, *,
             dims: Optional[Sequence[int]] = None, merge: str = "",
             fills: Optional[Dict[str, Constant]] = None, label: str = "") -> Value:
        """One cell. `config` is its JSON (docs/reference/layers.md), `fills` its parameters by
        role; those that do not learn are fixed. A cell with the same config and parameters as an
        earlier one runs that cell's layer, so that shared modules stay shared."""
        fills = fills or {}
        cell = dict(config)
        if config.get("type") != "embedding":
            operands = [self.real(o) for o in operands]
        if len(operands) > 1 and not merge:  # side by side, whatever their dimensions
            operands = [self.seen_as(o, (count(o.row),), "flat") for o in operands]
        links = [{"read": [0, 0, 0, o.cell]} for o in operands]
        key = self._sharing_key(cell, operands, fills)
        home = self._shared.get(key) if key is not None else None
        if home is not None:
            cell, links = {}, links + [{"run": [0, 0, 0, home]}]
        else:
            if any(c.trainable and c.key in self._homes and (i > 0 or role.startswith("/"))
                   for i, (role, c) in enumerate(fills.items())):
                raise Elsewhere()
            self._place(cell, fills, len(self._cells) + 1)
            if key is not None:
                self._shared[key] = len(self._cells) + 1
        cell["links"] = links
        if merge:
            cell["merge"] = merge
        if label or self.where:
            cell["name"] = label or self.where
        self._cells.append(cell)
        self._fills.append({} if home is not None else
                           {r: c for r, c in fills.items() if r not in self._tied(cell, fills)})
        self.report.append((self.where, str(config.get("type", "join"))))
        return Value(len(self._cells), tuple(shape), None if dims is None else tuple(dims))

    def layer(self, config: Dict[str, Any], x: Union[Value, Sequence[Value]], shape: Shape, *,
              takes: Optional[Sequence[int]] = None, dims: Optional[Sequence[int]] = None,
              fills: Optional[Dict[str, Constant]] = None, label: str = "",
              axis: str = "steps") -> Value:
        """A layer that reads the dimensions of its input: `takes` are those of the first operand,
        by default its own without the batch; `dims` those that it makes, by default those of
        `shape`; `axis` what the first of them is. Several operands are merged as `operands`."""
        operands = [x] if isinstance(x, Value) else list(x)
        wanted = tuple(takes if takes is not None else dims_of(operands[0].shape)) or (1,)
        if self.repeated.intersection(n for c in (fills or {}).values() for n in c.names):
            first = operands[0]
            operands[0] = Value(first.cell, first.shape, None, first.ids)
        operands[0] = self.seen_as(operands[0], wanted, axis)
        for i in range(1, len(operands)):
            if operands[i].dims is None:
                operands[i] = self.seen_as(operands[i], dims_of(operands[i].shape) or (1,))
        made = tuple(dims if dims is not None else dims_of(shape)) or (1,)
        result = self.cell(config, operands, shape, dims=made, fills=fills, label=label,
                           merge="operands" if len(operands) > 1 else "")
        result.axis = axis
        return result

    def seen_as(self, x: Value, dims: Sequence[int], axis: str = "") -> Value:
        """The same numbers, with these dimensions for the layer that follows."""
        dims = tuple(int(d) for d in dims)
        if x.dims == dims and (not axis or x.axis == axis or not x.axis and axis != "flat"):
            return x
        if count(dims) != count(x.row):
            raise ValueError("%s does not go into %s" % (text_of(x.shape), list(dims)))
        config = {"type": "reshape", "dims": list(dims)} if len(dims) > 1 else {"type": "flatten"}
        made = self.cell(config, [x], x.shape, dims=dims)
        made.axis = "flat" if axis == "flat" else ""
        return made

    def real(self, x: Value) -> Value:
        """Ids as numbers, by a table of them."""
        if not x.ids:
            return x
        key = ("ids", x.cell)
        if key not in self._values:
            table = Constant.of(np.arange(x.ids, dtype=np.float32).reshape(-1, 1))
            self._values[key] = self.cell({"type": "embedding", "out": 1}, [x], x.shape,
                                          fills={"weight": table})
        return Value(self._values[key].cell, x.shape)

    # ---- parameters

    def _sharing_key(self, cell: Dict[str, Any], operands: Sequence[Value],
                     fills: Dict[str, Constant]) -> Any:
        if not any(c.trainable for c in fills.values()):
            return None
        return (json.dumps(cell, sort_keys=True), tuple(o.dims or o.row for o in operands),
                tuple((role, c.key) for role, c in sorted(fills.items())))

    def _tied(self, cell: Dict[str, Any], fills: Dict[str, Constant]) -> Sequence[str]:
        return list(fills)[:1] if "tie" in cell else ()

    def _place(self, cell: Dict[str, Any], fills: Dict[str, Constant], at: int) -> None:
        """Where each constant lies: the first of a cell that learns and lies elsewhere is tied to
        that; what does not learn is fixed."""
        for i, (role, constant) in enumerate(fills.items()):
            if not constant.trainable:
                continue
            home = self._homes.setdefault(constant.key, ("0.0.0.%d:%s" % (at, role),
                                                         constant.shape))
            if home[0] != "0.0.0.%d:%s" % (at, role):
                cell["tie"] = home[0]
        fixed = [role for role, constant in fills.items() if not constant.trainable]
        if fixed:
            cell["fixed"] = ["all"] if len(fixed) == len(fills) else fixed

    def value(self, x: Tensor) -> Value:
        """A tensor as a value: a constant becomes a cell whose parameter it is."""
        if isinstance(x, Value):
            return x
        if x.key not in self._values:
            zero = self._values.get("zero")
            if zero is None:
                zero = self.cell({"type": "index_select", "runs": [-1, 0, 1]},
                                 [self._any()], (1,), dims=(1,))
                self._values["zero"] = zero
            self._values[x.key] = self.cell(
                {"type": "binary", "op": "add", "shapes": [[1]], "constant": list(x.shape) or [1]},
                [zero], x.shape, fills={"value": x})
        return self._values[x.key]

    def _any(self) -> Value:
        """Numbers of the input, of whatever kind, for what does not look at them."""
        for i, port in enumerate(self._inputs):
            if not port.ids:
                return Value(i + 1, port.shape, dims_of(port.shape))
        port = self._inputs[0]
        return self.real(Value(1, port.shape, dims_of(port.shape), port.ids))

    # ---- the end

    def topology(self, outputs: Sequence[Tuple[str, Value]]) -> Dict[str, Any]:
        """The network's topology: the last cell is the output, or has the outputs side by side."""
        last = len(self._cells)
        if len(outputs) > 1:
            self.cell({}, [self.seen_as(v, dims_of(v.shape) or (1,)) for _, v in outputs], (),
                      merge="operands", label="outputs")
        else:
            value = self.seen_as(outputs[0][1], dims_of(outputs[0][1].shape) or (1,))
            if value.cell != len(self._cells) or value.cell == last and not self._cells:
                self.cell({}, [value], value.shape, label="output")
        self._chained()
        given: Dict[str, Any] = {"parts": [self._described(p) for p in self._inputs]}
        made = {"format": "loom-topology", "version": 3, "layers_per_cell": len(self._cells) + 1,
                "input": given,
                "cells": [{"at": [0, 0, 0, i + 1], **cell} for i, cell in enumerate(self._cells)]}
        if len(outputs) > 1:
            made["outputs"] = [name for name, _ in outputs]
        return made

    def _chained(self) -> None:
        """Cells that each take what the cell before hands on need no links, and a chain of them
        learns by every method (docs/guide/methods.md)."""
        if len(self._inputs) == 1 and not self._inputs[0].ids and all(
                "merge" not in cell and cell.get("links") == [{"read": [0, 0, 0, i]}]
                for i, cell in enumerate(self._cells)):
            for cell in self._cells:
                del cell["links"]

    @staticmethod
    def _described(port: Port) -> Dict[str, Any]:
        dims = list(dims_of(port.shape)) or ([1] if port.ids else [])
        made: Dict[str, Any] = {"name": port.name}
        if port.ids:
            made["ids"] = port.ids
        if dims and (port.ids or len(dims) > 1):
            made["dims"] = dims
        elif not port.ids:
            made["width"] = dims[0] if dims else 1
        return made

    def fills(self) -> List[Tuple[str, Constant]]:
        """The parameters of the network, "0.0.0.3:weight", and what they hold."""
        return [("0.0.0.%d%s" % (i + 1, role if role.startswith("/") else ":" + role), constant)
                for i, fills in enumerate(self._fills) for role, constant in fills.items()]
