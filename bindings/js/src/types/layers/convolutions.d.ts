// Made by tools/generate from the field lists in src: edit those.
// Layers: docs/reference/layers.md.

import type { Activation, AnyCell } from '../topology.js';

/** Convolution over [channels, length], [channels, height, width] or [channels, depth, height,
 *  width]. Parameters: `weight` [filters, channels / groups x kernel], PyTorch's order, `bias`. */
export interface Conv1dCell extends AnyCell {
  type: 'conv1d' | 'conv2d' | 'conv3d';
  /** channels of the output; at least 1 */
  filters: number;
  /** size of the window: one number, or one per dimension; at least 1; default 3 */
  kernel?: number | number[];
  /** step of the window; at least 1; default 1 */
  stride?: number | number[];
  /** zeros around the input: one number, one per dimension, or all begins and then all ends; at
   *  least 0; default 0 */
  padding?: number | number[];
  /** step between the taps of the window; at least 1; default 1 */
  dilation?: number | number[];
  /** number of groups, as in PyTorch; it divides channels and filters; at least 1; default 1 */
  groups?: number;
  /** adds a learned number per filter; default true */
  bias?: boolean;
  /** applied to the sum; default linear */
  activation?: Activation;
}

/** Transposed convolution over [channels, length], [channels, height, width] or [channels,
 *  depth, height, width]. Parameters: `weight` [filters x kernel, channels], with groups
 *  [groups x filters / groups x kernel, channels / groups], `bias`. */
export interface ConvTranspose1dCell extends AnyCell {
  type: 'conv_transpose1d' | 'conv_transpose2d' | 'conv_transpose3d';
  /** channels of the output; at least 1 */
  filters: number;
  /** size of the window: one number, or one per dimension; at least 1; default 3 */
  kernel?: number | number[];
  /** step of the window; at least 1; default 1 */
  stride?: number | number[];
  /** zeros around the input: one number, one per dimension, or all begins and then all ends; at
   *  least 0; default 0 */
  padding?: number | number[];
  /** step between the taps of the window; at least 1; default 1 */
  dilation?: number | number[];
  /** number of groups, as in PyTorch; it divides channels and filters; at least 1; default 1 */
  groups?: number;
  /** adds a learned number per filter; default true */
  bias?: boolean;
  /** applied to the sum; default linear */
  activation?: Activation;
  /** values added at the end of each dimension of the output, below the stride or the dilation;
   *  at least 0; default 0 */
  output_padding?: number | number[];
}

/** The largest value of each window of [channels, length], [channels, height, width] or
 *  [channels, depth, height, width]. */
export interface MaxPool1dCell extends AnyCell {
  type: 'max_pool1d' | 'max_pool2d' | 'max_pool3d';
  /** size of the window: one number, or one per dimension; at least 1; default 2 */
  kernel?: number | number[];
  /** step of the window; 0: the kernel; at least 0; default 0 */
  stride?: number | number[];
  /** zeros around the input: one number, one per dimension, or all begins and then all ends; at
   *  least 0; default 0 */
  padding?: number | number[];
  /** step between the taps of the window; at least 1; default 1 */
  dilation?: number | number[];
  /** a last window that is partly outside counts too; default false */
  ceil_mode?: boolean;
  /** the window is the whole space, whatever the window's keys say; default false */
  global?: boolean;
}

/** The mean of each window of [channels, length], [channels, height, width] or [channels,
 *  depth, height, width]. */
export interface AvgPool1dCell extends AnyCell {
  type: 'avg_pool1d' | 'avg_pool2d' | 'avg_pool3d';
  /** size of the window: one number, or one per dimension; at least 1; default 2 */
  kernel?: number | number[];
  /** step of the window; 0: the kernel; at least 0; default 0 */
  stride?: number | number[];
  /** zeros around the input: one number, one per dimension, or all begins and then all ends; at
   *  least 0; default 0 */
  padding?: number | number[];
  /** step between the taps of the window; at least 1; default 1 */
  dilation?: number | number[];
  /** a last window that is partly outside counts too; default false */
  ceil_mode?: boolean;
  /** the window is the whole space, whatever the window's keys say; default false */
  global?: boolean;
  /** padding counts in the divisor; default true */
  count_include_pad?: boolean;
}
