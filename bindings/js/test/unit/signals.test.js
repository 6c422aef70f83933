// AbortSignals: what takes one stops with its reason, goes on afterwards, and leaves nothing; what
// cannot see one refuses it by name.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import test, { before, after } from 'node:test';
import { initLoom, InferenceSession, Network, Seq2Seq, Tensor, Tokenizer, Trainer, Transformer,
  createWorker, evaluate, liveHandles, verify, InvalidArgumentError } from '../../src/index.js';
import { asset, instantiate } from '../../src/runtime/module.js';
import { bringEmbedded } from '../../src/runtime/runtime.js';

const NETWORK = { format: 'loom-topology', version: 3, layers_per_cell: 2, input: { width: 64 },
  cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 256, activation: 'tanh' },
    { at: [0, 0, 0, 1], type: 'dense', out: 4 }] };
const IDS = { format: 'loom-topology', version: 3, layers_per_cell: 2, input: { ids: 9 },
  cells: [{ at: [0, 0, 0, 0], type: 'embedding', out: 4 },
    { at: [0, 0, 0, 1], type: 'gru', hidden: 4 }] };
const ROWS = Array.from({ length: 3000 }, (_, r) =>
  Float32Array.from({ length: 64 }, (_, i) => Math.sin(r + i)));
const DATA = { x: ROWS.slice(0, 64), y: ROWS.slice(0, 64).map((row) => row.slice(0, 4)) };
const SPEC = { loss: 'mse', steps: 5000, batch: 32, schedule: { type: 'constant', lr: 0.001 } };
const TEXT = 'Once upon a time there was a dog. '.repeat(100);

let model;
before(async () => {
  await initLoom();
  model = await Transformer.loadModel('embedded');
});
after(() => model.dispose());

/** What a name in words makes of a body that takes a signal: aborted before, while it runs by the
 *  platform's reason, and by one of the caller's own. */
async function aborts(body, milliseconds = 5) {
  await assert.rejects(body(AbortSignal.abort()),
    (e) => e instanceof DOMException && e.name === 'AbortError');
  const why = new Error('enough');
  await assert.rejects(body(AbortSignal.abort(why)), (e) => e === why);
  await assert.rejects(body(AbortSignal.timeout(milliseconds)), { name: 'TimeoutError' });
  const controller = new AbortController();
  setTimeout(() => controller.abort(), milliseconds);
  const begin = performance.now();
  await assert.rejects(body(controller.signal), { name: 'AbortError' });
  assert.ok(performance.now() - begin < 2000, 'an abort is seen soon');
}
async function rest(pieces) {
  for await (const _ of pieces);
}

test('texts end where they are aborted, and the next one is whole', async () => {
  const endless = { ignoreEos: true, maxTokens: 0 };
  const expected = model.generateSync('Once', { maxTokens: 8 }).fingerprint, lives = liveHandles();
  await aborts((signal) => model.generateText('Once', { ...endless, signal }));
  await aborts((signal) => rest(model.generate('Once', { ...endless, signal })));
  assert.equal((await model.generateText('Once', { maxTokens: 8 })).fingerprint, expected);
  for (const method of ['logitsAsync', 'fingerprintAsync'])
    await assert.rejects(model[method]('Once', { signal: AbortSignal.abort() }),
      { name: 'AbortError' });
  assert.equal(liveHandles(), lives);
});

test('a conversation is aborted, in the shapes of OpenAI too', async () => {
  const tiny = await Transformer.loadModel(
    new URL('../../../../tests/cases/data/tiny.entity', import.meta.url));
  const said = [{ role: 'user', content: 'hi' }], lives = liveHandles();
  const endless = { ignoreEos: true, maxTokens: 0 };
  const gone = (signal) => ({ ...endless, signal });
  const stopped = AbortSignal.abort();
  await assert.rejects(rest(tiny.chat(said, gone(stopped))), { name: 'AbortError' });
  await assert.rejects(tiny.chatText(said, gone(stopped)), { name: 'AbortError' });
  await assert.rejects(tiny.createChatCompletion(said, gone(stopped)), { name: 'AbortError' });
  const controller = new AbortController();
  let n = 0;
  const chunks = tiny.createChatCompletion(said, { ...gone(controller.signal), stream: true });
  const third = async () => {
    for await (const _ of chunks) if (++n === 3) controller.abort();
  };
  await assert.rejects(third(), { name: 'AbortError' });
  assert.equal(n, 3);
  assert.ok((await tiny.chatText(said, { maxTokens: 3 })).tokens.length <= 3);
  assert.equal(liveHandles(), lives + 1); // the generator that waits for the next text
  tiny.dispose();
});

