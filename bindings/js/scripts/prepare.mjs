// Sees to it that dist/ has the module and the embedded model: what npm runs before it packs or installs the folder. In Loom's tree they are
// built where CMake and clang-19 for wasm32 are; a package that has both already is left as it is. LOOM_NO_BUILD: never built.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('..', import.meta.url));
const root = fileURLToPath(new URL('../../..', import.meta.url));
const present = (command) => !spawnSync(command, ['--version']).error;
const complete = () => ['loom.wasm', 'loom_relaxed.wasm', 'loom_threads.wasm', 'loom_threads_relaxed.wasm', 'embedded.entity'].every((name) => fs.existsSync(`${here}/dist/${name}`));

const tools = ['cmake', 'ninja', 'clang++-19', 'wasm-ld-19'].every(present) && fs.existsSync('/usr/include/wasm32-wasi/stdlib.h');
if (fs.existsSync(`${root}/CMakePresets.json`) && tools && !process.env.LOOM_NO_BUILD) {
  for (const args of [['--preset', 'wasm'], ['--build', 'build/wasm', '--target', 'loom_modules', '-j', process.env.LOOM_JOBS ?? '2']]) {
    const { status } = spawnSync('cmake', args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) {
      console.error(`the WebAssembly module could not be built: cmake ${args.join(' ')}`);
      process.exit(1);
    }
  }
}
if (!complete()) {
  console.error('dist/ lacks the WebAssembly module, and it cannot be built here: that takes cmake, ninja-build, clang-19, lld-19, wasi-libc and libc++-19-dev-wasm32');
  process.exit(1);
}
