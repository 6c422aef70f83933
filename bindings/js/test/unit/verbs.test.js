// The verbs of Python and C++ that are about no files, and what they refuse.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { before, after } from 'node:test';
import { initLoom, Data, ModelFile, Network, Session, Trainer, Transformer, convert, createWorker,
  evaluate, fakeQuantize, formatInfo, liveHandles, numericsVersion, InvalidArgumentError,
  NotFoundError, UnsupportedError } from '../../src/index.js';

const cases = (name) => new URL(`../../../../tests/cases/${name}`, import.meta.url);
const DENSE = { format: 'loom-topology', version: 3, layers_per_cell: 2, input: { width: 2 },
  cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 8, activation: 'tanh' },
    { at: [0, 0, 0, 1], type: 'dense', out: 1 }] };
const GRU = { format: 'loom-topology', version: 3, layers_per_cell: 2, input: { ids: 9 },
  cells: [{ at: [0, 0, 0, 0], type: 'embedding', out: 4 },
    { at: [0, 0, 0, 1], type: 'gru', hidden: 4 }] };
const X = [[0, 0], [0, 1], [1, 0], [1, 1]], Y = [0, 1, 1, 0];
const SPEC = { loss: 'mse', steps: 20, batch: 4, schedule: { type: 'constant', lr: 0.03 } };
const refuses = (body, words) => assert.throws(body,
  (e) => e instanceof InvalidArgumentError && e.message.includes(words), words);

let model, tiny;
before(async () => {
  await initLoom();
  model = await Transformer.loadModel('embedded');
  tiny = await Transformer.loadModel(cases('data/tiny.entity'));
});
after(() => [model, tiny].forEach((one) => one.dispose()));

test('names of columns and classes stay with a network', async () => {
  const net = new Network(DENSE, { seed: 1 });
  assert.equal(net.inputs, null);
  const inputs = { columns: [{ name: 'a' }, { name: 'b' }], labels: ['no', 'yes'],
    answers: 'scores' };
  net.setInputs(inputs);
  assert.deepEqual((await Network.load(net.save())).inputs, inputs);
  refuses(() => net.setInputs({ labels: ['a', 'b', 'c'] }), 'labels');
  assert.deepEqual(net.inputs, inputs);
  net.setInputs(null);
  assert.equal(net.inputs, null);
});

test('a model is measured over a text: the figures of the evaluator of all hosts', async () => {
  const { steps } = JSON.parse(fs.readFileSync(cases('files.json'))).cases
    .find(({ steps }) => steps.some(({ call }) => call === 'evaluator_create'));
  const given = steps.find(({ call }) => call === 'evaluator_create').args;
  const expected = steps.find(({ call }) => call === 'evaluator_info').expect.info.has;
  const { last_row: lastRow, chunk, hash } = given.options;
  const found = await tiny.evaluate(given.ids, { lastRow, chunk, hash });
  assert.equal(found.tokens, expected.tokens);
  assert.equal(found.logitsSha256, expected.logits_sha256);
  assert.ok(Math.abs(found.perplexity - Math.exp(found.loss)) < 1e-6 * found.perplexity);
  const text = 'Once upon a time there was a dog.', alone = await model.evaluate(text);
  assert.deepEqual(Object.keys(alone), ['tokens', 'loss', 'perplexity']);
  assert.deepEqual(await model.evaluate(model.tokenize(text)), alone);
  const against = await evaluate(model, text, model, { context: 8 });
  assert.deepEqual([against.kl, against.largestKl, against.sameArgmax], [0, 0, 1]);
  assert.equal(against.referenceLoss, against.loss);
  const lives = liveHandles();
  for (const [body, words] of [[() => model.evaluate(''), 'at least two tokens'],
    [() => model.evaluate([]), 'at least two tokens'], [() => model.evaluate(null), 'ids'],
    [() => model.evaluate([1.5, 2]), 'ids[0]'],
    [() => model.evaluate(text, { chunks: 2 }), 'chunk'],
    [() => model.evaluate(text, { reference: tiny }), 'vocabularies differ'],
    [() => model.evaluate(text, { reference: {} }), 'a Transformer'],
    [() => evaluate(text, model), 'a Transformer first']])
    await assert.rejects(body(), (e) => e instanceof InvalidArgumentError &&
      e.message.includes(words), words);
  assert.equal(liveHandles(), lives);
});

