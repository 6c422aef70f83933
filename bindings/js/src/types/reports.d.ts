// What the library reports: of a machine, of the cells of a run, of the DNA of networks.

/** docs/reference/audit.md. A value that nothing here tells is null, with the reason in `unknown`
 *  by the path of its key. */
export interface Audit {
  os: { name: string; version: string | null; kernel: string | null; architecture: string };
  cpu: {
    model: string | null;
    vendor: string | null;
    logical_cores: number | null;
    physical_cores: number | null;
    affinity_cores: number | null;
    quota_cores: number | null;
    usable_cores: number | null;
    features: string[];
    isas: string[];
    fast_isas: string[];
    isa: string;
  };
  caches: AuditCache[] | null;
  memory: {
    total: number | null;
    available: number | null;
    limit: number | null;
    page_size: number | null;
    resident: number | null;
  };
  gpus: AuditGpu[] | null;
  measured: AuditSpeeds | null;
  loom: {
    version: string;
    abi_version: number;
    numerics_version: number;
    threads: number;
    dtypes: number;
    embedded_model: boolean;
  };
  unknown: Record<string, string>;
}
export interface AuditCache {
  level: number;
  type: 'data' | 'instruction' | 'unified' | null;
  bytes: number | null;
  line: number | null;
  shared_by: number | null;
  count: number;
}
export interface AuditGpu {
  name: string;
  vendor: string;
  driver: string;
  backend: string;
  library: string;
  software: boolean;
  numerics: string;
  limits: Record<string, number | boolean>;
}
export interface AuditSpeeds {
  threads: number;
  read_bytes: number;
  read_bytes_per_second: number;
  f32_flops: number;
  i8_ops: number;
}

/** What methods() tells. Types are the kinds of parameters of docs/reference/c-api.md. */
export interface Methods {
  functions: {
    method_name: string;
    parameters: { name: string; type: string }[];
    returns: { name: string; type: string }[];
  }[];
  layers: string[];
  formats: string[];
}

/** A layer of a blueprint. Shapes are those of a row: docs/guide/telemetry.md. */
export interface BlueprintLayer {
  path: string;
  type: string;
  name: string;
  enabled: boolean;
  activation: string | null;
  dtype: string;
  /** With those of the branches. */
  parameters: number;
  input_shape: number[];
  /** Where ids arrive: how many there are. */
  input_ids?: number;
  output_shape: number[];
  combine_mode: string | null;
  links: Record<'read' | 'send' | 'run', number[]>[];
  branches: BlueprintLayer[];
}
/** A network for displays. */
export interface Blueprint {
  models: {
    id: string;
    total_layers: number;
    total_parameters: number;
    layers: (BlueprintLayer & { z: number; y: number; x: number; l: number })[];
  }[];
}

/** Of a cell of an observed run or step: docs/guide/observe.md. */
export interface CellStatistics {
  /** What a cell gives; of a trainer also the gradient of that, and those of parameters. */
  direction: 'forward' | 'backward' | 'weights';
  /** From 0; of a window its last. */
  pass: number;
  /** Of a trainer: from 1. */
  step?: number;
  /** Of a parameter. */
  role?: string;
  passes: number;
  path: string;
  at: number[];
  type: string;
  enabled: boolean;
  /** Of the finite values; null where there are none. */
  mean: number | null;
  std: number | null;
  min: number | null;
  max: number | null;
  activeShare: number;
  nanCount: number;
  infCount: number;
  count: number;
  /** [row, column] of the first value that is not finite. */
  firstBad: number[] | null;
}
/** Runs a network; holds its memory and its KV caches. Where the network changes, the session
 *  follows. */
export interface Observed {
  passes: number;
  observed: number;
  dropped: number;
  events: CellStatistics[];
  /** Where observe() got `total`: all observed passes together. */
  total?: (CellStatistics & { firstBadPass: number | null })[];
}

/** What a rule did after a run of a session: docs/guide/metacognition.md. */
export interface Act {
  pass: number;
  /** Of the metacognition. */
  path: string;
  /** Number of the rule, from 0. */
  rule: number;
  statistic: string;
  value: number;
  act: string;
  before: Record<string, unknown>;
  after: Record<string, unknown>;
}

/** docs/reference/dna.md */
export interface DnaLayer {
  path: string;
  at: [number, number, number, number];
  type: string;
  format: string;
  rows: number;
  cols: number;
  values: number;
  sha256: string;
  norm: number;
  sketch: number[];
}
export interface Dna {
  grid: [number, number, number, number];
  layers: DnaLayer[];
}
export interface DnaPair {
  from: string;
  to: string;
  /** null where shapes differ, or nothing encodes the coarser format. */
  cosine: number | null;
  encoded: number | null;
  matched: number;
  chance: number;
  score: number;
  coverage: number;
  movedUnits: number;
  small: boolean;
}
/** Keys of docs/reference/evolution.md. */
export interface SpliceOptions {
  method?: 'blend' | 'point' | 'uniform' | 'layer_wise';
  match?: 'place' | 'dna';
  per?: 'unit' | 'weight';
  alpha?: number;
  fitnessA?: number;
  fitnessB?: number;
  minScore?: number;
  align?: boolean;
  seed?: number;
}
export interface SpliceReport {
  alpha: number;
  crossed: number;
  notAligned?: string;
  layers: { a: string; b: string | null; action: string; reason?: string;
    similarity: number | null; share: number; movedUnits: number }[];
}
export interface MutationReport {
  done: { kind: string; at: string; what?: string; redraws: number; stitched: boolean }[];
  failed: string[];
  fellBack: boolean;
}
export interface DnaComparison {
  overlap: number;
  similarity: number;
  layers: DnaPair[];
  shifts: DnaPair[];
  onlyA: string[];
  onlyB: string[];
}

export interface ExportReport {
  format: string;
  opset?: number;
  /** Each `name: type[dimensions]`. */
  inputs?: string[];
  outputs?: string[];
  nodes?: number;
  /** Parameters by the dtype that they have in the file. */
  dtypes?: Record<string, number>;
}

export interface ConvertReport {
  tensors: { name: string; shape: number[]; from: string; to: string; bytesBefore: number;
    bytesAfter: number; rmsError: number; maxError: number }[];
  /** What was left out. */
  notes: string[];
}
