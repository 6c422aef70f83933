"""Open dimensions: each value is computed as long as the maximum, and what is behind a row's own
length is anything. So a function of single numbers is as always; one over an open axis has what is
behind hidden from it, by a table of the lengths; what cannot be said so is refused by name.

What holds for every value: the numbers of PyTorch's tensor are the first of each axis.
"""
from __future__ import annotations

import functools
import itertools
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

import numpy as np

from ..errors import Unmapped
from ..graph import Batch, Constant, Tensor, Value
from ..graph.lengths import Length, Lengths
from ..graph.shape import count, size_of
from .export import base_name, overload

Handler = Callable[["Opened", Any, Any], Any]
HANDLERS: Dict[str, Handler] = {}  # for nodes over an open axis, in place of the rules
LOWEST = -1e30
LARGEST = 1 << 24  # numbers of a table

_SINGLE = """
__and__ __or__ __xor__ _prelu_kernel _to_copy abs acos acosh add addcdiv addcmul alias alias_copy
arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh bitwise_and
bitwise_not bitwise_or bitwise_xor bool broadcast_to ceil celu clamp clamp_max clamp_min clip clone
contiguous cos cosh detach detach_ div double dropout elu empty_like eq erf erfc exp exp2 expand
expand_as expand_copy expm1 feature_dropout alpha_dropout fill fix float floor floor_divide fmax fmin
fmod full_like ge gelu ger gt half hardshrink hardsigmoid hardswish hardtanh int isnan le leaky_relu
lerp lift lift_fresh lift_fresh_copy log log10 log1p log2 log_sigmoid log_sigmoid_forward logical_and
logical_not logical_or logical_xor long lt masked_fill max.other maximum min.other minimum mish mul ne
neg new_empty new_full new_ones new_zeros ones_like outer positive pow prelu reciprocal relu relu6
remainder round rrelu rrelu_with_noise rrelu_with_noise_functional rsqrt rsub selu sgn sigmoid sign
silu sin sinh softplus softshrink special_erf special_expit sqrt square sub tan tanh threshold to
true_divide trunc type_as where zeros_like batch_norm _native_batch_norm_legit_no_training
native_batch_norm cudnn_batch_norm one_hot""".split()
# Axes are moved, and the batch with them.
_AXES = """transpose t permute movedim swapaxes moveaxis numpy_T mT adjoint transpose_copy permute_copy
stack lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell""".split()
# What is read behind the end, by operators that read over axes.
_HIDDEN = {0.0: """matmul mm bmm mv dot vdot addmm baddbmm addmv bilinear einsum conv1d conv2d conv3d
           convolution _convolution conv_transpose1d conv_transpose2d conv_transpose3d cumsum""".split(),
           LOWEST: """max_pool1d max_pool2d max_pool3d max_pool2d_with_indices
           max_pool3d_with_indices max_pool1d_with_indices softmax _softmax special_softmax
           log_softmax _log_softmax special_log_softmax""".split()}
FILLS = {name: fill for fill, names in _HIDDEN.items() for name in names}


def handler(*names: str) -> Callable[[Handler], Handler]:
    def add(function: Handler) -> Handler:
        for name in names:
            HANDLERS[name] = function
        return function
    return add


