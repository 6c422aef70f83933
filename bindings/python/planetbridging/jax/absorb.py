"""From a function of JAX, or a module of Flax, to a network: by its jaxpr."""
from __future__ import annotations

from typing import Any, Callable, List, Mapping, Optional, Sequence, Set, Tuple, Union

import numpy as np

from ..errors import Unmapped
from ..graph.absorbed import Absorbed
from ..graph.cells import Value
from ..graph.overlaps import overlapping
from ..graph.shape import Batch, Shape
from . import arithmetic, movement, products, windows  # noqa: F401  (they register)
from .walk import Ids, NeedsIds, Walk, batched, run

Learns = Callable[[str], bool]


def from_jax(function: Any, params: Any, *args: Any,
             batch_axis: Union[int, Sequence[Optional[int]]] = 0,
             ids: Optional[Mapping[str, int]] = None, trainable: Optional[Learns] = None,
             names: Optional[Sequence[str]] = None) -> Absorbed:
    """What `function(params, *args)` computes, as a network.

    function    pure, traced once; or a module of flax.linen, whose `apply` it then is, with its
                variables as `params`; or one of flax.nnx, with `params` None
    args        examples: arrays or jax.ShapeDtypeStruct; arrays of whole numbers are ids
    batch_axis  of the arguments, one for all or one for each
    ids         for arguments of ids that no table says: how many there are, by name
    trainable   which parameters learn, by name; by default all floats, but of Flax's collections
                only `params` (of nnx: those of type Param)
    names       of the arguments; by default x, or x0, x1, ...

    Parameters are named by their places in the tree: "params/Dense_0/kernel". Raises Unmapped with
    the primitive for what no layer of Loom computes.
    """
    import jax
    function, params, learns = _pure(function, params)
    leaves, tree = jax.tree_util.tree_flatten_with_path(params)
    named = {"/".join(_key(k) for k in path) or "params":
             leaf if hasattr(leaf, "shape") else np.asarray(leaf) for path, leaf in leaves}
    if len(named) != len(leaves):
        raise ValueError("two parameters of one name")
    learns = trainable or learns or _learning(named)
    arguments = [_argument(a) for a in args]
    ports, shapes = _ports(arguments, batch_axis, names)
    closed, out = _traced(function, params, arguments, shapes)
    counts = dict(ids or {})
    loose: Set[str] = set()
    for _ in range(len(named) + len(args) + 1):
        try:
            walk, made = _walked(closed, named, learns, ports, shapes, arguments, counts, loose)
        except NeedsIds as e:
            counts[e.name] = e.count
            continue
        more = walk.g.clashes | overlapping(walk.g.fills(), {n: tuple(a.shape) for n, a in
                                                             named.items()})
        if not more - loose:
            break
        loose |= more
    if more - loose or any(n in loose for n in more):
        raise Unmapped("the function", "a shared parameter, " + ", ".join(sorted(more)),
                       "it is used in ways that no layer shares")
    flat, structure = jax.tree_util.tree_flatten(out)
    outputs = [("y" if len(flat) == 1 else "y%d" % i, v) for i, v in enumerate(made)]

    def put(rows: List[np.ndarray]) -> Any:
        return jax.tree_util.tree_unflatten(structure, rows)

    return Absorbed(walk.g, outputs, lambda name: np.asarray(named[name]), structure=put,
                    metadata={"framework": "jax", "version": jax.__version__})


def _ports(arguments: Sequence[Any], batch_axis: Union[int, Sequence[Optional[int]]],
           names: Optional[Sequence[str]]) -> Tuple[List[str], List[Shape]]:
    """Names of the arguments, and their shapes with the batch's axis."""
    n = len(arguments)
    ports = list(names or (["x"] if n == 1 else ["x%d" % i for i in range(n)]))
    axes = [batch_axis] * n if isinstance(batch_axis, int) else list(batch_axis)
    if len(ports) != n or len(axes) != n:
        raise ValueError("%d arguments: each has a name and the axis that is its batch" % n)
    shapes: List[Shape] = []
    for name, axis, a in zip(ports, axes, arguments):
        rank = len(a.shape)
        if axis is None or not -rank <= axis < rank:
            raise ValueError("%s: %s is no axis of %s" % (name, axis, tuple(a.shape)))
        shapes.append(tuple(Batch() if i == axis % rank else int(m)
                            for i, m in enumerate(a.shape)))
    return ports, shapes


