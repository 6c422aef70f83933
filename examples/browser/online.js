// A network that learns while it answers, in the page's own thread: in each frame it answers a few
// points, is told what was right, and learns for two milliseconds (docs/guide/online.md).
import { $, buttons, everyFrame, number } from './dom.js';
import { drawLines, drawMap, mapGrid } from './plots.js';

const TOPOLOGY = { format: 'loom-topology', version: 3, layers_per_cell: 2, input: { width: 2 },
  cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 32, activation: 'tanh' },
    { at: [0, 0, 0, 1], type: 'dense', out: 2 }] };
const SPEC = { loss: 'cross_entropy', batch: 32, schedule: { lr: 0.02 } };
const OPTIONS = { rolling: 50, recover: 0.95 };
const GOAL = `${100 * OPTIONS.recover} %`;
const ANSWERS = 4;   // of a frame
const LEARN_MS = 2;  // of a frame
const DRAW_MS = 150; // between two maps
const FRAMES = 900;  // of the plot
const POINTS = 128;  // of the map

/** The stream of points, the classes that are right now, and the network that follows. */
class Model {
  accuracy = [];
  flips = []; // {frame, output}: when the visitor has exchanged the classes
  points = { x: [], classes: [] };
  #flipped = false;
  #network;
  #grid = mapGrid();

  constructor({ Network, Online }) {
    this.#network = new Network(TOPOLOGY, { seed: 5 });
    this.online = new Online(this.#network, SPEC, OPTIONS);
    this.info = this.online.info;
  }
  /** The class of a point: above the wave, or below. */
  #right([a, b]) {
    return (b > 0.5 * Math.sin(3 * a)) !== this.#flipped ? 1 : 0;
  }
  flip() {
    this.#flipped = !this.#flipped;
    this.points = { x: [], classes: [] };
    this.flips.push({ frame: this.accuracy.length, output: this.info.outputs });
  }
  frame() {
    const { points } = this;
    for (let i = 0; i < ANSWERS; i++) {
      const point = [2 * Math.random() - 1, 2 * Math.random() - 1], right = this.#right(point);
      this.online.answer(point);
      this.online.feedback(right);
      points.x.push(...point);
      points.classes.push(right);
    }
    if (points.classes.length > POINTS) {
      points.x.splice(0, 2 * ANSWERS);
      points.classes.splice(0, ANSWERS);
    }
    this.online.learn({ ms: LEARN_MS });
    this.info = this.online.info;
    this.accuracy.push(this.info.accuracy);
    if (this.accuracy.length > FRAMES) {
      this.accuracy.shift();
      for (const flip of this.flips) flip.frame--;
    }
  }
  /** The outputs of the published weights for the map. */
  map() {
    this.online.commit();
    return this.#network.forward(this.#grid);
  }
  /** For each boundary since the start: where it began, and when the network followed. */
  tasks() {
    return this.online.report.tasks.map(({ output, source, recovered }) =>
      `${source === 'start' ? 'Start' : `Change found from output ${number.format(output)} on`}: ` +
      `${recovered ? `${GOAL} after ${number.format(recovered.outputs)} outputs` : 'learns'}`);
  }
  dispose() {
    this.online.dispose();
    this.#network.dispose();
  }
}

/** The section of the page. */
class Section {
  #loom;
  #model;
  #running = false;
  #drawn = 0;

  constructor(loom) {
    this.#loom = loom;
    this.#model = new Model(loom);
    buttons({
      'online-run': () => this.#run(!this.#running),
      'online-flip': () => {
        this.#model.flip();
        this.#run(true);
      },
      'online-reset': () => {
        this.#model.dispose();
        this.#model = new Model(this.#loom);
        this.#run(false);
        this.#show();
      },
    });
    this.#show();
  }
  #run(on) {
    this.#running = on;
    $('online-run').textContent = on ? 'Pause' : 'Run';
  }
  frame(time) {
    if (!this.#running) return;
    this.#model.frame();
    if (time - this.#drawn < DRAW_MS) return;
    this.#drawn = time;
    this.#show();
  }
  #show() {
    const model = this.#model, { outputs, steps, accuracy } = model.info;
    $('online-figures').textContent = `${number.format(outputs)} outputs, ` +
      `${number.format(steps)} steps of learning` +
      `${outputs === 0 ? '' : `, ${(100 * accuracy).toFixed(0)} % of the last ` +
        `${Math.min(outputs, OPTIONS.rolling)} right`}` +
      `${model.flips.length ? `, exchanged at output ${number.format(model.flips.at(-1).output)}`
        : ''}`;
    const list = model.tasks().map((text) => {
      const item = document.createElement('li');
      item.textContent = text;
      return item;
    });
    $('online-tasks').replaceChildren(...list.slice(-6));
    drawMap($('online-map'), model.map(), model.points);
    drawLines($('online-plot'), [{ values: model.accuracy }], { low: 0, high: 1.02, length: FRAMES,
      marks: [OPTIONS.recover, 0.5],
      at: model.flips.map(({ frame }) => frame).filter((frame) => frame >= 0) });
  }
}

/** Shows the network that follows, and connects its buttons. */
export function startOnline(loom) {
  const section = new Section(loom);
  everyFrame((time) => section.frame(time));
}
