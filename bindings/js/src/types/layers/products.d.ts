// Made by tools/generate from the field lists in src: edit those.
// Layers: docs/reference/layers.md.

import type { Activation, AnyCell } from '../topology.js';

/** activation(W x + b): `torch.nn.Linear(in, out)` and an activation. Parameters: `weight`
 *  [out, in], `bias`. */
export interface DenseCell extends AnyCell {
  type: 'dense';
  /** outputs per row; at least 1 */
  out: number;
  /** adds a learned vector; default true */
  bias?: boolean;
  /** applied to the sum; default linear */
  activation?: Activation;
}

/** A row of `out` values per id, [steps, out] for a row of several; the input's ids say how
 *  many there are. Parameter: `weight` [ids, out]. */
export interface EmbeddingCell extends AnyCell {
  type: 'embedding';
  /** values per id; at least 1 */
  out: number;
  /** standard deviation of the initial table; at least 0; default 0.02 */
  std?: number;
}

/** down(silu(gate(x)) * up(x)), the feed-forward part of Llama (arXiv 2002.05202). Parameters:
 *  `gate` and `up` [hidden, in], `down` [in, hidden]. */
export interface SwigluCell extends AnyCell {
  type: 'swiglu';
  /** width between the projections; at least 1 */
  hidden: number;
  /** adds learned vectors to all three projections; default false */
  bias?: boolean;
  /** standard deviation of the initial down projection; 0: 1/sqrt(hidden); at least 0; default
   *  0 */
  out_std?: number;
  /** of the gate; default silu */
  activation?: Activation;
  /** RMSNorm before the down projection (BitNet b1.58); default false */
  sub_norm?: boolean;
  /** its eps; with `sub_norm`; 1e-8 to 1; default 1e-5 */
  sub_norm_eps?: number;
}

/** Multi-head attention (arXiv 1706.03762) over the steps of a row [steps, features], or over
 *  the rows of a sequence where a row is one position, with grouped keys, a sliding window and
 *  rotary positions. Parameters: `q`, `k`, `v`, `o`. */
export interface AttentionCell extends AnyCell {
  type: 'attention';
  /** query heads; 1 to 65536; default 1 */
  heads?: number;
  /** key/value heads; 0: as many as heads; at least 0; default 0 */
  kv_heads?: number;
  /** values per head; 0: width / heads; 0 to 65536; default 0 */
  head_dim?: number;
  /** positions a query sees, its own included; 0: all; at least 0; default 0 */
  window?: number;
  /** a query sees no later position; where positions are rows, sessions of one that is false
   *  run whole sequences, without a cache; default true */
  causal?: boolean;
  /** adds learned vectors to queries, keys and values; default false */
  qkv_bias?: boolean;
  /** adds a learned vector to the output; default false */
  out_bias?: boolean;
  /** RMSNorm of every query and key head before rotation; default false */
  qk_norm?: boolean;
  /** its eps; without `qk_norm` it does nothing; default 1e-6 */
  qk_norm_eps?: number;
  /** rotary positions; default true */
  rope?: boolean;
  /** base of the rotary frequencies; with `rope`; default 10000 */
  rope_theta?: number;
  /** how frequencies are scaled to longer sequences; with `rope`; default none */
  rope_scaling?: 'none' | 'linear' | 'llama3';
  /** how many times as long they are; with `rope_scaling` `linear` or `llama3`; default 1 */
  rope_factor?: number;
  /** frequencies below are scaled; with `rope_scaling` `llama3`; default 1 */
  rope_low_freq_factor?: number;
  /** frequencies above are not scaled; with `rope_scaling` `llama3`; default 4 */
  rope_high_freq_factor?: number;
  /** positions the model was first trained on; with `rope_scaling` `llama3`; default 8192 */
  rope_original_positions?: number;
  /** standard deviation of the initial output projection; 0: 1/sqrt(its inputs); at least 0;
   *  default 0 */
  out_std?: number;
  /** ALiBi (arXiv 2108.12409): a score falls by its head's slope, 2^(-8h/heads), with every
   *  position between query and key; positions need no end. Without `rope`; default false */
  alibi?: boolean;
  /** RMSNorm before the output projection (BitNet b1.58); default false */
  sub_norm?: boolean;
  /** its eps; with `sub_norm`; 1e-8 to 1; default 1e-5 */
  sub_norm_eps?: number;
  /** of the weights of keys while training, as the layer `dropout`; of steps in a row; at least
   *  0, below 1; default 0 */
  dropout?: number;
  /** operands behind the first, in their order: `lengths`, steps of a row, an input of one id:
   *  keys behind them are not seen, outputs are 0; `mask` [steps] hides keys by a value other
   *  than 0, as PyTorch's `key_padding_mask` */
  takes?: string[];
}

/** Multi-head attention of the steps of one operand [steps, features] to those of a second,
 *  [steps, features] (arXiv 1706.03762), without positions. Every step sees all of them, except
 *  those that a third operand, [steps], masks by a value other than 0, as `True` does in
 *  PyTorch's `key_padding_mask`. The result of a step that sees none is `o_bias`, or 0 without
 *  it. Operands come by `merge` or `combine`: `operands`. Parameters: `q`, `k`, `v`, `o`. */
export interface CrossAttentionCell extends AnyCell {
  type: 'cross_attention';
  /** heads; 1 to 65536; default 1 */
  heads?: number;
  /** values per head; 0: width / heads; 0 to 65536; default 0 */
  head_dim?: number;
  /** adds learned vectors to queries, keys and values; default false */
  qkv_bias?: boolean;
  /** adds a learned vector to the output; default false */
  out_bias?: boolean;
  /** of the weights of keys while training, as the layer `dropout`; at least 0, below 1;
   *  default 0 */
  dropout?: number;
  /** operands behind the second, in their order: `mask`, or `lengths`, steps that are attended
   *  to, an input of one id; none: a third is a `mask` */
  takes?: string[];
}

/** Adds a vector per position to the steps of a row [steps, features], or to rows that are
 *  positions of sequences, as language models have them. Parameter of those learned: `weight`
 *  [count, features]. */
export interface PositionsCell extends AnyCell {
  type: 'positions';
  /** `learned`, or `sinusoidal`: sin(p / 10000^(2i / features)) at feature 2i of position p,
   *  and its cosine at 2i + 1; default learned */
  kind?: 'learned' | 'sinusoidal';
  /** positions; 0: the steps of a row; with `kind` `learned`; at least 0; default 0 */
  count?: number;
  /** standard deviation of the initial vectors; with `kind` `learned`; at least 0; default 0.02 */
  std?: number;
}
