// Saved programs: the bits of sessions and meshes.
import assert from 'node:assert/strict';
import test from 'node:test';
import { initLoom, InvalidArgumentError, Network, Program, StepMesh, UnsupportedError }
  from '../../src/index.js';

await initLoom();
const NET = { format: 'loom-topology', version: 3, layers_per_cell: 2, input: { width: 3 }, cells: [
  { at: [0, 0, 0, 0], type: 'dense', out: 4, activation: 'tanh' },
  { at: [0, 0, 0, 1], type: 'dense', out: 2, dtype: 'i8' }] };

test('a saved program has the bits of its network', async () => {
  const network = new Network(NET, { seed: 1 });
  const program = new Program(network, network.saveProgram({ maxRows: 4 }));
  const x = [0.5, -1, 2, 3, 4, -5];
  const want = network.session().run(x);
  assert.deepEqual(program.run({ x }).y, want);
  assert.deepEqual((await program.runAsync({ x })).y, want);
  assert.equal(program.info.sha256, network.programSha256({ maxRows: 4 }));
  assert.match(program.text, /matmul/);
  assert.throws(() => program.run({ z: x }), InvalidArgumentError);
  assert.throws(() => program.set({ R: 5 }), { code: 'out_of_range' });
  assert.throws(() => new Program(network, new Uint8Array(40)), { code: 'corrupt' });
  assert.throws(() => new Program(network, 'bytes'), /bytes: expected bytes, got string/);
  assert.throws(() => new Program(network, network.saveProgram(), { mode: 'auto' }),
    UnsupportedError);
});

test('of a mesh it continues, and its states are values', () => {
  const network = new Network({ format: 'loom-topology', version: 3, depth: 3, step_mesh: true,
    input: { width: 1 }, cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 1, bias: false,
      keep_previous: true, links: [{ read: [2, 0, 0, 0] }], shape: [1] }] }, { seed: 4 });
  const mesh = new StepMesh(network), program = new Program(network, mesh.saveProgram(4));
  const x = Array.from({ length: 12 }, (_, i) => Math.sin(i)), want = mesh.run(x), got = [];
  for (let t = 0; t < 12; t += 4) got.push(...program.run({ x: x.slice(t, t + 4) }).y);
  assert.deepEqual(got, [...want]);
  assert.equal(program.read('1.0.0.0:value')[0], mesh.value(1)[0]);
  program.write('1.0.0.0:value', [7]);
  assert.equal(program.read('1.0.0.0:value')[0], 7);
  program.reset();
  assert.equal(program.read('1.0.0.0:value')[0], 0);
});
