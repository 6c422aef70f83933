// Made by tools/generate from the field lists in src: edit those.
// Layers: docs/reference/layers.md.

import type { AnyCell } from '../topology.js';

/** Distributions over the last dimension, or as the kind says. */
export interface SoftmaxCell extends AnyCell {
  type: 'softmax';
  /** `standard`; `temperature`: values are divided by it first; `grid`: `rows` x `cols`, a
   *  distribution for each row; `hierarchical`: a tree by `levels`. It takes logits of all
   *  nodes, level after level, and returns for each leaf the product along its path; `gumbel`:
   *  Gumbel noise while training; `masked`: over the places of `mask`; `sparsemax`; `entmax`;
   *  default standard */
  kind?:
    'standard' | 'grid' | 'hierarchical' | 'temperature' | 'gumbel' | 'masked' | 'sparsemax' |
    'entmax';
  /** logarithms of the probabilities; with `kind` `standard` or `temperature` or `grid`;
   *  default false */
  log?: boolean;
  /** values are divided by it first; 1e-6 to 1e6; default 1 */
  temperature?: number;
  /** distributions; with `kind` `grid`; at least 1 */
  rows?: number;
  /** values of each; with `kind` `grid`; at least 1 */
  cols?: number;
  /** children of a node, from the root on; with `kind` `hierarchical`; at least 1 */
  levels?: number | number[];
  /** 1 for each place that counts; the others get 0; with `kind` `masked` */
  mask?: number | number[];
  /** 1 is softmax, 2 is sparsemax; not between 1 and 1.01; with `kind` `entmax`; 1 to 8;
   *  default 1.5 */
  alpha?: number;
  /** 1 at the largest and 0 elsewhere, with the gradient of the soft probabilities (straight-
   *  through estimator); with `kind` `gumbel`; default false */
  hard?: boolean;
}

/** Logarithms of a softmax. */
export interface LogSoftmaxCell extends AnyCell {
  type: 'log_softmax';
}

/** Many classes, rare ones through narrow projections (arXiv 1609.04309):
 *  `torch.nn.AdaptiveLogSoftmaxWithLoss`. Parameters: `head` [cutoffs[0] + clusters, in],
 *  `tail0_down` [in / divide, in], `tail0_up` [classes, in / divide], ... */
export interface AdaptiveSoftmaxCell extends AnyCell {
  type: 'adaptive_softmax';
  /** classes, frequent ones first; 1 to 1073741823 */
  out: number;
  /** classes at which a cluster begins, ascending; at least 1 */
  cutoffs: number | number[];
  /** cluster i sees a projection of the input to width / divide^(i + 1) values; 1 to 1e6;
   *  default 4 */
  divide?: number;
  /** adds learned numbers in the head; default false */
  bias?: boolean;
  /** logarithms of the probabilities; default false */
  log?: boolean;
}

/** A weighted sum of softmaxes (arXiv 1711.03953): the sum over k of `prior`_k softmax(`weight`
 *  tanh(`latent`_k x)). */
export interface MixtureOfSoftmaxesCell extends AnyCell {
  type: 'mixture_of_softmaxes';
  /** classes; at least 1 */
  out: number;
  /** softmaxes that are mixed; at least 1 */
  mixtures: number;
  /** values that each sees; 0: as many as arrive; at least 0; default 0 */
  hidden?: number;
  /** adds learned numbers to what each sees, and to the logits; default true */
  bias?: boolean;
  /** logarithms of the probabilities, of at least 2^-40; default false */
  log?: boolean;
}

/** Soft membership of learned centers: softmax(-distance^2 / (2 temperature^2)). A row too far
 *  from all centers for squares in its type belongs to all alike. Parameter: `centers`
 *  [clusters, in]. */
export interface KmeansCell extends AnyCell {
  type: 'kmeans';
  /** number of centers; at least 1 */
  clusters: number;
  /** standard deviation of a cluster; 0.0001 to 10000; default 1 */
  temperature?: number;
  /** `probabilities` of the clusters, or `features`: the centers' mean under them; default
   *  probabilities */
  output?: 'probabilities' | 'features';
}
