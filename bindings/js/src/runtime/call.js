// Calls into the module by the table of raw.js: one function for all of the ABI. What goes in and
// comes out is plain JavaScript:
//   text      a string, or bytes         new text   a string
//   json      any value, or bytes        new json   the value
//   read T    an array of numbers        new i32s   an Int32Array
//   fill T    how many values, or a typed array to fill; comes out as a typed array
//   handles   BigInts                    i64, u64   numbers or BigInts; numbers where exact
// An argument that is absent is 0, or empty; null for a result is a NULL pointer.
import { FUNCTIONS } from './raw.js';
import { errorNamed, errorOf, known } from './errors.js';

const ARRAYS = { f32: Float32Array, f64: Float64Array, i32: Int32Array, i64: BigInt64Array };
const OUT_BYTES = { i32: 4, pointer: 4, i64: 8, u64: 8, f64: 8 };
const ERROR_BYTES = 1024;
const KEPT_BYTES = 1 << 20; // a larger block of arguments is given back after its call
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Where work runs, in one word: a device's name, or "mode NAME"; `standard` where an option
 *  says neither. */
export function placeOf(where = {}, standard = 'cpu') {
  const { device, mode } = known('options', where, ['device', 'mode']);
  for (const [name, value] of Object.entries({ device, mode }))
    if (value !== undefined && typeof value !== 'string')
      throw errorNamed('invalid_argument', `${name}: expected a name, got ${typeof value}`);
  if (mode === undefined) return device ?? standard;
  if (device !== undefined)
    throw errorNamed('invalid_argument', 'give a device or a mode, not both');
  return `mode ${mode}`;
}
/** A place as the C ABI has it. */
export const optionsOf =
  (place) => (place.startsWith('mode ') ? { mode: place.slice(5) } : { device: place });
export const onCpu = (place) => place === 'cpu' || place.startsWith('mode cpu-');

/** A NULL pointer with a count, for tests of what the ABI refuses. */
export class Null {
  constructor(count) {
    this.count = count;
  }
}

/** JSON of a value; BigInts are integers. */
export function toJson(value) {
  const numbers = [];
  const text =
    JSON.stringify(value,
        (key, v) => (typeof v === 'bigint' ? `\u0001${numbers.push(v) - 1}\u0001` : v)) ?? '';
  return numbers.length === 0 ? text : text.replace(/"\\u0001(\d+)\\u0001"/g, (_, i) => numbers[i]);
}

/** The bytes of a string, or of what has bytes, without a copy. */
export function bytesOf(value) {
  if (typeof value === 'string') return encoder.encode(value);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value))
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  throw errorNamed('invalid_argument',
      `expected a string or bytes, got ${value === null ? 'null' : typeof value}`);
}

function arrayOf(name, value, type) {
  const Type = ARRAYS[type];
  if (value instanceof Type) return value;
  if (value === undefined) return new Type(0);
  if (value === null || typeof value === 'string' || typeof value[Symbol.iterator] !== 'function')
    throw errorNamed('invalid_argument', `${name}: expected an array of numbers`);
  if (type === 'i64') return Type.from(value, BigInt);
  const array = Type.from(value);
  // An Int32Array cuts fractions off and wraps what is too large.
  if (type === 'i32') {
    const given = Array.isArray(value) || ArrayBuffer.isView(value) ? value : [...value];
    const at = array.findIndex((v, i) => v !== Number(given[i]));
    if (at >= 0)
      throw errorNamed('invalid_argument',
          `${name}[${at}]: expected a whole number of 32 bits, got ${String(given[at])}`);
  }
  return array;
}

function integer(name, value, least, most) {
  let big;
  try {
    big = BigInt(value);
  } catch {
    throw errorNamed('invalid_argument', `${name}: expected an integer, got ${String(value)}`);
  }
  if (big < least || big > most)
    throw errorNamed('out_of_range', `${name}: ${big} is not in ${least}..${most}`);
  return big;
}

const exact = (big) => (big >= Number.MIN_SAFE_INTEGER && big <= Number.MAX_SAFE_INTEGER
    ? Number(big) : big);

/** The arguments of one call: pieces of the block that they are copied into, and what reads the
 *  results out of it. */
class Frame {
  size = ERROR_BYTES; // the error stands at the beginning
  pieces = []; // [offset, bytes]
  values = []; // of the call: numbers, BigInts, or {offset}
  results = []; // [name, (block) => value]

