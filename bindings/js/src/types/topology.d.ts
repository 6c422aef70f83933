// Made by tools/generate from the field lists in src: edit those.
// Topologies: docs/reference/topology.md, docs/reference/layers.md.

export type Activation =
  'linear' | 'relu' | 'relu2' | 'leaky_relu' | 'silu' | 'gelu_tanh' | 'gelu_erf' | 'tanh' |
  'sigmoid' | 'softplus' | 'mish' | 'gelu' | 'gelu_new' | 'gelu_pytorch_tanh' | 'swish';

/** A cell: [z, y, x, l]. */
export type Coordinate = [number, number, number, number];
export type Link = { read: Coordinate } | { send: Coordinate } | { run: Coordinate };

/** What arrives at a network: `width`, `dims`, `ids`, `ids` with `dims`, or `parts`. */
export interface Input {
  /** rows of this many values; at least 1; default 0 */
  width?: number;
  /** rows of values with these dimensions, slowest first: `[C, H, W]`, or steps and features.
   *  With `ids` (from version 2 on) `[T]`: a row has the ids of T steps; at least 1 */
  dims?: number | number[];
  /** what the first of `dims` counts, `steps` or `channels`; absent: as the first layer reads
   *  it (from version 2 on) */
  axis?: 'steps' | 'channels';
  /** ids below this number. Without `dims` a row is one id, and the positions of a sequence are
   *  rows; with `dims` `[T]` a row has T ids; at least 1; default 0 */
  ids?: number;
  /** several named inputs, each an object like this with a `name`. They lie side by side in a
   *  row of values, in this order, with ids as whole numbers below 2^24; a layer takes one by
   *  `part` (from version 2 on) */
  parts?: Input[];
  /** name of a part */
  name?: string;
}

/** What every cell may have. */
export interface AnyCell {
  /** the position of the cell: `[z, y, x, l]`; layers inside a container have none */
  at?: Coordinate;
  /** weight format of its matrices: `f32`, `i8`, `i4`, `i4:s4`, `ternary`, ...; layers inside a
   *  container inherit the format of the container; default f32 */
  dtype?: string;
  /** `{"read": cell}`: the output of that cell arrives here. `{"send": cell}`: the output of
   *  this cell arrives there. `{"run": cell}`: this cell executes the layer of that cell, with
   *  its weights; all cells and nested layers that run one layer need the same input shape, and
   *  their gradients add up. Cells that run one another in a cycle are refused by name */
  links?: Link[];
  /** how several inputs are combined; `operands`: for layers with several inputs, such as
   *  `cross_attention` and those with `takes` (from version 2 on). Only for cells of the grid;
   *  default concat */
  merge?: 'concat' | 'add' | 'avg' | 'operands';
  /** the output of the previous cell arrives although there is a `read`. Only for cells of the
   *  grid; default false */
  keep_previous?: boolean;
  /** `false`: the cell passes its input on. It keeps its weights, and has some if its layer
   *  fits its input. A cell that runs its layer passes its input on, too; default true */
  enabled?: boolean;
  /** `path:role`: the first matrix is that parameter, for example `0.0.0.0:weight`. Only for
   *  cells of the grid */
  tie?: string;
  /** dimensions of the output of the cell, which must be those of its layer. Needed only in a
   *  cycle of a step mesh in which no layer states its output size, as `dense` does. Only for
   *  cells of the grid; at least 1 */
  shape?: number | number[];
  /** parameters by their roles, `["weight", "bias"]`, that trainers leave as they are;
   *  `["all"]`: every one, those of nested layers too */
  fixed?: string[];
  /** a label for people */
  name?: string;
}

