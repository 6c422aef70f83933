// Saved programs.
import { onCpu, optionsOf, placeOf } from './runtime/call.js';
import { errorNamed } from './runtime/errors.js';
import { numbersOf, rowsOf, wideRowsOf } from './rows.js';
import { Handled, bytesObject, camel, libraryOf, runLater, runNow, snake }
  from './runtime/runtime.js';

/** A handle from inside the package. */
class Made {
  constructor(handle, place) {
    this.handle = handle;
    this.place = place;
  }
}

/** A saved program with the weights of a network (docs/reference/program.md): what
 *  network.saveProgram() or mesh.saveProgram() wrote, here or on another machine. On the CPU its
 *  methods return at once; on a device, made by Program.create, those named ...Async do its
 *  work. */
export class Program extends Handled {
  #place = 'cpu';

  /** Options: sequences, threads, isa: docs/reference/options.md, program_create. */
  constructor(network, bytes, options = {}) {
    const lib = libraryOf('network', network), made = options instanceof Made;
    super(lib, 'program',
      made ? options.handle : runNow(lib, Program.#make(network, bytes, options, 'cpu')));
    if (made) this.#place = options.place;
  }
  static async create(network, bytes, { device, mode, ...options } = {}) {
    const place = placeOf({ device, mode });
    const lib = libraryOf('network', network);
    const handle = await runLater(lib, Program.#make(network, bytes, options, place), place);
    return new Program(network, bytes, new Made(handle, place));
  }
  static *#make(network, bytes, options, place) {
    const given = 'device' in options || 'mode' in options;
    const all = { ...snake(options), ...(given ? {} : optionsOf(place)) };
    const { library: lib } = network, saved = bytesObject(lib, 'bytes', bytes);
    try {
      return (yield ['program_create',
        { network: network.handle, bytes: saved, options: all }]).program;
    } finally {
      lib.release(saved);
    }
  }
  #now(work) {
    if (!onCpu(this.#place))
      throw errorNamed('unsupported',
        'this Program is on a device, where the methods named ...Async do its work');
    return runNow(this.library, work);
  }
  #later(work, signal) {
    return runLater(this.library, work, this.#place, signal);
  }

  *#find(name, kind) {
    const { info } = yield ['program_info', { program: this.handle }];
    const found = info.buffers.find((b) => b.name === name &&
      (b.kind === kind || b.kind === 'state'));
    if (!found)
      throw errorNamed('invalid_argument', `the program has no ${kind} or state "${name}"`);
    return found;
  }
  *#write(name, values) {
    const { type } = yield* this.#find(name, 'input');
    const suffix = { u32: '_ids', i32: '_ids', f64: '_f64' }[type] ?? '';
    const numbers = suffix === '_ids' ? numbersOf(values)
      : suffix ? Float64Array.from(wideRowsOf(values)) : rowsOf(values);
    yield [`program_write${suffix}`, { program: this.handle, name, values: numbers }];
  }
  *#read(name) {
    const { type, rows, cols } = yield* this.#find(name, 'output');
    return (yield [type === 'f32' ? 'program_read' : 'program_read_f64',
      { program: this.handle, name, values: rows * cols }]).values;
  }
  *#set(registers) {
    for (const [name, value] of Object.entries(registers))
      yield ['program_set', { program: this.handle, name, value: Float64Array.of(value) }];
  }
  *#run(inputs) {
    for (const [name, values] of Object.entries(inputs)) yield* this.#write(name, values);
    yield ['program_run', { program: this.handle }];
    const { info } = yield ['program_info', { program: this.handle }];
    const outputs = {};
    for (const { name, kind } of info.buffers)
      if (kind === 'output') outputs[name] = yield* this.#read(name);
    return outputs;
  }

  /** sha256, instructions, registers, buffers, target, device, note, numerics, threads. */
  get info() {
    return camel(this.call('info').info);
  }
  /** A line per register, buffer and instruction. */
  get text() {
    return this.call('text').text;
  }
  /** Sets registers by their names: set({ R: 3 }). */
  set(registers) {
    this.#now(this.#set(registers));
  }
  /** All values of an input or state, row by row. An input whose rows one register counts sets that
   *  register. */
  write(name, values) {
    this.#now(this.#write(name, values));
  }
  writeAsync(name, values) {
    return this.#later(this.#write(name, values));
  }
  /** All values of an output or state, row by row. */
  read(name) {
    return this.#now(this.#read(name));
  }
  readAsync(name) {
    return this.#later(this.#read(name));
  }
  /** Writes inputs by name, which stay until they are written again, runs, and returns the outputs
   *  by name. */
  run(inputs = {}) {
    return this.#now(this.#run(inputs));
  }
  runAsync(inputs = {}, { signal } = {}) {
    return this.#later(this.#run(inputs), signal);
  }
  /** All states are 0 again. */
  reset() {
    this.call('reset');
  }
}
