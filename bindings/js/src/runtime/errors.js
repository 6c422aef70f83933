// Results of the C ABI as errors. `code` is the name that api/loom.json gives.
import { CODES } from './raw.js';

export class LoomError extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

export class InvalidArgumentError extends LoomError {}
export class NotFoundError extends LoomError {}
export class UnsupportedError extends LoomError {}
export class CorruptError extends LoomError {}
export class TruncatedError extends LoomError {}
export class IoError extends LoomError {}
export class OutOfMemoryError extends LoomError {}
export class OutOfRangeError extends LoomError {}
export class CancelledError extends LoomError {}
export class InternalError extends LoomError {}
export class InvalidHandleError extends LoomError {}
export class BusyError extends LoomError {}
export class PausedError extends LoomError {}

const CLASSES = {
  invalid_argument: InvalidArgumentError,
  not_found: NotFoundError,
  unsupported: UnsupportedError,
  corrupt: CorruptError,
  truncated: TruncatedError,
  io: IoError,
  out_of_memory: OutOfMemoryError,
  out_of_range: OutOfRangeError,
  cancelled: CancelledError,
  internal: InternalError,
  invalid_handle: InvalidHandleError,
  busy: BusyError,
  paused: PausedError,
};
const NAMES = Object.fromEntries(Object.entries(CODES).map(([name, value]) => [value, name]));

export function errorNamed(name, message, options) {
  return new (CLASSES[name] ?? LoomError)(name, message, options);
}

/** Refuses a `signal` where nothing could see it. */
export function refuseSignal(what, { signal } = {}) {
  if (signal !== undefined)
    throw errorNamed('invalid_argument',
      `${what}: no option "signal": it runs in one piece, which nothing can abort; ` +
      ' streams and the methods that give a promise for long work take one');
}
/** An AbortSignal, or none; another value is refused, and one that is aborted throws its reason. */
export function signalOf(signal) {
  if (signal === undefined || signal === null) return undefined;
  if (typeof signal.throwIfAborted !== 'function' || typeof signal.addEventListener !== 'function')
    throw errorNamed('invalid_argument',
      `signal: expected an AbortSignal, as of an AbortController, got ${typeof signal}`);
  signal.throwIfAborted();
  return signal;
}

/** Options that a function takes by name; another one is refused. */
export function known(what, options, names) {
  if (options === null || typeof options !== 'object')
    throw errorNamed('invalid_argument',
      `${what}: expected an object of options, got ${options === null ? 'null' : typeof options}`);
  const wrong = Object.keys(options).find((name) => !names.includes(name));
  if (wrong === undefined) return options;
  if (wrong === 'signal') refuseSignal(what, options);
  throw errorNamed('invalid_argument',
    `${what}: no option "${wrong}": ` +
    (names.length ? `known are ${names.join(', ')}` : 'it has none'));
}

export function errorOf(status, message) {
  return errorNamed(NAMES[status] ?? 'internal', message);
}
