// Of networks that run by ticks.
import type { Abortable, Budget, Cell, Network, Rows } from '../index.js';
import type { ObserveTicksOptions, StepMeshOptions } from './options.js';
import type { Observed } from './reports.js';

export interface StepMeshInfo {
  streams: number;
  /** Ticks since the values were 0. */
  tick: number;
  cells: number;
  /** Of a tick: values, or ids. */
  inputWidth: number;
  inputDtype: 'f32' | 'f64' | 'ids';
  outputWidth: number;
  outputDtype: 'f32' | 'f64';
  /** What computes: an instruction set, or a GPU. */
  target: string;
  /** A GPU's name; null: the CPU. */
  device: string | null;
  /** Why `auto` took the CPU. */
  note: string;
  numerics: string;
  threads: number;
}
export interface TicksOptions {
  /** As many ticks, at each of which x arrives: for each stream one tick's values. */
  ticks?: number;
  /** The output after the last tick alone. */
  last?: boolean;
}
/** Runs a network by ticks (docs/reference/step-mesh.md): in each, every cell computes from the
 *  values of the tick before, which stay here between the runs. */
export class StepMesh {
  /** Gives the object back at once; else the garbage collector does, some time. */
  dispose(): void;
  constructor(network: Network, options?: Omit<StepMeshOptions, 'device' | 'mode'>);
  /** On a device; then the methods named ...Async are those to use. */
  static create(network: Network, options?: StepMeshOptions): Promise<StepMesh>;
  readonly info: StepMeshInfo;
  readonly tick: number;
  /** x: for each stream its ticks, one behind the other. The output after every tick in the same
   *  order: a Float64Array of a network that takes f64. */
  run(x: Rows | Rows[], options?: TicksOptions): Float32Array | Float64Array;
  /** null after about `budgetUs` microseconds where it is not done: the same call again continues,
   *  with the same bits. Meanwhile `tick` and value show the last tick that is done. */
  run(x: Rows | Rows[], options: TicksOptions & Budget): Float32Array | Float64Array | null;
  /** With a signal some ticks at a time; those that are done stay done. */
  runAsync(x: Rows | Rows[], options?: TicksOptions & Abortable):
    Promise<Float32Array | Float64Array>;
  /** One tick of all streams. */
  step(x: Rows): Float32Array | Float64Array;
  step(x: Rows, options: Budget): Float32Array | Float64Array | null;
  stepAsync(x: Rows): Promise<Float32Array | Float64Array>;
  /** The name of step in the project's earlier documents. */
  SystolicForward: StepMesh['step'];
  /** From the next tick on; statistics() takes the events. */
  observe(options?: ObserveTicksOptions): void;
  statistics(): Observed;
  /** The values of a cell after the last tick. */
  value(cell: Cell, stream?: number): Float64Array;
  valueAsync(cell: Cell, stream?: number): Promise<Float64Array>;
  /** All values are 0 again. */
  reset(): void;
  resetAsync(): Promise<void>;
  /** The program of a number of ticks (1), which Program runs. */
  saveProgram(ticks?: number): Uint8Array;
  /** The values of all cells, and the tick. */
  snapshot(): Uint8Array;
  snapshotAsync(): Promise<Uint8Array>;
  /** Continues from a snapshot, with the same bits. */
  restore(snapshot: ArrayBuffer | ArrayBufferView): void;
  restoreAsync(snapshot: ArrayBuffer | ArrayBufferView): Promise<void>;
}
