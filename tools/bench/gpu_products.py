"""Products of class I with many rows on a GPU, by every shape of tile: src/ops/products/matmul/
tile_shapes.cpp is chosen by these figures. Needs `pip install wgpudawn cffi numpy`.

    python3 tools/bench/gpu_products.py                   # matrices of 135M, 1.5B, 7B
    python3 tools/bench/gpu_products.py --check           # small ones: are the bits equal?
    python3 tools/bench/gpu_products.py --compile         # no GPU: does the WGSL compile?

A line for each kernel, matrix and number of rows: microseconds, TOPS of int8 (two for each plane,
weight and row), and whether the bits are those of the first line. A kernel that
the device refuses is a line with its message."""
import argparse
import functools
import pathlib
import re
import sys
import time

import numpy as np
from wgpudawn._lib import ffi, lib

ROOT = pathlib.Path(__file__).resolve().parents[2]
MATRICES = [("135M", 576, 576), ("135M", 1536, 576), ("135M", 576, 1536), ("1.5B", 256, 1536),
            ("1.5B", 1536, 1536), ("1.5B", 8960, 1536), ("1.5B", 1536, 8960), ("7B", 3584, 3584),
            ("7B", 18944, 3584), ("7B", 3584, 18944)]
SMALL = [("small", 200, 320), ("small", 37, 150), ("small", 130, 1100)]
# rows, outputs, fours of rows and of outputs of a thread, prefetch
TILES = [(32, 32, 1, 1, 1), (32, 64, 1, 1, 1), (64, 64, 1, 1, 0), (64, 64, 1, 1, 1),
         (64, 64, 1, 2, 1), (64, 64, 2, 2, 1), (64, 128, 1, 2, 0), (64, 128, 1, 2, 1),
         (64, 128, 2, 2, 0), (64, 128, 2, 2, 1), (128, 128, 2, 2, 0),
         (128, 128, 2, 2, 1)]
# rows, outputs, lines and columns of matrices of a subgroup, words of k in a step, buffers,
# subgroups that share k, what is left out
UNITS = [(128, 128, 4, 4, 16, 1, 1, ""), (128, 128, 4, 4, 16, 2, 1, ""),
         (128, 128, 4, 2, 16, 1, 1, ""), (128, 128, 4, 2, 16, 2, 1, ""),
         (128, 128, 4, 2, 32, 1, 1, ""), (128, 128, 2, 4, 16, 1, 1, ""),
         (128, 64, 4, 4, 16, 1, 1, ""), (128, 64, 4, 2, 16, 1, 1, ""),
         (128, 64, 4, 2, 32, 1, 1, ""), (128, 64, 4, 4, 32, 1, 2, ""),
         (64, 128, 4, 2, 16, 1, 1, ""), (64, 128, 4, 2, 32, 1, 1, ""),
         (64, 128, 4, 4, 32, 1, 2, ""), (64, 128, 2, 2, 32, 1, 1, ""),
         (64, 64, 4, 2, 16, 1, 1, ""), (64, 64, 2, 2, 16, 1, 1, ""),
         (64, 64, 2, 2, 32, 1, 1, ""), (64, 64, 2, 2, 32, 1, 2, ""),
         (64, 64, 4, 4, 32, 1, 4, ""), (64, 64, 2, 2, 64, 1, 2, ""),
         (32, 64, 2, 2, 32, 1, 2, ""), (32, 64, 2, 2, 64, 1, 4, ""),
         (64, 32, 4, 2, 64, 1, 4, ""), (64, 128, 4, 4, 16, 1, 1, ""),
         (64, 128, 4, 4, 32, 1, 1, ""), (64, 96, 4, 2, 32, 1, 1, "")]
# dtype, layout, bits, layers, offset, form, k of a block, words of a super-block of 64 k, minima
FORMATS = {"i4:a4": ("I4", "A4", 4, 2, 128, "INTEGER", 0, 144, False),
           "i4": ("I4", "PLAIN", 4, 2, 8, "INTEGER", 0, 128, False),
           "i8": ("I8", "PLAIN", 8, 1, 128, "INTEGER", 0, 256, False),
           "q4_0": ("I4", "PLAIN", 4, 2, 8, "BLOCK", 32, 128, False),
           "q4_k": ("U4", "PLAIN", 4, 2, 0, "BLOCK", 32, 128, True),
           "q6_k": ("I8", "PLAIN", 8, 1, 128, "BLOCK", 16, 256, False)}


