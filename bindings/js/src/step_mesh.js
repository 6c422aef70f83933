// Networks that run by ticks.
import { onCpu, optionsOf, placeOf } from './runtime/call.js';
import { errorNamed, known, refuseSignal } from './runtime/errors.js';
import { BLOCK, numbersOf, rowsOf, typed, wideRowsOf } from './rows.js';
import { Handled, bytesObject, camel, libraryOf, runLater, runNow, snake }
  from './runtime/runtime.js';

/** A handle from inside the package. */
class Made {
  constructor(handle, place) {
    this.handle = handle;
    this.place = place;
  }
}

const TAKE = { ids: numbersOf, f32: rowsOf, f64: (x) => Float64Array.from(wideRowsOf(x)) };

/** `ticks` ticks from number `begin` on of streams of values, of each of which `all` ticks stand
 *  one behind the other. */
function cut(values, streams, all, width, begin, ticks) {
  const part = new values.constructor(streams * ticks * width);
  for (let s = 0; s < streams; s++) {
    const from = (s * all + begin) * width;
    part.set(values.subarray(from, from + ticks * width), s * ticks * width);
  }
  return part;
}

/** Runs a network by ticks: in each, every cell computes from the values of the tick before, which
 *  stay here between the runs. Where the network changes, the mesh follows. On the CPU its methods
 *  return at once; on a device, made by StepMesh.create, those named ...Async do its work. */
export class StepMesh extends Handled {
  #place = 'cpu';

