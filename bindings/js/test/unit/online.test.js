// Learning beside answers.
import assert from 'node:assert/strict';
import test from 'node:test';
import { initLoom, Network, Online, CancelledError, InvalidArgumentError, NotFoundError }
  from '../../src/index.js';

await initLoom();

const TOPOLOGY = { format: 'loom-topology', version: 3, layers_per_cell: 2,
  input: { width: 4 }, cells: [
  { at: [0, 0, 0, 0], type: 'dense', out: 24, activation: 'relu' },
  { at: [0, 0, 0, 1], type: 'dense', out: 3 }] };
const SPEC = { loss: 'cross_entropy', batch: 16, schedule: { lr: 0.01 }, seed: 3 };

let state = 1;
/** A row, and the class of its largest value, moved on by the task. */
function sample(task) {
  const x = Float32Array.from({ length: 4 }, () => {
    state = (state * 48271) % 2147483647;
    return 2 * state / 2147483647 - 1;
  });
  const largest = [0, 1, 2].reduce((best, i) => (x[i] > x[best] ? i : best), 0);
  return { x, y: (largest + task) % 3 };
}
const network = () => new Network(TOPOLOGY, { seed: 1 });

test('three tasks, in steps', () => {
  const online = network().online(SPEC, { deadlineMs: 1000, recent: 64 });
  for (let i = 0; i < 1200; i++) {
    const { x, y } = sample(Math.floor(i / 400));
    assert.equal(online.answer(x).length, 3);
    online.feedback(y);
    assert.equal(online.learn({ steps: 2 }), 2);
  }
  const { tasks, latency, windows, outputs } = online.report;
  assert.deepEqual(tasks.map((one) => one.source), ['start', 'detector', 'detector']);
  tasks.forEach((one, i) => {
    assert.ok(Math.abs(one.output - 400 * i) < 15);
    assert.ok(one.recovered.outputs < 300);
  });
  assert.equal(outputs, 1200);
  assert.equal(windows.reduce((n, w) => n + w.outputs, 0), 1200);
  assert.equal(latency.late, 0);
  assert.equal(latency.cpuMs, null);
  assert.equal(latency.preempted, null);
  assert.ok(latency.wallMs.p99_9 <= latency.wallMs.p100);
  assert.equal(online.info.task, '2');
  online.dispose();
});

test('time has no part in the bits of steps', () => {
  const run = (slices) => {
    state = 7;
    const net = network(), online = new Online(net, SPEC);
    for (let i = 0; i < 40; i++) {
      const { x, y } = sample(0);
      online.answer(x);
      online.feedback(y);
      if (!slices) online.learn({ steps: 1 });
      else while (online.learn({ ms: 0.003, steps: 1 }) === 0);
    }
    online.publish();
    online.commit();
    return [...net.forward([0.1, 0.2, 0.3, 0.4])];
  };
  assert.deepEqual(run(true), run(false));
});

test('rows, feedback that comes later, held samples', () => {
  const online = network().online({ ...SPEC, loss: 'mse' }, { tolerance: 0.2, detector: 'none',
    task: 'a' });
  const rows = Array.from({ length: 64 }, () => sample(0).x);
  const y = rows.map((x) => [x[0] / 2, x[1] / 2, x[2] / 2]);
  for (let i = 0; i < 100; i++) {
    assert.equal(online.answer(rows).length, 192);
    const { last } = online;
    online.answer(rows[0]);
    online.feedback(y, last);
    online.learn({ steps: 5 });
  }
  assert.ok(online.measure({ x: rows, y }) > 0.9);
  online.changeTask('b');
  online.add({ x: rows, y: y.map((row) => row.map((v) => -v)) });
  online.learn({ steps: 400 });
  assert.ok(online.measure({ x: rows, y }, 'a') < 0.5);
  const [a] = online.report.forgetting;
  assert.equal(a.task, 'a');
  assert.ok(a.forgetting > 0.3);
  assert.throws(() => online.feedback(y[0], 3), NotFoundError);
  assert.throws(() => online.feedback([1, 2]), InvalidArgumentError);
});

test('learns for a time, and refuses by name', () => {
  const net = network(), online = net.online(SPEC);
  const { x, y } = sample(0);
  online.answer(x);
  online.feedback(y);
  const steps = online.learn({ ms: 20 });
  assert.ok(steps > 0);
  assert.equal(online.info.steps, steps);
  online.library.call('cancel', { handle: online.handle });
  assert.throws(() => online.learn({ steps: 3 }), CancelledError);
  assert.equal(online.learn({ steps: 3 }), 3);
  assert.throws(() => online.learn(), { code: 'invalid_argument' });
  assert.throws(() => online.learn({ ms: -1 }), InvalidArgumentError);
  assert.throws(() => online.learn({ seconds: 1 }), InvalidArgumentError);
  assert.throws(() => online.answer([1, 2]), InvalidArgumentError);
  assert.throws(() => net.online({ epochs: 3 }), /epochs/);
  assert.throws(() => net.online(SPEC, { recnt: 3 }), /recent/);
  assert.throws(() => net.online(SPEC, { device: 'gpu' }), InvalidArgumentError);
});
