// navigator.gpu behind the functions that the module imports from "loom_gpu"
// (src/gpu/browser_device.cpp): numbers, and ranges of the module's memory. Where something waits,
// the module is suspended: JavaScript Promise Integration.
import { CODES } from './raw.js';

const SUSPENDS = typeof WebAssembly.Suspending === 'function'
  && typeof WebAssembly.promising === 'function';
const UPLOAD_PIECE = 16 << 20, STAGING_PIECE = 64 << 20;
const FILTERS = ['internal', 'validation', 'out-of-memory'];
// Those of the adapter are asked for, in place of the standard's defaults.
const LIMITS = [
  'maxBufferSize', 'maxStorageBufferBindingSize', 'minStorageBufferOffsetAlignment',
    'maxStorageBuffersPerShaderStage', 'maxComputeWorkgroupsPerDimension',
  'maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupStorageSize', 'maxComputeWorkgroupSizeX',
    'maxComputeWorkgroupSizeY', 'maxComputeWorkgroupSizeZ',
];

const encoder = new TextEncoder();
const decoder = new TextDecoder();

class GpuError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

function codeOf(error) {
  if (typeof GPUOutOfMemoryError === 'function' && error instanceof GPUOutOfMemoryError)
    return 'out_of_memory';
  return typeof GPUValidationError === 'function' && error instanceof GPUValidationError
    ? 'internal' : 'unsupported';
}

/** What this host lacks for a GPU, in words; empty where it lacks nothing. */
function lacking() {
  const list = [];
  if (!globalThis.navigator?.gpu)
    list.push(globalThis.isSecureContext === false
        ? 'navigator.gpu (WebGPU), which takes a secure context: https, or localhost'
          : 'navigator.gpu (WebGPU)');
  if (!SUSPENDS) list.push('WebAssembly.Suspending (JavaScript Promise Integration)');
  return list.length === 0 ? '' : `this host lacks ${list.join(' and ')}`;
}

async function requestAdapter(software = false) {
  const adapter =
    await navigator.gpu.requestAdapter(
      { powerPreference: 'high-performance', forceFallbackAdapter: software });
  if (!adapter) throw new GpuError('unsupported', 'navigator.gpu finds no adapter');
  const { vendor = '', architecture = '', device = '', description = '', isFallbackAdapter } =
    adapter.info ?? {};
  return {
    adapter,
    name: description || device || `${vendor} ${architecture}`.trim()
      || 'an adapter without a name',
    vendor,
    driver: architecture,
    software: isFallbackAdapter ?? adapter.isFallbackAdapter ?? false,
  };
}

/** What `device: 'gpu'` means here: {available, name, software, missing}, the last in words
 *  where it is not available. */
export async function gpu() {
  const missing = lacking();
  if (missing) return { available: false, name: '', software: false, missing };
  try {
    const { name, software } = await requestAdapter();
    return { available: true, name, software, missing: '' };
  } catch (e) {
    return { available: false, name: '', software: false, missing: e.message };
  }
}

/** Things by numbers from 1, which are used again. */
class Table {
  #list = [];
  #free = [];

  add(value) {
    const handle = this.#free.pop() ?? this.#list.length + 1;
    this.#list[handle - 1] = value;
    return handle;
  }
  get(handle) {
    return this.#list[handle - 1];
  }
  remove(handle) {
    const value = this.#list[handle - 1];
    this.#list[handle - 1] = undefined;
    this.#free.push(handle);
    return value;
  }
  values() {
    return this.#list.filter((value) => value !== undefined);
  }
}

/** A GPUDevice, with the pipelines that all devices of the module on it share. */
class Hardware {
  lost = null; // in words
  pipelines = new Map(); // key -> {pipeline, layout}
  users = new Set();
  #layouts = new Map();

