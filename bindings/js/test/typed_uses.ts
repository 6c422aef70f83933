// What TypeScript accepts of the package, and what it refuses: tools/check/package/js_types.sh. It
// is not run.
import {
  Data, LoomError, Network, Seq2Seq, Session, Trainer, Transformer, compareDna, createWorker,
  fakeQuantize, initLoom, verify,
} from '@openfluke/welvet';
import type { Topology, TrainingSpec } from '@openfluke/welvet';

await initLoom({ threads: 2 });
const topology: Topology = {
  format: 'loom-topology', version: 2, input: { width: 4 },
  cells: [
    { at: [0, 0, 0, 0], type: 'dense', out: 8, activation: 'relu' },
    { at: [0, 0, 1, 0], type: 'dense', out: 3 },
  ],
};
const network = new Network(topology, { seed: 1 });
const spec: TrainingSpec = {
  optimizer: { type: 'adamw' }, loss: 'cross_entropy', steps: 10, batch: 3, schedule: { lr: 0.01 },
};
const trainer = new Trainer(network, Data.classes([[1, 2, 3, 4]], [0]), spec);
const loss: number = (await trainer.run((step) => step.loss < 0.1)).loss;
const rows: Float32Array | Float64Array | undefined = Object.values(network.info).length > 0
  ? new Float32Array(4) : undefined;
const cosine: number | null = compareDna(network, network.copy()).layers[0].cosine;
const fingerprint: string = (await verify({ device: 'cpu' })).fingerprint;
const values: Float32Array = fakeQuantize([[1, 2], [3, 4]], 'i8');
const model = await Transformer.loadModel('embedded');
for await (const part of model.generate('Once', { maxTokens: 8 })) console.log(part.length);
const finish: 'length' | 'eos' | 'stop' | 'cancelled' = (await model.generateText('Once')).finish;
const worker = await createWorker();
const remote = await worker.Network.create(topology);
const digest: string = await remote.digest;
try {
  network.morph('i8');
} catch (error) {
  if (error instanceof LoomError && error.code === 'out_of_memory') console.log(error.message);
}
console.log(loss, rows, cosine, fingerprint, values, finish, digest, Session, Seq2Seq);

new Network(topology, { sed: 1 });  // wrong
new Network({ ...topology, input: { wdth: 4 } });  // wrong
const cells: Topology['cells'] = [{ at: [0, 0, 0, 0], type: 'dnse', out: 8 }];  // wrong
const batch: TrainingSpec = { batchSize: 3 };  // wrong
new Trainer(network, { x: [[1]] }, spec);  // wrong
trainer.step('2');  // wrong
model.generate('Once', { maxTokens: '8' });  // wrong
model.generate('Once', { max_tokens: 8 });  // wrong
const text: string = model.tokenize('Once');  // wrong
network.get('0.0.0.0', 'weight', { dtype: 'i8' });  // wrong
const now: string = remote.digest;  // wrong
new Transformer();  // wrong
console.log(cells, batch, text, now);
