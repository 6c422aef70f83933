// Made by tools/generate from the field lists in src: edit those.
// Training specs: docs/reference/training-spec.md. Keys in camelCase, as the package takes them.

import type { Topology } from './topology.js';

export interface CallerData {
  type?: 'caller';
}

export interface TokensData {
  type: 'tokens';
  /** what holds them; `--data` names another */
  file?: string;
  /** of a bare file of little-endian ids; .npy files say their own; default u32 */
  dtype?: 'u16' | 'u32';
  /** rows of the longest sequence; at least 1; default 256 */
  length?: number;
  /** the id that ends each document; -1: all ids are one stream; at least -1; default -1 */
  documentEnd?: number;
}

export interface TableData {
  type: 'table';
  /** what holds them; `--data` names another */
  file?: string;
  /** the first line names the columns; default true */
  header?: boolean;
  /** one character between two cells; default , */
  separator?: string;
  /** columns to predict, in the order of the network's outputs */
  targets?: string[];
  /** or the column that holds a class number */
  class?: string;
}

export interface ArraysData {
  type: 'arrays';
  /** what holds them; `--data` names another */
  file?: string;
  /** classes or values of the samples: .npy or idx, also as .gz */
  targetsFile: string;
}

export interface TextData {
  type: 'text';
  /** what holds them; `--data` names another */
  file?: string;
  /** rows of the longest sequence; at least 1; default 256 */
  length?: number;
}
export type DataSpec =
  CallerData | TokensData | TableData | ArraysData | TextData;

export interface BackPropagationMethod {
  type?: 'back_propagation';
}

export interface MonoForwardMethod {
  type: 'mono_forward';
}

export interface DirectFeedbackAlignmentMethod {
  type: 'direct_feedback_alignment';
}

export interface DifferenceTargetPropagationMethod {
  type: 'difference_target_propagation';
  /** the target of the last hidden part is its activation less `step` times the gradient of the
   *  loss by it; above 0, at most 1e6; default 0.1 */
  step?: number;
  /** `fixed`: the feedback matrices stay as they were drawn (arXiv 2212.10352), a target is a +
   *  tanh(B t') - tanh(B a'); `learned`: they learn towards the transposed derivative of the
   *  part (arXiv 2201.13415), and a target is a + B (t' - a'); default fixed */
  feedback?: 'fixed' | 'learned';
  /** what each value of a part's input is moved by, up or down at random, to see how the part's
   *  output moves; with `feedback` `learned`; above 0, at most 1000; default 0.1 */
  feedbackNoise?: number;
  /** draws of that noise in each step, for each row: a further forward pass of the hidden parts
   *  each; the matrices learn from their mean; with `feedback` `learned`; 1 to 64; default 1 */
  feedbackDraws?: number;
  /** rate of the feedback matrices: the share of the way that a step moves them to the product
   *  of both movements; with `feedback` `learned`; above 0, at most 1; default 0.05 */
  feedbackLr?: number;
}

export interface TargetPropagationMethod {
  type: 'target_propagation';
  /** how the target of a part is found from that of the part behind it: `chain_rule`, by the
   *  backward pass of that part, or `layer_wise`, by its weights alone; default chain_rule */
  mode?: 'chain_rule' | 'layer_wise';
  /** the target of the output is the output less `output_step` times the gradient of the loss
   *  by it; with `mse`, half the number of outputs makes it the label; above 0, at most 1e6;
   *  default 1 */
  outputStep?: number;
  /** the target of a part is its activation and `gradient_scale` times what the backward pass
   *  of the part behind it makes of that part's gap; in a step mesh, where it counts for each
   *  tick back, the default is 1; with `mode` `chain_rule`; above 0, at most 1e6; default 0.1 */
  gradientScale?: number;
  /** the target is a + pull(t') - pull(a') in place of pull(t'), so that it is a where the part
   *  behind it has no gap; with `mode` `layer_wise`; default true */
  differenceCorrection?: boolean;
  /** a layer learns by its gap times the slope of its activation, which no target meets: 1 or 0
   *  of `relu`, 1 - a^2 of `tanh`, a (1 - a) of `sigmoid`; in `dense` layers and convolutions;
   *  with `mode` `layer_wise`; default false */
  activationSlope?: boolean;
  /** a part whose budget, (cos(activation, target) + 1) / 2, is lower does not learn in that
   *  step; 0: all learn; 0 to 1; default 0.2 */
  gate?: number;
  /** steps after which, and at the end, the `alignment` of the parts is measured, by a back-
   *  propagation beside the step; 0: never; at least 0; default 0 */
  alignmentEvery?: number;
}
export type MethodSpec =
  BackPropagationMethod | MonoForwardMethod | DirectFeedbackAlignmentMethod |
  DifferenceTargetPropagationMethod | TargetPropagationMethod | 'back_propagation' |
  'mono_forward' | 'direct_feedback_alignment' | 'difference_target_propagation' |
  'target_propagation';

