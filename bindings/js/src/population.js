// Neuroevolution: genomes that evolve by NEAT, and whole networks.
import { errorNamed, known, signalOf } from './runtime/errors.js';
import { Network } from './network.js';
import { rowsOf } from './rows.js';
import { Handled, SLICE_MS, breathe, camel, library, snake } from './runtime/runtime.js';

function bytesIn(lib, source) {
  const view = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : source instanceof ArrayBuffer ? new Uint8Array(source) : null;
  if (!view)
    throw errorNamed('invalid_argument',
      `population: expected bytes, got ${source === null ? 'null' : typeof source}`);
  const { bytes } = lib.call('bytes_create', { size: view.length });
  lib.view(bytes).set(view);
  return bytes;
}

// `network` is a Network or a topology, whose keys stay as they are.
function created(lib, { network, ...rest }) {
  const spec = snake(rest);
  if (network === undefined)
    return lib.call('population_create', { spec, threads: 1 }).population;
  spec.level ??= 'networks';
  if (network instanceof Network)
    return lib.call('population_create_from',
      { network: network.handle, spec, threads: 1 }).population;
  return lib.call('population_create', { spec: { ...spec, network }, threads: 1 }).population;
}

/** A genome of a generation. It computes until the population changes. */
class Genome {
  #population;
  #generation;

  constructor(population, index, generation) {
    this.#population = population;
    this.#generation = generation;
    this.index = index;
  }
  #now() {
    const { generation } = this.#population;
    if (this.index >= 0 && generation !== this.#generation)
      throw errorNamed('invalid_argument', `this genome was of generation ${this.#generation}, ` +
        `the population is at ${generation}`);
  }
  /** Outputs of a row or of rows, in one list. */
  activate(x) {
    this.#now();
    return this.#population.activate(x, this.index);
  }
  /** The values of a recurrent genome are 0 again. */
  reset() {
    this.#population.reset();
  }
  /** A copy of a network; of a genome the network that answers as it does. */
  get network() {
    this.#now();
    return this.#population.network(this.index);
  }
  /** The genome as data: nodes, edges, fitness; of a network its size, cost and topology. */
  get data() {
    this.#now();
    return this.#population.genome(this.index);
  }
}

/** Genomes that evolve by NEAT: docs/reference/evolution.md. The same spec has the same bits
 *  everywhere. */
export class Population extends Handled {
  #generation;

  /** spec: a task ('xor', 'cart_pole', 'double_pole') or an object, whose keys may be in camel
   *  case. */
  constructor(spec) {
    const lib = library();
    if (spec instanceof Made) super(lib, 'population', spec.handle);
    else {
      const all = typeof spec === 'string' ? { task: spec } : spec;
      if (all === null || typeof all !== 'object' || Array.isArray(all))
        throw errorNamed('invalid_argument', 'spec: expected a task or an object');
      super(lib, 'population', created(lib, all));
    }
    const info = this.info, { generation } = info, { population } = info.spec;
    const { inputs, outputs } = info.level === 'networks' ? info : info.spec;
    this.#generation = generation;
    Object.assign(this, { inputs, outputs, size: population });
  }
  /** Continues from what save() made, with the same bits. */
  static load(source) {
    const lib = library(), file = bytesIn(lib, source);
    try {
      return new Population(
        new Made(lib.call('population_load', { file, threads: 1 }).population));
    } finally {
      lib.release(file);
    }
  }
  /** The whole state, data included. */
  save() {
    return this.library.take(this.call('save').file);
  }

  /** generation, evaluated, evaluations, best, mean, worst, reached, champion, species, spec
   *  (without its data), threads. */
  get info() {
    return camel(this.call('info').info);
  }
  get generation() {
    return this.#generation;
  }
  /** The best genome so far. */
  get champion() {
    return new Genome(this, -1, 0);
  }
  /** A genome of this generation. */
  at(index) {
    if (!Number.isInteger(index) || index < 0 || index >= this.size)
      throw errorNamed('out_of_range',
        `index: expected 0 to ${this.size - 1}, got ${String(index)}`);
    return new Genome(this, index, this.generation);
  }
  /** A genome as data; -1: the champion. */
  genome(index = -1) {
    return camel(this.call('genome', { index }).genome);
  }
  /** A copy of a network; -1: the champion. */
  network(index = -1) {
    return new Network(this.library, this.call('network', { index }).network);
  }
  /** Gives a member the weights of a network of its topology. */
  setNetwork(index, network) {
    if (!(network instanceof Network))
      throw errorNamed('invalid_argument', 'setNetwork: expected a Network');
    this.call('set_network', { index, network: network.handle });
  }
  /** Outputs of a genome or network for a row or for rows, in one list. */
  activate(x, index = -1) {
    const values = rowsOf(x), rows = values.length / this.inputs;
    if (!Number.isInteger(rows) || rows < 1)
      throw errorNamed('invalid_argument',
        `x: ${values.length} numbers: expected rows of ${this.inputs}`);
    return this.call('activate', { index, x: values, y: rows * this.outputs }).y;
  }
  /** The values of a recurrent genome are 0 again. */
  reset() {
    this.call('reset');
  }

  /** Fitness of this generation: by the task, or by a function of each genome. */
  evaluate(fitness) {
    if (fitness === undefined) this.call('evaluate');
    else {
      const now = this.generation;
      this.setFitness(
        Array.from({ length: this.size }, (_, i) => fitness(new Genome(this, i, now))));
    }
  }
  /** One finite value for each genome; larger is better. */
  setFitness(fitness) {
    this.call('set_fitness', { fitness: Float64Array.from(fitness) });
  }
  /** Breeds the next generation. */
  step() {
    this.call('step');
    this.#generation++;
  }
  #next(info, fitness) {
    if (info.evaluated) this.step();
    this.evaluate(fitness);
    return this.info;
  }
  /** Evaluates up to as many generations, and breeds between them, until the goal is reached.
   *  Returns info. */
  run(generations = 300, options = {}) {
    const { fitness } = known('run', options, ['fitness']);
    checkCount(generations);
    if (fitness === undefined) {
      try {
        this.call('run', { generations });
      } finally {
        this.#generation = this.info.generation;
      }
      return this.info;
    }
    let info = this.info;
    for (let i = 0; i < generations && !info.reached; i++) info = this.#next(info, fitness);
    return info;
  }
  /** The same, with time for others between generations; `progress` is called with info after
   *  each. */
  async runAsync(generations = 300, options = {}) {
    const { fitness, progress, signal } =
      known('runAsync', options, ['fitness', 'progress', 'signal']);
    checkCount(generations);
    signalOf(signal);
    let info = this.info, begin = performance.now();
    for (let i = 0; i < generations && !info.reached; i++) {
      signal?.throwIfAborted();
      info = this.#next(info, fitness);
      progress?.(info);
      if (performance.now() - begin < SLICE_MS) continue;
      await breathe();
      begin = performance.now();
    }
    return info;
  }
}

/** A handle from inside the package. */
class Made {
  constructor(handle) {
    this.handle = handle;
  }
}

function checkCount(generations) {
  if (!Number.isInteger(generations) || generations < 1)
    throw errorNamed('invalid_argument',
      `generations: expected a whole number of at least 1, got ${String(generations)}`);
}