def _key(part: Any) -> str:
    for what in ("key", "name", "idx"):
        if hasattr(part, what):
            return str(getattr(part, what))
    return str(part)


def _pure(function: Any, params: Any) -> Tuple[Callable[..., Any], Any, Optional[Learns]]:
    """A function of a tree, from a module of Flax too."""
    module = type(function).__mro__
    if any(c.__module__.startswith("flax.linen") for c in module):
        def applied(variables: Any, *args: Any) -> Any:
            return function.apply(variables, *args)
        return applied, params, None
    if any(c.__module__.startswith("flax.nnx") for c in module):
        from flax import nnx
        if params is not None:
            raise TypeError("a module of flax.nnx has its own parameters: pass None")
        graph, own, rest = nnx.split(function, nnx.Param, ...)
        state = {"params": nnx.to_pure_dict(own), "state": nnx.to_pure_dict(rest)}

        def merged(tree: Any, *args: Any) -> Any:
            nnx.replace_by_pure_dict(own, tree["params"])
            nnx.replace_by_pure_dict(rest, tree["state"])
            return nnx.merge(graph, own, rest)(*args)
        return merged, state, lambda name: name.startswith("params/")
    return function, params, None


def _learning(named: Mapping[str, Any]) -> Learns:
    of_flax = any(name.startswith("params/") for name in named)
    return lambda name: name.startswith("params/") or not of_flax


def _argument(x: Any) -> Any:
    import jax
    if isinstance(x, jax.ShapeDtypeStruct):
        return x
    if not hasattr(x, "shape") or not hasattr(x, "dtype"):
        x = np.asarray(x, np.float32)
    return jax.ShapeDtypeStruct(tuple(x.shape), x.dtype)


def _traced(function: Callable[..., Any], params: Any, arguments: Sequence[Any],
            shapes: Sequence[Shape]) -> Tuple[Any, Any]:
    """The jaxpr for any number of samples."""
    import jax
    from jax import export
    (b,) = export.symbolic_shape("b")
    given = [jax.ShapeDtypeStruct(tuple(b if isinstance(n, Batch) else n for n in shape), a.dtype)
             for shape, a in zip(shapes, arguments)]
    try:
        return jax.make_jaxpr(function, return_shape=True)(params, *given)
    except Exception as e:
        if type(e).__name__ not in ("InconclusiveDimensionOperation", "TracerBoolConversionError",
                                    "ConcretizationTypeError", "TracerIntegerConversionError",
                                    "TracerArrayConversionError"):
            raise
        raise Unmapped("the function", "code that needs the number of samples or the data",
                       str(e).split("\n")[0]) from e


def _walked(closed: Any, named: Mapping[str, Any], learns: Learns, ports: Sequence[str],
            shapes: Sequence[Shape], arguments: Sequence[Any], counts: Mapping[str, int],
            loose: Set[str]) -> Tuple[Walk, List[Value]]:
    walk = Walk(named, learns, loose)
    given: List[Any] = []
    for name, shape, a in zip(ports, shapes, arguments):
        whole = np.issubdtype(a.dtype, np.integer) or a.dtype == np.bool_
        count = int(counts.get(name, 0)) if whole else 0
        value = walk.g.input(name, shape, ids=count)
        given.append(Ids(name, value) if whole else value)
    tensors = [walk.named(name) for name in named] + given
    made = run(walk, closed.jaxpr, closed.consts, tensors)
    return walk, [batched(walk, walk.value(v), var.aval) for v, var in
                  zip(made, closed.jaxpr.outvars)]


__all__: List[str] = ["from_jax"]
