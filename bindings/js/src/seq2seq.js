// Encoder-decoders, step by step.
import { onCpu, optionsOf, placeOf } from './runtime/call.js';
import { errorNamed, known, refuseSignal } from './runtime/errors.js';
import { inputRows, isNamed, numbersOf, wideRowsOf } from './rows.js';
import { Handled, camel, libraryOf, runLater, runNow, snake } from './runtime/runtime.js';

const doubles = (x) => Float64Array.from(wideRowsOf(x));
const widthOf = ({ ids, dims, width }) => (ids ? (dims ?? []).reduce((n, d) => n * d, 1) : width);

const bestOf = (found) => found.map(([best]) => best?.ids ?? []);

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
    const lib = libraryOf('network', network), made = options instanceof Made;
    super(lib, 'seq2seq',
      made ? options.handle : runNow(lib, Seq2Seq.#make(network, options, 'cpu')));
    if (made) this.#place = options.place;
  }
  static async create(network, { device, mode, ...options } = {}) {
    const place = placeOf({ device, mode });
    const lib = libraryOf('network', network);
    const handle = await runLater(lib, Seq2Seq.#make(network, options, place), place);
    return new Seq2Seq(network, new Made(handle, place));
  }
  static *#make(network, options, place) {
    // A device that the constructor is given is refused by the library: no call may wait for it.
    const given = 'device' in (options ?? {}) || 'mode' in (options ?? {});
    const all = { ...snake(options ?? {}), ...(given ? {} : optionsOf(place)) };
    return (yield ['seq2seq_create', { network: network.handle, options: all }]).seq2seq;
  }
  #run(what, options, work) {
    refuseSignal(what, options ?? {});
    if (!onCpu(this.#place))
      throw errorNamed('unsupported',
        'this Seq2Seq is on a device, where the methods named ...Async do its work');
    return runNow(this.library, work);
  }
  #later(work, signal) {
    return runLater(this.library, work, this.#place, signal);
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
  *#search(x, options, sliced) {
    const { rows, x: values } = yield* this.#sources(x), all = snake(options ?? {});
    const call = (n, part, more) => ['seq2seq_search',
      { seq2seq: this.handle, rows: n, x: part, options: { ...all, ...more } }];
    if (!sliced || rows < 2) return (yield call(rows, values)).found;
    // Row i draws by seed + i, so that rows one by one find what they find together.
    const found = [], width = values.length / rows, seed = BigInt(all.seed ?? 0);
    for (let i = 0; i < rows; i++)
      found.push(...(yield call(1, values.subarray(i * width, (i + 1) * width),
        { seed: seed + BigInt(i) })).found);
    return found;
  }

  get info() {
    return camel(this.call('info').info);
  }
  /** Begins anew with rows of these sources: by the names of the inputs but the target, or those of
   *  a single one. */
  encode(x, options = {}) {
    this.#run('encode', known('encode', options, []), this.#encode(x));
  }
  async encodeAsync(x, options = {}) {
    const { signal } = known('encodeAsync', options, ['signal']);
    await this.#later(this.#encode(x), signal);
  }
  /** The next step of all rows, an id of each or its features: a Float64Array of answers. */
  step(target, options = {}) {
    return this.#run('step', known('step', options, []), this.#step(target));
  }
  async stepAsync(target, options = {}) {
    const { signal } = known('stepAsync', options, ['signal']);
    return this.#later(this.#step(target), signal);
  }
  /** Row i continues from where row from[i] was; there are as many rows then. */
  reorder(from) {
    this.#run('reorder', {}, this.#reorder(from));
  }
  async reorderAsync(from) {
    await this.#later(this.#reorder(from));
  }
  /** For each row of the sources the sequences found, the best first: [{ids, score, finished}]. */
  search(x, options) {
    return this.#run('search', options, this.#search(x, options));
  }
  /** The same later; with a `signal` row by row, between which it is seen. */
  async searchAsync(x, { signal, ...options } = {}) {
    return this.#later(this.#search(x, options, signal !== undefined), signal);
  }
  /** The ids of the best sequence of search for each row. */
  generate(x, options) {
    return bestOf(this.#run('generate', options, this.#search(x, options)));
  }
  async generateAsync(x, options) {
    return bestOf(await this.searchAsync(x, options));
  }
}
