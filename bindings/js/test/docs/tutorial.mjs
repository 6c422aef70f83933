// node test/docs/tutorial.mjs [SCREENSHOT]: the page of docs/tutorial.md, beside what ./dev page
// puts there, in headless Chromium: it learns, and ends with the digest that the tutorial's Python
// has. Ends with 77 where something is missing, which the last line names.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Browser, findChromium } from '../chromium.mjs';

const at = (name) => fileURLToPath(new URL(`../../../../${name}`, import.meta.url));
const program = findChromium();
if (!program) {
  console.log('needs Chromium');
  process.exit(77);
}
const tutorial = fs.readFileSync(at('docs/tutorial.md'), 'utf8');
const page = tutorial.match(/^```html\n(<!doctype html>.*?)^```/ms)[1];
const digest = tutorial.match(/digest\(\) == "(\w{64})"/)[1];

// As any static server does it: no headers but the type.
const types = { '.js': 'text/javascript', '.wasm': 'application/wasm' };
const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://here');
  if (pathname === '/disc.html')
    return response.writeHead(200, { 'content-type': 'text/html' }).end(page);
  const file = pathname.startsWith('/welvet/') ? at(`bindings/js/${pathname.slice(8)}`)
    : at(`examples/browser${pathname}`);
  if (!fs.existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200,
      { 'content-type': types[path.extname(file)] ?? 'application/octet-stream' });
  return fs.createReadStream(file).pipe(response);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const browser = await Browser.start(program, '--window-size=400,700'); // a phone's width
try {
  await browser.goto(`http://127.0.0.1:${server.address().port}/disc.html`);
  await browser.until(
    `document.readyState === 'complete' && !document.getElementById('train').disabled`);
  await browser.evaluate(`document.getElementById('train').click()`);
  const found = await browser.until(`document.getElementById('digest').textContent`, 300);
  assert.equal(found, digest);
  assert.match(await browser.evaluate(`document.getElementById('loss').textContent`),
      /^step 1500, loss 0\.00/);
  assert.ok(await browser.evaluate('document.documentElement.scrollWidth <= innerWidth'),
      'wider than the window');
  assert.deepEqual(browser.log, []);
  if (process.argv[2]) await browser.screenshot(process.argv[2]);
  console.log(`the tutorial's page has learned in Chromium what its Python learns: ${digest}`);
} finally {
  await browser.close();
  server.close();
  server.closeAllConnections();
}
