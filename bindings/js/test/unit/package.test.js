// The package as a program in Node uses it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { before, after } from 'node:test';
import zlib from 'node:zlib';
import { initLoom, Network, Seq2Seq, Tokenizer, Trainer, Transformer, createWorker, gpu, verify,
  LoomError, InvalidArgumentError, InvalidHandleError, NotFoundError, TruncatedError, CorruptError,
    UnsupportedError } from '../../src/index.js';
import { asset } from '../../src/runtime/module.js';
import { library } from '../../src/runtime/runtime.js';
import { yinYang } from '../../../../examples/browser/points.js';

const XOR = { x: [[0, 0], [0, 1], [1, 0], [1, 1]], y: [0, 1, 1, 0] };
const SPEC = { loss: 'mse', steps: 200, batch: 4, optimizer: { type: 'adamw', weightDecay: 0.01 },
  schedule: { type: 'constant', lr: 0.03 } };
const TOPOLOGY = {
  format: 'loom-topology', version: 1, layers_per_cell: 2, input: { width: 2 },
  cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 8, activation: 'tanh' },
      { at: [0, 0, 0, 1], type: 'dense', out: 1 }],
};
const STORY = { maxTokens: 40, temperature: 0.7, seed: 3 };
const live = () => library().call('live_handles').count;
// What the native build computes: tools/page_golden.cpp.
const { story, training } =
  JSON.parse(fs.readFileSync(new URL('../../../../examples/browser/golden.json', import.meta.url)));

let loom, model;
before(async () => {
  loom = await initLoom();
  model = await Transformer.loadModel('embedded');
});
after(() => model.dispose());

test('the module is small, and imports WASI and what a GPU takes alone', () => {
  for (const name of ['loom_relaxed.wasm', 'loom_threads.wasm', 'loom_threads_relaxed.wasm',
      'loom.wasm']) assert.ok(zlib.gzipSync(fs.readFileSync(asset(name)), { level: 9 })
        .length < 1.75e6);
  const file = fs.readFileSync(asset('loom.wasm'));
  assert.deepEqual(
    [...new Set(WebAssembly.Module.imports(new WebAssembly.Module(file))
        .map((i) => i.module))].sort(), ['loom_gpu', 'wasi_snapshot_preview1']);
});

test('compareDna finds shared weights, whatever their format and place, by either name', () => {
  assert.equal(loom.compareDNA, loom.compareDna);
  const cells = [0, 1].map((l) => ({ at: [0, 0, 0, l], type: 'dense', out: 16 }));
  const spec = { format: 'loom-topology', version: 3, layers_per_cell: 2, input: { width: 16 },
    cells };
  const a = new loom.Network(spec, { seed: 1 }), b = new loom.Network(spec, { seed: 2 });
  assert.deepEqual(a.dna.layers.map(({ path, values }) => [path, values]),
    [['0.0.0.0', 272], ['0.0.0.1', 272]]);
  assert.equal(a.dna.layers[0].sketch.length, 256);
  assert.deepEqual(loom.compareDna(a, b).shifts, []);
  b.set('0.0.0.1', 'weight', a.get('0.0.0.0', 'weight'));
  b.morph('i4');
  const { shifts, onlyA } = a.compareDna(b);
  assert.deepEqual(shifts.map(({ from, to, movedUnits }) => [from, to, movedUnits]),
    [['0.0.0.0', '0.0.0.1', 0]]);
  assert.deepEqual(onlyA, []);
  assert.throws(() => a.compareDna(spec), /expected a Network/);
  assert.throws(() => loom.compareDna(spec, a), /expected a Network/);
  a.dispose();
  b.dispose();
});

test('fakeQuantize rounds as a format does, by either name', () => {
  assert.equal(loom.simulate, loom.fakeQuantize);
  assert.deepEqual([...loom.fakeQuantize([1, 0.25, -1, 3], 'f32', { rows: 2 })], [1, 0.25, -1, 3]);
});

test('the numerics table has the golden fingerprint', async () => {
  const report = await verify();
  assert.equal(report.fingerprint, report.golden);
  assert.equal(report.equal, true);
});

