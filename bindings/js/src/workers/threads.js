// Threads: workers that run kernels inside instances of the same module, on a memory that all share
// (src/base/threads/thread_pool.cpp).
import { inNode, newWorker } from '../runtime/host.js';

const PAGE = 65536;
const INITIAL = 16777216 / PAGE; // as the module declares it
const STACK = 1 << 18;
const MOST = 16;

// Node 20 (20.20.2 was seen to) can stop for ever while threads sleep on a shared memory: there is
// one thread there, with the same bits.
const SLEEPS_SAFELY = !inNode || Number(globalThis.process.versions.node.split('.')[0]) >= 22;

/** How many threads there may be, the caller included: 1 where memory cannot be shared, or
 *  threads must not sleep on it, or this one must not wait. */
export async function threadsHere(wanted) {
  if (!SLEEPS_SAFELY) return 1;
  if (wanted === 1 || typeof SharedArrayBuffer === 'undefined'
      || !(inNode || globalThis.crossOriginIsolated)) return 1;
  try {
    // the first thread of a page must not
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0);
  } catch {
    return 1;
  }
  const cores = inNode ? (await import('node:os')).availableParallelism?.() ?? 1
    : navigator.hardwareConcurrency ?? 1;
  return Math.min(wanted || cores, cores, MOST); // more than cores would wait for each other's time
}

/** As large as this host allows: what is not used costs addresses alone. */
export function sharedMemory() {
  for (let maximum = 65536; ; maximum /= 2) {
    try {
      return new WebAssembly.Memory({ initial: INITIAL, maximum, shared: true });
    } catch (e) {
      if (maximum <= 2 * INITIAL) throw e;
    }
  }
}

/** Starts the workers; they are in the module when this ends. */
export async function startTeam(library, module, memory, threads) {
  const ready = [];
  for (let worker = 1; worker < threads; ++worker) {
    const stack = (library.run('malloc', STACK) >>> 0) + STACK;
    const started = await newWorker(new URL('./thread_main.js', import.meta.url));
    ready.push(new Promise((resolve, reject) => {
      const failed = (e) => reject(new Error(`a thread could not start: ${e.message ?? e}`));
      const entered = () => {
        started.unref?.(); // from now on it holds no process
        resolve();
      };
      if (started.on) started.once('message', entered).once('error', failed);
      else Object.assign(started, { onmessage: entered, onerror: failed });
    }));
    started.postMessage({ module, memory, stack: stack & ~15, worker });
  }
  library.run('loom_wasm_team', threads);
  await Promise.all(ready);
}
