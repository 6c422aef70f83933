// Sees to it that dist/ has the module and the embedded model: what npm runs before it packs or installs the folder. In Loom's tree they are
// built where CMake and clang-19 for wasm32 are; a package that has both already is left as it is. LOOM_NO_BUILD: never built.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('..', import.meta.url));
const root = fileURLToPath(new URL('../../..', import.meta.url));
const runs = (command) => !spawnSync(command, ['--version']).error;
const exists = (path) => fs.existsSync(path);

const needs = { // Debian's package: whether it is there
  cmake: () => runs('cmake'),
  'ninja-build': () => runs('ninja'),
  'clang-19': () => runs('clang++-19'),
  'lld-19': () => runs('wasm-ld-19'),
  'wasi-libc': () => exists('/usr/include/wasm32-wasi/stdlib.h'),
  'libc++-19-dev-wasm32': () => exists('/usr/lib/llvm-19/include/wasm32-wasi/c++/v1/vector'),
};

function fail(...words) {
  console.error(...words);
  process.exit(1);
}

const complete = ['loom.wasm', 'loom_threads.wasm', 'embedded.entity'].every((name) => exists(`${here}/dist/${name}`));
const missing = Object.keys(needs).filter((name) => !needs[name]());
if (exists(`${root}/CMakePresets.json`) && missing.length === 0 && !process.env.LOOM_NO_BUILD) {
  for (const args of [['--preset', 'wasm'], ['--build', 'build/wasm', '--target', 'loom_wasm', 'loom_wasm_threads', '-j', process.env.LOOM_JOBS ?? '2']]) {
    const { status, stdout, stderr } = spawnSync('cmake', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
    if (status !== 0) fail(`${(stdout + stderr).slice(-4000)}\nthe WebAssembly module could not be built: cmake ${args.join(' ')}`);
  }
} else if (!complete) {
  if (!exists(`${root}/CMakePresets.json`)) fail("dist/ lacks the WebAssembly module, and this is not Loom's source tree, where it could be built");
  if (missing.length === 0) fail('dist/ lacks the WebAssembly module, and LOOM_NO_BUILD forbids building it');
  fail(`dist/ lacks the WebAssembly module; building it takes what is not here (Debian, Ubuntu): apt-get install ${missing.join(' ')}`);
}
