// Language models.
import { onCpu, optionsOf, placeOf } from './runtime/call.js';
import { errorNamed } from './runtime/errors.js';
import { inNode } from './runtime/host.js';
import { download } from './runtime/module.js';
import { Network } from './network.js';
import { FINISH } from './runtime/raw.js';
import { Handled, bringEmbedded, camel, runLater, runNow, snake, start,
  stream } from './runtime/runtime.js';
import { Tokenizer } from './tokenizer.js';

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
    else if (!Array.isArray(prompt) || typeof prompt[0] === 'number')
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
      return { text, tokens: Int32Array.from(tokens), fingerprint,
        finish: FINISH_NAMES[piece.finish] };
    }
  }
}

export class Transformer extends Handled {
  #idle = null; // a generator that waits for the next text
  #stats = null;
  #place;

  constructor(lib, handle, place = 'cpu') {
    super(lib, 'model', handle);
    this.#place = place;
  }

  /** "embedded"; bytes, a Blob, Response or ReadableStream of an .entity or GGUF file; its URL;
   *  in Node also a path, a HuggingFace folder, or a name in the local HuggingFace cache. */
  static async loadModel(source, { format = '', onProgress, signal, ...where } = {}) {
    const lib = await start(), place = placeOf(where);
    const named = async (name) =>
      new Transformer(lib, (await lib.ask('model_load', { name, format })).model, place);
    if (source === 'embedded') {
      await bringEmbedded(lib, { onProgress, signal });
      return named(source);
    }
    if (inNode && typeof source === 'string' && !/^[a-z]+:\/\/|^(data|blob|file):/.test(source))
      return named(source);
    const bytes = await download(lib, source, { onProgress, signal });
    try {
      return new Transformer(lib, (await lib.ask('model_load_bytes', { bytes, format })).model,
          place);
    } finally {
      lib.release(bytes); // the model keeps what it needs
    }
  }

  /** Of a network that was trained here, which is copied, and maybe a tokenizer. maxPositions:
   *  how many positions it was trained for; bos, eos (ids; as the tokenizer has them, null for
   *  none), name, sampling. */
  static fromNetwork(network, tokenizer, options) {
    const lib = network.library;
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
          { model: this.handle, options: { context, ...optionsOf(place) } }];
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
    const sampling = { ...info.sampling, ...Object.fromEntries(given) };
    return yield* this.#borrow(context, place, (generator) => generator.write(prompt, sampling));
  }

  /** Streams a text that goes on after a prompt: a string, a conversation ([{role, content}]),
   *  or ids. */
  async *generate(prompt, { signal, device, mode, ...options } = {}) {
    signal?.throwIfAborted();
    const place = placeOf({ device, mode }, this.#place);
    return yield* stream(this.library, this.#write(prompt, place, options), place, signal);
  }

  /** The whole text: {text, tokens, fingerprint, finish}. */
  async generateText(prompt, { signal, device, mode, ...options } = {}) {
    signal?.throwIfAborted();
    const place = placeOf({ device, mode }, this.#place);
    return runLater(this.library, this.#write(prompt, place, options), place, signal);
  }

  /** The same on the CPU without a pause: nothing else happens meanwhile. */
  generateSync(prompt, { device, mode, ...options } = {}) {
    return runNow(this.library, this.#write(prompt, placeOf({ device, mode }), options));
  }

  /** Streams the answer to a conversation. `variables`: as Tokenizer.chat. */
  chat(messages, { variables, ...options } = {}) {
    if (!Array.isArray(messages))
      throw errorNamed('invalid_argument', 'messages: expected [{role, content}]');
    return this.generate(variables === undefined ? messages : { messages, variables }, options);
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
  async logitsAsync(prompt, options) {
    const place = placeOf(options, this.#place);
    return runLater(this.library, this.#logits(prompt, place), place);
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
  async fingerprintAsync(prompt, options) {
    const place = placeOf(options, this.#place);
    return runLater(this.library, this.#fingerprint(prompt, place), place);
  }

  /** The model as an .entity file; in Node also to a path. */
  save(path) {
    if (path !== undefined) return void this.call('save', { path: String(path) });
    return this.library.take(this.call('save_bytes').bytes);
  }

  dispose() {
    this.#idle?.dispose();
    this.#idle = null;
    super.dispose();
  }
}
