// Loom in JavaScript: Node and browsers. See README.md.
import { ModelFile, convert } from './files.js';
import { Network } from './network.js';
import { errorNamed, known } from './runtime/errors.js';
import { gpu } from './runtime/gpu.js';
import { InferenceSession, Tensor } from './onnx.js';
import { bringEmbedded, camel, library, snake, start } from './runtime/runtime.js';
import { FUNCTIONS } from './runtime/raw.js';
import { isList, rowsOf } from './rows.js';
import { Seq2Seq } from './seq2seq.js';
import { Online } from './online.js';
import { Population } from './population.js';
import { Program } from './program.js';
import { StepMesh } from './step_mesh.js';
import { Session } from './session.js';
import { Decoder, Tokenizer } from './tokenizer.js';
import * as cluster from './cluster.js';
import { Ensemble, matches } from './ensemble.js';
import { correlation, deviation } from './measure.js';
import { Data, Trainer } from './training.js';
import { Transformer } from './transformer.js';
import { createWorker } from './workers/worker.js';

export { BusyError, CancelledError, CorruptError, InternalError, InvalidArgumentError,
  InvalidHandleError, IoError, LoomError, NotFoundError, OutOfMemoryError, OutOfRangeError,
  PausedError, TruncatedError, UnsupportedError } from './runtime/errors.js';
export { Data, Decoder, Ensemble, InferenceSession, ModelFile, Network, Online, Population, Program,
  Seq2Seq, Session, StepMesh, Tensor, Tokenizer, Trainer, Transformer, cluster, convert,
  correlation, createWorker, deviation, gpu, matches };

/** Loads the module: once, or again after it has stopped. module: where it is, if not beside the
 *  package. */
export async function initLoom(options) {
  await start(options);
  return loom;
}

/** What this build can do. */
export function info() {
  return library().call('info').info;
}
/** What this machine offers to Loom (docs/reference/audit.md): what the module knows, and what its
 *  host tells of cores and memory. device: 'auto' looks for a GPU, 'cpu' does not, 'gpu' is an
 *  error where there is none. */
export async function audit(options = {}) {
  const { device = 'auto', measure = false } = known('audit', options, ['device', 'measure']);
  const lib = await start();
  const { report } = await lib.ask('audit', { options: { device, measure } }, device);
  return withHost(report);
}
function withHost(report) {
  const { hardwareConcurrency: cores, deviceMemory: gigabytes } = globalThis.navigator ?? {};
  const tell = (section, key, value) => {
    report[section][key] = value;
    delete report.unknown[`${section}.${key}`];
  };
  if (cores > 0) for (const key of ['logical_cores', 'usable_cores']) tell('cpu', key, cores);
  if (gigabytes > 0) tell('memory', 'total', gigabytes * 2 ** 30);
  return report;
}
/** The functions of the library as data: functions: [{method_name, parameters: [{name, type}],
 *  returns: [{name, type}]}], and its layers and formats. */
export function methods() {
  const isResult = (kind) => /^(new|out|fill) /.test(kind);
  const named = ([name, type]) => ({ name, type: type.replace(/^(new|out|fill) /, '') });
  const functions = Object.entries(FUNCTIONS).map(([name, [result, parameters]]) => ({
    method_name: `loom_${name}`,
    parameters: parameters.filter(([, kind]) => !isResult(kind)).map(named),
    returns: [...(result === 'code' ? [] : [{ name: 'result', type: result }]),
      ...parameters.filter(([, kind]) => isResult(kind)).map(named)] }));
  const { layers, formats } = info();
  return { functions, layers, formats };
}
/** Version of the library. */
export function version() {
  return library().call('version').result;
}

/** Version of the numerics contract: equal versions give equal bits. */
export function numericsVersion() {
  return library().call('numerics_version').result;
}
/** A format of weights by its name: format (its one spelling), dtype, bits, isFloat, isSigned,
 *  scaled, computesF64. */
export function formatInfo(format) {
  return camel(library().call('format_info', { format }).info);
}
/** How many handles exist: what a test of leaks looks at. */
export function liveHandles() {
  return library().call('live_handles').count;
}
/** How well a language model predicts a text, or its ids: Transformer.evaluate, in the order of
 *  arguments that Python has. */
export async function evaluate(model, text, reference, options = {}) {
  if (!(model instanceof Transformer))
    throw errorNamed('invalid_argument', 'evaluate: expected a Transformer first');
  return model.evaluate(text, { ...options, reference });
}

/** What weights are once they are held in a format ("i8", "i4:row", "ternary"): a Float32Array
 *  of the values, so many rows of a matrix (of arrays of rows: as many; else 1), as a network sees
 *  them after morph. */
export function fakeQuantize(values, format, options = {}) {
  const nested = Array.isArray(values) && isList(values[0]);
  const { rows = nested ? values.length : 1 } = known('fakeQuantize', options, ['rows']);
  const x = rowsOf(values);
  return library().call('fake_quantize', { format, rows, values: x, rounded: x.length }).rounded;
}
/** The name of fakeQuantize in the project's earlier documents. */
export const simulate = fakeQuantize;

/** How two networks relate, layer by layer: Network.compareDna. */
export function compareDna(a, b) {
  if (!(a instanceof Network))
    throw errorNamed('invalid_argument', 'compareDna: expected a Network first');
  return a.compareDna(b);
}
/** The name of compareDna in the project's earlier documents. */
export const compareDNA = compareDna;
/** What the earlier engine learned by local targets with, as part of the spec of Network.train:
 *  {...defaultTweenConfig(), epochs: 10}. Its rule adds a tenth of an update to the velocity, so
 *  that its rate of 0.01 is 0.001 here (docs/guide/methods.md). */
export const defaultTweenConfig = () => ({ method: { type: 'target_propagation' }, batch: 1,
  optimizer: { type: 'sgd', momentum: 0.9 }, schedule: { lr: 0.001 } });

/** Runs the numerics table: {equal, fingerprint, golden, rows}. Takes a second or two on the
 *  CPU. */
export async function verify(options = {}) {
  const { device = 'cpu', isa, threads } = known('verify', options, ['device', 'isa', 'threads']);
  const lib = await start();
  await bringEmbedded(lib);
  const all = snake({ device, isa, threads });
  return (await lib.ask('verify', { options: all }, device)).report;
}

let loaded = null;

// The names of the engine that came before.
async function LoadTransformer(source, options) {
  const model = await Transformer.loadModel(source, options);
  loaded?.dispose();
  loaded = model;
}
function Generate(prompt, maxTokens = 50, options = {}) {
  if (!loaded) throw new Error('call "await loom.LoadTransformer(name)" first');
  return loaded.generateSync(prompt, { maxTokens, ...options }).text;
}

const loom = { Data, Decoder, InferenceSession, ModelFile, Network, Online, Population, Program,
  Seq2Seq, Session, StepMesh, Tensor, Tokenizer, Trainer, Transformer, convert, createWorker, audit,
  evaluate, info, version, numericsVersion, formatInfo, liveHandles, fakeQuantize, simulate,
  compareDna, compareDNA, defaultTweenConfig, gpu, verify, LoadTransformer, Generate };
