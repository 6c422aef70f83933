// Runs a WASI program: node --no-warnings tools/wasi_run.mjs PROGRAM [ARGUMENT...]. It sees no
// files and no environment.
import { readFile } from 'node:fs/promises';
import { argv } from 'node:process';
import { WASI } from 'node:wasi';

const wasi = new WASI({ version: 'preview1', args: argv.slice(2), returnOnExit: true });
const { instance } = await WebAssembly.instantiate(await readFile(argv[2]), wasi.getImportObject());
process.exitCode = wasi.start(instance);
