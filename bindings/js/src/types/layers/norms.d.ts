// Made by tools/generate from the field lists in src: edit those.
// Layers: docs/reference/layers.md.

import type { AnyCell } from '../topology.js';

/** Mean 0 and variance 1 over the row, times a gain, plus a bias (arXiv 1607.06450). */
export interface LayerNormCell extends AnyCell {
  type: 'layer_norm';
  /** added to the mean square or variance before the root; 1e-12 to 1; default 1e-5 */
  eps?: number;
}

/** The row divided by the root of its mean square, times a gain (arXiv 1910.07467). */
export interface RmsNormCell extends AnyCell {
  type: 'rms_norm';
  /** added to the mean square or variance before the root; 1e-12 to 1; default 1e-5 */
  eps?: number;
}

/** Channels of [channels, space...] normalized by the batch's statistics while training, by
 *  running ones otherwise (arXiv 1502.03167); without dimensions each value is a channel.
 *  Training takes the statistics of the micro-batch's rows, and each update moves
 *  `running_mean` and `running_var` (of a sample, as PyTorch has it) towards those of the last
 *  micro-batch. */
export interface BatchNormCell extends AnyCell {
  type: 'batch_norm';
  /** added to the variance before the root; 1e-12 to 1; default 1e-5 */
  eps?: number;
  /** what a batch weighs in the running mean and variance; 0 to 1; default 0.1 */
  momentum?: number;
  /** learns a gain and a bias per channel; default true */
  affine?: boolean;
}

/** Each of `groups` of channels normalized by itself (arXiv 1803.08494). */
export interface GroupNormCell extends AnyCell {
  type: 'group_norm';
  /** number of groups, which divides the channels; at least 1; default 1 */
  groups?: number;
  /** added to the variance before the root; 1e-12 to 1; default 1e-5 */
  eps?: number;
  /** learns a gain and a bias per channel; default true */
  affine?: boolean;
}

/** Each channel normalized by itself (arXiv 1607.08022). */
export interface InstanceNormCell extends AnyCell {
  type: 'instance_norm';
  /** added to the variance before the root; 1e-12 to 1; default 1e-5 */
  eps?: number;
  /** learns a gain and a bias per channel; default false */
  affine?: boolean;
}

/** (x - `mean`) * `scale` by columns; the two are set, not learned. */
export interface StandardizeCell extends AnyCell {
  type: 'standardize';
  /** a value that is not a number becomes 0, as the mean does; default false */
  missing?: boolean;
}

/** While training, values are 0 with a probability and the others grow by 1 / (1 - rate); a
 *  function of the training's `seed`, the step and micro-batch, the layer's path and the
 *  value's place. */
export interface DropoutCell extends AnyCell {
  type: 'dropout';
  /** probability of a 0 while training; at least 0, below 1; default 0.5 */
  rate?: number;
}