# ---- WGSL as src/ops/module.cmake and webgpu/kernels.cpp put it together

@functools.lru_cache(None)
def piece(name):
    text = next((ROOT / "src/ops").rglob(name + ".wgsl")).read_text()

    def kinds(match):
        macro, file, prefix, suffix = match[1], match[2], match[3].strip('"'), match[4]
        rows = re.findall(r"^%s\((\d+), (\w+)" % macro, (ROOT / "src" / file).read_text(), re.M)
        return "".join("const %s%s%s = %su;\n" % (prefix, n.upper(), suffix, i) for i, n in rows)
    text = re.sub(r'^#kinds ([A-Z_]+) (\S+) ?([A-Z_"]*) ?([A-Z_]*)$', kinds, text, flags=re.M)
    return re.sub(r"\s*//[^\n]*", "", text) + "\n"


def kernel(pieces, constants, head=""):
    text = "".join("const %s = %s;\n" % (k, str(v).lower() if isinstance(v, bool) else
                                         v if isinstance(v, str) else "%du" % v)
                   for k, v in constants.items())
    return head + piece("base") + piece("rows") + text + "".join(map(piece, pieces.split()))


def weight_constants(fmt):
    dtype, layout, bits, layers, offset, form, _, _, minima = FORMATS[fmt]
    return {"LAYERS": layers, "BITS": bits, "MANTISSA": 0, "BIAS": 0, "OFFSET": offset,
            "FORM": form + "_FORM", "DTYPE": dtype, "LAYOUT": layout, "HAS_SCALES": True,
            "HAS_MINIMA": minima, "HAS_ZEROS": False, "HAS_BIAS": False}


UNIT_HEAD = ("enable subgroups;\nenable chromium_experimental_subgroup_matrix;\n"
             "diagnostic(off, chromium.subgroup_matrix_uniformity);\n")


EMULATION = """
alias Left = u32;
alias Right = u32;
alias Result = array<i32, 8>;  // of a thread: elements lane, lane + 32, ...
fn emulated(x: u32, w: u32, c: Result, lane: u32) -> Result {
  var sum = c;
  for (var i = 0u; i < 8u; i++) {
    let e = lane + 32u * i;
    for (var k = 0u; k < 8u; k++) {
      sum[i] += dot4I8Packed(bitcast<u32>(words[x + e / 16u * ROW_WORDS + k]),
          bitcast<u32>(words[w + e % 16u * ROW_WORDS + k]));
    }
  }
  return sum;
}
fn emulated_store(to: u32, c: Result, step: u32, lane: u32) {
  var sum = c;
  for (var i = 0u; i < 8u; i++) { words[to + (lane / 16u + 2u * i) * step + lane % 16u] = sum[i]; }
}
"""


def emulated(wgsl):
    """Without matrices: every thread of 32 has its part of them."""
    for pattern, to in ((r"alias Left.*?alias Result[^;]*;", EMULATION),
                        (r"subgroupMatrixLoad<[^>]*>\(&words,([^;]*),\s+ROW_WORDS\);", r"\1;"),
                        (r"subgroupMatrixMultiplyAccumulate\(([^)]*)\)", r"emulated(\1, lane)"),
                        (r"subgroupMatrixStore<row_major>\(&words, ([^;]*)\);",
                         r"emulated_store(\1, lane);")):
        wgsl = re.sub(pattern, to, wgsl, flags=re.S)
    return wgsl.replace(UNIT_HEAD, "")


# Parts of the kernel that are left out to learn their time; the sums are then others: multiplying
# (m), unpacking (c), memory after the first step (l), results (e).
WITHOUT = [("m", r"c\d\d = subgroupMatrixMultiplyAccumulate[^;]*;", ""),
           ("c", r"layer_codes\((\(\*f\).codes\[i\]\[j\]), p, sub\)", r"\1"),
           ("l", r"if \(k0 \+ STEP < at.words\) \{ fetch[^}]*\}", ""),
           ("e", r"( finish_rows\(&[^;]*\);)", r" if (Z != 0u) { \1 }")]


