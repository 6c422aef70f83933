// Of encoder-decoders.
import type { Rows } from '../index.js';

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
  /** What computes: an instruction set, or a GPU. */
  device: string;
  numerics: string;
  threads: number;
  stateBytes: number;
}
