"""The walk through a jaxpr: what each variable became, and the primitives' functions by name."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Union

import numpy as np

from ..errors import Unmapped
from ..graph.cells import Value
from ..graph.constant import Constant
from ..graph.laid import Laid
from ..graph.overlaps import Shared
from ..graph.shape import Axis, Batch, batch_axis, row_of

STEPS = 512  # longest scan that is written step by step


class NeedsIds(Exception):
    """An argument of ids into a table of `count`: inputs are described before all cells."""

    def __init__(self, name: str, count: int) -> None:
        self.name, self.count = name, count
        super().__init__(name)


class Ids:
    """A function of single ids of an argument: what it is for each."""

    def __init__(self, name: str, value: Value,
                 how: Callable[[np.ndarray], np.ndarray] = lambda ids: ids) -> None:
        self.name, self.value, self.how = name, value, how

    @property
    def shape(self) -> Tuple[Axis, ...]:
        return self.value.shape

    def then(self, how: Callable[[np.ndarray], Any]) -> "Ids":
        before = self.how
        return Ids(self.name, self.value, lambda ids: np.asarray(how(before(ids))))

    def table(self) -> np.ndarray:
        return np.asarray(self.how(np.arange(self.value.ids)))


class Pending(Value):
    """A product that may yet get a bias: its cell is made when something reads it."""

    def __init__(self, shape: Sequence[Axis], free: Sequence[int],
                 make: Callable[[Optional[Constant]], Value]) -> None:
        self.shape, self.free, self.make = tuple(shape), tuple(free), make
        self.dims, self.ids, self.axis = None, 0, ""
        self._made: Optional[Value] = None

    @property
    def made(self) -> Value:
        if self._made is None:
            self._made = self.make(None)
        return self._made

    @property
    def untouched(self) -> bool:
        return self._made is None

    @property
    def cell(self) -> int:  # type: ignore[override]
        return self.made.cell


class Refused:
    """What is refused once something reads it: noise of a branch that does not count."""

    def __init__(self, error: Unmapped) -> None:
        self.error = error


Known = Union[Value, Constant, Ids, Refused]
Handler = Callable[..., Any]
HANDLERS: Dict[str, Handler] = {}


def maps(*names: str) -> Callable[[Handler], Handler]:
    """Says which primitives a function maps: it takes the walk, the equation, and its inputs."""
    def register(function: Handler) -> Handler:
        for name in names:
            HANDLERS[name] = function
        return function
    return register


class Walk:
    """What a primitive's function writes with: `g` the network, `named` the parameters."""

    def __init__(self, named: Mapping[str, Any], learns: Callable[[str], bool],
                 loose: Set[str]) -> None:
        self.g, self.arrays, self.learns, self.loose = Shared(), named, learns, loose
        self.path: List[str] = []
        self.largest: Set[int] = set()  # cells of maxima over axes

    def named(self, name: str) -> Union[Constant, Refused]:
        if is_key(self.arrays[name]):
            return Refused(Unmapped(name, "random keys", "noise of the function"))
        array = np.asarray(self.arrays[name])
        return Constant.named(name, array, bool(np.issubdtype(array.dtype, np.floating)
                                                and self.learns(name)))

    def refuse(self, what: str, why: str = "") -> Unmapped:
        return Unmapped("/".join(p for p in self.path if p), what, why)

    def value(self, x: Known) -> Value:
        if isinstance(x, Refused):
            raise x.error
        if isinstance(x, Ids):
            if not x.value.ids:
                raise self.refuse("the argument %s" % x.name,
                                  "whole numbers that are not only looked up: say how many there "
                                  "are, ids={%r: n}" % x.name)
            table = Constant.of(x.table().astype(np.float32).reshape(-1, 1))
            made = self.g.embedding(x.value, table)
            return self.g.value(self.g.reshape(made, sizes_of(x.shape)))
        if isinstance(x, Pending):
            return x.made
        if isinstance(x, Constant) and x.trainable and any(n in self.loose for n in x.names):
            return self.loosened(x)
        return self.g.value(x)

    def plain(self, x: Known) -> Union[Value, Constant]:
        """A value, or a constant as it is; parameters with several uses are one cell."""
        if isinstance(x, Constant) and not (x.trainable and any(n in self.loose
                                                                for n in x.names)):
            return x
        return self.value(x)

    def loosened(self, x: Constant) -> Value:
        if len(x.names) != 1:
            raise self.refuse("a shared parameter, %s" % ", ".join(x.names),
                              "joined with others where it is used")
        whole = self.named(x.names[0])
        assert isinstance(whole, Constant)
        places = x.read(lambda _: np.arange(whole.array.size).reshape(whole.shape))
        holder = self.g.value(whole)
        if places.shape == whole.shape and (places.ravel() == np.arange(places.size)).all():
            return holder
        return self.g.gather(holder, places, places.shape)


def sizes_of(shape: Sequence[Axis]) -> List[Any]:
    return [None if isinstance(n, Batch) else n for n in shape]


