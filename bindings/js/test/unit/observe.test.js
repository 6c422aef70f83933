// Observed steps, layers inside cells, and ticks.
import assert from 'node:assert/strict';
import test from 'node:test';
import { initLoom, InvalidArgumentError, Network, StepMesh, Trainer } from '../../src/index.js';

await initLoom();

const topology = { format: 'loom-topology', version: 3, layers_per_cell: 2, input: { width: 2 },
  cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 2, bias: false },
    { at: [0, 0, 0, 1], type: 'activation', activation: 'relu' }] };
const spec = { loss: 'mse', batch: 2, steps: 4, shuffle: false, optimizer: { type: 'sgd' } };
const data = { x: [[1, 2], [3, -6]], y: [[0, 0], [3, 4]] };
function made() {
  const network = new Network(topology);
  network.set('0.0.0.0', 'weight', [1, 0, 0, -1]);
  return network;
}

test('a step has values and gradients, and learns the same', async () => {
  const network = made(), trainer = new Trainer(network, data, spec);
  trainer.observe({ every: 2, weights: true });
  trainer.step(3);
  const { passes, observed, dropped, events } = trainer.statistics();
  assert.deepEqual([passes, observed, dropped, events.length], [3, 2, 0, 10]);
  assert.deepEqual(events.map(({ direction, path, step }) => [direction, path, step]).slice(0, 5),
    [['forward', '0.0.0.0', 1], ['forward', '0.0.0.1', 1], ['backward', '0.0.0.0', 1],
      ['backward', '0.0.0.1', 1], ['weights', '0.0.0.0', 1]]);
  // Errors (1, 0) and (0, 2), each over two values and two rows.
  assert.equal(events[3].mean, (0.5 + 1) / 4);
  assert.equal(events[4].role, 'weight');
  assert.deepEqual([events[4].min, events[4].max, events[4].activeShare], [-6, 3, 1]);
  trainer.observe({ every: 0 });
  await trainer.run();
  assert.equal(trainer.statistics().events.length, 0);
  const plain = made(), other = new Trainer(plain, data, spec);
  await other.run();
  assert.equal(trainer.digest, other.digest);
  assert.throws(() => trainer.observe({ every: -1 }), InvalidArgumentError);
  assert.throws(() => trainer.observe({ signal: null }), InvalidArgumentError);
});

test('layers inside a cell have events where they are asked for', () => {
  const network = new Network({ ...topology, layers_per_cell: 1, cells: [{ at: [0, 0, 0, 0],
    type: 'sequential', layers: [{ type: 'activation', activation: 'relu' }, { type: 'dense',
      out: 2 }] }] });
  const session = network.session();
  session.observe({ nested: true });
  session.run([[1, -3]]);
  const { events } = session.statistics();
  assert.deepEqual(events.map(({ path }) => path), ['0.0.0.0', '0.0.0.0/0', '0.0.0.0/1']);
  assert.equal(events[1].mean, 0.5);
});

test('a tick of a step mesh is a pass', () => {
  const network = new Network({ format: 'loom-topology', version: 3, depth: 2, step_mesh: true,
    input: { width: 2 }, cells: [] });
  const mesh = new StepMesh(network);
  mesh.observe({ every: 2 });
  mesh.run([1, 2, 3, 4, 5, 6]);
  const { passes, observed, events } = mesh.statistics();
  assert.deepEqual([passes, observed, events.length], [3, 2, 4]);
  assert.deepEqual(events.map(({ pass, mean }) => [pass, mean]),
    [[0, 1.5], [0, 0], [2, 5.5], [2, 3.5]]);
  assert.throws(() => mesh.observe({ nested: true }), InvalidArgumentError);
});
