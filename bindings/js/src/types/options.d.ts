// Made by tools/generate from the field lists in src: edit those.
// Options: docs/reference/options.md. Keys in camelCase, as the package takes them.

/** `auto`: the GPU where there is one; `gpu`: an error where there is none; `cpu`: no GPU is
 *  looked for */
export type Device =
  'cpu' | 'gpu' | 'auto';

/** threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
 *  `device` */
export type Mode =
  'cpu-normal' | 'cpu-sc' | 'cpu-mc' | 'gpu-normal' | 'gpu-sc' | 'gpu-mc' | 'auto';

/** A session: a network that runs. `loom_network_program` takes the same. */
export interface SessionOptions {
  /** rows (samples, tokens) of a run; at least 1 */
  maxRows?: number;
  /** rows of a run whose output is wanted; absent: 1 for networks of ids, else `max_rows`; at
   *  least 1 */
  maxHeadRows?: number;
  /** of a sequence; at least 1 */
  maxPositions?: number;
  /** whose states (KV caches) are kept; at least 1 */
  sequences?: number;
  /** the network stays as it is: the rules of its `metacognition` layers, which are evaluated
   *  after each run, do nothing */
  ignoreRules?: boolean;
  /** of the CPU; 0: one per core; 0 to 1024 */
  threads?: number;
  /** the CPU's instruction set, one of `isas` or `fast_isas` of `loom_info`; empty: the best of
   *  `isas` */
  isa?: string;
  /** `gpu`: a WebGPU device, an error where there is none; `auto`: that, or the CPU; empty: the
   *  CPU */
  device?: Device;
  /** threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
   *  `device` */
  mode?: Mode;
  /** of products with integer weights: `q15`, 15 bits (the same as empty), or `i8`, 8 bits:
   *  faster prompts, other answers; refused where there are no such products */
  activations?: string;
}

/** k-means. */
export interface KMeansOptions {
  /** of the first centers; at least 0 */
  seed?: number | bigint;
  /** times that it begins with other centers; the result with the least inertia counts; 1 to
   *  1000 */
  starts?: number;
  /** of a start; at least 1 */
  maxIterations?: number;
  /** a start ends where the squared moves of the centers are at most this share of the mean
   *  variance of the columns; at least 0 */
  tolerance?: number;
}

/** Agglomerative clustering. */
export interface HierarchyOptions {
  /** `euclidean`, `cosine` (1 - cos), or `precomputed`: row i has the distances to all rows */
  distance?: string;
  /** the distance of two groups: `single` (of their nearest rows), `complete` (of their
   *  farthest), `average`, `ward` (growth of the variance; euclidean alone) */
  linkage?: string;
}

/** The groups of a hierarchy. */
export interface CutOptions {
  /** how many groups remain, or; at least 1 */
  clusters?: number;
  /** up to which distance groups are joined; at least 0 */
  distance?: number;
}

/** Pairs of members that complete each other. */
export interface MatchOptions {
  /** the least share of samples that one of a pair or both have right; 0 to 1 */
  minCoverage?: number;
}

/** Statistics of the cells of a session. */
export interface ObserveOptions {
  /** passes 0, `every`, 2 x `every`, ... are observed; 0: none any more; at least 0 */
  every?: number;
  /** that are observed; 0: all of those; at least 0 */
  passes?: number;
  /** observed passes that an event stands for, with all their values; at least 1 */
  window?: number;
  /** passes (windows) whose events are kept until they are taken; the oldest are dropped and
   *  counted; 1 to 65536 */
  keep?: number;
  /** layers inside cells have events, too */
  nested?: boolean;
  /** `session_statistics` has the statistics of all observed passes together as well */
  total?: boolean;
}

/** Forecasts of a time series. */
export interface ForecastOptions {
  /** steps to forecast; 1 to 100000 */
  horizon?: number;
  /** the date of the last value of the history, as `1960-12`; only beside a history, which
   *  needs it */
  last?: string;
}