test('a session keeps its caches, and gives what forward gives', async () => {
  const network = new Network(GRU, { seed: 1 }), ids = [1, 5, 0, 8, 3];
  const whole = network.forwardTokens(ids), { width } = network.info.output;
  assert.equal(whole.length, ids.length * width);
  assert.deepEqual(network.forwardTokens(ids, { last: true }), network.forward(ids));
  assert.deepEqual(network.forwardTokens(Int32Array.from(ids)), whole);
  const long = Array.from({ length: 600 }, (_, i) => (i * i) % 9);
  assert.deepEqual(network.forwardTokens(long).subarray(-width), network.forward(long));
  const session = network.session({ maxPositions: 8, sequences: 2 });
  const step = (id, at, sequence) => [...session.runTokens([id], [at], [sequence])];
  ids.forEach((id, t) => {
    for (const sequence of [0, 1])
      assert.deepEqual(step(id, t, sequence), [...whole.subarray(t * width, (t + 1) * width)]);
  });
  assert.equal(session.info.outputWidth, width);
  refuses(() => session.run([[1, 2]]), 'runTokens');
  refuses(() => session.runIds([[1, 2]]), 'runTokens');
  refuses(() => network.forwardTokens([[1, 2], [3, 4]]), 'one sequence');
  refuses(() => network.forward([[1, 2], [3, 4]]), 'one sequence');
  refuses(() => network.forwardTokens([]), 'at least one');
  refuses(() => network.session({ maxRow: 1 }), 'max_rows');
  refuses(() => new Session(null), 'a Network');
  const dense = new Network(DENSE, { seed: 1 }), made = await Session.create(dense, { maxRows: 4 });
  assert.deepEqual(await made.runAsync(X), dense.forward(X));
  refuses(() => dense.forwardTokens([1]), 'forward runs it');
  refuses(() => made.runIds([[1, 2]]), 'rows of values');
  for (const x of [null, undefined, 'abc', 3]) refuses(() => made.run(x), 'a list of numbers');
  for (const one of [session, made, network, dense]) one.dispose();
});

test('data are made once, and learned by several trainers', () => {
  const digest = (data, spec = SPEC) => {
    const network = new Network(DENSE, { seed: 1 }), trainer = network.trainer(data, spec);
    trainer.step(20);
    const found = trainer.digest;
    [trainer, network].forEach((one) => one.dispose());
    return found;
  };
  const data = Data.values(X, Y), expected = digest({ x: X, y: Y });
  assert.equal(digest(data), expected);
  assert.equal(digest(data), expected);
  assert.equal(digest(Data.values(X.flat(), Y, { width: 2 })), expected);
  assert.equal(data.info.samples, 4);
  assert.equal(digest(data.weighted([1, 2, 1, 1])),
    digest({ x: X, y: Y, weights: [1, 2, 1, 1] }));
  const classes = Data.classes(X, Y), ids = Data.ids([[1, 2], [3, 4]], { classes: [0, 1] });
  assert.deepEqual([classes.info.samples, ids.info.steps], [4, 2]);
  assert.equal(Data.ids([[1, 2], [3, 4]], { y: [0.5, 1] }).info.targets, 1);
  assert.equal(Data.tokens([[1, 2], [3, 4, 5]]).info.sha256,
    Data.tokens([1, 2, 3, 4, 5], { ends: [2, 5] }).info.sha256);
  assert.equal(Data.table('a,b\n1,2\n3,4\n', { targets: ['b'] }).info.samples, 2);
  refuses(() => new Data(), 'use Data.values');
  refuses(() => Data.values([[1, 2], [3]], Y), 'rows of 2 and of 1');
  refuses(() => Data.values([], []), 'got 0 rows');
  refuses(() => Data.values([1, 2, 3], [1], { width: 2 }), 'no rows of 2');
  refuses(() => Data.values('ab', [1]), 'rows of numbers');
  refuses(() => Data.ids([[1, 2]]), 'either y or classes');
  refuses(() => Data.tokens([[1], [2, 3]], { ends: [1] }), 'ends');
  refuses(() => Data.tokens(7), 'a list');
  for (const wrong of [null, undefined, 3, 'x', X]) refuses(() => digest(wrong), 'data: expected');
});

test('a trainer steps on batches, and runs to its end', async () => {
  const one = new Trainer(new Network(DENSE, { seed: 1 }), { x: X, y: Y }, SPEC);
  const other = new Trainer(new Network(DENSE, { seed: 1 }), { x: X, y: Y }, SPEC);
  const batch = { x: X.slice(0, 3), y: Y.slice(0, 3) };
  const report = one.stepOn(batch);
  assert.deepEqual([report.step, report.rows], [1, 3]);
  assert.deepEqual(await other.stepOnAsync(Data.values(batch.x, batch.y)), report);
  assert.equal(one.digest, other.digest);
  let seen = 0;
  assert.equal((await one.run(() => ++seen < 2)).step, one.done);
  assert.equal(seen, 2);
  assert.equal((await one.run()).step, 20);
  assert.deepEqual([one.done, (await one.run()).rows], [20, 0]);
  other.step(100);
  assert.equal(one.digest, other.digest);
  await assert.rejects(one.run(5), InvalidArgumentError);
  refuses(() => one.stepOn(null), 'data: expected');
  refuses(() => new Network(DENSE).trainer({ x: X, y: Y }, SPEC, { mode: 'auto' }),
    'Trainer.create');
});

