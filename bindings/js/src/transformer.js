// Language models.
import { onCpu, optionsOf, placeOf } from './runtime/call.js';
import { errorNamed, refuseSignal, signalOf } from './runtime/errors.js';
import { chunks, completion } from './completion.js';
import { inNode } from './runtime/host.js';
import { download } from './runtime/module.js';
import { Network } from './network.js';
import { FINISH } from './runtime/raw.js';
import { Handled, bringEmbedded, camel, libraryOf, runLater, runNow, snake, start,
  stream } from './runtime/runtime.js';
import { Tokenizer, conversation } from './tokenizer.js';
import { Data } from './training.js';

const TOKENS = 256; // at most, where nothing is said: as in Python and `loom run`
const MEASURES = ['tokens', 'loss', 'perplexity', 'referenceLoss', 'kl', 'largestKl', 'sameArgmax',
  'logitsSha256'];
const FINISH_NAMES =
  Object.fromEntries(Object.entries(FINISH).map(([name, value]) => [value, name]));

/** What writes text with a model: it has the caches. */
class Generator extends Handled {
  constructor(lib, handle, context, place) {
    super(lib, 'generator', handle);
    this.context = context;
    this.place = place;
  }

  *feed(prompt) {
    const generator = this.handle;
    if (typeof prompt === 'string') yield ['generator_feed_text', { generator, text: prompt }];
    else if (prompt?.messages) yield ['generator_feed_chat', { generator, messages: prompt }];
    else if (typeof prompt?.[Symbol.iterator] !== 'function')
      throw errorNamed('invalid_argument',
        'prompt: expected a text, ids or messages, got ' +
        (prompt === null ? 'null' : typeof prompt));
    else if (!Array.isArray(prompt) || typeof prompt[0] !== 'object')
      yield ['generator_feed', { generator, ids: prompt }];
    else yield ['generator_feed_chat', { generator, messages: prompt }];
  }

  /** Yields the pieces of a text; returns the whole. */
  *write(prompt, options) {
    const generator = this.handle;
    yield* this.feed(prompt);
    yield ['generator_start', { generator, options }];
    const tokens = [];
    let text = '';
    for (;;) {
      const piece = yield ['generator_next', { generator }];
      if (piece.id >= 0) tokens.push(piece.id);
      text += piece.text;
      if (piece.text !== '') yield piece.text;
      if (piece.finish === FINISH.more) continue;
      const { sha256: fingerprint } = yield ['generator_fingerprint', { generator }];
      const { info } = yield ['generator_info', { generator }];
      return { text, tokens: Int32Array.from(tokens), fingerprint,
        finish: FINISH_NAMES[piece.finish], stats: camel(info) };
    }
  }
}

export class Transformer extends Handled {
  #idle = null; // a generator that waits for the next text
  #stats = null;
  #place;
  #activations;
  #completions = 0;

  constructor(lib, handle, place = 'cpu', activations = '') {
    super(lib, 'model', handle);
    this.#place = place;
    this.#activations = activations;
  }

  /** "embedded"; bytes, a Blob, Response or ReadableStream of an .entity or GGUF file; its URL;
   *  in Node also a path, a HuggingFace folder, or a name in the local HuggingFace cache. */
  static async loadModel(source,
      { format = '', activations = '', onProgress, signal, ...where } = {}) {
    signalOf(signal);
    const lib = await start(), place = placeOf(where);
    const named = async (name) =>
      new Transformer(lib, (await lib.ask('model_load', { name, format })).model, place,
          activations);
    if (source === 'embedded') {
      await bringEmbedded(lib, { onProgress, signal });
      return named(source);
    }
    if (inNode && typeof source === 'string' && !/^[a-z]+:\/\/|^(data|blob|file):/.test(source))
      return named(source);
    const bytes = await download(lib, source, { onProgress, signal });
    try {
      return new Transformer(lib, (await lib.ask('model_load_bytes', { bytes, format })).model,
          place, activations);
    } finally {
      lib.release(bytes); // the model keeps what it needs
    }
  }

  /** Ends with the error that loading would end with, without reading a weight: of a name as
   *  loadModel takes it; in Node. */
  static async check(name) {
    if (!inNode) throw errorNamed('unsupported', 'Transformer.check: a browser has no files');
    const lib = await start();
    if (name === 'embedded') await bringEmbedded(lib);
    await lib.ask('model_check', { name: String(name) });
  }
  /** The tokenizer of a model, without its weights. loadModel brings its own. */
  static loadTokenizer(source, options) {
    return Tokenizer.load(source, options);
  }

  /** Of a network that was trained here, which is copied, and maybe a tokenizer. maxPositions:
   *  how many positions it was trained for; bos, eos (ids; as the tokenizer has them, null for
   *  none), name, sampling. */
  static fromNetwork(network, tokenizer, options) {
    const lib = libraryOf('network', network);
    if (tokenizer !== undefined && tokenizer !== null) libraryOf('tokenizer', tokenizer);
    return new Transformer(lib,
        lib.call('model_create',
            { network: network.handle, tokenizer: tokenizer?.handle ?? 0, options: snake(options) })
              .model);
  }