export interface SgdOptimizer {
  type: 'sgd';
  /** `sgd`: velocity = momentum * velocity + gradient + weight_decay * w; w -= lr * velocity.
   *  `rmsprop`: the same of the divided gradient; at least 0, below 1; default 0 */
  momentum?: number;
  /** w -= lr * (gradient + weight_decay * w + momentum * velocity); default false */
  nesterov?: boolean;
  /** of parameters with more than one row; norms and biases are not decayed, unless by
   *  `decay_vectors`; at least 0, below 1e6; default 0 */
  weightDecay?: number;
  /** norms and biases are decayed too, as PyTorch does if nothing else is asked for; default
   *  false */
  decayVectors?: boolean;
  /** the mean gradient is scaled down to this norm over all parameters; 0: never; at least 0,
   *  below 1e30; default 0 */
  clipNorm?: number;
}

export interface AdamwOptimizer {
  type?: 'adamw';
  /** decay of the first moment; of `lion` the momentum's share in a step's direction; at least
   *  0, below 1; default 0.9 */
  beta1?: number;
  /** decay of the second moment; of `lion` that of the momentum; at least 0, below 1; default
   *  0.999 */
  beta2?: number;
  /** added to the root of the second moment; at least 1e-8, below 1; default 1e-8 */
  eps?: number;
  /** eps is added to the root before that is corrected for its first steps, as Keras does;
   *  default false */
  uncorrectedEps?: boolean;
  /** of parameters with more than one row; norms and biases are not decayed, unless by
   *  `decay_vectors`; at least 0, below 1e6; default 0 */
  weightDecay?: number;
  /** norms and biases are decayed too, as PyTorch does if nothing else is asked for; default
   *  false */
  decayVectors?: boolean;
  /** the mean gradient is scaled down to this norm over all parameters; 0: never; at least 0,
   *  below 1e30; default 0 */
  clipNorm?: number;
}

export interface RmspropOptimizer {
  type: 'rmsprop';
  /** `sgd`: velocity = momentum * velocity + gradient + weight_decay * w; w -= lr * velocity.
   *  `rmsprop`: the same of the divided gradient; at least 0, below 1; default 0 */
  momentum?: number;
  /** v = alpha * v + (1 - alpha) * gradient^2; the gradient is divided by sqrt(v) + eps; at
   *  least 0, below 1; default 0.99 */
  alpha?: number;
  /** divides by the root of v less the square of the gradient's mean, not below 0; default
   *  false */
  centered?: boolean;
  /** added to the root of the second moment; at least 1e-8, below 1; default 1e-8 */
  eps?: number;
  /** of parameters with more than one row; norms and biases are not decayed, unless by
   *  `decay_vectors`; at least 0, below 1e6; default 0 */
  weightDecay?: number;
  /** norms and biases are decayed too, as PyTorch does if nothing else is asked for; default
   *  false */
  decayVectors?: boolean;
  /** the mean gradient is scaled down to this norm over all parameters; 0: never; at least 0,
   *  below 1e30; default 0 */
  clipNorm?: number;
}

export interface LionOptimizer {
  type: 'lion';
  /** decay of the first moment; of `lion` the momentum's share in a step's direction; at least
   *  0, below 1; default 0.9 */
  beta1?: number;
  /** decay of the second moment; of `lion` that of the momentum; at least 0, below 1; default
   *  0.99 */
  beta2?: number;
  /** of parameters with more than one row; norms and biases are not decayed, unless by
   *  `decay_vectors`; at least 0, below 1e6; default 0 */
  weightDecay?: number;
  /** norms and biases are decayed too, as PyTorch does if nothing else is asked for; default
   *  false */
  decayVectors?: boolean;
  /** the mean gradient is scaled down to this norm over all parameters; 0: never; at least 0,
   *  below 1e30; default 0 */
  clipNorm?: number;
}

