// The part of WASI that the module uses, for every host: a clock, an environment, what is written
// to the standard streams. Files are a host's own (node_files.js); without them there are none.
export const ERRNO =
  { success: 0, badf: 8, exist: 20, inval: 28, io: 29, isdir: 31, noent: 44, nosys: 52, notdir: 54,
    notempty: 55, perm: 63, acces: 2 };

const utf8 = new TextEncoder();

// The two calls by which the C library asks for a list of texts: how many, and the texts.
function askedFor(texts, view) {
  const list = texts.map((one) => utf8.encode(`${one}\0`));
  return [(count, size) => {
    view().setUint32(count, list.length, true);
    view().setUint32(size, list.reduce((n, v) => n + v.length, 0), true);
    return ERRNO.success;
  }, (pointers, at) => {
    for (const one of list) {
      view().setUint32(pointers, at, true);
      new Uint8Array(view().buffer, at, one.length).set(one);
      pointers += 4;
      at += one.length;
    }
    return ERRNO.success;
  }];
}

/** What an instance imports: `view()` is its memory, asked for anew after each growth. Lines of
 *  both streams go to `log`; with `write(fd, bytes)` what is written goes there, as it is. */
export function wasiImports(module, view,
    { environment = {}, programArguments = [], files = null,
      log = (line) => console.error(line), write = null } = {}) {
  const bytes = (at, size) => new Uint8Array(view().buffer, at, size);
  const [environ_sizes_get, environ_get] =
    askedFor(Object.entries(environment).map(([name, value]) => `${name}=${value}`), view);
  const [args_sizes_get, args_get] = askedFor(programArguments, view);
  let line = '';
  const text = new TextDecoder();

  const imports = {
    environ_sizes_get, environ_get, args_sizes_get, args_get,
    clock_time_get(clock, precision, at) {
      const milliseconds = clock === 0 ? Date.now() : performance.now();
      view().setBigUint64(at, BigInt(Math.round(milliseconds * 1e6)), true);
      return ERRNO.success;
    },
    fd_write(fd, vectors, count, written) {
      if (fd !== 1 && fd !== 2)
        return files?.fd_write ? files.fd_write(fd, vectors, count, written) : ERRNO.badf;
      let total = 0;
      for (let i = 0; i < count; ++i) {
        const size = view().getUint32(vectors + 8 * i + 4, true);
        const piece = bytes(view().getUint32(vectors + 8 * i, true), size);
        if (write) write(fd, piece);
        else line += text.decode(piece.slice(), { stream: true });
        total += size;
      }
      const lines = line.split('\n');
      line = lines.pop();
      for (const whole of lines) log(whole);
      view().setUint32(written, total, true);
      return ERRNO.success;
    },
    proc_exit(status) {
      throw new WebAssembly.RuntimeError(`the module ended with ${status}`);
    },
    // No folders are open: this is how the C library asks for them.
    fd_prestat_get: () => ERRNO.badf,
    fd_close: () => ERRNO.badf,
  };
  const { fd_write: _, ...rest } = files ?? {};
  Object.assign(imports, rest);
  for (const { module: from, name } of WebAssembly.Module.imports(module))
    if (from === 'wasi_snapshot_preview1') imports[name] ??= () => ERRNO.nosys;
  return { wasi_snapshot_preview1: imports };
}