/** An encoder-decoder that runs step by step. */
export interface Seq2SeqOptions {
  /** the input that comes step by step, [steps] ids or [steps, features] */
  target: string;
  /** rows that run at once: of a search, its rows x beams; 1 to 65536 */
  lanes?: number;
  /** steps of a row; 0: as many as the target has. More than that go with positions that are
   *  not learned; at least 0 */
  maxPositions?: number;
  /** of the CPU; 0: one per core; 0 to 1024 */
  threads?: number;
  /** the CPU's instruction set, one of `isas` or `fast_isas` of `loom_info`; empty: the best of
   *  `isas` */
  isa?: string;
  /** `gpu`: a WebGPU device, an error where there is none; `auto`: that, or the CPU; empty: the
   *  CPU */
  device?: Device;
  /** threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
   *  `device` */
  mode?: Mode;
}

/** Sequences that an encoder-decoder generates. */
export interface SearchOptions {
  /** ids that every sequence begins with; at least 0 */
  start: number | number[];
  /** the id that ends a sequence; -1: none does; at least -1 */
  end?: number;
  /** most ids of a sequence behind `start`; 0: as many as there are positions for; at least 0 */
  maxTokens?: number;
  /** sequences that are followed at once; 1: the most probable next id, or with a `temperature`
   *  a drawn one; 1 to 4096 */
  beams?: number;
  /** those of a beam are compared by the logarithm of their probability, divided by their
   *  number of ids to this power; -100 to 100 */
  lengthPenalty?: number;
  /** divides the logits; 0: greedy, the largest logit; 0 to 1e6 */
  temperature?: number;
  /** draws from this number of most probable tokens; 0: all; at least 0 */
  topK?: number;
  /** draws from the fewest tokens that together have this probability; above 0, at most 1 */
  topP?: number;
  /** draws from tokens at least this share as probable as the best; 0 to 1 */
  minP?: number;
  /** divides positive and multiplies negative logits of tokens seen before; 0.001 to 1000 */
  repetitionPenalty?: number;
  /** of the draws; row i has those of `seed` + i */
  seed?: number | bigint;
}

/** A network that runs by ticks. */
export interface StepMeshOptions {
  /** independent streams of values, side by side with the same weights; 1 to 1048576 */
  streams?: number;
  /** of the CPU; 0: one per core; 0 to 1024 */
  threads?: number;
  /** the CPU's instruction set, one of `isas` or `fast_isas` of `loom_info`; empty: the best of
   *  `isas` */
  isa?: string;
  /** `gpu`: a WebGPU device, an error where there is none; `auto`: that, or the CPU; empty: the
   *  CPU */
  device?: Device;
  /** threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
   *  `device` */
  mode?: Mode;
}

/** Statistics of a step mesh, of which a pass is a tick. */
export interface ObserveTicksOptions {
  /** passes 0, `every`, 2 x `every`, ... are observed; 0: none any more; at least 0 */
  every?: number;
  /** that are observed; 0: all of those; at least 0 */
  passes?: number;
  /** observed passes that an event stands for, with all their values; at least 1 */
  window?: number;
  /** passes (windows) whose events are kept until they are taken; the oldest are dropped and
   *  counted; 1 to 65536 */
  keep?: number;
}

/** A saved program. */
export interface ProgramOptions {
  /** that the states of attention are divided among; 1 to 1048576 */
  sequences?: number;
  /** of the CPU; 0: one per core; 0 to 1024 */
  threads?: number;
  /** the CPU's instruction set, one of `isas` or `fast_isas` of `loom_info`; empty: the best of
   *  `isas` */
  isa?: string;
  /** `gpu`: a WebGPU device, an error where there is none; `auto`: that, or the CPU; empty: the
   *  CPU */
  device?: Device;
  /** threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
   *  `device` */
  mode?: Mode;
}

