// Made by tools/generate from the field lists in src: edit those.
// Layers: docs/reference/layers.md.

import type { AnyCell } from '../topology.js';

/** Elman's network over [steps, features]; a row without dimensions is one step, and where rows
 *  are positions of a sequence (behind single ids), the next step of that. Names, layouts and
 *  gate orders (LSTM: i f g o; GRU: r z n) of recurrent layers are PyTorch's: `weight_ih_l0`
 *  [gates x hidden, features], `weight_hh_l0` [gates x hidden, hidden], `bias_ih_l0`,
 *  `bias_hh_l0`, then `..._l0_reverse`, `..._l1`. Behind the length of a row outputs are 0 and
 *  states stay; the reverse direction begins at its last step. */
export interface RnnCell extends AnyCell {
  type: 'rnn';
  /** values of a state; at least 1 */
  hidden: number;
  /** layers on one another: each takes all steps of the one before; 1 to 32768; default 1 */
  num_layers?: number;
  /** adds learned numbers to both products; default true */
  bias?: boolean;
  /** a second state runs from the last step to the first; default false */
  bidirectional?: boolean;
  /** `all`: the states of all steps, [steps, directions x hidden]; `last`: that after the last,
   *  directions x hidden; default all */
  output?: 'all' | 'last';
  /** a run continues from the state that the sequence's last run left, unless its position is
   *  0; in training where that has `streams`; default false */
  stateful?: boolean;
  /** of the sum; default tanh */
  activation?: 'tanh' | 'relu';
  /** operands behind the first, in their order: `lengths`, steps of a row, an input of one id;
   *  `h0`, states before the first step, [num_layers x directions, hidden], else 0 */
  takes?: string[];
  /** the last states are a further operand of the output, `h`, as `h0` is; default false */
  return_state?: boolean;
}

/** Gated recurrent units over [steps, features]. Without `linear_before_reset` `weight_hh` and
 *  `bias_hh` have r and z, `weight_hn` [hidden, hidden] and `bias_hn` the rest. */
export interface GruCell extends AnyCell {
  type: 'gru';
  /** values of a state; at least 1 */
  hidden: number;
  /** layers on one another: each takes all steps of the one before; 1 to 32768; default 1 */
  num_layers?: number;
  /** adds learned numbers to both products; default true */
  bias?: boolean;
  /** a second state runs from the last step to the first; default false */
  bidirectional?: boolean;
  /** `all`: the states of all steps, [steps, directions x hidden]; `last`: that after the last,
   *  directions x hidden; default all */
  output?: 'all' | 'last';
  /** a run continues from the state that the sequence's last run left, unless its position is
   *  0; in training where that has `streams`; default false */
  stateful?: boolean;
  /** the reset gate acts on the state's product, as in PyTorch; false: on the state, ONNX's
   *  default; default true */
  linear_before_reset?: boolean;
  /** operands behind the first, in their order: `lengths`, steps of a row, an input of one id;
   *  `h0`, states before the first step, [num_layers x directions, hidden], else 0 */
  takes?: string[];
  /** the last states are a further operand of the output, `h`, as `h0` is; default false */
  return_state?: boolean;
}

/** Long short-term memory over [steps, features]. */
export interface LstmCell extends AnyCell {
  type: 'lstm';
  /** values of a state; at least 1 */
  hidden: number;
  /** layers on one another: each takes all steps of the one before; 1 to 32768; default 1 */
  num_layers?: number;
  /** adds learned numbers to both products; default true */
  bias?: boolean;
  /** a second state runs from the last step to the first; default false */
  bidirectional?: boolean;
  /** `all`: the states of all steps, [steps, directions x hidden]; `last`: that after the last,
   *  directions x hidden; default all */
  output?: 'all' | 'last';
  /** a run continues from the state that the sequence's last run left, unless its position is
   *  0; in training where that has `streams`; default false */
  stateful?: boolean;
  /** operands behind the first, in their order: `lengths`, steps of a row, an input of one id;
   *  `h0`, `c0`, states before the first step, [num_layers x directions, hidden], else 0 */
  takes?: string[];
  /** the last states are further operands of the output, `h` and `c`, as `h0` and `c0` are;
   *  default false */
  return_state?: boolean;
}
