// Networks that answer together.
import { errorNamed, known } from './runtime/errors.js';
import { numbersOf } from './rows.js';
import { camel, library } from './runtime/runtime.js';
import { Network } from './network.js';

/** Rows of outputs as probabilities. */
function softmaxOf(y, width) {
  const out = new Float32Array(y.length);
  for (let r = 0; r < y.length; r += width) {
    const row = y.subarray(r, r + width), top = Math.max(...row);
    const e = Array.from(row, (v) => Math.exp(v - top)), sum = e.reduce((a, b) => a + b, 0);
    e.forEach((v, c) => (out[r + c] = v / sum));
  }
  return out;
}
/** Where the greatest of each row is. */
function classesOf(y, width) {
  return Int32Array.from({ length: y.length / width }, (_, r) => {
    const row = y.subarray(r * width, (r + 1) * width);
    return row.indexOf(Math.max(...row));
  });
}

function checkClasses(classes, rows) {
  if (classes.length !== rows)
    throw errorNamed('invalid_argument',
      `classes: expected one for each of ${rows} rows, got ${classes.length}`);
}
function endsInSoftmax(network) {
  const order = (a, b) => a.at.findIndex((v, i) => v !== b.at[i]);
  let last = network.topology.cells.reduce((a, b) => {
    const i = a ? order(a, b) : 0;
    return !a || (i >= 0 && b.at[i] > a.at[i]) ? b : a;
  }, undefined);
  while (last?.type === 'sequential' && last.layers?.length) last = last.layers.at(-1);
  return last?.type === 'softmax';
}

/** Pairs of members that complete each other, by descending coverage, then ascending overlap:
 *  [{first, second, coverage, overlap, cosine}]. correct: of each member a list, whether each
 *  answer was right. */
export function matches(correct, options = {}) {
  const { minCoverage = 0 } = known('matches', options, ['minCoverage']);
  const samples = correct[0]?.length ?? 0;
  if (correct.some((row) => row.length !== samples))
    throw errorNamed('invalid_argument', 'correct: expected as many answers of each member');
  return library().call('ensemble_matches', { correct: correct.flatMap(
    (row) => Array.from(row, Number)), samples, options: { min_coverage: minCoverage } }).matches;
}

/** Networks of the same inputs and classes that answer together (docs/guide/ensembles.md). Options:
 *  vote: "mean", the weighted mean of the members' scores, or "majority", the share of the weights
 *  whose member has its greatest score there; weights: one for each member; softmax: scores are
 *  probabilities of the members' outputs (false where outputs are such already). */
export class Ensemble {
  constructor(networks, options = {}) {
    const { vote = 'mean', weights, softmax = true } =
      known('Ensemble', options, ['vote', 'weights', 'softmax']);
    if (!Array.isArray(networks) || networks.length === 0
        || !networks.every((network) => network instanceof Network))
      throw errorNamed('invalid_argument', 'networks: expected a list of Network, at least one');
    this.networks = networks;
    networks.forEach((network, i) => {
      const { output } = network.info;
      if (output.parts || output.dims?.length > 1)
        throw errorNamed('invalid_argument',
          `networks[${i}]: expected one output of a score for each class`);
      if (softmax && endsInSoftmax(network))
        throw errorNamed('invalid_argument',
          `networks[${i}]: its outputs are probabilities: give softmax: false`);
    });
    this.width = networks[0].info.output.width;
    const widths = networks.map((network) => network.info.output.width);
    if (this.width < 2 || widths.some((width) => width !== this.width))
      throw errorNamed('invalid_argument',
        `networks: expected outputs of one width, at least 2 classes, got ${widths.join(', ')}`);
    this.vote = vote;
    this.softmax = softmax;
    this.weights = Float64Array.from(weights ?? networks.map(() => 1));
    this.#vote(new Float32Array(networks.length * this.width)); // refuses what it would later
  }
  /** What the members say: of each its rows of scores. */
  scores(x) {
    return this.networks.map((network) => {
      const y = Float32Array.from(network.forward(x));
      return this.softmax ? softmaxOf(y, this.width) : y;
    });
  }
  #vote(scores) {
    return library().call('ensemble_vote', { scores, members: this.networks.length,
      width: this.width, weights: this.weights, kind: this.vote,
      y: scores.length / this.networks.length }).y;
  }
  #together(x) {
    const each = this.scores(x), all = new Float32Array(each.length * each[0].length);
    each.forEach((y, i) => all.set(y, i * y.length));
    return all;
  }
  /** The vote: rows of one number for each class. */
  forward(x) {
    return this.#vote(this.#together(x));
  }
  /** The class of each row with the greatest vote. */
  predict(x) {
    return classesOf(this.forward(x), this.width);
  }
  /** The share of rows whose class it predicts. */
  accuracy(x, classes) {
    const found = this.predict(x);
    checkClasses(classes, found.length);
    return found.filter((c, i) => c === classes[i]).length / found.length;
  }
  /** Pairs of members that complete each other on these samples. */
  matches(x, classes, options = {}) {
    const found = this.scores(x).map((y) => Array.from(classesOf(y, this.width)));
    checkClasses(classes, found[0].length);
    return matches(found.map((row) => row.map((c, i) => c === classes[i])), options);
  }
  /** One network that answers as this ensemble does, up to rounding: whole copies of the members
   *  beside each other, whose outputs meet in the weighted mean. */
  merge() {
    if (this.vote !== 'mean')
      throw errorNamed('invalid_argument',
        `merge: the vote "${this.vote}" is no mean of networks: make the ensemble with "mean"`);
    const kept = this.networks.map((_, i) => i).filter((i) => this.weights[i] > 0);
    const weights = kept.map((i) => this.weights[i]), sum = weights.reduce((a, b) => a + b, 0);
    const equal = weights.every((weight) => weight === weights[0]);
    const merged = Network.graft(kept.map((i) => this.networks[i]),
      { combine: equal ? 'mean' : 'gated', softmax: this.softmax });
    if (!equal) { // a gate that looks at nothing: softmax(log w) = w
      const bias = merged.parameters.filter(({ role }) => role === 'gate_bias').at(-1);
      merged.set(bias.path, bias.role, weights.map((weight) => Math.log(weight / sum)));
    }
    return merged;
  }
  /** Those members whose mean of scores has most of these classes right, on samples that they have
   *  not learned from (Caruana et al., ICML 2004): {ensemble, weights, accuracy, bestMember}. */
  static select(networks, x, classes, options = {}) {
    const { steps = 20, softmax = true } = known('select', options, ['steps', 'softmax']);
    const whole = new Ensemble(networks, { softmax });
    const selection = camel(library().call('ensemble_select', { scores: whole.#together(x),
      members: networks.length, width: whole.width, classes: numbersOf(classes),
      steps }).selection);
    const kept = networks.map((_, i) => i).filter((i) => selection.weights[i] > 0);
    return { ensemble: new Ensemble(kept.map((i) => networks[i]),
      { weights: kept.map((i) => selection.weights[i]), softmax }), ...selection };
  }
}