export interface AdamOptimizer {
  type: 'adam';
  /** decay of the first moment; of `lion` the momentum's share in a step's direction; at least
   *  0, below 1; default 0.9 */
  beta1?: number;
  /** decay of the second moment; of `lion` that of the momentum; at least 0, below 1; default
   *  0.999 */
  beta2?: number;
  /** added to the root of the second moment; at least 1e-8, below 1; default 1e-8 */
  eps?: number;
  /** eps is added to the root before that is corrected for its first steps, as Keras does;
   *  default false */
  uncorrectedEps?: boolean;
  /** of parameters with more than one row; norms and biases are not decayed, unless by
   *  `decay_vectors`; at least 0, below 1e6; default 0 */
  weightDecay?: number;
  /** norms and biases are decayed too, as PyTorch does if nothing else is asked for; default
   *  false */
  decayVectors?: boolean;
  /** the mean gradient is scaled down to this norm over all parameters; 0: never; at least 0,
   *  below 1e30; default 0 */
  clipNorm?: number;
}
export type OptimizerSpec =
  SgdOptimizer | AdamwOptimizer | RmspropOptimizer | LionOptimizer | AdamOptimizer;

export interface ConstantSchedule {
  type?: 'constant';
  /** the highest learning rate; above 0, at most 1e6; default 0.001 */
  lr?: number;
  /** first steps, in which the rate rises linearly; at least 0; default 0 */
  warmup?: number;
}

export interface CosineSchedule {
  type: 'cosine';
  /** the highest learning rate; above 0, at most 1e6; default 0.001 */
  lr?: number;
  /** first steps, in which the rate rises linearly; at least 0; default 0 */
  warmup?: number;
  /** the rate at the end and after it; at most `lr`; at least 0; default 0 */
  floor?: number;
  /** where it ends, warm-up included; 0: the training's last step; at least 0; default 0 */
  steps?: number;
}

export interface StepSchedule {
  type: 'step';
  /** the highest learning rate; above 0, at most 1e6; default 0.001 */
  lr?: number;
  /** first steps, in which the rate rises linearly; at least 0; default 0 */
  warmup?: number;
  /** `step`: steps between two drops; `cosine_restarts`: steps of the first cosine; at least 1 */
  every: number;
  /** of each drop; above 0, at most 1; default 0.1 */
  factor?: number;
}

export interface LinearSchedule {
  type: 'linear';
  /** the highest learning rate; above 0, at most 1e6; default 0.001 */
  lr?: number;
  /** first steps, in which the rate rises linearly; at least 0; default 0 */
  warmup?: number;
  /** the rate at the end and after it; at most `lr`; at least 0; default 0 */
  floor?: number;
  /** where it ends, warm-up included; 0: the training's last step; at least 0; default 0 */
  steps?: number;
}

export interface CosineRestartsSchedule {
  type: 'cosine_restarts';
  /** the highest learning rate; above 0, at most 1e6; default 0.001 */
  lr?: number;
  /** first steps, in which the rate rises linearly; at least 0; default 0 */
  warmup?: number;
  /** the rate at the end and after it; at most `lr`; at least 0; default 0 */
  floor?: number;
  /** `step`: steps between two drops; `cosine_restarts`: steps of the first cosine; at least 1 */
  every: number;
  /** length of each cosine as a multiple of the one before; 1 to 1000; default 1 */
  multiplier?: number;
}

export interface MultiStepSchedule {
  type: 'multi_step';
  /** the highest learning rate; above 0, at most 1e6; default 0.001 */
  lr?: number;
  /** first steps, in which the rate rises linearly; at least 0; default 0 */
  warmup?: number;
  /** steps after the warm-up, ascending, at which the rate drops; at least 1 */
  milestones: number | number[];
  /** of each drop; above 0, at most 1; default 0.1 */
  factor?: number;
}

export interface ExponentialSchedule {
  type: 'exponential';
  /** the highest learning rate; above 0, at most 1e6; default 0.001 */
  lr?: number;
  /** first steps, in which the rate rises linearly; at least 0; default 0 */
  warmup?: number;
  /** of each drop; above 0, at most 1; default 0.1 */
  factor?: number;
}