  static async open(software) {
    const { adapter, ...about } = await requestAdapter(software);
    const requiredLimits = Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]]));
    const hardware = new Hardware();
    const requiredFeatures = adapter.features.has('subgroups') ? ['subgroups'] : [];
    hardware.device = await adapter.requestDevice({ requiredLimits, requiredFeatures })
      .catch((e) => {
      throw new GpuError('unsupported',
          `the adapter '${about.name}' gives no device: ${e.message}`);
    });
    const { limits } = hardware.device;
    hardware.about = {
      ...about,
      buffer_bytes: limits.maxBufferSize,
      binding_bytes: limits.maxStorageBufferBindingSize,
      offset_alignment: limits.minStorageBufferOffsetAlignment,
      storage_buffers: limits.maxStorageBuffersPerShaderStage,
      groups_per_dimension: limits.maxComputeWorkgroupsPerDimension,
      threads_per_group: limits.maxComputeInvocationsPerWorkgroup,
      group_bytes: limits.maxComputeWorkgroupStorageSize,
      subgroups: hardware.device.features.has('subgroups'),
    };
    hardware.ended = hardware.device.lost.then(({ message }) => {
      hardware.lost = `the device was lost: ${message || 'no reason is given'}; open a new one`;
    });
    hardware.device.onuncapturederror = ({ error }) => {
      for (const user of hardware.users) user.fail(codeOf(error), error.message);
    };
    return hardware;
  }

  /** bindings: bytes, 0 where one is only read. */
  layout(bindings) {
    const key = bindings.join();
    if (!this.#layouts.has(key)) {
      const entries =
        Array.from(bindings,
            (writes, binding) => (
              { binding, visibility: GPUShaderStage.COMPUTE,
                buffer: { type: writes ? 'storage' : 'read-only-storage' } }));
      this.#layouts.set(key, this.device.createBindGroupLayout({ entries }));
    }
    return this.#layouts.get(key);
  }
}

/** A device of the module: its buffers and bind groups, what is recorded, and the first error
 *  that nobody has seen yet. */
class Device {
  #hardware;
  #memory; // () => the module's memory now
  #buffers = new Table();
  #groups = new Table();
  #pipelines = new Table();
  #handles = new Map(); // key -> handle
  #recording = null;
  #staging = null;
  #checks = []; // promises of error scopes
  #error = null;