  place(bytes) {
    const offset = this.size;
    this.size += (bytes.byteLength + 15) & ~15;
    this.pieces.push([offset, bytes]);
    this.values.push({ offset });
    return offset;
  }
}

/** A result that stands at the beginning of a view. */
function valueOf(type, view) {
  switch (type) {
    case 'i32': return view.getInt32(0, true);
    case 'pointer': return view.getUint32(0, true);
    case 'f64': return view.getFloat64(0, true);
    case 'i64': return exact(view.getBigInt64(0, true));
    default: return exact(view.getBigUint64(0, true));
  }
}

// How each kind goes in: (library, frame, name of the parameter, value, what stands behind the
// kind's first word).
const KINDS = {
  text(library, frame, name, value = '') {
    const bytes = bytesOf(value);
    frame.place(bytes);
    frame.values.push(bytes.length);
  },
  json(library, frame, name, value) {
    KINDS.text(library, frame, name, ArrayBuffer.isView(value) ? value : toJson(value));
  },
  read(library, frame, name, value, type) {
    const array = arrayOf(name, value, type);
    frame.place(bytesOf(array));
    frame.values.push(array.length);
  },
  fill(library, frame, name, value, type) {
    const array = typeof value === 'number' ? new ARRAYS[type](value) : value;
    const bytes = bytesOf(array);
    const offset = frame.place(bytes);
    frame.values.push(array.length);
    const read = (block) => {
      bytes.set(new Uint8Array(library.memory, block + offset, bytes.length));
      return array;
    };
    frame.results.push([name, read]);
  },
  out(library, frame, name, value, type) {
    if (value === null) return void frame.values.push(0);
    const offset = frame.place(new Uint8Array(OUT_BYTES[type]));
    const read = (block) => valueOf(type, new DataView(library.memory, block + offset));
    frame.results.push([name, read]);
  },
  new(library, frame, name, value, type) {
    if (value === null) return void frame.values.push(0);
    const offset = frame.place(new Uint8Array(8));
    frame.results.push(
      [name, (block) => new DataView(library.memory).getBigUint64(block + offset, true), type]);
  },
  i32(library, frame, name, value = 0) {
    frame.values.push(Number(integer(name, value, -(2n ** 31n), 2n ** 31n - 1n)));
  },
  bool(library, frame, name, value = false) {
    frame.values.push(value ? 1 : 0);
  },
  i64(library, frame, name, value = 0) {
    frame.values.push(integer(name, value, -(2n ** 63n), 2n ** 63n - 1n));
  },
  u64(library, frame, name, value = 0) {
    frame.values.push(integer(name, value, 0n, 2n ** 64n - 1n));
  },
};
KINDS.handle = KINDS.any = KINDS.u64;

export class Library {
  #exports;
  #memory;
  #gpu;
  #block = 0; // where the arguments of calls lie
  #size = 0;
  #failure = null;
  #promising = new Map(); // name -> the export, as a function of a promise
  #waiting = null; // a promise, while a call is suspended: nothing else may enter the module then
  #released = []; // handles, until it may

  constructor(exports, memory, gpu) {
    this.#exports = exports;
    this.#memory = memory;
    this.#gpu = gpu;
  }

  /** The module's memory; another buffer after it has grown. */
  get memory() {
    return this.#memory.buffer;
  }
  /** Whether the module has trapped; it is of no use then. */
  get failed() {
    return this.#failure !== null;
  }

