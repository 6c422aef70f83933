// Groups of rows of numbers.
import { errorNamed, known } from './runtime/errors.js';
import { isList, numbersOf, wideRowsOf } from './rows.js';
import { camel, library, snake } from './runtime/runtime.js';

/** Rows in one list, and how many values a row has: rows are lists, or one list with a width. */
function take(x, width, name = 'x') {
  const values = Float64Array.from(wideRowsOf(x));
  const of = width ?? (isList(x) && isList(x[0]) ? x[0].length : undefined);
  if (!Number.isInteger(of) || of < 1)
    throw errorNamed('invalid_argument',
      `${name}: expected a list of rows, or one list with the option "width"`);
  return { values, width: of };
}

/** k-means of rows: {labels, centers, inertia, iterations}; centers lie one behind the other.
 *  Options: clusters (8), start (centers to begin with), seed, starts, maxIterations, tolerance,
 *  width (of a row, where x is one list): docs/reference/options.md, cluster_k_means. */
export function kMeans(x, options = {}) {
  const { width, start, clusters: asked, ...rest } = options;
  const rows = take(x, width);
  const begin = start === undefined ? null : take(start, rows.width, 'start');
  const clusters = begin ? begin.values.length / rows.width : asked ?? 8;
  if (asked !== undefined && asked !== clusters)
    throw errorNamed('invalid_argument',
      `clusters: expected ${clusters}, as many as start has, got ${String(asked)}`);
  const { labels, centers, info } = library().call('cluster_k_means', { x: rows.values,
    width: rows.width, clusters, start: begin ? begin.values : new Float64Array(0),
    options: snake(rest),
    labels: Math.ceil(rows.values.length / rows.width),
    centers: Number.isSafeInteger(clusters) && clusters > 0 ? clusters * rows.width : 0 });
  return { labels, centers, ...camel(info) };
}

/** How well each row fits its group, -1 to 1. Options: distance (euclidean, cosine, precomputed),
 *  width. */
export function silhouettes(x, labels, options = {}) {
  const { width, distance = 'euclidean' } = known('silhouettes', options, ['width', 'distance']);
  const rows = take(x, width);
  return library().call('cluster_silhouettes', { x: rows.values, width: rows.width,
    labels: numbersOf(labels), distance,
    silhouettes: Math.ceil(rows.values.length / rows.width) }).silhouettes;
}

/** The merges of agglomerative clustering by ascending distance: [{first, second, distance, rows}].
 *  Groups 0 to rows - 1 are the rows, rows + i is what merge i makes. Options: distance, linkage
 *  (single, complete, average, ward), width. */
export function hierarchy(x, { width, ...options } = {}) {
  const rows = take(x, width), count = Math.ceil(rows.values.length / rows.width);
  const { merges } = library().call('cluster_hierarchy', { x: rows.values, width: rows.width,
    options: snake(options), merges: 4 * Math.max(0, count - 1) });
  return Array.from({ length: merges.length / 4 }, (_, i) => ({ first: merges[4 * i],
    second: merges[4 * i + 1], distance: merges[4 * i + 2], rows: merges[4 * i + 3] }));
}

/** The group of each row after some of the merges. Options: clusters (how many groups), or distance
 *  (up to which they are joined). */
export function cut(merges, options = {}) {
  const values = Float64Array.from(merges.flatMap((m) => [m.first, m.second, m.distance, m.rows]));
  return library().call('cluster_cut', { merges: values, options: snake(options),
    labels: merges.length + 1 }).labels;
}
