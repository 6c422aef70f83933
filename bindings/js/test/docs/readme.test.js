// Every JavaScript example of README.md, of the project's README.md and of docs runs.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'node:test';

const here = fileURLToPath(new URL('../..', import.meta.url));
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const markdown = (folder) =>
  fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith('.md'))
    .map((name) => folder + name) : [];
const documents = [`${here}README.md`];
if (fs.existsSync(`${root}CMakePresets.json`)) {
  // In Loom's tree; a package alone has its README.md only.
  documents.push(`${root}README.md`, ...markdown(`${root}docs/`),
      ...markdown(`${root}docs/guide/`), ...markdown(`${root}docs/inside/`));
}
const blocks = documents.flatMap((file) =>
  [...fs.readFileSync(file, 'utf8').matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) =>
      [file.slice(root.length), code]));

test('there are examples', () => assert.ok(blocks.length >= 4));
for (const [i, [file, code]] of blocks.entries()) {
  test(`example ${i + 1}, of ${file}`, () => {
    // In this folder the package's own name is known.
    const { status, stdout, stderr } =
      spawnSync(process.execPath, ['--input-type=module', '--eval', code],
          { cwd: here, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    assert.ok(stdout.trim().length > 0, 'it prints nothing');
    // A document that shows a digest on a line of its own: each of its programs prints it.
    const digest = fs.readFileSync(root + file, 'utf8').match(/^ {4}([0-9a-f]{64})$/m)?.[1];
    if (digest) assert.ok(stdout.split(/\s/).includes(digest), stdout);
  });
}
