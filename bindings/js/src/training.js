// Data to learn from, and trainers.
import { bytesOf, onCpu, optionsOf, placeOf } from './runtime/call.js';
import { errorNamed, known, refuseSignal, signalOf } from './runtime/errors.js';
import { flat, inputRows, isList, isNamed, numbersOf, rowsOf, stepsOf, targetRows, typeOf, typed,
  wideRowsOf } from './rows.js';
import { Handled, SLICE_MS, breathe, bytesObject, camel, library, libraryOf, runLater, runNow,
  snake } from './runtime/runtime.js';

/** Work: {name, arguments} of the call that makes data. */
function dataCall(network, { x, y, classes, ids, ends, length, csv, ...options }) {
  const steps = stepsOf(network.info.input);
  if (ids !== undefined && steps !== undefined) {
    if ((y === undefined) === (classes === undefined) || ends !== undefined || length !== undefined)
      throw errorNamed('invalid_argument',
          'data: expected {ids, y} or {ids, classes}: the network takes rows of ids');
    if (classes !== undefined)
      return ['data_id_classes', { ids: flat(ids), steps, classes: flat(classes) }];
    const rows = flat(ids);
    const targets = targetRows(y, network.info.output, rows.length / steps);
    return [typed('data_id_values', targets.y), { ids: rows, steps, ...targets }];
  }
  if (ids !== undefined) {
    if (y !== undefined || classes !== undefined)
      throw errorNamed('invalid_argument',
          'data: expected {ids, length}: a row of the network is one id, and it learns the next ' +
          'one');
    return tokensCall(ids, { ends, length });
  }
  if (csv !== undefined)
    return ['data_table', { csv, options: { type: 'table', ...snake(options) } }];
  if (x === undefined || (y === undefined && classes === undefined))
    throw errorNamed('invalid_argument',
        'data: expected {x, y}, {x, classes}, {ids, length} or {csv}');
  const { input } = network.info, { width } = input, rows = inputRows(x, input, wideRowsOf);
  if (classes !== undefined)
    return [typed('data_classes', rows), { x: rows, width, classes: flat(classes) }];
  const targets = targetRows(y, network.info.output, rows.length / width);
  const type = typeOf(rows, targets.y);
  return [typed('data_values', new type()), {
    x: type.from(rows), width, ...targets, y: type.from(targets.y) }];
}

/** Numbers of a matrix and its columns: of rows, of a number for each row, or of a flat list with a
 *  `width`. */
function matrixOf(name, x, width) {
  if (!isList(x))
    throw errorNamed('invalid_argument', `${name}: expected rows of numbers, got ${typeof x}`);
  const values = wideRowsOf(x), columns = width ?? (isList(x[0]) ? values.length / x.length : 1);
  if (!(columns >= 1) || values.length % columns !== 0)
    throw errorNamed('invalid_argument',
      `${name}: ${values.length} numbers are no rows of ${columns}`);
  return [values, columns];
}
/** Two matrices in the type that holds both. */
function together(x, y) {
  const type = typeOf(x, y);
  return [typed('data_values', new type()), type.from(x), type.from(y)];
}

/** Samples, copied into the module. Immutable: any number of trainers take the same. Needs
 *  initLoom(). */
