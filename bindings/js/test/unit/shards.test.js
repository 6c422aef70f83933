// Steps in shards, and moments by name.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Network, Trainer, initLoom } from '../../src/index.js';

await initLoom();
const x = Array.from({ length: 12 }, (_, i) => [Math.sin(i), Math.cos(3 * i), i / 12]);
const y = x.map(([a, b, c]) => [a * b, c]);
const topology = {
  format: 'loom-topology', version: 3, layers_per_cell: 2, input: { width: 3 },
  cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 5, activation: 'tanh', fixed: ['bias'] },
    { at: [0, 0, 0, 1], type: 'dense', out: 2 }],
};
const SPEC = { loss: 'mse', batch: 6, micro_batches: 3, steps: 8, optimizer: { type: 'adam' },
  schedule: { type: 'constant', lr: 0.05 } };
const trainerOf = () => new Trainer(new Network(topology, { seed: 4 }), { x, y }, SPEC);

test('any number of workers has the bits of one', () => {
  const alone = trainerOf(), workers = [trainerOf(), trainerOf()];
  for (let step = 0; step < 5; ++step) {
    const { loss } = alone.step();
    const shards = [0, 1, 2].map((i) => workers[i % 2].shard(i));
    for (const worker of workers) assert.equal(worker.apply(shards).loss, loss);
  }
  for (const worker of workers) assert.equal(worker.digest, alone.digest);
  const shards = [0, 1, 2].map((i) => alone.shard(i));
  assert.throws(() => alone.apply(shards.slice(1)), /got 2 shards: a step has 3/);
  assert.throws(() => alone.apply([...shards.slice(0, 2), new Uint8Array(4)]),
    /these bytes are none/);
  assert.throws(() => alone.shard(3), /numbered from 0/);
  const given = alone.shard(0, { x: x.slice(0, 2), y: y.slice(0, 2) });
  assert.ok(given.length > 100);
});

test('moments continue a training', () => {
  const one = trainerOf(), two = trainerOf();
  assert.deepEqual(one.moments.map((m) => m.name), ['0.0.0.0:weight:m', '0.0.0.0:weight:v',
    '0.0.0.1:weight:m', '0.0.0.1:weight:v', '0.0.0.1:bias:m', '0.0.0.1:bias:v']);
  for (const { name } of one.moments) {
    const values = one.getMoment(name).map(() => 0.01);
    one.setMoment(name, values);
    two.setMoment(name, values);
    assert.deepEqual([...two.getMoment(name)].map(Math.fround), [...values].map(Math.fround));
  }
  one.setStep(4);
  two.setStep(4);
  one.step(4);
  two.step(4);
  assert.equal(one.digest, two.digest);
  assert.throws(() => one.setMoment('0.0.0.0:bias:m', [1]), /no moment/);
});
