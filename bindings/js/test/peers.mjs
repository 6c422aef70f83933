// node test/peers.mjs WLLAMA FILE.gguf [THREADS]: decoding and prefill beside llama.cpp in
// WebAssembly, in one page of headless Chromium, by turns. WLLAMA is the folder of an unpacked
// @wllama/wllama 2.4 (3.x has no calls for single tokens), FILE a q4_0 model: `./dev bench peers`
// makes some.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Browser, findChromium } from './chromium.mjs';

const [wllama, model, threads = 1] = process.argv.slice(2);
const program = findChromium();
if (!program || !model) {
  console.log(program ? 'node test/peers.mjs WLLAMA FILE.gguf [THREADS]' : 'needs Chromium');
  process.exit(program ? 2 : 77);
}

const ROOTS = { '/wllama/': path.join(wllama, 'esm'),
  '/welvet/': fileURLToPath(new URL('..', import.meta.url)), '/model/': path.dirname(model) };
const TYPES = { '.js': 'text/javascript', '.wasm': 'application/wasm' };
const server = http.createServer((request, response) => {
  const name = decodeURIComponent(new URL(request.url, 'http://here').pathname);
  const [prefix, root] = Object.entries(ROOTS).find(([begin]) => name.startsWith(begin)) ?? [];
  const file = prefix && path.join(root, name.slice(prefix.length));
  const headers = { 'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp', 'content-type': file ? TYPES[path.extname(file)]
      ?? 'application/octet-stream' : 'text/html' };
  if (!file) return response.writeHead(200, headers).end('<!doctype html>');
  if (!fs.existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200, { ...headers, 'content-length': fs.statSync(file).size });
  fs.createReadStream(file).pipe(response);
});
await new Promise((go) => server.listen(0, '127.0.0.1', go));
const url = `http://127.0.0.1:${server.address().port}/`;

// Runs in the page: pairs of [prefill, decode] in tokens/s, theirs and ours.
async function runThere(name, threads) {
  const PROMPT = 128, TOKENS = 32, PAIRS = 5;
  const [{ Wllama }, { createWorker }] =
    await Promise.all(['/wllama/index.js', '/welvet/src/index.js'].map((from) => import(from)));
  const file = await (await fetch(`/model/${name}`)).blob();
  const silent = () => {};
  const paths = { 'single-thread/wllama.wasm': '/wllama/single-thread/wllama.wasm',
    'multi-thread/wllama.wasm': '/wllama/multi-thread/wllama.wasm' };
  const theirs =
    new Wllama(paths, { logger: { debug: silent, log: silent, warn: silent, error: silent } });
  await theirs.loadModel([file], { n_ctx: 512, n_threads: threads, n_batch: PROMPT });
  const loom = await createWorker({ threads });
  const ours = await loom.Transformer.loadModel(file, { format: 'q4_0' });
  const prompt = (k) =>
    Array.from({ length: PROMPT }, (_, i) => 100 + ((i * 37 + k * 101) % 40000));
  const rate = (tokens, from) => (1000 * tokens) / (performance.now() - from);
  const sides = [
    async (k) => {
      await theirs.kvClear();
      let start = performance.now();
      await theirs.decode(prompt(k), {});
      const prefill = rate(PROMPT, start);
      start = performance.now();
      for (let i = 0; i < TOKENS; ++i) await theirs.decode([200 + i], {});
      return [prefill, rate(TOKENS, start)];
    },
    async (k) => {
      await ours.generateText(prompt(k),
          { maxTokens: TOKENS + 1, temperature: 0, ignoreEos: true, context: 512 });
      const s = await ours.stats;
      return [s.prefillTokens / s.prefillSeconds, s.decodeTokens / s.decodeSeconds];
    },
  ];
  const pairs = [];
  for (let i = 0; i <= PAIRS; ++i) pairs.push([await sides[0](2 * i), await sides[1](2 * i + 1)]);
  return pairs.slice(1); // the first warms up
}

const browser = await Browser.start(program);
try {
  await browser.goto(url);
  await browser.until(`location.href === '${url}' && document.readyState === 'complete'`);
  const pairs =
    await browser.evaluate(
      `(${runThere})(${JSON.stringify(path.basename(model))}, ${Number(threads)})`);
  const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
  for (const [i, what] of ['prefill 128', 'decode 32'].entries()) {
    const [theirs, ours, ratio] =
      [pairs.map(([t]) => t[i]), pairs.map(([, o]) => o[i]),
          pairs.map(([t, o]) => o[i] / t[i])].map(median);
    console.log(
      `${what}: ${ours.toFixed(1)} tokens/s, llama.cpp ${theirs.toFixed(1)}, ` +
      `${ratio.toFixed(2)}x (medians of ${pairs.length} pairs)`);
  }
} finally {
  await browser.close();
  server.close();
}
