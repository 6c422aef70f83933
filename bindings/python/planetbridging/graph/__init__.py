"""A network of Loom, written from another framework's graph.

Every front end (PyTorch, Keras, JAX, scikit-learn) walks its own model and calls one Graph:

* Tensors are Values (a cell of the network computes them) or Constants (numbers that are known:
  parameters by their names, and others). Shapes are the framework's, with the batch as an axis
  (shape.Batch), so that axes are counted as there.
* Graph has functions (unary, binary, reduce, transpose, reshape, take, concat, matmul, softmax,
  ...) and layers (dense, conv, batch_norm, layer_norm, recurrent, ...); `layer()` writes any other
  of docs/reference/layers.md.
* `graph.where` is the module that is being mapped: cells have its name, refusals name it.
* What is not mapped exactly raises Unmapped, with the module and the operator.
* `Absorbed` is the result: topology, weights, ports, and what else comes along.
"""
from __future__ import annotations

from ..errors import Unmapped
from .absorbed import Absorbed
from .cells import Port, Tensor, Value
from .constant import Constant
from .graph import Graph
from .shape import Batch, Shape, batch_axis, count, dims_of, from_rows, row_of, text_of, to_rows

__all__ = ["Absorbed", "Batch", "Constant", "Graph", "Port", "Shape", "Tensor", "Unmapped",
           "Value", "batch_axis", "count", "dims_of", "from_rows", "row_of", "text_of", "to_rows"]
