// Rows of numbers: what networks, sessions and trainings take, as flat arrays.
import { errorNamed } from './runtime/errors.js';

/** Whether x is an array or a typed array. */
export const isList = (x) => Array.isArray(x) || ArrayBuffer.isView(x);
/** Numbers in arrays in arrays, as one list. Rows of unequal length are refused. */
export function flat(x) {
  if (!isList(x[0])) return x;
  const rows = Array.from(x, (row) => Array.from(flat(row)));
  const odd = rows.find((row) => row.length !== rows[0].length);
  if (odd)
    throw errorNamed('invalid_argument',
        `rows of ${rows[0].length} and of ${odd.length} numbers: ` +
      'sequences of unequal length are padded where a network has an input of their lengths, ' +
      '{"name": "lengths", "ids": steps + 1}, and they come by name: {x: [...]}; ' +
      'classes behind an end are -100');
  return [].concat(...rows);
}
/** Inputs by name with sequences of unequal length padded by zeros, and their lengths in
 *  "<name>_lengths" or "lengths" where that is not given. */
function padded(x, parts) {
  const all = { ...x };
  for (const { name, dims } of parts) {
    const lengths = [`${name}_lengths`, 'lengths'].find(
      (wanted) => parts.some((part) => part.name === wanted && part.ids && !part.dims));
    if (lengths === undefined || lengths in x || !dims) continue;
    if (!Array.isArray(x[name]) || !isList(x[name][0])) continue;
    const [steps, ...of] = dims, step = of.reduce((n, d) => n * d, 1);
    const rows = x[name].map((row) => Array.from(flat(row)));
    const long = rows.findIndex((row) => row.length % step !== 0 || row.length > steps * step);
    if (long >= 0)
      throw errorNamed('invalid_argument',
          `x: ${name}: sequence ${long} has ${rows[long].length} ` +
        `numbers: expected ${step} for each of at most ${steps} steps`);
    const counts = rows.map((row) => row.length / step);
    if (all[lengths]?.some((count, i) => count !== counts[i]))
      throw errorNamed('invalid_argument', `x: ${name} has other lengths than another input: ` +
        `name an input "${name}_lengths"`);
    all[lengths] = counts;
    all[name] = rows.map((row) => row.concat(Array(steps * step - row.length).fill(0)));
  }
  return all;
}
/** The same of values, none of which JavaScript would make a number of: null, texts, dates. */
export function numbersOf(x) {
  if (!isList(x))
    throw errorNamed('invalid_argument',
      `expected a list of numbers, got ${x === null ? 'null' : typeof x}`);
  const all = flat(x);
  if (ArrayBuffer.isView(all)) return all;
  const at = all.findIndex((v) => typeof v !== 'number' && typeof v !== 'boolean');
  if (at >= 0)
    throw errorNamed('invalid_argument', `expected numbers, got ${all[at] === null ? 'null' :
      Array.isArray(all[at]) ? 'a list' : typeof all[at]} at ${at} of them`);
  return all;
}
/** Rows of numbers as one Float32Array. */
export function rowsOf(x) {
  return x instanceof Float32Array ? x : Float32Array.from(numbersOf(x));
}
/** Rows of numbers to learn from, or of a network that computes in f64: one Float32Array where they
 *  are of a type that it holds, else a Float64Array. */
export function wideRowsOf(x) {
  const narrow = [Float32Array, Uint8Array, Uint8ClampedArray, Int8Array, Uint16Array, Int16Array];
  if (x instanceof Float64Array) return x;
  return narrow.some((type) => x instanceof type) ? rowsOf(x) : Float64Array.from(numbersOf(x));
}
/** Of arrays of numbers the type that holds all of them. */
export function typeOf(...lists) {
  return lists.some((list) => list instanceof Float64Array) ? Float64Array : Float32Array;
}
/** Whether values come by name. */
export function isNamed(x) {
  return x !== null && typeof x === 'object' && !Array.isArray(x) && !ArrayBuffer.isView(x);
}
/** The lists of an object, in the order of names; kind: what those name. */
function listsOf(what, given, names, kind, rows) {
  const wrong = Object.keys(given).find((name) => !names.includes(name)) ??
    names.find((name) => !(name in given));
  if (wrong === undefined) return names.map((name) => rows(given[name]));
  const how = names.includes(wrong) ? 'missing' : `no ${kind} of the network`;
  throw errorNamed('invalid_argument',
    `${what}: ${JSON.stringify(wrong)} is ${how}: expected numbers for each of ` +
    `${names.join(', ')}`);
}
/** Rows for a network's input; where it has parts also from an object with those of each by
 *  name. */
