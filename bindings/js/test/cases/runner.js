// Runs the cases of tests/cases (README.md there) over the raw layer. The same code in Node and in
// a page.
import { FUNCTIONS, KINDS } from '../../src/runtime/raw.js';
import { LoomError } from '../../src/runtime/errors.js';
import { Null } from '../../src/runtime/call.js';

const TESTS =
  new Set(['sha256', 'contains', 'has', 'length', 'near', 'within', 'above', 'below', 'not']);
const ARRAYS = { f32: Float32Array, f64: Float64Array, i32: Int32Array, i64: BigInt64Array };
const NUMBERS = { nan: NaN, inf: Infinity, '-inf': -Infinity };
const utf8 = new TextEncoder();

const isObject = (v) => v !== null && typeof v === 'object' && !Array.isArray(v)
  && !ArrayBuffer.isView(v);
const isTest = (v) => isObject(v) && Object.keys(v).length > 0 && Object.keys(v)
  .every((key) => TESTS.has(key));
const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const toHex = (bytes) => Array.from(new Uint8Array(bytes), (b) => b.toString(16).padStart(2, '0'))
  .join('');
const shown = (v) =>
  JSON.stringify(v,
      (k, x) => (typeof x === 'bigint' ? Number(x) : ArrayBuffer.isView(x)
          ? Array.from(x, (n) => (typeof n === 'bigint' ? Number(n) : n)) : x));

class Mismatch extends Error {}
const fail = (message) => {
  throw new Mismatch(message);
};

/** Host: file(name): the bytes of a file of tests/cases; folder(): a new empty folder and
 *  remove(folder), where there are files; has: the needs that are met. */
export class CaseRunner {
  constructor(library, host) {
    this.library = library;
    this.host = host;
  }

  /** "" where the case passed, "skipped: ..." or what is wrong. */
  async run(item) {
    const missing = (item.needs ?? []).filter((need) => !this.host.has.has(need));
    if (missing.length > 0) return `skipped: needs ${missing.join(', ')}`;
    this.variables = new Map();
    this.handles = [];
    this.folder = null;
    const live = () => this.library.call('live_handles').count;
    const before = live();
    try {
      for (const [i, step] of item.steps.entries()) {
        try {
          if ('write' in step) await this.write(step);
          else await this.step(step);
        } catch (e) {
          if (!(e instanceof Mismatch)) e.message = `${e.name}: ${e.message}`;
          e.message = `step ${i + 1}, ${step.call ?? 'write'}: ${e.message}`;
          throw e;
        }
      }
    } catch (e) {
      return e instanceof Mismatch || e instanceof LoomError ? e.message
        : `${e.message}\n${e.stack}`;
    } finally {
      for (const handle of this.handles.reverse()) this.library.call('release', { handle });
      if (this.folder) this.host.remove(this.folder);
    }
    return live() === before ? '' : 'handles were lost';
  }

  // ---- values

  resolve(v) {
    if (typeof v !== 'string' || !v.startsWith('$')) return v;
    if (v.startsWith('$$')) return v.slice(1);
    if (!this.variables.has(v.slice(1))) fail(`no variable ${v}`);
    return this.variables.get(v.slice(1));
  }
  deep(v) {
    if (Array.isArray(v)) return v.map((x) => this.deep(x));
    if (isObject(v))
      return Object.fromEntries(Object.entries(v).map(([key, x]) => [key, this.deep(x)]));
    return this.resolve(v);
  }
  async data(d) {
    if ('hex' in d) return fromHex(d.hex);
    if ('file' in d) return this.host.file(d.file);
    const whole = this.library.view(this.resolve(d.of)).slice(), begin = d.from ?? 0;
    return 'size' in d ? whole.slice(begin, begin + d.size) : whole.slice(begin);
  }
  async argument(kind, given) {
    const v = this.resolve(given);
    const [first, type] = kind.split(' ');
    // a size has 32 bits there
    if (isObject(v) && Object.keys(v).length === 1 && 'null' in v)
      return new Null(Math.min(Number(v.null), 2 ** 32 - 1));
    if (first === 'text' && isObject(v)) {
      if (!('path' in v)) return this.data(v);
      this.folder ??= this.host.folder();
      return `${this.folder}/${v.path}`;
    }
    if (first === 'json')
      return isObject(v) && Object.keys(v).length === 1 && 'raw' in v ? utf8.encode(v.raw)
        : this.deep(v);
    if (first === 'read') {
      if (ArrayBuffer.isView(v)) return v;
      return type === 'i64' ? BigInt64Array.from(v, (x) => BigInt(this.resolve(x)))
        : ARRAYS[type].from(v, (x) => (typeof x === 'string' ? NUMBERS[x] : x));
    }
    return v;
  }

  // ---- steps

  async write({ write, at = 0, data }) {
    const bytes = await this.data(data);
    const view = this.library.view(this.resolve(write));
    if (at + bytes.length > view.length)
      fail(`${bytes.length} bytes do not fit into ${view.length} at ${at}`);
    view.set(bytes, at);
  }

