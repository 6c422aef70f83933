// Files of weights that become networks: docs/reference/weights.md.
import type { Topology } from './topology.js';

export interface WeightSettings {
  input?: Record<string, unknown>;
  sequential?: boolean;
  layers?: (string | Record<string, unknown>)[];
  cells?: Record<string, Record<string, unknown>>;
  types?: Record<string, Record<string, unknown>>;
  activation?: string | Record<string, string>;
  heads?: number | Record<string, number>;
  defaults?: 'pytorch';
  layout?: 'out_in' | 'in_out';
  strip?: string[];
  leave?: string[];
  topology?: Topology;
  map?: Record<string, string>;
}
export interface WeightsQuestion {
  key: string;
  text: string;
  choices: string[];
}
export interface WeightsModule {
  path: string;
  cell?: string;
  tensors: { name: string; dtype: string; shape: number[] }[];
  type: string | null;
  certain?: string[];
  assumed?: string[];
  questions?: WeightsQuestion[];
  refused?: string;
}
export interface WeightsReport {
  strip: string[];
  left: string[];
  modules: WeightsModule[];
  questions: WeightsQuestion[];
  open: number;
  order?: string[];
  topology: Topology | null;
}