test('an audit has what the host tells, and a reason for each null', async () => {
  const report = await loom.audit({ device: 'cpu' });
  const { os, cpu, memory, caches, unknown } = report;
  assert.deepEqual([os.name, os.architecture, caches], ['wasm', 'wasm32', null]);
  assert.equal(cpu.logical_cores ?? 0, globalThis.navigator?.hardwareConcurrency ?? 0);
  assert.ok(memory.resident > 0 && memory.resident % memory.page_size === 0);
  const nulls = ['os', 'cpu', 'memory'].flatMap((section) => Object.entries(report[section])
    .filter(([, value]) => value === null).map(([key]) => `${section}.${key}`));
  assert.deepEqual(Object.keys(unknown).sort(), [...nulls, 'caches', 'gpus', 'measured'].sort());
  const found = await loom.audit({ measure: true });
  assert.ok(found.unknown.gpus.includes('navigator.gpu'));
  assert.ok(found.measured.read_bytes_per_second > 1e6 && found.measured.i8_ops > 1e6);
  await assert.rejects(loom.audit({ device: 'gpu' }), (e) => e instanceof UnsupportedError);
  await assert.rejects(loom.audit({ speed: 1 }), (e) => e instanceof InvalidArgumentError);
});

test('the embedded model tells the story that the native build tells', async () => {
  const { prompt, options, text, fingerprint } = story;
  const pieces = [];
  for await (const piece of model.generate(prompt, options)) pieces.push(piece);
  assert.equal(pieces.join(''), text);
  const whole = await model.generateText(prompt, options);
  assert.deepEqual([whole.text, whole.fingerprint], [text, fingerprint]);
  assert.equal(model.generateSync(prompt, options).fingerprint, fingerprint);
});

test('activations of eight bits are an option of a model', async () => {
  const text = { maxTokens: 4, temperature: 0 };
  const losses = [];
  for (const activations of ['', 'q15', 'i8']) {
    const one = await Transformer.loadModel('embedded', { format: 'i8', activations });
    losses.push((await one.evaluate('Once upon a time there was a cat.')).loss);
    one.dispose();
  }
  assert.equal(losses[0], losses[1]);
  assert.notEqual(losses[0], losses[2]);
  assert.ok(Math.abs(losses[0] - losses[2]) < 0.1);
  const wrong = await Transformer.loadModel('embedded', { activations: 'i4' });
  assert.throws(() => wrong.generateSync('Once', text), { code: 'invalid_argument' });
  wrong.dispose();
});

test('the same model from a path, a URL, bytes, a Blob and a stream', async () => {
  const expected = (await model.generateText('Once', STORY)).fingerprint;
  const url = asset('embedded.entity');
  const file = fs.readFileSync(url);
  const sources = [url.pathname, url, file, new Blob([file]), new Blob([file]).stream(),
      `data:application/octet-stream;base64,${file.toString('base64')}`];
  for (const source of sources) {
    const again = await Transformer.loadModel(source);
    assert.equal((await again.generateText('Once', STORY)).fingerprint, expected);
    again.dispose();
  }
});

test('loading says how far it is, can be stopped, and refuses what is broken', async () => {
  const url = asset('embedded.entity');
  const seen = [];
  (await Transformer.loadModel(url, { onProgress: (p) => seen.push(p) })).dispose();
  assert.equal(seen.at(-1).loaded, seen.at(-1).total);
  await assert.rejects(Transformer.loadModel(url, { signal: AbortSignal.abort() }),
      { name: 'AbortError' });
  const before = live();
  await assert.rejects(Transformer.loadModel(fs.readFileSync(url).subarray(0, 1000)),
      (e) => e instanceof TruncatedError || e instanceof CorruptError);
  await assert.rejects(Transformer.loadModel('/nowhere/at/all'), NotFoundError);
  assert.equal(live(), before);
});

test('a model of its parts', async () => {
  const { name, maxPositions, bos, eos, sampling } = model.info;
  const { network, tokenizer } = model;
  const made = Transformer.fromNetwork(network, tokenizer,
      { name, maxPositions, bos, eos, sampling });
  assert.equal(made.fingerprint('Once'), model.fingerprint('Once'));
  assert.deepEqual(made.info.sampling, model.info.sampling);
  assert.throws(() => Transformer.fromNetwork(network, null, {}), InvalidArgumentError);
  for (const object of [made, network, tokenizer]) object.dispose();
});

