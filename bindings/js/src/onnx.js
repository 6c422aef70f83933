// ONNX graphs with the interface of onnxruntime-web: InferenceSession and Tensor. Graphs run on the
// CPU, in f32.
import { errorNamed, known, signalOf } from './runtime/errors.js';
import { inNode } from './runtime/host.js';
import { download } from './runtime/module.js';
import { Network } from './network.js';
import { isNamed } from './rows.js';
import { Handled, runLater, start } from './runtime/runtime.js';

const ARRAYS = {
  float32: Float32Array, float64: Float64Array, bool: Uint8Array, int8: Int8Array,
  uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array,
  uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
};
// Names of ONNX's types: where they are not those of tensors, and what results have whose type
// JavaScript has no array for.
const NAMES = { float: 'float32', double: 'float64' };
const typeOf = (name) => (ARRAYS[NAMES[name] ?? name] ? NAMES[name] ?? name : 'float32');
const sizeOf = (dims) => dims.reduce((n, d) => n * d, 1);

/** Values with a type and dimensions: new Tensor('float32', data, dims), or new Tensor(data, dims)
 *  of a typed array. */
export class Tensor {
  constructor(type, data, dims) {
    if (typeof type !== 'string') {
      [data, dims] = [type, data];
      const found = Object.entries(ARRAYS).find(([, array]) => data?.constructor === array);
      if (!found)
        throw errorNamed('invalid_argument', 'Tensor: give a type before what is no typed array');
      type = found[0];
    }
    const array = ARRAYS[type];
    if (!array)
      throw errorNamed('unsupported',
        `Tensor: "${type}" is no type of tensors: known are ${Object.keys(ARRAYS).join(', ')}`);
    this.type = type;
    this.data = data instanceof array ? data : array.from(data);
    this.dims = dims ? [...dims] : [this.data.length];
    if (sizeOf(this.dims) !== this.data.length)
      throw errorNamed('invalid_argument',
          `Tensor: ${this.data.length} values are not [${this.dims}]`);
  }
  get size() {
    return this.data.length;
  }
}

export class InferenceSession extends Handled {
  constructor(lib, handle) {
    super(lib, 'onnx', handle);
    const { info } = this.call('info');
    this.info = info;
    this.inputNames = info.inputs.map((input) => input.name);
    this.outputNames = info.outputs.map((output) => output.name);
  }

  /** Of the bytes, Blob, Response, ReadableStream or URL of an .onnx file; in Node also a path. */
  static async create(source, options = {}) {
    const { onProgress, signal } =
      known('InferenceSession.create', options, ['onProgress', 'signal']);
    signalOf(signal);
    const lib = await start();
    if (inNode && typeof source === 'string' && !/^[a-z]+:\/\/|^(data|blob|file):/.test(source))
      return new InferenceSession(lib, (await lib.ask('onnx_load', { path: source })).onnx);
    const bytes = await download(lib, source, { onProgress, signal });
    try {
      return new InferenceSession(lib, (await lib.ask('onnx_load_bytes', { bytes })).onnx);
    } finally {
      lib.release(bytes);
    }
  }

  *#run(feeds, fetches) {
    const inputs = [], values = [];
    for (const [name, tensor] of Object.entries(feeds)) {
      if (!(tensor instanceof Tensor))
        throw errorNamed('invalid_argument', `run: the input "${name}" is no Tensor`);
      const input = this.info.inputs.find((i) => i.name === name);
      if (input && tensor.type !== typeOf(input.type))
        throw errorNamed('invalid_argument',
          `run: the input "${name}" is ${typeOf(input.type)}, got ${tensor.type}`);
      inputs.push({ name, dims: tensor.dims });
      for (const v of tensor.data) values.push(Number(v));
    }
    for (const name of fetches)
      if (!this.outputNames.includes(name))
        throw errorNamed('invalid_argument',
          `run: no output "${name}": there are ${this.outputNames.join(', ')}`);
    const { outputs, results } = yield ['onnx_run',
      { onnx: this.handle, inputs, values: Float64Array.from(values) }];
    try {
      const all = new Float64Array(this.library.view(results).slice().buffer), found = {};
      let at = 0;
      for (const { name, type, dims } of outputs) {
        const part = all.subarray(at, (at += sizeOf(dims)));
        if (fetches.length > 0 && !fetches.includes(name)) continue;
        const own = typeOf(type);
        found[name] = new Tensor(own, /64$/.test(own) && own !== 'float64'
          ? ARRAYS[own].from(part, BigInt) : ARRAYS[own].from(part), dims);
      }
      return found;
    } finally {
      this.library.release(results);
    }
  }
  /** Results by the names of the outputs: all, or those of `fetches`. `feeds`: a Tensor for each
   *  input, by its name. */
  async run(feeds, fetches = [], options = {}) {
    known('InferenceSession.run', options, []);
    if (!isNamed(feeds) || !Array.isArray(fetches))
      throw errorNamed('invalid_argument',
        'run: expected {name: Tensor}, and maybe a list of names of outputs');
    return runLater(this.library, this.#run(feeds, fetches), 'cpu');
  }

  /** {network, ports}: the graph as a Network, which trains, morphs and saves. Options: dims, sizes
   *  of open dimensions by their names, {seq: 128}; max, the largest length of one. */
  network(options = {}) {
    const given = known('InferenceSession.network', options, ['dims', 'max']);
    const { network, ports } = this.call('network', { options: given });
    return { network: new Network(this.library, network), ports };
  }

  /** As in onnxruntime-web; dispose() does the same at once. */
  async release() {
    this.dispose();
  }
}
