// Text to token ids and back.
import { errorNamed, known, signalOf } from './runtime/errors.js';
import { inNode } from './runtime/host.js';
import { openSource } from './runtime/module.js';
import { Handled, camel, library, libraryOf, snake, start } from './runtime/runtime.js';

/** The text of ids as they come: the parts put together are Tokenizer.decode of all ids, and none
 *  ends inside a character. */
export class Decoder extends Handled {
  constructor(tokenizer, options = {}) {
    const { skipSpecialTokens = false } = known('Decoder', options, ['skipSpecialTokens']);
    const lib = libraryOf('tokenizer', tokenizer);
    super(lib, 'decoder', lib.call('decoder_create',
      { tokenizer: tokenizer.handle, skip_special: skipSpecialTokens }).decoder);
  }
  /** One more id; returns what is final now, maybe nothing. */
  push(id) {
    return this.call('push', { id }).text;
  }
  /** The rest; the decoder then begins anew. */
  finish() {
    return this.call('finish').text;
  }
}

/** A conversation as the C ABI has it: [{role, content}], or what the user says. */
export function conversation(messages, variables) {
  const said = typeof messages === 'string' ? [{ role: 'user', content: messages }] : messages;
  if (!Array.isArray(said) || said.some((one) => one === null || typeof one !== 'object'))
    throw errorNamed('invalid_argument',
      'messages: expected [{role, content}], or what the user says');
  return variables === undefined ? { messages: said } : { messages: said, variables };
}

export class Tokenizer extends Handled {
  constructor(lib, handle) {
    super(lib, 'tokenizer', handle);
  }

  /** Of the texts of a tokenizer.json and a tokenizer_config.json. Needs initLoom(). */
  static parse(json, config = '') {
    const lib = library();
    return new Tokenizer(lib, lib.call('tokenizer_parse', { json, config }).tokenizer);
  }
  /** Of a model, a folder or a tokenizer.json at a path; in Node. */
  static async load(path, options = {}) {
    const { signal } = known('Tokenizer.load', options, ['signal']);
    signalOf(signal);
    const lib = await start();
    if (inNode)
      return new Tokenizer(lib, (await lib.ask('tokenizer_load', { path: String(path) }))
          .tokenizer);
    const text = await (await openSource(path, signal)).text();
    return lib.turn(() => Tokenizer.parse(text));
  }
  /** A byte-level BPE vocabulary learned from texts: vocabSize, specialTokens, bos, eos, addBos. */
  static train(texts, options = {}) {
    const lib = library();
    return new Tokenizer(lib, lib.call('tokenizer_train', { texts, options: snake(options) })
        .tokenizer);
  }

  get info() {
    return camel(this.call('info').info);
  }
  /** Ids of a text. plain: special tokens in it are characters, as for what a user typed. */
  encode(text, options = {}) {
    const { addSpecialTokens = true, plain = false } =
      known('encode', options, ['addSpecialTokens', 'plain']);
    return plain ? this.call('encode_plain', { text }).ids
      : this.call('encode', { text, add_special: addSpecialTokens }).ids;
  }
  decode(ids, options = {}) {
    const { skipSpecialTokens = false } = known('decode', options, ['skipSpecialTokens']);
    return this.call('decode', { ids, skip_special: skipSpecialTokens }).text;
  }
  token(id) {
    return this.call('token', { id }).token;
  }
  /** -1 where there is no such token. */
  id(token) {
    return this.call('id', { token }).id;
  }
  /** For ids that come one by one. */
  decoder(options) {
    return new Decoder(this, options);
  }
  /** Ids of a conversation, [{role, content}] or what the user says, as the model's chat template
   *  writes it. `variables`
   *  are the template's, such as {enable_thinking: false}. */
  chat(messages, options = {}) {
    const { addGenerationPrompt = true, variables } =
      known('chat', options, ['addGenerationPrompt', 'variables']);
    return this.call('chat', { messages: conversation(messages, variables),
      add_generation_prompt: addGenerationPrompt }).ids;
  }
}
