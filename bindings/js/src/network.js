// Networks that run and learn.
import { errorNamed, known, refuseSignal, signalOf } from './runtime/errors.js';
import { Library, bytesOf, onCpu, optionsOf, placeOf } from './runtime/call.js';
import { inNode } from './runtime/host.js';
import { download } from './runtime/module.js';
import { BLOCK, inputRows, isList, numbersOf, outputsOf, rowsOf, runRows, stepsOf, typed,
  wideRowsOf } from './rows.js';
import { Handled, breathe, camel, library, runLater, runNow, snake,
  start } from './runtime/runtime.js';
import { Online } from './online.js';
import { Session } from './session.js';
import { Trainer } from './training.js';

/** The ids of one sequence; several are refused. */
function oneSequence(ids) {
  if (!isList(ids))
    throw errorNamed('invalid_argument', `ids: expected a list of ids, got ${typeof ids}`);
  if (isList(ids[0]))
    throw errorNamed('invalid_argument', 'ids: expected one sequence, got a list of lists: give ' +
      'one at a time, or run several in a Session with runTokens');
  return numbersOf(ids);
}
function folderOf(what, folder) {
  if (!inNode) throw errorNamed('unsupported', `${what}: a browser has no folders`);
  if (typeof folder !== 'string')
    throw errorNamed('invalid_argument', `${what}: expected a folder, got ${typeof folder}`);
  return folder;
}

const isPath = (source) => inNode && typeof source === 'string' &&
  !/^[a-z]+:\/\/|^(data|blob|file):/.test(source);

