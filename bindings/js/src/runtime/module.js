// Where the module and other files come from, in every host, and one instance of the module.
import { Library } from './call.js';
import { errorNamed, signalOf } from './errors.js';
import { GpuHost } from './gpu.js';
import { inNode } from './host.js';
import { relaxedHere } from './relaxed.js';
import { sharedMemory, startTeam, threadsHere } from '../workers/threads.js';
import { wasiImports } from './wasi.js';

export const asset = (name) => new URL(`../../dist/${name}`, import.meta.url);

const isUrl = (text) => /^(https?|file|blob|data):/.test(text);

/** A Response of a URL, a path, or what already is bytes. */
export async function openSource(source, signal) {
  if (source instanceof Response) return source;
  if (source instanceof Blob || source instanceof ArrayBuffer || ArrayBuffer.isView(source)
      || source instanceof ReadableStream) return new Response(source);
  const name = String(source);
  if (inNode && (name.startsWith('file:') || !isUrl(name))) {
    const { open } = await import('node:fs/promises');
    let file;
    try {
      file = await open(name.startsWith('file:') ? new URL(name) : name);
    } catch (e) {
      throw errorNamed(e.code === 'ENOENT' ? 'not_found' : 'io', `${name}: ${e.message}`,
          { cause: e });
    }
    const { size } = await file.stat();
    const chunk = 1 << 20;
    const stream = new ReadableStream({
      async pull(controller) {
        const { bytesRead, buffer } = await file.read(new Uint8Array(chunk), 0, chunk);
        if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
        await file.close();
        controller.close();
      },
      cancel: () => file.close(),
    });
    return new Response(stream, { headers: { 'content-length': String(size) } });
  }
  let response;
  try {
    response = await fetch(name, { signal });
  } catch (e) {
    signal?.throwIfAborted();
    throw errorNamed('io', `${name}: ${e.message}`, { cause: e });
  }
  if (!response.ok)
    throw errorNamed(response.status === 404 ? 'not_found' : 'io',
        `${name}: the server answers ${response.status} ${response.statusText}`);
  return response;
}

/** Streams a file into a new bytes object of the library, whose handle is returned: no second
 *  copy where the size is known before. */
export async function download(library, source, { onProgress, signal } = {}) {
  signalOf(signal);
  const create = (size) => library.turn(() => library.call('bytes_create', { size }).bytes);
  const write = (handle, bytes, at) => library.turn(() => library.view(handle).set(bytes, at));
  if (source instanceof ArrayBuffer) source = new Uint8Array(source);
  if (ArrayBuffer.isView(source)) {
    const bytes = new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    const handle = await create(bytes.length);
    await write(handle, bytes, 0);
    return handle;
  }
  const response = await openSource(source, signal);
  // What a server compresses has another length than it says.
  const said = response.headers.get('content-encoding') ? 0
    : Number(response.headers.get('content-length') ?? 0);
  const reader = response.body.getReader();
  let handle = said > 0 ? await create(said) : null;
  const parts = [];
  let loaded = 0;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { done, value } = await reader.read();
      if (done) break;
      if (handle && loaded + value.length > said)
        throw errorNamed('corrupt', `${source}: more bytes than the ${said} that were promised`);
      if (handle) await write(handle, value, loaded);
      else parts.push(value);
      loaded += value.length;
      onProgress?.({ loaded, total: said || undefined });
    }
    if (handle && loaded < said)
      throw errorNamed('truncated', `${source}: expects ${said} bytes, got ${loaded}`);
    if (!handle) {
      handle = await create(loaded);
      let at = 0;
      for (const part of parts) {
        await write(handle, part, at);
        at += part.length;
      }
    }
    return handle;
  } catch (e) {
    if (handle) library.release(handle);
    reader.cancel().catch(() => {});
    signal?.throwIfAborted(); // whatever a body that was aborted says
    throw e;
  }
}

async function compile(source, fallback) {
  if (source instanceof WebAssembly.Module) return source;
  const response = await openSource(source ?? asset(fallback)).catch((e) => {
    if (source === undefined && e.code === 'not_found')
      e.message += ' (the package was installed without its module: "npm run prepare" builds it)';
    throw e;
  });
  if (WebAssembly.compileStreaming && response.headers.get('content-type') === 'application/wasm')
    return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

/** A fresh instance of the module. threads: 0 is one per core, where the host lets a thread wait
 *  for others. */
export async function instantiate({ module: source, threads = 1, log } = {}) {
  const wanted = source === undefined ? await threadsHere(threads) : 1;
  const module =
    await compile(source,
        `loom${wanted > 1 ? '_threads' : ''}${relaxedHere() ? '_relaxed' : ''}.wasm`);
  let memory = wanted > 1 ? sharedMemory() : null;
  const view = () => new DataView(memory.buffer);
  const host = inNode
    ? { environment: process.env, files: (await import('./node_files.js')).nodeFiles(view) } : {};
  const imports = wasiImports(module, view, { log, ...host });
  const gpu = new GpuHost(() => memory.buffer);
  imports.loom_gpu = gpu.imports;
  if (wanted > 1) imports.env = { memory };
  const { exports } = await WebAssembly.instantiate(module, imports);
  memory ??= exports.memory;
  exports._initialize();
  const library = new Library(exports, memory, gpu);
  if (inNode) library.withText(process.cwd(), (path) => exports.chdir(path));
  if (wanted > 1) await startTeam(library, module, memory, wanted);
  return library;
}
