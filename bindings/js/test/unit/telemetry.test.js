// Totals of observed runs, blueprints, and the interface as data.
import assert from 'node:assert/strict';
import test from 'node:test';
import { initLoom, methods, Network } from '../../src/index.js';

await initLoom();

const topology = { format: 'loom-topology', version: 3, depth: 2, input: { width: 2 }, cells: [
  { at: [0, 0, 0, 0], type: 'activation', activation: 'relu', name: 'first' },
  { at: [1, 0, 0, 0], type: 'dense', out: 3 }] };

test('the total of all passes stands beside their events', () => {
  const network = new Network(topology, { seed: 1 }), session = network.session();
  session.observe({ total: true });
  session.run([[1, -2]]);
  session.run([[3, 4], [NaN, 0]]);
  const { events, total } = session.statistics();
  assert.equal(events.length, 4);
  assert.equal(total.length, 2);
  const [first] = total;
  assert.deepEqual([first.passes, first.count, first.nanCount], [2, 6, 1]);
  assert.equal(first.mean, (1 + 0 + 3 + 4 + 0) / 5);
  assert.deepEqual([first.firstBad, first.firstBadPass], [[1, 0], 1]);
  assert.equal(session.statistics().total.length, 2);
  session.observe();
  assert.equal('total' in session.statistics(), false);
});

test('a blueprint has layers, shapes and parameters', () => {
  const { models: [model] } = new Network(topology).blueprint('mine');
  assert.equal(model.id, 'mine');
  assert.equal(model.total_parameters, 9);
  assert.deepEqual(model.layers.map(({ type, name, output_shape }) => [type, name, output_shape]),
    [['activation', 'first', [2]], ['dense', '', [3]]]);
});

test('methods are the functions of the library', () => {
  const { functions, layers, formats } = methods();
  assert.deepEqual(functions.find(({ method_name }) => method_name === 'loom_network_blueprint'), {
    method_name: 'loom_network_blueprint',
    parameters: [{ name: 'network', type: 'handle network' }, { name: 'id', type: 'text' }],
    returns: [{ name: 'blueprint', type: 'json' }] });
  assert.ok(functions.length > 150 && layers.includes('dense') && formats.includes('i8'));
});
