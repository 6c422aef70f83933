// Puts the module and the embedded model into dist/: what npm runs before it packs or installs the folder. Inside Loom's tree the module is
// built where CMake and clang-19 for wasm32 are; a package that has both files already is left as it is.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('..', import.meta.url));
const root = fileURLToPath(new URL('../../..', import.meta.url));
const built = `${root}/build/wasm/bindings/js/loom.wasm`;
const inTree = fs.existsSync(`${root}/CMakePresets.json`);

function run(command, ...args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  return !error && status === 0;
}
const present = (command) => !spawnSync(command, ['--version']).error;
const canBuild = present('cmake') && present('ninja') && present('clang++-19') && present('wasm-ld-19') && fs.existsSync('/usr/include/wasm32-wasi/c++/v1/vector');

fs.mkdirSync(`${here}/dist`, { recursive: true });
if (inTree && canBuild && process.env.LOOM_NO_BUILD === undefined) {
  if (!run('cmake', '--preset', 'wasm') || !run('cmake', '--build', 'build/wasm', '--target', 'loom_wasm', '-j', process.env.LOOM_JOBS ?? '2')) {
    console.error('the WebAssembly module could not be built: see above');
    process.exit(1);
  }
}
const copy = (from, to) => fs.existsSync(from) && (!fs.existsSync(to) || !fs.readFileSync(from).equals(fs.readFileSync(to))) && fs.copyFileSync(from, to);
copy(built, `${here}/dist/loom.wasm`);
copy(`${root}/models/embedded.entity`, `${here}/dist/embedded.entity`);
for (const name of ['loom.wasm', 'embedded.entity']) {
  if (fs.existsSync(`${here}/dist/${name}`)) continue;
  console.error(`dist/${name} is not there and cannot be made: it takes cmake, ninja-build, clang-19, lld-19, wasi-libc and libc++-19-dev-wasm32`);
  process.exit(1);
}
