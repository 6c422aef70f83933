// Of test/browser/page.mjs: the parts of the page that compute in slices, in the page's own thread.
import assert from 'node:assert/strict';
import fs from 'node:fs';

const set = ({ browser }, id, value) => browser.evaluate(`{
  const input = document.getElementById('${id}');
  input.value = '${value}';
  input.dispatchEvent(new Event('change'));
}`);
const saying = ({ browser }, id, pattern, seconds) =>
  browser.until(`${pattern}.test(document.getElementById('${id}').textContent) && ` +
    `document.getElementById('${id}').textContent`, seconds);
const pause = (ms) => new Promise((go) => setTimeout(go, ms));
const inked = ({ browser }, id) => browser.evaluate(`(() => {
  const canvas = document.getElementById('${id}');
  return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data
    .some((v) => v > 0);
})()`);

const name = (i) => `(${i >> 3}, ${(i >> 2) & 1}, ${i & 3})`;

/** What the page says of the mesh `tick` ticks after a 1 has come in: each cell has the value that
 *  the one before had; the first cell has that of the eighth, times `back`. */
function wordsAt(tick, back) {
  let values = Array(16).fill(0);
  for (let t = 1; t <= tick; t++)
    values = values.map((_, i) =>
      (i > 0 ? values[i - 1] : Math.fround((t === 1 ? 1 : 0) + back * values[7]) + 0));
  const cells = values.flatMap((v, i) =>
    (v === 0 ? [] : [`${name(i)} = ${Number(v.toPrecision(9))}`]));
  return `Output ${Number(values[15].toPrecision(9))}. ` +
    (cells.length ? `Not 0: ${cells.join(', ')}.` : 'All cells are 0.');
}

async function step(page, tick) {
  await page.click('mesh-step');
  await saying(page, 'mesh-tick', `/^tick ${tick}$/`);
}

/** It runs, pauses exactly, and continues. */
async function runsAndPauses(page) {
  await page.click('mesh-run');
  await saying(page, 'mesh-tick', '/^tick (2[89]|[3-9]\\d)$/');
  assert.equal(await page.text('mesh-run'), 'Pause');
  await page.click('mesh-run');
  const at = await page.text('mesh-tick');
  await pause(300); // more than three ticks
  assert.equal(await page.text('mesh-tick'), at);
  assert.equal(await page.text('mesh-run'), 'Run');
  assert.equal(await page.text('mesh-words'), wordsAt(Number(at.slice(5)), -0.75));
  assert.ok(await inked(page, 'mesh-plot'));
}

/** A million ticks in slices, one of which ends early. */
async function manyTicks(page) {
  await page.click('mesh-reset');
  await set(page, 'mesh-weight', -1);
  await page.click('mesh-pulse');
  await step(page, 1);
  await set(page, 'mesh-weight', 2);
  assert.equal(await page.text('mesh-note'), 'The weight is a number from -1 to 1.');
  await page.click('mesh-many');
  const whole = await saying(page, 'mesh-note', '/ticks in/', 120);
  const [, slices] = whole.match(/^1,000,000 ticks in (\d+) slices, .* took [\d.]+ ms\. $/);
  assert.ok(Number(slices) > 1, whole);
  assert.equal(await page.text('mesh-tick'), 'tick 1,000,001');
  // 125,000 times around, each time with the other sign.
  assert.equal(await page.text('mesh-words'),
    'Output 0. Not 0: (0, 0, 0) = 1, (1, 0, 0) = -1.');

  await page.browser.evaluate(`new Promise((go) => {
    document.getElementById('mesh-many').click();
    const after = (frames) => (frames ? requestAnimationFrame(() => after(frames - 1)) : go());
    after(2);
  }).then(() => document.getElementById('mesh-many').click())`);
  assert.match(await page.text('mesh-note'), /Stopped after a whole tick\.$/);
  const tick = Number((await page.text('mesh-tick')).replace(/\D/g, ''));
  assert.ok(tick > 1000001 && tick < 2000001, `tick ${tick}`);
  assert.equal(await page.text('mesh-words'), wordsAt(32 + (tick % 16), -1));
  await page.click('mesh-many'); // a new run, not the rest of the stopped one
  assert.match(await saying(page, 'mesh-note', '/ticks in/', 120), /^1,000,000 ticks/);
}