/** A rule of a metacognition. */
export interface Rule {
  /** the statistic of the output. `mean`, `std`, `min` and `max` are of its finite values.
   *  `active_share`: values with an absolute value above 1e-6. `growth`: `std` over the `std`
   *  of `over` observed passes before. `gain`: the root mean square of the output over that of
   *  the input. `gain_drift`: how far the gain is from the first observed one, as a share.
   *  `weight_bytes`: of the wrapped layer */
  when:
    'mean' | 'std' | 'min' | 'max' | 'active_share' | 'nan_count' | 'inf_count' | 'growth' |
    'gain' | 'gain_drift' | 'weight_bytes';
  /** the condition: the statistic is above this */
  above?: number;
  /** the condition: the statistic is below this */
  below?: number;
  /** hysteresis: a rule that fired is armed again when the statistic is no longer beyond this;
   *  absent: the threshold */
  release?: number;
  /** observed passes in a row in which the condition must hold; 1 to 1000000000; default 1 */
  for?: number;
  /** observed passes after an act in which the rule does not fire; 0 to 1000000000; default 0 */
  cooldown?: number;
  /** times that the rule fires; 0: any number; 0 to 1000000000; default 0 */
  limit?: number;
  /** of `growth`: observed passes between the two values; 1 to 1024; default 3 */
  over?: number;
  /** the act. `morph`: to `dtype`. `gate`: the output times `factor`. `reset`: of the weights.
   *  `activation`: another one. `retype`: another `layer` in place of the wrapped one.
   *  `append`: a `layer` behind it. `freeze`: trainers leave the weights as they are.
   *  `disable`: the layer passes its input on */
  do:
    'morph' | 'gate' | 'reset' | 'activation' | 'retype' | 'append' | 'freeze' | 'unfreeze' |
    'disable' | 'enable';
  /** of `morph`: a weight format, as `i4` */
  dtype?: string;
  /** of `gate`; 1 is open; 0 to 1 */
  factor?: number;
  /** of `reset`: `identity` (a square dense layer: the identity, bias 0), `initial` (the
   *  initial values of `seed`), or `auto`: `identity` where the layer has one, else `initial`;
   *  default auto */
  to?: 'auto' | 'identity' | 'initial';
  /** of the initial weights that `reset`, `retype` and `append` draw; at least 0; default 0 */
  seed?: number;
  /** of `activation`: its name */
  activation?: string;
  /** of `retype` and `append`: an object like a cell */
  layer?: Cell;
}

/** An empty cell, which passes its input on, or one that runs another. */
export interface EmptyCell extends AnyCell {
  type?: undefined;
}

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

/** Its layers one after another. */
export interface SequentialCell extends AnyCell {
  type: 'sequential';
  /** only for containers: the layers in order, each an object like a cell, or `{"links":
   *  [{"run": cell}]}` for the layer of that cell */
  layers: Cell[];
}

/** Adds the input of the layer before it in the same `sequential`: [A, residual] computes A(x)
 *  + x. */
export interface ResidualCell extends AnyCell {
  type: 'residual';
}

/** Its layers are branches side by side. With `top_k` a row goes only to the branches of its k
 *  largest scores (the first of equal ones), and the softmax is over these. A branch runs on
 *  the rows that go to it: layers that see other rows (attention, `batch_norm`, `dropout`,
 *  gumbel noise, `stateful`) are refused in it. Parameters: `gate` [branches, width],
 *  `gate_bias`, `stitch1` ... */
export interface ParallelCell extends AnyCell {
  type: 'parallel';
  /** `broadcast`: every branch gets the row; `split`: each gets an equal part of it; default
   *  broadcast */
  input?: 'broadcast' | 'split';
  /** how the outputs of the branches are combined; `gated`: weighted by a learned gate, a
   *  mixture of experts; `operands`: as several inputs of the layer after it (from version 2
   *  on); default concat */
  combine?: 'concat' | 'add' | 'avg' | 'gated' | 'grid_scatter' | 'operands';
  /** where branches must have equal widths, a learned matrix projects each to the width of the
   *  first; `false`: other widths are refused. Not for `concat`; default false */
  stitch?: boolean;
  /** of the gate; with `combine` `gated`; above 0, at most 1e6; default 1 */
  temperature?: number;
  /** branches that a row goes to; 0: all; with `combine` `gated`; at least 0; default 0 */
  top_k?: number;
  /** rows and columns; with `combine` `grid_scatter` */
  grid?: number | number[];
  /** row and column of each branch; empty places hold zeros; with `combine` `grid_scatter` */
  places?: number | number[];
  /** only for containers: the layers in order, each an object like a cell, or `{"links":
   *  [{"run": cell}]}` for the layer of that cell */
  layers: Cell[];
}

/** One of several operands of a row: `of` names a part of the network's input, or `index`
 *  counts. */
export interface PartCell extends AnyCell {
  type: 'part';
  /** its name */
  of?: string;
  /** which one, from 0; -1: that of the name `of`; at least -1; default -1 */
  index?: number;
}

