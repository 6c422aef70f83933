// The package in a worker, so that the thread that asks stays free. worker_main.js is the other
// side.
import { errorNamed, refuseSignal, signalOf } from '../runtime/errors.js';
import { newWorker } from '../runtime/host.js';
import { REMOTE } from './remote.js';

const dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

const references = new WeakMap(); // stand-in -> the number of its object in the worker

/** Whether a value is an object of options, or the like. */
const isPlain = (value) => value !== null && typeof value === 'object'
  && [Object.prototype, null].includes(Object.getPrototypeOf(value));

/** An argument as a message can carry it: URLs as texts, objects of the worker as references, also
 *  one level deep. */
function portable(value, deep = true) {
  if (value instanceof URL) return value.href;
  if (references.has(value)) return { remote: references.get(value) };
  if (!deep || !isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value)
    .map(([key, one]) => [key, portable(one, false)]));
}

/** The messages of a worker: numbered requests, and answers that say which they belong to. */
class Channel {
  #worker;
  #waiting = new Map(); // id -> {resolve, reject, piece, progress}
  #last = 0;
  #gone = new FinalizationRegistry((ref) => this.post({ forget: ref }));

  constructor(worker) {
    this.#worker = worker;
    const failed = (e) => {
      for (const { reject } of this.#waiting.values())
        reject(errorNamed('internal', `the worker has ended: ${e?.message ?? 'it was closed'}`));
      this.#waiting.clear();
    };
    if (worker.on) {
      worker.on('message', (m) => this.#receive(m));
      worker.on('error', failed);
      worker.on('exit', failed);
      worker.unref(); // it holds the process only while it works
    } else {
      worker.onmessage = ({ data }) => this.#receive(data);
      worker.onerror = failed;
    }
    this.close = () => {
      worker.terminate();
      failed();
    };
  }

  post(message, transfer) {
    this.#worker.postMessage(message, transfer);
  }

  /** Asks; `piece` takes what streams by. `at`: which argument has the signal and the progress
   *  function, which stay on this side; undefined: such a call takes none. */
  ask(request, at, piece) {
    const id = ++this.#last, args = [...(request.args ?? [])];
    let signal, progress;
    if (at === undefined) {
      if (isPlain(args.at(-1))) refuseSignal(request.name, args.at(-1));
    } else if (isPlain(args[at])) {
      ({ signal, onProgress: progress, ...args[at] } = args[at]);
    }
    const message = { id, ...request, args: args.map((value) => portable(value)),
      progress: progress !== undefined, signal: signal !== undefined ? at : undefined };
    return { id, promise: new Promise((resolve, reject) => {
      signalOf(signal);
      this.#wait(id, { resolve, reject, piece, progress }, signal);
      try {
        this.post(message);
      } catch (e) {
        this.#waiting.get(id).reject(errorNamed('invalid_argument',
          `${request.name}: an argument cannot go to a worker: ${e.message}`));
      }
    }), signal };
  }
  /** Waits for the answer to a request. A signal that is aborted rejects at once; the worker hears
   *  of it before any later request. */
  #wait(id, { resolve, reject, piece, progress }, signal) {
    const settled = (settle) => (value) => {
      this.#waiting.delete(id);
      signal?.removeEventListener('abort', abort);
      if (this.#waiting.size === 0) this.#worker.unref?.();
      settle(value);
    };
    const waiting = { resolve: settled(resolve), reject: settled(reject), piece, progress };
    const abort = () => {
      this.post({ abort: id });
      waiting.reject(signal.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    if (this.#waiting.size === 0) this.#worker.ref?.();
    this.#waiting.set(id, waiting);
  }

  #receive({ id, value, error, piece, progress }) {
    const waiting = this.#waiting.get(id);
    if (!waiting) { // of a request that was aborted
      if (value?.remote !== undefined) this.post({ forget: value.remote });
      return;
    }
    if (piece !== undefined) waiting.piece?.(piece);
    else if (progress !== undefined) waiting.progress?.(progress);
    else if (error)
      waiting.reject(error.code ? errorNamed(error.code, error.message)
          : Object.assign(new Error(error.message), { name: error.name }));
    else waiting.resolve(this.#local(value));
  }

  #local(value) {
    if (!value || typeof value !== 'object' || value.remote === undefined) return value;
    return this.object(value.type, value.remote);
  }

  /** Streams what a method yields; returns what it returns. */
  async *stream(request, at) {
    const pieces = [];
    let wake = () => {};
    let ended = false;
    const { id, promise, signal } = this.ask(request, at, (piece) => {
      pieces.push(piece);
      wake();
    });
    const end = promise.finally(() => {
      ended = true;
      wake();
    });
    end.catch(() => {});
    try {
      for (;;) {
        while (pieces.length > 0 && !signal?.aborted) yield pieces.shift();
        if (ended) return await end;
        await new Promise((go) => (wake = go));
      }
    } finally {
      if (!ended) this.post({ abort: id });
    }
  }

  /** The stand-in for an object of the worker. */
  object(type, ref) {
    const { getters, methods, streams = [], either = [], signals = {} } = REMOTE[type];
    const made = {};
    const ask = (name, args) => this.ask({ target: ref, name, args }, signals[name]).promise;
    const stream = (name, args) =>
      this.stream({ target: ref, name, args, stream: true }, signals[name]);
    for (const name of methods) made[name] = async (...args) => ask(name, args);
    for (const name of streams) made[name] = (...args) => stream(name, args);
    for (const name of either)
      made[name] = (...args) => (args[signals[name]]?.stream ? stream : ask)(name, args);
    for (const name of getters)
      Object.defineProperty(made, name,
          { get: () => this.ask({ target: ref, name, get: true }).promise });
    references.set(made, ref);
    made.dispose = made[dispose] = () => {
      this.#gone.unregister(made);
      this.post({ forget: ref });
    };
    if (ref !== 'loom') this.#gone.register(made, ref, made);
    return made;
  }
}

/** Starts a worker and loads the module there. The same API as initLoom() gives, but that
 *  everything is a promise: `await worker.Network.create(spec)`, `await model.info`. */
export async function createWorker(options = {}) {
  const worker = await newWorker(new URL('./worker_main.js', import.meta.url));
  const channel = new Channel(worker);
  const loom = channel.object('loom', 'loom');
  for (const [type, { makers, signals = {} }] of Object.entries(REMOTE))
    if (makers.length > 0)
      loom[type] = Object.fromEntries(makers.map((name) => [name,
        async (...args) => channel.ask({ target: type, name, args }, signals[name]).promise]));
  loom.terminate = loom.dispose = loom[dispose] = () => channel.close();
  await channel.ask({ target: 'loom', name: 'init', args: [options] }).promise;
  return loom;
}
