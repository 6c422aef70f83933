// The page of peers.mjs. A side takes a prompt's ids and how many tokens to generate, and answers
// [prefill, decode] in tokens/s.
import { createWorker } from '../src/index.js';
import { FIRST } from './peers_gguf.js';

const rate = (tokens, ms) => (1000 * tokens) / ms;
const silent = () => {};
const SILENT = { debug: silent, log: silent, warn: silent, error: silent };

async function loomSide(threads, file, context) {
  const loom = await createWorker({ threads });
  const model = await loom.Transformer.loadModel(file, { format: 'q4_0' });
  return async (ids, tokens) => {
    await model.generateText(ids,
        { maxTokens: tokens + 1, temperature: 0, ignoreEos: true, context });
    const s = await model.stats;
    return [s.prefillTokens / s.prefillSeconds, s.decodeTokens / s.decodeSeconds];
  };
}

// The text of ids for the tokenizer of /worded.gguf (peers_gguf.js).
const worded = (ids) => String.fromCodePoint(...ids.map((id) => FIRST + id));

// llama.cpp. 2.x has calls for single tokens; 3.x is llama.cpp's server, which takes texts alone
// and measures itself.
async function wllamaSide(at, threads, context, batch) {
  const { Wllama } = await import(`${at}esm/index.js`);
  const single = Wllama.prototype.decode !== undefined;
  const wllama = new Wllama(single ? {
    'single-thread/wllama.wasm': `${at}esm/single-thread/wllama.wasm`,
    'multi-thread/wllama.wasm': `${at}esm/multi-thread/wllama.wasm`,
  } : { default: `${at}esm/wasm/wllama.wasm` }, { logger: SILENT });
  const file = await (await fetch(single ? '/model.gguf' : '/worded.gguf')).blob();
  await wllama.loadModel([file], { n_ctx: context, n_threads: threads, n_batch: batch,
    ...(single ? {} : { n_gpu_layers: 0, n_parallel: 1 }) });
  if (single)
    return async (ids, tokens) => {
      await wllama.kvClear();
      const start = performance.now();
      await wllama.decode(ids, {});
      const between = performance.now();
      for (let i = 0; i < tokens; ++i) await wllama.decode([200 + i], {});
      return [rate(ids.length, between - start), rate(tokens, performance.now() - between)];
    };
  return async (ids, tokens) => {
    const { timings: t } = await wllama.createCompletion({ prompt: worded(ids), temperature: 0,
      max_tokens: tokens + 1, ignore_eos: true, cache_prompt: false });
    if (t.prompt_n !== ids.length || t.predicted_n !== tokens + 1)
      throw new Error(`wllama ran other tokens: ${JSON.stringify(t)}`);
    return [rate(t.prompt_n, t.prompt_ms), rate(tokens, t.predicted_ms)]; // the first has no run
  };
}

async function transformersSide(at, threads, dtype) {
  const worker = new Worker('/welvet/bench/peers_onnx.js', { type: 'module' });
  const ask = (message) => new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => data.error ? reject(new Error(data.error)) : resolve(data);
    worker.onerror = (e) => reject(new Error(e.message ?? 'the worker did not start'));
    worker.postMessage(message);
  });
  await ask({ at, threads, dtype });
  return async (ids, tokens) => {
    const { prefill, decode } = await ask({ ids, tokens });
    return [rate(ids.length, prefill), rate(tokens, decode)];
  };
}

let sides, task;

/** Loads what the rounds run: Loom, then the peers. */
export async function start(given) {
  const { peers, threads, prompt } = task = given, context = 512;
  const file = await (await fetch('/model.gguf')).blob();
  sides = [await loomSide(threads, file, context)];
  for (const { kind, at, dtype } of peers)
    sides.push(kind === 'wllama' ? await wllamaSide(at, threads, context, prompt)
      : await transformersSide(at, threads, dtype));
}

/** All in turn, of which another one is first in each round. */
export async function round(k) {
  const ids = Array.from({ length: task.prompt }, (_, i) => 100 + ((i * 37 + k * 101) % 40000));
  const rates = [];
  for (let i = 0; i < sides.length; ++i) {
    const side = (k + i) % sides.length;
    rates[side] = await sides[side](ids, task.tokens);
  }
  return rates;
}
