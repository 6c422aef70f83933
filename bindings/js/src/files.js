// Model files, in Node: what they are, and other formats of them.
import { errorNamed, known } from './runtime/errors.js';
import { inNode } from './runtime/host.js';
import { Handled, bringEmbedded, camel, snake, start } from './runtime/runtime.js';

function needFiles(what) {
  if (!inNode) throw errorNamed('unsupported', `${what}: a browser has no files`);
}

/** Writes the model of a folder or file as .safetensors, .entity, .gguf or .onnx (a decoder), by
 *  the end of the name `out`; one that ends in "/" becomes a HuggingFace folder: options dtype,
 *  adapter (a folder, added to the weights), tokenizer (true), matmulNbits (false), settings (of a
 *  file of weights: docs/reference/weights.md), dims and max (of an .onnx file that is read).
 *  Returns {tensors, notes}: each with its errors, and what was left out. */
export async function convert(source, out, options = {}) {
  needFiles('convert');
  const { settings = {}, dims = {}, max = {}, ...given } = known('convert', options,
    ['dtype', 'adapter', 'tokenizer', 'matmulNbits', 'settings', 'dims', 'max']);
  const lib = await start();
  const { report } = await lib.ask('file_convert',
    { in: String(source), out: String(out), options: { ...snake(given), settings, dims, max } });
  return camel(report);
}

/** A model file or folder seen from outside, without its weights. Of C++ the class File. */
export class ModelFile extends Handled {
  constructor(lib, handle) {
    if (typeof handle !== 'bigint')
      throw errorNamed('invalid_argument', 'use ModelFile.open');
    super(lib, 'file', handle);
  }
  /** A folder, a file, a name in the local HuggingFace cache, or "embedded". */
  static async open(name) {
    needFiles('ModelFile.open');
    const lib = await start();
    if (name === 'embedded') await bringEmbedded(lib);
    return new ModelFile(lib, (await lib.ask('file_open', { name: String(name) })).file);
  }
  /** path, title, kind, tensorCount, elements, bytes, mainType, ...; with `tensors` a list of all,
   *  with `model` what a loader says of it. */
  info(options = {}) {
    const given = known('info', options, ['tensors', 'model']);
    return camel(this.call('info', { options: snake(given) }).info);
  }
  /** SHA-256 of the bytes of a tensor as they lie in the file. */
  hash(tensor) {
    return this.call('hash', { tensor }).sha256;
  }
}
