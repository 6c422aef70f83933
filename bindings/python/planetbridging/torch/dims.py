"""Open dimensions besides the batch, as torch.export's users declare them, and the graph with their
maximum in place of them."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from ..errors import Unmapped

Declared = Dict[str, Dict[int, Any]]  # input, axis: torch.export.Dim


def declared(torch: Any, shapes: Any, names: Sequence[str], arrays: Mapping[str, Any],
             batch: Mapping[str, Optional[int]]) -> Declared:
    """What `dynamic_shapes` says of axes that are not the batch. Raises ValueError for what does
    not fit the inputs, Unmapped for a dimension without a maximum."""
    if shapes is None:
        return {}
    if isinstance(shapes, (tuple, list)):
        if len(shapes) > len(names):
            raise ValueError("dynamic_shapes: %d, the inputs are %s" % (
                len(shapes), ", ".join(names)))
        shapes = dict(zip(names, shapes))
    if not isinstance(shapes, Mapping):
        raise ValueError("dynamic_shapes: a dict by input, or a tuple, not a %s"
                         % type(shapes).__name__)
    unknown = [str(n) for n in shapes if n not in names]
    if unknown:
        raise ValueError("dynamic_shapes names %s: the inputs are %s" % (
            ", ".join(unknown), ", ".join(names)))
    made: Declared = {}
    for name, axes in shapes.items():
        if axes is None:
            continue
        if not isinstance(arrays[name], torch.Tensor):
            raise Unmapped("the input " + name, "an open dimension in a structure",
                           "open dimensions are those of tensors that the module takes itself")
        rank = arrays[name].ndim
        pairs = enumerate(axes) if isinstance(axes, (tuple, list)) else axes.items()
        for axis, dim in pairs:
            if isinstance(dim, int) or dim is None:
                continue
            if not isinstance(axis, int) or not -rank <= axis < rank:
                raise ValueError("dynamic_shapes: %s has no axis %r" % (name, axis))
            at = axis % rank
            if at == batch.get(name):
                _batch(name, at, dim)
            else:
                made.setdefault(name, {})[at] = _maximum(name, at, dim)
    return made


def _batch(name: str, axis: int, dim: Any) -> None:
    if _bounded(dim):
        raise ValueError("dynamic_shapes: axis %d of %s counts samples, which have no maximum; "
                         "dynamic says which axis holds them" % (axis, name))


def _bounded(dim: Any) -> bool:
    return isinstance(getattr(dim, "max", None), int)


def _maximum(name: str, axis: int, dim: Any) -> Any:
    label = getattr(dim, "__name__", "")
    if not label or not hasattr(dim, "max"):
        raise Unmapped("the input " + name, "an open axis %d" % axis,
                       'it needs a name and a maximum: torch.export.Dim("length", max=64)')
    if not _bounded(dim):
        raise Unmapped("the input " + name, "the open dimension %s" % label,
                       'it needs a maximum: torch.export.Dim("%s", max=64)' % label)
    if getattr(dim, "root", dim).max < 3:
        raise Unmapped("the input " + name, "the open dimension %s" % label,
                       "it needs a maximum of at least 3")
    return dim


def lengthened(torch: Any, name: str, x: Any, axes: Dict[int, Any]) -> Any:
    """An example in which no open axis has one place, which is a special case to PyTorch."""
    for axis, dim in axes.items():
        n = x.shape[axis]
        if n > dim.max:
            raise ValueError("the example of %s is %d at axis %d: %s goes up to %d" % (
                name, n, axis, dim.__name__, dim.max))
        if n == 0:
            raise ValueError("the example of %s is empty at axis %d" % (name, axis))
        if n < 2:
            x = torch.cat([x, x, x], axis)
    return x


class Sizes:
    """The sizes of a program's nodes, of the open dimensions; in the program itself each is its
    maximum then, so that all else sees fixed sizes."""

    def __init__(self, torch: Any, program: Any, given: Declared, batch: Any) -> None:
        self.torch, self.batch = torch, batch
        self.bounds: Dict[str, Tuple[int, int]] = {}
        self.symbols: Dict[Any, str] = {}
        self.inputs: Dict[str, Dict[int, str]] = {}
        self._find(program, given)
        self.kept: Dict[Any, Any] = {}  # node: sizes of its result, or of each of them
        for node in program.graph.nodes:
            value = node.meta.get("val")
            if value is not None:
                self.kept[node] = self._expressions(value)
                node.meta["val"] = self._fixed(value)

    def _find(self, program: Any, given: Declared) -> None:
        user = set(program.graph_signature.user_inputs)
        for node in program.graph.nodes:
            if node.op != "placeholder" or node.name not in user or node.name not in given:
                continue
            for axis, dim in given[node.name].items():
                expression = node.meta["val"].shape[axis].node.expr
                root: Any = getattr(dim, "root", dim)
                for symbol in expression.free_symbols:
                    self.symbols[symbol] = root.__name__
                self.bounds[root.__name__] = (max(1, int(root.min)), int(root.max))
                self.inputs.setdefault(node.name, {})[axis] = root.__name__
        missing = set(given) - set(self.inputs)
        if missing:
            raise Unmapped("the input " + sorted(missing)[0], "an open dimension",
                           "the module does not use it")

    def _expressions(self, value: Any) -> Any:
        if isinstance(value, self.torch.Tensor):
            return tuple(n if isinstance(n, int) else n.node.expr for n in value.shape)
        if isinstance(value, (tuple, list)):
            return [self._expressions(one) for one in value]
        return value.node.expr if hasattr(value, "node") else value

    def _fixed(self, value: Any) -> Any:
        torch = self.torch
        if isinstance(value, torch.Tensor):
            sizes = [self._fixed(n) for n in value.shape]
            if sizes == list(value.shape):
                return value
            with value.fake_mode:
                return torch.empty(sizes, dtype=value.dtype, device=value.device)
        if isinstance(value, (tuple, list)):
            return type(value)(self._fixed(one) for one in value)
        if not hasattr(value, "node") or not self.names(value.node.expr):
            return value
        made = value.node.expr.subs({s: self.bounds[n][1] for s, n in self.symbols.items()})
        if made.free_symbols:
            return value.node.shape_env.create_symintnode(made, hint=None)
        return plain(made)

    def names(self, expression: Any) -> List[str]:
        """The open dimensions that a size depends on."""
        free = getattr(expression, "free_symbols", ())
        return sorted({self.symbols[s] for s in free if s in self.symbols})

    def at(self, expression: Any, lengths: Mapping[str, int]) -> Any:
        """A size of one sample, where the open dimensions have these lengths."""
        if not hasattr(expression, "subs"):
            return expression
        given = {s: lengths[n] for s, n in self.symbols.items() if n in lengths}
        if self.batch is not None:
            given[self.batch] = 1
        return plain(expression.subs(given))

    @property
    def largest(self) -> Dict[str, int]:
        return {name: bound[1] for name, bound in self.bounds.items()}


def plain(number: Any) -> Any:
    """A number of sympy as Python has it."""
    if getattr(number, "is_Integer", False):
        return int(number)
    if getattr(number, "is_Boolean", False):
        return bool(number)
    return float(number)


class Watch:
    """Which module fixes an open dimension, while it is exported."""

    def __init__(self, module: Any, names: Sequence[str], given: Declared) -> None:
        self.module, self.names, self.given = module, names, given
        self.sizes: List[Any] = []
        self.found: Optional[str] = None
        self.handles: List[Any] = []

    def __enter__(self) -> "Watch":
        self.handles.append(self.module.register_forward_pre_hook(self._begin, with_kwargs=True))
        for path, module in self.module.named_modules():
            parent = path.rpartition(".")[0]
            self.handles.append(module.register_forward_pre_hook(
                lambda m, x, path=parent: self._look(path)))
            self.handles.append(module.register_forward_hook(
                lambda m, x, y, path=path: self._look(path)))
        return self

    def __exit__(self, *_: Any) -> None:
        for handle in self.handles:
            handle.remove()

    def _begin(self, _: Any, args: Any, kwargs: Any) -> None:
        given = {**dict(zip(self.names, args)), **kwargs}
        self.sizes = [given[name].shape[axis] for name, axes in self.given.items()
                      for axis in axes if name in given]

    def _look(self, path: str) -> None:
        if self.found is None and any(
                not hasattr(n, "node") or n.node.expr.is_number for n in self.sizes):
            self.found = path
