"""Recurrent layers: Loom's own where it computes the same cell, else steps one behind the other
that share their cell's parameters."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ..graph.cells import Tensor, Value
from ..graph.constant import Constant
from ..graph.shape import Batch, row_of
from .activations import activate, name_of
from .walk import Walk, maps, sizes_of

State = List[Value]
STEPS = 512  # more steps than this are not written one behind the other


def _order(constant: Constant, units: int, gates: Sequence[int], axis: int) -> Constant:
    parts = [constant.part(axis, g * units, (g + 1) * units) for g in gates]
    return parts[0] if len(parts) == 1 else Constant.joined(parts, axis)


def _zeros(n: int) -> Constant:
    return Constant.of(np.zeros(n))


def _native(w: Walk, cell: Any) -> Optional[Tuple[str, Dict[str, Constant], Dict[str, Any]]]:
    """Loom's layer for a cell, its parameters and settings; None where it has another function."""
    kind = type(cell).__name__.replace("Cell", "")
    inner, outer = name_of(cell.activation), name_of(getattr(cell, "recurrent_activation", None))
    units = int(cell.units)
    constants = [w.named(cell.kernel), w.named(cell.recurrent_kernel)] + [
        w.named(b) for b in [cell.bias] if b is not None]
    if any(w.is_loose(c) for c in constants):
        return None
    k, r = (c.transposed((1, 0)) for c in constants[:2])
    b = constants[2] if len(constants) > 2 else None
    fills = {"weight_ih_l0": k, "weight_hh_l0": r}
    if kind == "SimpleRNN" and inner in ("tanh", "relu"):
        if b is not None:
            fills.update(bias_ih_l0=b, bias_hh_l0=_zeros(units))
        return "rnn", fills, {"activation": inner}
    if inner != "tanh" or outer != "sigmoid":
        return None
    if kind == "LSTM":
        if b is not None:
            fills.update(bias_ih_l0=b, bias_hh_l0=_zeros(4 * units))
        return "lstm", fills, {}
    if kind == "GRU" and cell.reset_after:
        fills = {role: _order(c, units, (1, 0, 2), 0) for role, c in fills.items()}
        if b is not None:
            for i, role in enumerate(("bias_ih_l0", "bias_hh_l0")):
                fills[role] = _order(b.part(0, i, i + 1).reshaped((3 * units,)), units, (1, 0, 2),
                                     0)
        return "gru", fills, {}
    return None


@maps("LSTM", "GRU", "SimpleRNN", "RNN")
def recurrent(w: Walk, layer: Any, x: Tensor, initial_state: Any = None,
              mask: Optional[Tensor] = None) -> Any:
    value = w.value(x)
    if isinstance(x, (list, tuple)):
        value, initial_state = w.value(x[0]), list(x[1:])
    if layer.stateful:
        raise w.refuse(type(layer).__name__ + " with stateful", "rows here are whole sequences")
    given = None if initial_state is None else [w.value(s) for s in (
        initial_state if isinstance(initial_state, (list, tuple)) else [initial_state])]
    if layer.go_backwards:
        value = w.g.value(w.g.take(value, 1, np.arange(row_of(value.shape)[1])[::-1]))
        if mask is not None:
            flags = w.value(mask)
            mask = w.g.take(flags, 1, np.arange(row_of(flags.shape)[1])[::-1])
    y, states = run_cell(w, layer, value, given, mask)
    return [y, *states] if layer.return_state else y


def run_cell(w: Walk, layer: Any, x: Value, given: Optional[State],
             mask: Optional[Tensor]) -> Tuple[Value, State]:
    cell = layer.cell
    for what in ("dropout", "recurrent_dropout"):
        if float(getattr(cell, what, 0.0) or 0.0):
            raise w.refuse("%s with %s" % (type(layer).__name__, what),
                           "one noise for all steps of a sample")
    native = None if mask is not None or not hasattr(cell, "kernel") else _native(w, cell)
    if native is None:
        return _unrolled(w, layer, x, given, mask)
    kind, fills, more = native
    units = int(cell.units)
    operands = [w.g.value(w.g.reshape(s, [1, None, units])) for s in given or []]
    config: Dict[str, Any] = dict(more)
    if operands:
        config["takes"] = ["h0", "c0"][:len(operands)]
    made = w.g.recurrent(kind, x, fills, units, bias=cell.bias is not None,
                         last=not layer.return_sequences, operands=operands,
                         states=bool(layer.return_state), **config)
    return made[0], [w.g.value(w.g.reshape(s, [None, units])) for s in made[1:]]


