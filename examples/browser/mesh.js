// A network by ticks in the page's own thread. Eight cells of the plate z = 0 are a ring: the last
// one is read by the first one. The plate z = 1 delays what the ring passes on. Runs have a budget
// in microseconds, so that the page never waits for more than that (docs/guide/slices.md).
import { $, arrow, buttons, digits, draw, everyFrame, number } from './dom.js';
import { drawLines } from './plots.js';

const DEPTH = 2, ROWS = 2, COLS = 4, PLATE = ROWS * COLS, FIRST = '0.0.0.0';
const TOPOLOGY = {
  format: 'loom-topology', version: 3, depth: DEPTH, rows: ROWS, cols: COLS, step_mesh: true,
  input: { width: 1 },
  // The other cells are empty: each passes on what it reads, a tick later.
  cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 1, bias: false, keep_previous: true,
    links: [{ read: [0, ROWS - 1, COLS - 1, 0] }] }],
};
const BUDGET_US = 2000; // of a frame
const TICK_MS = 80;     // at which it runs, so that eyes can follow
const SHOWN = 96;       // ticks of the plot
const MANY = 1e6;       // ticks of the long run
const SIDE = 48, STEP_X = 66, STEP_Y = 70, LEFT = 46, TOP = 44; // of the drawing

const place = (i) => [Math.floor(i / PLATE), Math.floor(i / COLS) % ROWS, i % COLS];
const corner = (i) => [LEFT + (i % COLS) * STEP_X,
  TOP + Math.floor(i / COLS) * STEP_Y + Math.floor(i / PLATE) * 22];

/** The links, and the squares of the cells in the order of the grid; returns what colours them. */
function drawGrid(svg) {
  const count = DEPTH * PLATE, half = SIDE / 2;
  const [, top] = corner(0), right = corner(COLS - 1)[0] + SIDE;
  svg.setAttribute('viewBox', `0 0 ${right + 46} ${corner(count - 1)[1] + SIDE + 8}`);
  arrow(svg, `M4 ${top + half}H${LEFT - 2}`);
  draw(svg, 'text', { x: 2, y: top + half - 6, class: 'mark' }, 'in');
  for (let i = 0; i + 1 < count; i++) {
    const [x, y] = corner(i), [toX, toY] = corner(i + 1), between = (y + SIDE + toY) / 2;
    arrow(svg, y === toY ? `M${x + SIDE} ${y + half}H${toX - 2}`
      : `M${x + SIDE} ${y + half}h9V${between}H${toX - 12}V${toY + half}H${toX - 2}`);
  }
  const [x, y] = corner(count - 1);
  arrow(svg, `M${x + SIDE} ${y + half}h40`);
  draw(svg, 'text', { x: x + SIDE + 18, y: y + half - 6, class: 'mark' }, 'out');
  const [ringX, ringY] = corner(PLATE - 1);
  arrow(svg, `M${ringX + SIDE} ${ringY + 14}h24V18H${LEFT + half}V${top - 2}`, 'back');
  const weight = draw(svg, 'text', { x: LEFT + half + 12, y: 13, class: 'mark' });
  const squares = Array.from({ length: count }, (_, i) => {
    const [left, up] = corner(i);
    const square = draw(svg, 'rect', { x: left, y: up, width: SIDE, height: SIDE, rx: 6,
      class: 'cell' });
    draw(svg, 'text', { x: left + half, y: up + 14, class: 'mark middle' }, place(i).join(', '));
    const value = draw(svg, 'text', { x: left + half, y: up + 33, class: 'value middle' });
    return { square, value };
  });
  return { squares, weight };
}

/** The colour of a value: a hue for each sign, stronger for larger values. The text in the square
 *  says the same. */
const colour = (value) => `color-mix(in srgb, var(${value < 0 ? '--negative' : '--positive'}) ` +
  `${(100 * Math.min(1, Math.abs(value))).toFixed(1)}%, var(--card))`;

/** The mesh, its weights, and what arrived and came out in the last ticks. */
class Model {
  inputs = [];
  outputs = [];
  pulse = 0;
  #tick = null; // the input of a tick that has begun
  #network;
  #saved = null;