test('parameters in double, and the hash of a program', () => {
  const network = new Network(DENSE, { seed: 1 }), [{ path: at, role }] = network.parameters;
  const narrow = network.get(at, role), wide = network.get(at, role, { dtype: 'f64' });
  assert.ok(wide instanceof Float64Array);
  assert.deepEqual([...wide], [...narrow]);
  network.set(at, role, wide.map((v) => v + 1));
  assert.notDeepEqual(network.get(at, role), narrow);
  refuses(() => network.get(at, role, { dtype: 'f16' }), 'f64');
  assert.match(network.programSha256(), /^[0-9a-f]{64}$/);
  assert.equal(network.programSha256(), new Network(DENSE).programSha256());
});

test('a text comes id by id', () => {
  const tokenizer = model.tokenizer, ids = model.tokenize('Once, ein Märchen.');
  const decoder = tokenizer.decoder(), other = tokenizer.decoder({ skipSpecialTokens: true });
  assert.equal([...ids].map((id) => decoder.push(id)).join('') + decoder.finish(),
    tokenizer.decode(ids));
  assert.equal([...ids].map((id) => other.push(id)).join('') + other.finish(),
    tokenizer.decode(ids, { skipSpecialTokens: true }));
  assert.throws(() => decoder.push(-1), { code: 'out_of_range' });
  refuses(() => tokenizer.decoder({ skip: true }), 'skipSpecialTokens');
});

test('conversations, also in the shapes of OpenAI', async () => {
  const said = [{ role: 'user', content: 'hi' }], options = { maxTokens: 4, seed: 1 };
  const whole = await tiny.chatText(said, options);
  let streamed = '';
  for await (const piece of tiny.chat('hi', options)) streamed += piece;
  assert.equal(streamed, whole.text);
  assert.ok(whole.stats.decodeTokens > 0);
  const answer = await tiny.createChatCompletion(said, { max_tokens: 4, seed: 1 });
  assert.equal(answer.choices[0].message.content, whole.text);
  assert.equal(answer.usage.completion_tokens, whole.tokens.length);
  assert.equal(answer.system_fingerprint, whole.fingerprint);
  const chunks = [];
  for await (const chunk of tiny.createChatCompletion(said, { ...options, stream: true }))
    chunks.push(chunk.choices[0]);
  assert.equal(chunks.map(({ delta }) => delta.content ?? '').join(''), whole.text);
  assert.deepEqual([chunks[0].delta.role, chunks.at(-1).finish_reason],
    ['assistant', answer.choices[0].finish_reason]);
  for (const wrong of [null, 5, [1, 2], [null]])
    await assert.rejects(tiny.chatText(wrong), /messages: expected/);
});

test('a text has 256 tokens at most where nothing is said, and ids or a word are enough',
    async () => {
  const { tokens } = await model.generateText('Once', { ignoreEos: true });
  assert.equal(tokens.length, 256);
  const { finish } = await model.generateText('Once', { stop: ' upon' });
  assert.equal(finish, 'stop');
  for (const wrong of [null, 5, {}])
    await assert.rejects(model.generateText(wrong), /prompt: expected a text, ids or messages/);
  await assert.rejects(model.generateText(['a']), InvalidArgumentError);
});

test('a model learns texts, with an adapter that is saved, loaded and merged', async () => {
  const copy = await Transformer.loadModel(tiny.save()), texts = ['hello world', 'one two three'];
  const spec = { steps: 6, batch: 2, schedule: { type: 'constant', lr: 0.05 }, lora: { rank: 2 } };
  const before = copy.fingerprint('hello');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'loom-'));
  const losses = [];
  for await (const { loss } of copy.train(texts, spec)) losses.push(loss);
  assert.ok(losses.at(-1) < losses[0]);
  const learned = copy.fingerprint('hello');
  assert.notEqual(learned, before);
  copy.saveAdapter(path.join(folder, 'adapter'));
  copy.unloadAdapter();
  assert.equal(copy.fingerprint('hello'), before);
  copy.loadAdapter(path.join(folder, 'adapter'));
  assert.equal(copy.fingerprint('hello'), learned);
  copy.mergeAdapter();
  assert.throws(() => copy.mergeAdapter(), InvalidArgumentError);
  assert.throws(() => copy.loadAdapter('/nowhere'), NotFoundError);
  refuses(() => copy.loadAdapter(), 'a folder');
  fs.rmSync(folder, { recursive: true });
  copy.dispose();
});

