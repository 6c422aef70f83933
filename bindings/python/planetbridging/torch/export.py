"""A module's graph: exported in eval mode, with the batch's size left open."""
from __future__ import annotations

import contextlib
import functools
import warnings
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from ..errors import Unmapped
from .dims import Declared, Sizes, Watch, declared, lengthened

Dynamic = Union[int, None, Mapping[str, Optional[int]]]


def torch_of_today() -> Any:
    """The package torch, with torch.export."""
    try:
        import torch
    except ImportError as e:
        raise ImportError("from_torch needs PyTorch (the package torch), 2.1 or later: %s"
                          % e) from None
    if not hasattr(torch, "export") or not hasattr(torch.export, "export"):
        raise ImportError("from_torch needs PyTorch 2.1 or later, for torch.export: this is %s"
                          % torch.__version__)
    return torch


def keep_dropout(torch: Any) -> Any:
    """An operator that stands for dropout while the graph is written again: PyTorch takes that of
    eval mode out."""
    if not hasattr(torch.ops.planetbridging, "dropout"):
        library = torch.library.Library("planetbridging", "DEF")
        library.define("dropout(Tensor x, float p, str kind) -> Tensor")
        for key in ("CompositeExplicitAutograd", "Meta"):
            library.impl("dropout", lambda x, p, kind: x.clone(), key)
        keep_dropout.library = library  # type: ignore[attr-defined]
    return torch.ops.planetbridging.dropout.default


def _max_pool1d(torch: Any, x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0,
                dilation: Any = 1, ceil_mode: bool = False, return_indices: bool = False) -> Any:
    """PyTorch's own takes a length as a number, and so fixes it."""
    def both(n: Any, other: int) -> Tuple[int, int]:
        return (other, int(n[0] if isinstance(n, (tuple, list)) else n))

    if return_indices:
        raise Unmapped("", "max_pool1d", "places of maxima")
    made = torch.nn.functional.max_pool2d(
        x.unsqueeze(-2), both(kernel_size, 1), both(kernel_size if stride is None else stride, 1),
        both(padding, 0), both(dilation, 1), ceil_mode)
    return made.squeeze(-2)


_RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")


def keep_recurrent(torch: Any) -> Dict[str, Any]:
    """Operators that stand for recurrent layers: PyTorch writes its own step by step, and so fixes
    the number of steps."""
    if not hasattr(torch.ops.planetbridging, "lstm"):
        library = torch.library.Library("planetbridging", "FRAGMENT")
        given = ("Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, "
                 "bool bidirectional, bool batch_first")

        def shaped(x: Any, hx: Any, params: Any, has_biases: bool, num_layers: int, dropout: float,
                   train: bool, bidirectional: bool, batch_first: bool) -> Any:
            ways = 2 if bidirectional else 1
            states = [one.clone() for one in (hx if isinstance(hx, (list, tuple)) else [hx])]
            width = params[1].shape[1] * ways
            return (x.new_empty([*x.shape[:-1], width]), *states)

        for name in _RECURRENT:
            both = name == "lstm"
            library.define("%s(Tensor input, Tensor%s hx, %s) -> (Tensor, Tensor%s)" % (
                name, "[]" if both else "", given, ", Tensor" if both else ""))
            for key in ("CompositeExplicitAutograd", "Meta"):
                library.impl(name, shaped, key)
        keep_recurrent.library = library  # type: ignore[attr-defined]

    def checked(name: str, *args: Any) -> Any:
        ways = 2 if args[7] else 1
        if len(args[2]) != (4 if args[3] else 2) * args[4] * ways:
            raise Unmapped("", "an LSTM with proj_size", "its steps are mapped one by one, "
                           "and their number is open")
        return getattr(torch.ops.planetbridging, name).default(*args)

    return {name: functools.partial(checked, name) for name in _RECURRENT}


def _refuse_packed(*_: Any) -> Any:
    raise Unmapped("", "pack_padded_sequence", "a batch's shape would depend on the lengths: run "
                   "the layer on the padded sequence and mask what is behind each end; in a "
                   "network of Loom, layers.LSTM(n)(x, lengths=lengths) stops there")


_DROPOUTS = ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")