  constructor({ Network, StepMesh }) {
    this.#network = new Network(TOPOLOGY);
    this.weight(-0.75);
    this.mesh = new StepMesh(this.#network);
  }
  /** The weight of the way back; the mesh keeps its values. */
  weight(back) {
    this.#network.set(FIRST, 'weight', [1, back]);
  }
  /** One tick; false where its time was over before its end: the next call continues it. */
  step() {
    if (!this.#tick) {
      this.#tick = Float32Array.of(this.pulse);
      this.pulse = 0;
    }
    const y = this.mesh.step(this.#tick, { budgetUs: BUDGET_US });
    if (y === null) return false;
    this.inputs.push(this.#tick[0]);
    this.outputs.push(y[0]);
    for (const list of [this.inputs, this.outputs]) if (list.length > SHOWN) list.shift();
    this.#tick = null;
    return true;
  }
  /** A slice of many ticks without input; false where more are left. */
  many() {
    const y = this.mesh.run([0], { ticks: MANY, last: true, budgetUs: BUDGET_US });
    return y !== null;
  }
  /** Drops a run that is not at its end, after its last complete tick: otherwise the same call
   *  would continue it. */
  drop() {
    this.mesh.restore(this.mesh.snapshot());
  }
  forget() {
    this.#tick = null;
    this.inputs = [];
    this.outputs = [];
  }
  reset() {
    this.mesh.reset();
    this.forget();
    this.pulse = 0;
  }
  /** Keeps the state of all cells, and returns its bytes. */
  save() {
    const { tick } = this.mesh, state = this.mesh.snapshot();
    this.#saved = { state, tick, inputs: [...this.inputs], outputs: [...this.outputs] };
    return { tick, bytes: state.length };
  }
  restore() {
    const { state, tick, inputs, outputs } = this.#saved;
    this.mesh.restore(state);
    this.#tick = null;
    this.inputs = [...inputs];
    this.outputs = [...outputs];
    return tick;
  }
  /** Of all cells, after the last complete tick. */
  values() {
    return Array.from({ length: DEPTH * PLATE }, (_, i) =>
      this.mesh.value([...place(i), 0])[0] + 0);
  }
}

const IDLE = ['mesh-run', 'mesh-step', 'mesh-pulse', 'mesh-save', 'mesh-reset', 'mesh-weight'];
const note = (text) => ($('mesh-note').textContent = text);

/** The section of the page: the model in squares, a plot and words, and its buttons. */
class Section {
  #model;
  #grid = drawGrid($('mesh-grid'));
  #running = false;
  #single = false;  // a step waits for the next frame
  #due = 0;         // when the next tick begins
  #long = null;     // of a run of many ticks: its slices
  #restorable = false;

  constructor(model) {
    this.#model = model;
    buttons({
      'mesh-run': () => this.#run(!this.#running),
      'mesh-step': () => {
        this.#run(false);
        this.#single = true;
      },
      'mesh-pulse': () => {
        model.pulse = 1;
        note('A 1 arrives with the next tick.');
      },
      'mesh-save': () => this.#save(),
      'mesh-restore': () => {
        note(`Continues from tick ${number.format(model.restore())}.`);
        this.#show();
      },
      'mesh-reset': () => this.#reset(),
      'mesh-many': () => (this.#long ? this.#end(false) : this.#begin()),
    });
    $('mesh-weight').addEventListener('change', () => this.#weigh());
    this.#busy(false);
    this.#weigh();
    this.#show();
  }
  #run(on) {
    this.#running = on;
    $('mesh-run').textContent = on ? 'Pause' : 'Run';
  }
  #save() {
    const { tick, bytes } = this.#model.save();
    this.#restorable = true;
    $('mesh-restore').disabled = false;
    note(`Saved tick ${number.format(tick)}: ${bytes} bytes.`);
  }
  #reset() {
    this.#run(false);
    this.#single = false;
    this.#model.reset();
    note('');
    this.#show();
  }
  #weigh() {
    const back = $('mesh-weight').valueAsNumber;
    if (!(Math.abs(back) <= 1)) return note('The weight is a number from -1 to 1.');
    this.#model.weight(back);
    this.#grid.weight.textContent = `times ${digits(back)}`;
    return note('');
  }
  #busy(on) {
    for (const id of IDLE) $(id).disabled = on;
    $('mesh-restore').disabled = on || !this.#restorable;
    $('mesh-many').textContent = on ? 'Stop' : `${number.format(MANY)} ticks`;
  }

  #begin() {
    this.#run(false);
    this.#long = { slices: 0, longest: 0, begin: this.#model.mesh.tick };
    note('');
    this.#busy(true);
  }
  #slice() {
    const start = performance.now(), done = this.#model.many();
    this.#long.slices++;
    this.#long.longest = Math.max(this.#long.longest, performance.now() - start);
    if (done) this.#end(true);
    else $('mesh-tick').textContent = `tick ${number.format(this.#model.mesh.tick)}`;
  }
  #end(whole) {
    const { slices, longest, begin } = this.#long, { tick } = this.#model.mesh;
    this.#long = null;
    if (!whole) this.#model.drop();
    this.#busy(false);
    note(`${number.format(tick - begin)} ticks in ${slices} slices, one for each frame; the ` +
      `longest took ${longest.toFixed(1)} ms. ${whole ? '' : 'Stopped after a whole tick.'}`);
    this.#model.forget();
    this.#show();
  }

  /** The work of a frame. */
  frame(time) {
    if (this.#long) return this.#slice();
    const due = this.#single || (this.#running && time >= this.#due);
    if (!due || !this.#model.step()) return undefined;
    this.#single = false;
    this.#due = Math.max(this.#due + TICK_MS, time);
    if ($('mesh-note').textContent.startsWith('A 1')) note('');
    return this.#show();
  }

  /** The numbers of the last complete tick. */
  #show() {
    const { inputs, outputs, mesh } = this.#model, values = this.#model.values();
    this.#grid.squares.forEach(({ square, value }, i) => {
      square.style.fill = colour(values[i]);
      value.textContent = digits(values[i], 3);
    });
    const cells = values.flatMap((value, i) =>
      (value === 0 ? [] : [`(${place(i).join(', ')}) = ${digits(value)}`]));
    $('mesh-tick').textContent = `tick ${number.format(mesh.tick)}`;
    $('mesh-words').textContent = `Output ${digits(values.at(-1))}. ` +
      (cells.length === 0 ? 'All cells are 0.' : `Not 0: ${cells.join(', ')}.`);
    drawLines($('mesh-plot'), [{ values: inputs, dashed: true }, { values: outputs }],
      { low: -1.1, high: 1.1, length: SHOWN, marks: [1, 0, -1], steps: true });
  }
}

/** Shows the mesh, and connects its buttons. */
export function startMesh(loom) {
  const section = new Section(new Model(loom));
  everyFrame((time) => void section.frame(time));
}
