// Of networks that run by ticks.
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
