// Rules that change a network between the runs of a session.
import assert from 'node:assert/strict';
import test from 'node:test';
import { initLoom, Network, CorruptError, InvalidArgumentError } from '../../src/index.js';

await initLoom();

const wrap = (layer, rules, more) => ({ format: 'loom-topology', version: 3, input: { width: 4 },
  cells: [{ at: [0, 0, 0, 0], type: 'metacognition', layers: [layer], rules, ...more }] });
const dense = { type: 'dense', out: 4, activation: 'relu' };
const story = [
  { when: 'std', above: 0.5, do: 'morph', dtype: 'i4' },
  { when: 'max', above: 2, release: 1, cooldown: 1, do: 'activation', activation: 'tanh' },
  { when: 'growth', above: 1.5, over: 1, do: 'retype', seed: 9,
    layer: { type: 'dense', out: 4, activation: 'silu' } },
  { when: 'mean', below: 0.3, for: 2, do: 'gate', factor: 0.5 }];
const row = (...values) => [values, values];
const runs = [row(1, -1, 1, -1), row(0.1, -0.1, 0.1, -0.1), row(3, -3, 3, -3), row(1, -1, 1, -1),
  row(1, 1, 1, 1), row(-1, -1, -1, -1), row(3, -3, 3, -3), row(0, 0, 0, 0), row(1, -1, 1, -1)];

test('rules act, and a copy that replays the trace has the same bits', () => {
  const network = new Network(wrap(dense, story), { seed: 3 }), twin = network.copy();
  const session = network.session({ maxRows: 2 });
  assert.equal(session.info.metacognition.rules, 4);
  const outputs = runs.map((x) => [...session.run(x)]);
  const trace = session.trace();
  assert.ok(trace.length >= 4, JSON.stringify(trace));
  assert.equal(session.info.metacognition.acts, trace.length);
  const again = twin.replay(trace, { maxRows: 2 });
  assert.deepEqual(runs.map((x) => [...again.run(x)]), outputs);
  assert.deepEqual(again.trace(), trace);
  assert.equal(twin.digest, network.digest);
  assert.throws(() => twin.replay(trace), InvalidArgumentError);
  assert.throws(() => network.copy().replay([{ pass: 1 }]), CorruptError);
});

test('forward and sessions that ignore rules leave the network as it is', () => {
  const network = new Network(wrap(dense, story), { seed: 3 }), { digest } = network;
  for (const x of runs) network.forward(x);
  const session = network.session({ ignoreRules: true });
  for (const x of runs) session.run(x);
  assert.deepEqual(session.trace(), []);
  assert.equal(session.info.metacognition, null);
  assert.equal(network.digest, digest);
});

test('a closed gate holds NaN back, and a rule that does not fit is refused', () => {
  const rules = [{ when: 'nan_count', above: 0, do: 'gate', factor: 0 }];
  const session = new Network(wrap({ type: 'activation', activation: 'linear' }, rules)).session();
  session.run([[NaN, 1, 1, 1]]);
  assert.deepEqual([...session.run([[NaN, 1, 1, 1]])], [0, 0, 0, 0]);
  assert.throws(() => new Network(wrap({ ...dense, out: 3 },
    [{ when: 'std', above: 1, do: 'disable' }])), /rule 0: disable/);
});
