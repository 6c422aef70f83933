// Networks that run by ticks.
import assert from 'node:assert/strict';
import test from 'node:test';
import { initLoom, createWorker, defaultTweenConfig, gpu, Network, Seq2Seq, StepMesh, CorruptError,
  InvalidArgumentError, OutOfRangeError, UnsupportedError } from '../../src/index.js';

await initLoom();

const topology = (cells, input, depth = cells.length) => ({ format: 'loom-topology', version: 3,
  depth, step_mesh: true, input, cells: cells.map((cell, z) => ({ at: [z, 0, 0, 0], ...cell })) });
const LINE = topology([], { width: 2 }, 4);
const RING = topology([
  { type: 'dense', out: 1, bias: false, keep_previous: true, links: [{ read: [1, 0, 0, 0] }] },
  { type: 'dense', out: 1, bias: false }], { width: 1 });
function ring() {
  const network = new Network(RING);
  network.set('0.0.0.0', 'weight', [0.5, -1]);
  network.set('1.0.0.0', 'weight', [1]);
  return network;
}

test('a line of cells delays by a tick each', () => {
  const network = new Network(LINE), mesh = new StepMesh(network, { streams: 2 });
  const x = [[[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]], [[-1, -2], [-3, -4], [-5, -6], [-7, -8],
    [-9, -10]]];
  const wanted = [0, 0, 0, 0, 0, 0, 1, 2, 3, 4];
  assert.deepEqual([...mesh.run(x)], [...wanted, ...wanted.map((v) => -v)]
    .map((v) => (v === 0 ? 0 : v)));
  assert.equal(mesh.tick, 5);
  assert.deepEqual([...mesh.value(1, 1)], [-7, -8]);
  assert.deepEqual([...mesh.value('0.0.0.0')], [9, 10]);
  const kept = mesh.snapshot();
  assert.deepEqual([...mesh.run([5, 5, 6, 6], { ticks: 4, last: true })], [5, 5, 6, 6]);
  mesh.restore(kept);
  assert.equal(mesh.tick, 5);
  assert.deepEqual([...mesh.step(new Float32Array(4))], [5, 6, -5, -6]);
  mesh.restore(kept.buffer);
  mesh.reset();
  assert.equal(mesh.tick, 0);
  mesh.dispose();
  network.dispose();
});

test('a ring, ids and doubles', () => {
  const network = ring(), mesh = new StepMesh(network);
  const wave = [0, 1, 0, -1];
  const y = mesh.run(Array.from({ length: 70 }, (_, t) => (t === 0 ? 2 : 0)));
  assert.ok(y instanceof Float32Array);
  assert.deepEqual([...y], Array.from({ length: 70 }, (_, t) => wave[t % 4]));
  network.set('0.0.0.0', 'weight', [0.5, -3]); // the mesh follows, with its values
  assert.deepEqual([...mesh.run([0], { ticks: 4 })].map((v) => v + 0), [0, -3, 0, 9]);
  assert.equal(mesh.tick, 74);
  mesh.dispose();

  const wide = new Network(topology([{ type: 'dense', out: 1, bias: false, dtype: 'f64' }],
    { width: 1 }));
  wide.set('0.0.0.0', 'weight', Float64Array.of(0.1));
  const doubles = new StepMesh(wide).run([1, 2]);
  assert.ok(doubles instanceof Float64Array);
  assert.deepEqual([...doubles], [0.1, 0.2]);

  const reads = new Network(topology([{ type: 'embedding', out: 1 }], { ids: 5 }));
  reads.set('0.0.0.0', 'weight', [1, 2, 3, 4, 5]);
  const ids = new StepMesh(reads, { streams: 2 });
  assert.deepEqual([...ids.run([[4, 0], [1, 1]])], [5, 1, 2, 2]);
  assert.throws(() => ids.run([[4, 5]].concat([[0, 0]])), OutOfRangeError);
  assert.throws(() => ids.run([[4, 0.5], [1, 1]]), InvalidArgumentError);
});

test('the names of earlier documents', () => {
  const network = ring(), mesh = new StepMesh(network), other = new StepMesh(network);
  const wide = network.info.input.width, x = Array(wide).fill(0.5);
  assert.deepEqual(mesh.SystolicForward(x), other.step(x));
  assert.equal(mesh.tick, 1);
  const learner = new Network({ format: 'loom-topology', version: 3, layers_per_cell: 2,
    input: { width: 1 }, cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 4, activation: 'tanh' },
      { at: [0, 0, 0, 1], type: 'dense', out: 1 }] }, { seed: 2 });
  const rows = Array.from({ length: 64 }, (_, i) => i / 32 - 1);
  const trainer = learner.trainer({ x: rows, y: rows.map((v) => -v) },
    { ...defaultTweenConfig(), epochs: 30 });
  trainer.step(30 * 64);
  assert.ok(Math.abs(learner.forward([0.5])[0] + 0.5) < 0.1);
});

