// XOR evolves in the page's own thread: a generation of 150 genomes for each frame. The champion of
// a seed has the same digest in every browser.
import { $, arrow, buttons, digits, draw, everyFrame, show } from './dom.js';
import { drawLines } from './plots.js';

const ROWS = [[0, 0], [0, 1], [1, 0], [1, 1]];
const WIDTH = 360, HEIGHT = 220, RADIUS = 17; // of the drawing

/** The layer of each node: its longest way from an input. Outputs are in the last one. */
function layersOf({ nodes, edges }) {
  const layer = new Map(nodes.map(({ id }) => [id, 0]));
  for (let round = 0; round < nodes.length; round++)
    for (const { from, to } of edges) layer.set(to, Math.max(layer.get(to), layer.get(from) + 1));
  const last = Math.max(1, ...layer.values());
  for (const { id, kind } of nodes) if (kind === 'output') layer.set(id, last);
  return { layer, last };
}

/** Where each node is drawn. */
function placesOf(genome) {
  const { layer, last } = layersOf(genome), places = new Map();
  for (let column = 0; column <= last; column++) {
    const nodes = genome.nodes.filter(({ id }) => layer.get(id) === column);
    nodes.forEach(({ id }, i) => places.set(id, [
      RADIUS + 4 + (column / last) * (WIDTH - 2 * RADIUS - 8),
      // Columns are shifted a little, so that no edge runs through a node.
      ((i + 0.5) / nodes.length) * (HEIGHT - 24) + 12 + (column % last ? 9 - 18 * (column % 2) : 0),
    ]));
  }
  return places;
}

const nameOf = ({ id, kind }) => `${kind === 'hidden' ? 'node' : kind} ${id}`;

/** The enabled edges as arrows, dashed where their weight is negative, and wider where it is
 *  larger. */
function drawGenome(svg, genome) {
  svg.replaceChildren();
  svg.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
  const places = placesOf(genome);
  for (const { from, to, weight, enabled } of genome.edges) {
    if (!enabled) continue;
    const [x, y] = places.get(from), [toX, toY] = places.get(to);
    const length = Math.hypot(toX - x, toY - y), cut = (RADIUS + 2) / length;
    arrow(svg, `M${x} ${y}L${toX - cut * (toX - x)} ${toY - cut * (toY - y)}`,
      weight < 0 ? 'negative' : 'positive',
      { 'stroke-width': Math.min(4, 0.8 + Math.abs(weight) / 2).toFixed(2) });
  }
  for (const { id, kind } of genome.nodes) {
    const [x, y] = places.get(id);
    draw(svg, 'circle', { cx: x, cy: y, r: RADIUS, class: `node ${kind}` });
    draw(svg, 'text', { x, y: y + 4, class: 'middle' }, kind === 'input' ? `in ${id}`
      : kind === 'output' ? 'out' : id);
  }
}

/** The structure in words: a line for each edge, and one for each bias. */
function wordsOf({ nodes, edges }) {
  const named = new Map(nodes.map((node) => [node.id, nameOf(node)]));
  return [
    ...edges.map(({ from, to, weight, enabled }) =>
      `${named.get(from)} to ${named.get(to)}: weight ${digits(weight)}` +
      `${enabled ? '' : ', disabled'}`),
    ...nodes.filter(({ kind }) => kind !== 'input').map((node) =>
      `${nameOf(node)}: bias ${digits(node.bias)}, ${node.activation}`),
  ].join('\n');
}

/** A population, and the fitness of its generations so far. */
class Model {
  best = [];
  mean = [];
  #population;

  constructor({ Population }, spec, seed) {
    this.#population = new Population({ ...spec, seed });
  }
  /** Evaluates the next generation. */
  next() {
    this.info = this.#population.run(1);
    this.best.push(this.info.champion.fitness);
    this.mean.push(this.info.mean);
    return this.info;
  }
  get champion() {
    const { champion } = this.#population;
    return { genome: champion.data, outputs: champion.activate(ROWS) };
  }
  dispose() {
    this.#population.dispose();
  }
}

/** The section of the page. */
class Section {
  #loom;
  #golden;
  #model = null;
  #seed = null;
  #running = false;
  #drawn = ''; // digest of the champion that is drawn

  constructor(loom, golden) {
    this.#loom = loom;
    this.#golden = golden;
    $('evolve-seed').value = 1;
    buttons({
      evolve: () => {
        if (!this.#running && this.#ended) this.#forget();
        this.#run(!this.#running);
      },
      'evolve-step': () => {
        this.#run(false);
        if (this.#ended) this.#forget();
        this.#next();
      },
    });
    $('evolve-form').addEventListener('submit', (event) => event.preventDefault());
    $('evolve-seed').disabled = false;
    $('evolve-seed').addEventListener('change', () => {
      this.#run(false);
      this.#forget();
    });
  }
  get #ended() {
    const info = this.#model?.info;
    return info !== undefined && (info.reached || info.generation >= this.#golden.generations);
  }
  #run(on) {
    this.#running = on;
    $('evolve').textContent = on ? 'Pause' : 'Evolve';
  }
  #forget() {
    this.#model?.dispose();
    this.#model = null;
    this.#drawn = '';
    $('evolve-figures').textContent = '';
    show($('evolve-print'), '', undefined);
  }
  #next() {
    if (!this.#model) {
      this.#seed = Number($('evolve-seed').value);
      this.#model = new Model(this.#loom, this.#golden.spec, this.#seed);
    }
    this.#model.next();
    if (this.#ended) this.#run(false);
    this.#show();
  }
  frame() {
    if (!this.#running) return;
    try {
      this.#next();
    } catch (e) {
      this.#run(false);
      $('evolve-figures').textContent = e.message;
    }
  }

  #show() {
    const { info, best, mean } = this.#model, { champion, reached, species } = info;
    $('evolve-figures').textContent = `generation ${info.generation}, best fitness ` +
      `${champion.fitness.toFixed(4)} of 4, mean ${info.mean.toFixed(2)}, ` +
      `${species.length} species` +
      `${reached ? ': solved' : this.#ended ? ': not solved' : ''}`;
    // Goldens are the champions that have solved the task.
    show($('evolve-print'), champion.sha256,
      this.#ended ? this.#golden.champions[this.#seed] : undefined);
    drawLines($('evolve-plot'), [{ values: mean, dashed: true }, { values: best }],
      { low: 0, high: 4.1, length: Math.max(30, best.length), marks: [3.9, 2, 1] });
    if (champion.sha256 === this.#drawn) return;
    this.#drawn = champion.sha256;
    const { genome, outputs } = this.#model.champion;
    drawGenome($('evolve-graph'), genome);
    $('evolve-structure').textContent = wordsOf(genome);
    $('evolve-answers').textContent = `${champion.nodes} nodes, ${champion.edges} edges. ` +
      `${ROWS.map(([a, b], i) => `${a} xor ${b}: ${outputs[i].toFixed(2)}`).join(', ')}`;
  }
}

/** Shows the population, and connects its buttons. golden: the task, and the digest of the champion
 *  of each seed from 0 on. */
export function startEvolution(loom, golden) {
  const section = new Section(loom, golden);
  everyFrame(() => section.frame());
}