test('variables of chat templates', () => {
  const file = (name) =>
    fs.readFileSync(new URL('../../../../tests/cases/data/' + name, import.meta.url), 'utf8');
  const template = '{{ messages[0].content }}{% if think is defined %}{{ think }}{% endif %}';
  const tokenizer = Tokenizer.parse(file('tiny.tokenizer.json'),
      JSON.stringify({ chat_template: template }));
  const messages = [{ role: 'user', content: 'hello' }];
  assert.equal(tokenizer.info.chat, true);
  assert.equal(tokenizer.decode(tokenizer.chat(messages)), 'hello');
  assert.equal(tokenizer.decode(tokenizer.chat(messages, { variables: { think: ' more' } })),
      'hello more');
});

test('tokens and back', () => {
  const ids = model.tokenize('Once upon a time', { addSpecialTokens: false });
  assert.ok(ids instanceof Int32Array);
  assert.equal(model.detokenize(ids), 'Once upon a time');
  assert.equal(model.logits(ids).length, model.info.vocabSize);
  const tokenizer = Tokenizer.train(['low lower lowest', 'new newer newest'],
      { vocabSize: 270, specialTokens: ['<s>'], bos: '<s>', addBos: true });
  assert.equal(tokenizer.decode(tokenizer.encode('lowest newest', { addSpecialTokens: false })),
      'lowest newest');
  assert.equal(tokenizer.token(tokenizer.info.bos), '<s>');
  assert.throws(() => tokenizer.encode('low', { special: false }),
      /no option "special": known are addSpecialTokens, plain/);
  assert.throws(() => tokenizer.decode([1], { skip: true }), InvalidArgumentError);
});

test('a text can be stopped and left', async () => {
  const controller = new AbortController();
  let n = 0;
  await assert.rejects(async () => {
    for await (const _ of model.generate('Once', { signal: controller.signal, ignoreEos: true }))
      if (++n === 3) controller.abort();
  }, { name: 'AbortError' });
  assert.equal(n, 3);
  for await (const _ of model.generate('Once', STORY)) break;
  const { finish, text } = await model.generateText('Once', { ...STORY, stop: [' upon'] });
  assert.deepEqual([finish, text.includes(' upon')], ['stop', false]);
  // Two at a time have caches of their own.
  const [a, b] =
    await Promise.all([model.generateText('Once', STORY), model.generateText('Once', STORY)]);
  assert.equal(a.fingerprint, b.fingerprint);
  await assert.rejects(model.generateText('Once', { maxTokns: 3 }),
      (e) => e instanceof InvalidArgumentError && e.message.includes('max_tokns'));
});

test('Node has no GPU, and says so', async () => {
  const { available, missing } = await gpu();
  assert.deepEqual([available, missing.includes('navigator.gpu')], [false, true]);
  const absent = (e) => e instanceof UnsupportedError && e.message.includes('navigator.gpu');
  await assert.rejects(model.generateText('Once', { ...STORY, device: 'gpu' }), absent);
  await assert.rejects(verify({ device: 'gpu' }), absent);
  const net = new Network(TOPOLOGY, { seed: 1 }), expected = net.forward(XOR.x);
  assert.throws(() => net.forward(XOR.x, { device: 'gpu' }), absent);
  await assert.rejects(net.forwardAsync(XOR.x, { device: 'gpu' }), absent);
  await assert.rejects(net.train(XOR, SPEC, { device: 'gpu' }).next(), absent);
  assert.deepEqual(await net.forwardAsync(XOR.x, { device: 'auto' }), expected);
  for (const mode of ['cpu-normal', 'cpu-sc', 'cpu-mc', 'auto']) {
    assert.deepEqual(net.forward(XOR.x, { mode }), expected, mode);
    assert.deepEqual(await net.forwardAsync(XOR.x, { mode }), expected, mode);
  }
  assert.throws(() => net.forward(XOR.x, { mode: 'gpu-mc' }), absent);
  assert.throws(() => net.forward(XOR.x, { mode: 'turbo' }), { code: 'invalid_argument' });
  assert.throws(() => net.forward(XOR.x, { mode: 'cpu-sc', device: 'cpu' }),
      { code: 'invalid_argument' });
  const { fingerprint } = await model.generateText('Once', { ...STORY, device: 'auto' });
  assert.equal(fingerprint, model.generateSync('Once', STORY).fingerprint);
  assert.equal(await model.fingerprintAsync('Once'), model.fingerprint('Once'));
  assert.deepEqual(await model.logitsAsync('Once'), model.logits('Once'));
});

