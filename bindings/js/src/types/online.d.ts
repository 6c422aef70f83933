// Learning beside answers: docs/reference/online.md.
import type { Data, Network, Rows, TrainingData } from '../index.js';
import type { OnlineOptions } from './options.js';
import type { TrainingSpec } from './training_spec.js';

export interface OnlineInfo {
  task: string;
  tasks: number;
  outputs: number;
  judged: number;
  correct: number;
  accuracy: number | null;
  steps: number;
  inStep: boolean;
  loss: number | null;
  lr: number | null;
  publications: number;
  publishedStep: number;
  recent: number;
  older: number;
  inputWidth: number;
  inputDtype: 'f32' | 'ids';
  outputWidth: number;
  classes?: number;
  places?: number;
  target: string;
  device: string;
  note?: string;
  numerics: string;
  threads: number;
}
export interface OnlinePlace {
  outputs: number;
  seconds: number;
}
export interface OnlineLatency {
  p50: number;
  p99: number;
  p99_9: number;
  p100: number;
}
export interface OnlineReport {
  outputs: number;
  judged: number;
  correct: number;
  accuracy: number | null;
  seconds: number;
  outputsPerSecond: number | null;
  latency: {
    answers: number; wallMs: OnlineLatency; cpuMs: OnlineLatency | null;
    deadlineMs: number | null; late: number | null; preempted: number | null;
    inTime: number | null;
  };
  tasks: {
    task: string; source: 'start' | 'caller' | 'detector'; output: number; seconds: number;
    judged: number; accuracy: number | null; accuracyBefore: number | null;
    accuracyAfter: number | null; recovered: OnlinePlace | null;
    milestones: Record<string, OnlinePlace | null>;
  }[];
  windows: {
    output: number; outputs: number; judged: number; correct: number; accuracy: number | null;
    seconds: number; duration: number; outputsPerSecond: number | null; task: string;
  }[];
  droppedWindows: number;
  measurements: {
    task: string; accuracy: number; samples: number; output: number; seconds: number;
  }[];
  forgetting: { task: string; best: number; last: number; forgetting: number }[];
  steps: number;
  publications: number;
  publishedStep: number;
}
/** Learns a copy of a network while it answers (docs/guide/online.md). */
export class Online {
  /** Gives the object back at once; else the garbage collector does, some time. */
  dispose(): void;
  constructor(network: Network, spec?: Partial<TrainingSpec>,
    options?: Omit<OnlineOptions, 'device' | 'mode'>);
  readonly info: OnlineInfo;
  readonly report: OnlineReport;
  /** Number of the first answer of the last call of answer(). */
  readonly last: number;
  /** The output for a row or for rows, in one list, by the published weights. */
  answer(x: Rows): Float32Array;
  /** What would have been right for the last answers, or for those from number `answer` on. */
  feedback(y: number | Rows, answer?: number): void;
  /** Samples to learn from that were not answered. */
  add(data: TrainingData | Data): void;
  /** Says that the task is another one from now on. */
  changeTask(name: string): void;
  /** Learns for as many milliseconds or steps; returns the steps that it has completed. */
  learn(options: { ms?: number; steps?: number }): number;
  publish(): void;
  /** The share of held samples that the published weights answer correctly. */
  measure(data: TrainingData | Data, task?: string): number;
  /** The network has the published weights from now on. */
  commit(): void;
}