/** A network that learns while it answers. */
export interface OnlineOptions {
  /** rows of an answer; 1 to 65536 */
  maxRows?: number;
  /** newest samples that batches are drawn from; 1 to 16777216 */
  recent?: number;
  /** samples that are kept of those before them, a uniform choice; 0 to 16777216 */
  older?: number;
  /** share of a batch that comes from the newest; the rest comes from the older ones; 0 to 1 */
  recentShare?: number;
  /** answers that wait for their feedback; older ones are forgotten; 1 to 1048576 */
  pending?: number;
  /** steps after which answers have new weights; 1 to 1073741824 */
  publishEvery?: number;
  /** when an output is correct: by its largest value (`argmax`), by the sign of each value, of
   *  bce (`sign`), or each within `tolerance`; `auto`: as the loss is, `argmax` for
   *  cross_entropy, `sign` for bce */
  correct?: string;
  /** of `correct`, for each value; at least 0 */
  tolerance?: number;
  /** outputs of a window of the report; 1 to 1073741824 */
  window?: number;
  /** or its duration; 0: by outputs; 0 to 1e9 */
  windowMs?: number;
  /** judged outputs that accuracies of recovery are taken over; 1 to 1024 */
  rolling?: number;
  /** accuracy at which a task counts as recovered; above 0, at most 1 */
  recover?: number;
  /** after which an answer counts as late; 0: never; 0 to 1e9 */
  deadlineMs?: number;
  /** name of the first task; those that are detected are numbered */
  task?: string;
  /** of changes of the task: `adwin` (Bifet and Gavalda 2007) over the errors of outputs, or
   *  `none` */
  detector?: string;
  /** of the detector, about the probability of a false alarm: a smaller one takes longer; 1e-12
   *  to 0.5 */
  detectorDelta?: number;
  /** a change of the task forgets the samples before it */
  forget?: boolean;
  /** a change of the task multiplies the learning rate; above 0, at most 1000 */
  boost?: number;
  /** for as many steps; 0 to 1073741824 */
  boostSteps?: number;
  /** of the CPU; 0: one per core; 0 to 1024 */
  threads?: number;
  /** the CPU's instruction set, one of `isas` or `fast_isas` of `loom_info`; empty: the best of
   *  `isas` */
  isa?: string;
  /** `gpu`: a WebGPU device, an error where there is none; `auto`: that, or the CPU; empty: the
   *  CPU */
  device?: Device;
  /** threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
   *  `device` */
  mode?: Mode;
}

/** Where a trainer works. */
export interface TrainerOptions {
  /** of the CPU; 0: one per core; 0 to 1024 */
  threads?: number;
  /** the CPU's instruction set, one of `isas` or `fast_isas` of `loom_info`; empty: the best of
   *  `isas` */
  isa?: string;
  /** `gpu`: a WebGPU device, an error where there is none; `auto`: that, or the CPU; empty: the
   *  CPU */
  device?: Device;
  /** threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
   *  `device` */
  mode?: Mode;
}

/** Statistics of a trainer, of which a pass is a step. */
export interface ObserveTrainerOptions {
  /** passes 0, `every`, 2 x `every`, ... are observed; 0: none any more; at least 0 */
  every?: number;
  /** that are observed; 0: all of those; at least 0 */
  passes?: number;
  /** observed passes that an event stands for, with all their values; at least 1 */
  window?: number;
  /** passes (windows) whose events are kept until they are taken; the oldest are dropped and
   *  counted; 1 to 65536 */
  keep?: number;
  /** layers inside cells have events, too */
  nested?: boolean;
  /** the gradients of parameters have events, too */
  weights?: boolean;
}

/** A byte-level BPE vocabulary. */
export interface TokenizerOptions {
  /** tokens at most, special ones and the 256 bytes included; at least 1 */
  vocabSize?: number;
  /** get the first ids, in this order; they are not looked for in the texts */
  specialTokens?: string[];
  /** the special token that begins a text */
  bos?: string;
  /** the special token that ends a text */
  eos?: string;
  /** encoding begins with `bos` */
  addBos?: boolean;
}

