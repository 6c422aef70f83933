// The package in a worker, so that the thread that asks stays free. worker_main.js is the other
// side.
import { errorNamed } from '../runtime/errors.js';
import { newWorker } from '../runtime/host.js';
import { REMOTE } from './remote.js';

const dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

/** What no message can carry as it is. */
const portable = (value) => (value instanceof URL ? value.href : value);

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

  /** Asks; `piece` takes what streams by. Signals and progress functions of the last argument
   *  stay on this side. */
  ask(request, piece) {
    const id = ++this.#last;
    const args = (request.args ?? []).map(portable);
    const options = args.at(-1);
    let signal, progress;
    if (options && typeof options === 'object' && !ArrayBuffer.isView(options)) {
      ({ signal, onProgress: progress } = options);
      if (signal || progress) {
        const { signal: _, onProgress: __, ...rest } = options;
        args[args.length - 1] = rest;
      }
    }
    const promise = new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const abort = () => this.post({ abort: id });
      signal?.addEventListener('abort', abort, { once: true });
      const settled = (settle) => (value) => {
        this.#waiting.delete(id);
        signal?.removeEventListener('abort', abort);
        if (this.#waiting.size === 0) this.#worker.unref?.();
        settle(value);
      };
      if (this.#waiting.size === 0) this.#worker.ref?.();
      this.#waiting.set(id,
          { resolve: settled(resolve),
            reject: settled((e) => reject(signal?.aborted ? signal.reason : e)), piece, progress });
      if (options?.module)
        args[args.length - 1] = { ...args.at(-1), module: portable(options.module) };
      this.post({ id, ...request, args, progress: progress !== undefined });
    });
    return { id, promise };
  }

  #receive({ id, value, error, piece, progress }) {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
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
  async *stream(request) {
    const pieces = [];
    let wake = () => {};
    let ended = false;
    const { id, promise } = this.ask(request, (piece) => {
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
        while (pieces.length > 0) yield pieces.shift();
        if (ended) return await end;
        await new Promise((go) => (wake = go));
      }
    } finally {
      if (!ended) this.post({ abort: id });
    }
  }

  /** The stand-in for an object of the worker. */
  object(type, ref) {
    const { getters, methods, streams } = REMOTE[type];
    const made = {};
    for (const name of methods)
      made[name] = (...args) => this.ask({ target: ref, name, args }).promise;
    for (const name of streams)
      made[name] = (...args) => this.stream({ target: ref, name, args, stream: true });
    for (const name of getters)
      Object.defineProperty(made, name,
          { get: () => this.ask({ target: ref, name, get: true }).promise });
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
  for (const [type, { makers }] of Object.entries(REMOTE))
    if (makers.length > 0)
      loom[type] =
        Object.fromEntries(
          makers.map((name) =>
              [name, (...args) => channel.ask({ target: type, name, args }).promise]));
  loom.terminate = loom.dispose = loom[dispose] = () => channel.close();
  await channel.ask({ target: 'loom', name: 'init', args: [options] }).promise;
  return loom;
}