test('rows of ids are sequences, and what does not go with them is refused', async () => {
  const network = new Network({
    format: 'loom-topology', version: 3, layers_per_cell: 3, input: { ids: 5, dims: [3] },
    cells: [{ at: [0, 0, 0, 0], type: 'embedding', out: 4 },
        { at: [0, 0, 0, 1], type: 'gru', hidden: 6 }, { at: [0, 0, 0, 2], type: 'dense', out: 5 }],
  });
  const ids = [[1, 2, 3], [4, 0, 2]],
    spec = { loss: 'cross_entropy', steps: 80, batch: 2, schedule: { type: 'constant', lr: 0.05 } };
  assert.deepEqual(network.info.output, { width: 15, dims: [3, 5], axis: 'steps' });
  assert.equal(network.forward(ids).length, 2 * 15);
  assert.deepEqual(network.forward(ids), network.forward(ids.flat()));
  let last;
  for await (const step of network.train({ ids, classes: ids }, spec)) last = step;
  assert.ok(last.loss < 0.1, `loss ${last.loss}`);
  assert.throws(() => network.forward(ids, { head: [0] }), InvalidArgumentError);
  for (const data of [{ ids }, { ids, classes: ids, length: 3 }, { ids, classes: ids, y: ids }])
    assert.throws(() => new Trainer(network, data, spec),
        /expected \{ids, y\} or \{ids, classes\}/);
  network.dispose();
});

test('several inputs are given by name', () => {
  const part =
    (of, ...layers) => ({ type: 'sequential', layers: [{ type: 'part', of }, ...layers] });
  const network = new Network({
    format: 'loom-topology', version: 3, layers_per_cell: 2,
      input: { parts: [{ name: 'text', ids: 5, dims: [2] }, { name: 'price', width: 1 }] },
    cells: [{ at: [0, 0, 0, 0], type: 'parallel',
      layers: [part('text', { type: 'embedding', out: 3 }, { type: 'flatten' }), part('price')] },
        { at: [0, 0, 0, 1], type: 'dense', out: 1 }],
  }, { seed: 1 });
  const named = { text: [[0, 4], [3, 3]], price: [1.5, -1] };
  assert.deepEqual(network.forward(named), network.forward([[0, 4, 1.5], [3, 3, -1]]));
  assert.deepEqual(network.info.input.parts.map((one) => one.name), ['text', 'price']);
  assert.throws(() => network.forward({ text: [[0, 4]] }), /"price" is missing/);
  assert.throws(() => network.forward({ ...named, prise: [1] }), /"prise" is no input/);
  assert.throws(() => network.forward({ ...named, price: [1] }),
      /price has 1 numbers: expected 1 for each row/);
  assert.throws(() => network.forward({ ...named, text: [[0, 5], [1, 1]] }),
      /row 0: text takes ids, whole numbers below 5, got 5/);
  const trainer = new Trainer(network, { x: named, y: [0, 1] },
      { loss: 'mse', steps: 60, batch: 2, schedule: { type: 'constant', lr: 0.05 } });
  const first = trainer.step().loss, last = trainer.step(59).loss;
  assert.ok(last < first / 4, `${first} to ${last}`);
  trainer.dispose();
  network.dispose();
});

test('sequences of unequal length are padded, and their lengths filled in', () => {
  const part =
    (of, ...layers) => ({ type: 'sequential', layers: [{ type: 'part', of }, ...layers] });
  const network = new Network({
    format: 'loom-topology', version: 3, layers_per_cell: 3,
      input: { parts: [{ name: 'steps', dims: [3, 2] }, { name: 'lengths', ids: 4 }] },
    cells: [{ at: [0, 0, 0, 0], type: 'parallel', combine: 'operands',
      layers: [part('steps'), { type: 'part', of: 'lengths' }] },
      { at: [0, 0, 0, 1], type: 'gru', hidden: 3, bidirectional: true, takes: ['lengths'] },
        { at: [0, 0, 0, 2], type: 'dense', out: 1 }],
  }, { seed: 1 });
  const steps = [[[1, 2], [3, 4]], [[5, 6], [7, 8], [9, 1]], [[2, 2]]],
    padded = [[1, 2, 3, 4, 0, 0], [5, 6, 7, 8, 9, 1], [2, 2, 0, 0, 0, 0]];
  const want = network.forward({ steps: padded, lengths: [2, 3, 1] });
  assert.deepEqual(network.forward({ steps }), want);
  assert.deepEqual(network.forward({ steps: steps.map((row) => Float32Array.from(row.flat())) }),
      want);
  assert.throws(() => network.forward({ steps: [[[1, 2], [3, 4], [5, 6], [7, 8]]] }),
      /sequence 0 has 8 numbers: expected 2 for each of at most 3 steps/);
  assert.throws(() => network.forward({ steps, lengths: [2, 3, 1] }), /rows of 4 and of 6 numbers/);
  assert.throws(() => network.forward({ steps: padded, lengths: [2, 4, 1] }),
      /row 1: lengths takes ids, whole numbers below 4, got 4/);
  const trainer = new Trainer(network, { x: { steps }, y: [[0, 0, 0], [0, 1, 0], [1, 0, 0]] },
      { loss: 'mse', steps: 9, batch: 3 });
  assert.ok(trainer.step(9).loss > 0);
  trainer.dispose();
  network.dispose();
});