export interface OneCycleSchedule {
  type: 'one_cycle';
  /** the highest learning rate; above 0, at most 1e6; default 0.001 */
  lr?: number;
  /** first steps, in which the rate rises linearly; at least 0; default 0 */
  warmup?: number;
  /** where it ends, warm-up included; 0: the training's last step; at least 0; default 0 */
  steps?: number;
  /** of the steps in which the rate rises; above 0, below 1; default 0.3 */
  share?: number;
  /** `lr` / `div` is the first rate; at least 1; default 25 */
  div?: number;
  /** the first rate / `final_div` is the last rate; at least 1; default 10000 */
  finalDiv?: number;
}

export interface PolynomialSchedule {
  type: 'polynomial';
  /** the highest learning rate; above 0, at most 1e6; default 0.001 */
  lr?: number;
  /** first steps, in which the rate rises linearly; at least 0; default 0 */
  warmup?: number;
  /** the rate at the end and after it; at most `lr`; at least 0; default 0 */
  floor?: number;
  /** where it ends, warm-up included; 0: the training's last step; at least 0; default 0 */
  steps?: number;
  /** of the falling line; above 0, at most 100; default 1 */
  power?: number;
}
export type ScheduleSpec =
  ConstantSchedule | CosineSchedule | StepSchedule | LinearSchedule | CosineRestartsSchedule |
  MultiStepSchedule | ExponentialSchedule | OneCycleSchedule | PolynomialSchedule;

export interface LoraSpec {
  /** rows of A; 0: no adapter; 0 to 65536; default 8 */
  rank?: number;
  /** the adapter counts alpha / rank; at least 1e-6, below 1e6; default 16 */
  alpha?: number;
  /** a list of roles (`q`, `down`, `weight`), of last parts of module names (`q_proj`), or of
   *  single weights (`0.0.1.0/0/1:q`); none: all but the last cell's */
  targets?: string[];
}

export interface QuantizeSpec {
  /** a [format](dtypes.md): `ternary`, `binary`, `i4:row`, `fp8e4m3:block32`, but f32 and those
   *  that are computed in double; may be left out with `fp8` */
  dtype?: string;
  /** cells that stay as they are: `first` and `last` of those with matrices, or paths
   *  (`0.0.0.1`); a matrix that several cells share stays where one of them does */
  keep?: string[];
  /** steps before it begins, in which the cells are as the topology says; moments continue.
   *  `validation` then keeps the best network of those after it, and `patience` counts from
   *  there; at least 0; default 0 */
  after?: number;
}

export interface StepMeshSpec {
  /** of a row, which holds what arrives at each of them, one behind the other; 0: none, the
   *  network runs as a pass; 0 to 1048576 */
  ticks: number;
  /** after which ticks the output has targets: one behind the other for `every_tick`; default
   *  every_tick */
  answers?: 'every_tick' | 'last_tick';
  /** truncated back-propagation: a row is cut into pieces of this many ticks, and gradients
   *  stay in theirs; 0: they go back to the first tick; 0 to 1048576; default 0 */
  truncate?: number;
}

export interface ValidationSpec {
  /** of the samples is held back, picked by `seed`: it is never learned from; 0: none; at least
   *  0, below 1; default 0 */
  share?: number;
  /** steps between two judgments by what is held back; 0: an epoch. The last step is judged,
   *  too; at least 0; default 0 */
  every?: number;
  /** judgments in a row without a lower loss after which training stops; 0: never; at least 0;
   *  default 0 */
  patience?: number;
}

export interface HeadSpec {
  /** in reports; its number where there is none. Of a network with several `outputs`: the name
   *  of one */
  name?: string;
  /** columns of the output that are this head's; 0: those of the network's output of its name;
   *  at least 0; default 0 */
  columns?: number;
  /** as of the spec; default mse */
  loss?: 'mse' | 'cross_entropy' | 'mae' | 'huber' | 'bce' | 'soft_cross_entropy';
  /** of `huber`: where it turns from squares to a line; at least 1e-6, below 1e12; default 1 */
  delta?: number;
  /** of `soft_cross_entropy`: logits are divided by it, and the loss multiplied by its square;
   *  with `loss` `soft_cross_entropy`; 0.001 to 1e6; default 1 */
  temperature?: number;
  /** the loss is of the columns of the head before: a second loss of the same values; default
   *  false */
  sameColumns?: boolean;
  /** of its loss in the sum; at least 0, below 1e6; default 1 */
  weight?: number;
}

