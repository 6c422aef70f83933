// node bindings/js/bench/online.mjs [DTYPE] [OUTPUTS]: what `loom adapt` measures, in
// WebAssembly: four tasks of patterns in noise, a deadline of 10 ms, 5 ms of learning after each
// answer. One line of JSON.
import { initLoom, Network } from '../src/index.js';

await initLoom();
const dtype = process.argv[2] ?? 'f32', outputs = Number(process.argv[3] ?? 1000);
const widths = [32, 64, 64, 64, 32, 4];
const network = new Network({ format: 'loom-topology', version: 3, layers_per_cell: widths.length,
  input: { width: 8 }, cells: widths.map((out, i) => ({ at: [0, 0, 0, i], type: 'dense', out, dtype,
    ...(i + 1 < widths.length ? { activation: 'relu' } : {}) })) }, { seed: 1 });
const online = network.online(
  { loss: 'cross_entropy', batch: 32, schedule: { lr: 0.003 }, seed: 1 }, { deadlineMs: 10 });

let state = 1;
const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
const ROWS = [0xB1, 0xD2, 0xE4, 0x78];  // words of a code of distance 4
for (let i = 0; i < 4 * outputs; i++) {
  const pattern = Math.floor(random() * 12);
  const word = ROWS.reduce((w, row, bit) => (pattern >> bit & 1 ? w ^ row : w), 0);
  online.answer(Float32Array.from({ length: 8 },
    (_, bit) => (word >> bit & 1 ? 1 : -1) + random() - 0.5));
  online.feedback((pattern + Math.floor(i / outputs)) % 4);
  online.learn({ ms: 5 });
}
const { tasks, latency, accuracy, steps } = online.report;
console.log(JSON.stringify({ dtype, recovered: tasks.map((one) => one.recovered?.outputs ?? null),
  accuracy, steps, latency }));
