// Made by tools/generate from the field lists in src: edit those.
// Layers: docs/reference/layers.md.

import type { AnyCell } from '../topology.js';

/** A layer that the program registered, in its own language (`docs/guide/own-layers.md`): on
 *  the CPU alone. Its parameters are what its plan says, in f32 or f64 whatever the cell's
 *  `dtype` is. */
export interface CustomCell extends AnyCell {
  type: 'custom';
  /** the registered name, `acme.swirl` */
  layer: string;
  /** the author's version of it; at least 1; default 1 */
  version?: number;
  /** what the layer itself reads: any JSON */
  config?: unknown;
}

/** Single nodes and edges, as evolution makes them (docs/reference/evolution.md). Values of the
 *  row are the nodes 0, 1, ...; a node behind them is its activation of the sum of its `bias`
 *  and, edge by edge in their order, of `weight` times the value that the edge comes from. The
 *  last `out` nodes are the output. Parameters: `weight` [1, edges], `bias` [1, nodes]. */
export interface GenomeCell extends AnyCell {
  type: 'genome';
  /** how many of the last nodes are the output; at least 1 */
  out: number;
  /** of each node behind the values of the row: `linear`, `sigmoid`, `steep_sigmoid`
   *  (sigmoid(4.9 x)), `tanh`, `relu`, `gaussian` (exp(-x^2)), `sin` or `abs`; `linear`, `relu`
   *  and `abs` are limited to +-1e28 */
  activations: string[];
  /** the two nodes of each edge, one edge behind the other: from, to, from, to, ...; without
   *  any, nodes have their bias alone; at least 0 */
  edges?: number | number[];
  /** 0: edges lead to later nodes. Else they may form cycles: from values of 0, all nodes
   *  compute at once as many times, from the values of the time before; 0 to 1000; default 0 */
  ticks?: number;
}

/** One vector from the steps of a row [steps, features]: their mean, maximum or sum, or the
 *  last of them. */
export interface PoolStepsCell extends AnyCell {
  type: 'pool_steps';
  /** which; default mean */
  op?: 'mean' | 'max' | 'sum' | 'last';
  /** operands behind the first, in their order: `lengths`, steps of a row, an input of one id:
   *  those behind do not count, and without any the result is 0 */
  takes?: string[];
}

/** Decision trees: `base` and what the leaves hold that a row reaches, summed in f64 in the
 *  order of the trees. A feature, rounded to f32, that is at most the threshold goes to the
 *  left child, others to the right one. Trees are not trained, and have no gradient. Only on
 *  the CPU. Parameters: `values` [leaves, outputs], `base` [1, outputs]. */
export interface TreesCell extends AnyCell {
  type: 'trees';
  /** values of a row; 1 to 268435456 */
  features: number;
  /** columns of the result; at least 1; default 1 */
  outputs?: number;
  /** nodes of each tree, the root first; at least 1 */
  sizes: number | number[];
  /** base64 of u32 (little-endian), one for each node: 0 of a leaf, else the distance to its
   *  left child * 2^(B+1) + (2^B if NaN goes left) + the feature, with B bits for a feature.
   *  The right child is next to the left one */
  nodes: string;
  /** base64 of f32, one for each node that is no leaf */
  thresholds: string;
  /** a leaf has one value ([leaves, 1]), which tree t adds to column t mod outputs; default
   *  false */
  single?: boolean;
  /** the sum is divided by the number of trees of a column; default false */
  average?: boolean;
}
