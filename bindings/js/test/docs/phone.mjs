// node test/docs/phone.mjs PYTHON [SCREENSHOT]: docs/guide/from-pytorch-to-a-phone.md as it is
// written. PYTHON has PyTorch, scikit-learn and the package welvet. The page in headless Chromium
// answers and learns with the bits that Python prints, can be installed, and goes on without its
// server. Ends with 77 where something is missing, which the last line names.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Browser, findChromium } from '../chromium.mjs';

const at = (name) => fileURLToPath(new URL(`../../../../${name}`, import.meta.url));
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm',
  '.json': 'application/json', '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json' };
const guide = fs.readFileSync(at('docs/guide/from-pytorch-to-a-phone.md'), 'utf8');
const [python, screenshot] = process.argv.slice(2);
const program = findChromium();
if (!program || !python) {
  console.log(program ? 'needs PYTHON' : 'needs Chromium');
  process.exit(77);
}

/** The guide's files and what its Python makes, in a folder; what that prints. */
function prepare(folder) {
  for (const [, title, text] of guide.matchAll(/^```\w+ title="([\w.]+)"\n(.*?)^```/gms))
    fs.writeFileSync(path.join(folder, title), text);
  const code = [...guide.matchAll(/^```python\n(.*?)^```/gms)].map(([, text]) => text).join('\n');
  const { status, stdout, stderr } = spawnSync(python, ['-c', code],
      { cwd: folder, encoding: 'utf8', timeout: 300_000 });
  assert.equal(status, 0, stderr);
  return stdout;
}

/** Any static server: no headers but the type. */
async function serve(folder) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://here');
    const file = pathname.startsWith('/welvet/') ? at(`bindings/js/${pathname.slice(8)}`)
      : path.join(folder, pathname);
    if (!fs.existsSync(file) || !fs.statSync(file).isFile()) return response.writeHead(404).end();
    response.writeHead(200,
        { 'content-type': TYPES[path.extname(file)] ?? 'application/octet-stream' });
    return fs.createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => {
    server.close();
    server.closeAllConnections();
  } };
}

async function follow(browser, folder) {
  const printed = prepare(folder);
  const [answers, learned] =
    [/^answers \w{64}$/m, /^learned \w{64}$/m].map((line) => printed.match(line)[0]);
  const server = await serve(folder);
  const ready = `document.readyState === 'complete' && !document.getElementById('check').disabled`;
  const shows = async (button, place, text) => {
    await browser.evaluate(`document.getElementById('${button}').click()`);
    assert.equal(await browser.until(`document.getElementById('${place}').textContent`, 120), text);
  };
  try {
    await browser.goto(`${server.url}/digits.html`);
    await browser.until(ready);
    await shows('check', 'answers', answers);
    await shows('practice', 'learned', learned);
    assert.deepEqual((await browser.send('Page.getInstallabilityErrors')).installabilityErrors, []);
    assert.ok(await browser.evaluate('document.documentElement.scrollWidth <= innerWidth'));
    await draws(browser);
    if (screenshot) await browser.screenshot(screenshot);
    assert.deepEqual(browser.log, []);
  } finally {
    server.stop();
  }
  // In flight mode: the page, its module and what was learned come from the phone.
  await browser.evaluate('globalThis.before = true');
  await browser.goto(`${server.url}/digits.html`);
  await browser.until(`!globalThis.before && ${ready}`);
  await shows('check', 'answers', answers);
  await shows('practice', 'learned', learned);
  return `${printed.match(/^sideways .*$/m)[0]}; ${answers}; ${learned}`;
}

/** A stroke of the pen, which is read, and a correction, which is learned and kept. */
async function draws(browser) {
  const { x, y, width } = await browser.evaluate(
    `(({ x, y, width }) => ({ x, y, width }))` +
    `(document.getElementById('field').getBoundingClientRect())`);
  const mouse = (type, part) => browser.send('Input.dispatchMouseEvent',
      { type, x: x + width / 2, y: y + part * width, button: 'left', buttons: 1, clickCount: 1 });
  await mouse('mousePressed', 0.15);
  for (let part = 0.15; part < 0.86; part += 0.03) await mouse('mouseMoved', part);
  await mouse('mouseReleased', 0.86);
  const read = `document.getElementById('answer').textContent`;
  const [, digit] = (await browser.evaluate(read)).match(/^I read (\d)$/);
  const other = (Number(digit) + 1) % 10;
  await browser.evaluate(`document.querySelectorAll('#digits button')[${other}].click()`);
  await browser.until(`${read} === 'I read ${other}'`, 30);
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'loom-phone-'));
const browser = await Browser.start(program, '--window-size=400,800'); // a phone's width
try {
  console.log(await follow(browser, folder));
} finally {
  await browser.close();
  fs.rmSync(folder, { recursive: true, force: true });
}
