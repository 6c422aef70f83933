// Text to token ids and back.
import { known } from './runtime/errors.js';
import { inNode } from './runtime/host.js';
import { openSource } from './runtime/module.js';
import { Handled, camel, library, snake, start } from './runtime/runtime.js';

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
  static async load(path) {
    const lib = await start();
    if (inNode)
      return new Tokenizer(lib, (await lib.ask('tokenizer_load', { path: String(path) }))
          .tokenizer);
    const text = await (await openSource(path)).text();
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
  /** Ids of a conversation, [{role, content}], as the model's chat template writes it. `variables`
   *  are the template's, such as {enable_thinking: false}. */
  chat(messages, options = {}) {
    const { addGenerationPrompt = true, variables } =
      known('chat', options, ['addGenerationPrompt', 'variables']);
    const said = variables === undefined ? messages : { messages, variables };
    return this.call('chat', { messages: said, add_generation_prompt: addGenerationPrompt }).ids;
  }
}
