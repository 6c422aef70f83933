"""Recurrent layers and pools over (steps, features).

Made by tools/generate from the field lists in src: edit those.
"""
from __future__ import annotations

from typing import Optional, Sequence

from ._base import Layer, checked


class RNN(Layer):
    """Elman's network over (steps, features); a row without dimensions is one step, and where rows
    are positions of a sequence (behind single ids), the next step of that. Names, layouts and
    gate orders (LSTM: i f g o; GRU: r z n) of recurrent layers are PyTorch's: `weight_ih_l0`
    (gates x hidden, features), `weight_hh_l0` (gates x hidden, hidden), `bias_ih_l0`,
    `bias_hh_l0`, then `..._l0_reverse`, `..._l1`. Behind the length of a row outputs are 0 and
    states stay; the reverse direction begins at its last step. `batch_first` is true, the only
    order here, and false by default in PyTorch.

    * `hidden_size`: values of a state; at least 1.
    * `num_layers`: layers on one another: each takes all steps of the one before; 1 to 32768.
    * `nonlinearity`: of the sum.
    * `bias`: adds learned numbers to both products.
    * `batch_first`: only True: x is (samples, steps, features).
    * `dropout`: only 0.0: put Dropout(p) between layers: Sequential(LSTM(8), Dropout(0.1),
      LSTM(8)).
    * `bidirectional`: a second state runs from the last step to the first.
    * `output`: `all`: the states of all steps, [steps, directions x hidden]; `last`: that after the
      last, directions x hidden.
    * `stateful`: a run continues from the state that the sequence's last run left, unless its
      position is 0; in training where that has `streams`.
    * `return_state`: the last states are a further operand of the output, `h`, as `h0` is.
    * By name, when called: `lengths`, steps of a row, an input of one id; `h0`, states before the
      first step, [num_layers x directions, hidden], else 0.
    """

    hidden_size: int
    num_layers: int
    nonlinearity: str
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    output: str
    stateful: bool
    return_state: bool
    _kind = "rnn"

    @checked
    def __init__(self, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh",
                 bias: bool = True, batch_first: bool = True, dropout: float = 0.0,
                 bidirectional: bool = False, *, output: str = "all", stateful: bool = False,
                 return_state: bool = False, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("rnn", {
            "hidden": hidden_size, "num_layers": num_layers, "activation": nonlinearity,
            "bias": bias, "bidirectional": bidirectional, "output": output, "stateful": stateful,
            "return_state": return_state},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class GRU(Layer):
    """Gated recurrent units over (steps, features). Without `linear_before_reset` `weight_hh` and
    `bias_hh` have r and z, `weight_hn` (hidden, hidden) and `bias_hn` the rest. `batch_first`
    is true, the only order here, and false by default in PyTorch.

    * `hidden_size`: values of a state; at least 1.
    * `num_layers`: layers on one another: each takes all steps of the one before; 1 to 32768.
    * `bias`: adds learned numbers to both products.
    * `batch_first`: only True: x is (samples, steps, features).
    * `dropout`: only 0.0: put Dropout(p) between layers: Sequential(LSTM(8), Dropout(0.1),
      LSTM(8)).
    * `bidirectional`: a second state runs from the last step to the first.
    * `output`: `all`: the states of all steps, [steps, directions x hidden]; `last`: that after the
      last, directions x hidden.
    * `stateful`: a run continues from the state that the sequence's last run left, unless its
      position is 0; in training where that has `streams`.
    * `linear_before_reset`: the reset gate acts on the state's product, as in PyTorch; false: on
      the state, ONNX's default.
    * `return_state`: the last states are a further operand of the output, `h`, as `h0` is.
    * By name, when called: `lengths`, steps of a row, an input of one id; `h0`, states before the
      first step, [num_layers x directions, hidden], else 0.
    """

    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    output: str
    stateful: bool
    linear_before_reset: bool
    return_state: bool
    _kind = "gru"

    @checked
    def __init__(self, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = True, dropout: float = 0.0, bidirectional: bool = False, *,
                 output: str = "all", stateful: bool = False, linear_before_reset: bool = True,
                 return_state: bool = False, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("gru", {
            "hidden": hidden_size, "num_layers": num_layers, "bias": bias,
            "bidirectional": bidirectional, "output": output, "stateful": stateful,
            "linear_before_reset": linear_before_reset, "return_state": return_state},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class LSTM(Layer):
    """Long short-term memory over (steps, features). `batch_first` is true, the only order here,
    and false by default in PyTorch.

    * `hidden_size`: values of a state; at least 1.
    * `num_layers`: layers on one another: each takes all steps of the one before; 1 to 32768.
    * `bias`: adds learned numbers to both products.
    * `batch_first`: only True: x is (samples, steps, features).
    * `dropout`: only 0.0: put Dropout(p) between layers: Sequential(LSTM(8), Dropout(0.1),
      LSTM(8)).
    * `bidirectional`: a second state runs from the last step to the first.
    * `proj_size`: only 0: put a Linear behind it.
    * `output`: `all`: the states of all steps, [steps, directions x hidden]; `last`: that after the
      last, directions x hidden.
    * `stateful`: a run continues from the state that the sequence's last run left, unless its
      position is 0; in training where that has `streams`.
    * `return_state`: the last states are further operands of the output, `h` and `c`, as `h0` and
      `c0` are.
    * By name, when called: `lengths`, steps of a row, an input of one id; `h0`, `c0`, states before
      the first step, [num_layers x directions, hidden], else 0.
    """

    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int
    output: str
    stateful: bool
    return_state: bool
    _kind = "lstm"

    @checked
    def __init__(self, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = True, dropout: float = 0.0, bidirectional: bool = False,
                 proj_size: int = 0, *, output: str = "all", stateful: bool = False,
                 return_state: bool = False, dtype: Optional[str] = None,
                 name: Optional[str] = None, enabled: Optional[bool] = None,
                 tie: Optional[str] = None, fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("lstm", {
            "hidden": hidden_size, "num_layers": num_layers, "bias": bias,
            "bidirectional": bidirectional, "output": output, "stateful": stateful,
            "return_state": return_state},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})


class PoolSteps(Layer):
    """One vector from the steps of a row (steps, features): their mean, maximum or sum, or the
    last of them.

    * `op`: which; one of mean, max, sum, last.
    * By name, when called: `lengths`, steps of a row, an input of one id: those behind do not
      count, and without any the result is 0.
    """

    op: str
    _kind = "pool_steps"

    @checked
    def __init__(self, op: str = "mean", *, dtype: Optional[str] = None, name: Optional[str] = None,
                 enabled: Optional[bool] = None, tie: Optional[str] = None,
                 fixed: Optional[Sequence[str]] = None) -> None:
        super().__init__("pool_steps", {
            "op": op},
            {"dtype": dtype, "name": name, "enabled": enabled, "tie": tie, "fixed": fixed})