# ---- step by step

def _unrolled(w: Walk, layer: Any, x: Value, given: Optional[State],
              mask: Optional[Tensor]) -> Tuple[Value, State]:
    steps = int(x.shape[1])  # type: ignore[arg-type]
    if steps > STEPS:
        raise w.refuse("%s of %d steps" % (type(layer).__name__, steps),
                       "a cell that Loom does not have takes at most %d" % STEPS)
    cells = list(getattr(layer.cell, "cells", [layer.cell]))
    flags = None if mask is None else w.value(mask)
    states = _begin(w, cells, given)
    zero = bool(getattr(layer, "zero_output_for_mask", False))
    outputs: List[Value] = []
    for t in range(steps):
        y: Value = w.g.value(w.g.reshape(w.g.take(x, 1, [t]), [None, x.shape[2]]))
        made: List[State] = []
        for cell, state in zip(cells, states):
            made.append(_step(w, cell, y, state))
            y = made[-1][0]
        if flags is not None:
            flag = w.g.value(w.g.take(flags, 1, [t]))
            made = [[w.g.select(flag, new, old) for new, old in zip(news, olds)]
                    for news, olds in zip(made, states)]
            before = outputs[-1] if outputs and not zero else w.scaled(y, 0.0)
            y = w.g.select(flag, y, before)
        states = made
        outputs.append(y)
    last = [s for state in states for s in state]
    if not layer.return_sequences:
        return outputs[-1], last
    rows = [w.g.value(w.g.reshape(y, [None, 1, y.shape[1]])) for y in outputs]
    return w.g.value(rows[0] if steps == 1 else w.g.concat(rows, 1)), last


def _begin(w: Walk, cells: Sequence[Any], given: Optional[State]) -> List[State]:
    states: List[State] = []
    rest = list(given or [])
    for cell in cells:
        n = 2 if type(cell).__name__ == "LSTMCell" else 1
        if given is not None:
            states.append(rest[:n])
            rest = rest[n:]
        else:
            zero = w.g.value(Constant.of(np.zeros((1, int(cell.units)))))
            zero = Value(zero.cell, (Batch(), int(cell.units)))
            states.append([zero] * n)
    return states


def _step(w: Walk, cell: Any, x: Value, state: State) -> State:
    kind = type(cell).__name__
    if kind not in ("LSTMCell", "GRUCell", "SimpleRNNCell") or not type(
            cell).__module__.startswith("keras."):
        raise w.refuse("the cell %s" % kind, "a class of the model's code")
    units = int(cell.units)
    k = w.named(cell.kernel).transposed((1, 0))
    r = w.named(cell.recurrent_kernel).transposed((1, 0))
    b = w.maybe(cell.bias)
    if kind == "GRUCell":
        return [_gru(w, cell, x, state[0], k, r, b)]
    total = w.two(w.dense(x, k, b), w.dense(state[0], r, None), "add")
    if kind == "SimpleRNNCell":
        return [activate(w, total, cell.activation)]
    i, f, c, o = (_part(w, total, n, units) for n in range(4))
    gate = cell.recurrent_activation
    kept = w.two(activate(w, f, gate), state[1], "mul")
    memory = w.two(kept, w.two(activate(w, i, gate), activate(w, c, cell.activation), "mul"),
                   "add")
    return [w.two(activate(w, o, gate), activate(w, memory, cell.activation), "mul"), memory]


