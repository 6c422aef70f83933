// Networks that run and learn.
import { errorNamed, known } from './runtime/errors.js';
import { Library, bytesOf, onCpu, optionsOf, placeOf } from './runtime/call.js';
import { inNode } from './runtime/host.js';
import { download } from './runtime/module.js';
import { Handled, breathe, camel, library, runLater, runNow, snake,
  start } from './runtime/runtime.js';

const isList = (x) => Array.isArray(x) || ArrayBuffer.isView(x);
/** Numbers in arrays in arrays, as one list. Rows of unequal length are refused. */
function flat(x) {
  if (!isList(x[0])) return x;
  const rows = Array.from(x, (row) => Array.from(flat(row)));
  const odd = rows.find((row) => row.length !== rows[0].length);
  if (odd)
    throw errorNamed('invalid_argument',
        `rows of ${rows[0].length} and of ${odd.length} numbers: ` +
      'sequences of unequal length are padded where a network has an input of their lengths, ' +
      '{"name": "lengths", "ids": steps + 1}, and they come by name: {x: [...]}; ' +
      'classes behind an end are -100');
  return [].concat(...rows);
}
/** Inputs by name with sequences of unequal length padded by zeros, and their lengths in
 *  "<name>_lengths" or "lengths" where that is not given. */
function padded(x, parts) {
  const all = { ...x };
  for (const { name, dims } of parts) {
    const lengths = [`${name}_lengths`, 'lengths'].find(
      (wanted) => parts.some((part) => part.name === wanted && part.ids && !part.dims));
    if (lengths === undefined || lengths in x || !dims) continue;
    if (!Array.isArray(x[name]) || !isList(x[name][0])) continue;
    const [steps, ...of] = dims, step = of.reduce((n, d) => n * d, 1);
    const rows = x[name].map((row) => Array.from(flat(row)));
    const long = rows.findIndex((row) => row.length % step !== 0 || row.length > steps * step);
    if (long >= 0)
      throw errorNamed('invalid_argument',
          `x: ${name}: sequence ${long} has ${rows[long].length} ` +
        `numbers: expected ${step} for each of at most ${steps} steps`);
    const counts = rows.map((row) => row.length / step);
    if (all[lengths]?.some((count, i) => count !== counts[i]))
      throw errorNamed('invalid_argument', `x: ${name} has other lengths than another input: ` +
        `name an input "${name}_lengths"`);
    all[lengths] = counts;
    all[name] = rows.map((row) => row.concat(Array(steps * step - row.length).fill(0)));
  }
  return all;
}
/** The same of values, none of which JavaScript would make a number of: null, texts, dates. */
export function numbersOf(x) {
  const all = flat(x);
  if (ArrayBuffer.isView(all)) return all;
  const at = all.findIndex((v) => typeof v !== 'number' && typeof v !== 'boolean');
  if (at >= 0)
    throw errorNamed('invalid_argument', `expected numbers, got ${all[at] === null ? 'null' :
      Array.isArray(all[at]) ? 'a list' : typeof all[at]} at ${at} of them`);
  return all;
}
/** Rows of numbers as one Float32Array. */
function rowsOf(x) {
  return x instanceof Float32Array ? x : Float32Array.from(numbersOf(x));
}
/** Rows of numbers to learn from, or of a network that computes in f64: one Float32Array where they
 *  are of a type that it holds, else a Float64Array. */
export function wideRowsOf(x) {
  const narrow = [Float32Array, Uint8Array, Uint8ClampedArray, Int8Array, Uint16Array, Int16Array];
  if (x instanceof Float64Array) return x;
  return narrow.some((type) => x instanceof type) ? rowsOf(x) : Float64Array.from(numbersOf(x));
}
/** Of arrays of numbers the type that holds all of them. */
function typeOf(...lists) {
  return lists.some((list) => list instanceof Float64Array) ? Float64Array : Float32Array;
}
/** Whether values come by name. */
export function isNamed(x) {
  return x !== null && typeof x === 'object' && !Array.isArray(x) && !ArrayBuffer.isView(x);
}
/** The lists of an object, in the order of names; kind: what those name. */
function listsOf(what, given, names, kind, rows) {
  const wrong = Object.keys(given).find((name) => !names.includes(name)) ??
    names.find((name) => !(name in given));
  if (wrong === undefined) return names.map((name) => rows(given[name]));
  const how = names.includes(wrong) ? 'missing' : `no ${kind} of the network`;
  throw errorNamed('invalid_argument',
    `${what}: ${JSON.stringify(wrong)} is ${how}: expected numbers for each of ` +
    `${names.join(', ')}`);
}
/** Rows for a network's input; where it has parts also from an object with those of each by
 *  name. */
