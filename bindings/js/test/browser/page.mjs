// node test/browser/page.mjs [--gpu] [SCREENSHOT]: opens the page of examples/browser in headless
// Chromium, and looks at what it says: on WebAssembly, or on WebGPU, whose adapter is SwiftShader.
// Ends with 77 where something is missing, which the last line names.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { Browser, WEBGPU, findChromium, serve } from '../chromium.mjs';
import { evolves, follows, ticks } from './page_slices.js';

const gpu = process.argv.includes('--gpu');
const screenshot = process.argv.slice(2).find((word) => word !== '--gpu');
const program = findChromium();
if (!program) {
  console.log('needs Chromium');
  process.exit(77);
}
const { story, training, evolution } =
  JSON.parse(fs.readFileSync(new URL('../../../../examples/browser/golden.json', import.meta.url)));
const server = await serve();
const browser = await Browser.start(program, '--window-size=900,1300', ...(gpu ? WEBGPU : []));
const text = (id) => browser.evaluate(`document.getElementById('${id}').textContent`);
const click = (id) => browser.evaluate(`document.getElementById('${id}').click()`);
// The page says of an error in its status.
const good = async (id, seconds) => {
  const end = await browser.until(
    `document.getElementById('status').className === 'print bad' ` +
    `? { error: document.getElementById('status').textContent } ` +
    `: document.getElementById('${id}').className === 'print good' && ` +
    `{ print: document.getElementById('${id}').textContent }`, seconds);
  assert.ok(!end.error, `${id}: ${end.error}`);
  return end.print;
};

/** The story: how fast it was told; null where there is no GPU. */
async function tells() {
  assert.ok((await good('story-print')).includes(story.fingerprint));
  if (gpu) {
    if (await browser.evaluate(`document.getElementById('gpu').disabled`)) {
      console.log(await text('gpu-note'));
      return null;
    }
    await click('gpu');
    await click('tell');
    await browser.until(`document.getElementById('story-print').textContent === ''`);
    assert.ok((await good('story-print', 600)).includes(story.fingerprint));
  }
  assert.equal(await text('story'), story.prompt + story.text);
  const rate = await text('rate');
  assert.match(rate, gpu ? /^[\d,.]+ tokens\/s, .*swiftshader.*, numerics: portable$/i
      : /^[\d,.]+ tokens\/s, WebAssembly$/);
  return rate;
}

async function learns() {
  await click('train');
  assert.ok((await good('train-print', 300)).includes(training.digest));
  assert.match(await text('train-figures'), /^step 1,500, loss 0\.00/);
  const inked = (id) =>
    browser.evaluate(
      `document.getElementById('${id}').getContext('2d')` +
      `.getImageData(0, 0, 150, 150).data.some((v) => v > 0)`);
  assert.ok((await inked('curve')) && (await inked('map')));
}

/** The numerics table: its figures. */
async function verifies() {
  await click('verify');
  await good('verify-print', 900);
  const verified = await text('verify-figures');
  assert.match(verified, gpu ? /^\d+ of \d+ rows .*swiftshader.*, numerics: portable$/i
      : /^\d+ rows in .*, WebAssembly$/);
  // Each row has a hash or says why it has none; on a GPU those of f64, which WGSL lacks, and those
  // that the host computes.
  const rows = (await text('rows')).split('\n'),
    refused = rows.filter((row) => row.startsWith(' '));
  assert.ok(refused.every((row) => /\(class D\)|it is the host's work/.test(row)),
      refused.join('\n'));
  if (gpu) assert.deepEqual(verified.match(/\d+/g).slice(0, 2).map(Number),
      [rows.length - refused.length, rows.length]);
  else assert.equal(refused.length, 0);
  return verified;
}

async function threads() {
  // All of this ran on kernels in relaxed SIMD.
  assert.ok(
    await browser.evaluate(
      `import('/welvet/src/runtime/relaxed.js').then(({ relaxedHere }) => relaxedHere())`));
  // Threads in a browser: the same bits.
  const threaded = await browser.evaluate(`(async () => {
    const { createWorker } = await import('/welvet/src/index.js');
    const loom = await createWorker({ threads: 2 });
    const model = await loom.Transformer.loadModel('embedded');
    const { fingerprint } = await model.generateText(
      ${JSON.stringify(story.prompt)}, ${JSON.stringify(story.options)});
    const { threads } = await model.stats;
    loom.terminate();
    return { fingerprint, threads };
  })()`);
  assert.deepEqual(threaded, { fingerprint: story.fingerprint, threads: 2 });
}

async function aborts() {
  // A text in a worker is aborted at once, and the next one is whole.
  const aborted = await browser.evaluate(`(async () => {
    const { createWorker } = await import('/welvet/src/index.js');
    const loom = await createWorker();
    const model = await loom.Transformer.loadModel('embedded'), stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    const error = await model.generateText('Once',
      { maxTokens: 0, ignoreEos: true, signal: stop.signal }).catch((e) => e);
    const { fingerprint } = await model.generateText(
      ${JSON.stringify(story.prompt)}, ${JSON.stringify(story.options)});
    loom.terminate();
    return { name: error.name, own: error === stop.signal.reason, fingerprint };
  })()`);
  assert.deepEqual(aborted, { name: 'AbortError', own: true, fingerprint: story.fingerprint });
}

async function stops() {
  // Another seed has no golden fingerprint, and a text can be stopped.
  await browser.evaluate(
    `document.getElementById('seed').value = 4; document.getElementById('tell').click()`);
  await browser.until(
    `document.getElementById('story-print').className === 'print' && ` +
    `document.getElementById('story-print').textContent.length === 64`);
}

async function main() {
  await browser.goto(server.url);
  const rate = await tells();
  if (rate === null) return 77;
  await learns();
  // These compute on the CPU in the page's own thread, whatever the device.
  if (!gpu) {
    const page = { browser, text, click, good };
    await ticks(page);
    await evolves(page, evolution);
    await follows(page);
  }
  const verified = await verifies();
  if (!gpu) for (const one of [threads, aborts, stops]) await one();
  await browser.resize(400, 800); // a phone's width
  assert.ok(await browser.evaluate('document.documentElement.scrollWidth <= innerWidth'),
      'wider than the window');
  await browser.resize(900, 1300);
  if (screenshot) await browser.screenshot(screenshot);
  // so Chromium says where there is no GPU
  assert.deepEqual(browser.log.filter((line) => line !== 'No available adapters.'), []);
  console.log(
    `the page in Chromium: story, training${gpu ? '' : ', evolution'} and numerics table have ` +
    `the golden fingerprints; ` +
    `${rate}; ${verified}`);
  return 0;
}

try {
  process.exitCode = await main();
} finally {
  await browser.close();
  server.close();
}
