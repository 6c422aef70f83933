// Types of the package. What each function does stands in README.md and, in full, in
// docs/reference/c-api.md.

export type LoomCode = 'invalid_argument' | 'not_found' | 'unsupported' | 'corrupt' | 'truncated'
  | 'io' | 'out_of_memory' | 'out_of_range' | 'cancelled' | 'internal' | 'invalid_handle' | 'busy';
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

/** Bytes, or where they are. In Node a plain string is a path; in a browser it is a URL. */
export type Source = string | URL | ArrayBuffer | ArrayBufferView | Blob | Response
  | ReadableStream<Uint8Array>;
export type Numbers = ArrayLike<number> & Iterable<number>;
export type Rows = Numbers | Numbers[];

// Options: docs/reference/options.md. A device and a mode give always the same bits; methods that
// return at once cannot wait for a GPU and refuse "gpu".
import type { Device, ForecastOptions, GeneratorOptions, Mode, ModelOptions, Sampling,
  SamplingOptions, SearchOptions, Seq2SeqOptions, SessionOptions, TokenizerOptions,
  VerifyOptions } from './types/options.js';
export type * from './types/options.js';

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
  signal?: AbortSignal;
}
export interface Generated {
  text: string;
  tokens: Int32Array;
  /** SHA-256 over ids and logits: equal on every device. */
  fingerprint: string;
  finish: 'length' | 'eos' | 'stop' | 'cancelled';
}
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
  static fromNetwork(network: Network, tokenizer: Tokenizer | null,
      options: ModelOptions): Transformer;
  generate(prompt: Prompt, options?: GenerateOptions): AsyncGenerator<string, Generated, void>;
  generateText(prompt: Prompt, options?: GenerateOptions): Promise<Generated>;
  generateSync(prompt: Prompt, options?: Omit<GenerateOptions, 'signal'>): Generated;
  chat(messages: Message[],
      options?: GenerateOptions & { variables?: Record<string, unknown> }):
    AsyncGenerator<string, Generated, void>;
  tokenize(text: string, options?: { addSpecialTokens?: boolean; plain?: boolean }): Int32Array;
  detokenize(ids: Numbers, options?: { skipSpecialTokens?: boolean }): string;
  logits(prompt: Prompt, options?: { device?: Device; mode?: Mode }): Float32Array;
  logitsAsync(prompt: Prompt, options?: { device?: Device; mode?: Mode }): Promise<Float32Array>;
  fingerprint(prompt: Prompt, options?: { device?: Device; mode?: Mode }): string;
  fingerprintAsync(prompt: Prompt, options?: { device?: Device; mode?: Mode }): Promise<string>;
  save(): Uint8Array;
  save(path: string): void;
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
  static load(pathOrUrl: string): Promise<Tokenizer>;
  static train(texts: string[], options?: TokenizerOptions): Tokenizer;
  readonly info: TokenizerInfo;
  encode(text: string, options?: { addSpecialTokens?: boolean; plain?: boolean }): Int32Array;
  decode(ids: Numbers, options?: { skipSpecialTokens?: boolean }): string;
  token(id: number): string;
  id(token: string): number;
  chat(messages: Message[],
      options?: { addGenerationPrompt?: boolean; variables?: Record<string, unknown> }): Int32Array;
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

export class Network extends Handled {
  constructor(spec: Topology | string, options?: { seed?: number | bigint | null });
  static load(source: Source, options?: LoadOptions): Promise<Network>;
  readonly info: NetworkInfo;
  readonly topology: Topology;
  readonly parameters: Parameter[];
  readonly digest: string;
  initialize(seed: number | bigint): void;
  copy(): Network;
  cell(at: string): object;
  setCell(at: string, json: object): void;
  setLinks(at: string, links: { read?: number[]; send?: number[]; run?: number[] }[]): void;
  enable(at: string, enabled?: boolean): void;
  morph(format: string, cell?: string): void;
  pack(format: string): void;
  get(path: string, role: string): Float32Array;
  set(path: string, role: string, values: Rows): void;
  program(options?: SessionOptions): string;
  /** x: rows; where the input has parts also the rows of each by its name: sequences of unequal
   *  length are padded, where a part "lengths" or "<name>_lengths", which is then filled in, is
   *  not given. Gives the rows of the output; where the network has several, those of each by
   *  its name, in an array where a list of them was given to it. */
  forward<Y extends Outputs = Float32Array>(
    x: Rows | Record<string, Rows>,
    options?: { head?: number[]; device?: Device; mode?: Mode }): Y;
  forwardAsync<Y extends Outputs = Float32Array>(
    x: Rows | Record<string, Rows>,
    options?: { head?: number[]; device?: Device; mode?: Mode }): Promise<Y>;
  /** The next steps of a time series that `loom train` learned, after the values of training or
   *  of `history`. */
  forecast(options?: ForecastOptions & { history?: ArrayLike<number> }): Forecast[];
  train(data: TrainingData, spec: TrainingSpec,
      options?: { signal?: AbortSignal; every?: number; device?: Device; mode?: Mode }):
    AsyncGenerator<Step, void, void>;
  save(): Uint8Array;
  save(path: string): void;
}

