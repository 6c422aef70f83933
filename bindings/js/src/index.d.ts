// Types of the package. What each function does stands in README.md and, in full, in
// docs/reference/c-api.md.

export type LoomCode = 'invalid_argument' | 'not_found' | 'unsupported' | 'corrupt' | 'truncated'
  | 'io' | 'out_of_memory' | 'out_of_range' | 'cancelled' | 'internal' | 'invalid_handle' | 'busy'
  | 'paused';
export class LoomError extends Error {
  readonly code: LoomCode;
}
export class InvalidArgumentError extends LoomError {}
export class NotFoundError extends LoomError {}
export class UnsupportedError extends LoomError {}
export class CorruptError extends LoomError {}
export class TruncatedError extends LoomError {}
export class IoError extends LoomError {}
export class OutOfMemoryError extends LoomError {}
export class OutOfRangeError extends LoomError {}
export class CancelledError extends LoomError {}
export class InternalError extends LoomError {}
export class InvalidHandleError extends LoomError {}
export class BusyError extends LoomError {}
export class PausedError extends LoomError {}

/** Bytes, or where they are. In Node a plain string is a path; in a browser it is a URL. */
export type Source = string | URL | ArrayBuffer | ArrayBufferView | Blob | Response
  | ReadableStream<Uint8Array>;
export type Numbers = ArrayLike<number> & Iterable<number>;
export type Rows = Numbers | Numbers[];

// Options: docs/reference/options.md. A device and a mode give always the same bits; methods that
// return at once cannot wait for a GPU and refuse "gpu".
import type { AuditOptions, ConvertOptions, Device, EvaluatorOptions, ExportOptions,
  FileInfoOptions, ForecastOptions, GeneratorOptions, GraphNetworkOptions, Mode, ModelOptions,
  ObserveOptions, ObserveTrainerOptions, OnlineOptions, Sampling, SamplingOptions, SearchOptions,
  Seq2SeqOptions, SessionOptions, TokenizerOptions, VerifyOptions } from './types/options.js';
export type * from './types/options.js';
import type { Act, Audit, Blueprint, ConvertReport, Dna, DnaComparison, ExportReport, Methods,
  MutationReport, Observed, SpliceOptions, SpliceReport } from './types/reports.js';
export type * from './types/reports.js';
import { Online } from './types/online.js';
export * from './types/online.js';
import { Population } from './types/population.js';
export * from './types/population.js';
export * from './types/ensemble.js';
import type { WeightSettings, WeightsReport } from './types/weights.js';
export * from './types/weights.js';
import { Program } from './types/program.js';
export * from './types/program.js';
import { StepMesh } from './types/step_mesh.js';
export * from './types/step_mesh.js';
import type { Found, Seq2SeqInfo, Sources } from './types/seq2seq.js';
export type * from './types/seq2seq.js';

export interface InitOptions {
  /** The module, where it does not lie beside the package. */
  module?: Source | WebAssembly.Module;
  /** 1 without; 0: one per core, which is the most. More than 1 takes Node, or a worker of a
   *  page that is cross-origin isolated; elsewhere it stays 1. */
  threads?: number;
  /** What the module writes to its standard streams, by lines; console.error. */
  log?: (line: string) => void;
}
export interface LoadOptions {
  onProgress?: (progress: { loaded: number; total?: number }) => void;
  signal?: AbortSignal;
}

export interface Info {
  version: string;
  abi_version: number;
  numerics_version: number;
  isa: string;
  isas: string[];
  fast_isas: string[];
  threads: number;
  dtypes: string[];
  formats: string[];
  layers: string[];
  embedded_model: boolean;
}
export interface Report {
  numerics_version: number;
  fingerprint: string;
  golden: string;
  equal: boolean;
  /** What computed: an instruction set, or a GPU. */
  target: string;
  /** "portable", or what a GPU computes otherwise. */
  numerics: string;
  /** With a GPU: `why` one was left to the CPU. */
  rows: { name: string; hash: string; why?: string }[];
}
/** What `device: 'gpu'` means here: the adapter, or what is missing, in words. */
export interface Gpu {
  available: boolean;
  name: string;
  software: boolean;
  missing: string;
}

export interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string;
}
export type Prompt = string | Message[] | Numbers;
/** What is not given of a `Sampling` is as `info.sampling` of the model says, device and mode as
 *  the model was loaded for. */
