// Loom in JavaScript: Node and browsers. See README.md.
import { Network, Trainer } from './network.js';
import { known } from './runtime/errors.js';
import { gpu } from './runtime/gpu.js';
import { InferenceSession, Tensor } from './onnx.js';
import { bringEmbedded, library, start } from './runtime/runtime.js';
import { Seq2Seq } from './seq2seq.js';
import { Tokenizer } from './tokenizer.js';
import { Transformer } from './transformer.js';
import { createWorker } from './workers/worker.js';

export * from './runtime/errors.js';
export { InferenceSession, Network, Seq2Seq, Tensor, Tokenizer, Trainer, Transformer, createWorker,
  gpu };

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
/** Version of the library. */
export function version() {
  return library().call('version').result;
}

/** What weights are once they are held in a format ("i8", "i4:row", "ternary"): a Float32Array
 *  of the values, so many rows of a matrix, as a network sees them after morph. */
export function fakeQuantize(values, format, options = {}) {
  const { rows = 1 } = known('fakeQuantize', options, ['rows']);
  const x = Float32Array.from(values);
  return library().call('fake_quantize', { format, rows, values: x, rounded: x.length }).rounded;
}
/** The name of fakeQuantize in the project's earlier documents. */
export const simulate = fakeQuantize;

/** Runs the numerics table: {equal, fingerprint, golden, rows}. Takes a second or two on the
 *  CPU. */
export async function verify(options = {}) {
  const { device = 'cpu' } = known('verify', options, ['device']);
  const lib = await start();
  await bringEmbedded(lib);
  return (await lib.ask('verify', { options: { device } }, device)).report;
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

const loom = { InferenceSession, Network, Seq2Seq, Tensor, Tokenizer, Trainer, Transformer,
  createWorker, info, version, fakeQuantize, simulate, gpu, verify, LoadTransformer, Generate };