class Exported:
    """The program, its inputs' names and batch axes, and the module's tensors by name."""

    def __init__(self, module: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any],
                 dynamic: Dynamic, known: Any, dynamic_shapes: Any = None) -> None:
        self.torch = torch_of_today()
        self.module, self.dynamic = module, dynamic
        self.lengths = self._declared(args, kwargs, dynamic_shapes)
        self.sizes: Optional[Sizes] = None
        args, kwargs, shapes, some = self._open(args, kwargs, dynamic)
        self.batched = some
        with self._quiet():
            program = self._export(args, kwargs, shapes)
            self._mark_dropout(program)
            self.program = self._decomposed(program.run_decompositions({}), known)
        self.symbol = self._symbol()
        if self.lengths:
            self.sizes = Sizes(self.torch, self.program, self.lengths, self.symbol)

    # ---- what is asked of torch.export

    def _open(self, args: Tuple[Any, ...], kwargs: Dict[str, Any],
              dynamic: Dynamic) -> Tuple[Any, Any, Any, bool]:
        """The arguments with at least two samples, as one is a special case to PyTorch, and which
        axis of each is open."""
        torch = self.torch
        names = self._names(args, kwargs)
        batch = torch.export.Dim("batch")
        found: List[bool] = []

        def opened(name: str, x: Any) -> Tuple[Any, Any]:
            if not isinstance(x, torch.Tensor):
                if isinstance(x, (list, tuple)):
                    pairs = [opened(name, one) for one in x]
                    return type(x)(p[0] for p in pairs), type(x)(p[1] for p in pairs)
                if isinstance(x, dict):
                    both = {k: opened(name, one) for k, one in x.items()}
                    return {k: p[0] for k, p in both.items()}, {k: p[1] for k, p in both.items()}
                return x, None
            axis = self._batch_axis(name, x)
            axes = dict(self.lengths.get(name, {}))
            x = lengthened(torch, name, x, axes)
            if axis is not None:
                found.append(True)
                if x.shape[axis] < 2:
                    x = torch.cat([x, x, x], axis)
                axes[axis] = batch
            return x, axes or None

        pairs = [opened(n, x) for n, x in zip(names, args)]
        keyed = {k: opened(k, x) for k, x in kwargs.items()}
        shapes = (tuple(p[1] for p in pairs), {k: p[1] for k, p in keyed.items()})
        return (tuple(p[0] for p in pairs), {k: p[0] for k, p in keyed.items()}, shapes,
                bool(found))

    def _declared(self, args: Any, kwargs: Any, shapes: Any) -> Declared:
        names = self._names(args, kwargs)
        if isinstance(self.dynamic, Mapping):
            unknown = set(self.dynamic) - set(names)
            if unknown:
                raise ValueError("dynamic: names %s: the inputs are %s" % (
                    ", ".join(sorted(unknown)), ", ".join(names)))
        arrays = {**dict(zip(names, args)), **kwargs}
        batch = {name: self._batch_axis(name, x) for name, x in arrays.items()
                 if isinstance(x, self.torch.Tensor)}
        return declared(self.torch, shapes, names, arrays, batch)

    def _batch_axis(self, name: str, x: Any) -> Optional[int]:
        axis = self.dynamic.get(name, 0) if isinstance(self.dynamic, Mapping) else self.dynamic
        if axis is not None and not isinstance(axis, int):
            raise Unmapped("the input " + name, "a dynamic dimension besides the batch",
                           "dynamic takes the axis of the batch, or None; dynamic_shapes declares "
                           'others with a maximum: {"%s": {1: torch.export.Dim("length", max=64)}}'
                           % name)
        return None if axis is None or x.ndim == 0 else axis % x.ndim

    def _names(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> List[str]:
        import inspect
        names: List[str] = []
        for p in inspect.signature(self.module.forward).parameters.values():
            if p.kind == p.VAR_POSITIONAL:
                names += ["%s_%d" % (p.name, i) for i in range(len(args) - len(names))]
            elif len(names) < len(args) and p.kind != p.VAR_KEYWORD:
                names.append(p.name)
        return names[:len(args)] + list(kwargs)

    def _export(self, args: Any, kwargs: Any, shapes: Any) -> Any:
        torch = self.torch
        import inspect
        dynamic: Any = None
        if self.batched or self.lengths:
            named = dict(zip(self._names(args, {}), shapes[0]))
            variadic = any(p.kind == p.VAR_POSITIONAL for p in inspect.signature(
                self.module.forward).parameters.values())
            dynamic = (shapes[0],) if variadic and not shapes[1] else {**named, **shapes[1]}
        try:
            return torch.export.export(self.module, args, kwargs or None, dynamic_shapes=dynamic,
                                       strict=False)
        except Unmapped:
            raise
        except Exception as e:  # noqa: BLE001: PyTorch's kinds differ by version
            if self.lengths and "onstraint" in str(e):
                raise self._fixed(args, kwargs, dynamic, str(e)) from e
            first = next((line.strip() for line in str(e).splitlines() if line.strip()), "")
            kind = type(e).__name__
            axes = "" if not self.batched else ", where %s of the examples count samples" % (
                "the axes 0" if self.dynamic == 0 else "the axes dynamic=%r" % (self.dynamic,))
            raise Unmapped("", "torch.export", "%s: %s%s" % (kind, first[:400], axes)) from e

    def _fixed(self, args: Any, kwargs: Any, dynamic: Any, why: str) -> Unmapped:
        """The module that an open dimension does not go through, once more from the start."""
        with Watch(self.module, self._names(args, {}), self.lengths) as watch:
            try:
                self.torch.export.export(self.module, args, kwargs or None, strict=False,
                                         dynamic_shapes=dynamic)
            except Exception:  # noqa: BLE001: as before
                pass
        lines = [line.strip(" -") for line in why.splitlines()]
        said = [line for line in lines if line.startswith(("You marked", "Not all", "The values"))]
        fixes = [line for line in lines if line.partition(" = ")[0].isidentifier()]
        if watch.found is not None:
            return Unmapped(watch.found, "a fixed size", "it takes %s alone: the open dimension "
                            "cannot be another" % (", ".join(fixes) or "the example's size"))
        return Unmapped("", "torch.export", "%s%s" % (
            "; ".join(said or lines[:1])[:300],
            "; it would be %s" % ", ".join(fixes) if fixes else ""))

    @contextlib.contextmanager
    def _quiet(self) -> Iterator[None]:
        """In eval mode, without the fast paths, which have operators of their own; the module is
        left as it was."""
        torch = self.torch
        modes = [(m, m.training) for m in self.module.modules()]
        fast = getattr(torch.backends, "mha", None)
        was = fast.get_fastpath_enabled() if fast is not None else False
        layers = torch.nn.modules.transformer
        looks = getattr(layers, "_detect_is_causal_mask", None)
        packs = torch._VF
        try:
            packs._pack_padded_sequence = _refuse_packed
            functions = torch.nn.functional
            pool = functions.max_pool1d
            if self.lengths:
                packs.__dict__.update(keep_recurrent(torch))
                functions.max_pool1d = functools.partial(_max_pool1d, torch)
            if looks is not None:  # it looks at the numbers of masks, for speed alone
                layers._detect_is_causal_mask = lambda mask, is_causal=None, size=None: bool(
                    is_causal)
            self.module.eval()
            if fast is not None:
                fast.set_fastpath_enabled(False)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
        finally:
            del packs._pack_padded_sequence
            for name in _RECURRENT if self.lengths else ():
                del packs.__dict__[name]
            functions.max_pool1d = pool
            if looks is not None:
                layers._detect_is_causal_mask = looks
            for m, training in modes:
                m.training = training
            if fast is not None:
                fast.set_fastpath_enabled(was)

    # ---- what is made of the graph

    def _mark_dropout(self, program: Any) -> None:
        own = keep_dropout(self.torch)
        for node in program.graph.nodes:
            name = base_name(node)
            if node.op == "call_function" and name in _DROPOUTS and node.args[1]:
                node.target, node.args = own, (node.args[0], float(node.args[1]), name)
                node.kwargs = {}
        program.graph_module.recompile()

    def _decomposed(self, program: Any, known: Any) -> Any:
        """Operators without a rule are written by those of core ATen, as long as that changes
        some."""
        torch = self.torch
        for _ in range(6):
            unknown = {node.target for node in program.graph.nodes
                       if node.op == "call_function" and not known(node)}
            table = torch.export.default_decompositions() if unknown else {}
            some = {op: table[op] for op in unknown if op in table}
            if not some:
                return program
            program = program.run_decompositions(some)
        return program

    def _symbol(self) -> Any:
        """The one that stands for the number of samples."""
        user = set(self.program.graph_signature.user_inputs)
        for node in self.program.graph.nodes:
            value = node.meta.get("val")
            if node.op == "placeholder" and node.name in user and isinstance(
                    value, self.torch.Tensor):
                for axis, size in enumerate(value.shape):
                    if not isinstance(size, int) and axis not in self.lengths.get(node.name, {}):
                        return size.node.expr
        if self.batched:
            raise Unmapped("", "torch.export", "the number of samples is fixed in the module")
        return None


def base_name(node: Any) -> str:
    """ "add" of aten.add.Tensor."""
    parts = str(node.target).split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def overload(node: Any) -> str:
    """ "add.Tensor"."""
    return ".".join(str(node.target).split(".")[1:])


def module_of(node: Any) -> str:
    """The path of the module that a node comes from: of the innermost one."""
    for path, _ in reversed(list(stack_of(node))):
        return path
    return ""


def stack_of(node: Any) -> Sequence[Tuple[str, str]]:
    """Paths and types of the modules around a node."""
    made = []
    for value in (node.meta.get("nn_module_stack") or {}).values():
        path, kind = value[0], value[1]
        kind = kind if isinstance(kind, str) else "%s.%s" % (kind.__module__, kind.__qualname__)
        if "metadata_hook" not in path:
            made.append((path.split("@")[0], kind))
    return made