test('the layer of the guide is the same network in every language', () => {
  const guide = fs.readFileSync(new URL('../../../../docs/guide/own-layers.md', import.meta.url),
      'utf8');
  const [, program] = guide.match(/```js\n([^]*?)```/),
    [, digest] = guide.match(/digest\(\)\.startswith\("(\w+)"\)/);
  const code = program.replace(/^import .*$|^await initLoom\(\);$/gm, ''); // both are above
  const network = new Function('Network', `${code}; return network;`)(Network);
  assert.equal(network.digest.slice(0, digest.length), digest);
  network.dispose();
});

test('several outputs have names and losses', () => {
  const network = new Network({
    format: 'loom-topology', version: 3, layers_per_cell: 4, input: { width: 3 },
      outputs: ['kind', 'box'],
    cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 8 },
        { at: [0, 0, 0, 1], type: 'dense', out: 4 },
          { at: [0, 0, 0, 2], type: 'dense', out: 2, links: [{ read: [0, 0, 0, 0] }] },
      { at: [0, 0, 0, 3], merge: 'operands',
        links: [{ read: [0, 0, 0, 1] }, { read: [0, 0, 0, 2] }] }],
  }, { seed: 1 });
  const x = [[0, 1, 2], [1, 0, 1]], y = { kind: [3, -100], box: [[0, 1], [1, 0]] };
  const before = network.forward(x);
  assert.deepEqual([before.kind.length, before.box.length], [8, 4]);
  const heads = [{ name: 'kind', loss: 'cross_entropy' }, { name: 'box', loss: 'mse' }],
    spec = { heads, steps: 40, batch: 2, schedule: { type: 'constant', lr: 0.05 } };
  const trainer = new Trainer(network, { x, y }, spec);
  const logits = Array.from(before.kind.subarray(0, 4)),
    box = [0, 1, 1, 0].reduce((sum, t, i) => sum + (t - before.box[i]) ** 2 / 4, 0);
  assert.ok(
    Math.abs(trainer.step()
        .loss - (Math.log(logits.reduce((sum, v) => sum + Math.exp(v), 0)) - logits[3] + box))
          < 1e-5);
  assert.ok(trainer.step(39).loss < 0.2);
  trainer.dispose();
  assert.throws(() => new Trainer(network, { x, y: { kind: [3, 1] } }, spec), /"box" is missing/);
  assert.throws(() => new Trainer(network, { x, y: { ...y, bax: [1] } }, spec),
      /"bax" is no output/);
  assert.throws(() => new Trainer(network, { x, y: [[0, 1, 2], [1, 2, 3], [1, 1, 1]] }, spec),
      /targets for each of kind, box/);
  assert.throws(() => new Trainer(network, { x, y: [1, 2, 3] }, spec),
      /targets for each of kind, box/);
  const one =
    new Network({ format: 'loom-topology', version: 3, layers_per_cell: 1, input: { width: 3 },
      cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 1 }] });
  assert.throws(() => new Trainer(one, { x, y: { kind: [0, 1] } },
      { loss: 'mse', steps: 1, batch: 2 }), /one output/);
  assert.throws(() => new Trainer(one, { x, y: [1, 2, 3] }, { loss: 'mse', steps: 1, batch: 2 }),
      /3 numbers for 2 rows/);
  one.dispose();
  assert.throws(() => new Trainer(network, { x, y }, { ...spec, heads: undefined, loss: 'mse' }),
      /give "heads" with a loss for each/);
  network.dispose();
});

