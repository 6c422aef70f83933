// The drawings of the page on canvases.
const SIDE = 48; // of the map, in cells
const LOW = [164, 202, 240], HIGH = [242, 214, 160];

/** Inputs at the center of each cell of the map. */
export function mapGrid() {
  const grid = new Float32Array(2 * SIDE * SIDE);
  for (let i = 0; i < SIDE * SIDE; ++i)
    grid.set([(2 * (i % SIDE) + 1) / SIDE - 1, 1 - (2 * Math.floor(i / SIDE) + 1) / SIDE], 2 * i);
  return grid;
}

/** The network's confidence in each class, from two outputs per cell, and the points of its
 *  training. */
export function drawMap(canvas, logits, { x, classes }) {
  const context = canvas.getContext('2d'), size = canvas.width / SIDE;
  for (let i = 0; i < SIDE * SIDE; ++i) {
    const sure = 1 / (1 + Math.exp(logits[2 * i] - logits[2 * i + 1]));
    context.fillStyle = `rgb(${LOW.map((low, c) => low + sure * (HIGH[c] - low)).join(' ')})`;
    context.fillRect((i % SIDE) * size, Math.floor(i / SIDE) * size, size, size);
  }
  for (let i = 0; i < classes.length; ++i) {
    context.fillStyle = classes[i] ? '#7a2e00' : '#003a6b';
    context.fillRect(((x[2 * i] + 1) / 2) * canvas.width - 1,
        ((1 - x[2 * i + 1]) / 2) * canvas.height - 1, 2, 2);
  }
}

/** The canvas in the resolution of the screen, empty, with its own colour: its context. */
function cleared(canvas) {
  const scale = globalThis.devicePixelRatio || 1;
  if (canvas.width !== Math.round(canvas.clientWidth * scale)) {
    canvas.width = Math.round(canvas.clientWidth * scale);
    canvas.height = Math.round(canvas.clientHeight * scale);
  }
  const context = canvas.getContext('2d');
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.strokeStyle = context.fillStyle = getComputedStyle(canvas).color;
  context.font = `${11 * scale}px system-ui`;
  return { context, scale, width: canvas.width, height: canvas.height };
}

/** Pale horizontal lines with their numbers. */
function drawMarks({ context, scale, width, height }, marks, y) {
  context.globalAlpha = 0.4;
  for (const mark of marks) {
    const under = y(mark) + 12 * scale;
    context.fillRect(0, y(mark), width, 1);
    context.fillText(String(mark), 4 * scale, under < height ? under : y(mark) - 3 * scale);
  }
  context.globalAlpha = 1;
}

/** Losses on a logarithmic scale, from 1 down to 0.001. */
export function drawCurve(canvas, losses, steps) {
  const made = cleared(canvas), { context, scale, width, height } = made;
  const y = (loss) => (height * Math.min(3, -Math.log10(Math.max(loss, 1e-3)))) / 3.1 + 0.02
    * height;
  drawMarks(made, [1, 0.1, 0.01], y);
  context.lineWidth = 1.5 * scale;
  context.beginPath();
  const columns = Math.min(losses.length, Math.round(width));
  for (let c = 0; c < columns; ++c) {
    const i = Math.floor((c * losses.length) / columns);
    context.lineTo((i / steps) * width, y(losses[i]));
  }
  context.stroke();
}

/** Lines of values from `low` to `high` over `length` places; `steps`: each value is held for its
 *  place. `at`: places with a vertical dotted line. */
export function drawLines(canvas, lines,
    { low, high, length, marks = [], steps = false, at = [] }) {
  const made = cleared(canvas), { context, scale, width, height } = made;
  const x = (i) => (i / length) * width;
  const y = (value) => height * (1 - (Math.min(high, Math.max(low, value)) - low) / (high - low));
  drawMarks(made, marks, y);
  context.lineWidth = scale;
  context.setLineDash([scale, 3 * scale]);
  for (const i of at) {
    context.beginPath();
    context.moveTo(x(i), 0);
    context.lineTo(x(i), height);
    context.stroke();
  }
  context.lineWidth = 1.5 * scale;
  for (const { values, dashed = false } of lines) {
    context.setLineDash(dashed ? [4 * scale, 3 * scale] : []);
    context.beginPath();
    values.forEach((value, i) => {
      context.lineTo(x(i), y(value));
      if (steps) context.lineTo(x(i + 1), y(value));
    });
    context.stroke();
  }
}