class Opened:
    """The open dimensions of a walk."""

    def __init__(self, walk: Any) -> None:
        self.w, self.g, self.sizes = walk, walk.g, walk.exported.sizes
        self.ids: Dict[str, Value] = {}
        self.varies: Set[Any] = set()  # numbers that are known, and depend on a length
        self._masks: Dict[Any, Value] = {}
        self._hidden: Dict[Any, Value] = {}
        self._known: Dict[Any, Any] = {}
        self.lengths: List[Length] = []

    # ---- inputs and outputs

    def inputs(self) -> None:
        """An input for each length, behind the module's own."""
        bounds = self.sizes.bounds
        taken = {port.name for port in self.g._inputs}
        for name, (least, most) in bounds.items():
            port = "lengths" if len(bounds) == 1 else name + "_lengths"
            if port in taken:
                raise Unmapped("the input " + port, "an open dimension",
                               "that is the name of the input for lengths")
            self.ids[name] = self.g.input(port, (Batch(),), most + 1)
            self.lengths.append(Length(name, port, least, most))

    def described(self, outputs: Sequence[Any]) -> Lengths:
        inputs = {name: {axis: (length, self._count(self._named(name)[axis]))
                         for axis, length in axes.items()}
                  for name, axes in self.sizes.inputs.items()}
        made = [{i: self._count(e) for i, e in self.axes(node)} for node in outputs]
        return Lengths(self.lengths, inputs, made)

    def _named(self, name: str) -> Any:
        return next(kept for node, kept in self.sizes.kept.items() if node.name == name)

    def _count(self, expression: Any) -> Callable[[Dict[str, int]], int]:
        return lambda lengths: int(self.sizes.at(expression, lengths))

    def output(self, node: Any, value: Tensor) -> Tensor:
        """Zeros behind the ends."""
        if node in self.varies or self.sizes.names(self.sizes.kept.get(node)):
            if not isinstance(value, (Value, Constant)):
                raise self.refuse("a length as an output")
        return self.hide(value, self.axes(node), 0.0)

    # ---- sizes

    def axes(self, node: Any) -> List[Tuple[int, Any]]:
        """The open axes of a tensor, and how long they are."""
        kept = self.sizes.kept.get(node)
        if not isinstance(kept, tuple):
            return []
        return [(i, e) for i, e in enumerate(kept) if self.sizes.names(e)]

    def touches(self, node: Any) -> bool:
        """Whether an open axis, or a number that depends on a length, goes in or out."""
        return any(self.axes(n) or n in self.varies or self.depends(n)
                   for n in [node, *node.all_input_nodes]) or any(
                       self.sizes.names(e) for kept in self._several(node) for e in kept)

    def _several(self, node: Any) -> List[Any]:
        kept = self.sizes.kept.get(node)
        return [one for one in kept if isinstance(one, tuple)] if isinstance(kept, list) else []

    def depends(self, node: Any) -> bool:
        """Whether it is a number that depends on a length."""
        kept = self.sizes.kept.get(node)
        return not isinstance(kept, (tuple, list)) and bool(self.sizes.names(kept))

    def dims(self, node: Any, lengths: Dict[str, int]) -> Tuple[int, ...]:
        return tuple(int(self.sizes.at(e, lengths)) for e in self.sizes.kept[node])

    def probes(self) -> List[Dict[str, int]]:
        """Lengths at which a claim is tried: the ends, odd ones, and those beside the maximum."""
        tried = []
        for name, (least, most) in self.sizes.bounds.items():
            wanted = {least, least + 1, least + 2, most // 2, (most // 2) | 1, most - 1, most}
            tried.append([(name, n) for n in sorted(wanted) if least <= n <= most])
        if len(tried) == 1:
            return [dict([pair]) for pair in tried[0]]
        return [dict(pairs) for pairs in itertools.islice(itertools.product(*tried), 150)]

    def refuse(self, why: str) -> Unmapped:
        return Unmapped(self.g.where, self.w.operator(), why)

    def all_lengths(self, name: str) -> range:
        least, most = self.sizes.bounds[name]
        return range(least, most + 1)

    # ---- nodes

    def run(self, node: Any, rule: Any) -> Any:
        """The node's result by its rule, of inputs of which what is behind the end is hidden."""
        name, full = base_name(node), overload(node)
        if not self.touches(node):
            return rule(self.w, self.w._args(node))
        own = HANDLERS.get(full) or HANDLERS.get(name)
        if own is not None:
            return own(self, node, rule)
        if name in _SINGLE or full in _SINGLE:
            changed = {n: self.number(n) for n in [*node.args, *node.kwargs.values()]
                       if self._is_node(n) and self.depends(n)}
            return self.with_inputs(node, rule, changed)
        if name in _AXES:
            return self.with_inputs(node, rule, {})
        if name in FILLS:
            return self.with_inputs(node, rule, {
                n: self.hide(self.w.env[n], self._read(node, n, name), FILLS[name])
                for n in node.all_input_nodes if self.axes(n)})
        raise self.over()

    def over(self) -> Unmapped:
        names = {n for node in [self.w.node, *self.w.node.all_input_nodes]
                 for _, e in self.axes(node) for n in self.sizes.names(e)}
        return self.refuse("over the open dimension %s: no layer computes it for each length"
                           % (", ".join(sorted(names)) or ", ".join(self.sizes.bounds)))

    def _is_node(self, x: Any) -> bool:
        return isinstance(x, self.w.torch.fx.Node)

    def _read(self, node: Any, n: Any, name: str) -> List[Tuple[int, Any]]:
        """The open axes of an input that an operator reads over."""
        axes, rank = self.axes(n), len(self.sizes.kept[n])
        if "softmax" in name:
            return [(i, e) for i, e in axes if i == node.args[1] % rank]
        if name in ("matmul", "mm", "bmm", "mv", "addmm", "baddbmm", "addmv"):
            one, two = node.args[1:3] if name.startswith(("add", "badd")) else node.args[:2]
            over = {rank - 1} if n is one else set()
            over |= {max(0, rank - 2)} if n is two else set()
            return [(i, e) for i, e in axes if i in over]
        return axes

    def with_inputs(self, node: Any, rule: Any, changed: Dict[Any, Any]) -> Any:
        kept = {n: self.w.env[n] for n in changed}
        self.w.env.update(changed)
        try:
            return rule(self.w, self.w._args(node))
        finally:
            self.w.env.update(kept)

    # ---- what is hidden

    def mask(self, expression: Any, size: int) -> Value:
        """[size]: 1 up to the length, else 0."""
        key = (str(expression), size)
        if key not in self._masks:
            self._masks[key] = self.table(
                expression, lambda lengths: np.arange(size) < int(
                    self.sizes.at(expression, lengths)), (size,))
        return self._masks[key]

    def table(self, expression: Any, made: Callable[[Dict[str, int]], Any],
              shape: Sequence[int]) -> Value:
        """Numbers of a length, looked up: the same for all samples of that length."""
        names = self.sizes.names(expression) if not isinstance(expression, list) else expression
        if len(names) != 1:
            raise self.refuse("numbers that depend on several lengths, %s" % ", ".join(names))
        width, name = max(1, count(shape)), names[0]
        most = self.sizes.bounds[name][1]
        if (most + 1) * width > LARGEST:
            raise self.refuse("a table of %d lengths by %d numbers" % (most + 1, width))
        rows = np.zeros((most + 1, width), np.float32)
        for n in self.all_lengths(name):
            one = np.asarray(made({**self.sizes.largest, name: n}), np.float32)
            rows[n] = self._placed(one, shape).reshape(-1)
        where, self.g.where = self.g.where, ""
        value = self.g.embedding(self.ids[name], Constant.of(rows))
        self.g.where = where
        return Value(value.cell, tuple(shape))

    def _placed(self, one: np.ndarray, shape: Sequence[int]) -> np.ndarray:
        if one.shape == tuple(shape):
            return one
        whole = np.zeros(shape, np.float32)
        whole[tuple(slice(n) for n in one.shape)] = one
        return whole

    def number(self, node: Any) -> Value:
        """A size as a value of one number."""
        expression = self.sizes.kept[node]
        key = ("number", str(expression))
        if key not in self._masks:
            self._masks[key] = self.table(
                expression, lambda lengths: self.sizes.at(expression, lengths), ())
        return self._masks[key]

    def places(self, expressions: Sequence[Any]) -> Tensor:
        """The product of sizes, as a number."""
        fixed = 1
        made: Optional[Tensor] = None
        for e in expressions:
            if not self.sizes.names(e):
                fixed *= int(e)
                continue
            one = self.table(e, functools.partial(self.sizes.at, e), ())
            made = one if made is None else self.g.binary(made, one, "mul")
        assert made is not None
        return made if fixed == 1 else self.g.binary(made, Constant.of(np.float64(fixed)), "mul")

    def hide(self, x: Tensor, axes: Sequence[Tuple[int, Any]], fill: float) -> Tensor:
        """x with `fill` behind the end of each of the axes."""
        if not axes or not isinstance(x, (Value, Constant)):
            return x
        rank = len(x.shape)
        key = (x.cell if isinstance(x, Value) else id(x), tuple(x.shape), fill, str(axes))
        if key in self._hidden:
            return self._hidden[key]
        made: Tensor = x
        for axis, expression in axes:
            size = size_of(x.shape[axis])
            mask = self.mask(expression, size)
            shape = tuple(size if i == axis else 1 for i in range(rank))
            made = self.g.select(Value(mask.cell, shape), made, Constant.of(np.float64(fill)))
        assert isinstance(made, Value)
        if isinstance(x, Value):
            made.dims, made.axis = (None, "")
        self._hidden[key] = made
        return made

    # ---- numbers that are known

    def at(self, x: Any, lengths: Dict[str, int]) -> Any:
        """What PyTorch computes of numbers that are known, where the dimensions are so long."""
        torch = self.w.torch
        if isinstance(x, torch.fx.Node):
            kept = self.sizes.kept.get(x)
            if not isinstance(kept, (tuple, list)) and kept is not None:
                return self.sizes.at(kept, lengths)
            known = self.w.env.get(x)
            if isinstance(known, Constant) and self.axes(x):
                return torch.as_tensor(np.ascontiguousarray(known.array[tuple(
                    slice(n) for n in self.dims(x, lengths))]))
            key = (x, tuple(sorted(lengths.items())))
            if x not in self.varies:
                return self.w._plain_args(x, 1)
            if key not in self._known:
                if len(self._known) > 4096:
                    self._known.clear()
                with torch.no_grad():
                    self._known[key] = x.target(*self.at(x.args, lengths),
                                                **self.at(x.kwargs, lengths))
            return self._known[key]
        if isinstance(x, dict):
            return {k: self.at(v, lengths) for k, v in x.items()}
        if isinstance(x, (tuple, list)):
            return type(x)(self.at(one, lengths) for one in x)
        return self.w._plain_args(x, 1)

    def folded(self, node: Any, made: Any) -> Any:
        """Known numbers that depend on a length: those of the maximum begin with them, or they are
        looked up."""
        if not any(self.depends(n) or n in self.varies or self.axes(n)
                   for n in node.all_input_nodes):
            return made
        self.varies.add(node)
        if not isinstance(made, Constant):
            if isinstance(made, list):
                raise self.over()
            return made
        whole = made.array
        fits = True
        for lengths in self.probes():
            one = self.w.torch.as_tensor(self.at(node, lengths)).numpy()
            fits = fits and one.ndim == whole.ndim and np.array_equal(
                whole[tuple(slice(n) for n in one.shape)], one, equal_nan=one.dtype.kind == "f")
        if fits:
            return made
        if made.trainable or made.names:
            raise self.refuse("parameters in an order that depends on a length")
        value = self.table(self._depended(node), lambda lengths: self.w.torch.as_tensor(
            self.at(node, lengths)).numpy(), whole.shape)
        return value

    def _depended(self, node: Any) -> List[str]:
        names: Set[str] = set()
        todo, seen = [node], set()
        while todo:
            one = todo.pop()
            if one in seen:
                continue
            seen.add(one)
            if self.depends(one):
                names.update(self.sizes.names(self.sizes.kept[one]))
                continue
            names.update(n for _, e in self.axes(one) for n in self.sizes.names(e))
            if one in self.varies:
                todo += one.all_input_nodes
        return sorted(names)

    # ---- steps

    def steps(self, node: Any, axis: int) -> Optional[Tuple[str, Any]]:
        """The dimension of an axis that is open: its name, and how long it is."""
        kept = self.sizes.kept[node]
        found = self.sizes.names(kept[axis])
        return (found[0], kept[axis]) if found else None

    def itself(self, node: Any) -> bool:
        """Whether its one open axis, if there is one, is as long as an input's."""
        axes = self.axes(node)
        return not axes or len(axes) == 1 and bool(getattr(axes[0][1], "is_Symbol", False))

    @staticmethod
    def steps_of(shape: Sequence[Any]) -> int:
        return next(i for i in (0, 1) if not isinstance(shape[i], Batch))

    def operand(self, node: Any, axis: int) -> Optional[Value]:
        """The input of lengths as a layer takes it, where the axis is open: only the dimension
        itself, which no operator has changed."""
        found = self.steps(node, axis)
        if found is None:
            return None
        name, expression = found
        if not getattr(expression, "is_Symbol", False):
            raise self.refuse("over %s steps: layers take the length of an input" % expression)
        return Value(self.ids[name].cell, (Batch(),), (1,))

    def linear(self, x: Tensor, axis: int, names: List[str],
               matrix: Callable[[Dict[str, int]], Any], columns: int) -> Tensor:
        """A product over an axis with a matrix [places, columns] that depends on the length, of x
        in which nothing is behind the end. The axis has `columns` places then."""
        g, rank = self.g, len(x.shape)
        order = [i for i in range(rank) if i != axis] + [axis]
        moved = g.value(g.transpose(x, order))
        table = self.table(names, matrix, (size_of(x.shape[axis]), columns))
        if rank == 1:
            moved = Value(moved.cell, (1,) + tuple(moved.shape))
        made = g.matmul(moved, table)
        if rank == 1:
            return Value(made.cell, tuple(made.shape[1:]))
        return g.transpose(made, [order.index(i) for i in range(rank)])

    def last(self, x: Tensor, node: Any, axis: int, steps: int) -> Tensor:
        """The last place of an open axis of x, which stays an axis of one; `node` has that axis at
        `steps`."""
        expression = self.sizes.kept[node][steps]

        def matrix(lengths: Dict[str, int]) -> np.ndarray:
            one = np.zeros((size_of(x.shape[axis]), 1), np.float32)
            one[int(self.sizes.at(expression, lengths)) - 1] = 1
            return one

        return self.linear(self.hide(x, [(axis, expression)], 0.0), axis,
                           self.sizes.names(expression), matrix, 1)

    def attended(self, node: Any, scores: Tensor, values: Tensor) -> Tuple[Tensor, Tensor]:
        """Scores of an attention and its values, without keys behind the end."""
        found = self.steps(node.args[1], -2)
        if self.steps(node.args[0], -1) or self.steps(node.args[2], -1):
            raise self.over()
        if found is None:
            return scores, values
        return (self.hide(scores, [(len(scores.shape) - 1, found[1])], LOWEST),
                self.hide(values, [(len(values.shape) - 2, found[1])], 0.0))
