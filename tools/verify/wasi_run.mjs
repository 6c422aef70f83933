// Runs a WASI program: node --no-warnings tools/verify/wasi_run.mjs PROGRAM [ARGUMENT...]. It sees
// no files and no environment. The imports are those of the bindings, not node:wasi: in Node.js 20
// a collection of garbage during one of its fast calls loses objects of the calling frames, and
// about one run in fifty ended with SIGSEGV after the program's last line (nodejs/node issue
// 53087).
import { readFileSync, writeSync } from 'node:fs';
import { argv } from 'node:process';
import { wasiImports } from '../../bindings/js/src/runtime/wasi.js';

class Exit extends Error {
  constructor(status) {
    super(`the program ended with ${status}`);
    this.status = status;
  }
}

// A pipe that is full is not waited for by writeSync.
function writeAll(fd, bytes) {
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

const module = new WebAssembly.Module(readFileSync(argv[2]));
let instance;
const imports = wasiImports(module, () => new DataView(instance.exports.memory.buffer),
  { programArguments: argv.slice(2), write: writeAll });
imports.wasi_snapshot_preview1.proc_exit = (status) => {
  throw new Exit(status);
};

instance = new WebAssembly.Instance(module, imports);
try {
  instance.exports._start();
} catch (error) {
  if (!(error instanceof Exit)) throw error;
  process.exitCode = error.status;
}