/** A language model of a network that was trained here. `loom_model_info` says the same keys. */
export interface ModelOptions {
  /** for people */
  name?: string;
  /** the model family, as `loom_model_info` says it; empty: none */
  architecture?: string;
  /** where given: the network's own */
  vocabSize?: number;
  /** positions the network was trained for; at least 1 */
  maxPositions: number;
  /** the id that begins a text, null for none; absent: the tokenizer's */
  bos?: number | null;
  /** the id or ids that end a text, null for none; absent: the tokenizer's */
  eos?: number | number[] | null;
  /** settings that are recommended with the model */
  sampling?: Sampling;
  /** where given: the network's own */
  parameters?: number;
}

/** `sampling` of a model: what is not said is as it is usual. */
export interface Sampling {
  /** divides the logits; 0: greedy, the largest logit; 0 to 1e6 */
  temperature?: number;
  /** draws from this number of most probable tokens; 0: all; at least 0 */
  topK?: number;
  /** draws from the fewest tokens that together have this probability; above 0, at most 1 */
  topP?: number;
  /** draws from tokens at least this share as probable as the best; 0 to 1 */
  minP?: number;
  /** divides positive and multiplies negative logits of tokens seen before; 0.001 to 1000 */
  repetitionPenalty?: number;
}

/** Generates text with a model. */
export interface GeneratorOptions {
  /** positions of a sequence; 0: as many as the model was trained for, at most 4096; at least 0 */
  context?: number;
  /** conversations whose KV caches are kept; at least 1 */
  sequences?: number;
  /** rows of a prompt that run at once; 0: 64, or 512 on a device. The bits are the same for
   *  every number; at least 0 */
  chunk?: number;
  /** of the CPU; 0: one per core; 0 to 1024 */
  threads?: number;
  /** the CPU's instruction set, one of `isas` or `fast_isas` of `loom_info`; empty: the best of
   *  `isas` */
  isa?: string;
  /** `gpu`: a WebGPU device, an error where there is none; `auto`: that, or the CPU; empty: the
   *  CPU */
  device?: Device;
  /** threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
   *  `device` */
  mode?: Mode;
  /** of products with integer weights: `q15`, 15 bits (the same as empty), or `i8`, 8 bits:
   *  faster prompts, other answers; refused where there are no such products */
  activations?: string;
}

/** A text: how its tokens are picked, and its end. */
export interface SamplingOptions {
  /** new tokens; 0: until the context is full, which ends every text; at least 0 */
  maxTokens?: number;
  /** divides the logits; 0: greedy, the largest logit; 0 to 1e6 */
  temperature?: number;
  /** draws from this number of most probable tokens; 0: all; at least 0 */
  topK?: number;
  /** draws from the fewest tokens that together have this probability; above 0, at most 1 */
  topP?: number;
  /** draws from tokens at least this share as probable as the best; 0 to 1 */
  minP?: number;
  /** divides positive and multiplies negative logits of tokens seen before; 0.001 to 1000 */
  repetitionPenalty?: number;
  /** of the draws: a text is a function of its prompt, these settings and this number */
  seed?: number | bigint;
  /** texts that end the answer, and are no part of it */
  stop?: string[];
  /** the model's own ends of a text are tokens like others */
  ignoreEos?: boolean;
}

