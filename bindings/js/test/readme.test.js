// Every JavaScript example of README.md runs.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'node:test';

const here = fileURLToPath(new URL('..', import.meta.url));
const blocks = [...fs.readFileSync(`${here}/README.md`, 'utf8').matchAll(/^```js\n(.*?)^```/gms)];

test('there are examples', () => assert.ok(blocks.length >= 4));
for (const [i, [, code]] of blocks.entries()) {
  test(`example ${i + 1}`, () => {
    // In this folder the package's own name is known.
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { cwd: here, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    assert.ok(stdout.length > 20);
  });
}
