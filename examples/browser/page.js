// A worker computes the story, the training and the table: the page only sends requests, and draws.
// The other parts compute between two frames, in slices, in the page's own thread.
import { createWorker, initLoom } from './welvet/src/index.js';
import { $, fail, number, show } from './dom.js';
import { startEvolution } from './evolve.js';
import { startMesh } from './mesh.js';
import { startOnline } from './online.js';
import { drawCurve, drawMap, mapGrid } from './plots.js';
import { yinYang } from './points.js';

const rate = (perSecond) =>
  `${perSecond < 10 ? perSecond.toFixed(1) : number.format(perSecond)} tokens/s`;
// The device that computed, and for a GPU the claim that its self-test allows.
const on = (device, { target, numerics }) => (device === 'cpu' ? 'WebAssembly'
    : `${target}, numerics: ${numerics}`);
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/** A button; a second click stops its work. */
function action(button, work) {
  const label = button.textContent;
  let controller = null;
  return async (event) => {
    event?.preventDefault();
    if (controller) return controller.abort();
    controller = new AbortController();
    button.textContent = 'Stop';
    try {
      await work(controller.signal);
    } catch (e) {
      if (e.name !== 'AbortError') fail(e);
    } finally {
      controller = null;
      button.textContent = label;
    }
  };
}

const device = () => ($('gpu').checked ? 'gpu' : 'cpu');

/** Tells the story for the page's prompt and seed; `story` has the golden one. */
async function tellStory(model, story, signal) {
  const prompt = $('prompt').value, seed = Number($('seed').value);
  const text = document.createTextNode('');
  const first = document.createElement('b');
  first.textContent = prompt;
  $('story').replaceChildren(first, text);
  show($('story-print'), '', undefined);
  $('rate').textContent = 'working';
  const chosen = device();
  const pieces = model.generate(prompt, { ...story.options, seed, signal, device: chosen });
  let tokens = 0, start = 0;
  for (;;) {
    const { done, value } = await pieces.next();
    if (done) {
      const stats = await model.stats;
      $('rate').textContent =
        `${rate(stats.decodeTokens / stats.decodeSeconds)}, ${on(chosen, stats)}`;
      show($('story-print'), value.fingerprint,
          prompt === story.prompt && seed === story.options.seed ? story.fingerprint : undefined);
      return;
    }
    text.data += value;
    if (tokens++ === 0) start = performance.now();
    else $('rate').textContent = rate((1000 * (tokens - 1)) / (performance.now() - start));
  }
}

/** Learns the two halves of the yin-yang, and draws the progress. */
async function trainNetwork(loom, training, points, signal) {
  const grid = mapGrid();
  show($('train-print'), '', undefined);
  const network = await loom.Network.create(training.topology, { seed: training.seed });
  const losses = [];
  let drawn = 0, last;
  try {
    const draw = async () => {
      drawCurve($('curve'), losses, training.spec.steps);
      drawMap($('map'), await network.forward(grid), points);
      $('train-figures').textContent =
        `step ${number.format(last.step)}, loss ${last.loss.toFixed(4)}`;
      drawn = performance.now();
    };
    $('train-figures').textContent = 'working';
    for await (last of network.train(points, training.spec, { signal, device: device() })) {
      losses.push(last.loss);
      if (performance.now() - drawn >= 50) await draw();
    }
    await draw();
    show($('train-print'), await network.digest, training.digest);
  } finally {
    network.dispose();
  }
}

/** The rows of `loom verify`, and their fingerprint compared with the golden one. */
async function verifyNumerics(loom) {
  $('verify').disabled = true;
  $('verify-figures').textContent = 'working';
  const start = performance.now(), chosen = device();
  try {
    const report = await loom.verify({ device: chosen });
    const ran = report.rows.filter(({ why }) => !why).length;
    $('verify-figures').textContent =
      `${ran === report.rows.length ? ran : `${ran} of ${report.rows.length}`} rows in ` +
      `${((performance.now() - start) / 1000).toFixed(1)} s, ${on(chosen, report)}`;
    show($('verify-print'), report.fingerprint, report.golden);
    $('rows').textContent =
      report.rows.map(({ name, hash, why }) =>
          `${why ? ' '.repeat(16) : hash.slice(0, 16)}  ${name}${why ? `: ${why}` : ''}`)
            .join('\n');
  } catch (e) {
    fail(e);
  }
  $('verify').disabled = false;
}

async function main() {
  const { story, training, evolution } = await (await fetch('golden.json')).json();
  $('prompt').value = story.prompt;
  $('seed').value = story.options.seed;

  const loom = await createWorker();
  const model = await loom.Transformer.loadModel('embedded', {
    onProgress: ({ loaded, total }) => ($('status')
        .textContent = `${megabytes(loaded)} of ${total ? megabytes(total) : 'the model'}`),
  });
  const info = await loom.info(), gpu = await loom.gpu();
  $('status').textContent =
    `Loom ${info.version}, numerics version ${info.numerics_version}, WebAssembly SIMD, ` +
    `${info.threads === 1 ? '1 thread' : `${info.threads} threads`}`;
  $('gpu-note').textContent = gpu.available
    ? `${gpu.name}${gpu.software ? ', in software: slow' : ''}` : gpu.missing;
  $('gpu').disabled = !gpu.available;
  $('devices').disabled = false;
  for (const id of ['tell', 'train', 'verify']) $(id).disabled = false;

  const tell = action($('tell'), (signal) => tellStory(model, story, signal));
  $('story-form').addEventListener('submit', tell);

  const points = yinYang(training.samples);
  const train = action($('train'), (signal) => trainNetwork(loom, training, points, signal));
  $('train').addEventListener('click', train);
  $('verify').addEventListener('click', () => verifyNumerics(loom));

  tell();

  const here = await initLoom();
  startMesh(here);
  startEvolution(here, evolution);
  startOnline(here);
}

main().catch(fail);
