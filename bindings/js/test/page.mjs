// node test/page.mjs [SCREENSHOT]: opens the page of examples/browser in headless Chromium, and looks at what it says. Ends with 77 without Chromium.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { Browser, findChromium, serve } from './chromium.mjs';

const program = findChromium();
if (!program) {
  console.log('needs Chromium');
  process.exit(77);
}
const { story, training } = JSON.parse(fs.readFileSync(new URL('../../../examples/browser/golden.json', import.meta.url)));
const server = await serve();
const browser = await Browser.start(program, '--window-size=900,1300');
const text = (id) => browser.evaluate(`document.getElementById('${id}').textContent`);
const good = (id, seconds) => browser.until(`document.getElementById('${id}').className === 'print good' && document.getElementById('${id}').textContent`, seconds);
try {
  await browser.goto(server.url);
  assert.ok((await good('story-print')).includes(story.fingerprint));
  assert.equal(await text('story'), story.prompt + story.text);
  assert.match(await text('rate'), /^[\d,]+ tokens\/s$/);
  const rate = await text('rate');

  await browser.evaluate(`document.getElementById('train').click()`);
  assert.ok((await good('train-print')).includes(training.digest));
  assert.match(await text('train-figures'), /^step 1,500, loss 0\.00/);
  const inked = (id) => browser.evaluate(`document.getElementById('${id}').getContext('2d').getImageData(0, 0, 150, 150).data.some((v) => v > 0)`);
  assert.ok((await inked('curve')) && (await inked('map')));

  await browser.evaluate(`document.getElementById('verify').click()`);
  await good('verify-print');

  // Threads in a browser: the same bits.
  const threaded = await browser.evaluate(`(async () => {
    const { createWorker } = await import('/welvet/src/index.js');
    const loom = await createWorker({ threads: 2 });
    const model = await loom.Transformer.loadModel('embedded');
    const { fingerprint } = await model.generateText(${JSON.stringify(story.prompt)}, ${JSON.stringify(story.options)});
    const { threads } = await model.stats;
    loom.terminate();
    return { fingerprint, threads };
  })()`);
  assert.deepEqual(threaded, { fingerprint: story.fingerprint, threads: 2 });

  // Another seed has no golden fingerprint, and a text can be stopped.
  await browser.evaluate(`document.getElementById('seed').value = 4; document.getElementById('tell').click()`);
  await browser.until(`document.getElementById('story-print').className === 'print' && document.getElementById('story-print').textContent.length === 64`);
  if (process.argv[2]) await browser.screenshot(process.argv[2]);
  assert.deepEqual(browser.log, []);
  console.log(`the page in Chromium: story, training and numerics table have the golden fingerprints, ${rate}`);
} finally {
  await browser.close();
  server.close();
}