export class Data extends Handled {
  constructor(lib, handle) {
    if (typeof handle !== 'bigint')
      throw errorNamed('invalid_argument',
        'use Data.values, Data.classes, Data.ids, Data.tokens or Data.table');
    super(lib, 'data', handle);
  }
  static #of(call) {
    const lib = library();
    return new Data(lib, lib.call(...call).data);
  }

  /** Rows and their targets: arrays of rows, a number for each sample, or flat lists with a `width`
   *  and `targets`, numbers of a row each. */
  static values(x, y, options = {}) {
    const { width, targets } = known('Data.values', options, ['width', 'targets']);
    const [rows, columns] = matrixOf('x', x, width), [wanted, places] = matrixOf('y', y, targets);
    const [name, ...values] = together(rows, wanted);
    return Data.#of([name, { x: values[0], width: columns, y: values[1], targets: places }]);
  }
  /** Rows and their classes: one of each sample, or of each of its places. */
  static classes(x, classes, options = {}) {
    const { width } = known('Data.classes', options, ['width']);
    const [rows, columns] = matrixOf('x', x, width);
    return Data.#of([typed('data_classes', rows),
      { x: rows, width: columns, classes: numbersOf(classes) }]);
  }
  /** Rows of ids, each a sequence of its own, with {y} or {classes}; `steps`: ids of a row, where
   *  they come in one list. */
  static ids(ids, options = {}) {
    const { y, classes, steps, targets } =
      known('Data.ids', options, ['y', 'classes', 'steps', 'targets']);
    if ((y === undefined) === (classes === undefined))
      throw errorNamed('invalid_argument', 'Data.ids: expected either y or classes');
    const [, columns] = matrixOf('ids', ids, steps), rows = numbersOf(ids);
    if (classes !== undefined)
      return Data.#of(['data_id_classes',
        { ids: rows, steps: columns, classes: numbersOf(classes) }]);
    const [values, places] = matrixOf('y', y, targets);
    return Data.#of([typed('data_id_values', values),
      { ids: rows, steps: columns, y: values, targets: places }]);
  }
  /** Token ids to predict one by one, cut into sequences of at most `length`: one stream, or a list
   *  of documents, none of which goes on in the next. `ends`: where documents of one stream end. */
  static tokens(ids, options = {}) {
    return Data.#of(tokensCall(ids, known('Data.tokens', options, ['ends', 'length'])));
  }
  /** The text, or the bytes, of a CSV table: targets: [columns] or class: column, header,
   *  separator. */
  static table(csv, options = {}) {
    return Data.#of(['data_table', { csv, options: { type: 'table', ...snake(options) } }]);
  }

  /** The same samples, each with a weight of its loss, at least 0. */
  weighted(weights) {
    return new Data(this.library, this.library.call('data_weighted',
      { samples: this.handle, weights: rowsOf(weights) }).data);
  }
  /** samples, max_rows, width or ids, targets or classes, weighted, sha256. */
  get info() {
    return this.call('info').info;
  }
}
/** The call that makes data of token ids. */
function tokensCall(ids, { ends, length = 256 }) {
  if (!isList(ids)) throw errorNamed('invalid_argument', `ids: expected a list, got ${typeof ids}`);
  if (!isList(ids[0])) return ['data_tokens', { ids, ends, length }];
  if (ends !== undefined)
    throw errorNamed('invalid_argument', 'ends: documents that come in a list end with it');
  let end = 0;
  const all = Array.from(ids, (document) => Array.from(numbersOf(document)));
  return ['data_tokens', { ids: all.flat(), ends: all.map(({ length: n }) => (end += n)), length }];
}

/** A training that may be paused, saved and resumed. On the CPU its methods return at once; on a
 *  device, made by Trainer.create, those named ...Async do its work. */
export class Trainer extends Handled {
  #place = 'cpu';
  #network;

