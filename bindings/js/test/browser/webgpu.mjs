// node test/browser/webgpu.mjs: devices of the package in headless Chromium, on SwiftShader: turns
// of calls, errors, a device that is lost. Ends with 77 where something is missing, which the last
// line names.
import { Browser, WEBGPU, findChromium, serve } from '../chromium.mjs';

const program = findChromium();
if (!program) {
  console.log('needs Chromium');
  process.exit(77);
}

const server = await serve();
const browser = await Browser.start(program, ...WEBGPU);
try {
  await browser.goto(`${server.url}golden.json`); // any page of this origin
  await browser.until(
    `location.origin + '/' === '${server.url}' && document.readyState === 'complete'`);
  const { missing, held } = await browser.evaluate(
    `import('/welvet/test/browser/webgpu_checks.js').then(({ runThere }) => runThere())`);
  for (const name of held ?? []) console.log(`ok  ${name}`);
  console.log(missing ?? `webgpu in Chromium: ${held.length} checks`);
  process.exitCode = missing ? 77 : 0;
} finally {
  await browser.close();
  server.close();
}
