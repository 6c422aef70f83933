// node test/cases/node.mjs [FOLDER]: runs tests/cases in Node, and says how many passed.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { instantiate } from '../../src/runtime/module.js';
import { bringEmbedded } from '../../src/runtime/runtime.js';
import { runCases, uncalled } from './runner.js';

const folder =
  process.argv[2] ?? fileURLToPath(new URL('../../../../tests/cases', import.meta.url));
const files = fs.readdirSync(folder).filter((name) => name.endsWith('.json')).sort()
  .map((name) => ({ file: name, ...JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) }));

const library = await instantiate();
await bringEmbedded(library);
const host = {
  has: new Set(['files', 'embedded']),
  file: (name) => new Uint8Array(fs.readFileSync(path.join(folder, 'data', name))),
  folder: () => fs.mkdtempSync(path.join(os.tmpdir(), 'loom-case-')),
  remove: (made) => fs.rmSync(made, { recursive: true }),
};

let passed = 0, failed = 0, skipped = 0;
for await (const { file, name, result } of runCases(files, library, host)) {
  if (result === '') ++passed;
  else if (result.startsWith('skipped')) ++skipped;
  else {
    ++failed;
    console.log(`node: ${file}: ${name}: ${result}`);
  }
}
const missing = files.length > 0 ? uncalled(files) : [];
if (missing.length > 0) console.log(`node: no case calls ${missing.join(', ')}`);
console.log(`node ${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