  #enter() {
    if (this.#failure)
      throw errorNamed('internal', `the module has stopped before: ${this.#failure.message}`,
          { cause: this.#failure });
    if (this.#waiting)
      throw errorNamed('busy',
          'a call waits for the GPU, and the module does one thing at a time: await it first, or ' +
          'use the methods that give promises');
  }
  #trapped(e) {
    if (!(e instanceof WebAssembly.RuntimeError)) return e;
    this.#failure = e;
    this.#gpu?.close();
    return errorNamed('out_of_memory',
        `the module has stopped, most likely for want of memory: ${e.message}`, { cause: e });
  }

  /** Runs an exported function. A trap, for want of memory above all, ends this instance. */
  run(name, ...values) {
    this.#enter();
    try {
      return this.#exports[name](...values);
    } catch (e) {
      throw this.#trapped(e);
    }
  }

  /** Runs `body` when no call is suspended. */
  async turn(body) {
    while (this.#waiting) await this.#waiting;
    return body();
  }

  #reserve(size) {
    if (size <= this.#size) return;
    this.run('free', this.#block);
    this.#block = this.run('malloc', size) >>> 0;
    this.#size = this.#block === 0 ? 0 : size;
    if (this.#block === 0)
      throw errorNamed('out_of_memory',
          `${size} bytes for the arguments of a call could not be allocated`);
  }

  /** Hands a string, ended by a zero, to a function of its address. */
  withText(text, body) {
    const bytes = bytesOf(`${text}\0`);
    const at = this.run('malloc', bytes.length) >>> 0;
    new Uint8Array(this.memory, at, bytes.length).set(bytes);
    body(at);
    this.run('free', at);
  }

  /** Copies arguments into the module: {frame, values of the call}. */
  #arguments(name, args) {
    const [returns, parameters] = FUNCTIONS[name];
    const frame = new Frame();
    for (const [parameter, kind] of parameters) {
      const value = args[parameter];
      const [first, type] = kind.split(' ');
      if (value instanceof Null) frame.values.push(0, value.count);
      else KINDS[first](this, frame, parameter, value, type);
    }
    this.#reserve(Math.max(frame.size, 4096));
    const block = this.#block;
    for (const [offset, bytes] of frame.pieces)
      new Uint8Array(this.memory, block + offset, bytes.length).set(bytes);
    const values = frame.values.map((v) => (v.offset === undefined ? v : block + v.offset));
    if (returns === 'code') values.push(block);
    return { returns, frame, values };
  }

  #results({ returns, frame }, result) {
    if (returns === 'cstr') return { result: this.#cstring(result) };
    if (returns !== 'code') return { result };
    const block = this.#block;
    if (result !== 0) throw errorOf(result, this.#cstring(block + 4));

    const out = {};
    for (const [parameter, read] of frame.results) out[parameter] = read(block);
    if (this.#size > KEPT_BYTES) {
      this.run('free', block);
      this.#block = this.#size = 0;
    }
    // Texts are taken last: that calls in its turn.
    for (const [parameter, , type] of frame.results) {
      if (type === 'text') out[parameter] = decoder.decode(this.take(out[parameter]));
      else if (type === 'json')
        out[parameter] = JSON.parse(decoder.decode(this.take(out[parameter])));
      else if (type === 'i32s') out[parameter] = new Int32Array(this.take(out[parameter]).buffer);
    }
    return out;
  }

  /** Calls loom_NAME with arguments by name; returns results by name, "result" for what the
   *  function itself returns. */
  call(name, args = {}) {
    const prepared = this.#arguments(name, args);
    return this.#results(prepared, this.run(`loom_${name}`, ...prepared.values));
  }

  /** The same after what waits now; with a device other than the CPU it may wait itself. */
  async ask(name, args = {}, place = 'cpu') {
    if (onCpu(place) || !this.#gpu.suspends) return this.turn(() => this.call(name, args));
    while (this.#waiting) await this.#waiting;
    const prepared = this.#arguments(name, args);
    this.#enter();
    if (!this.#promising.has(name))
      this.#promising.set(name, WebAssembly.promising(this.#exports[`loom_${name}`]));
    let result, wake;
    this.#waiting = new Promise((go) => (wake = go));
    this.#gpu.waits = true;
    try {
      result = await this.#promising.get(name)(...prepared.values);
    } catch (e) {
      throw this.#trapped(e);
    } finally {
      this.#gpu.waits = false;
      this.#waiting = null;
      wake(); // whoever hears of it comes after the lines below
    }
    try {
      return this.#results(prepared, result);
    } finally {
      for (const handle of this.#released.splice(0)) this.release(handle);
    }
  }

  /** Gives a handle back: at once, or as soon as nothing waits. */
  release(handle) {
    if (this.#failure) return;
    if (this.#waiting) this.#released.push(handle);
    else this.call('release', { handle });
  }

  /** A view of a bytes object, until the next call that may grow the memory. */
  view(handle) {
    const { data, size } = this.call('bytes_data', { bytes: handle });
    return new Uint8Array(this.memory, data, size);
  }
  /** A copy of a bytes object, which is released. */
  take(handle) {
    const copy = this.view(handle).slice();
    this.call('release', { handle });
    return copy;
  }

  #cstring(at) {
    const bytes = new Uint8Array(this.memory, at);
    return decoder.decode(bytes.slice(0, bytes.indexOf(0)));
  }
}
