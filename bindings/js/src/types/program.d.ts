// Of saved programs.
import type { Abortable, Network, Rows } from '../index.js';
import type { ProgramOptions } from './options.js';

export interface ProgramRegister {
  name: string;
  /** A count of rows, a number, or a count that the run finds. */
  type: 'u32' | 'f32' | 'measured';
  max?: number;
  /** null: not set. */
  value: number | null;
}
export interface ProgramBuffer {
  name: string;
  kind: 'input' | 'output' | 'state' | 'weight';
  /** Of a weight its format. */
  type: string;
  /** For the registers as they are set. */
  rows: number;
  maxRows: number;
  cols: number;
  /** Values of a row, as the register of an input counts rows; of other buffers all values. */
  ofRow: number;
}
export interface ProgramInfo {
  sha256: string;
  instructions: number;
  registers: ProgramRegister[];
  buffers: ProgramBuffer[];
  /** What computes: an instruction set, or a GPU. */
  target: string;
  device: string | null;
  note: string;
  numerics: string;
  threads: number;
}
/** A saved program with the weights of a network: docs/reference/program.md. */
export class Program {
  /** Gives the object back at once; else the garbage collector does, some time. */
  dispose(): void;
  constructor(network: Network, bytes: ArrayBuffer | ArrayBufferView,
    options?: Omit<ProgramOptions, 'device' | 'mode'>);
  /** On a device; then the methods named ...Async are those to use. */
  static create(network: Network, bytes: ArrayBuffer | ArrayBufferView, options?: ProgramOptions):
    Promise<Program>;
  readonly info: ProgramInfo;
  /** A line per register, buffer and instruction. */
  readonly text: string;
  /** Registers by their names: set({ R: 3 }). */
  set(registers: Record<string, number>): void;
  /** All values of an input or state, row by row. An input whose rows one register counts sets that
   *  register. */
  write(name: string, values: Rows): void;
  writeAsync(name: string, values: Rows): Promise<void>;
  /** All values of an output or state. */
  read(name: string): Float32Array | Float64Array;
  readAsync(name: string): Promise<Float32Array | Float64Array>;
  /** Writes inputs by name, which stay until they are written again, runs, and returns the outputs
   *  by name. */
  run(inputs?: Record<string, Rows>): Record<string, Float32Array | Float64Array>;
  runAsync(inputs?: Record<string, Rows>, options?: Abortable):
    Promise<Record<string, Float32Array | Float64Array>>;
  /** All states are 0 again. */
  reset(): void;
}
