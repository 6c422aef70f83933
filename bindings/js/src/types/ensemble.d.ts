// Groups of rows, and networks that answer together: a part of index.d.ts.
import type { Network, Numbers, Rows } from '../index.js';
import type { CutOptions, KMeansOptions, MatchOptions } from './options.js';

/** Where x is one list of numbers: how many are a row. */
export interface Width {
  width?: number;
}
export type Distance = 'euclidean' | 'cosine' | 'precomputed';
export interface Merge {
  first: number;
  second: number;
  distance: number;
  rows: number;
}
/** Groups of rows of numbers (docs/guide/ensembles.md). */
export const cluster: {
  kMeans(x: Rows, options?: KMeansOptions & Width & { clusters?: number; start?: Rows }): {
    labels: Int32Array; centers: Float64Array; inertia: number; iterations: number };
  /** How well each row fits its group, -1 to 1. */
  silhouettes(x: Rows, labels: Numbers, options?: Width & { distance?: Distance }): Float64Array;
  hierarchy(x: Rows, options?: Width & { distance?: Distance;
    linkage?: 'single' | 'complete' | 'average' | 'ward' }): Merge[];
  /** The group of each row after some of the merges. */
  cut(merges: Merge[], options: CutOptions): Int32Array;
};

/** Two members; shares of samples that one of them or both have right, and that both have. */
export interface Match {
  first: number;
  second: number;
  coverage: number;
  overlap: number;
  cosine: number;
}
/** Pairs of members that complete each other. correct: of each member, whether each answer was
 *  right. */
export function matches(correct: (boolean[] | Numbers)[], options?: MatchOptions): Match[];
export interface EnsembleOptions {
  vote?: 'mean' | 'majority';
  weights?: Numbers;
  /** false where the members' outputs are probabilities already. */
  softmax?: boolean;
}
/** Networks of the same inputs and classes that answer together. */
export class Ensemble {
  constructor(networks: Network[], options?: EnsembleOptions);
  readonly networks: Network[];
  readonly weights: Float64Array;
  readonly width: number;
  readonly vote: string;
  readonly softmax: boolean;
  /** What the members say: of each its rows of scores. */
  scores(x: Rows | Record<string, Rows>): Float32Array[];
  /** The vote: rows of one number for each class. */
  forward(x: Rows | Record<string, Rows>): Float32Array;
  predict(x: Rows | Record<string, Rows>): Int32Array;
  accuracy(x: Rows | Record<string, Rows>, classes: Numbers): number;
  matches(x: Rows | Record<string, Rows>, classes: Numbers, options?: MatchOptions): Match[];
  /** One network that answers as this ensemble does, up to rounding. */
  merge(): Network;
  /** Those members whose mean of scores has most of these classes right. */
  static select(networks: Network[], x: Rows | Record<string, Rows>, classes: Numbers,
    options?: { steps?: number; softmax?: boolean }):
    { ensemble: Ensemble; weights: number[]; accuracy: number; bestMember: number };
}

export interface Deviation {
  samples: number;
  /** Percent, of the samples whose deviation is finite. */
  mean: number;
  /** The mean of max(0, 100 - deviation). */
  score: number;
  /** The share of samples without any. */
  equal: number;
  notFinite: number;
  /** null: not finite. */
  worst: { sample: number; deviation: number | null }[];
  buckets: { percent: string; count: number; samples: number[] }[];
}
/** How far answers are from what was expected. */
export function deviation(actual: Rows, expected: Rows,
  options?: Width & { keep?: number }): Deviation;
/** Correlations of the columns of rows: columns x columns; NaN where a column is constant. */
export function correlation(x: Rows, options?: Width & { kind?: 'pearson' | 'spearman' }):
  Float64Array;