export function inputRows(x, input, rowsOf) {
  if (!isNamed(x)) return rowsOf(x);
  const parts = input.parts ?? [], names = parts.map((part) => part.name);
  if (!parts.length)
    throw errorNamed('invalid_argument',
      'x: the network takes one list of rows, and has no inputs by name');
  const widths = parts.map((part) => part.width ?? (part.dims ?? []).reduce((n, d) => n * d, 1));
  const lists = listsOf('x', padded(x, parts), names, 'input', rowsOf);
  const rows = lists[0].length / widths[0];
  lists.forEach((list, i) => {
    if (list.length !== rows * widths[i] || rows % 1 !== 0)
      throw errorNamed('invalid_argument', `x: ${names[i]} has ${list.length} numbers: ` +
        `expected ${widths[i]} for each row, as many rows as ${names[0]}`);
  });
  return joined(lists, widths, rows);
}
/** Rows of several lists side by side. */
function joined(lists, widths, rows) {
  const width = widths.reduce((a, b) => a + b, 0), all = new (typeOf(...lists))(rows * width);
  let column = 0;
  lists.forEach((list, i) => {
    for (let r = 0; r < rows; r++)
      all.set(list.subarray(r * widths[i], (r + 1) * widths[i]), r * width + column);
    column += widths[i];
  });
  return all;
}
/** Targets as rows, and how many a row has; of several outputs from an object with those of each by
 *  name, or an array in their order. */
export function targetRows(y, output, rows) {
  const names = (output.parts ?? []).map((part) => part.name);
  if (names.length && Array.isArray(y) && y.length === names.length)
    y = Object.fromEntries(y.map((one, i) => [names[i], one]));
  if (isNamed(y) !== names.length > 0)
    throw errorNamed('invalid_argument', names.length
      ? `y: expected an object with targets for each of ${names.join(', ')}`
      : 'y: the network has one output: expected rows of its targets');
  const lists = names.length ? listsOf('y', y, names, 'output', wideRowsOf) : [wideRowsOf(y)];
  const widths = lists.map((one) => one.length / rows);
  const bad = widths.findIndex((width) => !Number.isInteger(width));
  if (bad >= 0)
    throw errorNamed('invalid_argument',
      `y: ${names.length ? `${names[bad]} has ` : ''}${lists[bad].length} numbers for ${rows} ` +
      `rows`);
  return { y: joined(lists, widths, rows), targets: widths.reduce((a, b) => a + b, 0) };
}
/** What a network gives by its outputs: an object, an array where they are a list ("0", "1", ...),
 *  and as it is where it is one. */
export function outputsOf(y, output) {
  const parts = output.parts ?? [], rows = y.length / output.width;
  if (!parts.length) return y;
  let column = 0;
  const views = parts.map(({ width }) => {
    const view = new y.constructor(rows * width);
    for (let r = 0; r < rows; r++) {
      const begin = r * output.width + column;
      view.set(y.subarray(begin, begin + width), r * width);
    }
    column += width;
    return view;
  });
  if (parts.every((part, i) => part.name === String(i))) return views;
  return Object.fromEntries(views.map((view, i) => [parts[i].name, view]));
}
/** Steps of a row of ids; undefined where a row is one id, or values. */
export function stepsOf(input) {
  return input.ids ? input.dims?.[0] : undefined;
}

/** The form of a function for the type of x. */
export function typed(name, x) {
  return x instanceof Float64Array ? `${name}_f64` : name;
}

/** Rows of a slice, where a run comes in slices. */
export const BLOCK = 256;

/** Work: runs rows of a network through a session, `block` at a time, where there are whole rows
 *  and more than that; what it gives is in y. call(x, y, rows): the call for some of them. */
export function* runRows(values, width, y, given, block, call) {
  const rows = values.length / width;
  if (!(rows > block) || rows % 1 !== 0) return (yield call(values, y, Math.ceil(rows))).y;
  const part = (a, b) => (Array.isArray(values) ? values.slice(a, b) : values.subarray(a, b));
  for (let begin = 0; begin < rows; begin += block) {
    const end = Math.min(begin + block, rows);
    yield call(part(begin * width, end * width), y.subarray(begin * given, end * given),
      end - begin);
  }
  return y;
}
