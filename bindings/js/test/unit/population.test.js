// Neuroevolution.
import assert from 'node:assert/strict';
import test from 'node:test';
import { initLoom, Network, Population, CorruptError, InvalidArgumentError, OutOfRangeError }
  from '../../src/index.js';

await initLoom();

const X = [[0, 0], [0, 1], [1, 0], [1, 1]], Y = [0, 1, 1, 0];
const XOR_SEED_1 = '7f43958639ab6906ab9f505007c03ef489fef96cffda9fefcdea2e65f2066009';

test('XOR has the champion of every target', () => {
  const population = new Population('xor');
  const info = population.run();
  assert.equal(info.reached, true);
  assert.equal(info.champion.sha256, XOR_SEED_1);
  assert.deepEqual([...population.champion.activate(X)].map((y) => (y > 0.5 ? 1 : 0)), Y);
  assert.equal(population.champion.data.sha256, XOR_SEED_1);
  population.dispose();
});

test('a champion becomes a network that learns', () => {
  const population = new Population('xor');
  population.run();
  const network = population.network(), x = new Float32Array(X.flat());
  assert.deepEqual([...network.forward(x)], [...population.champion.activate(X)]);
  population.dispose();
});

test('a function has the bits of the task', async () => {
  const fitness = (genome) =>
    4 - genome.activate(X).reduce((sum, y, i) => sum + (y - Y[i]) ** 2, 0);
  const population = new Population({ inputs: 2, outputs: 1, goal: 3.9 });
  const seen = [];
  const progress = ({ generation }) => seen.push(generation);
  const info = await population.runAsync(300, { fitness, progress });
  assert.equal(info.champion.sha256, XOR_SEED_1);
  assert.equal(seen.length, info.generation + 1);
  const aborted = AbortSignal.abort();
  await assert.rejects(new Population('double_pole').runAsync(5, { signal: aborted }),
    { name: 'AbortError' });
});

test('double poles have their champion', () => {
  const population = new Population({ task: 'double_pole', episodeSteps: 300, seed: 3 });
  assert.equal(population.run(3).champion.sha256,
    '79eb39a51c2cf4a7cb63b012712cff5b78e63db14fad7671d7c5fb2930a834f9');
});

test('a file continues with the same bits', () => {
  const population = new Population({ task: 'table', data: { x: X, y: Y.map((y) => [y]) },
    population: 30 });
  population.run(4);
  const file = population.save(), again = Population.load(file);
  population.run(3);
  again.run(3);
  assert.deepEqual(again.save(), population.save());
  file[file.length - 20] ^= 1;
  assert.throws(() => Population.load(file), CorruptError);
});

test('refusals', () => {
  assert.throws(() => new Population('xr'), InvalidArgumentError);
  assert.throws(() => new Population(5), InvalidArgumentError);
  assert.throws(() => new Population({ task: 'xor', populaton: 3 }), /populaton/);
  assert.throws(() => Population.load('x'), InvalidArgumentError);
  const population = new Population({ inputs: 2, outputs: 1, population: 5 });
  assert.throws(() => population.evaluate(), /host/);
  assert.throws(() => population.step(), InvalidArgumentError);
  assert.throws(() => population.run(0), InvalidArgumentError);
  assert.throws(() => population.at(5), OutOfRangeError);
  assert.throws(() => population.activate([1, 2, 3], 0), /rows of 2/);
  const first = population.at(0);
  population.setFitness([1, 2, 3, 4, 5]);
  population.step();
  assert.throws(() => first.activate([0, 0]), /generation 0/);
});

const START = { format: 'loom-topology', version: 3, layers_per_cell: 2, input: { width: 2 },
  cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 4, activation: 'tanh' },
    { at: [0, 0, 0, 1], type: 'dense', out: 2 }] };

test('networks have children', () => {
  const a = new Network(START, { seed: 1 }), b = new Network(START, { seed: 2 });
  const { child, report } = a.splice(b, { method: 'uniform', align: true, seed: 3 });
  assert.equal(report.crossed, 2);
  const again = a.splice(b, { method: 'uniform', align: true, seed: 3 });
  assert.deepEqual(child.get('0.0.0.0', 'weight'), again.child.get('0.0.0.0', 'weight'));
  const graft = Network.graft([a, b], { combine: 'mean' });
  assert.equal(graft.info.output.width, 2);
  const { child: mutant, report: done } = a.mutate(5, { insert: 1, weights: 0 });
  assert.equal(done.fellBack, false);
  assert.equal(mutant.info.output.width, 2);
  assert.throws(() => a.splice(b, { method: 'point', alpha: 0.5 }), InvalidArgumentError);
  assert.throws(() => Network.graft([a, 3]), InvalidArgumentError);
});

test('networks evolve by a function', () => {
  const population = new Population({ network: START, population: 4, startMutations: 2 });
  const fitness = (member) =>
    -member.activate(X).reduce((sum, y, i) => sum + (i % 2 ? 0 : (y - Y[i >> 1]) ** 2), 0);
  const info = population.run(3, { fitness });
  assert.equal(info.level, 'networks');
  assert.equal(info.champion.feasible, true);
  const network = population.network();
  assert.equal(network.info.output.width, 2);
  population.setNetwork(0, population.at(0).network);
  assert.throws(() => population.setNetwork(0, Network.graft([network])), InvalidArgumentError);
  const again = Population.load(population.save());
  assert.deepEqual(again.save(), population.save());
});