test('what JavaScript would make a number of is refused by its place', () => {
  const network = new Network({ format: 'loom-topology', version: 3, input: { width: 1 },
    cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 1 }] }, { seed: 1 });
  for (const [wrong, what] of [[null, 'null'], ['1', 'string'], [undefined, 'undefined'],
    [new Date(0), 'object'], [10n, 'bigint'], [[2], 'a list']])
    assert.throws(() => network.forward([1, wrong]), (e) => e instanceof InvalidArgumentError &&
      e.message === `expected numbers, got ${what} at 1 of them`);
  assert.equal(network.forward([1, true]).length, 2);
});

test('streams are learned in lanes, with a state that goes on', async () => {
  const topology = { format: 'loom-topology', version: 3, layers_per_cell: 3, input: { ids: 8 },
    cells: [
    { at: [0, 0, 0, 0], type: 'embedding', out: 8 }, { at: [0, 0, 0, 1], type: 'lstm', hidden: 12 },
    { at: [0, 0, 0, 2], type: 'dense', out: 8 }] };
  const ids = Array.from({ length: 400 }, (_, i) => (i * i + (i >> 1)) % 8);
  const losses = async (spec) => {
    const network = new Network(topology, { seed: 1 }), found = [];
    const whole = { steps: 3, loss: 'cross_entropy', schedule: { lr: 0.1 }, ...spec };
    for await (const { loss } of network.train({ ids, length: 10 }, whole)) found.push(loss);
    return found;
  };
  const carried = await losses({ streams: 4 });
  assert.equal(carried.length, 3);
  assert.deepEqual(await losses({ streams: 4 }), carried);
  await assert.rejects(losses({ streams: 4, batch: 8 }), (e) => e instanceof InvalidArgumentError &&
    e.message.includes('a window of each of 4 "streams", "batch" says 8'));
});

test('only one class is left out, and what is no class is refused by row', () => {
  const network = new Network({
    format: 'loom-topology', version: 1, layers_per_cell: 1, input: { width: 1 },
    cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 2 }],
  });
  const x = [[0], [1], [2]], spec = { loss: 'cross_entropy', steps: 1, batch: 3 };
  assert.throws(() => new Trainer(network, { x, classes: [1, -1, 1] }, spec),
      /classes, row 1 is -1: .*labels -1 and \+1/);
  new Trainer(network, { x, classes: [1, -1, 1] }, { ...spec, ignore: -1 }).dispose();
  new Trainer(network, { x, classes: [1, -100, 0] }, spec).dispose();
  for (const value of [0.9, NaN, 2 ** 32 + 1])
    assert.throws(() => new Trainer(network, { x, classes: [0, value, 1] }, spec),
        /classes\[1\]: expected a whole number of 32 bits, got /);
  network.dispose();
});

test('samples and classes have weights, and a training becomes longer', () => {
  const net = () => new Network({
    format: 'loom-topology', version: 1, layers_per_cell: 1, input: { width: 1 },
    cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 2 }],
  }, { seed: 3 });
  const x = [[0], [1], [2]], classes = [0, 1, 1],
    spec = { loss: 'cross_entropy', steps: 4, batch: 3 };
  const digest = (data, settings, more = 0) => {
    const network = net(), trainer = new Trainer(network, data, settings);
    if (more) assert.equal(trainer.extend({ steps: more }), 4);
    trainer.step(100);
    const found = trainer.digest;
    trainer.dispose(), network.dispose();
    return found;
  };
  const plain = digest({ x, classes }, spec),
    weighted = digest({ x, classes, weights: [3, 1, 1] }, spec);
  assert.notEqual(weighted, plain);
  assert.equal(digest({ x, classes }, { ...spec, classWeights: [3, 1] }), weighted);
  assert.equal(digest({ x, classes }, { ...spec, steps: 1 }, 3), plain);
  assert.throws(() => digest({ x, classes, weights: [1] }, spec),
      /a weight for each of 3 samples, got 1/);
});

