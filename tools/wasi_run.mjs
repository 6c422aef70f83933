// Runs a WASI program: node --no-warnings tools/wasi_run.mjs PROGRAM [ARGUMENT...]. It sees no
// files and no environment. The imports are those of the bindings, not node:wasi: in Node.js 20 a
// collection of garbage during one of its fast calls loses objects of the calling frames, and about
// one run in fifty ended with SIGSEGV after the program's last line (nodejs/node issue 53087).
import { readFileSync, writeSync } from 'node:fs';
import { argv } from 'node:process';
import { ERRNO, wasiImports } from '../bindings/js/src/runtime/wasi.js';

class Exit extends Error {
  constructor(status) {
    super(`the program ended with ${status}`);
    this.status = status;
  }
}

const module = new WebAssembly.Module(readFileSync(argv[2]));
let instance;
const view = () => new DataView(instance.exports.memory.buffer);
const bytes = (at, size) => new Uint8Array(view().buffer, at, size);
const programArguments = argv.slice(2).map((text) => new TextEncoder().encode(`${text}\0`));

function writeAll(fd, data) {
  for (let done = 0; done < data.length;) done += writeSync(fd, data, done);
}

const imports = wasiImports(module, view);
Object.assign(imports.wasi_snapshot_preview1, {
  args_sizes_get(count, size) {
    view().setUint32(count, programArguments.length, true);
    view().setUint32(size, programArguments.reduce((sum, text) => sum + text.length, 0), true);
    return ERRNO.success;
  },
  args_get(pointers, at) {
    for (const text of programArguments) {
      view().setUint32(pointers, at, true);
      bytes(at, text.length).set(text);
      pointers += 4;
      at += text.length;
    }
    return ERRNO.success;
  },
  // Both streams as they are, not in lines of one log.
  fd_write(fd, vectors, count, written) {
    if (fd !== 1 && fd !== 2) return ERRNO.badf;
    let total = 0;
    for (let i = 0; i < count; ++i) {
      const size = view().getUint32(vectors + 8 * i + 4, true);
      writeAll(fd, bytes(view().getUint32(vectors + 8 * i, true), size));
      total += size;
    }
    view().setUint32(written, total, true);
    return ERRNO.success;
  },
  proc_exit(status) {
    throw new Exit(status);
  },
});

instance = new WebAssembly.Instance(module, imports);
try {
  instance.exports._start();
} catch (error) {
  if (!(error instanceof Exit)) throw error;
  process.exitCode = error.status;
}
