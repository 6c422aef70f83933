// Everything runs in a worker: the page only asks, and draws.
import { createWorker } from './welvet/src/index.js';
import { drawCurve, drawMap, mapGrid } from './plots.js';
import { yinYang } from './points.js';

const $ = (id) => document.getElementById(id);
const number = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/** A fingerprint, in green where it is the golden one, in red where it is not, plain where there is none to compare with. */
function show(element, fingerprint, golden) {
  const equal = fingerprint === golden;
  element.className = golden === undefined ? 'print' : `print ${equal ? 'good' : 'bad'}`;
  element.textContent = golden === undefined ? fingerprint : equal ? `\u2713 ${fingerprint}, as on every machine` : `\u2717 ${fingerprint}, but elsewhere ${golden}`;
}

/** A button whose work can be stopped by a second click. */
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

function fail(e) {
  $('device').textContent = `${e.name}: ${e.message}`;
  $('device').className = 'print bad';
}

async function main() {
  const { story, training } = await (await fetch('golden.json')).json();
  $('prompt').value = story.prompt;
  $('seed').value = story.options.seed;

  const loom = await createWorker();
  const model = await loom.Transformer.loadModel('embedded', {
    onProgress: ({ loaded, total }) => ($('device').textContent = `${megabytes(loaded)} of ${total ? megabytes(total) : 'the model'}`),
  });
  const info = await loom.info();
  $('device').textContent = `Loom ${info.version}, numerics version ${info.numerics_version}, WebAssembly SIMD, ${info.threads === 1 ? '1 thread' : `${info.threads} threads`}`;
  for (const id of ['tell', 'train', 'verify']) $(id).disabled = false;

  const tell = action($('tell'), async (signal) => {
    const prompt = $('prompt').value, seed = Number($('seed').value);
    const text = document.createTextNode('');
    const first = document.createElement('b');
    first.textContent = prompt;
    $('story').replaceChildren(first, text);
    show($('story-print'), '', undefined);
    const pieces = model.generate(prompt, { ...story.options, seed, signal });
    let tokens = 0;
    const start = performance.now();
    for (;;) {
      const { done, value } = await pieces.next();
      if (done) {
        const { decodeTokens, decodeSeconds } = await model.stats;
        $('rate').textContent = `${number.format(decodeTokens / decodeSeconds)} tokens/s`;
        show($('story-print'), value.fingerprint, prompt === story.prompt && seed === story.options.seed ? story.fingerprint : undefined);
        return;
      }
      text.data += value;
      $('rate').textContent = `${number.format((1000 * ++tokens) / (performance.now() - start))} tokens/s`;
    }
  });
  $('story-form').addEventListener('submit', tell);

  const points = yinYang(training.samples), grid = mapGrid();
  $('train').addEventListener('click', action($('train'), async (signal) => {
    show($('train-print'), '', undefined);
    const network = await loom.Network.create(training.topology, { seed: training.seed });
    const losses = [];
    let drawn = 0, last;
    try {
      for await (last of network.train(points, training.spec, { signal })) {
        losses.push(last.loss);
        if (performance.now() - drawn < 50) continue;
        drawCurve($('curve'), losses, training.spec.steps);
        drawMap($('map'), await network.forward(grid), points);
        $('train-figures').textContent = `step ${number.format(last.step)}, loss ${last.loss.toFixed(4)}`;
        drawn = performance.now();
      }
      drawCurve($('curve'), losses, training.spec.steps);
      drawMap($('map'), await network.forward(grid), points);
      $('train-figures').textContent = `step ${number.format(last.step)}, loss ${last.loss.toFixed(4)}`;
      show($('train-print'), await network.digest, training.digest);
    } finally {
      network.dispose();
    }
  }));

  $('verify').addEventListener('click', async () => {
    $('verify').disabled = true;
    $('verify-figures').textContent = 'working';
    const start = performance.now();
    const report = await loom.verify();
    $('verify-figures').textContent = `${report.rows.length} rows in ${((performance.now() - start) / 1000).toFixed(1)} s`;
    show($('verify-print'), report.fingerprint, report.golden);
    $('rows').textContent = report.rows.map(({ name, hash }) => `${hash.slice(0, 16)}  ${name}`).join('\n');
    $('verify').disabled = false;
  });

  tell();
}

main().catch(fail);
