// The two drawings of the page.
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

/** Losses on a logarithmic scale, from 1 down to 0.001. */
export function drawCurve(canvas, losses, steps) {
  const scale = globalThis.devicePixelRatio || 1;
  if (canvas.width !== Math.round(canvas.clientWidth * scale)) {
    canvas.width = Math.round(canvas.clientWidth * scale);
    canvas.height = Math.round(canvas.clientHeight * scale);
  }
  const context = canvas.getContext('2d'), { width, height } = canvas;
  const y = (loss) => (height * Math.min(3, -Math.log10(Math.max(loss, 1e-3)))) / 3.1 + 0.02
    * height;
  context.clearRect(0, 0, width, height);
  context.strokeStyle = context.fillStyle = getComputedStyle(canvas).color;
  context.globalAlpha = 0.4;
  context.font = `${11 * scale}px system-ui`;
  for (const mark of [1, 0.1, 0.01]) {
    context.fillRect(0, y(mark), width, 1);
    context.fillText(String(mark), 4 * scale, y(mark) + 12 * scale);
  }
  context.globalAlpha = 1;
  context.lineWidth = 1.5 * scale;
  context.beginPath();
  const columns = Math.min(losses.length, Math.round(width));
  for (let c = 0; c < columns; ++c) {
    const i = Math.floor((c * losses.length) / columns);
    context.lineTo((i / steps) * width, y(losses[i]));
  }
  context.stroke();
}