/** The mesh by ticks: steps, saves, restores, runs, pauses. */
export async function ticks(page) {
  const { browser, click, text } = page;
  await browser.until(`!document.getElementById('mesh-step').disabled`);
  assert.equal(await text('mesh-words'), 'Output 0. All cells are 0.');
  assert.ok(await browser.evaluate(`document.getElementById('mesh-restore').disabled`));
  await click('mesh-pulse');
  for (let tick = 1; tick <= 9; tick++) await step(page, tick);
  // The 1 has been around once: it enters again, times -0.75, and goes on to the other plate.
  const nine = 'Output 0. Not 0: (0, 0, 0) = -0.75, (1, 0, 0) = 1.';
  assert.equal(await text('mesh-words'), nine);
  assert.equal(wordsAt(9, -0.75), nine);
  await click('mesh-save');
  // docs/reference/step-mesh.md: 32 bytes, and for each cell 12 and its f32
  assert.equal(await text('mesh-note'), `Saved tick 9: ${32 + 16 * (12 + 4)} bytes.`);
  for (let tick = 10; tick <= 16; tick++) await step(page, tick);
  assert.equal(await text('mesh-words'), 'Output 1. Not 0: (0, 1, 3) = -0.75, (1, 1, 3) = 1.');
  await click('mesh-restore');
  assert.deepEqual([await text('mesh-tick'), await text('mesh-words')], ['tick 9', nine]);
  for (let tick = 10; tick <= 24; tick++) await step(page, tick);
  assert.equal(await text('mesh-words'),
    'Output -0.75. Not 0: (0, 1, 3) = 0.5625, (1, 1, 3) = -0.75.');
  assert.equal(await browser.evaluate(
    `[...document.querySelectorAll('#mesh-grid .value')].map((e) => e.textContent).join()`),
  '0,0,0,0,0,0,0,0.563,0,0,0,0,0,0,0,-0.75');
  await runsAndPauses(page);
  await manyTicks(page);
}

/** XOR evolves: the champion of each seed is that of the native library. */
export async function evolves(page, golden) {
  const { browser, click, good, text } = page;
  const cases = fs.readFileSync(new URL('../../../../tests/cases/population.json', import.meta.url),
    'utf8');
  assert.ok(cases.includes(golden.champions[1]));
  await click('evolve');
  assert.ok((await good('evolve-print')).includes(golden.champions[1]));
  assert.match(await text('evolve-figures'),
    /^generation 11, best fitness 3\.9419 of 4, mean [\d.]+, 8 species: solved$/);
  assert.match(await text('evolve-answers'), /^4 nodes, 5 edges\. 0 xor 0: 0\.\d\d, /);
  const count = (what) =>
    browser.evaluate(`document.querySelectorAll('#evolve-graph ${what}').length`);
  const structure = (await text('evolve-structure')).split('\n');
  assert.equal(structure.filter((line) => line.includes('weight')).length, 5);
  assert.equal(await count('.node'), 4);
  assert.equal(await count('.link'),
    5 - structure.filter((line) => line.endsWith('disabled')).length);
  assert.ok(await inked(page, 'evolve-plot'));

  await set(page, 'evolve-seed', 2);
  assert.equal(await text('evolve-print'), '');
  await click('evolve-step');
  assert.match(await text('evolve-figures'), /^generation 0, .* species$/);
  assert.match(await text('evolve-print'), /^\w{64}$/); // not solved: there is no golden one
  await click('evolve');
  assert.ok((await good('evolve-print')).includes(golden.champions[2]));

  await set(page, 'evolve-seed', 123);
  await click('evolve');
  await saying(page, 'evolve-figures', '/: solved$/');
  assert.equal(await browser.evaluate(`document.getElementById('evolve-print').className`),
    'print');
}

/** A network learns beside its answers, and follows an exchange that nobody tells it. */
export async function follows(page) {
  const { click, text } = page, learned = '95 % after [\\d,]+ outputs';
  await click('online-run');
  await saying(page, 'online-tasks', `/^Start: ${learned}$/`, 120);
  await click('online-flip');
  await saying(page, 'online-tasks', `/Change found from output [\\d,]+ on: ${learned}$/`, 120);
  await click('online-run');
  const figures = await text('online-figures');
  assert.match(figures, /^[\d,]+ outputs, [\d,]+ steps of learning, \d+ % of the last 50 right, /);
  // The change begins where the visitor has made it, or a few outputs beside.
  const [exchanged] = figures.match(/exchanged at output [\d,]+$/);
  const numberIn = (words) => Number(words.replace(/\D/g, ''));
  const [found] = (await text('online-tasks')).match(/output [\d,]+ on/);
  assert.ok(Math.abs(numberIn(found) - numberIn(exchanged)) < 40, `${found}, ${exchanged}`);
  await pause(200);
  assert.equal(await text('online-figures'), figures);
  assert.ok((await inked(page, 'online-plot')) && (await inked(page, 'online-map')));
}