def candidates(fmt, planes, outputs, kinds, limit=49152, chosen=None):
    """(name, WGSL, entry, rows of a unit, units across, units of a workgroup); the first one is the
    reference."""
    block = FORMATS[fmt][6]
    base = {**weight_constants(fmt), "PLANES": planes, "MATRICES": 1}
    if block:
        yield ("4 rows", kernel("arena weights matmul_blocks", {**base, "ROWS": 4}), "matmul", 4,
               -(-outputs // 16), 1)
    else:
        yield ("4 rows", kernel("arena weights join matmul_integer", {**base, "ROWS": 4}),
               "matmul", 4, -(-outputs // 16), 1)
    entry = "matmul_block_tiles" if block else "matmul_tiled"
    for rows, outs, down, across, ahead in (chosen or TILES) if "tiles" in kinds else ():
        c = {**base, "TILE_ROWS": rows, "TILE_OUTPUTS": outs, "ROW_FOURS": down,
             "OUT_FOURS": across, "PREFETCH": bool(ahead)}
        if block:
            c["BLOCK"] = block // 4
        yield ("%dx%d by %dx%d%s" % (rows, outs, 4 * down, 4 * across, ", ahead" * ahead),
               kernel("arena weights join tile_place product_tiles " + entry, c), entry, rows,
               -(-outputs // outs), 1)
    if block or "units" not in kinds:
        return
    for rows, outs, lines, cols, step, buffers, depth, how in chosen or UNITS:
        c = {**base, "TILE_ROWS": rows, "TILE_OUTPUTS": outs, "LINES": lines, "COLS": cols,
             "STEP": step, "BUFFERS": buffers, "DEPTH": depth}
        size = 4 * (step + 4) * buffers * (outs + planes * rows) + 12 * rows
        if lines % planes or size > limit:
            continue
        text = kernel("arena weights join tile_place matmul_units", c, UNIT_HEAD)
        for letter, pattern, to in WITHOUT:
            if letter in how:
                text = re.sub(pattern, to, text, flags=re.S)
        yield ("%dx%d units, %dx%d of %d, %d k, %d%s" % (
                   rows, outs, lines, cols, planes * rows * outs // (256 * lines * cols) * depth,
                   4 * step, buffers, (", " + how) * (how != "")),
               emulated(text) if "emulated" in kinds else text, "matmul_units", rows,
               -(-outputs // outs), 1)


# ---- a device

_keep = []


def view(text):
    data = text.encode()
    buffer = ffi.new("char[]", data)
    _keep.append(buffer)
    v = ffi.new("WGPUStringView*")
    v.data, v.length = buffer, len(data)
    return v[0]


def text_of(v):
    return ffi.unpack(v.data, v.length).decode() if v.data and v.length < 1 << 20 else ""


class Device:
    TOGGLES = (b"allow_unsafe_apis", b"use_vulkan_memory_model", b"skip_validation",
               b"disable_robustness")

    def __init__(self, backend, checks):
        self.results = {}
        self.errors = []
        names = [ffi.new("char[]", n) for n in self.TOGGLES[:2 if checks else 4]]
        listed = ffi.new("const char*[]", names)
        toggles = ffi.new("WGPUDawnTogglesDescriptor*")
        toggles.chain.sType = 0x5000A
        toggles.enabledToggleCount, toggles.enabledToggles = len(names), listed
        _keep.extend([names, listed, toggles])
        self.instance = lib.wgpuCreateInstance(ffi.NULL)

        def answered(key):
            def f(status, value, message, *_):
                self.results[key] = (value, text_of(message))
            return f
        self.on_adapter = ffi.callback(
            "void(WGPURequestAdapterStatus,WGPUAdapter,WGPUStringView,void*,void*)",
            answered("adapter"))
        self.on_device = ffi.callback(
            "void(WGPURequestDeviceStatus,WGPUDevice,WGPUStringView,void*,void*)",
            answered("device"))
        self.on_error = ffi.callback(
            "void(WGPUDevice const *,WGPUErrorType,WGPUStringView,void*,void*)",
            lambda d, t, message, *_: self.errors.append(text_of(message)))
        self.on_map = ffi.callback("void(WGPUMapAsyncStatus,WGPUStringView,void*,void*)",
                                   lambda s, m, *_: self.results.update(map=(s, text_of(m))))
        options = ffi.new("WGPURequestAdapterOptions*")
        options.nextInChain = ffi.addressof(toggles.chain)
        options.featureLevel = lib.WGPUFeatureLevel_Core
        options.powerPreference = lib.WGPUPowerPreference_HighPerformance
        options.backendType = backend
        lib.wgpuInstanceRequestAdapter(
            self.instance, options, self.info("WGPURequestAdapterCallbackInfo", self.on_adapter))
        self.adapter = self.wait("adapter")
        about = ffi.new("WGPUAdapterInfo*")
        lib.wgpuAdapterGetInfo(self.adapter, about)
        self.name = text_of(about.device) + ", " + text_of(about.description)
        self.limits = ffi.new("WGPULimits*")
        lib.wgpuAdapterGetLimits(self.adapter, self.limits)
        matrix = lib.WGPUFeatureName_ChromiumExperimentalSubgroupMatrix
        wanted = [f for f in (lib.WGPUFeatureName_Subgroups, matrix)
                  if lib.wgpuAdapterHasFeature(self.adapter, f)]
        self.units = matrix in wanted
        features = ffi.new("WGPUFeatureName[]", wanted)
        d = ffi.new("WGPUDeviceDescriptor*")
        d.nextInChain = ffi.addressof(toggles.chain)
        d.requiredFeatureCount, d.requiredFeatures = len(wanted), features
        d.requiredLimits = self.limits
        d.uncapturedErrorCallbackInfo.callback = self.on_error
        lib.wgpuAdapterRequestDevice(self.adapter, d,
                                     self.info("WGPURequestDeviceCallbackInfo", self.on_device))
        self.device = self.wait("device")
        self.queue = lib.wgpuDeviceGetQueue(self.device)

    def info(self, kind, callback):
        i = ffi.new(kind + "*")
        i.mode, i.callback = lib.WGPUCallbackMode_AllowProcessEvents, callback
        _keep.append(i)
        return i[0]

    def wait(self, key):
        while key not in self.results:
            lib.wgpuInstanceProcessEvents(self.instance)
        value, message = self.results.pop(key)
        if not value:
            sys.exit("no %s: %s" % (key, message))
        return value

    def error(self):
        lib.wgpuInstanceProcessEvents(self.instance)
        found, self.errors = " | ".join(self.errors), []
        return found

    def buffer(self, size, usage=None):
        b = ffi.new("WGPUBufferDescriptor*")
        b.size = -(-size // 16) * 16
        b.usage = usage or (lib.WGPUBufferUsage_Storage | lib.WGPUBufferUsage_CopyDst
                            | lib.WGPUBufferUsage_CopySrc)
        return lib.wgpuDeviceCreateBuffer(self.device, b)

    def write(self, buffer, offset, data):
        data = np.ascontiguousarray(data)
        lib.wgpuQueueWriteBuffer(self.queue, buffer, offset, ffi.from_buffer(data), data.nbytes)

    def pipeline(self, wgsl, entry, only_module=False):
        """The pipeline and its layout, or the message of an error."""
        source = ffi.new("WGPUShaderSourceWGSL*")
        source.chain.sType, source.code = lib.WGPUSType_ShaderSourceWGSL, view(wgsl)
        d = ffi.new("WGPUShaderModuleDescriptor*")
        d.nextInChain = ffi.addressof(source.chain)
        module = lib.wgpuDeviceCreateShaderModule(self.device, d)
        message = self.error()
        if message or only_module:
            return None, message
        entries = ffi.new("WGPUBindGroupLayoutEntry[3]")
        for i in range(3):
            entries[i].binding, entries[i].visibility = i, lib.WGPUShaderStage_Compute
            entries[i].buffer.type = (lib.WGPUBufferBindingType_Storage if i == 1 else
                                      lib.WGPUBufferBindingType_ReadOnlyStorage)
        g = ffi.new("WGPUBindGroupLayoutDescriptor*")
        g.entryCount, g.entries = 3, entries
        layout = lib.wgpuDeviceCreateBindGroupLayout(self.device, g)
        layouts = ffi.new("WGPUBindGroupLayout[]", [layout])
        pl = ffi.new("WGPUPipelineLayoutDescriptor*")
        pl.bindGroupLayoutCount, pl.bindGroupLayouts = 1, layouts
        p = ffi.new("WGPUComputePipelineDescriptor*")
        p.layout = lib.wgpuDeviceCreatePipelineLayout(self.device, pl)
        p.compute.module, p.compute.entryPoint = module, view(entry)
        pipeline = lib.wgpuDeviceCreateComputePipeline(self.device, p)
        return (pipeline, layout), self.error()

    def bind(self, layout, buffers):
        entries = ffi.new("WGPUBindGroupEntry[]", len(buffers))
        for i, b in enumerate(buffers):
            entries[i].binding, entries[i].buffer = i, b
            entries[i].size = lib.wgpuBufferGetSize(b)
        d = ffi.new("WGPUBindGroupDescriptor*")
        d.layout, d.entryCount, d.entries = layout, len(buffers), entries
        return lib.wgpuDeviceCreateBindGroup(self.device, d)

    def run(self, pipeline, group, groups, count, arena, offset, size):
        """`count` dispatches; seconds, and bytes of the arena after them."""
        staging = self.buffer(size, lib.WGPUBufferUsage_MapRead | lib.WGPUBufferUsage_CopyDst)
        start = time.perf_counter()
        e = lib.wgpuDeviceCreateCommandEncoder(self.device, ffi.NULL)
        p = lib.wgpuCommandEncoderBeginComputePass(e, ffi.NULL)
        lib.wgpuComputePassEncoderSetPipeline(p, pipeline)
        lib.wgpuComputePassEncoderSetBindGroup(p, 0, group, 0, ffi.NULL)
        for _ in range(count):
            lib.wgpuComputePassEncoderDispatchWorkgroups(p, *groups, 1)
        lib.wgpuComputePassEncoderEnd(p)
        lib.wgpuCommandEncoderCopyBufferToBuffer(e, arena, offset, staging, 0, size)
        commands = ffi.new("WGPUCommandBuffer[]", [lib.wgpuCommandEncoderFinish(e, ffi.NULL)])
        lib.wgpuQueueSubmit(self.queue, 1, commands)
        lib.wgpuBufferMapAsync(staging, lib.WGPUMapMode_Read, 0, size,
                               self.info("WGPUBufferMapCallbackInfo", self.on_map))
        self.wait("map")
        seconds = time.perf_counter() - start
        data = bytes(ffi.buffer(lib.wgpuBufferGetConstMappedRange(staging, 0, size), size))
        lib.wgpuBufferDestroy(staging)
        return seconds, data


# ---- operands

def weights(fmt, outputs, inputs):
    """The words of a matrix and its parameters. All groups of 64 outputs are equal."""
    _, layout, _, _, _, form, block, words, minima = FORMATS[fmt]
    random = np.random.default_rng(1)
    supers, panels = -(-inputs // 64), -(-outputs // 16)
    made = min(panels, 4)
    codes = random.integers(0, 1 << 32, (made, supers * words), np.uint64).astype(np.uint32)
    if layout == "PLAIN" and form == "INTEGER" and words == 256:
        codes &= np.uint32(0x7F7F7F7F)
    blocks = -(-inputs // block) if block else 0
    of_panel = blocks * 16 if block else 16
    factors = random.uniform(0.5, 2, (2, made, of_panel)).astype(np.float32).view(np.uint32)
    sections = [codes, factors[0]] + ([factors[1]] if minima else [])
    data = [np.tile(s, (-(-panels // made), 1))[:panels].reshape(-1) for s in sections]
    starts = np.cumsum([0] + [d.size for d in data])
    parameters = [outputs, inputs, supers * 64, supers * words, starts[1], 0,
                  starts[2] if minima else 0, block, blocks, 0]
    return np.concatenate(data), parameters


def activations(rows, inputs, planes):
    """Rows of q15: both planes, the scale, the sums of both. Of one plane lo is 0."""
    padded = -(-inputs // 64) * 64
    q = np.zeros((rows, padded), np.int32)
    q[:, :inputs] = np.random.default_rng(2).integers(-16256, 16257, (rows, inputs))
    high = (q + 64) >> 7
    low = (q - 128 * high) * (planes > 1)
    x = np.zeros((rows, padded // 2 + 16), np.uint32)
    x[:, :padded // 4] = high.astype(np.int8).view(np.uint32)
    x[:, padded // 4:padded // 2] = low.astype(np.int8).view(np.uint32)
    x[:, padded // 2] = np.float32(2.0 ** -14).view(np.uint32)
    x[:, padded // 2 + 1] = high.sum(1).astype(np.int32).view(np.uint32)
    x[:, padded // 2 + 2] = low.sum(1).astype(np.int32).view(np.uint32)
    return x


def recorded(device, pipeline, threads, units, x, operands):
    """Bindings and workgroups; operands: rows, outputs, inputs, the weights' words, buffers."""
    rows, outputs, inputs, parameters, arena, heap = operands
    slot = np.zeros(128, np.uint32)  # as parts/base.wgsl reads it
    slot[1] = units
    slot[8:12] = 0, x.shape[1], rows, inputs
    slot[16:20] = x.size, outputs, rows, outputs
    slot[68:78] = parameters
    slots = device.buffer(512)
    device.write(slots, 0, slot)
    total = -(-units // threads)
    return device.bind(pipeline[1], [slots, arena, heap]), (min(total, 65535), -(-total // 65535))


def compared(device, fmt, planes, matrix, rows, pipelines, options):
    """Every candidate once: [seconds, name, line, verdict on its bits, what runs it]."""
    model, outputs, inputs = matrix
    words, parameters = weights(fmt, outputs, inputs)
    heap = device.buffer(words.nbytes)
    device.write(heap, 0, words)
    x = activations(rows, inputs, planes)
    size = rows * outputs * 4
    arena = device.buffer(x.nbytes + size)
    device.write(arena, 0, x)
    nothing = np.full(rows * outputs, np.float32(np.nan))
    first, ready = None, []
    for name, wgsl, entry, tile, across, threads in candidates(
            fmt, planes, outputs, options.kinds,
            device.limits.maxComputeWorkgroupStorageSize, options.chosen):
        if rows > 128 and name == "4 rows" and not options.check:
            continue
        line = "%s, %d planes  %s %dx%d  %d rows  %s" % (fmt, planes, model, outputs, inputs, rows,
                                                         name)
        known = (fmt, planes, name) in pipelines
        if not known:
            pipelines[fmt, planes, name] = device.pipeline(wgsl, entry)
        made, message = pipelines[fmt, planes, name]
        if message:
            if not known:
                print(line, " REFUSED:", message[:200], flush=True)
            continue
        device.write(arena, x.nbytes, nothing)
        run = (made[0], *recorded(device, made, threads, -(-rows // tile) * across, x,
                                  (rows, outputs, inputs, parameters, arena, heap)))
        seconds, y = device.run(*run, 1, arena, x.nbytes, size)
        message = device.error()
        if message:
            print(line, " FAILED:", message[:200], flush=True)
            continue
        same = "reference" if first is None else "equal" if y == first else "DIFFERS"
        first = first or y
        ready.append([seconds, name, line, same, run])
    return ready, arena, heap


def measure(device, fmt, planes, matrix, rows, pipelines, fastest, options):
    """Every candidate once; then, without a pause, in which a device would lower its clock, all in
    turns."""
    ready, arena, heap = compared(device, fmt, planes, matrix, rows, pipelines, options)
    for turn in range(0 if options.check else 1 + options.turns):
        for one in ready:
            count = int(min(max(0.004 / one[0], 1), 300))
            if turn > 0 or one[0] < 0.05:
                seconds = device.run(*one[4], count, arena, 0, 64)[0] / count
                one[0] = seconds if turn < 2 else min(one[0], seconds)
    for best, name, line, same, _ in ready:
        text = "%s  %.1f us  %.1f TOPS  %s" % (
            line, best * 1e6, 2e-12 * planes * matrix[1] * matrix[2] * rows / best, same)
        if not options.sweep:
            print(text, flush=True)
        options.table.setdefault((fmt, planes, name), {})[matrix, rows] = best * 1e6, same
        kind = (fmt, planes, matrix, rows,
                name if name == "4 rows" else "units" if "units" in name else "tiles")
        if same != "DIFFERS" and best < fastest.get(kind, (1e9, ""))[0]:
            fastest[kind] = best, text
    for b in (heap, arena):
        lib.wgpuBufferDestroy(b)


CELLS = [(576, 576, 512), (1536, 576, 512), (576, 1536, 512), (1536, 1536, 512), (8960, 1536, 512),
         (1536, 8960, 512), (18944, 3584, 512), (576, 1536, 128), (1536, 1536, 128),
         (18944, 3584, 128), (8960, 1536, 2048)]
FEW = [UNITS[i] for i in (0, 2, 3, 4, 7, 8, 10, 13, 14, 15, 16, 17)]
FEW_TILES = [TILES[i] for i in (1, 3, 4, 9)]
PARTS_OFF = [unit[:7] + (off,) for unit in (UNITS[0], UNITS[2], UNITS[16])
             for off in ("", "m", "c", "l", "e", "mc", "mcl", "mcle")]
# format, planes, cells, kinds, units
SWEEP = [("i4:a4", 1, CELLS, "units", UNITS), ("i4:a4", 2, CELLS, "units", FEW),
         ("i4:a4", 1, CELLS[1:8:3], "units", PARTS_OFF),
         ("i8", 1, CELLS[1:8:3], "units", FEW), ("i4:a4", 1, CELLS[1:8:3], "tiles", FEW_TILES),
         ("i4:a4", 2, CELLS[1:8:3], "tiles", FEW_TILES),
         ("q4_0", 1, CELLS[1:8:3], "tiles", FEW_TILES),
         ("q4_0", 2, CELLS[1:8:3], "tiles", FEW_TILES), ("q4_k", 1, CELLS[4:5], "tiles", FEW_TILES),
         ("q6_k", 1, CELLS[4:5], "tiles", FEW_TILES)]


def sweep(device, options):
    start, pipelines = time.monotonic(), {}
    for fmt, planes, cells, options.kinds, options.chosen in SWEEP:
        options.table = {}
        for outputs, inputs, rows in cells:
            if time.monotonic() - start < options.seconds:
                measure(device, fmt, planes, ("", outputs, inputs), rows, pipelines, {}, options)
        print("%s, %d planes: microseconds (! other bits); %.0f s" % (
            fmt, planes, time.monotonic() - start))
        print(" ".join("%dx%d:%d" % cell for cell in cells))
        for (_, _, name), times in options.table.items():
            line = ""
            for outputs, inputs, rows in cells:
                best, same = times.get((("", outputs, inputs), rows), (0, ""))
                line += " %7.1f%s" % (best, "!" if same == "DIFFERS" else " ")
            print(line, name, flush=True)
    return 0


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--check", action="store_true", help="small matrices, once each")
    p.add_argument("--compile", action="store_true", help="only compile, on no GPU")
    p.add_argument("--formats", default="i4:a4,q4_0",
                   help="of " + ", ".join(FORMATS))
    p.add_argument("--kinds", default="tiles,units",
                   help="units: where the device has them; emulated units: by plain loops")
    p.add_argument("--planes", default="2,1", help="of activations: two, or the one of i8")
    p.add_argument("--models", default="135M,1.5B,7B")
    p.add_argument("--rows", default="")
    p.add_argument("--sweep", action="store_true", help="what SWEEP lists, as tables")
    p.add_argument("--turns", type=int, default=6)
    p.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    options = p.parse_args()
    device = Device(lib.WGPUBackendType_Null if options.compile else lib.WGPUBackendType_Undefined,
                    options.check or options.compile)
    print("%s; matrix units: %s; workgroups: %d bytes" % (
        device.name, device.units, device.limits.maxComputeWorkgroupStorageSize), flush=True)
    if not device.units and "emulated" not in options.kinds:
        options.kinds = options.kinds.replace("units", "")
    formats = options.formats.split(",")
    planes_of = [int(n) for n in options.planes.split(",")]
    options.table, options.chosen = {}, None
    if options.compile:
        failed = 0
        for fmt in formats:
            for planes in planes_of:
                for name, wgsl, entry, *_ in candidates(fmt, planes, 256, options.kinds):
                    _, message = device.pipeline(wgsl, entry, True)
                    failed += bool(message)
                    print(fmt, planes, name, message or "compiles", flush=True)
        return failed != 0
    if options.sweep:
        return sweep(device, options)
    rows = [int(r) for r in options.rows.split(",") if r] or (
        [5, 70, 130] if options.check else [128, 512, 2048])
    matrices = SMALL if options.check else [m for m in MATRICES
                                            if m[0] in options.models.split(",")]
    start, pipelines, fastest = time.monotonic(), {}, {}
    for fmt in formats:
        for planes in planes_of:
            for matrix in matrices:
                for r in rows:
                    if time.monotonic() - start < options.seconds:
                        measure(device, fmt, planes, matrix, r, pipelines, fastest, options)
    print("\nThe fastest of each kind:")
    for _, text in fastest.values():
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
