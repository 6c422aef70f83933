// node test/cases/chromium.mjs: runs tests/cases in a page of headless Chromium. Ends with 77
// without Chromium.
import fs from 'node:fs';
import { Browser, findChromium, serve } from '../chromium.mjs';

const program = findChromium();
if (!program) {
  console.log('needs Chromium');
  process.exit(77);
}
const folder = new URL('../../../../tests/cases/', import.meta.url);
const names = fs.readdirSync(folder).filter((name) => name.endsWith('.json')).sort();

// Runs in the page.
async function runThere(names) {
  const [{ instantiate }, { bringEmbedded }, { runCases }] = await Promise.all(
    ['src/runtime/module.js', 'src/runtime/runtime.js',
        'test/cases/runner.js'].map((name) => import(`/welvet/${name}`)));
  const library = await instantiate();
  await bringEmbedded(library);
  const files =
    await Promise.all(
      names.map(async (file) => ({ file, ...(await (await fetch(`/cases/${file}`)).json()) })));
  const host = { has: new Set(['embedded']),
    file: async (name) =>
      new Uint8Array(await (await fetch(`/cases/data/${name}`)).arrayBuffer()) };
  const results = [];
  for await (const result of runCases(files, library, host)) results.push(result);
  return results;
}

const server = await serve();
const browser = await Browser.start(program);
try {
  await browser.goto(`${server.url}cases/${names[0]}`); // any page of this origin
  await browser.until(
    `location.origin + '/' === '${server.url}' && document.readyState === 'complete'`);
  const results = await browser.evaluate(`(${runThere})(${JSON.stringify(names)})`);
  const skipped = results.filter(({ result }) => result.startsWith('skipped')),
    failed = results.filter((r) => r.result !== '' && !skipped.includes(r));
  for (const { file, name, result } of failed) console.log(`chromium: ${file}: ${name}: ${result}`);
  const passed = results.length - skipped.length - failed.length;
  console.log(`chromium ${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
  process.exitCode = failed.length > 0 || passed === 0 ? 1 : 0;
} finally {
  await browser.close();
  server.close();
}
