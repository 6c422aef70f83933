// Networks that run and learn.
import { errorNamed } from './errors.js';
import { Library, bytesOf } from './call.js';
import { inNode } from './host.js';
import { download } from './module.js';
import { Handled, breathe, camel, library, snake, start } from './runtime.js';

/** Rows of numbers as one Float32Array. */
function rowsOf(x) {
  if (x instanceof Float32Array) return x;
  return Float32Array.from(Array.isArray(x[0]) || ArrayBuffer.isView(x[0]) ? [].concat(...x.map((row) => Array.from(row))) : x);
}

function dataOf(lib, network, { x, y, classes, ids, ends, length, csv, ...options }) {
  if (ids !== undefined) return lib.call('data_tokens', { ids, ends, length: length ?? 256 }).data;
  if (csv !== undefined) return lib.call('data_table', { csv, options: { type: 'table', ...snake(options) } }).data;
  if (x === undefined || (y === undefined && classes === undefined))
    throw errorNamed('invalid_argument', 'data: expected {x, y}, {x, classes}, {ids, length} or {csv}');
  const width = network.info.input.width, rows = rowsOf(x);
  if (classes !== undefined) return lib.call('data_classes', { x: rows, width, classes }).data;
  return lib.call('data_values', { x: rows, width, y: rowsOf(y), targets: network.info.output.width }).data;
}

/** A training that may be paused, saved and resumed. */
export class Trainer extends Handled {
  /** data: {x, y} rows and their targets, {x, classes}, {ids, ends, length} or {csv, targets, ...}. */
  constructor(network, data, spec) {
    const lib = network.library;
    const given = dataOf(lib, network, data);
    try {
      super(lib, 'trainer', lib.call('trainer_create', { network: network.handle, data: given, spec: snake(spec) }).trainer);
    } finally {
      lib.call('release', { handle: given });
    }
  }
  get info() {
    return this.call('info').info;
  }
  get digest() {
    return this.call('digest').sha256;
  }
  /** {step, loss, rate, rows} after so many more steps. */
  step(steps = 1) {
    return this.call('step', { steps });
  }
  /** A checkpoint, which is an .entity file; in Node also to a path. */
  save(path) {
    if (path !== undefined) return void this.call('save', { path: String(path) });
    return this.library.take(this.call('save_bytes').bytes);
  }
  /** Goes on where a checkpoint left off: its bytes, in Node also its path. */
  resume(checkpoint) {
    if (typeof checkpoint === 'string') return void this.call('resume', { path: checkpoint });
    withBytes(this.library, checkpoint, (bytes) => this.call('resume_bytes', { bytes }));
  }
}

function withBytes(lib, content, body) {
  const source = bytesOf(content);
  const { bytes } = lib.call('bytes_create', { size: source.length });
  try {
    lib.view(bytes).set(source);
    return body(bytes);
  } finally {
    lib.call('release', { handle: bytes });
  }
}

export class Network extends Handled {
  #session = null; // with the sizes that it was made for
  #info = null;

  /** A network of a topology (an object, or its JSON), with random parameters of `seed`; null: all zero. Needs initLoom(). */
  constructor(spec, options = {}) {
    if (spec instanceof Library) return super(spec, 'network', options); // a handle, from inside the package
    const { seed = 0 } = options;
    const lib = library();
    super(lib, 'network', lib.call('network_create', { topology: typeof spec === 'string' ? bytesOf(spec) : spec }).network);
    if (seed !== null) this.initialize(seed);
  }

  /** From an .entity file: bytes, a Blob, a URL; in Node also a path. */
  static async load(source, { onProgress, signal } = {}) {
    const lib = await start();
    if (inNode && typeof source === 'string' && !/^[a-z]+:\/\/|^(data|blob|file):/.test(source))
      return new Network(lib, lib.call('network_load', { path: source }).network);
    const bytes = await download(lib, source, { onProgress, signal });
    try {
      return new Network(lib, lib.call('network_load_bytes', { bytes }).network);
    } finally {
      lib.call('release', { handle: bytes });
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
  enable(at, enabled = true) {
    this.call('enable', { cell: at, enabled });
  }
  /** Stores and multiplies the matrices of a cell ("" for all) in another format; what they were is kept. */
  morph(cell, format) {
    this.call('morph', { cell, format });
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

  #run(wanted) {
    const s = this.#session;
    if (s && s.rows >= wanted.rows && s.heads >= wanted.heads && s.positions >= wanted.positions && s.sequences >= wanted.sequences) return s.handle;
    s?.dispose();
    this.#session = null;
    const size = Object.fromEntries(Object.entries(wanted).map(([key, n]) => [key, 2 ** Math.ceil(Math.log2(Math.max(n, 1)))]));
    const options = { max_rows: size.rows, max_head_rows: size.heads, max_positions: size.positions, sequences: size.sequences };
    this.#session = new Handled(this.library, 'session', this.library.call('session_create', { network: this.handle, options }).session);
    Object.assign(this.#session, size);
    return this.#session.handle;
  }

  /** Runs rows of values: a Float32Array, or an array of rows. Networks of ids: token ids of one text, with `head`: rows whose output is wanted
   *  (the last). Returns rows of the output's width. */
  forward(x, { head } = {}) {
    const { input, output } = this.info;
    if (input.ids) {
      const n = x.length, heads = head ?? [n - 1];
      const session = this.#run({ rows: n, heads: heads.length, positions: n, sequences: 1 });
      return this.library.call('session_run_tokens', { session, ids: x, positions: Int32Array.from({ length: n }, (_, i) => i), head: heads, y: heads.length * output.width }).y;
    }
    const values = rowsOf(x), rows = Math.ceil(values.length / input.width);
    const session = this.#run({ rows, heads: rows, positions: 1, sequences: 1 });
    return this.library.call('session_run', { session, rows, x: values, y: rows * output.width }).y;
  }

  /** Trains, a step at a time, or `every` so many: yields {step, loss, rate, rows}. */
  async *train(data, spec, { signal, every = 1 } = {}) {
    signal?.throwIfAborted();
    const trainer = new Trainer(this, data, spec);
    try {
      const { steps } = trainer.info;
      for (let step = 0; step < steps;) {
        await breathe();
        signal?.throwIfAborted();
        const done = trainer.step(every);
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