test('an evaluation ends between two chunks', async () => {
  const expected = await model.evaluate('Once upon a time'), lives = liveHandles();
  await aborts((signal) => model.evaluate(TEXT, { signal }));
  await aborts((signal) => evaluate(model, TEXT, model, { signal }));
  assert.equal(liveHandles(), lives);
  assert.deepEqual(await model.evaluate('Once upon a time',
    { signal: new AbortController().signal }), expected);
});

test('runs of a network and of a session end between slices, with the same bits', async () => {
  const network = new Network(NETWORK, { seed: 1 }), expected = network.forward(ROWS);
  const session = network.session({ maxRows: 3000 }), { signal } = new AbortController();
  const many = [].concat(...Array(20).fill(ROWS));
  await aborts((stop) => network.forwardAsync(many, { signal: stop }), 1);
  await assert.rejects(session.runAsync(ROWS, { signal: AbortSignal.abort() }),
    { name: 'AbortError' });
  assert.deepEqual(await network.forwardAsync(ROWS, { signal }), expected);
  assert.deepEqual(await session.runAsync(ROWS, { signal }), expected);
  assert.deepEqual(session.run(ROWS), expected);
  const ids = new Network(IDS, { seed: 1 }), text = Array.from({ length: 700 }, (_, i) => i % 9);
  await assert.rejects(ids.forwardTokensAsync(text, { signal: AbortSignal.abort() }),
    { name: 'AbortError' });
  assert.deepEqual(await ids.forwardTokensAsync(text, { signal }), ids.forwardTokens(text));
  for (const object of [session, ids, network]) object.dispose();
});

test('trainings end between two steps, and go on with the same bits', async () => {
  const make = () => new Trainer(new Network(NETWORK, { seed: 1 }), DATA, SPEC);
  const stopped = make(), whole = make();
  await aborts((signal) => stopped.stepAsync(5000, { signal }), 20);
  await assert.rejects(stopped.run(null, { signal: AbortSignal.timeout(20) }),
    { name: 'TimeoutError' });
  const { done } = stopped;
  assert.ok(done > 0 && done < 5000, `${done} steps`);
  const last = await stopped.stepAsync(50, { signal: new AbortController().signal });
  whole.step(done);
  assert.deepEqual(last, whole.step(50));
  assert.equal(stopped.digest, whole.digest);
  const network = new Network(NETWORK, { seed: 1 }), lives = liveHandles();
  for (const every of [1, 5000])
    await aborts((signal) => rest(network.train(DATA, SPEC, { signal, every })), 20);
  await assert.rejects(rest(model.train(TEXT, { steps: 9, batch: 1 },
    { signal: AbortSignal.abort() })), { name: 'AbortError' });
  assert.equal(liveHandles(), lives);
});

test('a search goes row by row with a signal, and finds the same', async () => {
  const file = new URL('../../../../tests/conformance/seq2seq/transformer.json', import.meta.url);
  const network = new Network(JSON.parse(fs.readFileSync(file)), { seed: 3 });
  const seq2seq = new Seq2Seq(network, { target: 'target', lanes: 6 });
  const source = [[1, 2, 3], [4, 5, 6, 7, 8], [2, 2]], { signal } = new AbortController();
  for (const options of [{ start: 1, end: 0, beams: 2 }, { start: 1, temperature: 2, seed: 5 }]) {
    const found = seq2seq.search({ source }, options);
    assert.deepEqual(await seq2seq.searchAsync({ source }, { ...options, signal }), found);
    assert.deepEqual(await seq2seq.generateAsync({ source }, { ...options, signal }),
      seq2seq.generate({ source }, options));
    assert.deepEqual(seq2seq.generate({ source }, options), found.map(([best]) => best.ids));
  }
  const stop = { signal: AbortSignal.abort() };
  for (const body of [() => seq2seq.searchAsync({ source }, { start: 1, ...stop }),
    () => seq2seq.encodeAsync({ source }, stop), () => seq2seq.stepAsync([1], stop)])
    await assert.rejects(body(), { name: 'AbortError' });
});

