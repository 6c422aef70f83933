// The inside of a worker (worker.js): makes objects, runs what is asked of them, streams what they
// yield.
import { Network, Tokenizer, Transformer, gpu, info, initLoom, verify, version } from '../index.js';
import { parent } from '../runtime/host.js';
import { Handled, library } from '../runtime/runtime.js';

const { post, listen } = await parent();

const TYPES = { Network, Tokenizer, Transformer };
Network.create = (spec, options) => new Network(spec, options);
const objects = new Map([
  ['loom', { init: async (options) => void (await initLoom(options)), info, version, gpu, verify }],
  ...Object.entries(TYPES),
]);
const running = new Map(); // id -> AbortController
let last = 0;

/** What goes out: objects as references, memory of large results without a copy. */
function outgoing(value) {
  if (value instanceof Handled) {
    objects.set(++last, value);
    return [{ remote: last, type: Object.keys(TYPES).find((name) => value instanceof TYPES[name]) },
        []];
  }
  return [value, ArrayBuffer.isView(value) ? [value.buffer] : []];
}

async function answer({ id, target, name, args, get, stream, progress }) {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const object = objects.get(target);
    if (!object) throw new Error('this object was disposed of');
    const options = args.at(-1);
    const extra =
      { ...(stream || name === 'generateText' || name === 'load' || name === 'loadModel'
          ? { signal: controller.signal } : {}),
            ...(progress ? { onProgress: (p) => post({ id, progress: p }) } : {}) };
    if (Object.keys(extra).length > 0) {
      const plain = options && typeof options === 'object' && !ArrayBuffer.isView(options)
        && !Array.isArray(options);
      const place = name === 'train' ? 2 : 1;
      if (plain && args.length > place) args[args.length - 1] = { ...options, ...extra };
      else args[place] = extra;
    }
    let value;
    if (stream) {
      const pieces = object[name](...args);
      for (;;) {
        const next = await pieces.next();
        if (next.done) {
          value = next.value;
          break;
        }
        post({ id, piece: next.value });
      }
    } else {
      // What returns at once here has a turn between calls that wait; what has an asynchronous form
      // is that.
      const own = name === 'init' ? (body) => body() : (body) => library().turn(body);
      value = await own(() => (get ? object[name] : (object[`${name}Async`] ?? object[name])
          .apply(object, args)));
    }
    const [out, transfer] = outgoing(value);
    post({ id, value: out }, transfer);
  } catch (e) {
    post({ id, error: { name: e.name, code: e.code, message: e.message } });
  } finally {
    running.delete(id);
  }
}

function receive(message) {
  if (message.abort !== undefined) running.get(message.abort)?.abort();
  else if (message.forget === undefined) answer(message);
  else {
    objects.get(message.forget)?.dispose();
    objects.delete(message.forget);
  }
}

listen(receive);
