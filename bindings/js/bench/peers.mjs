// node bench/peers.mjs FILE.gguf [--threads N] [--wllama FOLDER]... [--transformers FOLDER]:
// decoding and prefill beside other programs in WebAssembly, by turns in one page of headless
// Chromium. FILE holds q4_0: `./dev bench peers` makes some. The folders are packages of npm, of
// any version from @wllama/wllama 2.4 and @huggingface/transformers 4 on:
//     npm install --ignore-scripts @wllama/wllama @huggingface/transformers
// transformers.js runs the decoder that Loom exports of FILE: with MatMulNBits, and in f32, which
// ONNX Runtime decodes faster.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Transformer } from '../src/index.js';
import { Browser, findChromium } from '../test/chromium.mjs';
import { withTokens } from './peers_gguf.js';

const USAGE =
  'node bench/peers.mjs FILE.gguf [--threads N] [--wllama FOLDER]... [--transformers FOLDER]';
// of transformers.js: the file's name, and how Loom exports it
const DTYPES = { q4: ['model_q4.onnx', { dtype: 'q4_0', matmulNbits: true }],
  fp32: ['model.onnx', { dtype: 'f32' }] };
const PAIRS = 7, PROMPT = 128, TOKENS = 32;

function options() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: {
    threads: { type: 'string', default: '1' },
    wllama: { type: 'string', multiple: true, default: [] },
    transformers: { type: 'string' },
  } });
  const threads = Number(values.threads), [model, ...more] = positionals;
  if (!model || more.length > 0) throw new Error('takes one FILE.gguf');
  if (!(Number.isInteger(threads) && threads > 0)) throw new Error('--threads takes a number');
  const peers = [...values.wllama.map((folder) => ['wllama', folder]),
    ...(values.transformers ? Object.keys(DTYPES) : []).map(
      (dtype) => ['transformers', values.transformers, dtype])];
  if (peers.length === 0) throw new Error('names no peer');
  return { model, threads, peers: peers.map(([kind, folder, dtype], i) => {
    const { name, version } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json')));
    return { kind, folder, dtype, at: `/peer${i}/`,
      name: [name, version, ...(dtype ? [dtype] : [])].join(' ') };
  }) };
}

let given;
try {
  given = options();
} catch (e) {
  console.error(`${e.message}\n${USAGE}`);
  process.exit(2);
}
const { model, threads, peers } = given;
const program = findChromium();
if (!program) {
  console.log('needs Chromium');
  process.exit(77);
}

const roots = { '/welvet/': fileURLToPath(new URL('..', import.meta.url)),
  ...Object.fromEntries(peers.map(({ at, folder }) => [at, folder])) };
const made = new Map(); // served from memory: name -> bytes
const source = await Transformer.loadModel(model, { format: 'q4_0' });
const config = source.export('config.json', { dtype: 'f32' });
if (peers.some(({ kind }) => kind === 'wllama'))
  made.set('/worded.gguf',
      withTokens(fs.readFileSync(model), JSON.parse(Buffer.from(config)).vocab_size));
const transformers = peers.find(({ kind }) => kind === 'transformers');
if (transformers) {
  // npm lays what a package needs beside it
  roots['/ort/'] = [['node_modules'], ['..', '..']]
    .map((from) => path.join(transformers.folder, ...from, 'onnxruntime-web', 'dist'))
    .find((folder) => fs.existsSync(folder));
  if (!roots['/ort/']) throw new Error(`no onnxruntime-web beside ${transformers.folder}`);
  made.set('/onnx/model/config.json', config);
  made.set('/onnx/model/generation_config.json', Buffer.from('{}'));
  for (const [name, how] of Object.values(DTYPES))
    made.set(`/onnx/model/onnx/${name}`, source.export('onnx', how));
}
source.dispose();

const TYPES = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm',
  '.json': 'application/json' };
const server = http.createServer((request, response) => {
  const name = decodeURIComponent(new URL(request.url, 'http://here').pathname);
  const [prefix, root] = Object.entries(roots).find(([begin]) => name.startsWith(begin)) ?? [];
  const found = name === '/model.gguf' ? model : root && path.join(root, name.slice(prefix.length));
  const headers = { 'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp', 'content-type': name === '/' ? 'text/html'
      : TYPES[path.extname(name)] ?? 'application/octet-stream' };
  const send = (bytes) => {
    response.writeHead(200, { ...headers, 'content-length': bytes.length });
    response.end(bytes);
  };
  if (name === '/') return send(Buffer.from('<!doctype html>'));
  if (made.has(name)) return send(made.get(name));
  if (!found || !fs.existsSync(found)) return response.writeHead(404).end();
  response.writeHead(200, { ...headers, 'content-length': fs.statSync(found).size });
  fs.createReadStream(found).pipe(response);
});
await new Promise((go) => server.listen(0, '127.0.0.1', go));
const url = `http://127.0.0.1:${server.address().port}/`;

const sorted = (list) => list.sort((a, b) => a - b);
const middle = (list) => sorted(list)[list.length >> 1];
const browser = await Browser.start(program);
try {
  await browser.goto(url);
  await browser.until(`location.href === '${url}' && document.readyState === 'complete'`);
  const ask = (what, argument) => browser.evaluate(
    `import('/welvet/bench/peers_page.js').then((m) => m.${what}(${JSON.stringify(argument)}))`);
  await ask('start', { peers, threads, prompt: PROMPT, tokens: TOKENS });
  const rounds = []; // of [prefill, decode] in tokens/s: Loom's, then those of the peers
  for (let k = 0; k <= PAIRS; ++k) {
    console.error(k === 0 ? 'warming up' : `round ${k} of ${PAIRS}`);
    rounds.push(await ask('round', k));
  }
  rounds.shift(); // warmed up
  console.log(`${path.basename(model)}, threads: ${threads}; tokens/s, and Loom's by the peer's, ` +
    `medians of ${PAIRS} rounds (extremes)`);
  for (const [what, text] of [`prefill ${PROMPT}`, `decode ${TOKENS}`].entries()) {
    const rate = (side) => middle(rounds.map((round) => round[side][what])).toFixed(1);
    console.log(`${text}: Loom ${rate(0)}`);
    for (const [i, { name }] of peers.entries()) {
      const ratios = sorted(rounds.map((round) => round[0][what] / round[i + 1][what]));
      console.log(`  ${name} ${rate(i + 1)}, ${middle(ratios).toFixed(2)}x ` +
        `(${ratios[0].toFixed(2)} to ${ratios.at(-1).toFixed(2)})`);
    }
  }
} catch (e) {
  console.error([e.stack, ...browser.log].join('\n'));
  process.exitCode = 1;
} finally {
  await browser.close();
  server.close();
}
