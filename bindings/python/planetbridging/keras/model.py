"""From a model of Keras to a network: the graph of its layers."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Sequence, Set, Tuple

import numpy as np

from ..errors import Unmapped
from ..graph.absorbed import Absorbed
from ..graph.cells import Value
from ..graph.constant import Constant
from ..graph.overlaps import overlapping
from ..graph.shape import batch_axis
from . import attention, basic, operations, recurrent, spatial  # noqa: F401  (they register)
from .training import bring_training
from .walk import HANDLERS, Walk, numpy_of, shape_of, with_batch


def from_keras(model: Any, *, ids: Optional[Dict[str, int]] = None) -> Absorbed:
    """A Sequential or functional model of Keras 3, on any backend, as a network.

    `ids`: for inputs that hold whole numbers which no Embedding says, how many there are.
    Raises Unmapped with the layer's path and class for what no layer of Loom computes.
    """
    import keras
    if not isinstance(model, keras.Model):
        raise TypeError("expects a keras.Model, not %s: a SavedModel, a function of TensorFlow or "
                        "a file has no layers to read here; keras.models.load_model reads a .keras "
                        "file" % type(model).__name__)
    graph = _graph_of(model)
    if graph is None:
        if isinstance(model, keras.Sequential) or not model.built:
            raise Unmapped(model.name, type(model).__name__,
                           "it is not built: give it a keras.Input, or call it once")
        raise Unmapped(model.name, type(model).__name__,
                       "a subclassed model has no graph of layers: write it with keras.Model("
                       "inputs, outputs)")
    names, variables = _names(model)

    def read(name: str) -> np.ndarray:
        return numpy_of(variables[name])

    loose: Set[str] = set()
    for _ in range(len(variables) + 1):
        walk, outputs = _walked(graph, names, variables, loose, ids or {})
        more = walk.g.clashes | overlapping(walk.g.fills(), {n: v.shape for n, v in
                                                             variables.items()})
        if not more - loose:
            break
        loose = loose | more
    if more:
        raise Unmapped(model.name, "a shared parameter, " + ", ".join(sorted(more)),
                       "it is used in ways that no layer shares")
    absorbed = Absorbed(walk.g, _named(graph, outputs), read, structure=_structure(graph),
                        metadata={"framework": "keras", "version": keras.__version__,
                                  "model": model.name})
    reduced = ["%s (%s)" % (layer.name, layer.compute_dtype) for layer in model._flatten_layers()
               if getattr(layer, "compute_dtype", None) in ("float16", "bfloat16")
               and not isinstance(layer, keras.Model)]
    if reduced:  # Keras rounds there
        absorbed.metadata["in_float32"] = ", ".join(reduced)
    bring_training(model, absorbed, names)
    return absorbed


def _graph_of(model: Any) -> Any:
    """The functional graph of a model, None where it has none."""
    graph = getattr(model, "_functional", None) if type(model).__name__ == "Sequential" else model
    return graph if hasattr(graph, "_nodes_by_depth") else None


def _names(model: Any) -> Tuple[Dict[int, str], Dict[str, Any]]:
    """Variables by path; those of equal paths are counted."""
    names: Dict[int, str] = {}
    variables: Dict[str, Any] = {}
    for variable in model.variables:
        name, n = variable.path, 1
        while name in variables:
            n += 1
            name = "%s#%d" % (variable.path, n)
        names[id(variable)], variables[name] = name, variable
    return names, variables


def _nodes(graph: Any) -> Iterator[Any]:
    for depth in sorted(graph._nodes_by_depth, reverse=True):
        yield from graph._nodes_by_depth[depth]


def _flat(x: Any) -> List[Any]:
    """The tensors of nested lists and dictionaries, in Keras' order."""
    if isinstance(x, dict):
        return [t for key in sorted(x) for t in _flat(x[key])]
    if isinstance(x, (list, tuple)):
        return [t for part in x for t in _flat(part)]
    return [x]


def _tables(graph: Any, found: Dict[int, Set[Any]], alias: Dict[int, int]) -> None:
    """Which sizes of tables, or None for numbers, read each tensor; inputs of a nested model are
    those that it is called with."""
    for node in _nodes(graph):
        if node.is_input:
            continue
        inner = _graph_of(node.operation)
        given = [alias.get(id(t), id(t)) for t in node.input_tensors]
        if inner is not None:
            ports = {id(t): g for t, g in zip(_flat(inner._inputs_struct), given)}
            _tables(inner, found, ports)
            continue
        size = (int(node.operation.input_dim) if type(node.operation).__name__ == "Embedding"
                else None)
        for tensor in given:
            found.setdefault(tensor, set()).add(size)