def _gru(w: Walk, cell: Any, x: Value, h: Value, k: Constant, r: Constant,
         b: Optional[Constant]) -> Value:
    units = int(cell.units)
    gate = cell.recurrent_activation
    first = second = b
    if b is not None:
        second = None
        if cell.reset_after:
            first, second = (b.part(0, n, n + 1).reshaped((3 * units,)) for n in (0, 1))
    mine = w.dense(x, k, first)
    if cell.reset_after:
        other = w.dense(h, r, second)
        z, reset = (activate(w, w.two(_part(w, mine, n, units), _part(w, other, n, units), "add"),
                             gate) for n in (0, 1))
        inner = w.two(reset, _part(w, other, 2, units), "mul")
    else:
        other = w.dense(h, r.part(0, 0, 2 * units), None)
        z, reset = (activate(w, w.two(_part(w, mine, n, units), _part(w, other, n, units), "add"),
                             gate) for n in (0, 1))
        inner = w.dense(w.two(reset, h, "mul"), r.part(0, 2 * units, 3 * units), None)
    new = activate(w, w.two(_part(w, mine, 2, units), inner, "add"), cell.activation)
    return w.two(w.two(z, h, "mul"), w.two(w.two(w.g.number(1.0), z, "sub"), new, "mul"), "add")


def _part(w: Walk, x: Value, n: int, units: int) -> Value:
    return w.g.value(w.g.take(x, 1, np.arange(n * units, (n + 1) * units)))


# ---- wrappers

@maps("Bidirectional")
def bidirectional(w: Walk, layer: Any, x: Tensor, initial_state: Any = None,
                  mask: Optional[Tensor] = None) -> Any:
    value = w.value(x)
    ways = (layer.forward_layer, layer.backward_layer)
    if any(type(way).__name__ not in ("LSTM", "GRU", "SimpleRNN", "RNN") for way in ways):
        raise w.refuse("Bidirectional(%s)" % type(ways[0]).__name__)
    half = None if initial_state is None else len(initial_state) // 2
    made: List[Value] = []
    states: List[Value] = []
    for i, way in enumerate(ways):
        given = None if half is None else list(initial_state[i * half:(i + 1) * half])
        answer = recurrent(w, way, value, given, mask)
        y, *more = answer if isinstance(answer, list) else [answer]
        if i and layer.return_sequences:
            y = w.g.value(w.g.take(y, 1, np.arange(row_of(y.shape)[1])[::-1]))
        made.append(y)
        states += more
    mode = layer.merge_mode
    if mode is None:
        result: List[Value] = made
    elif mode == "concat":
        result = [w.g.value(w.g.concat(made, -1))]
    else:
        result = [w.two(made[0], made[1], "mul" if mode == "mul" else "add")]
        if mode == "ave":
            result = [w.scaled(result[0], 0.5)]
    return result + (states if layer.return_state else [])


# Layers that do to all steps at once what TimeDistributed does to each.
_AT_ONCE = ("Dense", "Activation", "ReLU", "LeakyReLU", "ELU", "Dropout", "Identity", "Rescaling")


@maps("TimeDistributed")
def time_distributed(w: Walk, layer: Any, x: Tensor, mask: Optional[Tensor] = None) -> Value:
    from .model import _graph_of, _run, call
    inner = layer.layer
    value = w.value(x)
    if type(inner).__name__ in _AT_ONCE and not (
            type(inner).__name__ == "Dropout" and inner.noise_shape is not None):
        return w.g.value(call(w, inner, value))
    if type(inner).__name__ == "BatchNormalization" and inner.trainable:
        raise w.refuse("TimeDistributed(BatchNormalization)", "its statistics are of single steps")
    outputs, w.outputs = w.outputs, []
    w.outputs = [_Step(t.shape) for t in outputs]
    rows = []
    for t in range(int(value.shape[1])):  # type: ignore[arg-type]
        step = w.g.value(w.g.reshape(w.g.take(value, 1, [t]), [None, *value.shape[2:]]))
        graph = _graph_of(inner)
        y = (_run(w, graph, [step], w.g.where + "/")[0] if graph is not None
             else call(w, inner, step))
        y = w.g.value(y)
        rows.append(w.g.value(w.g.reshape(y, [None, 1, *sizes_of(y.shape)[1:]])))
    w.outputs = outputs
    return w.g.value(rows[0] if len(rows) == 1 else w.g.concat(rows, 1))


class _Step:
    """What one step of a tensor has: its shape."""

    def __init__(self, shape: Sequence[Any]) -> None:
        self.shape = (shape[0], *shape[2:])
