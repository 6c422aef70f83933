// Neuroevolution.
import type { Network, Rows } from '../index.js';

/** Keys of docs/reference/evolution.md, which may be in camel case. */
export interface PopulationSpec {
  task?: 'xor' | 'cart_pole' | 'double_pole' | 'table' | 'host';
  inputs?: number;
  outputs?: number;
  /** Of the task `table`: rows of inputs and of outputs. */
  data?: { x: number[][]; y: number[][] };
  score?: 'mse' | 'sse' | 'accuracy';
  goal?: number;
  population?: number;
  seed?: number;
  recurrent?: boolean;
  /** `networks`: whole networks evolve, from a Network or a topology. */
  level?: 'genomes' | 'networks';
  network?: Network | object;
  [key: string]: unknown;
}
export interface PopulationInfo {
  generation: number;
  evaluated: boolean;
  evaluations: number;
  /** Of this generation; null before it is evaluated. */
  best: number | null;
  mean: number | null;
  worst: number | null;
  /** Whether the goal is reached. */
  reached: boolean;
  champion: { fitness: number; nodes?: number; edges?: number; sha256: string;
    feasible?: boolean; bytes?: number; milliseconds?: number | null; layers?: number;
    parameters?: number } | null;
  /** Of networks: how many keep to the limits. */
  feasible?: number | null;
  species: { id: number; size: number }[];
  spec: Record<string, any>;
  threads: number;
}
export interface GenomeData {
  inputs: number;
  outputs: number;
  recurrent: boolean;
  fitness: number | null;
  sha256: string;
  nodes: { id: number; kind: 'input' | 'output' | 'hidden'; activation?: string;
    bias?: number }[];
  edges: { innovation: number; from: number; to: number; weight: number; enabled: boolean }[];
}
/** A genome of a generation. It computes until the population changes. */
export interface Genome {
  readonly index: number;
  readonly data: GenomeData;
  /** A copy of a network; of a genome the network that answers as it does. */
  readonly network: Network;
  activate(x: Rows): Float32Array;
  reset(): void;
}
/** Genomes that evolve by NEAT (docs/reference/evolution.md). */
export class Population {
  /** Gives the object back at once; else the garbage collector does, some time. */
  dispose(): void;
  constructor(spec: string | PopulationSpec);
  /** Continues from what save() made, with the same bits. */
  static load(source: ArrayBuffer | ArrayBufferView): Population;
  save(): Uint8Array;
  readonly inputs: number;
  readonly outputs: number;
  readonly size: number;
  readonly info: PopulationInfo;
  readonly generation: number;
  readonly champion: Genome;
  at(index: number): Genome;
  genome(index?: number): GenomeData;
  /** A copy of a network, by default of the champion. Of a genome: the network that answers as it
   *  does, one cell of the layer `genome`. */
  network(index?: number): Network;
  /** Gives a member the weights of a network of its topology. */
  setNetwork(index: number, network: Network): void;
  /** Outputs of a genome, by default of the champion, for a row or for rows, in one list. */
  activate(x: Rows, index?: number): Float32Array;
  reset(): void;
  /** Fitness by the task, or by a function of each genome. */
  evaluate(fitness?: (genome: Genome) => number): void;
  setFitness(fitness: ArrayLike<number>): void;
  step(): void;
  /** Up to as many generations (300), until the goal is reached. */
  run(generations?: number, options?: { fitness?: (genome: Genome) => number }): PopulationInfo;
  runAsync(generations?: number, options?: { signal?: AbortSignal;
    fitness?: (genome: Genome) => number;
    progress?: (info: PopulationInfo) => void }): Promise<PopulationInfo>;
}
