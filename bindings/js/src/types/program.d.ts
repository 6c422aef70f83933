// Of saved programs.
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