/** A handle of a file: a path in Node, else bytes, a Blob, a URL. */
async function fileOf(lib, source) {
  if (isPath(source)) return (await lib.ask('file_open', { name: source })).file;
  const bytes = await download(lib, source, {});
  try {
    return (await lib.ask('file_open_bytes', { bytes })).file;
  } finally {
    lib.release(bytes);
  }
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
    if (isPath(source))
      return new Network(lib, (await lib.ask('network_load', { path: source })).network);
    const bytes = await download(lib, source, { onProgress, signal });
    try {
      return new Network(lib, (await lib.ask('network_load_bytes', { bytes })).network);
    } finally {
      lib.release(bytes);
    }
  }

  /** From any file of weights (safetensors, GGUF), by names, shapes and `settings`
   *  (docs/reference/weights.md): { network, report }. Questions that are open are an error that
   *  lists them. Sources as of load. */
  static async fromWeights(source, settings = {}) {
    const lib = await start();
    const file = await fileOf(lib, source);
    try {
      const { network, report } = await lib.ask('network_from_weights', { file, settings });
      return { network: new Network(lib, network), report };
    } finally {
      lib.release(file);
    }
  }
  /** What fromWeights would decide; `open` counts the questions. */
  static async weightsReport(source, settings = {}) {
    const lib = await start();
    const file = await fileOf(lib, source);
    try {
      return (await lib.ask('file_weights', { file, settings })).report;
    } finally {
      lib.release(file);
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
  /** Names of columns and classes: docs/reference/entity.md, inputs; or null. */
  get inputs() {
    return this.call('inputs').inputs;
  }
  setInputs(inputs) {
    this.call('set_inputs', { inputs });
  }
  get parameters() {
    return this.call('parameters').parameters;
  }
  /** The layers of the grid with shapes and parameters, for displays: docs/guide/telemetry.md. */
  blueprint(id = 'network') {
    return this.call('blueprint', { id }).blueprint;
  }
  /** SHA-256 over topology and values. */
  get digest() {
    return this.call('digest').sha256;
  }
  /** What identifies each weighted layer: docs/reference/dna.md. */
  get dna() {
    return this.call('dna').dna;
  }
  /** How the layers of another network relate to these: overlap, similarity, layers, shifts. */
  compareDna(other) {
    if (!(other instanceof Network))
      throw errorNamed('invalid_argument', 'compareDna: expected a Network');
    const { report } = this.library.call('network_compare_dna',
      { a: this.handle, b: other.handle });
    return camel(report);
  }
  /** A child of this network and another: {child, report}. Options: method, alpha or fitnessA and
   *  fitnessB, match, per, minScore, align, seed. */
  splice(other, options = {}) {
    if (!(other instanceof Network))
      throw errorNamed('invalid_argument', 'splice: expected a Network');
    const { child, report } = this.library.call('network_splice',
      { a: this.handle, b: other.handle, options: snake(options) });
    return { child: new Network(this.library, child), report: camel(report) };
  }
  /** One network whose branches are whole networks. Options: combine, residual, stitch. */
  static graft(networks, options = {}) {
    const all = [...networks];
    if (all.length === 0 || all.some((one) => !(one instanceof Network)))
      throw errorNamed('invalid_argument', 'graft: expected a list of Networks');
    const { graft } = all[0].library.call('network_graft',
      { networks: all.map((one) => one.handle), options: snake(options) });
    return new Network(all[0].library, graft);
  }
  /** A mutated copy that runs: {child, report}. */
  mutate(seed = 0, rates = {}) {
    const { child, report } = this.call('mutate', { rates: snake(rates), seed });
    return { child: new Network(this.library, child), report: camel(report) };
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
  /** Values of a parameter, by path and role as `parameters` has them: dtype 'f32', or 'f64' for
   *  those of f64 cells as they are. */
  get(path, role, options = {}) {
    const { dtype = 'f32' } = known('get', options, ['dtype']);
    if (dtype !== 'f32' && dtype !== 'f64')
      throw errorNamed('invalid_argument', `dtype: expected "f32" or "f64", got ${String(dtype)}`);
    const found = this.parameters.find((p) => p.path === path && p.role === role);
    if (!found) throw errorNamed('not_found', `no parameter '${path}:${role}'`);
    return this.call(`get_${dtype}`, { path, role, values: found.rows * found.cols }).values;
  }
  /** Sets a parameter; its format stays. A Float64Array goes in as it is. */
  set(path, role, values) {
    const wide = values instanceof Float64Array;
    this.call(wide ? 'set_f64' : 'set_f32', { path, role, values: wide ? values : rowsOf(values) });
  }
  /** The program that runs, a line per instruction. */
  program(options = {}) {
    return this.call('program', { options: snake(options) }).program;
  }
  /** The same as bytes, which Program runs with the weights of a network. */
  saveProgram(options = {}) {
    return this.library.take(this.call('save_program', { options: snake(options) }).program);
  }
  /** SHA-256 of that program: equal programs, equal hashes. */
  programSha256(options = {}) {
    return this.call('program_sha256', { options: snake(options) }).sha256;
  }

  /** Runs with a LoRA adapter from now on, in place of the one it has: a folder as Trainer.save and
   *  PEFT write it, in Node. Weights, digest and saved files stay the network's alone. */
  loadAdapter(folder) {
    this.#info = null;
    this.call('load_adapter', { path: folderOf('loadAdapter', folder) });
  }
  /** Writes the adapter that the network has, loaded or learned, as PEFT does; in Node. */
  saveAdapter(folder) {
    this.call('save_adapter', { path: folderOf('saveAdapter', folder) });
  }
  /** Runs without an adapter again. */
  unloadAdapter() {
    this.#info = null;
    this.call('unload_adapter');
  }
  /** Adds the adapter to the weights, encoded again where they are packed; the network then has
   *  none. */
  mergeAdapter() {
    this.#info = null;
    this.call('merge_adapter');
  }

  /** A Session of its own: options as docs/reference/options.md (session_create) has them. */
  session(options) {
    return new Session(this, options);
  }
  /** A Session that does what a trace (session.trace()) says after the runs that it names, and
   *  evaluates no rules: with a network that was as this one is, the same runs have the same
   *  outputs. A trace that does not fit the network is refused. */
  replay(trace, options) {
    const session = new Session(this, options);
    try {
      session.call('replay', { trace: trace.map((act) => `${JSON.stringify(act)}\n`).join('') });
    } catch (error) {
      session.dispose();
      throw error;
    }
    return session;
  }
  /** A Trainer, which learns step by step, saves and resumes. */
  trainer(data, spec, options) {
    return new Trainer(this, data, spec, options);
  }
  /** Learns a copy of the network while it answers, in one thread. */
  online(spec, options) {
    return new Online(this, spec, options);
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
      sequences: size.sequences, ignore_rules: true, ...optionsOf(place) };
    const { session } = yield ['session_create', { network: this.handle, options }];
    return Object.assign(new Handled(this.library, 'session', session), size, { place });
  }
  /** Work with a session, which is kept where all went well: after an error a device may be lost,
   *  and the next run opens another one. */
  *#with(wanted, place, work) {
    const session = yield* this.#borrow(wanted, place);
    let keep = onCpu(place);
    try {
      const result = yield* work(session.handle);
      keep = true;
      return result;
    } finally {
      if (!keep || this.#session || this.handle === 0n) session.dispose();
      else this.#session = session;
    }
  }
  *#ports() {
    return (this.#info ??= camel((yield ['network_info', { network: this.handle }]).info));
  }
  *#forward(x, head, place, block = Infinity) {
    const { input, output } = yield* this.#ports();
    const steps = stepsOf(input);
    if (input.ids && !steps) return yield* this.#tokens(x, head, place);
    if (head !== undefined)
      throw errorNamed('invalid_argument',
          'forward: "head" is of networks whose rows are single ids');
    const toRows = input.dtype === 'f64' ? (v) => Float64Array.from(wideRowsOf(v)) : rowsOf;
    const values = steps ? numbersOf(x) : inputRows(x, input, toRows);
    const width = steps ?? input.width, rows = Math.ceil(values.length / width);
    const y = new (input.dtype === 'f64' ? Float64Array : Float32Array)(rows * output.width);
    const most = Math.min(rows, block);
    return yield* this.#with({ rows: most, heads: most, positions: 1, sequences: 1 }, place,
      function* (session) {
        const call = (part, to, n) => (steps ? ['session_run_ids', { session, ids: part, y: to }]
          : [typed('session_run', part), { session, rows: n, x: part, y: to }]);
        return outputsOf(yield* runRows(values, width, y, output.width, block, call), output);
      });
  }
  *#tokens(x, head, place) {
    const { output } = yield* this.#ports();
    const ids = oneSequence(x), rows = ids.length, heads = head ?? [rows - 1];
    return yield* this.#with({ rows, heads: heads.length, positions: rows, sequences: 1 }, place,
      function* (session) {
        const call = ['session_run_tokens',
          { session, ids, positions: Int32Array.from({ length: rows }, (_, i) => i), head: heads,
            y: heads.length * output.width }];
        return outputsOf((yield call).y, output);
      });
  }
  *#forwardTokens(x, last, place) {
    const { input, output } = yield* this.#ports();
    if (!input.ids || stepsOf(input))
      throw errorNamed('invalid_argument',
        'forwardTokens: the network takes rows, not single ids: forward runs it');
    const ids = oneSequence(x), n = ids.length, { width } = output;
    if (n === 0) throw errorNamed('invalid_argument', 'ids: expected at least one');
    const y = new Float32Array((last ? 1 : n) * width);
    const most = Math.min(n, BLOCK);
    return yield* this.#with({ rows: most, heads: most, positions: n, sequences: 1 }, place,
      function* (session) {
        for (let begin = 0; begin < n; begin += BLOCK) {
          const count = Math.min(BLOCK, n - begin);
          const positions = Int32Array.from({ length: count }, (_, i) => begin + i);
          const head = last ? [count - 1] : Int32Array.from({ length: count }, (_, i) => i);
          yield ['session_run_tokens', { session, ids: ids.slice(begin, begin + count), positions,
            head, y: last ? y : y.subarray(begin * width, (begin + count) * width) }];
        }
        return outputsOf(y, output);
      });
  }

  /** Runs rows of values: a Float32Array, or an array of rows; a network whose cells compute in f64
   *  takes and gives a Float64Array. Networks of ids: token ids of one text, with `head`: rows
   *  whose output is wanted (the last), or rows of ids, one after another, where the network
   *  takes those. Returns rows of the output's width; of a network with several outputs those
   *  of each, by its name. */
  forward(x, { head, ...where } = {}) {
    refuseSignal('forward', where);
    return runNow(this.library, this.#forward(x, head, placeOf(where)));
  }
  /** The same later. With a `signal` it runs some rows at a time, between which it is seen. */
  async forwardAsync(x, { head, signal, ...where } = {}) {
    const place = placeOf(where);
    return runLater(this.library, this.#forward(x, head, place, signal ? BLOCK : Infinity), place,
      signal);
  }
  /** The outputs after each id of one sequence from its beginning, in one list; with `last` after
   *  the last alone. For networks whose rows are single ids. */
  forwardTokens(ids, { last = false, ...where } = {}) {
    refuseSignal('forwardTokens', where);
    return runNow(this.library, this.#forwardTokens(ids, last, placeOf(where)));
  }
  async forwardTokensAsync(ids, { last = false, signal, ...where } = {}) {
    const place = placeOf(where);
    return runLater(this.library, this.#forwardTokens(ids, last, place), place, signal);
  }

  /** The next steps of a time series that `loom train` learned, after the values of training, or
   *  after `history` (numbers in the same steps, the latest last), of which `last` is the date
   *  of the last one, "1960-12". */
  forecast({ history = [], ...options } = {}) {
    refuseSignal('forecast', options);
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

  /** Trains, a step at a time, or `every` steps: yields {step, loss, lr, rows}. A `signal` is seen
   *  between steps. */
  async *train(data, spec, { signal, every = 1, ...where } = {}) {
    signalOf(signal);
    const trainer = await Trainer.create(this, data, spec, where);
    try {
      const { steps } = await this.library.turn(() => trainer.info);
      if (!(every >= 1))
        throw errorNamed('invalid_argument', `every: expected 1 or more steps, got ${every}`);
      for (let step = 0; step < steps;) {
        await breathe();
        const done = await trainer.stepAsync(every, { signal });
        step = done.step;
        yield done;
      }
    } finally {
      trainer.dispose();
    }
  }

  /** An .entity file; in Node also to a path: JSON where that ends in .json. */
  save(path) {
    if (path !== undefined) return void this.call('save', { path: String(path) });
    return this.library.take(this.call('save_bytes').bytes);
  }

  /** Topology and weights as JSON, exactly: load() reads its bytes or its file. */
  saveJson() {
    return this.call('save_json').text;
  }

  /** For other programs: the bytes of a format, "onnx"; in Node also a path, by whose end the
   *  format goes, and then the report (docs/guide/export.md). */
  export(to, options = {}) {
    const all = { options: snake(options) };
    if (/[./\\]/.test(to)) return this.call('export', { path: String(to), ...all }).report;
    return this.library.take(this.call('export_bytes', { format: String(to), ...all }).bytes);
  }

  dispose() {
    this.#session?.dispose();
    this.#session = null;
    super.dispose();
  }
}
