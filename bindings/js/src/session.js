// Sessions: a network's memory and KV caches, held by the caller.
import { onCpu, optionsOf, placeOf } from './runtime/call.js';
import { errorNamed, known, refuseSignal } from './runtime/errors.js';
import { BLOCK, inputRows, numbersOf, rowsOf, runRows, stepsOf, typed,
  wideRowsOf } from './rows.js';
import { Handled, camel, libraryOf, runLater, runNow, snake } from './runtime/runtime.js';

/** A handle from inside the package. */
class Made {
  constructor(handle, place) {
    this.handle = handle;
    this.place = place;
  }
}

/** Runs a network; holds its memory and its KV caches. Where the network changes, the session
 *  follows. On the CPU its methods return at once; on a device, made by Session.create, those named
 *  ...Async do its work. */
export class Session extends Handled {
  #place = 'cpu';
  #network;
  #info;

  /** Options: maxRows, maxHeadRows, maxPositions, sequences: docs/reference/options.md,
   *  session_create. */
  constructor(network, options = {}) {
    const lib = libraryOf('network', network), made = options instanceof Made;
    super(lib, 'session',
      made ? options.handle : runNow(lib, Session.#make(network, options, 'cpu')));
    if (made) this.#place = options.place;
    this.#network = network;
  }
  static async create(network, { device, mode, ...options } = {}) {
    const place = placeOf({ device, mode });
    const lib = libraryOf('network', network);
    const handle = await runLater(lib, Session.#make(network, options, place), place);
    return new Session(network, new Made(handle, place));
  }
  static *#make(network, options, place) {
    const said = 'device' in options || 'mode' in options;
    const all = { ...snake(options), ...(said ? {} : optionsOf(place)) };
    return (yield ['session_create', { network: network.handle, options: all }]).session;
  }
  #run(what, options, work) {
    const { budgetUs } = known(what, options, ['budgetUs']);
    if (!onCpu(this.#place))
      throw errorNamed('unsupported',
        'this Session is on a device, where the methods named ...Async do its work');
    return this.within(budgetUs, () => runNow(this.library, work));
  }
  #later(what, options, work) {
    const { signal } = known(what, options, ['signal']);
    return this.within(undefined,
      () => runLater(this.library, work(signal ? BLOCK : Infinity), this.#place, signal));
  }

  /** target (what computes), threads, inputWidth, outputWidth, arenaBytes, stateBytes,
   *  weightBytes. */
  get info() {
    return camel(this.call('info').info);
  }
  *#rows(x, block) {
    const { input, output } = this.#network.info, session = this.handle;
    if (input.ids)
      throw errorNamed('invalid_argument',
        'run: the network takes ids: runIds runs rows of them, runTokens single ones');
    const wide = input.dtype === 'f64';
    const values = inputRows(x, input, wide ? (v) => Float64Array.from(wideRowsOf(v)) : rowsOf);
    const y = new values.constructor(Math.ceil(values.length / input.width) * output.width);
    return yield* runRows(values, input.width, y, output.width, block,
      (part, to, rows) => [typed('session_run', part), { session, rows, x: part, y: to }]);
  }
  *#ids(ids, block) {
    const { input, output } = this.#network.info, session = this.handle;
    const values = numbersOf(ids), steps = stepsOf(input);
    if (!steps)
      throw errorNamed('invalid_argument', 'runIds: the network takes no rows of ids: ' +
        (input.ids ? 'runTokens runs single ones' : 'run runs rows of values'));
    const y = new Float32Array(Math.ceil(values.length / steps) * output.width);
    return yield* runRows(values, steps, y, output.width, block,
      (part, to) => ['session_run_ids', { session, ids: part, y: to }]);
  }
  *#tokens(ids, positions, sequences, head) {
    const { output } = this.#network.info;
    return (yield ['session_run_tokens', { session: this.handle, ids, positions, sequences, head,
      y: Math.max(1, head.length) * output.width }]).y;
  }

  *#observe(options) {
    yield ['session_observe', { session: this.handle, options: snake(options) }];
  }

  /** Statistics of the output of every cell, from the next run on (docs/guide/observe.md). Options:
   *  every (0: none any more), passes, window, keep, total: docs/reference/options.md,
   *  session_observe. */
  observe(options = {}) {
    refuseSignal('observe', options);
    return this.#run('observe', {}, this.#observe(options));
  }
  /** The same of a session on a device. */
  async observeAsync(options = {}) {
    refuseSignal('observeAsync', options);
    return this.#later('observeAsync', {}, () => this.#observe(options));
  }
  /** Takes the events of the runs so far: {passes, observed, dropped, events},
   *  and total where observe() asked for it. */
  statistics() {
    return camel(this.call('statistics').statistics);
  }

  /** What the rules of the network's metacognitions have done after runs of this session
   *  (docs/guide/metacognition.md): for each act {pass, path, rule, statistic, value, act, before,
   *  after}; the last 65,536, the oldest first. */
  trace() {
    return this.call('trace').trace.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  }

  /** Rows of values, at most maxRows: as Network.forward takes them. Returns rows of the output's
   *  width. `budgetUs`: null after about this many microseconds where it is not done; the same call
   *  again continues, with the same bits, and another run drops it. */
  run(x, options = {}) {
    return this.#run('run', options, this.#rows(x, Infinity));
  }
  /** The same later; with a `signal` some rows at a time, between which it is seen. */
  async runAsync(x, options = {}) {
    return this.#later('runAsync', options, (block) => this.#rows(x, block));
  }
  /** Rows of ids, each a sequence of its own. */
  runIds(ids, options = {}) {
    return this.#run('runIds', options, this.#ids(ids, Infinity));
  }
  async runIdsAsync(ids, options = {}) {
    return this.#later('runIdsAsync', options, (block) => this.#ids(ids, block));
  }
  /** Token ids at positions of sequences (all 0 where empty). Returns a row of the output's width
   *  for each row in `head` (the last one where empty). Keys and values of earlier runs stay in the
   *  caches. */
  runTokens(ids, positions, sequences = [], head = [], options = {}) {
    return this.#run('runTokens', options, this.#tokens(ids, positions, sequences, head));
  }
  /** The same later; a `signal` is seen before it begins. */
  async runTokensAsync(ids, positions, sequences = [], head = [], options = {}) {
    return this.#later('runTokensAsync', options,
      () => this.#tokens(ids, positions, sequences, head));
  }
}