export interface TrainingSpec {
  format?: 'loom-training';
  version?: 2;
  name?: string;
  /** a topology; initial weights come from `seed` */
  network?: Topology;
  /** or the file that holds it, relative to the spec */
  networkFile?: string;
  /** or a network whose weights training starts from: a language model (a folder, a file, a
   *  name in the local HuggingFace cache, `embedded`) or an `.entity` file */
  base?: string;
  /** how the matrices of `base` are held; as they are where not given */
  baseDtype?: string;
  /** what is learned from, see below */
  data?: DataSpec;
  /** the mean over the columns, with d = y - target. `mse`: d^2. `mae`: abs(d). `huber`: d^2 /
   *  2 up to abs(d) = `delta`, and `delta` * (abs(d) - `delta` / 2) above. `bce`: -target
   *  log(s) - (1 - target) log(1 - s), s = sigmoid(y), targets in 0..1. `cross_entropy`: -log
   *  softmax(logits)[class]. `soft_cross_entropy`: -sum of p log softmax(logits / T) * T^2, T =
   *  `temperature`, targets p are a probability for each class. A step's loss is the mean over
   *  its counted rows; default mse */
  loss?: 'mse' | 'cross_entropy' | 'mae' | 'huber' | 'bce' | 'soft_cross_entropy';
  /** of `huber`: where it turns from squares to a line; at least 1e-6, below 1e12; default 1 */
  delta?: number;
  /** of `soft_cross_entropy`: logits are divided by it, and the loss multiplied by its square;
   *  with `loss` `soft_cross_entropy`; 0.001 to 1e6; default 1 */
  temperature?: number;
  /** gradients are those of the loss times this, as of a head's `weight`; reports are of the
   *  loss itself; above 0; default 1 */
  lossWeight?: number;
  /** several losses in place of `loss`, see below */
  heads?: HeadSpec[];
  /** of `cross_entropy`: a list with the weight of each class, or `balanced`: rows / (classes
   *  that occur * rows of the class), see below */
  classWeights?: number[] | 'balanced';
  /** the class of rows, steps or pixels that have no target and are not counted; any other
   *  negative class, or one that the network does not have, is refused by row and value; at
   *  least -2147483648; default -100 */
  ignore?: number;
  /** an adapter learns in the network's place, see below */
  lora?: LoraSpec;
  /** what cells keep for backward is computed again there (gradient checkpointing): less
   *  memory, the same bits; default false */
  checkpoint?: boolean;
  /** see below */
  optimizer?: OptimizerSpec;
  /** see below */
  schedule?: ScheduleSpec;
  /** optimizer steps; at least 0; default 0 */
  steps?: number;
  /** or passes over the data, rounded up to whole steps; at least 0; default 0 */
  epochs?: number;
  /** samples per step: sequences of tokens, rows of a table; more than 65536 only where the
   *  data has as many; at least 1; default 1 */
  batch?: number;
  /** equal parts that a step is cut into, to save memory; must divide `batch`; 1 to 1048576;
   *  default 1 */
  microBatches?: number;
  /** of the initial weights, the shuffling, the shifts and the noise of dropout and Gumbel
   *  softmax; at least 0; default 0 */
  seed?: number | bigint;
  /** each epoch in a new order; false: in the order of the file; default true */
  shuffle?: boolean;
  /** images, inputs of [..., height, width], move by at most this number of pixels up or down
   *  and left or right, drawn anew each time a sample is taken. Pixels that enter repeat the
   *  edge. Validation does not move them; 0 to 1048576; default 0 */
  randomTranslate?: number;
  /** truncated back-propagation through time: the data is cut into this many lanes of equal
   *  length, each step takes the next window of all, and recurrent layers continue from the
   *  state before (the guide to sequences); 0 to 1048576; default 0 */
  streams?: number;
  /** products in FP8, forward and backward, see below; default false */
  fp8?: boolean;
  /** weights learn in the dtype in which they will run, see below */
  quantize?: QuantizeSpec;
  /** the network runs by ticks, see below */
  stepMesh?: StepMeshSpec;
  /** how gradients are found: the name of a method, or an object with its settings, see below */
  method?: MethodSpec;
  /** what is held back to judge by, see below */
  validation?: ValidationSpec;
  /** steps between checkpoints; 0: one at the end; at least 0; default 0 */
  checkpointEvery?: number;
  /** steps between reports; at least 0; default 10 */
  logEvery?: number;
}
