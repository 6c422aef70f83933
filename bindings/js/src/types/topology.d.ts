// Made by tools/generate from the field lists in src: edit those.
// Topologies: docs/reference/topology.md; layers are in layers/.

import type {
  DenseCell, EmbeddingCell, SwigluCell, AttentionCell, CrossAttentionCell, PositionsCell,
} from './layers/products.js';
import type {
  Conv1dCell, ConvTranspose1dCell, MaxPool1dCell, AvgPool1dCell,
} from './layers/convolutions.js';
import type { RnnCell, GruCell, LstmCell } from './layers/recurrent.js';
import type {
  LayerNormCell, RmsNormCell, BatchNormCell, GroupNormCell, InstanceNormCell, StandardizeCell,
  DropoutCell,
} from './layers/norms.js';
import type {
  SequentialCell, ResidualCell, ParallelCell, PartCell, TimeDistributedCell, MetacognitionCell,
  FlattenCell, ReshapeCell,
} from './layers/containers.js';
import type {
  SoftmaxCell, LogSoftmaxCell, AdaptiveSoftmaxCell, MixtureOfSoftmaxesCell, KmeansCell,
} from './layers/probabilities.js';
import type {
  ActivationCell, UnaryCell, BinaryCell, SelectCell, ReduceCell, PermuteCell, IndexSelectCell,
  BatchedMatmulCell,
} from './layers/functions.js';
import type { CustomCell, GenomeCell, PoolStepsCell, TreesCell } from './layers/others.js';
export type * from './layers/products.js';
export type * from './layers/convolutions.js';
export type * from './layers/recurrent.js';
export type * from './layers/norms.js';
export type * from './layers/containers.js';
export type * from './layers/probabilities.js';
export type * from './layers/functions.js';
export type * from './layers/others.js';

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
