// node bench/relaxed.mjs [FILE=FORMAT...]: kernels in relaxed SIMD against those without, one
// thread, interleaved; medians of seven. Takes a host that has relaxed SIMD: Node 24 does. FORMAT:
// how the weights of a file run, for example q4_0.
import { createWorker } from '../src/index.js';
import { asset } from '../src/runtime/module.js';
import { relaxedHere } from '../src/runtime/relaxed.js';

if (!relaxedHere()) {
  console.log('needs relaxed SIMD, which this host lacks');
  process.exit(77);
}
const WIDTH = 1536, ROWS = 64, REPEATS = 7;
const topology = {
  format: 'loom-topology', version: 1, layers_per_cell: 2, input: { width: WIDTH },
  cells: [{ at: [0, 0, 0, 0], type: 'dense', out: WIDTH },
      { at: [0, 0, 0, 1], type: 'dense', out: WIDTH }],
};
const x = Float32Array.from({ length: ROWS * WIDTH }, (_, i) => Math.sin(0.37 * i));

// name -> [work of loom.wasm, of loom_relaxed.wasm], each returns microseconds
const works = new Map();
for (const [side, name] of ['loom.wasm', 'loom_relaxed.wasm'].entries()) {
  const loom = await createWorker({ module: asset(name) });
  const add = (what, work) => works.set(what, [...(works.get(what) ?? []), work]);
  const timed = async (body) => {
    const start = performance.now();
    await body();
    return 1000 * (performance.now() - start);
  };
  for (const source of ['embedded', ...process.argv.slice(2)]) {
    const [file, format] = source.split('=');
    const model = await loom.Transformer.loadModel(file, { format });
    const ids = Int32Array.from({ length: 128 }, (_, i) => 3 + ((i * 37) % 1000));
    add(`${source}: a decoded token`, async () => {
      await model.generateText(ids.subarray(0, 8),
          { maxTokens: 32, temperature: 0, ignoreEos: true, context: 256 });
      const { decodeSeconds, decodeTokens } = await model.stats;
      return (1e6 * decodeSeconds) / decodeTokens;
    });
    add(`${source}: a token of a prompt of 128`, async () => {
      await model.generateText(ids.map((id) => id + side + (Math.random() * 9 | 0)),
          { maxTokens: 1, temperature: 0, context: 256 });
      const { prefillSeconds, prefillTokens } = await model.stats;
      return (1e6 * prefillSeconds) / prefillTokens;
    });
  }
  for (const format of ['i4', 'i8', 'q4_0', 'q8_0', 'ternary', 'i2']) {
    const network = await loom.Network.create(topology, { seed: 1 });
    await network.pack(format);
    for (const rows of [1, ROWS]) {
      const some = x.subarray(0, rows * WIDTH);
      await network.forward(some);
      add(`two products of ${WIDTH} x ${WIDTH} ${format}, ${rows} row${rows > 1 ? 's' : ''}`,
          () => timed(() => network.forward(some)));
    }
  }
}

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
console.log('microseconds: loom.wasm, loom_relaxed.wasm, ratio');
for (const [name, sides] of works) {
  const times = sides.map(() => []);
  for (let i = 0; i < REPEATS; ++i) for (const [side, work] of sides.entries())
    times[side].push(await work());
  const [plain, relaxed] = times.map(median);
  console.log(
    `${name.padEnd(60)} ${plain.toFixed(0).padStart(8)} ${relaxed.toFixed(0).padStart(8)} ` +
    `${(plain / relaxed).toFixed(2).padStart(6)}`);
}
process.exit(0);