/** Trains from files. */
export interface FileTrainingOptions {
  /** a file: training specs (docs/reference/training-spec.md); empty: all is chosen */
  spec?: string;
  /** a file as the spec says; without one a table (CSV), a folder of idx or .npy files, a
   *  folder with a folder of images or of .txt files for each class, or texts for the embedded
   *  language model */
  data?: string;
  /** data of the same form, judged at the end; without a spec */
  test?: string;
  /** the column to predict; empty: the last one; without a spec */
  target?: string;
  /** what the target is; empty: what it looks like; without a spec */
  task?: string;
  /** empty: convolutions for images, else dense layers; without a spec */
  network?: string;
  /** of the weights, which learn in it; without a spec */
  dtype?: string;
  /** how gradients are found; empty: back_propagation; without a spec */
  method?: string;
  /** whether a table is a time series; empty: what it looks like; without a spec */
  series?: string;
  /** of a time series: steps ahead that are judged; 12; at least 1 */
  horizon?: number;
  /** distillation (docs/reference/../guide/training.md#learn-from-another-network): an .entity
   *  or .onnx file, a network whose answers are learned */
  teacher?: string;
  /** of classes, with `teacher`: the softmax of both is of logits divided by it; 1; above 0 */
  temperature?: number;
  /** with `teacher`: how much its answers count; the targets of the data count 1 - alpha; 0.9;
   *  above 0, at most 1 */
  alpha?: number;
  /** training_report will be asked for: data that are no table are refused */
  report?: boolean;
  /** products in FP8, forward and backward; without a spec */
  fp8?: boolean;
  /** 0: as many as the data suggest; without a spec; at least 0 */
  steps?: number;
  /** of the first weights, the order and what is held back; at least 0 */
  seed?: number | bigint;
  /** the file or folder that will be saved: checked before the work, and where checkpoints go */
  out?: string;
  /** resumes from `out`, with the same bits as if never stopped */
  resume?: boolean;
  /** a folder for TensorBoard event files */
  events?: string;
  /** a file of events (docs/reference/../guide/observe.md) of the steps, a JSON object a line;
   *  with `resume` they follow those that are there */
  observe?: string;
  /** the first step from here on and each `observe_every`-th after it are observed; at least 1 */
  observeEvery?: number;
  /** of the CPU; 0: one per core; 0 to 1024 */
  threads?: number;
  /** the CPU's instruction set, one of `isas` or `fast_isas` of `loom_info`; empty: the best of
   *  `isas` */
  isa?: string;
  /** `gpu`: a WebGPU device, an error where there is none; `auto`: that, or the CPU; empty: the
   *  CPU */
  device?: Device;
  /** threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
   *  `device` */
  mode?: Mode;
}

/** Where a trained network answers. */
export interface PredictorOptions {
  /** of the CPU; 0: one per core; 0 to 1024 */
  threads?: number;
  /** the CPU's instruction set, one of `isas` or `fast_isas` of `loom_info`; empty: the best of
   *  `isas` */
  isa?: string;
  /** `gpu`: a WebGPU device, an error where there is none; `auto`: that, or the CPU; empty: the
   *  CPU */
  device?: Device;
  /** threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
   *  `device` */
  mode?: Mode;
}

/** A format for each matrix of a trained network. */
export interface PlanOptions {
  /** the least loss within this number of bytes of weights; 0: no limit; at least 0 */
  bytes?: number;
  /** the least loss of the plans that run 64 rows (or all there are) within this number of
   *  milliseconds here; 0: no limit; at least 0 */
  ms?: number;
  /** the fewest bytes with at most this loss; 0: no limit; at least 0 */
  loss?: number;
  /** candidates beside f32: formats (docs/reference/dtypes.md); empty: 18 from f32 to binary */
  formats?: string[];
  /** rows of the data that losses are measured on; at least 1 */
  rows?: number;
  /** which rows: same seed, same plan, except with `ms`; at least 0 */
  seed?: number | bigint;
}

/** Measures a model over a text. */
export interface EvaluatorOptions {
  /** ids of a window; 0: as many as the model was trained for, at most 2048; at least 0 */
  context?: number;
  /** rows that run at once. The bits are the same for every number; at least 1 */
  chunk?: number;
  /** the last id runs too, whose prediction nothing judges */
  lastRow?: boolean;
  /** with the SHA-256 of all logits */
  hash?: boolean;
  /** of the CPU; 0: one per core; 0 to 1024 */
  threads?: number;
  /** the CPU's instruction set, one of `isas` or `fast_isas` of `loom_info`; empty: the best of
   *  `isas` */
  isa?: string;
  /** `gpu`: a WebGPU device, an error where there is none; `auto`: that, or the CPU; empty: the
   *  CPU */
  device?: Device;
  /** threads and device in one word: modes (docs/reference/modes.md). Beside it there is no
   *  `device` */
  mode?: Mode;
  /** of products with integer weights: `q15`, 15 bits (the same as empty), or `i8`, 8 bits:
   *  faster prompts, other answers; refused where there are no such products */
  activations?: string;
}

