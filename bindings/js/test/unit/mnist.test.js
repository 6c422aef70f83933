// MNIST's images are learned to the same bits here as by every native build:
// tests/golden/mnist_training.json.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import zlib from 'node:zlib';
import { initLoom, Network, Trainer } from '../../src/index.js';

const folder = new URL('../../../../../shared/data/mnist/', import.meta.url);
const file = (name, header) =>
  new Uint8Array(zlib.gunzipSync(fs.readFileSync(new URL(name, folder)))).subarray(header);

test('200 steps of a convolutional network on MNIST end with the golden digest',
    { skip: fs.existsSync(folder) ? false : 'needs ../shared/data/mnist' }, async () => {
  await initLoom();
  const { digest, spec: { network: topology, format, version, ...spec } } =
    JSON.parse(
      fs.readFileSync(new URL('../../../../tests/golden/mnist_training.json', import.meta.url)));
  const network = new Network(topology, { seed: spec.seed });
  const data = { x: Float32Array.from(file('t10k-images-idx3-ubyte.gz', 16)),
    classes: Int32Array.from(file('t10k-labels-idx1-ubyte.gz', 8)) };
  const trainer = new Trainer(network, data, spec);
  trainer.step(spec.steps);
  assert.equal(trainer.digest, digest);
  trainer.dispose();
  network.dispose();
});
