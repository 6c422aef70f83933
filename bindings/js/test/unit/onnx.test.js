// ONNX graphs through InferenceSession and Tensor, as code for onnxruntime-web uses them.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import test, { before } from 'node:test';
import { initLoom, InferenceSession, Tensor } from '../../src/index.js';

const FILE = new URL('../../../../tests/cases/data/tiny.onnx', import.meta.url);
const X = new Tensor('float32', Float32Array.of(1, 2, 3, -1, 0, 1), [2, 3]);

before(() => initLoom());

test('a graph runs on tensors by name', async () => {
  for (const source of [fs.readFileSync(FILE), FILE.pathname]) {
    const session = await InferenceSession.create(source);
    assert.deepEqual([session.inputNames, session.outputNames], [['x'], ['y']]);
    const { y } = await session.run({ x: X });
    assert.ok(y instanceof Tensor);
    assert.deepEqual([y.type, y.dims, [...y.data]], ['float32', [2, 2], [2.25, 5, 0, 1]]);
    assert.deepEqual(Object.keys(await session.run({ x: X }, ['y'])), ['y']);
    const { network, ports } = session.network();
    assert.deepEqual([...network.forward([[1, 2, 3]])], [2.25, 5]);
    assert.equal(ports.inputs[0].name, 'x');
    const both = session.network({ dims: { batch: 2 } });
    assert.deepEqual([...both.network.forward([[...X.data]])], [2.25, 5, 0, 1]);
    assert.throws(() => session.network({ dims: { seq: 2 } }), /no open dimension 'seq'/);
    assert.throws(() => session.network({ dim: {} }), /no option "dim"/);
    both.network.dispose();
    network.dispose();
    await session.release();
    await assert.rejects(session.run({ x: X }), { name: 'InvalidHandleError' });
  }
});

test('what does not fit is refused', async () => {
  const session = await InferenceSession.create(fs.readFileSync(FILE));
  await assert.rejects(session.run({ x: [1, 2, 3] }), /the input "x" is no Tensor/);
  await assert.rejects(session.run({ z: X }), /z/);
  await assert.rejects(session.run({ x: new Tensor(Float64Array.from(X.data), [2, 3]) }),
    /the input "x" is float32, got float64/);
  await assert.rejects(session.run({}), /x/);
  await assert.rejects(session.run({ x: X }, ['z']), /no output "z": there are y/);
  await assert.rejects(InferenceSession.create(FILE.pathname, { executionProviders: ['wasm'] }),
    /no option "executionProviders"/);
  await assert.rejects(InferenceSession.create('nowhere.onnx'), { name: 'NotFoundError' });
  assert.throws(() => new Tensor('float32', [1, 2], [3]), /2 values are not \[3\]/);
  assert.throws(() => new Tensor('float16', [1]), /"float16" is no type of tensors/);
  assert.throws(() => new Tensor([1, 2]), /give a type/);
  session.dispose();
});