test('networks learn, are saved and morphed', async () => {
  const net = new Network(TOPOLOGY, { seed: 1 });
  const losses = [];
  for await (const { loss } of net.train(XOR, SPEC)) losses.push(loss);
  assert.equal(losses.length, 200);
  assert.ok(losses.at(-1) < 0.01 * losses[0]);
  const y = net.forward(XOR.x);
  assert.ok(Math.abs(y[1] - 1) < 0.2 && Math.abs(y[0]) < 0.2);
  const again = await Network.load(net.save());
  assert.equal(again.digest, net.digest);
  assert.deepEqual(again.forward(XOR.x), y);
  again.morph('i8');
  assert.notDeepEqual(again.forward(XOR.x), y);
  again.morph('f32');
  assert.deepEqual(again.forward(XOR.x), y);
  const [{ path: name, role, rows, cols }] = net.parameters;
  const values = net.get(name, role);
  assert.equal(values.length, rows * cols);
  net.set(name, role, values.map((v) => v + 1));
  assert.notEqual(net.digest, again.digest);
  assert.throws(() => net.forward([[1, 2, 3]]), InvalidArgumentError);
});

test('a training has the bits of the native build', async () => {
  const net = new Network(training.topology, { seed: training.seed });
  let last;
  for await (last of net.train(yinYang(training.samples), training.spec, { every: 100 }));
  assert.deepEqual([last.loss, net.digest], [training.loss, training.digest]);
});

test('a training goes on from its checkpoint with the same bits', () => {
  const whole = new Trainer(new Network(TOPOLOGY, { seed: 1 }), XOR, SPEC);
  whole.step(100);
  const checkpoint = whole.save();
  whole.step(100);
  const resumed = new Trainer(new Network(TOPOLOGY, { seed: 2 }), XOR, SPEC);
  resumed.resume(checkpoint);
  resumed.step(100);
  assert.equal(resumed.digest, whole.digest);
});

test('files, in Node', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'loom-'));
  const file = path.join(folder, 'net.entity');
  const net = new Network(TOPOLOGY, { seed: 1 });
  net.save(file);
  assert.deepEqual(fs.readdirSync(folder), ['net.entity']);
  assert.deepEqual(new Uint8Array(fs.readFileSync(file)), net.save());
  assert.equal((await Network.load(file)).digest, net.digest);
  fs.rmSync(folder, { recursive: true });
});

test('what is saved keeps links and modes, and replaces files alone',
    { skip: process.platform === 'win32' }, () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'loom-'));
  const [real, link, fresh, dangling] =
    ['real.entity', 'link.entity', 'fresh.entity',
        'dangling.entity'].map((name) => path.join(folder, name));
  const net = new Network(TOPOLOGY, { seed: 1 });
  fs.writeFileSync(real, 'old', { mode: 0o600 });
  fs.symlinkSync('real.entity', link);
  fs.symlinkSync('fresh.entity', dangling);
  for (const name of [link, dangling]) {
    net.save(name);
    assert.ok(fs.lstatSync(name).isSymbolicLink());
  }
  assert.deepEqual(new Uint8Array(fs.readFileSync(real)), net.save());
  assert.deepEqual(new Uint8Array(fs.readFileSync(fresh)), net.save());
  assert.equal(fs.statSync(real).mode & 0o777, 0o600);
  fs.chmodSync(real, 0o444);
  fs.writeFileSync(fresh, 'old');
  assert.throws(() => net.save(link), LoomError);
  assert.throws(() => net.save(folder), LoomError);
  assert.throws(() => net.save(path.join(folder, 'missing', 'x.entity')), LoomError);
  assert.deepEqual(fs.readdirSync(folder).sort(),
      ['dangling.entity', 'fresh.entity', 'link.entity', 'real.entity']);
  net.dispose();
  fs.rmSync(folder, { recursive: true });
});