export function inputRows(x, input, rowsOf) {
  if (!isNamed(x)) return rowsOf(x);
  const parts = input.parts ?? [], names = parts.map((part) => part.name);
  if (!parts.length)
    throw errorNamed('invalid_argument',
      'x: the network takes one list of rows, and has no inputs by name');
  const widths = parts.map((part) => part.width ?? (part.dims ?? []).reduce((n, d) => n * d, 1));
  const lists = listsOf('x', padded(x, parts), names, 'input', rowsOf);
  const rows = lists[0].length / widths[0];
  lists.forEach((list, i) => {
    if (list.length !== rows * widths[i] || rows % 1 !== 0)
      throw errorNamed('invalid_argument', `x: ${names[i]} has ${list.length} numbers: ` +
        `expected ${widths[i]} for each row, as many rows as ${names[0]}`);
  });
  return joined(lists, widths, rows);
}
/** Rows of several lists side by side. */
function joined(lists, widths, rows) {
  const width = widths.reduce((a, b) => a + b, 0), all = new (typeOf(...lists))(rows * width);
  let column = 0;
  lists.forEach((list, i) => {
    for (let r = 0; r < rows; r++)
      all.set(list.subarray(r * widths[i], (r + 1) * widths[i]), r * width + column);
    column += widths[i];
  });
  return all;
}
/** Targets as rows, and how many a row has; of several outputs from an object with those of each by
 *  name, or an array in their order. */
function targetRows(y, output, rows) {
  const names = (output.parts ?? []).map((part) => part.name);
  if (names.length && Array.isArray(y) && y.length === names.length)
    y = Object.fromEntries(y.map((one, i) => [names[i], one]));
  if (isNamed(y) !== names.length > 0)
    throw errorNamed('invalid_argument', names.length
      ? `y: expected an object with targets for each of ${names.join(', ')}`
      : 'y: the network has one output: expected rows of its targets');
  const lists = names.length ? listsOf('y', y, names, 'output', wideRowsOf) : [wideRowsOf(y)];
  const widths = lists.map((one) => one.length / rows);
  const bad = widths.findIndex((width) => !Number.isInteger(width));
  if (bad >= 0)
    throw errorNamed('invalid_argument',
      `y: ${names.length ? `${names[bad]} has ` : ''}${lists[bad].length} numbers for ${rows} ` +
      `rows`);
  return { y: joined(lists, widths, rows), targets: widths.reduce((a, b) => a + b, 0) };
}
/** What a network gives by its outputs: an object, an array where they are a list ("0", "1", ...),
 *  and as it is where it is one. */
function outputsOf(y, output) {
  const parts = output.parts ?? [], rows = y.length / output.width;
  if (!parts.length) return y;
  let column = 0;
  const views = parts.map(({ width }) => {
    const view = new y.constructor(rows * width);
    for (let r = 0; r < rows; r++) {
      const begin = r * output.width + column;
      view.set(y.subarray(begin, begin + width), r * width);
    }
    column += width;
    return view;
  });
  if (parts.every((part, i) => part.name === String(i))) return views;
  return Object.fromEntries(views.map((view, i) => [parts[i].name, view]));
}
/** Steps of a row of ids; undefined where a row is one id, or values. */
function stepsOf(input) {
  return input.ids ? input.dims?.[0] : undefined;
}

/** The form of a function for the type of x. */
function typed(name, x) {
  return x instanceof Float64Array ? `${name}_f64` : name;
}
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
    return ['data_tokens', { ids, ends, length: length ?? 256 }];
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

/** A training that may be paused, saved and resumed. On the CPU its methods return at once; on a
 *  device, made by Trainer.create, those named ...Async do its work. */
export class Trainer extends Handled {
  #place = 'cpu';