  /** Options: streams, threads, isa: docs/reference/options.md, step_mesh_create. */
  constructor(network, options = {}) {
    const lib = libraryOf('network', network), made = options instanceof Made;
    super(lib, 'step_mesh',
      made ? options.handle : runNow(lib, StepMesh.#make(network, options, 'cpu')));
    if (made) this.#place = options.place;
  }
  static async create(network, { device, mode, ...options } = {}) {
    const place = placeOf({ device, mode });
    const lib = libraryOf('network', network);
    const handle = await runLater(lib, StepMesh.#make(network, options, place), place);
    return new StepMesh(network, new Made(handle, place));
  }
  static *#make(network, options, place) {
    const given = 'device' in options || 'mode' in options;
    const all = { ...snake(options), ...(given ? {} : optionsOf(place)) };
    return (yield ['step_mesh_create', { network: network.handle, options: all }]).step_mesh;
  }
  #now(work, budgetUs) {
    if (!onCpu(this.#place))
      throw errorNamed('unsupported',
        'this StepMesh is on a device, where the methods named ...Async do its work');
    return this.within(budgetUs, () => runNow(this.library, work));
  }
  #later(work, signal) {
    return this.within(undefined, () => runLater(this.library, work, this.#place, signal));
  }

  /** Statistics of what every cell gives, from the next tick on (docs/guide/observe.md); not on a
   *  device. Options: every (0: none any more), passes, window, keep: docs/reference/options.md,
   *  step_mesh_observe. */
  observe(options = {}) {
    refuseSignal('observe', options);
    this.call('observe', { options: snake(options) });
  }
  /** Takes the events of the ticks so far: {passes, observed, dropped, events}. */
  statistics() {
    return camel(this.call('statistics').statistics);
  }

  /** x as it goes in, and how many ticks. */
  #input(x, ticks, { streams, inputWidth, inputDtype }) {
    const values = TAKE[inputDtype](x), once = streams * inputWidth;
    if (ticks !== undefined && (!Number.isInteger(ticks) || ticks < 1))
      throw errorNamed('invalid_argument',
        `ticks: expected a whole number of at least 1, got ${String(ticks)}`);
    const count = ticks ?? values.length / once;
    if (count < 1 || (values.length !== once && values.length !== once * count)
        || !Number.isInteger(count))
      throw errorNamed('invalid_argument', `x: ${values.length} numbers: expected ${streams} ` +
        `streams x ${ticks ?? 'ticks'} x ${inputWidth}` +
        (ticks === undefined ? '' : `, or ${once} that are held for all ticks`));
    return { values, count, held: values.length === once };
  }
  *#run(x, { ticks, last = false }, block) {
    const info = camel((yield ['step_mesh_info', { step_mesh: this.handle }]).info);
    const { streams, inputWidth, outputWidth, inputDtype } = info;
    let { values, count, held } = this.#input(x, ticks, info);
    const Type = inputDtype === 'f64' ? Float64Array : Float32Array;
    const name = inputDtype === 'ids' ? 'step_mesh_run_ids' : typed('step_mesh_run', values);
    const call = (part, n, room) => [name, { step_mesh: this.handle, ticks: n,
      [inputDtype === 'ids' ? 'ids' : 'x']: part, y: new Type(room) }];
    if (count <= block)
      return (yield call(values, count, streams * outputWidth * (last ? 1 : count))).y;
    if (!held && Array.isArray(values)) values = Int32Array.from(values);
    const y = new Type(streams * outputWidth * (last ? 1 : count));
    for (let begin = 0; begin < count; begin += block) {
      const n = Math.min(block, count - begin);
      const part = held ? values : cut(values, streams, count, inputWidth, begin, n);
      const got = (yield call(part, n, streams * outputWidth * (last ? 1 : n))).y;
      if (last) y.set(got);
      else
        for (let s = 0; s < streams; s++)
          y.set(got.subarray(s * n * outputWidth, (s + 1) * n * outputWidth),
            (s * count + begin) * outputWidth);
    }
    return y;
  }
  *#value(cell, stream) {
    const { cells } = yield ['step_mesh_cells', { step_mesh: this.handle }];
    const path = Array.isArray(cell) ? cell.join('.') : typeof cell === 'number'
      ? cells[cell]?.path : cell;
    if (typeof path !== 'string')
      throw errorNamed(typeof cell === 'number' ? 'out_of_range' : 'invalid_argument',
        `cell: expected 0 to ${cells.length - 1}, "z.y.x.l" or four numbers, got ${String(cell)}`);
    const values = cells.find((one) => one.path === path)?.width ?? 0;
    return (yield ['step_mesh_value',
      { step_mesh: this.handle, cell: path, stream, values }]).values;
  }
  *#reset() {
    yield ['step_mesh_reset', { step_mesh: this.handle }];
  }
  *#snapshot() {
    return (yield ['step_mesh_snapshot', { step_mesh: this.handle }]).snapshot;
  }
  *#restore(snapshot) {
    yield ['step_mesh_restore', { step_mesh: this.handle, snapshot }];
  }

  /** streams, tick, cells, inputWidth, inputDtype, outputWidth, outputDtype, target, device, note,
   *  numerics, threads. */
  get info() {
    return camel(this.call('info').info);
  }
  /** Ticks since the values were 0. */
  get tick() {
    return this.info.tick;
  }
  /** Runs ticks. x: for each stream its ticks, one behind the other; or with `ticks` what arrives
   *  at each of them. Returns the output after every tick in the same order; `last`: after the last
   *  one alone. `budgetUs`: null after about this many microseconds where it is not done; the same
   *  call again continues, with the same bits. Meanwhile `tick` and value show the last tick that
   *  is done, from which another run goes on. */
  run(x, options = {}) {
    const { budgetUs, ...rest } = known('run', options, ['ticks', 'last', 'budgetUs']);
    return this.#now(this.#run(x, rest, Infinity), budgetUs);
  }
  /** The same later; with a `signal` some ticks at a time, between which it is seen. */
  async runAsync(x, options = {}) {
    const { signal, ...rest } = known('runAsync', options, ['ticks', 'last', 'signal']);
    return this.#later(this.#run(x, rest, signal ? BLOCK : Infinity), signal);
  }
  /** One tick of all streams; `budgetUs`: as of run. */
  step(x, options = {}) {
    const { budgetUs } = known('step', options, ['budgetUs']);
    return this.#now(this.#run(x, { ticks: 1 }, Infinity), budgetUs);
  }
  async stepAsync(x) {
    return this.#later(this.#run(x, { ticks: 1 }, Infinity));
  }
  /** The name of step in the project's earlier documents. */
  SystolicForward(x, options = {}) {
    return this.step(x, options);
  }
  /** The values of a cell after the last tick: its number in the order of the grid, or "z.y.x.l" or
   *  [z, y, x, l]. */
  value(cell, stream = 0) {
    return this.#now(this.#value(cell, stream));
  }
  async valueAsync(cell, stream = 0) {
    return this.#later(this.#value(cell, stream));
  }
  /** All values are 0 again. */
  reset() {
    this.#now(this.#reset());
  }
  async resetAsync() {
    await this.#later(this.#reset());
  }
  /** The program of a number of ticks, as bytes, which Program runs: its input "x" has a row of
   *  ticks x input width for each stream, its output "y" likewise, and its states are the values of
   *  the cells. */
  saveProgram(ticks = 1) {
    return this.library.take(this.call('save_program', { ticks }).program);
  }
  /** The values of all cells, and the tick. */
  snapshot() {
    return this.library.take(this.#now(this.#snapshot()));
  }
  async snapshotAsync() {
    const bytes = await this.#later(this.#snapshot());
    return this.library.turn(() => this.library.take(bytes));
  }
  /** Continues from a snapshot, with the same bits. */
  restore(snapshot) {
    const bytes = bytesObject(this.library, 'snapshot', snapshot);
    try {
      this.#now(this.#restore(bytes));
    } finally {
      this.library.release(bytes);
    }
  }
  async restoreAsync(snapshot) {
    const bytes = await this.library.turn(() => bytesObject(this.library, 'snapshot', snapshot));
    try {
      await this.#later(this.#restore(bytes));
    } finally {
      this.library.release(bytes);
    }
  }
}