/** A model file in another format. */
export interface ConvertOptions {
  /** of the weights; empty: as they are; safetensors takes f64, f32, f16, bf16, folders f32,
   *  f16, bf16, GGUF also q8_0, q4_0, ONNX all that it has (docs/guide/export.md) */
  dtype?: string;
  /** a LoRA adapter to add to the weights: a folder; not where .safetensors is written */
  adapter?: string;
  /** false writes a language model without it, which then runs by ids */
  tokenizer?: boolean;
  /** of .onnx: products of 4 and 8 bits by ONNX Runtime's own `MatMulNBits` */
  matmulNbits?: boolean;
  /** of a .safetensors or .pt file that becomes .entity: what names and shapes do not tell
   *  (weights (docs/reference/weights.md)), an object */
  settings?: unknown;
  /** sizes of open dimensions of an ONNX graph's inputs by their names, an object: `{"seq":
   *  128}`; one without a name is `INPUT:AXIS`; a first one that is left out is the batch */
  dims?: unknown;
  /** the largest length of one open dimension, an object: `{"seq": 128}`; rows of the network
   *  then end with their own lengths (open dimensions (docs/reference/formats.md#open-
   *  dimensions)) */
  max?: unknown;
}

/** A network in a format of other programs. */
export interface ExportOptions {
  /** of ONNX: the version of its operators in the file; 21 to 26 */
  opset?: number;
  /** format (docs/reference/dtypes.md) of the matrices in the file, for example `f32`, `f16` or
   *  `i8`; empty: each as it is stored */
  as?: string;
  /** of ONNX: large tensors go into a second file, `PATH.data`, as they do where all do not fit
   *  into one */
  externalData?: boolean;
  /** of ONNX: a language model whose keys and values are inputs and outputs, by the names of
   *  transformers.js and Optimum */
  decoder?: boolean;
  /** of ONNX: products of 4 and 8 bits by ONNX Runtime's own `MatMulNBits` */
  matmulNbits?: boolean;
}

/** An ONNX graph as a network. */
export interface GraphNetworkOptions {
  /** sizes of open dimensions of an ONNX graph's inputs by their names, an object: `{"seq":
   *  128}`; one without a name is `INPUT:AXIS`; a first one that is left out is the batch */
  dims?: unknown;
  /** the largest length of one open dimension, an object: `{"seq": 128}`; rows of the network
   *  then end with their own lengths (open dimensions (docs/reference/formats.md#open-
   *  dimensions)) */
  max?: unknown;
}

/** Facts of a model file. */
export interface FileInfoOptions {
  /** with a list of all tensors */
  tensors?: boolean;
  /** with what a loader says of it: whether it runs, its topology, its tokenizer */
  model?: boolean;
}

/** Computes the numerics table. */
export interface VerifyOptions {
  /** of the CPU; 0: one per core; 0 to 1024 */
  threads?: number;
  /** the CPU's instruction set, one of `isas` or `fast_isas` of `loom_info`; empty: the best of
   *  `isas` */
  isa?: string;
  /** `gpu`: a WebGPU device, an error where there is none; `auto`: that, or the CPU; empty: the
   *  CPU */
  device?: Device;
}

/** Reports the machine ([keys](audit.md)). */
export interface AuditOptions {
  /** `auto`: the GPU where there is one; `gpu`: an error where there is none; `cpu`: no GPU is
   *  looked for */
  device?: Device;
  /** with speeds of memory and products, which take a second or two */
  measure?: boolean;
}