  get info() {
    return camel(this.call('info').info);
  }
  get network() {
    return new Network(this.library, this.call('network').network);
  }
  get tokenizer() {
    return new Tokenizer(this.library, this.call('tokenizer').tokenizer);
  }
  /** How fast the last text was, and on what: target, numerics, prefillTokens, prefillSeconds,
   *  decodeTokens, decodeSeconds, reusedTokens. */
  get stats() {
    if (this.#idle) this.#stats = camel(this.#idle.call('info').info);
    return this.#stats;
  }

  /** Work with a generator, which is kept for the next one that wants such a one. */
  *#borrow(context, place, work) {
    let generator = this.#idle;
    this.#idle = null;
    if (generator?.context !== context || generator.place !== place) {
      generator?.dispose();
      const made = yield ['generator_create',
          { model: this.handle,
            options: { context, activations: this.#activations, ...optionsOf(place) } }];
      generator = new Generator(this.library, made.generator, context, place);
    }
    let keep = true;
    try {
      return yield* work(generator);
    } catch (e) {
      keep = onCpu(place); // a device may be lost: the next work opens another one
      throw e;
    } finally {
      if (!keep || this.#idle || this.handle === 0n) generator.dispose();
      else this.#idle = generator;
    }
  }

  *#write(prompt, place, { context = 0, ...options }) {
    const { info } = yield ['model_info', { model: this.handle }];
    const given = Object.entries(snake(options)).filter(([, value]) => value !== undefined);
    const sampling = { ...info.sampling, max_tokens: TOKENS, ...Object.fromEntries(given) };
    if (typeof sampling.stop === 'string') sampling.stop = [sampling.stop];
    return yield* this.#borrow(context, place, (generator) => generator.write(prompt, sampling));
  }

  /** Streams a text that goes on after a prompt: a string, a conversation ([{role, content}]),
   *  or ids. A `signal` is seen between tokens. */
  async *generate(prompt, { signal, device, mode, ...options } = {}) {
    signalOf(signal);
    const place = placeOf({ device, mode }, this.#place);
    return yield* stream(this.library, this.#write(prompt, place, options), place, signal);
  }

  /** The whole text: {text, tokens, fingerprint, finish, stats}. */
  async generateText(prompt, { signal, device, mode, ...options } = {}) {
    signalOf(signal);
    const place = placeOf({ device, mode }, this.#place);
    return runLater(this.library, this.#write(prompt, place, options), place, signal);
  }

  /** The same on the CPU without a pause: nothing else happens meanwhile. */
  generateSync(prompt, { device, mode, ...options } = {}) {
    refuseSignal('generateSync', options);
    return runNow(this.library, this.#write(prompt, placeOf({ device, mode }), options));
  }

  /** Streams the answer to a conversation, or to what the user says. `variables`: as
   *  Tokenizer.chat. */
  chat(messages, { variables, ...options } = {}) {
    return this.generate(conversation(messages, variables), options);
  }
  /** The whole answer, as generateText. */
  async chatText(messages, { variables, ...options } = {}) {
    return this.generateText(conversation(messages, variables), options);
  }
  /** The answer in a conversation as OpenAI's API shapes it: a promise of {choices, usage, ...};
   *  with `stream` an iterator of chunks, whose choices hold `delta`. Other options: as chat, also
   *  in OpenAI's spelling (max_tokens). */
  createChatCompletion(messages, { stream: streams = false, ...options } = {}) {
    const { name } = this.info, number = ++this.#completions;
    if (streams) return chunks(this.chat(messages, options), name, number);
    return this.chatText(messages, options).then((text) => completion(text, name, number));
  }

  *#evaluate(text, reference, options, place) {
    if (reference !== undefined && reference !== null && !(reference instanceof Transformer))
      throw errorNamed('invalid_argument', 'reference: expected a Transformer');
    const ids = typeof text === 'string' ? this.tokenize(text) : text;
    const { evaluator } = yield ['evaluator_create',
      { model: this.handle, reference: reference?.handle ?? 0, ids,
        options: { activations: this.#activations, ...snake(options), ...optionsOf(place) } }];
    try {
      let rows;
      do ({ rows } = yield ['evaluator_next', { evaluator, logits: 0 }]); while (rows > 0);
      const info = camel((yield ['evaluator_info', { evaluator }]).info);
      return Object.fromEntries(MEASURES.filter((key) => key in info)
        .map((key) => [key, info[key]]));
    } finally {
      this.library.release(evaluator);
    }
  }
  /** How well the model predicts a text, or its ids: {tokens, loss (nats per token), perplexity};
   *  with a `reference`, another Transformer, also {referenceLoss, kl, largestKl, sameArgmax}.
   *  Options: context, chunk, lastRow, hash (docs/reference/options.md, evaluator_create); a
   *  `signal` is seen between chunks. */
  async evaluate(text, { reference, signal, device, mode, ...options } = {}) {
    signalOf(signal);
    const place = placeOf({ device, mode }, this.#place);
    return runLater(this.library, this.#evaluate(text, reference, options, place), place, signal);
  }

  /** Learns to continue texts: one, a list of them, of which none goes on in the next, ids as
   *  Data.tokens takes them, or Data. Texts are cut into sequences of at most `length` tokens.
   *  `spec` and the other options: those of Network.train; with `lora: { rank: 8 }` in the spec an
   *  adapter learns beside the weights. */
  async *train(texts, spec, { length = 256, ...options } = {}) {
    const list = typeof texts === 'string' ? [texts] : texts;
    const words = Array.isArray(list) && typeof list[0] === 'string';
    const data = texts instanceof Data ? texts
      : Data.tokens(words ? list.map((text) => this.tokenize(text)) : texts, { length });
    const network = this.network;
    try {
      yield* network.train(data, spec?.loss ?? spec?.heads ? spec
        : { loss: 'cross_entropy', ...spec }, options);
    } finally {
      network.dispose();
      if (data !== texts) data.dispose();
    }
  }

  #onNetwork(body) {
    const network = this.network;
    try {
      return body(network);
    } finally {
      network.dispose();
    }
  }
  /** Runs with a LoRA adapter from now on: a folder, in Node; as Network.loadAdapter. */
  loadAdapter(folder) {
    this.#onNetwork((network) => network.loadAdapter(folder));
  }
  /** Writes the adapter that the model has, loaded or learned, as PEFT does; in Node. */
  saveAdapter(folder) {
    this.#onNetwork((network) => network.saveAdapter(folder));
  }
  /** Runs without an adapter again. */
  unloadAdapter() {
    this.#onNetwork((network) => network.unloadAdapter());
  }
  /** Adds the adapter to the weights; the model then has none. */
  mergeAdapter() {
    this.#onNetwork((network) => network.mergeAdapter());
  }

  /** Ids of a text. */
  tokenize(text, options) {
    const tokenizer = this.tokenizer;
    try {
      return tokenizer.encode(text, options);
    } finally {
      tokenizer.dispose();
    }
  }
  detokenize(ids, options) {
    const tokenizer = this.tokenizer;
    try {
      return tokenizer.decode(ids, options);
    } finally {
      tokenizer.dispose();
    }
  }

  *#logits(prompt, place) {
    const { info } = yield ['model_info', { model: this.handle }];
    return yield* this.#borrow(0, place, function* (generator) {
      yield* generator.feed(prompt);
      return (yield ['generator_logits', { generator: generator.handle, logits: info.vocab_size }])
        .logits;
    });
  }
  /** The prediction after a prompt: a number for each token of the vocabulary. */
  logits(prompt, options) {
    return runNow(this.library, this.#logits(prompt, placeOf(options)));
  }
  async logitsAsync(prompt, { signal, ...where } = {}) {
    const place = placeOf(where, this.#place);
    return runLater(this.library, this.#logits(prompt, place), place, signal);
  }

  #fingerprint(prompt, place) {
    return this.#borrow(0, place, function* (generator) {
      yield* generator.feed(prompt);
      return (yield ['generator_fingerprint', { generator: generator.handle }]).sha256;
    });
  }
  /** SHA-256 over ids and the logits after them. */
  fingerprint(prompt, options) {
    return runNow(this.library, this.#fingerprint(prompt, placeOf(options)));
  }
  async fingerprintAsync(prompt, { signal, ...where } = {}) {
    const place = placeOf(where, this.#place);
    return runLater(this.library, this.#fingerprint(prompt, place), place, signal);
  }

  /** The model as an .entity file; in Node also to a path. */
  save(path) {
    if (path !== undefined) return void this.call('save', { path: String(path) });
    return this.library.take(this.call('save_bytes').bytes);
  }

  /** For other programs (docs/guide/models.md): the bytes of "gguf", "onnx" (a decoder) or one file
   *  of a HuggingFace folder ("config.json"); of "folder" all of them by their names. Options:
   *  dtype, tokenizer (true), matmulNbits (false). */
  export(format, options = {}) {
    const one = (name) => this.library.take(
      this.call('export_bytes', { name: String(name), options: snake(options) }).bytes);
    if (format !== 'folder') return one(format);
    const names = ['config.json', 'generation_config.json', 'model.safetensors'];
    if (options.tokenizer !== false) names.push('tokenizer.json', 'tokenizer_config.json');
    return Object.fromEntries(names.map((name) => [name, one(name)]));
  }

  dispose() {
    this.#idle?.dispose();
    this.#idle = null;
    super.dispose();
  }
}
