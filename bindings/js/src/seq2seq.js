// Encoder-decoders, step by step.
import { onCpu, optionsOf, placeOf } from './runtime/call.js';
import { errorNamed } from './runtime/errors.js';
import { inputRows, isNamed, numbersOf, wideRowsOf } from './network.js';
import { Handled, camel, runLater, runNow, snake } from './runtime/runtime.js';

const doubles = (x) => Float64Array.from(wideRowsOf(x));
const widthOf = ({ ids, dims, width }) => (ids ? (dims ?? []).reduce((n, d) => n * d, 1) : width);

/** A handle from inside the package. */
class Made {
  constructor(handle, place) {
    this.handle = handle;
    this.place = place;
  }
}

/** Runs an encoder-decoder as it is used: what depends on its other inputs alone once, its target
 *  step by step. On the CPU its methods return at once; on a device, made by Seq2Seq.create, those
 *  named ...Async do its work. */
export class Seq2Seq extends Handled {
  #place = 'cpu';

  constructor(network, options) {
    const lib = network.library, made = options instanceof Made;
    super(lib, 'seq2seq',
      made ? options.handle : runNow(lib, Seq2Seq.#make(network, options, 'cpu')));
    if (made) this.#place = options.place;
  }
  static async create(network, { device, mode, ...options } = {}) {
    const place = placeOf({ device, mode });
    const handle = await runLater(network.library, Seq2Seq.#make(network, options, place), place);
    return new Seq2Seq(network, new Made(handle, place));
  }
  static *#make(network, options, place) {
    const all = { ...snake(options ?? {}), ...optionsOf(place) };
    return (yield ['seq2seq_create', { network: network.handle, options: all }]).seq2seq;
  }
  #run(work) {
    if (!onCpu(this.#place))
      throw errorNamed('unsupported',
        'this Seq2Seq is on a device, where the methods named ...Async do its work');
    return runNow(this.library, work);
  }
  #later(work) {
    return runLater(this.library, work, this.#place);
  }
  *#info() {
    return camel((yield ['seq2seq_info', { seq2seq: this.handle }]).info);
  }
  /** Rows of the sources, and how many. */
  *#sources(x) {
    const { sources, sourceWidth } = yield* this.#info();
    const named = isNamed(x) || sources.length > 1 ? x : { [sources[0].name]: x };
    const parts = sources.map((part) => ({ ...part, width: widthOf(part) }));
    const values = inputRows(named, { parts }, doubles);
    if (values.length % sourceWidth !== 0)
      throw errorNamed('invalid_argument',
        `x: ${values.length} numbers: expected ${sourceWidth} for each row`);
    return { rows: values.length / sourceWidth, x: values };
  }
  *#encode(x) {
    yield ['seq2seq_encode', { seq2seq: this.handle, ...(yield* this.#sources(x)) }];
  }
  *#step(target) {
    const { rows, answerWidth } = yield* this.#info();
    const args = { seq2seq: this.handle, target: doubles(target), y: rows * answerWidth };
    return (yield ['seq2seq_step', args]).y;
  }
  *#reorder(from) {
    yield ['seq2seq_reorder', { seq2seq: this.handle, from: Int32Array.from(numbersOf(from)) }];
  }
  *#search(x, options) {
    const given = { ...(yield* this.#sources(x)), options: snake(options ?? {}) };
    return (yield ['seq2seq_search', { seq2seq: this.handle, ...given }]).found;
  }

  get info() {
    return this.#run(this.#info());
  }
  /** Begins anew with rows of these sources: by the names of the inputs but the target, or those of
   *  a single one. */
  encode(x) {
    this.#run(this.#encode(x));
  }
  async encodeAsync(x) {
    await this.#later(this.#encode(x));
  }
  /** The next step of all rows, an id of each or its features: a Float64Array of answers. */
  step(target) {
    return this.#run(this.#step(target));
  }
  stepAsync(target) {
    return this.#later(this.#step(target));
  }
  /** Row i continues from where row from[i] was; there are as many rows then. */
  reorder(from) {
    this.#run(this.#reorder(from));
  }
  async reorderAsync(from) {
    await this.#later(this.#reorder(from));
  }
  /** For each row of the sources the sequences found, the best first: [{ids, score, finished}]. */
  search(x, options) {
    return this.#run(this.#search(x, options));
  }
  searchAsync(x, options) {
    return this.#later(this.#search(x, options));
  }
}
