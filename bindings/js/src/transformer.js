// Language models.
import { errorNamed } from './errors.js';
import { inNode } from './host.js';
import { download } from './module.js';
import { Network } from './network.js';
import { FINISH } from './raw.js';
import { Handled, breathe, bringEmbedded, camel, snake, start } from './runtime.js';
import { Tokenizer } from './tokenizer.js';

const FINISH_NAMES = Object.fromEntries(Object.entries(FINISH).map(([name, value]) => [value, name]));

/** What writes text with a model: it has the caches. */
class Generator extends Handled {
  constructor(lib, handle, context) {
    super(lib, 'generator', handle);
    this.context = context;
  }

  feed(prompt) {
    if (typeof prompt === 'string') return this.call('feed_text', { text: prompt });
    if (!Array.isArray(prompt) || typeof prompt[0] === 'number') return this.call('feed', { ids: prompt });
    return this.call('feed_chat', { messages: prompt });
  }

  /** Yields the pieces of a text; returns the whole. */
  *write(prompt, options) {
    this.feed(prompt);
    this.call('start', { options });
    const tokens = [];
    let text = '';
    for (;;) {
      const piece = this.call('next');
      if (piece.id >= 0) tokens.push(piece.id);
      text += piece.text;
      if (piece.text !== '') yield piece.text;
      if (piece.finish === FINISH.more) continue;
      return { text, tokens: Int32Array.from(tokens), fingerprint: this.call('fingerprint').sha256, finish: FINISH_NAMES[piece.finish] };
    }
  }
}

export class Transformer extends Handled {
  #idle = null; // a generator that waits for the next text
  #stats = null;

  constructor(lib, handle) {
    super(lib, 'model', handle);
  }

  /** "embedded"; bytes, a Blob, Response or ReadableStream of an .entity or GGUF file; its URL; in Node also a path, a HuggingFace folder, or a name
   *  in the local HuggingFace cache. */
  static async loadModel(source, { format = '', onProgress, signal } = {}) {
    const lib = await start();
    const named = (name) => new Transformer(lib, lib.call('model_load', { name, format }).model);
    if (source === 'embedded') {
      await bringEmbedded(lib, { onProgress, signal });
      return named(source);
    }
    if (inNode && typeof source === 'string' && !/^[a-z]+:\/\/|^(data|blob|file):/.test(source)) return named(source);
    const bytes = await download(lib, source, { onProgress, signal });
    try {
      return new Transformer(lib, lib.call('model_load_bytes', { bytes, format }).model);
    } finally {
      lib.call('release', { handle: bytes }); // the model keeps what it needs
    }
  }

  /** Of a network that was trained here, which is copied, and maybe a tokenizer. maxPositions: how many positions it was trained for; bos, eos (ids; as
   *  the tokenizer has them, null for none), name, sampling. */
  static fromNetwork(network, tokenizer, options) {
    const lib = network.library;
    return new Transformer(lib, lib.call('model_create', { network: network.handle, tokenizer: tokenizer?.handle ?? 0, options: snake(options) }).model);
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
  /** How fast the last text was: prefillTokens, prefillSeconds, decodeTokens, decodeSeconds, reusedTokens. */
  get stats() {
    return this.#stats;
  }

  #borrow(context = 0) {
    const idle = this.#idle;
    this.#idle = null;
    if (idle?.context === context) return idle;
    idle?.dispose();
    return new Generator(this.library, this.library.call('generator_create', { model: this.handle, options: { context } }).generator, context);
  }
  #return(generator) {
    if (this.library.failed) return;
    this.#stats = camel(generator.call('info').info);
    if (this.#idle || this.handle === 0n) generator.dispose();
    else this.#idle = generator;
  }

  #sampling(options) {
    const given = Object.entries(snake(options)).filter(([, value]) => value !== undefined);
    return { ...this.call('info').info.sampling, ...Object.fromEntries(given) };
  }

  /** Streams a text that goes on after a prompt: a string, a conversation ([{role, content}]), or ids. */
  async *generate(prompt, { signal, context, ...options } = {}) {
    signal?.throwIfAborted();
    const generator = this.#borrow(context);
    try {
      const pieces = generator.write(prompt, this.#sampling(options));
      for (;;) {
        await breathe();
        signal?.throwIfAborted();
        const { done, value } = pieces.next();
        if (done) return value;
        yield value;
      }
    } finally {
      this.#return(generator);
    }
  }

  /** The whole text: {text, tokens, fingerprint, finish}. */
  async generateText(prompt, options) {
    const pieces = this.generate(prompt, options);
    for (;;) {
      const { done, value } = await pieces.next();
      if (done) return value;
    }
  }

  /** The same without a pause: nothing else happens meanwhile. */
  generateSync(prompt, { context, ...options } = {}) {
    const generator = this.#borrow(context);
    try {
      const pieces = generator.write(prompt, this.#sampling(options));
      for (;;) {
        const { done, value } = pieces.next();
        if (done) return value;
      }
    } finally {
      this.#return(generator);
    }
  }

  /** Streams the answer to a conversation. */
  chat(messages, options) {
    if (!Array.isArray(messages)) throw errorNamed('invalid_argument', 'messages: expected [{role, content}]');
    return this.generate(messages, options);
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

  /** The prediction after a prompt: a number for each token of the vocabulary. */
  logits(prompt) {
    const generator = this.#borrow();
    try {
      generator.feed(prompt);
      return generator.call('logits', { logits: this.call('info').info.vocab_size }).logits;
    } finally {
      this.#return(generator);
    }
  }

  /** SHA-256 over ids and the logits after them. */
  fingerprint(prompt) {
    const generator = this.#borrow();
    try {
      generator.feed(prompt);
      return generator.call('fingerprint').sha256;
    } finally {
      this.#return(generator);
    }
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