def _walked(graph: Any, names: Dict[int, str], variables: Dict[str, Any], loose: Set[str],
            ids: Dict[str, int]) -> Tuple[Walk, List[Value]]:
    walk = Walk(names, loose)
    walk.whole = {n: walk.named(variables[n]) for n in loose}
    found: Dict[int, Set[Any]] = {}
    _tables(graph, found, {})
    given: List[Any] = []
    for tensor in _flat(graph._inputs_struct):
        if getattr(tensor, "ragged", False):
            raise Unmapped(tensor.name, "a ragged input", "all samples have one shape")
        sizes = found.get(id(tensor), set()) - {None}
        if len(sizes) > 1:
            raise Unmapped(tensor.name, "ids of tables of different sizes",
                           ", ".join(str(s) for s in sorted(sizes)))
        count = ids.get(tensor.name, max(sizes, default=0))
        given.append(walk.g.input(tensor.name, shape_of(tensor, tensor.name), ids=count))
    made = _flat(_run(walk, graph, given, ""))
    shapes = [t.shape for t in _flat(graph._outputs_struct)]
    return walk, [with_batch(walk.g, walk.value(v), (shape_of(t, "the output")))
                  if shapes else v for v, t in zip(made, _flat(graph._outputs_struct))]


def _run(walk: Walk, graph: Any, given: Sequence[Any], path: str) -> Any:
    """The outputs of a graph of values."""
    tensors: Dict[int, Any] = {id(t): v for t, v in zip(_flat(graph._inputs_struct), given)}

    def taken(x: Any) -> Any:
        if isinstance(x, dict):
            return {key: taken(part) for key, part in x.items()}
        if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
            return type(x)(taken(part) for part in x)
        return tensors[id(x)] if _is_tensor(x) else x

    for node in _nodes(graph):
        if node.is_input:
            continue
        where = path + node.operation.name
        walk.g.where, walk.outputs = where, list(node.outputs)
        args = taken(node.arguments.args)
        kwargs = taken(node.arguments.kwargs)
        kwargs.pop("training", None)
        inner = _graph_of(node.operation)
        if inner is not None:
            inputs = _flat(args[0] if len(args) == 1 else list(args))
            made = _flat(_run(walk, inner, inputs, where + "/"))
        else:
            made = _flat(call(walk, node.operation, *args, **kwargs))
        walk.g.where = where
        _check(walk, made, node.outputs)
        for tensor, value in zip(node.outputs, made):
            tensors[id(tensor)] = value
    return [tensors[id(t)] for t in _flat(graph._outputs_struct)]


def _is_tensor(x: Any) -> bool:
    import keras
    return isinstance(x, keras.KerasTensor)


def _is_layer(x: Any) -> bool:
    import keras
    return isinstance(x, keras.layers.Layer)


def call(walk: Walk, layer: Any, *args: Any, **kwargs: Any) -> Any:
    """One layer or operation."""
    kind = type(layer)
    handler = HANDLERS.get(kind.__name__ if _is_layer(layer) else "ops." + kind.__name__)
    if handler is None or not kind.__module__.startswith("keras."):
        why = ("" if kind.__module__.startswith("keras.") else
               "a class of the model's code, whose call no one knows")
        raise walk.refuse(kind.__name__, why)
    if kwargs.get("mask", None) is None:
        kwargs.pop("mask", None)
    try:
        return handler(walk, layer, *args, **kwargs)
    except Unmapped:
        raise
    except ValueError as e:
        raise walk.refuse(kind.__name__, str(e)) from e
    except TypeError as e:
        if "unexpected keyword argument" not in str(e):
            raise
        raise walk.refuse(kind.__name__, "called with %s" % ", ".join(sorted(kwargs))) from e


def _check(walk: Walk, made: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Shapes must be those that Keras says: a difference is a mistake here, not in the model."""
    if len(made) != len(outputs):
        raise walk.refuse("a layer with %d outputs" % len(outputs), "%d are mapped" % len(made))
    for value, tensor in zip(made, outputs):
        if batch_axis(value.shape) is not None and (
                len(value.shape) != len(tensor.shape) or any(
                    n is not None and n != m for n, m in zip(tensor.shape[1:], value.shape[1:]))):
            raise walk.refuse("the shape %s" % (tuple(tensor.shape),),
                              "here it would be %s" % (value.shape,))


def _named(graph: Any, outputs: Sequence[Value]) -> List[Tuple[str, Value]]:
    """Outputs by the names that Keras has for them."""
    struct = graph._outputs_struct
    if isinstance(struct, dict):
        names = sorted(struct)
    else:
        producers = {id(t): node.operation.name for node in _nodes(graph) for t in node.outputs}
        names = [producers.get(id(t), t.name) for t in _flat(struct)]
    made: List[Tuple[str, Value]] = []
    for name, value in zip(names, outputs):
        base, n = name, 1
        while name in [other for other, _ in made]:
            n += 1
            name = "%s_%d" % (base, n)
        made.append((name, value))
    return made


def _structure(graph: Any) -> Any:
    struct = graph._outputs_struct
    if isinstance(struct, dict):
        return lambda rows: dict(zip(sorted(struct), rows))
    if isinstance(struct, (list, tuple)):
        return lambda rows: type(struct)(rows)
    return None


__all__ = ["from_keras", "call", "Constant"]
