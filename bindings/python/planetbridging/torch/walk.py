"""From node to node of an exported graph: what rules (the folder's other files) are called with."""
from __future__ import annotations

import operator
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple, Union

import numpy as np

from ..errors import Unmapped
from ..graph import Batch, Constant, Graph, Shape, Tensor, Value
from ..graph.cells import Elsewhere
from ..graph.shape import batch_axis, count, size_of, text_of
from .dims import plain
from .export import Exported, base_name, module_of, overload

Rule = Callable[["Walk", "Args"], Any]
RULES: Dict[str, Rule] = {}  # by "add" or, before that, "add.Tensor"
IGNORED = ("_assert_scalar", "_assert_async", "_assert_tensor_metadata", "sym_constrain_range",
           "sym_constrain_range_for_size")


def rule(*names: str) -> Callable[[Rule], Rule]:
    def add(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function
    return add


def rule_of(node: Any) -> Optional[Rule]:
    return RULES.get(overload(node)) or RULES.get(base_name(node))


class Args:
    """An operator's arguments by the names of its schema."""

    def __init__(self, given: Dict[str, Any]) -> None:
        self.__dict__.update(given)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def get(self, name: str, other: Any = None) -> Any:
        return self.__dict__.get(name, other)


class Symbol:
    """A size that depends on the number of samples: `at(n)` is it for n of them."""

    def __init__(self, at: Callable[[int], int]) -> None:
        self.at = at


class Open:
    """Numbers without inputs that depend on how many samples there are."""

    def __init__(self, one: Any, two: Any) -> None:
        self.one, self.two = one, two


class Each:
    """torch.arange(batch): every sample by its number."""


class Walk:
    """The graph of Loom, while nodes become cells."""

    def __init__(self, exported: Exported, graph: Graph) -> None:
        self.exported, self.torch, self.g = exported, exported.torch, graph
        self.env: Dict[Any, Any] = {}
        self.two: Dict[Any, Any] = {}  # numbers of two samples, where they depend on them
        self.node: Any = None
        self.unfaithful: List[str] = []  # what would train differently
        self.live = self._live()
        self.results: List[Tuple[Any, Any]] = []  # the outputs' nodes, and what they became
        self.opened: Any = None  # open dimensions, where there are some

    def _live(self) -> Set[Any]:
        """Nodes that an output needs."""
        nodes = list(self.exported.program.graph.nodes)
        seen: Set[Any] = set()
        todo = [n for n in nodes if n.op == "output"]
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                todo += node.all_input_nodes
        return seen

    # ---- nodes

    def run(self, node: Any) -> None:
        self.node, self.g.where = node, module_of(node)
        try:
            self.env[node] = self._run(node)
        except Unmapped:
            raise
        except Elsewhere:
            raise self.refuse("a parameter that another module has, too") from None
        except (ValueError, TypeError, AttributeError, NotImplementedError, LookupError,
                RuntimeError, AssertionError) as e:
            raise Unmapped(self.g.where, self.operator(), str(e)[:400]) from e
        self._check(node)

    def operator(self) -> str:
        return str(self.node.target)

    def is_size(self, node: Any) -> bool:
        """Whether it is a number that depends on how many samples there are."""
        torch = self.torch
        value = node.meta.get("val")
        return isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)) or (
            self.opened is not None and isinstance(value, (int, float)))

    def _run(self, node: Any) -> Any:
        if node.target is operator.getitem:
            if node.args[0] in self.two:
                self.two[node] = self.two[node.args[0]][node.args[1]]
            return self.env[node.args[0]][node.args[1]]
        value = node.meta.get("val")
        if self.is_size(node):
            if isinstance(value, (int, float)):
                return value
            return Symbol(self._number_at(value))
        if base_name(node) in IGNORED:
            return None
        tensors = [self.env[n] for n in node.all_input_nodes]
        if all(self._known(t) for t in tensors):
            made = self._folded(node)
            return made if self.opened is None else self.opened.folded(node, made)
        found = rule_of(node)
        if found is None:
            if isinstance(value, self.torch.Tensor) and self._foreign(value):
                raise Unmapped(self.g.where, self.operator(), "its shape depends on data")
            raise Unmapped(self.g.where, self.operator())
        if self.opened is not None:
            return self.opened.run(node, found)
        return found(self, self._args(node))

    def _check(self, node: Any) -> None:
        """The shape must be what PyTorch has."""
        made, value = self.env[node], node.meta.get("val")
        if not isinstance(made, (Value, Constant)) or not isinstance(value, self.torch.Tensor):
            return
        want = tuple(self.places(n) for n in value.shape)
        got = tuple(size_of(n) for n in made.shape)
        if want != got:
            raise Unmapped(self.g.where, self.operator(), "shapes differ: %s here, %s there"
                           % (text_of(made.shape), list(value.shape)))

    def _known(self, x: Any) -> bool:
        if isinstance(x, (tuple, list)):
            return all(self._known(one) for one in x)
        return not isinstance(x, Value) and not (isinstance(x, Constant) and x.trainable)

    def _args(self, node: Any) -> Args:
        given = {}
        for i, argument in enumerate(node.target._schema.arguments):
            if i < len(node.args) and not argument.kwarg_only:
                given[argument.name] = self._resolved(node.args[i])
            elif argument.name in node.kwargs:
                given[argument.name] = self._resolved(node.kwargs[argument.name])
            else:
                given[argument.name] = argument.default_value
        return Args(given)

    def _resolved(self, x: Any) -> Any:
        if isinstance(x, self.torch.fx.Node):
            made = self.env[x]
            if isinstance(made, Open):
                torch = self.torch
                if made.one.shape == (1,) and torch.equal(made.two, torch.arange(2)):
                    return Each()
                raise Unmapped(self.g.where, self.operator(),
                               "numbers that depend on how many samples there are")
            return made
        if isinstance(x, (tuple, list)):
            return [self._resolved(one) for one in x]
        return x

    # ---- sizes

    def _number_at(self, value: Any) -> Callable[[int], Any]:
        expression = value.node.expr
        symbol = self.exported.symbol
        if expression.free_symbols - {symbol}:
            raise Unmapped(self.g.where, self.operator(), "a size that depends on data")
        return lambda n: plain(expression.subs(symbol, n))

    def _foreign(self, value: Any) -> bool:
        return any(not isinstance(n, int) and n.node.expr.free_symbols - {self.exported.symbol}
                   for n in value.shape)

    def places(self, size: Any) -> int:
        """Of one sample."""
        if isinstance(size, int):
            return size
        expression = size.node.expr
        if expression.free_symbols - {self.exported.symbol}:
            raise Unmapped(self.g.where, self.operator(), "its shape depends on data")
        n = expression.subs(self.exported.symbol, 1)
        if expression.subs(self.exported.symbol, 3) != 3 * n:
            raise Unmapped(self.g.where, self.operator(), "the size %s of an axis" % expression)
        return int(n)

    def sizes(self, value: Any = None) -> List[Optional[int]]:
        """Of the node's result: None is the axis that holds the batch."""
        value = self.node.meta["val"] if value is None else value
        return [n if isinstance(n, int) else None for n in value.shape]

    def shape(self, *sources: Tensor, value: Any = None) -> Shape:
        """The shape of the node's result; what is merged with the batch as in `sources`."""
        value = self.node.meta["val"] if value is None else value
        made: List[Any] = []
        for n in value.shape:
            size = self.places(n)
            if isinstance(n, int):
                made.append(n)
            elif size == 1:
                made.append(Batch())
            else:
                made.append(next((axis for s in sources for axis in s.shape
                                  if isinstance(axis, Batch) and size_of(axis) == size),
                                 Batch(1, size)))
        return tuple(made)

    # ---- numbers that are known

    def _folded(self, node: Any) -> Any:
        """What PyTorch itself computes of numbers that are known."""
        args = (node.args, node.kwargs)
        open_ = self._depends(args)
        one = self._computed(node, args, 1)
        if isinstance(one, (tuple, list)):
            if open_:
                two = self.two[node] = self._computed(node, args, 2)
                if not all(map(self._same, one, two, node.meta["val"])):
                    raise Unmapped(self.g.where, self.operator(),
                                   "numbers that depend on how many samples there are")
            return [self._constant(t, node, i) for i, t in enumerate(one)]
        if not isinstance(one, self.torch.Tensor):
            return one
        if open_:
            two = self._computed(node, args, 2)
            self.two[node] = two
            if not self._same(one, two, node.meta["val"]):
                return Open(one, two)
        return self._constant(one, node, None)

    def _depends(self, x: Any) -> bool:
        if isinstance(x, self.torch.fx.Node):
            return x in self.two or isinstance(self.env[x], Symbol)
        if isinstance(x, dict):
            x = list(x.values())
        return isinstance(x, (tuple, list)) and any(self._depends(one) for one in x)

    def _computed(self, node: Any, args: Any, samples: int) -> Any:
        made = self._plain_args(args, samples)
        with self.torch.no_grad():
            return node.target(*made[0], **made[1])

    def _plain_args(self, x: Any, samples: int) -> Any:
        if isinstance(x, self.torch.fx.Node):
            if samples == 2 and x in self.two:
                return self.two[x]
            return self._plain_args(self.env[x], samples)
        if isinstance(x, Constant):
            return self.torch.from_numpy(np.array(x.array))
        if isinstance(x, Open):
            return x.one if samples == 1 else x.two
        if isinstance(x, Symbol):
            return x.at(samples)
        if isinstance(x, dict):
            return {k: self._plain_args(v, samples) for k, v in x.items()}
        if isinstance(x, (tuple, list)):
            return type(x)(self._plain_args(one, samples) for one in x)
        if isinstance(x, self.torch.device):
            return self.torch.device("cpu")
        return x

    def _same(self, one: Any, two: Any, value: Any) -> bool:
        """Whether all samples have the same numbers."""
        torch = self.torch
        axes = [i for i, n in enumerate(value.shape) if not isinstance(n, int)]
        if not axes:
            return bool(one.shape == two.shape and torch.equal(one, two))
        if len(axes) > 1:
            return False
        return any(torch.equal(two, again) for again in (
            torch.cat([one, one], axes[0]), one.repeat_interleave(2, axes[0])))

    def _constant(self, made: Any, node: Any, part: Optional[int]) -> Any:
        if not isinstance(made, self.torch.Tensor):
            return made
        array = array_of(self.torch, made)
        sources = [c for c in map(self.env.get, node.all_input_nodes)
                   if isinstance(c, Constant) and c.names]
        if not sources:
            return Constant.of(array)
        # Of buffers and parameters that do not learn: newer ones are computed anew.
        nodes = [n for n in node.all_input_nodes if isinstance(self.env.get(n), Constant)]

        def read(get: Any) -> np.ndarray:
            kept = {n: self.env[n] for n in nodes}
            try:
                for n, c in kept.items():
                    self.env[n] = Constant.of(np.asarray(c.read(get), c.array.dtype))
                again = self._computed(node, (node.args, node.kwargs), 1)
            finally:
                self.env.update(kept)
            return array_of(self.torch, again if part is None else again[part])

        names = tuple(dict.fromkeys(name for c in sources for name in c.names))
        return Constant(array, ("node", node.name, part), read, names)

    # ---- for rules

    def tensor(self, x: Any) -> Tensor:
        """A tensor, or a number as one."""
        if isinstance(x, (Value, Constant)):
            return x
        if isinstance(x, (bool, int, float)):
            return Constant.of(np.float64(x))
        if isinstance(x, Symbol):
            raise Unmapped(self.g.where, self.operator(), "the number of samples as a number")
        raise Unmapped(self.g.where, self.operator(), "an argument of the type %s"
                       % type(x).__name__)

    def refuse(self, why: str) -> Unmapped:
        return Unmapped(self.g.where, self.operator(), why)

    def constant(self, x: Any, what: str) -> Optional[Constant]:
        """A parameter, or None."""
        if x is None or isinstance(x, Constant):
            return x
        node = next((n for n in self.node.all_input_nodes if self.env[n] is x), None)
        if node is None or not self._of_parameters(node):
            raise self.refuse("%s that is computed" % what)
        # Of parameters alone (a weight norm): what it is now.
        self.differs("%s computed of parameters, which stays as it is" % what)
        names = tuple(dict.fromkeys(
            name for n in self._sources(node) for name in self.env[n].names))
        return Constant(array_of(self.torch, self._evaluated(node, None)), ("node", node.name),
                        lambda get: array_of(self.torch, self._evaluated(node, get)), names)

    def _sources(self, node: Any) -> List[Any]:
        """The placeholders that a node comes from."""
        seen: Set[Any] = set()
        todo = [node]
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo += one.all_input_nodes
        return [n for n in seen if n.op == "placeholder"]

    def _of_parameters(self, node: Any) -> bool:
        return all(isinstance(self.env[n], Constant) for n in self._sources(node))

    def _evaluated(self, node: Any, get: Optional[Callable[[str], Any]]) -> Any:
        """By PyTorch, of arrays by the module's names."""
        if node.op == "placeholder":
            kept = self.env[node]
            array = kept.array if get is None else np.asarray(kept.read(get), kept.array.dtype)
            return self.torch.from_numpy(np.array(array))

        def given(x: Any) -> Any:
            if isinstance(x, self.torch.fx.Node):
                return self._evaluated(x, get)
            if isinstance(x, dict):
                return {k: given(v) for k, v in x.items()}
            return type(x)(map(given, x)) if isinstance(x, (tuple, list)) else x

        with self.torch.no_grad():
            return node.target(*given(node.args), **given(node.kwargs))

    def used(self, part: int) -> bool:
        """Whether a result of several is."""
        return any(n.target is operator.getitem and n.args[1] == part and n in self.live
                   for n in self.node.users)

    def differs(self, what: str) -> None:
        """Trained on, it would go another way than in PyTorch."""
        self.unfaithful.append("%s: %s" % (self.g.where or "the model", what))

    def arranged(self, x: Tensor, how: Callable[[Any], Any], fill: float = 0.0) -> Any:
        """What `how`, a function of torch that moves numbers or puts zeros, makes of x. Several
        results as it has them."""
        torch = self.torch
        row = tuple(size_of(n) for n in x.shape)
        n = count(row)
        places = torch.arange(1, n + 1, dtype=torch.float64).reshape(row)
        made = how(places)
        twice = None
        at = batch_axis(x.shape)
        if at is not None:
            own = x.shape[at]
            assert isinstance(own, Batch)
            cut = places.reshape(*row[:at], own.before, 1, own.after, *row[at + 1:])
            both = torch.cat([cut, torch.where(cut > 0, cut + n, cut)], at + 1)
            twice = how(both.reshape(*row[:at], 2 * row[at], *row[at + 1:]))
        values = self.node.meta["val"]
        if not isinstance(made, (tuple, list)):
            return self._moved(x, made, twice, values, fill)
        results = []
        for i, one in enumerate(made):
            results.append(self._moved(x, one, None if twice is None else twice[i], values[i],
                                       fill))
        return results

    def _moved(self, x: Tensor, made: Any, twice: Any, value: Any, fill: float) -> Tensor:
        torch, n = self.torch, count(size_of(a) for a in x.shape)  # type: ignore[arg-type]
        shape = self.shape(x, value=value)
        if twice is not None:
            at = batch_axis(shape)
            if at is None:
                raise self.refuse("it takes some samples, or mixes them")
            own = shape[at]
            assert isinstance(own, Batch)
            row = list(made.shape)
            cut = made.reshape(*row[:at], own.before, 1, own.after, *row[at + 1:])
            both = torch.cat([cut, torch.where(cut > 0, cut + n, cut)], at + 1)
            if tuple(twice.shape) != tuple(row[:at] + [2 * row[at]] + row[at + 1:]) or \
                    not torch.equal(both.reshape(twice.shape), twice):
                raise self.refuse("it takes some samples, or mixes them")
        places = made.to(torch.int64).numpy() - 1
        if isinstance(x, Constant):
            flat = places.ravel()
            if x.trainable and (flat.min(initial=0) < 0 or len(np.unique(flat)) < flat.size):
                return self.g.gather(x, places, shape, fill)
            made_of = x.reshaped((n,)).taken(flat.clip(0), 0).reshaped(places.shape)
            if (flat >= 0).all():
                return made_of
            return made_of.computed("filled", lambda a: np.where(places < 0, fill, a))
        if places.size == n and (places.ravel() == np.arange(n)).all():
            return Value(x.cell, shape, x.dims, x.ids, x.axis)
        return self.g.gather(x, places, shape, fill)


def array_of(torch: Any, tensor: Any) -> np.ndarray:
    """As NumPy has it; bfloat16 as float32."""
    tensor = tensor.detach().cpu()
    if tensor.dtype in (torch.bfloat16, torch.float16):
        tensor = tensor.float()
    if tensor.is_complex():
        raise ValueError("complex numbers")
    return np.array(tensor.numpy())


def order_of(x: Tensor, axes: Sequence[int]) -> Tuple[int, ...]:
    return tuple(a % len(x.shape) for a in axes)
