// The one instance of the module that the package works with, and what its objects have in common.
import { errorNamed, signalOf } from './errors.js';
import { asset, download, instantiate } from './module.js';

let current = null; // the Library
let starting = null;

/** The instance; InvalidArgumentError before `await initLoom()`. */
export function library() {
  if (!current) throw errorNamed('invalid_argument', 'call "await initLoom()" first');
  return current;
}

/** Makes the instance, or another one where the last has stopped. */
export async function start(options) {
  if (current && !current.failed) return current;
  starting ??= instantiate(options).finally(() => (starting = null));
  return (current = await starting);
}

const embedded = new WeakMap(); // library -> promise

function handOver(lib, options) {
  const brought = download(lib, options?.source ?? asset('embedded.entity'), options)
    .then((bytes) => lib.turn(() => {
    // never released: the module runs the weights where they lie
      const { data, size } = lib.call('bytes_data', { bytes });
      lib.run('loom_wasm_embed', data, size);
    }));
  embedded.set(lib, brought);
  brought.catch(() => embedded.delete(lib));
  return brought;
}
/** Hands the embedded model over, which travels as a file beside the module: once, for all who ask
 *  meanwhile. Where the one who began has given up, the next one begins again. */
export async function bringEmbedded(lib, options) {
  while (embedded.has(lib)) {
    if (await embedded.get(lib).then(() => true, () => false))
      return options?.signal?.throwIfAborted();
  }
  return handOver(lib, options);
}

const forgotten = new FinalizationRegistry(({ lib, handle }) => lib.release(handle));
const dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

/** A bytes object of the module with the bytes of `source`, to release; `name` says what they are
 *  in an error. */
export function bytesObject(lib, name, source) {
  const view = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : source instanceof ArrayBuffer ? new Uint8Array(source) : null;
  if (!view)
    throw errorNamed('invalid_argument',
      `${name}: expected bytes, got ${source === null ? 'null' : typeof source}`);
  const { bytes } = lib.call('bytes_create', { size: view.length });
  lib.view(bytes).set(view);
  return bytes;
}

/** An object of the module. dispose() gives it back at once; else the garbage collector does,
 *  some time. */
export class Handled {
  #lib;
  #kind;
  #handle;
  #budget = 0;

  constructor(lib, kind, handle) {
    this.#lib = lib;
    this.#kind = kind;
    this.#handle = handle;
    forgotten.register(this, { lib, handle }, this);
  }

  /** The library that it lives in. */
  get library() {
    return this.#lib;
  }
  get handle() {
    return this.#handle;
  }

  /** Calls a function of this kind of object: loom_KIND_NAME. */
  call(name, args) {
    return this.#lib.call(`${this.#kind}_${name}`, { [this.#kind]: this.#handle, ...args });
  }

  /** run(), which returns null where it pauses after this many microseconds: the same call again
   *  continues it. undefined: it does not pause. */
  within(budgetUs, run) {
    if (budgetUs !== undefined && !(Number.isSafeInteger(budgetUs) && budgetUs > 0))
      throw errorNamed('invalid_argument',
        `budgetUs: expected a whole number of at least 1, got ${String(budgetUs)}`);
    if ((budgetUs ?? 0) !== this.#budget) {
      this.#lib.call('pause_after', { handle: this.#handle, microseconds: budgetUs ?? 0 });
      this.#budget = budgetUs ?? 0;
    }
    if (budgetUs === undefined) return run();
    try {
      return run();
    } catch (e) {
      if (e.code === 'paused') return null;
      throw e;
    }
  }

  dispose() {
    if (this.#handle === 0n) return;
    forgotten.unregister(this);
    const handle = this.#handle;
    this.#handle = 0n;
    this.#lib.release(handle);
  }
  [dispose]() {
    this.dispose();
  }
}

/** The library of an object that is given as an argument; what is none is refused. */
export function libraryOf(name, object) {
  if (object instanceof Handled) return object.library;
  throw errorNamed('invalid_argument',
    `${name}: expected a ${name[0].toUpperCase()}${name.slice(1)}, got ` +
    (object === null ? 'null' : typeof object));
}

// Work is written once, and runs at once or waits for a device: a generator that yields calls,
// [name, arguments], and is handed their results. What it yields beside them, texts, streams.

/** Runs work at once. */
export function runNow(lib, work) {
  let step = work.next();
  while (!step.done) {
    let results;
    if (Array.isArray(step.value)) {
      try {
        results = lib.call(...step.value);
      } catch (e) {
        step = work.throw(e);
        continue;
      }
    }
    step = work.next(results);
  }
  return step.value;
}

/** Runs work at a place (placeOf), with pauses for events; yields what streams, returns what it
 *  returns. A signal is seen between two calls. */
export async function* stream(lib, work, place, signal) {
  signalOf(signal);
  try {
    let step = work.next();
    while (!step.done) {
      let results;
      if (!Array.isArray(step.value)) yield step.value;
      else {
        await breathe();
        signal?.throwIfAborted();
        try {
          results = await lib.ask(...step.value, place);
        } catch (e) {
          step = work.throw(e);
          continue;
        }
      }
      step = work.next(results);
    }
    return step.value;
  } finally {
    work.return();
  }
}

/** The same, for the end alone. */
export async function runLater(lib, work, place, signal) {
  const steps = stream(lib, work, place, signal);
  for (;;) {
    const { done, value } = await steps.next();
    if (done) return value;
  }
}

/** Options of JavaScript as the C ABI names them: maxTokens is max_tokens. Absent ones stay
 *  absent. */
export function snake(options) {
  if (Array.isArray(options)) return options.map(snake);
  if (options === null || typeof options !== 'object') return options;
  return Object.fromEntries(
    Object.entries(options)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), snake(value)]),
  );
}

/** Object keys of the C ABI as JavaScript names them. */
export function camel(value) {
  if (Array.isArray(value)) return value.map(camel);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value)
      .map(([key, v]) => [key.replace(/_([a-z])/g, (_, c) => c.toUpperCase()), camel(v)]));
}

const pause = typeof setImmediate === 'function'
  ? () => new Promise((go) => setImmediate(go))
  : () => new Promise((go) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      go();
    };
    port2.postMessage(0);
  });
/** How long work goes on between two looks at a signal, where it comes in slices. */
export const SLICE_MS = 12;
let turn = 0;

/** Lets events be handled, where the last time is longer ago than a frame allows. */
export async function breathe() {
  if (performance.now() - turn < SLICE_MS) return;
  await pause();
  turn = performance.now();
}