test('a model leaves as bytes for other programs', async () => {
  const gguf = tiny.export('gguf', { dtype: 'f32' });
  assert.equal(new TextDecoder().decode(gguf.subarray(0, 4)), 'GGUF');
  const again = await Transformer.loadModel(gguf);
  assert.deepEqual(again.export('gguf'), gguf);
  again.dispose();
  const folder = tiny.export('folder', { dtype: 'f16' });
  assert.deepEqual(Object.keys(folder), ['config.json', 'generation_config.json',
    'model.safetensors', 'tokenizer.json', 'tokenizer_config.json']);
  assert.equal(JSON.parse(new TextDecoder().decode(folder['config.json'])).torch_dtype, 'float16');
  assert.ok(tiny.export('onnx', { dtype: 'q8_0', matmulNbits: true }).length > 1000);
  assert.throws(() => tiny.export('pickle', { dtype: 'f16' }), /gguf, onnx, model.safetensors/);
});

test('files of models, in Node', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'loom-'));
  const out = path.join(folder, 'tiny.safetensors');
  const { tensors } = await convert(cases('data/tiny.entity').pathname, out, { dtype: 'f32' });
  const file = await ModelFile.open(out);
  assert.equal(file.info().tensorCount, tensors.length);
  const [{ name }] = file.info({ tensors: true }).tensors;
  assert.match(file.hash(name), /^[0-9a-f]{64}$/);
  file.dispose();
  await assert.rejects(convert('/nowhere', out), NotFoundError);
  await assert.rejects(convert(out, out, { type: 'f16' }), InvalidArgumentError);
  await assert.rejects(ModelFile.open('/nowhere'), NotFoundError);
  await Transformer.check(cases('data/tiny.entity').pathname);
  await assert.rejects(Transformer.check('/nowhere'), NotFoundError);
  const tokenizer = await Transformer.loadTokenizer(cases('data/tiny.entity').pathname);
  assert.equal(tokenizer.info.vocabSize, tiny.info.vocabSize);
  tokenizer.dispose();
  fs.rmSync(folder, { recursive: true });
});

test('versions, formats and handles', () => {
  assert.equal(numericsVersion(), 2);
  assert.deepEqual([formatInfo('i4').bits, formatInfo('f64').computesF64], [4, true]);
  refuses(() => formatInfo('nothing'), 'nothing');
  const lives = liveHandles(), data = Data.values(X, Y);
  assert.equal(liveHandles(), lives + 1);
  data.dispose();
  data.dispose();
  assert.equal(liveHandles(), lives);
  assert.deepEqual(fakeQuantize(X.slice(1), 'i8'),
    fakeQuantize(X.slice(1).flat(), 'i8', { rows: 3 }));
  refuses(() => fakeQuantize(null, 'i8'), 'a list of numbers');
  assert.throws(() => new Network(DENSE).session({ device: 'gpu' }), UnsupportedError);
});

test('a worker has them all', async () => {
  const worker = await createWorker();
  const network = await worker.Network.create(DENSE, { seed: 1 });
  const data = await worker.Data.values(X, Y);
  const trainer = await worker.Trainer.create(network, data, SPEC);
  assert.equal((await trainer.step(20)).step, 20);
  const near = new Network(DENSE, { seed: 1 }), here = near.trainer({ x: X, y: Y }, SPEC);
  here.step(20);
  assert.equal(await trainer.digest, here.digest);
  const session = await worker.Session.create(network, { maxRows: 4 });
  assert.deepEqual(await session.run(X), near.forward(X));
  const far = await worker.Transformer.loadModel('embedded'), text = 'Once upon a time';
  assert.deepEqual(await far.evaluate(text, { reference: far }),
    await model.evaluate(text, { reference: model }));
  const parts = [await far.network, await far.tokenizer];
  const made = await worker.Transformer.fromNetwork(...parts, { maxPositions: 512 });
  assert.equal(await made.fingerprint('Once'), model.fingerprint('Once'));
  const decoder = await parts[1].decoder();
  assert.equal(await decoder.push(300) + await decoder.finish(), model.detokenize([300]));
  assert.equal(await worker.numericsVersion(), 2);
  session.dispose();
  await assert.rejects(session.run(X), { code: 'invalid_handle' });
  await assert.rejects(network.forward(X, { head: () => 1 }), /cannot go to a worker/);
  worker.terminate();
});