test('an encoder-decoder goes step by step, and finds sequences', () => {
  const file = new URL('../../../../tests/conformance/seq2seq/transformer.json', import.meta.url);
  const network = new Network(JSON.parse(fs.readFileSync(file)), { seed: 3 });
  const source = [[1, 2, 3], [4, 5, 6, 7, 8]], target = [[1, 2, 3, 4, 5], [1, 3, 5, 7, 0]];
  const pad = (row) => [...row, ...Array(6 - row.length).fill(0)];
  const whole =
    network.forward({ source: source.map(pad), source_lengths: [3, 5], target,
      target_lengths: [5, 5] });
  const both = new Seq2Seq(network, { target: 'target', lanes: 6 });
  assert.throws(() => both.step([1, 1]), InvalidArgumentError);
  both.encode({ source }); // padded, and the lengths filled in
  for (let t = 0; t < 5; t++) {
    const y = both.step(target.map((row) => row[t]));
    for (let r = 0; r < 2; r++)
      assert.deepEqual([...y.subarray(r * 9, r * 9 + 9)],
          [...whole.subarray((r * 5 + t) * 9, (r * 5 + t + 1) * 9)]);
  }
  assert.throws(() => both.step([1, 1]), /all 5 positions/);
  both.encode({ source });
  both.step([1, 1]);
  const straight = both.step([2, 3]);
  both.encode({ source });
  both.step([1, 1]);
  both.reorder([1, 1, 0]);
  assert.deepEqual([...both.step([3, 3, 2])],
      [...straight.subarray(9), ...straight.subarray(9), ...straight.subarray(0, 9)]);
  assert.equal(both.info.rows, 3);
  const [first] = both.search({ source }, { start: 1, end: 0 }),
    beams = both.search({ source }, { start: [1], end: 0, beams: 3, lengthPenalty: 0 });
  assert.ok(first[0].ids.length <= 5);
  assert.equal(beams[1].length, 3);
  assert.ok(beams[1][0].score >= beams[1][1].score);
  assert.throws(() => both.search({ source }, { start: 1, beams: 9 }), /as many lanes/);
  assert.throws(() => both.search({ source }, { start: 1, beem: 2 }), /did you mean "beams"|beams/);
  assert.throws(() => both.encode({ source: [[1, null, 2]] }), /null/);
  assert.throws(() => new Seq2Seq(network, { target: 'source' }), UnsupportedError);
  both.dispose();
  network.dispose();
});

test('what is disposed of is an error, and nothing is left', () => {
  const before = live();
  const net = new Network(TOPOLOGY);
  net.forward([[1, 2]]);
  net.dispose();
  net.dispose();
  assert.throws(() => net.digest, InvalidHandleError);
  assert.equal(live(), before);
});

test('the names of the article', async () => {
  await loom.LoadTransformer('embedded');
  assert.equal(loom.Generate('Once upon a time', 12),
      model.generateSync('Once upon a time', { maxTokens: 12 }).text);
});

test('threads change nothing but the time', async () => {
  const worker = await createWorker({ threads: 2 });
  // src/workers/threads.js says why
  const threads = Number(process.versions.node.split('.')[0]) >= 22
    ? Math.min(2, os.availableParallelism()) : 1;
  assert.equal((await worker.info()).threads, threads);
  const far = await worker.Transformer.loadModel('embedded');
  assert.equal((await far.generateText(story.prompt, story.options)).fingerprint,
      story.fingerprint);
  assert.equal((await far.stats).threads, threads);
  const net = await worker.Network.create(training.topology, { seed: training.seed });
  for await (const _ of net.train(yinYang(training.samples), training.spec, { every: 500 }));
  assert.equal(await net.digest, training.digest);
  worker.terminate();
});

test('a worker gives the same, with the caller free', async () => {
  const worker = await createWorker({ module: asset('loom.wasm') });
  (await worker.Transformer.loadModel(asset('embedded.entity'))).dispose();
  const far = await worker.Transformer.loadModel('embedded');
  const { prompt, options, text, fingerprint } = story;
  let heard = '';
  for await (const piece of far.generate(prompt, options)) heard += piece;
  assert.equal(heard, text);
  assert.equal((await far.generateText(prompt, options)).fingerprint, fingerprint);
  const controller = new AbortController();
  await assert.rejects(async () => {
    for await (const _ of far.generate('Once', { signal: controller.signal, ignoreEos: true }))
      controller.abort();
  }, { name: 'AbortError' });
  const net = await worker.Network.create(TOPOLOGY, { seed: 1 });
  let last;
  for await (last of net.train(XOR, SPEC));
  assert.equal(last.step, 200);
  const here = new Network(TOPOLOGY, { seed: 1 });
  for await (const _ of here.train(XOR, SPEC, { every: 50 }));
  assert.equal(await net.digest, here.digest);
  await assert.rejects(net.morph('nothing'),
      (e) => e instanceof LoomError && e.code === 'invalid_argument');
  worker.terminate();
  await assert.rejects(far.info);
});