/** Sources of an encoder-decoder: rows of each input but the target by its name, or of a single
 *  one. */
export type Sources = Rows | Record<string, Rows>;
/** A sequence that a search found: `ids` behind `start`, the one that ends it included; `score`,
 *  the logarithm of their probability. */
export interface Found {
  ids: number[];
  score: number;
  finished: boolean;
}
export interface Seq2SeqInfo {
  sources: { name: string; width?: number; ids?: number; dims?: number[] }[];
  sourceWidth: number;
  target: { name: string; width?: number; ids?: number };
  answerWidth: number;
  lanes: number;
  /** 0: nothing is encoded. */
  rows: number;
  position: number;
  maxPositions: number;
  device: string;
  numerics: string;
  threads: number;
  stateBytes: number;
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
  encodeAsync(x: Sources): Promise<void>;
  /** The next step of all rows: an id of each, or its features. Gives a row of answers for each. */
  step(target: Rows): Float64Array;
  stepAsync(target: Rows): Promise<Float64Array>;
  /** Row i continues from where row from[i] was; there are from.length rows then. */
  reorder(from: ArrayLike<number>): void;
  reorderAsync(from: ArrayLike<number>): Promise<void>;
  /** For each row of the sources the sequences found, the best first; rows x beams need as many
   *  lanes. */
  search(x: Sources, options: SearchOptions): Found[][];
  searchAsync(x: Sources, options: SearchOptions): Promise<Found[][]>;
}

export class Trainer extends Handled {
  constructor(network: Network, data: TrainingData, spec: TrainingSpec);
  /** On a device; then the methods named ...Async are those to use. */
  static create(network: Network, data: TrainingData, spec: TrainingSpec,
      options?: { device?: Device; mode?: Mode }): Promise<Trainer>;
  readonly info: { step: number; steps: number; spec: object };
  readonly digest: string;
  digestAsync(): Promise<string>;
  step(steps?: number): Step;
  stepAsync(steps?: number): Promise<Step>;
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
    T[K] extends (...args: infer A) => infer R
      ? (R extends AsyncGenerator<infer Y, infer V, infer N>
        ? (...args: A) => AsyncGenerator<Y, V, N>
        : (...args: A) => Promise<RemoteValue<Awaited<R>>>)
      : Promise<RemoteValue<T[K]>>;
} & { dispose(): void };
type RemoteValue<T> = T extends Transformer | Network | Tokenizer ? Remote<T> : T;

export interface LoomWorker {
  readonly Transformer: {
    loadModel(source: 'embedded' | Source, options?: ModelLoadOptions):
      Promise<Remote<Transformer>>;
  };
  readonly Network: {
    create(spec: Topology | string, options?: { seed?: number | bigint | null }):
      Promise<Remote<Network>>;
    load(source: Source, options?: LoadOptions): Promise<Remote<Network>>;
  };
  readonly Tokenizer: {
    parse(json: string, config?: string): Promise<Remote<Tokenizer>>;
    load(pathOrUrl: string): Promise<Remote<Tokenizer>>;
    train: (...args: Parameters<typeof Tokenizer.train>) => Promise<Remote<Tokenizer>>;
  };
  info(): Promise<Info>;
  version(): Promise<string>;
  gpu(): Promise<Gpu>;
  verify(options?: Pick<VerifyOptions, 'device'>): Promise<Report>;
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
  static create(source: Source): Promise<InferenceSession>;
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
  network(): { network: Network; ports: Record<string, unknown> };
  release(): Promise<void>;
  dispose(): void;
}

export interface Loom {
  readonly InferenceSession: typeof InferenceSession;
  readonly Tensor: typeof Tensor;
  readonly Network: typeof Network;
  readonly Tokenizer: typeof Tokenizer;
  readonly Trainer: typeof Trainer;
  readonly Transformer: typeof Transformer;
  createWorker: typeof createWorker;
  info(): Info;
  version(): string;
  fakeQuantize(values: Numbers, format: string, options?: { rows?: number }): Float32Array;
  /** The name of fakeQuantize in the project's earlier documents. */
  simulate: typeof fakeQuantize;
  gpu(): Promise<Gpu>;
  verify(options?: Pick<VerifyOptions, 'device'>): Promise<Report>;
  LoadTransformer(source: 'embedded' | Source, options?: ModelLoadOptions): Promise<void>;
  Generate(prompt: Prompt, maxTokens?: number,
      options?: Omit<GenerateOptions, 'signal' | 'maxTokens'>): string;
}

export function initLoom(options?: InitOptions): Promise<Loom>;
export function createWorker(options?: InitOptions): Promise<LoomWorker>;
export function info(): Info;
export function version(): string;
/** What weights are once they are held in a format, so many rows of a matrix. */
export function fakeQuantize(values: Numbers, format: string,
    options?: { rows?: number }): Float32Array;
/** The name of fakeQuantize in the project's earlier documents. */
export const simulate: typeof fakeQuantize;
export function gpu(): Promise<Gpu>;
export function verify(options?: Pick<VerifyOptions, 'device'>): Promise<Report>;