export interface GenerateOptions
  extends SamplingOptions, Pick<GeneratorOptions, 'context' | 'device' | 'mode'> {
  /** Seen between tokens; the prompt runs as a whole. */
  signal?: AbortSignal;
}
export type ChatOptions = GenerateOptions & { variables?: Record<string, unknown> };
export interface Generated {
  text: string;
  tokens: Int32Array;
  /** SHA-256 over ids and logits: equal on every device. */
  fingerprint: string;
  finish: 'length' | 'eos' | 'stop' | 'cancelled';
  /** How fast it was, and on what. */
  stats: Stats;
}
/** In the shape of OpenAI's chat completions. */
export interface ChatCompletion {
  id: string;
  object: 'chat.completion';
  created: number;
  model: string;
  choices: { index: number; message: { role: 'assistant'; content: string }; logprobs: null;
    finish_reason: 'stop' | 'length' | 'cancelled' }[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  system_fingerprint: string;
}
export interface ChatCompletionChunk {
  id: string;
  object: 'chat.completion.chunk';
  created: number;
  model: string;
  choices: { index: number; delta: { role?: 'assistant'; content?: string }; logprobs: null;
    finish_reason: 'stop' | 'length' | 'cancelled' | null }[];
}
/** How well a model predicts a text. */
export interface Evaluation {
  /** That were predicted. */
  tokens: number;
  /** Nats per token. */
  loss: number;
  perplexity: number;
  /** With a reference: its loss, and how far the model is from it. */
  referenceLoss?: number;
  kl?: number;
  largestKl?: number;
  /** The share of tokens of which both think the same most probable. */
  sameArgmax?: number;
  /** With `hash`. */
  logitsSha256?: string;
}
export interface EvaluateOptions
  extends Omit<EvaluatorOptions, 'threads' | 'isa'> {
  /** Another model with as many tokens. */
  reference?: Transformer | null;
  /** Seen between chunks. */
  signal?: AbortSignal;
}
/** Where something runs, for methods that return at once. */
export interface Where {
  device?: Device;
  mode?: Mode;
}
/** The same for those that give a promise. The signal is seen between the calls that the work
 *  consists of; an abort rejects with its reason, by itself an AbortError, and the object stays
 *  usable. */
export interface WhereLater extends Where {
  signal?: AbortSignal;
}
export type Abortable = { signal?: AbortSignal };
export interface ModelInfo {
  name: string;
  architecture: string | null;
  vocabSize: number;
  maxPositions: number;
  bos: number | null;
  eos: number[];
  /** What the authors recommend, else temperature 0.7 and topP 0.9. */
  sampling: Required<Sampling>;
  parameters: number;
}
export interface Stats {
  context: number;
  sequences: number;
  /** What it ran on: an instruction set, or a GPU. */
  target: string;
  /** "portable", or what a GPU computes otherwise. */
  numerics: string;
  threads: number;
  reusedTokens: number;
  prefillTokens: number;
  prefillSeconds: number;
  decodeTokens: number;
  decodeSeconds: number;
}

declare class Handled {
  /** Gives the object back at once; else the garbage collector does, some time. */
  dispose(): void;
}

/** How a model is loaded: also the format of its matrices, and where it runs. */
export interface ModelLoadOptions extends LoadOptions {
  format?: string;
  /** Of products with quantized weights: "q15", or "i8": prompts in less time, other answers. */
  activations?: string;
  device?: Device;
  mode?: Mode;
}

export class Transformer extends Handled {
  private constructor();
  static loadModel(source: 'embedded' | Source, options?: ModelLoadOptions): Promise<Transformer>;
  readonly info: ModelInfo;
  readonly stats: Stats | null;
  readonly network: Network;
  readonly tokenizer: Tokenizer;
  /** Ends with the error that loading would end with, without reading a weight; in Node. */
  static check(name: string): Promise<void>;
  /** The tokenizer of a model, without its weights. */
  static loadTokenizer(source: string, options?: Abortable): Promise<Tokenizer>;
  static fromNetwork(network: Network, tokenizer: Tokenizer | null,
      options: ModelOptions): Transformer;
  /** At most 256 tokens, where `maxTokens` does not say; 0: until the context is full. */
  generate(prompt: Prompt, options?: GenerateOptions): AsyncGenerator<string, Generated, void>;
  generateText(prompt: Prompt, options?: GenerateOptions): Promise<Generated>;
  generateSync(prompt: Prompt, options?: Omit<GenerateOptions, 'signal'>): Generated;
  chat(messages: Message[] | string, options?: ChatOptions):
    AsyncGenerator<string, Generated, void>;
  chatText(messages: Message[] | string, options?: ChatOptions): Promise<Generated>;
  createChatCompletion(messages: Message[] | string,
      options: ChatOptions & { stream: true }): AsyncGenerator<ChatCompletionChunk, void, void>;
  createChatCompletion(messages: Message[] | string,
      options?: ChatOptions & { stream?: false }): Promise<ChatCompletion>;
  /** How well it predicts a text, or its ids. */
  evaluate(text: string | Numbers, options?: EvaluateOptions): Promise<Evaluation>;
  /** Learns to continue texts, none of which goes on in the next: with `lora` in the spec an
   *  adapter beside the weights. The loss is cross_entropy where the spec has none. */
  train(texts: string | string[] | Numbers | Numbers[] | Data, spec: TrainingSpec,
      options?: WhereLater & { length?: number; every?: number }):
    AsyncGenerator<Step, void, void>;
  /** LoRA adapters: folders, in Node. */
  loadAdapter(folder: string): void;
  saveAdapter(folder: string): void;
  unloadAdapter(): void;
  mergeAdapter(): void;
  tokenize(text: string, options?: { addSpecialTokens?: boolean; plain?: boolean }): Int32Array;
  detokenize(ids: Numbers, options?: { skipSpecialTokens?: boolean }): string;
  logits(prompt: Prompt, options?: Where): Float32Array;
  logitsAsync(prompt: Prompt, options?: WhereLater): Promise<Float32Array>;
  fingerprint(prompt: Prompt, options?: Where): string;
  fingerprintAsync(prompt: Prompt, options?: WhereLater): Promise<string>;
  save(): Uint8Array;
  save(path: string): void;
  export(format: 'folder', options?: ConvertOptions): Record<string, Uint8Array>;
  export(format: string, options?: ConvertOptions): Uint8Array;
}

export interface TokenizerInfo {
  vocabSize: number;
  bos: number | null;
  eos: number | null;
  /** Whether the chat template is one that this build can read. */
  chat: boolean;
  chatTemplate: string;
}
export class Tokenizer extends Handled {
  private constructor();
  static parse(json: string, config?: string): Tokenizer;
  static load(pathOrUrl: string, options?: Abortable): Promise<Tokenizer>;
  static train(texts: string[], options?: TokenizerOptions): Tokenizer;
  readonly info: TokenizerInfo;
  encode(text: string, options?: { addSpecialTokens?: boolean; plain?: boolean }): Int32Array;
  decode(ids: Numbers, options?: { skipSpecialTokens?: boolean }): string;
  token(id: number): string;
  id(token: string): number;
  chat(messages: Message[] | string,
      options?: { addGenerationPrompt?: boolean; variables?: Record<string, unknown> }): Int32Array;
  /** For ids that come one by one. */
  decoder(options?: { skipSpecialTokens?: boolean }): Decoder;
}
/** The text of ids as they come: the parts put together are Tokenizer.decode of all ids, and none
 *  ends inside a character. */
export class Decoder extends Handled {
  constructor(tokenizer: Tokenizer, options?: { skipSpecialTokens?: boolean });
  /** One more id; gives what is final now, maybe nothing. */
  push(id: number): string;
  /** The rest; the decoder then begins anew. */
  finish(): string;
}

// Topologies, their cells and all layer types: docs/reference/topology.md.
import type { Topology } from './types/topology.js';
export type * from './types/topology.js';
// Training specs: docs/reference/training-spec.md; keys may be written in camelCase.
import type { TrainingSpec } from './types/training_spec.js';
export type * from './types/training_spec.js';
export type TrainingData =
  /** Of the samples' losses. */
  { weights?: Numbers } & (
    /** y: of a network with several outputs those of each by its name: values, or a class for
     *  each of its places. */
    | { x: Rows | Record<string, Rows>; y: Rows | Record<string, Rows> | Rows[] }
    | { x: Rows | Record<string, Rows>; classes: Numbers }
    | { ids: Numbers; ends?: Numbers; length?: number }
    | { ids: Numbers; y: Rows | Record<string, Rows> | Rows[] }
    | { ids: Numbers; classes: Numbers }
    | { csv: string; targets?: string[]; class?: string; header?: boolean; separator?: string }
  );
export interface Step {
  step: number;
  loss: number;
  lr: number;
  rows: number;
}
export interface Parameter {
  path: string;
  role: string;
  rows: number;
  cols: number;
  format: string;
  tied: boolean;
}
export interface NetworkInfo {
  depth: number;
  rows: number;
  cols: number;
  layersPerCell: number;
  /** Of the topology. */
  version: number;
  input: {
    width?: number; ids?: number; dims?: number[]; axis?: 'steps' | 'channels';
    parts?: { name: string; width?: number; ids?: number; dims?: number[] }[];
  };
  output: {
    width: number; dims?: number[]; axis?: 'steps' | 'channels';
    parts?: { name: string; width: number; dims?: number[] }[];
  };
  /** The output of each layer of the grid. */
  cells: {
    path: string; width?: number; ids?: number; dims?: number[]; axis?: 'steps' | 'channels';
  }[];
  parameters: number;
}

/** Float64Array: of a network whose cells compute in f64. */
export type Output = Float32Array | Float64Array;
export type Outputs = Output | Record<string, Output> | Output[];

export interface Forecast {
  date: string;
  forecast: number;
  /** 80 and 95 of 100 values lie between these. */
  low80: number;
  high80: number;
  low95: number;
  high95: number;
  /** The intervals come from forecasts of as many steps that training judged, with these
   *  weights. */
  measured: boolean;
}

/** How raw data become rows, and the names of answers: docs/reference/entity.md, inputs. */
export interface Inputs {
  columns?: { name?: string; kind?: string; [key: string]: unknown }[];
  labels?: string[] | number[] | boolean[];
  answers?: 'logits' | 'probabilities' | 'scores';
  [key: string]: unknown;
}

export class Network extends Handled {
  constructor(spec: Topology | string, options?: { seed?: number | bigint | null });
  static load(source: Source, options?: LoadOptions): Promise<Network>;
  /** From any file of weights, by names, shapes and settings (docs/reference/weights.md). */
  static fromWeights(source: Source, settings?: WeightSettings):
    Promise<{ network: Network; report: WeightsReport }>;
  static weightsReport(source: Source, settings?: WeightSettings): Promise<WeightsReport>;
  readonly info: NetworkInfo;
  readonly topology: Topology;
  readonly inputs: Inputs | null;
  setInputs(inputs: Inputs | null): void;
  readonly parameters: Parameter[];
  /** The layers of the grid with shapes and parameters, for displays. */
  blueprint(id?: string): Blueprint;
  readonly digest: string;
  readonly dna: Dna;
  compareDna(other: Network): DnaComparison;
  /** A child of this network and another (docs/reference/evolution.md). */
  splice(other: Network, options?: SpliceOptions): { child: Network; report: SpliceReport };
  /** One network whose branches are whole networks. */
  static graft(networks: Iterable<Network>, options?: { combine?: 'concat' | 'add' | 'avg' | 'mean'
    | 'gated' | 'filter'; residual?: boolean; stitch?: boolean; softmax?: boolean }): Network;
  /** A mutated copy that runs. */
  mutate(seed?: number | bigint, rates?: Record<string, unknown>):
    { child: Network; report: MutationReport };
  initialize(seed: number | bigint): void;
  copy(): Network;
  cell(at: string): object;
  setCell(at: string, json: object): void;
  setLinks(at: string, links: { read?: number[]; send?: number[]; run?: number[] }[]): void;
  enable(at: string, enabled?: boolean): void;
  morph(format: string, cell?: string): void;
  pack(format: string): void;
  get(path: string, role: string, options?: { dtype?: 'f32' }): Float32Array;
  get(path: string, role: string, options: { dtype: 'f64' }): Float64Array;
  /** A Float64Array goes in as it is. */
  set(path: string, role: string, values: Rows): void;
  program(options?: SessionOptions): string;
  /** As bytes, which Program runs with the weights of a network. */
  saveProgram(options?: SessionOptions): Uint8Array;
  /** Equal programs, equal hashes. */
  programSha256(options?: SessionOptions): string;
  /** LoRA adapters: folders, in Node. Weights, digest and saved files stay the network's alone. */
  loadAdapter(folder: string): void;
  saveAdapter(folder: string): void;
  unloadAdapter(): void;
  /** Adds the adapter to the weights. */
  mergeAdapter(): void;
  session(options?: SessionOptions): Session;
  /** A Session that does what a trace says, and evaluates no rules. */
  replay(trace: Act[], options?: SessionOptions): Session;
  trainer(data: TrainingData | Data, spec: TrainingSpec): Trainer;
  /** Learns a copy of the network while it answers, in one thread. */
  online(spec?: Partial<TrainingSpec>, options?: Omit<OnlineOptions, 'device' | 'mode'>): Online;
  /** x: rows; where the input has parts also the rows of each by its name: sequences of unequal
   *  length are padded, where a part "lengths" or "<name>_lengths", which is then filled in, is
   *  not given. Gives the rows of the output; where the network has several, those of each by
   *  its name, in an array where a list of them was given to it. */
  forward<Y extends Outputs = Float32Array>(
    x: Rows | Record<string, Rows>, options?: Where & { head?: number[] }): Y;
  /** With a signal some rows run at a time. */
  forwardAsync<Y extends Outputs = Float32Array>(
    x: Rows | Record<string, Rows>, options?: WhereLater & { head?: number[] }): Promise<Y>;
  /** The outputs after each id of one sequence, or with `last` after the last: of networks whose
   *  rows are single ids. */
  forwardTokens<Y extends Outputs = Float32Array>(ids: Numbers,
    options?: Where & { last?: boolean }): Y;
  forwardTokensAsync<Y extends Outputs = Float32Array>(ids: Numbers,
    options?: WhereLater & { last?: boolean }): Promise<Y>;
  /** The next steps of a time series that `loom train` learned, after the values of training or
   *  of `history`. */
  forecast(options?: ForecastOptions & { history?: ArrayLike<number> }): Forecast[];
  train(data: TrainingData | Data, spec: TrainingSpec, options?: WhereLater & { every?: number }):
    AsyncGenerator<Step, void, void>;
  /** Topology and weights as JSON, which load reads. */
  saveJson(): string;
  save(): Uint8Array;
  save(path: string): void;
  export(format: 'onnx', options?: ExportOptions): Uint8Array;
  export(path: string, options?: ExportOptions): ExportReport;
}

export interface SessionInfo {
  /** What computes: an instruction set, or a GPU. */
  target: string;
  /** A GPU's name; null: the CPU. */
  device: string | null;
  /** Why `auto` took the CPU. */
  note: string;
  numerics: string;
  threads: number;
  inputWidth: number;
  outputWidth: number;
  inputDims: number[];
  outputDims: number[];
  arenaBytes: number;
  stateBytes: number;
  weightBytes: number;
  scratchBytes: number;
  /** Null: rules are ignored. */
  metacognition:
    { rules: number; replays: boolean; passes: number; acts: number; dropped: number } | null;
}
/** Of runs that pause: whole microseconds, at least 1. */
export interface Budget {
  budgetUs: number;
}
export class Session extends Handled {
  constructor(network: Network, options?: SessionOptions);
  /** On a device; then the methods named ...Async are those to use. */
  static create(network: Network, options?: SessionOptions): Promise<Session>;
  readonly info: SessionInfo;
  /** Statistics of the output of every cell, from the next run on. */
  observe(options?: ObserveOptions): void;
  observeAsync(options?: ObserveOptions): Promise<void>;
  /** Takes the events of the runs so far. */
  statistics(): Observed;
  /** What rules have done after runs of this session, the last 65,536 acts. */
  trace(): Act[];
  /** Rows of values, at most maxRows. */
  run(x: Rows | Record<string, Rows>): Output;
  /** null after about `budgetUs` microseconds where it is not done: the same call again continues,
   *  with the same bits; another run drops it. */
  run(x: Rows | Record<string, Rows>, options: Budget): Output | null;
  runAsync(x: Rows | Record<string, Rows>, options?: Abortable): Promise<Output>;
  /** Rows of ids, each a sequence of its own. */
  runIds(ids: Rows): Float32Array;
  runIds(ids: Rows, options: Budget): Float32Array | null;
  runIdsAsync(ids: Rows, options?: Abortable): Promise<Float32Array>;
  /** Token ids at positions of sequences (all 0 where empty): a row of the output's width for each
   *  row in `head` (the last one where empty). Keys and values of earlier runs stay in the
   *  caches. */
  runTokens(ids: Numbers, positions: Numbers, sequences?: Numbers, head?: Numbers): Float32Array;
  runTokens(ids: Numbers, positions: Numbers, sequences: Numbers, head: Numbers,
      options: Budget): Float32Array | null;
  runTokensAsync(ids: Numbers, positions: Numbers, sequences?: Numbers, head?: Numbers,
      options?: Abortable): Promise<Float32Array>;
}

/** Runs an encoder-decoder as it is used: what depends on its other inputs alone once, its
 *  target step by step, with the answers that forward() has for whole rows. */
export class Seq2Seq extends Handled {
  constructor(network: Network, options: Omit<Seq2SeqOptions, 'device' | 'mode'>);
  /** On a device; then the methods named ...Async are those to use. */
  static create(network: Network, options: Seq2SeqOptions): Promise<Seq2Seq>;
  readonly info: Seq2SeqInfo;
  /** Begins anew. Sequences of unequal length are padded and their lengths filled in, as in
   *  forward(). */
  encode(x: Sources): void;
  encodeAsync(x: Sources, options?: Abortable): Promise<void>;
  /** The next step of all rows: an id of each, or its features. Gives a row of answers for each. */
  step(target: Rows): Float64Array;
  stepAsync(target: Rows, options?: Abortable): Promise<Float64Array>;
  /** Row i continues from where row from[i] was; there are from.length rows then. */
  reorder(from: ArrayLike<number>): void;
  reorderAsync(from: ArrayLike<number>): Promise<void>;
  /** For each row of the sources the sequences found, the best first; rows x beams need as many
   *  lanes. */
  search(x: Sources, options: SearchOptions): Found[][];
  /** With a signal row by row. */
  searchAsync(x: Sources, options: SearchOptions & Abortable): Promise<Found[][]>;
  /** The ids of the best sequence of search for each row. */
  generate(x: Sources, options: SearchOptions): number[][];
  generateAsync(x: Sources, options: SearchOptions & Abortable): Promise<number[][]>;
}

/** A cell: its number in the order of the grid, "z.y.x.l", or [z, y, x, l]. */
export type Cell = number | string | [number, number, number, number];
/** Samples to learn from, copied into the module; any number of trainers take the same. */
export class Data extends Handled {
  private constructor();
  /** Rows and their targets; `width` and `targets`: numbers of a row, where they come in one
   *  list. */
  static values(x: Rows, y: Rows, options?: { width?: number; targets?: number }): Data;
  static classes(x: Rows, classes: Rows, options?: { width?: number }): Data;
  /** Rows of ids, each a sequence of its own, with `y` or `classes`. */
  static ids(ids: Rows, options: { steps?: number } & (
    { y: Rows; targets?: number } | { classes: Rows })): Data;
  /** Token ids to predict one by one: one stream, or a list of documents. */
  static tokens(ids: Numbers | Numbers[], options?: { ends?: Numbers; length?: number }): Data;
  /** The text of a CSV table. */
  static table(csv: string | ArrayBuffer | ArrayBufferView,
      options?: { targets?: string[]; class?: string; header?: boolean; separator?: string }): Data;
  /** The same samples, each with a weight of its loss. */
  weighted(weights: Numbers): Data;
  readonly info: {
    samples: number; max_rows: number; width?: number; ids?: number; steps?: number;
    targets?: number; classes?: number; weighted?: boolean; sha256: string;
  };
}

export class Trainer extends Handled {
  constructor(network: Network, data: TrainingData | Data, spec: TrainingSpec);
  /** On a device; then the methods named ...Async are those to use. */
  static create(network: Network, data: TrainingData | Data, spec: TrainingSpec,
      options?: Where): Promise<Trainer>;
  /** Optimizer steps done. */
  readonly done: number;
  readonly info: { step: number; steps: number; spec: object };
  readonly digest: string;
  digestAsync(): Promise<string>;
  /** From the next step on; statistics() takes the events. */
  observe(options?: ObserveTrainerOptions): void;
  statistics(): Observed;
  step(steps?: number): Step;
  /** With a signal in slices of some milliseconds; steps that are done stay done. */
  stepAsync(steps?: number, options?: Abortable): Promise<Step>;
  /** One step on a batch of its own. */
  stepOn(data: TrainingData | Data): Step;
  stepOnAsync(data: TrainingData | Data, options?: Abortable): Promise<Step>;
  /** One of the `microBatches` of the next step, by itself: its gradients, for apply(), of the
   *  trainer's own data or of samples that are given. No weight changes. */
  shard(number: number, data?: TrainingData | Data): Uint8Array;
  /** The step of all its shards, in their order, with the bits of step(), whichever trainers of
   *  the same spec, network and data computed them. */
  apply(shards: Iterable<ArrayBuffer | ArrayBufferView>): Step;
  /** The optimizer's moments: velocity of sgd, m and v of adamw and adam, ... */
  readonly moments: { name: string; rows: number; cols: number }[];
  getMoment(name: string): Float64Array;
  setMoment(name: string, values: ArrayLike<number>): void;
  /** As if this number of steps were done: the schedule and Adam's corrections count from there. */
  setStep(step: number): void;
  /** To the end; the function is called between slices of some milliseconds, and false stops. */
  run(callback?: ((step: Step) => unknown) | null, options?: Abortable): Promise<Step>;
  /** Makes the training longer, with the bits of one training of that length; returns its steps. */
  extend(more: { steps: number } | { epochs: number }): number;
  save(): Uint8Array;
  save(path: string): void;
  saveAsync(): Promise<Uint8Array>;
  resume(checkpoint: string | ArrayBuffer | ArrayBufferView): void;
  resumeAsync(checkpoint: ArrayBuffer | ArrayBufferView): Promise<void>;
}

/** An object in a worker: its methods and getters are promises, its streams as they are here.
 *  forward() there is forwardAsync() here. */
export type Remote<T> = {
  [K in keyof T as K extends `${string}Async` ? never : K]:
    T[K] extends (...args: infer A) => infer R ? RemoteMethod<Later<T, K>>
      : Promise<RemoteValue<T[K]>>;
} & { dispose(): void };
type Later<T, K extends keyof T> = K extends string
  ? (`${K}Async` extends keyof T ? T[`${K}Async`] : T[K]) : T[K];
type RemoteMethod<M> = M extends (...args: infer A) => infer R
  ? (R extends AsyncGenerator<infer Y, infer V, infer N>
    ? (...args: RemoteArgs<A>) => AsyncGenerator<Y, V, N>
    : (...args: RemoteArgs<A>) => Promise<RemoteValue<Awaited<R>>>)
  : never;
type RemoteValue<T> = T extends Handled ? Remote<T> : T;
/** What takes objects of the package takes those of the worker there. */
type RemoteArgs<A extends unknown[]> = { [I in keyof A]: RemoteArg<A[I]> };
type RemoteArg<T> = T extends Handled ? Remote<T>
  : 'reference' extends keyof T ? Omit<T, 'reference'> & { reference?: unknown } : T;
type Made<F> = F extends (...args: infer A) => infer R
  ? (...args: RemoteArgs<A>) => Promise<RemoteValue<Awaited<R>>> : never;

export interface LoomWorker {
  readonly Transformer: {
    loadModel: Made<typeof Transformer.loadModel>;
    fromNetwork: Made<typeof Transformer.fromNetwork>;
    check: Made<typeof Transformer.check>;
    loadTokenizer: Made<typeof Transformer.loadTokenizer>;
  };
  readonly Network: {
    create(spec: Topology | string, options?: { seed?: number | bigint | null }):
      Promise<Remote<Network>>;
    load: Made<typeof Network.load>;
  };
  readonly Session: { create: Made<typeof Session.create> };
  readonly Data: {
    values: Made<typeof Data.values>;
    classes: Made<typeof Data.classes>;
    ids: Made<typeof Data.ids>;
    tokens: Made<typeof Data.tokens>;
    table: Made<typeof Data.table>;
  };
  readonly Trainer: { create: Made<typeof Trainer.create> };
  readonly Seq2Seq: { create: Made<typeof Seq2Seq.create> };
  readonly StepMesh: { create: Made<typeof StepMesh.create> };
  readonly Tokenizer: {
    parse: Made<typeof Tokenizer.parse>;
    load: Made<typeof Tokenizer.load>;
    train: Made<typeof Tokenizer.train>;
  };
  readonly ModelFile: { open: Made<typeof ModelFile.open> };
  audit(options?: AuditOptions): Promise<Audit>;
  info(): Promise<Info>;
  version(): Promise<string>;
  numericsVersion(): Promise<number>;
  formatInfo(format: string): Promise<FormatInfo>;
  liveHandles(): Promise<number>;
  fakeQuantize: Made<typeof fakeQuantize>;
  convert: typeof convert;
  gpu(): Promise<Gpu>;
  verify(options?: VerifyOptions): Promise<Report>;
  terminate(): void;
}

export type TensorType = 'float32' | 'float64' | 'bool' | 'int8' | 'uint8' | 'int16' | 'uint16'
  | 'int32' | 'uint32' | 'int64' | 'uint64';
export type TensorData = Float32Array | Float64Array | Int8Array | Uint8Array | Int16Array
  | Uint16Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array;
/** As in onnxruntime-web: values with a type and dimensions. */
export class Tensor {
  constructor(type: TensorType, data: TensorData | readonly (number | bigint)[],
      dims?: readonly number[]);
  constructor(data: TensorData, dims?: readonly number[]);
  readonly type: TensorType;
  readonly data: TensorData;
  readonly dims: readonly number[];
  readonly size: number;
}
/** As in onnxruntime-web: an ONNX graph, which runs on the CPU in f32. */
export class InferenceSession {
  static create(source: Source, options?: LoadOptions): Promise<InferenceSession>;
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly info: {
    producer: string; opset: number; nodes: Record<string, number>;
    inputs: { name: string; type: string; dims: number[] }[];
    outputs: { name: string; type: string; dims: number[] }[];
  };
  run(feeds: Record<string, Tensor>, fetches?: readonly string[]): Promise<Record<string, Tensor>>;
  /** The graph as a Network, which trains, morphs and saves; its ports say where inputs and
   *  outputs are in a row. */
  network(options?: GraphNetworkOptions): { network: Network; ports: Record<string, unknown> };
  release(): Promise<void>;
  dispose(): void;
}

export interface FormatInfo {
  /** Its one spelling. */
  format: string;
  dtype: string;
  /** Of a code. */
  bits: number;
  isFloat: boolean;
  isSigned: boolean;
  scaled: boolean;
  computesF64: boolean;
}
/** A model file or folder seen from outside, without its weights; in Node. */
export class ModelFile extends Handled {
  private constructor();
  static open(name: string): Promise<ModelFile>;
  info(options?: FileInfoOptions): Record<string, any>;
  /** SHA-256 of the bytes of a tensor. */
  hash(tensor: string): string;
}

export interface Loom {
  readonly Data: typeof Data;
  readonly Decoder: typeof Decoder;
  readonly ModelFile: typeof ModelFile;
  readonly Online: typeof Online;
  readonly Population: typeof Population;
  readonly Program: typeof Program;
  readonly Seq2Seq: typeof Seq2Seq;
  readonly Session: typeof Session;
  readonly StepMesh: typeof StepMesh;
  convert: typeof convert;
  evaluate: typeof evaluate;
  numericsVersion(): number;
  formatInfo(format: string): FormatInfo;
  liveHandles(): number;
  readonly InferenceSession: typeof InferenceSession;
  readonly Tensor: typeof Tensor;
  readonly Network: typeof Network;
  readonly Tokenizer: typeof Tokenizer;
  readonly Trainer: typeof Trainer;
  readonly Transformer: typeof Transformer;
  createWorker: typeof createWorker;
  audit(options?: AuditOptions): Promise<Audit>;
  info(): Info;
  version(): string;
  fakeQuantize(values: Rows, format: string, options?: { rows?: number }): Float32Array;
  /** The name of fakeQuantize in the project's earlier documents. */
  simulate: typeof fakeQuantize;
  compareDna: typeof compareDna;
  /** The name of compareDna in the project's earlier documents. */
  compareDNA: typeof compareDna;
  defaultTweenConfig: typeof defaultTweenConfig;
  gpu(): Promise<Gpu>;
  verify(options?: VerifyOptions): Promise<Report>;
  LoadTransformer(source: 'embedded' | Source, options?: ModelLoadOptions): Promise<void>;
  Generate(prompt: Prompt, maxTokens?: number,
      options?: Omit<GenerateOptions, 'signal' | 'maxTokens'>): string;
}

export function initLoom(options?: InitOptions): Promise<Loom>;
export function createWorker(options?: InitOptions): Promise<LoomWorker>;
export function audit(options?: AuditOptions): Promise<Audit>;
export function info(): Info;
/** The functions of the library as data, and its layers and formats. */
export function methods(): Methods;
export function version(): string;
/** Version of the numerics contract: equal versions give equal bits. */
export function numericsVersion(): number;
export function formatInfo(format: string): FormatInfo;
/** How many handles exist: what a test of leaks looks at. */
export function liveHandles(): number;
/** Transformer.evaluate, with Python's order of arguments. */
export function evaluate(model: Transformer, text: string | Numbers,
    reference?: Transformer | null, options?: Omit<EvaluateOptions, 'reference'>):
  Promise<Evaluation>;
/** Writes the model of a folder or file as .safetensors, .entity, .gguf or .onnx, by the end of the
 *  name `out`, or, where that is "/", as a HuggingFace folder; in Node. */
export function convert(source: string, out: string, options?: ConvertOptions):
  Promise<ConvertReport>;
/** What weights are once they are held in a format, so many rows of a matrix. */
export function fakeQuantize(values: Rows, format: string,
    options?: { rows?: number }): Float32Array;
/** The name of fakeQuantize in the project's earlier documents. */
export const simulate: typeof fakeQuantize;
/** How two networks relate, layer by layer. */
export function compareDna(a: Network, b: Network): DnaComparison;
/** The name of compareDna in the project's earlier documents. */
export const compareDNA: typeof compareDna;
/** What the earlier engine learned by local targets with, as part of a spec. */
export function defaultTweenConfig(): Pick<TrainingSpec, 'method' | 'batch' | 'optimizer' |
  'schedule'>;
export function gpu(): Promise<Gpu>;
export function verify(options?: VerifyOptions): Promise<Report>;
