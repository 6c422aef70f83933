// What webgpu.mjs runs in a page: devices of the package.
import { Network, Trainer, Transformer, createWorker, gpu, initLoom,
  liveHandles } from '../../src/index.js';
import { GpuHost } from '../../src/runtime/gpu.js';

const held = [];
const check = (name, holds, ...more) => {
  if (!holds)
    throw new Error([`${name} does not hold:`, ...more.map((v) => JSON.stringify(v))].join(' '));
  held.push(name);
};
const refused = async (body) => {
  try {
    await body();
  } catch (e) {
    return e;
  }
  return { code: 'none', message: 'it succeeded' };
};
const same = (a, b) => a.length === b.length && a.every((v, i) => Object.is(v, b[i]));

const opened = []; // GPUDevices
let meanwhile = () => {}; // what happens while the next call waits
/** Sees devices that are opened, and lets something happen while a call waits. */
function watch() {
  const { requestDevice } = GPUAdapter.prototype;
  GPUAdapter.prototype.requestDevice = async function (...args) {
    const device = await requestDevice.apply(this, args);
    opened.push(device);
    return device;
  };
  const { mapAsync } = GPUBuffer.prototype;
  GPUBuffer.prototype.mapAsync = async function (...args) {
    const mapped = mapAsync.apply(this, args);
    await null;
    await meanwhile();
    meanwhile = () => {};
    return mapped;
  };
}

const XOR = { x: [[0, 0], [0, 1], [1, 0], [1, 1]], y: [0, 1, 1, 0] };
const SPEC = { loss: 'mse', steps: 20, batch: 4, optimizer: { type: 'adamw', weightDecay: 0.01 },
  schedule: { type: 'constant', lr: 0.03 } };
const TOPOLOGY = {
  format: 'loom-topology', version: 1, layers_per_cell: 2, input: { width: 2 },
  cells: [{ at: [0, 0, 0, 0], type: 'dense', out: 8, activation: 'tanh' },
      { at: [0, 0, 0, 1], type: 'dense', out: 1 }],
};

/** Calls that wait, and calls that do not. */
async function turns(net, expected) {
  check('forward has the bits of the CPU',
      same(await net.forwardAsync(XOR.x, { device: 'gpu' }), expected));
  for (const mode of ['gpu-normal', 'gpu-mc', 'cpu-sc', 'auto'])
    check(`mode ${mode} too`, same(await net.forwardAsync(XOR.x, { mode }), expected));
  let e = await refused(() => net.forward(XOR.x, { device: 'gpu' }));
  check('what returns at once refuses a GPU',
      e.code === 'unsupported' && e.message.includes('cannot wait'), e.code, e.message);
  check('what returns at once takes the CPU where it may',
      same(net.forward(XOR.x, { device: 'auto' }), expected));
  meanwhile = async () => (e = await refused(() => net.digest));
  check('the call that waited is right',
      same(await net.forwardAsync(XOR.x, { device: 'gpu' }), expected));
  check('while it waited nothing else entered', e.code === 'busy', e.code, e.message);
  const many =
    await Promise.all([net.forwardAsync(XOR.x, { device: 'gpu' }),
        net.forwardAsync([[1, 1]], { device: 'gpu' }), net.forwardAsync(XOR.x),
          net.forwardAsync(XOR.x, { device: 'gpu' })]);
  check('calls at the same time have turns', same(many[0], expected) && many[1][0] === expected[3]
      && same(many[2], expected) && same(many[3], expected));
  const before = liveHandles();
  const other = net.copy();
  await other.forwardAsync(XOR.x, { device: 'gpu' });
  meanwhile = () => other.dispose();
  check('what is disposed of meanwhile ends its work',
      same(await other.forwardAsync(XOR.x, { device: 'gpu' }), expected));
  check('and is given back', liveHandles() === before);
}

/** Learning, and a checkpoint from one device to another. */
async function learns() {
  const here = new Network(TOPOLOGY, { seed: 1 }), there = new Network(TOPOLOGY, { seed: 1 });
  const whole = new Trainer(here, XOR, SPEC);
  whole.step(10);
  const far = await Trainer.create(there, XOR, SPEC, { device: 'gpu' });
  const { step } = await far.stepAsync(10);
  check('training has the bits of the CPU',
      step === 10 && (await far.digestAsync()) === whole.digest);
  check('a read that returns at once has what a device learned',
      same(there.forward(XOR.x), here.forward(XOR.x)) && there.digest === here.digest);
  const e = await refused(() => far.save());
  check('a trainer on a device waits', e.code === 'unsupported' && e.message.includes('Async'),
      e.message);
  const resumed = new Trainer(new Network(TOPOLOGY, { seed: 2 }), XOR, SPEC);
  resumed.resume(await far.saveAsync());
  whole.step(5);
  resumed.step(5);
  check('a checkpoint goes from a GPU to the CPU', resumed.digest === whole.digest);
  await far.resumeAsync(resumed.save());
  whole.step(5);
  await far.stepAsync(5);
  check('and back', (await far.digestAsync()) === whole.digest);
}

