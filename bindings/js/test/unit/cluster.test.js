// Groups of rows, and networks that answer together.
import assert from 'node:assert/strict';
import test from 'node:test';
import { initLoom, cluster, matches, Ensemble, InvalidArgumentError,
  Network } from '../../src/index.js';

await initLoom();

test('groups are found', () => {
  const x = [[0, 0], [0, 1], [9, 9], [9, 8], [50, 0]];
  const found = cluster.kMeans(x, { clusters: 3, starts: 5 });
  assert.equal(found.labels[0], found.labels[1]);
  assert.equal(found.labels[2], found.labels[3]);
  assert.equal(new Set(found.labels).size, 3);
  assert.equal(found.inertia, 1);
  const again = cluster.kMeans(x.flat(), { width: 2, start: [...found.centers] });
  assert.deepEqual([...again.labels], [...found.labels]);
  assert.equal(cluster.silhouettes(x, found.labels)[4], 0);
  const merges = cluster.hierarchy(x, { linkage: 'single' });
  assert.deepEqual(merges[0], { first: 0, second: 1, distance: 1, rows: 2 });
  assert.deepEqual([...cluster.cut(merges, { clusters: 2 })], [0, 0, 0, 0, 1]);
  assert.deepEqual([...cluster.cut(merges, { distance: 2 })], [0, 0, 1, 1, 2]);
});

test('wrong rows are refused by name', () => {
  for (const [message, call] of [
    [/clusters/, () => cluster.kMeans([[1], [2]], { clusters: 3 })],
    [/width/, () => cluster.kMeans([1, 2])],
    [/row 1, column 0/, () => cluster.kMeans([[1], [NaN]], { clusters: 1 })],
    [/linkage/, () => cluster.hierarchy([[1], [2]], { linkage: 'mean' })],
    [/distance/, () => cluster.silhouettes([[1], [2], [3]], [0, 0, 1], { distance: 'city' })],
    [/one of/, () => cluster.cut(cluster.hierarchy([[1], [2]]), {})],
    [/distnce/, () => cluster.silhouettes([[1], [2], [3]], [0, 0, 1], { distnce: 'cosine' })],
    [/labels/, () => cluster.silhouettes([[1], [2], [3]], [0, 0.5, 1])],
    [/start has/, () => cluster.kMeans([[1], [2]], { clusters: 2, start: [[1]] })],
    [/beginning/, () => cluster.kMeans([[1], [2]], { clusters: 1, beginning: 1 })],
  ])
    assert.throws(call, (e) => e instanceof InvalidArgumentError && message.test(e.message));
});

function member(weights) {
  const network = new Network({ format: 'loom-topology', version: 3, input: { width: 2 },
    cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 2, bias: false }] });
  network.set('0.0.0.0', 'weight', weights);
  return network;
}

test('networks vote', () => {
  const members = [member([1, 0, 0, 1]), member([0, 1, 1, 0]), member([2, 0, 0, 0])];
  const x = [[1, 0], [0, 3]];
  const majority = new Ensemble(members, { vote: 'majority', weights: [1, 1, 2] });
  assert.deepEqual([...majority.forward(x)], [0.75, 0.25, 0.75, 0.25]);
  assert.deepEqual([...majority.predict(x)], [0, 0]);
  assert.equal(majority.accuracy(x, [0, 1]), 0.5);
  assert.deepEqual(majority.matches(x, [0, 1], { minCoverage: 1 })[0],
    { first: 0, second: 1, coverage: 1, overlap: 0, cosine: 0 });
  const { ensemble, weights, bestMember } = Ensemble.select(members, x, [0, 1], { steps: 2 });
  assert.deepEqual(weights, [1, 0, 0]);
  assert.equal(bestMember, 1);
  assert.equal(ensemble.networks[0], members[0]);
  assert.equal(matches([[true, false], [false, true]])[0].coverage, 1);
  for (const given of [undefined, [1, 2, 0.5]]) {
    const one = new Ensemble(members, { weights: given }), merged = one.merge();
    const found = merged.forward(x);
    one.forward(x).forEach((v, i) => assert.ok(Math.abs(v - found[i]) < 2e-6));
  }
  for (const [message, call] of [
    [/majority/, () => majority.merge()],
    [/networks/, () => new Ensemble([])],
    [/weights/, () => new Ensemble(members, { weights: [0, 0, 0] })],
    [/kind/, () => new Ensemble(members, { vote: 'loudest' })],
    [/classes/, () => Ensemble.select(members, x, [0, 2])],
    [/correct/, () => matches([[1], [1, 0]])],
    [/minCover/, () => matches([[1], [0]], { minCover: 1 })],
    [/votes/, () => new Ensemble(members, { votes: 'mean' })],
    [/classes/, () => majority.accuracy(x, [0])],
  ])
    assert.throws(call, (e) => e instanceof InvalidArgumentError && message.test(e.message));
});