  /** data: a Data object, or {x, y} rows and their targets, {x, classes}, {ids, ends, length},
   *  {ids, y} or {ids, classes} for rows of ids, or {csv, targets, ...}; with `weights` a weight
   *  for each sample. */
  constructor(network, data, spec, options = {}) {
    const lib = libraryOf('network', network);
    if (options?.device !== undefined || options?.mode !== undefined)
      throw errorNamed('invalid_argument', 'Trainer: a device or mode is for Trainer.create, ' +
        'which gives a promise of one');
    known('Trainer', options, []);
    super(lib, 'trainer', data instanceof Made ? data.handle
        : runNow(lib, Trainer.#make(network, data, spec, 'cpu')));
    if (data instanceof Made) this.#place = data.place;
    this.#network = network;
  }
  static async create(network, data, spec, options) {
    const place = placeOf(options);
    const lib = libraryOf('network', network);
    const handle = await runLater(lib, Trainer.#make(network, data, spec, place),
        place);
    return new Trainer(network, new Made(handle, place));
  }
  static *#make(network, data, spec, place) {
    const made = [];
    try {
      const samples = yield* dataOf(network, data, made);
      return (yield ['trainer_create',
          { network: network.handle, data: samples, spec: snake(spec),
            options: optionsOf(place) }]).trainer;
    } finally {
      for (const handle of made) network.library.release(handle);
    }
  }
  call(name, args) {
    if (!onCpu(this.#place) && !['info', 'observe', 'statistics'].includes(name))
      throw errorNamed('unsupported',
          `trainer_${name}: this trainer is on a device, where the methods named ...Async do its ` +
          `work`);
    return super.call(name, args);
  }
  #ask(name, args) {
    return this.library.ask(`trainer_${name}`, { trainer: this.handle, ...args }, this.#place);
  }

  get info() {
    return this.call('info').info;
  }
  get digest() {
    return this.call('digest').sha256;
  }
  async digestAsync() {
    return (await this.#ask('digest')).sha256;
  }
  /** Statistics of what every cell gives, and of the gradient of the mean loss for that, from the
   *  next step on (docs/guide/observe.md); not on a device. Options: every (0:
   *  none any more), passes, window, keep, nested, weights: docs/reference/options.md,
   *  trainer_observe. */
  observe(options = {}) {
    refuseSignal('observe', options);
    this.call('observe', { options: snake(options) });
  }
  /** Takes the events of the steps so far: {passes, observed, dropped, events}. */
  statistics() {
    return camel(this.call('statistics').statistics);
  }
  /** Optimizer steps done. */
  get done() {
    return this.info.step;
  }
  /** {step, loss, lr, rows} after `steps` more steps. */
  step(steps = 1, options = {}) {
    known('step', options, []);
    return this.call('step', { steps });
  }
  /** The same later. With a `signal` it goes in slices of some milliseconds, between which it is
   *  seen: steps that are done stay done, and going on gives the bits of a training that was not
   *  aborted. */
  async stepAsync(steps = 1, options = {}) {
    const { signal } = known('stepAsync', options, ['signal']);
    return runLater(this.library, this.#steps(steps, signal), this.#place, signal);
  }
  *#steps(steps, sliced) {
    const call = (n) => ['trainer_step', { trainer: this.handle, steps: n }];
    let left = Number(steps), size = 1, rows = 0;
    if (!sliced || !Number.isSafeInteger(left) || left < 2) return yield call(steps);
    let { step } = (yield ['trainer_info', { trainer: this.handle }]).info;
    for (;;) {
      const now = Math.min(size, left), begin = performance.now();
      const report = yield call(now);
      step += now;
      left -= now;
      rows += report.rows;
      if (left === 0 || report.step < step) return { ...report, rows };
      size = sized(size, performance.now() - begin);
    }
  }
  /** One step on a batch of its own, in place of the samples that the trainer has: Data, or what
   *  the constructor takes. */
  stepOn(data, options = {}) {
    known('stepOn', options, []);
    if (!onCpu(this.#place)) this.call('step_on');
    return runNow(this.library, this.#stepOn(data));
  }
  async stepOnAsync(data, options = {}) {
    const { signal } = known('stepOnAsync', options, ['signal']);
    return runLater(this.library, this.#stepOn(data), this.#place, signal);
  }
  *#stepOn(data) {
    const made = [];
    try {
      const samples = yield* dataOf(this.#network, data, made);
      return yield ['trainer_step_on', { trainer: this.handle, data: samples }];
    } finally {
      for (const handle of made) this.library.release(handle);
    }
  }
  /** One of the `microBatches` of the next step, by itself: its gradients as bytes, for apply().
   *  `data`: its samples, in place of the trainer's own: what stepOn() takes. */
  shard(number, data) {
    if (data === undefined)
      return this.library.take(this.call('shard', { shard: number }).bytes);
    return this.library.take(runNow(this.library, this.#shardOn(number, data)).bytes);
  }
  *#shardOn(shard, data) {
    const made = [];
    try {
      const samples = yield* dataOf(this.#network, data, made);
      return yield ['trainer_shard_on', { trainer: this.handle, shard, data: samples }];
    } finally {
      for (const handle of made) this.library.release(handle);
    }
  }
  /** The step of all its shards, in their order, with the bits of step(). */
  apply(shards) {
    const handles = [];
    try {
      for (const [i, shard] of [...shards].entries())
        handles.push(bytesObject(this.library, `shards[${i}]`, shard));
      return this.call('apply', { shards: handles });
    } finally {
      for (const handle of handles) this.library.release(handle);
    }
  }
  /** The optimizer's moments: [{name, rows, cols}]. */
  get moments() {
    return this.call('moments').moments;
  }
  getMoment(name) {
    const found = this.moments.find((m) => m.name === name);
    return this.call('get_moment', { name, values: found ? found.rows * found.cols : 1 }).values;
  }
  /** New values for a moment: to continue a training that another framework began. */
  setMoment(name, values) {
    this.call('set_moment', { name, values: Float64Array.from(values) });
  }
  /** As if this number of steps were done. */
  setStep(step) {
    this.call('set_step', { step });
  }
  /** To the end of the training. callback({step, loss, lr, rows}) is called between slices of some
   *  milliseconds; false stops. Returns the last report. */
  async run(callback, options = {}) {
    const { signal } = known('run', options, ['signal']);
    if (callback !== undefined && callback !== null && typeof callback !== 'function')
      throw errorNamed('invalid_argument', `run: expected a function, got ${typeof callback}`);
    signalOf(signal);
    const { step, steps } = await this.library.turn(() => this.info);
    let last = { step, loss: NaN, lr: 0, rows: 0 }, size = 1;
    while (last.step < steps) {
      await breathe();
      signal?.throwIfAborted();
      const begin = performance.now();
      last = await this.#ask('step', { steps: size });
      size = sized(size, performance.now() - begin);
      if (callback?.(last) === false) break;
    }
    return last;
  }
  /** Makes the training longer, by {steps} or by {epochs}: the bits of one training of that
   *  length. Returns its steps. */
  extend({ steps = 0, epochs = 0 }) {
    return this.call('extend', { steps, epochs }).total;
  }
  /** A checkpoint, which is an .entity file; in Node also to a path. */
  save(path) {
    if (path !== undefined) return void this.call('save', { path: String(path) });
    return this.library.take(this.call('save_bytes').bytes);
  }
  async saveAsync() {
    const { bytes } = await this.#ask('save_bytes');
    return this.library.turn(() => this.library.take(bytes));
  }
  /** Goes on where a checkpoint left off: its bytes, in Node also its path. */
  resume(checkpoint) {
    if (typeof checkpoint === 'string') return void this.call('resume', { path: checkpoint });
    const bytes = bytesIn(this.library, checkpoint);
    try {
      this.call('resume_bytes', { bytes });
    } finally {
      this.library.release(bytes);
    }
  }
  async resumeAsync(checkpoint) {
    const bytes = await this.library.turn(() => bytesIn(this.library, checkpoint));
    try {
      await this.#ask('resume_bytes', { bytes });
    } finally {
      this.library.release(bytes);
    }
  }
}

/** Of steps that took so long the number that takes a slice. */
const sized = (size, milliseconds) =>
  Math.max(1, Math.min(2 * size, Math.floor(size * SLICE_MS / Math.max(milliseconds, 1e-3))));

/** Work: the handle of samples; those that it makes are also in `made`. */
export function* dataOf(network, data, made) {
  if (data instanceof Data) return data.handle;
  if (!isNamed(data))
    throw errorNamed('invalid_argument', 'data: expected Data, {x, y}, {x, classes}, ' +
      `{ids, length} or {csv}, got ${data === null ? 'null' : typeof data}`);
  const { weights, ...samples } = data;
  made.push((yield dataCall(network, samples)).data);
  if (weights !== undefined)
    made.push((yield ['data_weighted', { samples: made[0], weights: rowsOf(weights) }]).data);
  return made.at(-1);
}

/** A trainer's handle, from inside the package. */
class Made {
  constructor(handle, place) {
    this.handle = handle;
    this.place = place;
  }
}

/** The handle of a new bytes object. */
function bytesIn(lib, content) {
  const source = bytesOf(content);
  const { bytes } = lib.call('bytes_create', { size: source.length });
  lib.view(bytes).set(source);
  return bytes;
}