def at_one(x: Any) -> Any:
    """Sizes for one sample."""
    if isinstance(x, (tuple, list)):
        parts = [at_one(n) for n in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return int(x._evaluate({"b": 1})) if hasattr(x, "_evaluate") else x


def symbolic(n: Any) -> bool:
    return not isinstance(n, (int, np.integer))


def row(aval: Any) -> Tuple[int, ...]:
    return tuple(int(at_one(n)) for n in aval.shape)


def batched(walk: Walk, x: Value, aval: Any) -> Value:
    """A value that has the batch where JAX says: numbers without it are those of all samples."""
    where = [i for i, n in enumerate(aval.shape) if symbolic(n)]
    if not where or batch_axis(x.shape) is not None:
        return x
    spread = walk.g.value(walk.g.expand(x, row(aval)))
    shape: List[Axis] = list(spread.shape)
    shape[where[0]] = Batch(1, row(aval)[where[0]])
    return Value(spread.cell, tuple(shape), spread.dims)


def known(x: Known) -> bool:
    """Numbers that nothing changes."""
    return isinstance(x, Constant) and not x.trainable


def run(walk: Walk, jaxpr: Any, consts: Sequence[Any], given: Sequence[Any]) -> List[Any]:
    """The outputs of a jaxpr of tensors."""
    variables: Dict[Any, Any] = dict(zip(jaxpr.constvars, (
        c if isinstance(c, (Value, Constant, Ids, Refused)) else _constant(c) for c in consts)))
    variables.update(zip(jaxpr.invars, given))

    def read(atom: Any) -> Any:
        return Constant.of(np.asarray(atom.val)) if hasattr(atom, "val") else variables[atom]

    for eqn in jaxpr.eqns:
        inputs = [read(atom) for atom in eqn.invars]
        outputs = _equation(walk, eqn, inputs)
        for var, out in zip(eqn.outvars, outputs):
            variables[var] = out
    return [read(atom) for atom in jaxpr.outvars]


def is_key(x: Any) -> bool:
    import jax
    return hasattr(x, "dtype") and bool(jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key))


def _constant(x: Any) -> Any:
    if is_key(x):
        return Refused(Unmapped("the function", "random keys", "noise of the function"))
    return Constant.of(np.asarray(x))


def _equation(walk: Walk, eqn: Any, inputs: List[Any]) -> List[Any]:
    name = eqn.primitive.name
    bad = next((x for x in inputs if isinstance(x, Refused)), None)
    if bad is not None:
        return [bad] * len(eqn.outvars)
    walk.path.append(str(eqn.source_info.name_stack))
    walk.g.where = "/".join(p for p in walk.path if p)
    try:
        if name in INLINED:
            return _inlined(walk, eqn, inputs)
        if all(known(x) for x in inputs) and name != "scan":
            return _computed(walk, eqn, inputs)
        handler = HANDLERS.get(name)
        if handler is None:
            raise walk.refuse(name)
        made = handler(walk, eqn, *inputs)
        outputs = list(made) if isinstance(made, (list, tuple)) else [made]
        _follow(walk, name, inputs, outputs)
        return [_checked(walk, x, var.aval) for x, var in zip(outputs, eqn.outvars)]
    except ValueError as e:
        if isinstance(e, Unmapped):
            raise
        raise walk.refuse(name, str(e)) from e
    finally:
        walk.path.pop()


def _follow(walk: Walk, name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Maxima stay maxima in another shape, or beside a constant."""
    if name == "reduce_max" or name in ("max", "broadcast_in_dim", "reshape", "select_n", "squeeze",
                                        "expand_dims", "stop_gradient") and any(
            _own(x) and x.cell in walk.largest for x in inputs):
        walk.largest.update(x.cell for x in outputs if _own(x))


def _own(x: Any) -> bool:
    """Whether a value has its cell already."""
    return isinstance(x, Value) and not isinstance(x, (Laid, Pending))


def _checked(walk: Walk, x: Any, aval: Any) -> Any:
    """A tensor of the shape that JAX says it has."""
    if isinstance(x, (Refused, Ids)):
        return x
    if row_of(x.shape) != row(aval):
        raise walk.refuse("the shape %s" % (aval.shape,), "here it would be %s" % (x.shape,))
    return batched(walk, x, aval) if isinstance(x, Value) and not isinstance(
        x, (Laid, Pending)) else x


INLINED = ("pjit", "jit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call",
           "custom_vjp_call_jaxpr", "remat", "checkpoint", "remat2", "custom_lin",
           "core_closed_call")


def _inlined(walk: Walk, eqn: Any, inputs: List[Any]) -> List[Any]:
    inner = next(eqn.params[key] for key in ("jaxpr", "call_jaxpr", "fun_jaxpr")
                 if key in eqn.params)
    jaxpr, consts = (inner.jaxpr, inner.consts) if hasattr(inner, "consts") else (inner, [])
    return run(walk, jaxpr, consts, inputs)


def _computed(walk: Walk, eqn: Any, inputs: Sequence[Constant]) -> List[Any]:
    """An equation of known numbers, for one sample: what has the batch has it once."""
    import jax
    if any(jax.dtypes.issubdtype(v.aval.dtype, jax.dtypes.prng_key) for v in eqn.outvars) or (
            eqn.primitive.name.startswith(("random_", "threefry"))):
        refused = Refused(walk.refuse(eqn.primitive.name, "noise of the function: absorb it as it "
                                      "answers, without dropout's keys"))
        return [refused] * len(eqn.outvars)
    if eqn.primitive.name.startswith("reduce_") and any(
            symbolic(eqn.invars[0].aval.shape[a]) for a in eqn.params.get("axes", ())):
        raise walk.refuse(eqn.primitive.name, "over the batch")
    return [Constant.of(np.asarray(x)) for x in bind(eqn, [x.array for x in inputs])]


def bind(eqn: Any, arrays: Sequence[Any], **changed: Any) -> List[Any]:
    """What JAX computes of an equation for one sample."""
    import jax.numpy as jnp
    params = {k: at_one(v) for k, v in {**eqn.params, **changed}.items()}
    typed = [jnp.asarray(a, dtype=getattr(getattr(v, "aval", None), "dtype", None))
             for a, v in zip(arrays, eqn.invars)]
    out = eqn.primitive.bind(*typed, **params)
    return list(out) if eqn.primitive.multiple_results else [out]
