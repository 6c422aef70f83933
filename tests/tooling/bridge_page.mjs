// node tests/tooling/bridge_page.mjs PROGRAM [SCREENSHOTS]: the page of `loom bridge` in headless
// Chromium. It asks for the token; a network that is pushed while it is open appears, with a
// comparison that names the first layer which differs, and files are taken and compared; the
// console stays empty, and the page is never wider than its window. Ends with 77 where Chromium is
// missing.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Browser, findChromium } from '../../bindings/js/test/chromium.mjs';

const [program, screenshots] = process.argv.slice(2);
const chromium = findChromium();
if (!chromium) {
  console.log('needs Chromium');
  process.exit(77);
}
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'loom-bridge-page-'));
const server = spawn(program, ['bridge', '--port', '0', '--models', folder],
  { stdio: ['ignore', 'pipe', 'ignore'] });
const [host] = await new Promise((resolve) =>
  createInterface(server.stdout).once('line', (line) => resolve([line.trim()])));
const token = fs.readFileSync(path.join(folder, '.bridge', 'token'), 'utf8').trim();

async function ask(method, route, body, headers = {}) {
  const raw = body instanceof Uint8Array;
  const response = await fetch(host + route, {
    method, headers: { authorization: `Bearer ${token}`, ...headers },
    body: raw || body === undefined ? body : JSON.stringify(body),
  });
  const text = await response.text();
  assert.ok(response.ok, `${route}: ${text}`);
  return raw || !text.startsWith('{') ? text : JSON.parse(text);
}

async function push(name, values) {
  const bytes = new Uint8Array(Float32Array.from(values).buffer);
  const begun = await ask('POST', '/api/v1/loom/stream/begin', {
    version: 1, name, nonce: name,
    topology: { format: 'loom-topology', version: 3, layers_per_cell: 2, input: { width: 2 },
      cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 2, bias: false },
        { at: [0, 0, 0, 1], type: 'dense', out: 1, bias: false }] },
    tensors: [{ parameter: '0.0.0.0:weight', dtype: 'f32', shape: [2, 2] },
      { parameter: '0.0.0.1:weight', dtype: 'f32', shape: [1, 2] }],
  });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await ask('PUT', `/api/v1/loom/stream/chunk?session=${begun.session}&offset=0`, bytes,
    { 'x-loom-sha256': sha256 });
  await ask('POST', '/api/v1/loom/stream/finish', { session: begun.session });
}

const shown = `document.getElementById('all').hidden === false`;
const browser = await Browser.start(chromium);
try {
  await browser.goto(host);
  await browser.until(`document.getElementById('ask')?.hidden === false`);
  await browser.evaluate(`(() => {
    document.getElementById('token').value = ${JSON.stringify(token)};
    document.getElementById('ask').requestSubmit();
  })()`);
  await browser.until(shown);
  browser.log.length = 0; // of the request without a token
  assert.match(await browser.evaluate(`document.getElementById('networks').textContent`), /None/);

  await push('pair', [1, 0, 0, 1, 1, 1]);
  await browser.until(`document.getElementById('networks').textContent.includes('pair')`);
  await ask('POST', '/api/v1/loom/compare', { name: 'pair', inputs: [[1, 2]], outputs: [[3.5]],
    layers: { '0.0.0.0': [[1, 2]], '0.0.0.1': [[3.5]] } });
  await browser.until(
    `document.getElementById('comparisons').textContent.includes('differs is 0.0.0.1')`);
  const labels = await browser.evaluate(
    `[...document.querySelectorAll('#comparisons span')].map((s) => s.textContent)`);
  assert.ok(labels.includes('DIFF') && labels.includes('EXACT'), labels.join());

  await push('other', [1, 0, 0, 1, 1, 2]);
  for (const name of ['pair', 'other']) {
    const file = fs.readFileSync(path.join(folder, `${name}.entity`)).toString('base64');
    await browser.evaluate(`send([new File(
      [Uint8Array.from(atob('${file}'), (c) => c.charCodeAt(0))], '${name}.entity')])`);
  }
  await browser.until(
    `document.getElementById('files').textContent.includes('1 tensor is the same; first ' +
      'difference: 0.0.0.1:weight has other bytes')`);
  await browser.evaluate(`send([new File(['no network'], 'none.onnx')])`);
  await browser.until(
    `document.getElementById('state').textContent.startsWith('none.onnx: is no ')`);
  browser.log = browser.log.filter((line) => !/status of 4\d\d/.test(line)); // of that file

  for (const width of [1280, 390]) {
    await browser.resize(width, 800);
    const scroll = await browser.evaluate('document.documentElement.scrollWidth');
    assert.ok(scroll <= width, `the page is ${scroll} wide at ${width}`);
    if (screenshots) await browser.screenshot(path.join(screenshots, `bridge-${width}.png`));
  }
  assert.deepEqual(browser.log, []);
  console.log(`networks, comparisons by layer and files: ${labels.join(' ')}`);
} finally {
  await browser.close();
  server.kill();
  fs.rmSync(folder, { recursive: true, force: true });
}