  /** data: {x, y} rows and their targets, {x, classes}, {ids, ends, length}, {ids, y} or {ids,
   *  classes} for rows of ids, or {csv, targets, ...}; with `weights` a weight for each sample. */
  constructor(network, data, spec) {
    const lib = network.library;
    super(lib, 'trainer', data instanceof Made ? data.handle
        : runNow(lib, Trainer.#make(network, data, spec, 'cpu')));
    if (data instanceof Made) this.#place = data.place;
  }
  static async create(network, data, spec, options) {
    const place = placeOf(options);
    const handle = await runLater(network.library, Trainer.#make(network, data, spec, place),
        place);
    return new Trainer(network, new Made(handle, place));
  }
  static *#make(network, data, spec, place) {
    const { weights, ...samples } = data;
    const made = [(yield dataCall(network, samples)).data];
    try {
      if (weights !== undefined)
        made.push((yield ['data_weighted', { samples: made[0], weights: rowsOf(weights) }]).data);
      return (yield ['trainer_create',
          { network: network.handle, data: made.at(-1), spec: snake(spec),
            options: optionsOf(place) }]).trainer;
    } finally {
      for (const handle of made) network.library.release(handle);
    }
  }
  call(name, args) {
    if (!onCpu(this.#place) && name !== 'info')
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
  /** {step, loss, lr, rows} after `steps` more steps. */
  step(steps = 1) {
    return this.call('step', { steps });
  }
  stepAsync(steps = 1) {
    return this.#ask('step', { steps });
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

export class Network extends Handled {
  #session = null; // that waits for the next run, with the sizes that it was made for
  #info = null;

  /** A network of a topology (an object, or its JSON), with random parameters of `seed`; null:
   *  all zero. Needs initLoom(). */
  constructor(spec, options = {}) {
    // a handle, from inside the package
    if (spec instanceof Library) return super(spec, 'network', options);
    const { seed = 0 } = options;
    const lib = library();
    super(lib, 'network',
        lib.call('network_create', { topology: typeof spec === 'string' ? bytesOf(spec) : spec })
          .network);
    if (seed !== null) this.initialize(seed);
  }

  /** From an .entity file: bytes, a Blob, a URL; in Node also a path. */
  static async load(source, options = {}) {
    const { onProgress, signal } = known('Network.load', options, ['onProgress', 'signal']);
    const lib = await start();
    if (inNode && typeof source === 'string' && !/^[a-z]+:\/\/|^(data|blob|file):/.test(source))
      return new Network(lib, (await lib.ask('network_load', { path: source })).network);
    const bytes = await download(lib, source, { onProgress, signal });
    try {
      return new Network(lib, (await lib.ask('network_load_bytes', { bytes })).network);
    } finally {
      lib.release(bytes);
    }
  }

  initialize(seed) {
    this.call('initialize', { seed });
  }
  get topology() {
    return this.call('topology').topology;
  }
  get info() {
    return (this.#info ??= camel(this.call('info').info));
  }
  get parameters() {
    return this.call('parameters').parameters;
  }
  /** SHA-256 over topology and values. */
  get digest() {
    return this.call('digest').sha256;
  }
  copy() {
    return new Network(this.library, this.call('copy').copy);
  }
  cell(at) {
    return this.call('cell', { cell: at }).json;
  }
  setCell(at, json) {
    this.#info = null;
    this.call('set_cell', { cell: at, json });
  }
  /** Gives a cell other links, [{read: [z, y, x, l]}, ...]; all weights stay. */
  setLinks(at, links) {
    this.#info = null;
    this.call('set_links', { cell: at, links });
  }
  enable(at, enabled = true) {
    this.call('enable', { cell: at, enabled });
  }
  /** Stores and multiplies the matrices of a cell ("": of all) in another format; what they were is
   *  kept. */
  morph(format, cell = '') {
    this.call('morph', { format, cell });
  }
  /** The same for all cells, for running alone: a fraction of the memory, and no way back. */
  pack(format) {
    this.call('pack', { format });
  }
  /** Values of a parameter, by path and role as `parameters` has them. */
  get(path, role) {
    const found = this.parameters.find((p) => p.path === path && p.role === role);
    if (!found) throw errorNamed('not_found', `no parameter '${path}:${role}'`);
    return this.call('get_f32', { path, role, values: found.rows * found.cols }).values;
  }
  set(path, role, values) {
    this.call('set_f32', { path, role, values: rowsOf(values) });
  }
  /** The program that runs, a line per instruction. */
  program(options = {}) {
    return this.call('program', { options: snake(options) }).program;
  }

  /** A session with room for what is wanted: the last one, or a new one. */
  *#borrow(wanted, place) {
    const last = this.#session;
    this.#session = null;
    if (last?.place === place && Object.entries(wanted).every(([key, n]) => last[key] >= n))
      return last;
    last?.dispose();
    const size =
      Object.fromEntries(Object.entries(wanted)
          .map(([key, n]) => [key, 2 ** Math.ceil(Math.log2(Math.max(n, 1)))]));
    const options = { max_rows: size.rows, max_head_rows: size.heads, max_positions: size.positions,
      sequences: size.sequences, ...optionsOf(place) };
    const { session } = yield ['session_create', { network: this.handle, options }];
    return Object.assign(new Handled(this.library, 'session', session), size, { place });
  }
  *#forward(x, head, place) {
    const { input, output } =
      (this.#info ??= camel((yield ['network_info', { network: this.handle }]).info));
    const steps = stepsOf(input);
    const toRows = input.dtype === 'f64' ? (v) => Float64Array.from(wideRowsOf(v)) : rowsOf;
    const values = steps ? flat(x) : input.ids ? x : inputRows(x, input, toRows);
    const rows = Math.ceil(values.length / (input.ids ? steps ?? 1 : input.width));
    if (head !== undefined && (steps || !input.ids))
      throw errorNamed('invalid_argument',
          'forward: "head" is of networks whose rows are single ids');
    const heads = input.ids && !steps ? head ?? [rows - 1] : null,
      y = (heads?.length ?? rows) * output.width;
    const session =
      yield* this.#borrow(
        { rows, heads: heads?.length ?? rows, positions: heads ? rows : 1, sequences: 1 }, place);
    let keep = onCpu(place); // after an error a device may be lost: the next run opens another one
    try {
      const call = steps ? ['session_run_ids', { session: session.handle, ids: values, y }]
        : input.ids
        ? ['session_run_tokens',
            { session: session.handle, ids: x,
              positions: Int32Array.from({ length: rows }, (_, i) => i), head: heads, y }]
        : [typed('session_run', values), { session: session.handle, rows, x: values, y }];
      const result = outputsOf((yield call).y, output);
      keep = true;
      return result;
    } finally {
      if (!keep || this.#session || this.handle === 0n) session.dispose();
      else this.#session = session;
    }
  }

  /** Runs rows of values: a Float32Array, or an array of rows; a network whose cells compute in f64
   *  takes and gives a Float64Array. Networks of ids: token ids of one text, with `head`: rows
   *  whose output is wanted (the last), or rows of ids, one after another, where the network
   *  takes those. Returns rows of the output's width; of a network with several outputs those
   *  of each, by its name. */
  forward(x, { head, ...where } = {}) {
    return runNow(this.library, this.#forward(x, head, placeOf(where)));
  }
  async forwardAsync(x, { head, ...where } = {}) {
    const place = placeOf(where);
    return runLater(this.library, this.#forward(x, head, place), place);
  }

  /** The next steps of a time series that `loom train` learned, after the values of training, or
   *  after `history` (numbers in the same steps, the latest last), of which `last` is the date
   *  of the last one, "1960-12". */
  forecast({ history = [], ...options } = {}) {
    return runNow(this.library, this.#forecast(history, options));
  }
  *#forecast(history, options) {
    const session = yield* this.#borrow({ rows: 1, heads: 1, positions: 1, sequences: 1 },
        placeOf({}));
    try {
      return (yield ['session_forecast',
          { session: session.handle, options: snake(options), history }]).forecasts;
    } finally {
      session.dispose();
    }
  }

  /** Trains, a step at a time, or `every` steps: yields {step, loss, lr, rows}. */
  async *train(data, spec, { signal, every = 1, ...where } = {}) {
    signal?.throwIfAborted();
    const trainer = await Trainer.create(this, data, spec, where);
    try {
      const { steps } = await this.library.turn(() => trainer.info);
      for (let step = 0; step < steps;) {
        await breathe();
        signal?.throwIfAborted();
        const done = await trainer.stepAsync(every);
        step = done.step;
        yield done;
      }
    } finally {
      trainer.dispose();
    }
  }

  /** An .entity file; in Node also to a path. */
  save(path) {
    if (path !== undefined) return void this.call('save', { path: String(path) });
    return this.library.take(this.call('save_bytes').bytes);
  }

  dispose() {
    this.#session?.dispose();
    this.#session = null;
    super.dispose();
  }
}
