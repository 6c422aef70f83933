// node tests/tooling/site.mjs SITE [SCREENSHOTS]: every page of the site that ./dev docs makes, in
// headless Chromium: none is wider than its window, at a desk's width and at a phone's; pictures
// are there; the console stays empty; nothing comes from another host. Index, architecture and
// tutorial show what they are for, and the search finds a page. Ends with 77 where Chromium is
// missing.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { Browser, findChromium } from '../../bindings/js/test/chromium.mjs';

const [site, screenshots] = process.argv.slice(2);
const program = findChromium();
if (!program) {
  console.log('needs Chromium');
  process.exit(77);
}
const types = {
  '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml',
  '.json': 'application/json', '.png': 'image/png',
};
const server = createServer((request, response) => {
  const file = path.join(site, decodeURIComponent(new URL(request.url, 'http://here').pathname));
  if (!fs.existsSync(file) || fs.statSync(file).isDirectory()) return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': types[path.extname(file)] ?? 'text/plain' });
  return fs.createReadStream(file).pipe(response);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const host = `http://127.0.0.1:${server.address().port}`;

// What a page must show: an expression that holds in it.
const SHOWN = {
  'index.html': `document.querySelectorAll('.md-content a').length > 20`,
  'architecture.html': `document.querySelectorAll('.md-content img').length === 2`,
  'tutorial.html': `document.querySelectorAll('.md-content .highlight span[class]').length > 50`,
};
const pages = fs.readdirSync(site, { recursive: true })
  .filter((name) => name.endsWith('.html') && name !== '404.html').sort();
for (const name of Object.keys(SHOWN)) assert.ok(pages.includes(name), `${name} is missing`);

const wide = `[...document.querySelectorAll('.md-content *')].filter((e) => {
    for (let up = e; up; up = up.parentElement)
      if (up !== document.documentElement && getComputedStyle(up).overflowX !== 'visible')
        return false;
    return e.getBoundingClientRect().right > innerWidth;
  }).slice(0, 3).map((e) => e.outerHTML.slice(0, 120)).join(' / ')`;

async function look(browser, name, width) {
  const what = `${name} at ${width}`;
  await browser.goto(`${host}/${name}`);
  await browser.until(`location.pathname === '/${name}' && document.readyState === 'complete'`);
  await browser.evaluate(`Promise.all([...document.images].map((i) => {
    i.loading = 'eager';
    return i.decode().catch(() => {});
  }))`);
  const seen = await browser.evaluate(`({
    scroll: document.documentElement.scrollWidth, inner: innerWidth,
    wide: ${wide},
    broken: [...document.images].filter((i) => i.naturalWidth === 0).map((i) => i.src),
    others: performance.getEntriesByType('resource').map((r) => r.name)
      .filter((url) => !['${host}/', 'data:', 'blob:'].some((one) => url.startsWith(one))),
    heading: document.querySelectorAll('.md-content h1').length })`);
  assert.equal(seen.inner, width, what);
  assert.ok(seen.scroll <= seen.inner, `${what} is ${seen.scroll} wide: ${seen.wide}`);
  assert.deepEqual(seen.broken, [], `${what}: pictures that are not there`);
  assert.deepEqual(seen.others, [], `${what}: from other hosts`);
  assert.equal(seen.heading, 1, `${what}: headings of the first rank`);
  if (SHOWN[name]) assert.ok(await browser.evaluate(SHOWN[name]), `${what}: ${SHOWN[name]}`);
  assert.deepEqual(browser.log, [], what);
  if (screenshots && SHOWN[name]) {
    await browser.screenshot(path.join(screenshots, `${name.replace('.html', '')}-${width}.png`));
  }
}

const browser = await Browser.start(program);
try {
  for (const width of [1280, 390]) {
    await browser.resize(width, 800);
    for (const name of pages) await look(browser, name, width);
  }
  await browser.resize(1280, 800);
  await browser.goto(`${host}/index.html`);
  await browser.until(
    `document.readyState === 'complete' && document.querySelector('.md-search__input')`);
  await browser.evaluate(`(() => {
    const input = document.querySelector('.md-search__input');
    input.focus();
    input.value = 'safetensors';
    input.dispatchEvent(new Event('input', { bubbles: true }));
    input.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true }));
  })()`);
  const found = await browser.until(`document.querySelector('.md-search-result__link')?.href`);
  assert.ok(found.startsWith(host), found);
  assert.deepEqual(browser.log, []);
  console.log(
    `${pages.length} pages at 1280 and 390 pixels; the search finds ${new URL(found).pathname}`);
} finally {
  await browser.close();
  server.close();
  server.closeAllConnections();
}