/** What a device cannot do. */
async function refuses() {
  const doubles = new Network(TOPOLOGY, { seed: 1 });
  doubles.morph('f64');
  const e = await refused(() => doubles.forwardAsync(XOR.x, { device: 'gpu' }));
  check('f64 is refused by name', e.code === 'unsupported' && e.message.includes('f64 (class D)'),
      e.code, e.message);
  check('auto is the CPU in place of an adapter in software',
      same(await doubles.forwardAsync(XOR.x, { device: 'auto' }), doubles.forward(XOR.x)));
}

/** The device itself: what no network makes it do. */
async function host() {
  const memory = new ArrayBuffer(65536);
  const gpuHost = new GpuHost(() => memory);
  gpuHost.waits = true;
  const put = (at, words) => new Uint32Array(memory, at, words.length).set(words);
  const text = (at, s) => [at, new TextEncoder().encodeInto(s, new Uint8Array(memory, at)).written];
  const { imports } = gpuHost;
  const own =
    Object.fromEntries(Object.entries(imports).filter(([, f]) => typeof f === 'function'));
  const id = await gpuHost.open();
  const failure = () =>
    [new Uint32Array(memory, 0, 1)[0],
        new TextDecoder()
          .decode(new Uint8Array(memory, 8, own.last_error(0, 8, 4000)).slice())].reverse();
  const read = async (buffer, bytes) => {
    put(32768, [buffer, 0, 0, 0, 40960, bytes]);
    return (await gpuHost.read(id, 32768, 1)) === 1;
  };
  const buffer = own.create_buffer(id, 4096, ...text(16384, 'four kilobytes'));
  own.pipeline(id, ...text(16384, 'broken'),
      ...text(16500, '@compute @workgroup_size(1) fn f() { let x: u32 = 1.5; }'),
        ...text(16700, 'f'), 16800, 0);
  check('a kernel that does not compile is an error', !(await read(buffer, 16)));
  let [message, code] = failure();
  check('with its message', message.includes('kernel broken') && message.includes('1.5'), message,
      code);
  check('which comes once', await read(buffer, 16));
  own.create_buffer(id, 2 ** 40, ...text(16384, 'a terabyte'));
  check('a buffer beyond what there is is an error', !(await read(buffer, 16)));
  [message] = failure();
  check('that names it', message.includes('a terabyte'), message);
  put(40960, [1, 2, 3, 4]);
  own.write(id, buffer, 8, 40960, 16);
  put(40960, [0, 0, 0, 0]);
  check('what is written is read', (await read(buffer, 24)) && new Uint32Array(memory, 40960, 6)
      .join() === '0,0,1,2,3,4');
  gpuHost.close();
}

/** Lost while it works, and after. */
async function loses(net, expected) {
  const half = await Trainer.create(new Network(TOPOLOGY, { seed: 1 }), XOR, SPEC,
      { device: 'gpu' });
  await half.stepAsync(5);
  const model = await Transformer.loadModel('embedded', { device: 'gpu' });
  const { fingerprint } =
    await model.generateText('Once', { maxTokens: 3, temperature: 0, device: 'cpu' });
  let e = await refused(async () => {
    for await (const _ of model.generate('Once', { maxTokens: 60, temperature: 0 }))
      opened.forEach((device) => device.destroy());
  });
  check('a device that is lost is an error', e.code === 'unsupported' && e.message.includes('lost'),
      e.code, e.message);
  e = await refused(() => net.forwardAsync(XOR.x, { device: 'gpu' }));
  check('for all that was on it', e.code === 'unsupported' && e.message.includes('lost'), e.code,
      e.message);
  e = await refused(() => half.saveAsync());
  check('what was lost is in no checkpoint', e.code === 'unsupported' && e.message.includes('lost'),
      e.code, e.message);
  e = await refused(() => half.digestAsync());
  check('nor in a digest', e.code === 'unsupported' && e.message.includes('lost'), e.code,
      e.message);
  const again = await model.generateText('Once', { maxTokens: 3, temperature: 0 });
  check('and a new one works', same(await net.forwardAsync(XOR.x, { device: 'gpu' }), expected)
      && again.fingerprint === fingerprint && model.stats.target !== 'generic');
}

/** In a worker. */
async function works(_, expected) {
  const worker = await createWorker({ threads: 2 });
  const there = await worker.Network.create(TOPOLOGY, { seed: 1 });
  const [a, b, topology] =
    await Promise.all([there.forward(XOR.x, { device: 'gpu' }),
        there.forward(XOR.x, { device: 'gpu' }), there.topology]);
  check('a worker on shared memory has devices too, and turns',
      same(a, expected) && same(b, expected) && topology.cells.length === 2);
  worker.terminate();
}

/** The names of the checks that held, or {missing}. */
export async function runThere() {
  const { missing } = await gpu();
  if (missing) return { missing };
  watch();
  await initLoom();
  const net = new Network(TOPOLOGY, { seed: 1 }), expected = net.forward(XOR.x);
  for (const one of [turns, learns, refuses, host, loses, works]) await one(net, expected);
  return { held };
}
