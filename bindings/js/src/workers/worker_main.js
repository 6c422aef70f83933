// The inside of a worker (worker.js): makes objects, runs what is asked of them, streams what they
// yield.
import { audit, Data, Decoder, ModelFile, Network, Seq2Seq, Session, StepMesh, Tokenizer, Trainer,
  Transformer, convert, fakeQuantize, formatInfo, gpu, info, initLoom, liveHandles,
  numericsVersion, verify, version } from '../index.js';
import { errorNamed } from '../runtime/errors.js';
import { parent } from '../runtime/host.js';
import { Handled, library } from '../runtime/runtime.js';

const { post, listen } = await parent();

const TYPES = { Data, Decoder, ModelFile, Network, Seq2Seq, Session, StepMesh, Tokenizer, Trainer,
  Transformer };
Network.create = (spec, options) => new Network(spec, options);
const objects = new Map([
  ['loom', { init: async (options) => void (await initLoom(options)), audit, info, version,
    numericsVersion, formatInfo, liveHandles, fakeQuantize, gpu, verify, convert }],
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

/** What came in: references as the objects that they name, also one level deep. */
function incoming(value, deep = true) {
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return value;
  if (typeof value.remote === 'number') return objectOf(value.remote);
  if (deep && Object.getPrototypeOf(value) === Object.prototype)
    for (const [key, one] of Object.entries(value)) value[key] = incoming(one, false);
  return value;
}
function objectOf(target) {
  const object = objects.get(target);
  if (!object) throw errorNamed('invalid_handle', 'this object was disposed of');
  return object;
}
/** Arguments with this side's signal and progress function among the options at `signal`. */
function withOptions(given, { id, signal, progress }, controller) {
  const args = given.map((value) => incoming(value));
  if (signal === undefined && !progress) return args;
  const at = signal ?? 1;
  args[at] = { ...args[at], ...(signal === undefined ? {} : { signal: controller.signal }),
    ...(progress ? { onProgress: (p) => post({ id, progress: p }) } : {}) };
  return args;
}
/** Runs what returns a value: in a turn between calls that wait, and in its asynchronous form where
 *  it has one. */
function run(object, { name, get }, args) {
  const later = `${name}Async`;
  const body = () => (get && !(later in object) ? object[name]
    : object[later in object ? later : name](...args));
  return name === 'init' ? body() : library().turn(body);
}

async function answer(request) {
  const { id, target, name, args, stream } = request;
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const object = objectOf(target), given = withOptions(args ?? [], request, controller);
    let value;
    if (stream) {
      const pieces = object[name](...given);
      let next = await pieces.next();
      for (; !next.done; next = await pieces.next()) post({ id, piece: next.value });
      ({ value } = next);
    } else value = await run(object, request, given);
    const [out, transfer] = outgoing(value);
    post({ id, value: out }, transfer);
  } catch (e) {
    post({ id, error: { name: e.name, code: typeof e.code === 'string' ? e.code : undefined,
      message: e.message } });
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