test('loading ends with the reason', async () => {
  const why = new Error('enough'), signal = AbortSignal.abort(why);
  for (const body of [() => Transformer.loadModel('embedded', { signal }),
    () => Transformer.loadModel(asset('embedded.entity'), { signal }),
    () => Network.load(new Uint8Array(9), { signal }),
    () => Tokenizer.load('tokenizer.json', { signal }),
    () => InferenceSession.create(new Uint8Array(9), { signal })])
    await assert.rejects(body(), (e) => e === why);
  // In the middle of a download, whose body then says something of its own.
  const controller = new AbortController();
  await assert.rejects(Transformer.loadModel(asset('embedded.entity'),
    { signal: controller.signal, onProgress: () => controller.abort(why) }), (e) => e === why);
  // The embedded model is handed over once: who gives up stops no one else.
  const library = await instantiate(), leaver = new AbortController();
  const gone = bringEmbedded(library, { signal: leaver.signal, onProgress: () => leaver.abort() });
  const [first, second] = await Promise.allSettled([gone, bringEmbedded(library)]);
  assert.deepEqual([first.reason?.name, second.status], ['AbortError', 'fulfilled']);
});

test('where nothing could see a signal it is refused by name', async () => {
  const network = new Network(NETWORK), session = network.session(), signal = AbortSignal.abort();
  const trainer = network.trainer(DATA, SPEC), row = ROWS[0];
  const refused = (e) => e instanceof InvalidArgumentError && e.message.includes('"signal"');
  for (const body of [() => model.generateSync('Once', { signal }),
    () => model.logits('Once', { signal }), () => model.fingerprint('Once', { signal }),
    () => model.tokenize('Once', { signal }), () => network.forward(row, { signal }),
    () => network.forwardTokens([1], { signal }), () => network.forecast({ signal }),
    () => network.session({ signal }), () => session.run(row, { signal }),
    () => session.runTokens([1], [0], [], [], { signal }), () => trainer.step(1, { signal }),
    () => trainer.stepOn(DATA, { signal }), () => new Trainer(network, DATA, SPEC, { signal })])
    assert.throws(body, refused, String(body));
  await assert.rejects(verify({ signal }), refused);
  const wrong = { signal: new AbortController() };
  await assert.rejects(model.generateText('Once', wrong), /expected an AbortSignal/);
  await assert.rejects(network.forwardAsync(row, { signal: true }), /expected an AbortSignal/);
  assert.equal(trainer.done, 0);
});

test('a run of a graph takes no signal', async () => {
  const folder = new URL('../../../../tests/cases/', import.meta.url);
  const { data } = JSON.parse(fs.readFileSync(new URL('onnx.json', folder)))
    .cases.flatMap(({ steps }) => steps).find((step) => step.write && step.data.file);
  const file = fs.readFileSync(new URL(`data/${data.file}`, folder));
  const session = await InferenceSession.create(file);
  const feeds = { x: new Tensor('float32', [1], [1]) };
  await assert.rejects(session.run(feeds, [], { signal: AbortSignal.abort() }), /"signal"/);
  await assert.rejects(session.run(null), InvalidArgumentError);
});

test('a worker hears of it, and its objects go on', async () => {
  const worker = await createWorker();
  const far = await worker.Transformer.loadModel('embedded'), endless = { maxTokens: 0 };
  await aborts((signal) => far.generateText('Once', { ...endless, ignoreEos: true, signal }));
  await aborts((signal) => far.evaluate(TEXT, { signal }));
  const expected = model.generateSync('Once', { maxTokens: 8 }).fingerprint;
  assert.equal((await far.generateText('Once', { maxTokens: 8 })).fingerprint, expected);
  const network = await worker.Network.create(NETWORK, { seed: 1 });
  const trainer = await worker.Trainer.create(network, DATA, SPEC);
  await aborts((signal) => trainer.step(5000, { signal }), 30);
  await aborts((signal) => rest(network.train(DATA, SPEC, { signal })), 30);
  const done = await trainer.done;
  assert.ok(done > 0 && done < 5000, `${done} steps`);
  assert.equal(await trainer.done, done);
  await assert.rejects(network.morph('i8', { signal: AbortSignal.abort() }), /"signal"/);
  await assert.rejects(far.generateText('Once', { signal: new AbortController() }),
    /expected an AbortSignal/);
  const session = await network.session({ maxRows: 3000 });
  const { signal } = new AbortController(), near = new Network(NETWORK, { seed: 1 });
  await network.initialize(1);
  assert.deepEqual(await session.run(ROWS, { signal }), near.forward(ROWS));
  worker.terminate();
});
