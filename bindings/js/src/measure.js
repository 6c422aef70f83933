// Figures of values.
import { errorNamed, known } from './runtime/errors.js';
import { isList, wideRowsOf } from './rows.js';
import { camel, library } from './runtime/runtime.js';

/** How far answers are from what was expected, in percent: {samples, mean, score, equal, notFinite,
 *  worst, buckets}. Options: width (values of a sample, where both are one list), keep (10):
 *  samples that each list holds. */
export function deviation(actual, expected, options = {}) {
  const { width, keep = 10 } = known('deviation', options, ['width', 'keep']);
  const of = width ?? (isList(actual) && isList(actual[0]) ? actual[0].length : 1);
  return camel(library().call('measure_deviation', { actual: Float64Array.from(wideRowsOf(actual)),
    expected: Float64Array.from(wideRowsOf(expected)), width: of, keep }).report);
}

/** Correlations of the columns of rows: columns x columns, one row behind the other; NaN where a
 *  column is constant. Options: kind (pearson, spearman), width (where x is one list). */
export function correlation(x, options = {}) {
  const { width, kind = 'pearson' } = known('correlation', options, ['width', 'kind']);
  const of = width ?? (isList(x) && isList(x[0]) ? x[0].length : undefined);
  if (!Number.isInteger(of) || of < 1)
    throw errorNamed('invalid_argument',
      'x: expected a list of rows, or one list with the option "width"');
  return library().call('measure_correlation', { x: Float64Array.from(wideRowsOf(x)), width: of,
    kind, matrix: of * of }).matrix;
}