/** One layer applied to every part of the row: a part is a row to it. */
export interface TimeDistributedCell extends AnyCell {
  type: 'time_distributed';
  /** parts; 0: the first dimension of the row; at least 0; default 0 */
  count?: number;
  /** only for containers: the layers in order, each an object like a cell, or `{"links":
   *  [{"run": cell}]}` for the layer of that cell */
  layers: Cell[];
}

/** Wraps one layer (`layers` has one; those that acts appended stand behind it) and computes
 *  the same. A session watches the layer's output and changes the layer by `rules`, between
 *  passes; every act is in the session's trace. */
export interface MetacognitionCell extends AnyCell {
  type: 'metacognition';
  /** what is done when, in the order in which rules are tried; `default`: three rules for gain,
   *  deviation and activity */
  rules?: Rule[] | 'default';
  /** passes 0, `every`, 2 x `every`, ... of a session are observed; at least 1; default 1 */
  every?: number;
  /** the output is multiplied by this; 0 to 1; default 1 */
  gate?: number;
  /** trainers leave the weights of the layers as they are; default false */
  frozen?: boolean;
  /** only for containers: the layers in order, each an object like a cell, or `{"links":
   *  [{"run": cell}]}` for the layer of that cell */
  layers: Cell[];
}

/** Forgets the dimensions of a row. */
export interface FlattenCell extends AnyCell {
  type: 'flatten';
}

/** The same values, counted in the same order, with other dimensions. */
export interface ReshapeCell extends AnyCell {
  type: 'reshape';
  /** the new dimensions of a row; one of them may be -1: what is left; at least -1 */
  dims: number | number[];
}

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

export type Cell =
  | EmptyCell
  | DenseCell
  | EmbeddingCell
  | SwigluCell
  | AttentionCell
  | CrossAttentionCell
  | PositionsCell
  | Conv1dCell
  | ConvTranspose1dCell
  | MaxPool1dCell
  | AvgPool1dCell
  | RnnCell
  | GruCell
  | LstmCell
  | LayerNormCell
  | RmsNormCell
  | BatchNormCell
  | GroupNormCell
  | InstanceNormCell
  | StandardizeCell
  | DropoutCell
  | SequentialCell
  | ResidualCell
  | ParallelCell
  | PartCell
  | TimeDistributedCell
  | MetacognitionCell
  | FlattenCell
  | ReshapeCell
  | SoftmaxCell
  | LogSoftmaxCell
  | AdaptiveSoftmaxCell
  | MixtureOfSoftmaxesCell
  | KmeansCell
  | ActivationCell
  | UnaryCell
  | BinaryCell
  | SelectCell
  | ReduceCell
  | PermuteCell
  | IndexSelectCell
  | BatchedMatmulCell
  | CustomCell
  | GenomeCell
  | PoolStepsCell
  | TreesCell;

/** A network without its weights. */
export interface Topology {
  /** what the file is */
  format: 'loom-topology';
  /** version of the format. Versions 1 and 2 are read with their names, some of which differ
   *  from those of 3. From version 2 on, layers that work on vectors (dense, norms, swiglu)
   *  apply to the last dimension of a row, and attention and recurrent layers to its steps, as
   *  in PyTorch and Keras. In version 1, all layers but the recurrent ones took the row as one
   *  vector; 1 to 3 */
  version: number;
  /** a label for people */
  name?: string;
  /** grid: z. Cell (z, y, x, l) has the index ((z * rows + y) * cols + x) * layers_per_cell +
   *  l; at least 1; default 1 */
  depth?: number;
  /** grid: y; at least 1; default 1 */
  rows?: number;
  /** grid: x; at least 1; default 1 */
  cols?: number;
  /** grid: l; at least 1; default 1 */
  layers_per_cell?: number;
  /** what arrives: rows of values, or of ids */
  input: Input;
  /** from this cell on, a session computes only the rows whose results are asked for; for
   *  example the last norm of a language model */
  head?: Coordinate;
  /** the network runs in ticks: in each tick every cell fires once and reads the outputs of the
   *  tick before, so that links may form cycles. Such a network runs only as a step mesh (from
   *  version 2 on); default false */
  step_mesh?: boolean;
  /** names of the outputs, in the order in which they lie side by side in a row of the output.
   *  The last cell must have `"merge": "operands"` and one input for each name; each output has
   *  a loss (from version 2 on) */
  outputs?: string[];
  /** all cells that are not empty; an empty cell passes its input on */
  cells: (Cell & { at: Coordinate })[];
}
