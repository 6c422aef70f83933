// Runs that pause after some microseconds and continue.
import assert from 'node:assert/strict';
import test from 'node:test';
import { initLoom, InvalidArgumentError, Network, Session, StepMesh } from '../../src/index.js';

await initLoom();

const cells = Array.from({ length: 12 }, (_, l) =>
  ({ at: [0, 0, 0, l], type: 'dense', out: 64, activation: 'relu' }));
const network = new Network({ format: 'loom-topology', version: 3, layers_per_cell: 12,
  input: { width: 64 }, cells }, { seed: 1 });
const x = Float32Array.from({ length: 32 * 64 }, (_, i) => Math.sin(i));

test('a run continues with its bits', async () => {
  const session = new Session(network), whole = session.run(x);
  let y, calls = 1;
  while ((y = session.run(x, { budgetUs: 1 })) === null) calls++;
  assert.ok(calls > 5);
  assert.deepEqual(y, whole);
  assert.equal(session.run(x, { budgetUs: 1 }), null);
  assert.deepEqual(session.run(x), whole);
  assert.equal(session.run(x, { budgetUs: 1 }), null);
  assert.deepEqual(await session.runAsync(x), whole);
  for (const budgetUs of [0, -1, 1.5, '5', null])
    assert.throws(() => session.run(x, { budgetUs }),
      (e) => e instanceof InvalidArgumentError && /budgetUs/.test(e.message));
});

test('a step mesh shows whole ticks meanwhile', () => {
  const ring = new Network({ format: 'loom-topology', version: 3, depth: 3, step_mesh: true,
    input: { width: 16 }, cells: [0, 1, 2].map((z) =>
      ({ at: [z, 0, 0, 0], type: 'dense', out: 16, activation: 'tanh' })) }, { seed: 1 });
  const given = x.subarray(0, 100 * 16), whole = new StepMesh(ring).run(given);
  const mesh = new StepMesh(ring), ticks = [];
  let y;
  while ((y = mesh.run(given, { budgetUs: 1 })) === null) ticks.push(mesh.tick);
  assert.ok(new Set(ticks).size > 1);
  assert.deepEqual(y, whole);
  assert.equal(mesh.tick, 100);
  while (mesh.step(given.subarray(0, 16), { budgetUs: 1 }) === null);
  assert.equal(mesh.tick, 101);
});