test('with a signal the same in slices', async () => {
  const network = ring();
  const x = Float32Array.from({ length: 2 * 700 }, (_, i) => Math.sin(i));
  const whole = new StepMesh(network, { streams: 2 }), mesh = new StepMesh(network, { streams: 2 });
  const { signal } = new AbortController();
  assert.deepEqual(await mesh.runAsync(x, { signal }), whole.run(x));
  assert.deepEqual(await mesh.runAsync([1, 2], { ticks: 600, signal }),
    whole.run([1, 2], { ticks: 600 }));
  assert.deepEqual(await mesh.runAsync([1, 2], { ticks: 600, last: true, signal }),
    whole.run([1, 2], { ticks: 600, last: true }));
  assert.deepEqual(await mesh.snapshotAsync(), whole.snapshot());
  await assert.rejects(mesh.runAsync([1, 2], { ticks: 600, signal: AbortSignal.abort() }),
    /abort/i);
  await mesh.resetAsync();
  await mesh.restoreAsync(whole.snapshot());
  assert.deepEqual(await mesh.valueAsync(0, 1), whole.value([0, 0, 0, 0], 1));
  assert.deepEqual(await mesh.stepAsync([1, 2]), whole.step([1, 2]));
});

test('what does not fit is refused', async () => {
  const network = ring(), mesh = new StepMesh(network, { streams: 2 });
  for (const [type, text, body] of [
    [InvalidArgumentError, /expected a Network/, () => new StepMesh({})],
    [InvalidArgumentError, /streams/, () => new StepMesh(network, { streams: 0 })],
    [InvalidArgumentError, /stream/, () => new StepMesh(network, { stream: 2 })],
    [InvalidArgumentError, /x: 3 numbers: expected 2 streams x ticks x 1/,
      () => mesh.run([1, 2, 3])],
    [InvalidArgumentError, /x: 0 numbers/, () => mesh.run([])],
    [InvalidArgumentError, /x: 3 numbers: expected 2 streams x 2 x 1, or 2/,
      () => mesh.run([1, 2, 3], { ticks: 2 })],
    [InvalidArgumentError, /ticks/, () => mesh.run([1, 2], { ticks: 0 })],
    [InvalidArgumentError, /ticks/, () => mesh.run([1, 2], { ticks: 1.5 })],
    [InvalidArgumentError, /tick/, () => mesh.run([1, 2], { tick: 1 })],
    [InvalidArgumentError, /signal/, () => mesh.run([1, 2], { signal: AbortSignal.abort() })],
    [InvalidArgumentError, /null/, () => mesh.run([1, null])],
    [OutOfRangeError, /cell/, () => mesh.value(2)],
    [OutOfRangeError, /the grid has/, () => mesh.value('2.0.0.0')],
    [InvalidArgumentError, /cell/, () => mesh.value({})],
    [OutOfRangeError, /2 streams/, () => mesh.value(0, 2)],
    [InvalidArgumentError, /snapshot: expected bytes/, () => mesh.restore('LOOMMESH')],
    [CorruptError, /no snapshot/, () => mesh.restore(new Uint8Array(40))],
  ]) assert.throws(body, (e) => e instanceof type && text.test(e.message), `${text}`);
  assert.equal(mesh.tick, 0);
  if ((await gpu()).available) return;
  assert.throws(() => new StepMesh(network, { device: 'gpu' }), UnsupportedError);
  await assert.rejects(StepMesh.create(network, { device: 'gpu' }), UnsupportedError);
  const here = await StepMesh.create(network, { device: 'auto' });
  assert.equal(here.info.device, null);
  assert.notEqual(here.info.note, '');
  assert.deepEqual([...await here.runAsync([2], { ticks: 2 })], [0, 1]);
});

test('an encoder-decoder on a device needs create', async () => {
  if ((await gpu()).available) return;
  const pair = new Network({ format: 'loom-topology', version: 3, layers_per_cell: 2,
    input: { parts: [{ name: 'source', width: 1 }, { name: 'target', ids: 3, dims: [2] }] },
    cells: [{ at: [0, 0, 0, 0], type: 'part', of: 'target' },
      { at: [0, 0, 0, 1], type: 'embedding', out: 2 }] });
  const options = { target: 'target' };
  assert.throws(() => new Seq2Seq(pair, { ...options, device: 'gpu' }), UnsupportedError);
  await assert.rejects(Seq2Seq.create(pair, { ...options, device: 'gpu' }), UnsupportedError);
  const here = await Seq2Seq.create(pair, { ...options, device: 'auto' });
  assert.equal(typeof here.info.device, 'string');
  assert.equal(new Seq2Seq(pair, { ...options, device: 'cpu' }).info.rows, 0);
});

test('in a worker', async () => {
  const worker = await createWorker();
  const network = await worker.Network.create(LINE);
  const mesh = await worker.StepMesh.create(network, { streams: 1 });
  assert.deepEqual([...await mesh.run([1, 2, 3, 4, 5, 6, 7, 8])], [0, 0, 0, 0, 0, 0, 1, 2]);
  assert.equal(await mesh.tick, 4);
  const kept = await mesh.snapshot();
  assert.deepEqual([...await mesh.step([9, 9])], [3, 4]);
  await mesh.restore(kept);
  assert.deepEqual([...await mesh.value(3)], [1, 2]);
  worker.terminate();
});