  constructor(hardware, memory) {
    this.#hardware = hardware;
    this.#memory = memory;
    hardware.users.add(this);
  }
  get about() {
    return this.#hardware.about;
  }
  get #device() {
    return this.#hardware.device;
  }

  fail(code, message) {
    this.#error ??= new GpuError(code, message);
  }
  /** Throws the first error since the last call; of a lost device for ever. */
  check() {
    if (this.#hardware.lost) throw new GpuError('unsupported', this.#hardware.lost);
    const error = this.#error;
    this.#error = null;
    if (error) throw error;
  }

  /** What goes wrong with `make` is an error of this device, which comes out with the next read
   *  at the latest. */
  #checked(what, make, details = async () => '') {
    for (const filter of FILTERS) this.#device.pushErrorScope(filter);
    const made = make();
    for (const _ of FILTERS) {
      const seen = this.#device.popErrorScope().then(async (error) => {
        if (error) this.fail(codeOf(error), `${what}: ${error.message}${await details(made)}`);
      });
      this.#checks.push(seen.catch(() => {})); // refused by a lost device
    }
    return made;
  }

  close() {
    this.#hardware.users.delete(this);
    for (const buffer of this.#buffers.values()) buffer.destroy();
    this.#staging?.destroy();
  }

  createBuffer(size, label) {
    this.check();
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    return this.#buffers.add(
      this.#checked(label, () => this.#device.createBuffer({ label, size, usage })));
  }
  destroyBuffer(handle) {
    this.#flush();
    this.#buffers.remove(handle).destroy();
  }

  write(handle, offset, at, size) {
    this.#flush();
    const buffer = this.#buffers.get(handle);
    for (let from = 0; from < size; from += UPLOAD_PIECE)
      this.#device.queue.writeBuffer(buffer, offset + from, this.#memory(), at + from,
          Math.min(UPLOAD_PIECE, size - from));
    this.check();
  }

  pipeline(key, code, entryPoint, bindings) {
    this.check();
    if (this.#handles.has(key)) return this.#handles.get(key);
    const shared = this.#hardware.pipelines;
    if (!shared.has(key)) {
      const layout = this.#hardware.layout(bindings);
      let module;
      const make = () => {
        module = this.#device.createShaderModule({ label: key, code });
        return this.#device.createComputePipeline(
          { label: key, layout: this.#device.createPipelineLayout({ bindGroupLayouts: [layout] }),
            compute: { module, entryPoint } });
      };
      const details = async () => {
        shared.delete(key);
        const { messages } = await module.getCompilationInfo();
        return messages.map(({ lineNum, linePos, message }) =>
            `\n${lineNum}:${linePos}: ${message}`).join('');
      };
      shared.set(key, { layout, pipeline: this.#checked(`kernel ${key}`, make, details) });
    }
    const handle = this.#pipelines.add(shared.get(key));
    this.#handles.set(key, handle);
    return handle;
  }

  bind(pipeline, at, count) {
    this.check();
    const view = new DataView(this.#memory(), at);
    const entries = Array.from({ length: count }, (_, binding) => {
      const buffer = this.#buffers.get(view.getUint32(24 * binding, true));
      const offset = Number(view.getBigUint64(24 * binding + 8, true)),
        size = Number(view.getBigUint64(24 * binding + 16, true));
      return { binding, resource: { buffer, offset, size: size || buffer.size - offset } };
    });
    return this.#groups.add(
      this.#device.createBindGroup({ layout: this.#pipelines.get(pipeline).layout, entries }));
  }
  destroyBindings(handle) {
    this.#groups.remove(handle);
  }

  #recorded() {
    return (this.#recording ??= this.#device.createCommandEncoder());
  }
  /** What is recorded goes to the queue before anything else does. */
  #flush() {
    if (this.#recording) this.#device.queue.submit([this.#recording.finish()]);
    this.#recording = null;
  }

  submit(at, count) {
    this.check();
    const words = new Uint32Array(this.#memory(), at, 5 * count); // pipeline, bindings, x, y, z
    const pass = this.#recorded().beginComputePass();
    for (let i = 0, pipeline = 0; i < words.length; i += 5) {
      if (words[i] !== pipeline)
        pass.setPipeline(this.#pipelines.get((pipeline = words[i])).pipeline);
      pass.setBindGroup(0, this.#groups.get(words[i + 1]));
      pass.dispatchWorkgroups(words[i + 2], words[i + 3], words[i + 4]);
    }
    pass.end();
  }
  /** Starts what was submitted. */
  flush() {
    this.#flush();
    this.check();
  }

  /** Ranges in trips of what the staging buffer holds: those that fit share one, larger ones
   *  come in pieces. */
  #trips(at, count) {
    const view = new DataView(this.#memory(), at);
    const trips = [];
    let room = 0;
    for (let i = 0; i < count; ++i) {
      const buffer = this.#buffers.get(view.getUint32(24 * i, true));
      let offset = Number(view.getBigUint64(24 * i + 8, true)),
        to = view.getUint32(24 * i + 16, true);
      for (let left = view.getUint32(24 * i + 20, true); left > 0;) {
        const size = Math.min(left, STAGING_PIECE);
        if (size > room) {
          trips.push([]);
          room = STAGING_PIECE;
        }
        trips.at(-1).push({ buffer, offset, to, size });
        room -= size;
        offset += size;
        to += size;
        left -= size;
      }
    }
    return trips;
  }

  async read(at, count) {
    for (const trip of this.#trips(at, count)) {
      this.check();
      const total = trip.reduce((sum, { size }) => sum + size, 0);
      if (!this.#staging || this.#staging.size < total) {
        this.#staging?.destroy();
        const size = Math.max((total + 15) & ~15, 4096),
          usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
        this.#staging = this.#checked('staging memory',
            () => this.#device.createBuffer({ size, usage }));
      }
      const staging = this.#staging;
      let from = 0;
      for (const { buffer, offset, size } of trip) {
        this.#recorded().copyBufferToBuffer(buffer, offset, staging, from, size);
        from += size;
      }
      this.#flush();
      await staging.mapAsync(GPUMapMode.READ, 0, total).catch(async (e) => {
        this.#staging = null;
        // A lost device says so a moment later.
        await Promise.race([this.#hardware.ended, new Promise((go) => setTimeout(go, 200))]);
        await this.#settle();
        this.fail('unsupported', `reading back failed: ${e.message}`);
        this.check();
      });
      const mapped = new Uint8Array(staging.getMappedRange(0, total)),
        memory = new Uint8Array(this.#memory());
      from = 0;
      for (const { to, size } of trip) {
        memory.set(mapped.subarray(from, from + size), to);
        from += size;
      }
      staging.unmap();
    }
    this.#flush();
    await this.#settle();
    this.check();
  }

  async #settle() {
    await Promise.all(this.#checks);
    this.#checks = [];
  }
}

/** The imports of one instance of the module. */
export class GpuHost {
  /** Whether calls may be suspended in this host at all. */
  suspends = SUSPENDS;
  /** Whether the call that runs may be. */
  waits = false;
  #memory;
  #devices = new Table();
  #hardware = null;
  #error = null;

  constructor(memory) {
    this.#memory = memory;
    const waiting = (f) => (SUSPENDS ? new WebAssembly.Suspending(f) : f);
    const on = (name) => (id, ...args) =>
      this.#catching(() => this.#devices.get(id)[name](...args.map((v) => v >>> 0)) ?? 1);
    this.imports = {
      missing: (at, size) => this.#put(at, size, this.#missing()),
      last_error: (code, at, size) => {
        new DataView(this.#memory())
          .setUint32(code, CODES[this.#error.code] ?? CODES.internal, true);
        return this.#put(at, size, this.#error.message);
      },
      open: waiting((software) => this.open(software !== 0)),
      close: (id) => this.#devices.remove(id).close(),
      describe: (id, at, size) => {
        const { name, vendor, driver, ...about } = this.#devices.get(id).about;
        return this.#put(at, size,
            JSON.stringify({ name: name.slice(0, 500), vendor: vendor.slice(0, 500),
              driver: driver.slice(0, 500), ...about }));
      },
      create_buffer: (id, bytes, at, size) =>
        this.#catching(() => this.#devices.get(id).createBuffer(bytes, this.#text(at, size))),
      destroy_buffer: (id, handle) => this.#devices.get(id).destroyBuffer(handle),
      write: (id, handle, offset, at, size) =>
        this.#catching(() => this.#devices.get(id).write(handle, offset, at >>> 0, size >>> 0)
            ?? 1),
      pipeline: (id, key, keySize, wgsl, wgslSize, entry, entrySize, at, count) =>
        this.#catching(() =>
        this.#devices.get(id)
          .pipeline(this.#text(key, keySize), this.#text(wgsl, wgslSize),
              this.#text(entry, entrySize),
                new Uint8Array(this.#memory(), at >>> 0, count).slice())),
      bind: on('bind'),
      destroy_bindings: (id, handle) => this.#devices.get(id).destroyBindings(handle),
      submit: on('submit'),
      flush: on('flush'),
      read: waiting((id, at, count) => this.read(id, at >>> 0, count)),
    };
  }

  /** A new device, 0 where there is none. */
  open(software = false) {
    return this.#catchingLater(async () => {
      if (!this.#hardware || this.#hardware.lost || (software && !this.#hardware.about.software))
        this.#hardware = await Hardware.open(software);
      return this.#devices.add(new Device(this.#hardware, this.#memory));
    });
  }
  /** 1, or 0 where something went wrong. */
  read(id, at, count) {
    return this.#catchingLater(async () => {
      await this.#devices.get(id).read(at, count);
      return 1;
    });
  }

  /** Gives everything back. */
  close() {
    for (const device of this.#devices.values()) device.close();
    this.#hardware?.device.destroy();
    this.#hardware = null;
  }

  #missing() {
    return lacking()
      || (this.waits ? ''
          : 'a call that returns at once cannot wait for a GPU: use the method that gives a ' +
            'promise');
  }
  #catching(body) {
    try {
      return body();
    } catch (e) {
      this.#error = e;
      return 0;
    }
  }
  async #catchingLater(body) {
    try {
      return await body();
    } catch (e) {
      this.#error = e;
      return 0;
    }
  }

  #text(at, size) {
    // of shared memory nothing can be decoded
    return decoder.decode(new Uint8Array(this.#memory(), at >>> 0, size).slice());
  }
  /** Writes what fits; returns its length. */
  #put(at, size, text) {
    const bytes = encoder.encode(text).subarray(0, size);
    new Uint8Array(this.#memory(), at >>> 0, size).set(bytes);
    return bytes.length;
  }
}