  async step({ call, args = {}, save = {}, expect = {}, error }) {
    if (!FUNCTIONS[call]) fail('there is no such function');
    const [, params] = FUNCTIONS[call];
    const unknown = Object.keys(args).filter((name) => !params.some(([param]) => param === name));
    if (unknown.length > 0) fail(`no parameter ${unknown}`);
    const values = {};
    for (const [param, kind] of params) {
      const made = /^(out|new) /.test(kind);
      if (!made && !(param in args)) fail(`${param} is not given`);
      if (param in args) values[param] = made ? null : await this.argument(kind, args[param]);
    }
    let results;
    try {
      results = this.library.call(call, values);
    } catch (e) {
      if (!(e instanceof LoomError)) throw e;
      if (!error) fail(`${e.code}: ${e.message}`);
      if (e.code !== error.code || !e.message.includes(error.contains ?? ''))
        fail(`expected ${shown(error)}, got ${e.code}: ${e.message}`);
      return;
    }
    if (error) fail(`expected the error ${shown(error)}, it succeeded`);
    if (call === 'release') this.handles = this.handles.filter((h) => h !== BigInt(values.handle));
    for (const [param, kind] of params)
      if (kind.startsWith('new ') && typeof results[param] === 'bigint' && KINDS[kind.slice(4)])
        this.handles.push(results[param]);
    if (call === 'bytes_data') results.data = this.library.view(values.bytes).slice();
    for (const [param, name] of Object.entries(save)) this.variables.set(name, results[param]);
    for (const [param, expected] of Object.entries(expect))
      await this.expect(param, results[param], expected);
  }

  // ---- expectations

  async expect(what, got, expected) {
    if (!(await this.holds(got, expected)))
      fail(`${what} is ${String(shown(got)).slice(0, 2000)}, expected ` +
           `${shown(expected).slice(0, 2000)}`);
  }

  async holds(got, expected) {
    if (isTest(expected)) {
      for (const [name, v] of Object.entries(expected))
        if (!(await this.test(got, name, v, expected))) return false;
      return true;
    }
    return equal(got, this.deep(expected));
  }

  async test(got, name, given, whole) {
    const v = name === 'has' || name === 'not' ? given : this.resolve(given);
    const list = (x) => (Array.isArray(x) || ArrayBuffer.isView(x) ? Array.from(x, Number) : null);
    switch (name) {
      case 'sha256': {
        const bytes = typeof got === 'string' ? utf8.encode(got)
          : new Uint8Array(got.buffer, got.byteOffset, got.byteLength);
        return toHex(await crypto.subtle.digest('SHA-256', bytes)) === v;
      }
      case 'contains': return typeof got === 'string' ? got.includes(v)
        : Array.from(got).some((x) => equal(x, this.deep(v)));
      case 'has':
        for (const [key, expected] of Object.entries(v)) {
          if (!isObject(got) || !(key in got)) fail(`has no key ${key}: ${shown(got)}`);
          await this.expect(key, got[key], expected);
        }
        return true;
      case 'length': return (typeof got === 'string' ? utf8.encode(got) : got).length === v;
      case 'near': {
        const a = list(got) ?? [Number(got)], b = list(v);
        return a.every((x, i) => Math.abs(x - (b ? b[i] : Number(v))) <= whole.within);
      }
      case 'within': return true;
      case 'above': return got > v;
      case 'below': return got < v;
      default: return !(await this.holds(got, v));
    }
  }
}

function equal(got, expected) {
  if (ArrayBuffer.isView(got)) {
    if (!Array.isArray(expected) && !ArrayBuffer.isView(expected)) return false;
    if (got.length !== expected.length) return false;
    if (got instanceof BigInt64Array) return got.every((x, i) => x === BigInt(expected[i]));
    const want = got.constructor.from(expected,
        (x) => (typeof x === 'string' ? NUMBERS[x] : Number(x)));
    return got.every((x, i) => Object.is(x, want[i])); // bit for bit, but for the payloads of NaNs
  }
  if (typeof got === 'bigint' || typeof expected === 'bigint')
    return ['bigint', 'number', 'string'].includes(typeof expected)
      && BigInt(got) === BigInt(expected);
  if (typeof got === 'number' && typeof expected === 'string')
    return String(got) === expected || Object.is(got, NUMBERS[expected]);
  if (Array.isArray(got))
    return Array.isArray(expected) && got.length === expected.length
      && got.every((x, i) => equal(x, expected[i]));
  if (isObject(got)) {
    if (!isObject(expected)) return false;
    const keys = Object.keys(got);
    return keys.length === Object.keys(expected).length
      && keys.every((key) => key in expected && equal(got[key], expected[key]));
  }
  return got === expected;
}

/** Runs files of cases, [{file, cases}]; yields {file, name, result} for each. */
export async function* runCases(files, library, host) {
  const runner = new CaseRunner(library, host);
  for (const { file, cases } of files) for (const item of cases)
    yield { file, name: item.name, result: await runner.run(item) };
}

/** The functions of the ABI that no case calls. */
export function uncalled(files) {
  const called =
    new Set(files.flatMap(({ cases }) =>
        cases.flatMap(({ steps }) => steps.map((step) => step.call))));
  return Object.keys(FUNCTIONS).filter((name) => !called.has(name));
}
