// Made by tools/generate from the field lists in src: edit those.
// Layers: docs/reference/layers.md.

import type { Activation, AnyCell } from '../topology.js';

/** A function of each value by itself. */
export interface ActivationCell extends AnyCell {
  type: 'activation';
  /** the function; default relu */
  activation?: Activation;
}

/** A function of single values, with up to two parameters. */
export interface UnaryCell extends AnyCell {
  type: 'unary';
  /** the function ([kinds](../../src/ops/graph/kinds.h)) */
  op:
    'abs' | 'neg' | 'sqrt' | 'reciprocal' | 'exp' | 'log' | 'floor' | 'ceil' | 'round' | 'sign' |
    'erf' | 'elu' | 'selu' | 'celu' | 'hard_sigmoid' | 'hard_swish' | 'softsign' |
    'thresholded_relu' | 'clip' | 'not' | 'is_nan' | 'is_inf' | 'leaky_relu' | 'shrink' | 'trunc'
    | 'swish' | 'square' | 'fp8e4m3' | 'fp8e5m2' | 'sin' | 'cos';
  /** its first parameter; default 0 */
  a?: number;
  /** its second parameter; default 0 */
  b?: number;
}

/** Two operands that arrive side by side, spread as NumPy does; or one, and a learned one, the
 *  parameter `value`. */
export interface BinaryCell extends AnyCell {
  type: 'binary';
  /** the function ([kinds](../../src/ops/graph/kinds.h)) */
  op:
    'add' | 'sub' | 'mul' | 'div' | 'pow' | 'max' | 'min' | 'prelu' | 'less' | 'less_equal' |
    'greater' | 'greater_equal' | 'equal' | 'and' | 'or' | 'xor';
  /** shape of the learned operand, where only one arrives; at least 1 */
  constant?: number | number[];
  /** the learned operand is the first; default false */
  constant_first?: boolean;
  /** of both operands, or of the one; none: two that come as `operands`; at least 1 */
  shapes?: number[][];
}

/** `numpy.where` of three operands that arrive side by side. */
export interface SelectCell extends AnyCell {
  type: 'select';
  /** of condition, then, otherwise; none: three that come as `operands`; at least 1 */
  shapes?: number[][];
}

/** A sum, a mean, a maximum, ... over dimensions of the row. */
export interface ReduceCell extends AnyCell {
  type: 'reduce';
  /** the function ([kinds](../../src/ops/graph/kinds.h)) */
  op:
    'sum' | 'mean' | 'max' | 'min' | 'prod' | 'l1' | 'l2' | 'sum_square' | 'log_sum' |
    'log_sum_exp' | 'argmax' | 'argmin';
  /** dimensions of the row; none: those it comes with; at least 1 */
  dims?: number | number[];
  /** which of them are reduced; none: all; at least 0 */
  axes?: number | number[];
  /** they stay, with size 1; default true */
  keepdims?: boolean;
}

/** Dimensions in another order: `numpy.transpose`. */
export interface PermuteCell extends AnyCell {
  type: 'permute';
  /** dimensions of the row; none: those it comes with; at least 1 */
  dims?: number | number[];
  /** which of them becomes the first, the second, ...; at least 0 */
  order: number | number[];
}

/** Values by their places in the row. */
export interface IndexSelectCell extends AnyCell {
  type: 'index_select';
  /** dimensions of the result; none: one; at least 1 */
  dims?: number | number[];
  /** places, as runs of first, step, count; first -1 with step 0: `fill` */
  runs: number | number[];
  /** what stands where no place is; default 0 */
  fill?: number;
}

/** The product of two operands that arrive side by side, NumPy's matmul for two dimensions or
 *  more. */
export interface BatchedMatmulCell extends AnyCell {
  type: 'batched_matmul';
  /** of both: [..., M, K] and [..., K, N]; none: two that come as `operands`; at least 1 */
  shapes?: number[][];
}
