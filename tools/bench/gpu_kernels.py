#!/usr/bin/env python3
"""Time of every kernel that a Python program runs on a GPU through Loom, by the GPU's own clock;
run by hand, not in CI. Needs `pip install wgpudawn cffi`.

    [GPU_KERNELS_ROWS=40] python3 tools/bench/gpu_kernels.py PROGRAM.py [ARGUMENTS]

Loom gets a WebGPU whose passes have one dispatch each, with a timestamp before and after it. The
first half of the dispatches of a kernel warms up and is left out. Printed at the end, the largest
share first: the number of dispatches, the median of their microseconds, the sum of the measured,
and the share of it; by kernel and number of workgroups. A pass for each dispatch costs the host
time, so that the program itself is slower than it is without.
"""
import atexit
import collections
import os
import pathlib
import runpy
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("LOOM_LIBRARY", str(ROOT / "build" / "release" / "libloom.so"))
sys.path.insert(0, str(ROOT / "bindings" / "python"))

import welvet  # noqa: E402
from wgpudawn._lib import ffi, lib  # noqa: E402

QUERIES = 4096  # WebGPU's limit of a set
ROWS = int(os.environ.get("GPU_KERNELS_ROWS", "40"))


def pointer(kind):
    return ffi.new(kind + "*")


class Recorder:
    """Functions in place of some of the library's, and what they have seen."""

    def __init__(self):
        self.kept, self.names, self.device = [], {}, None
        self.encoder_of, self.pipeline, self.group = {}, {}, {}  # by pass
        self.next_pass = 1
        self.sets = collections.defaultdict(list)  # of an encoder: query sets and their kernels
        self.ready = []  # (buffer of timestamps, kernels)
        self.pages = []

    def functions(self):
        table = {n: ffi.addressof(lib, n) for n in dir(lib) if n.startswith("wgpu")}
        for name in ("AdapterRequestDevice", "DeviceCreateComputePipeline",
                     "CommandEncoderBeginComputePass", "ComputePassEncoderSetPipeline",
                     "ComputePassEncoderSetBindGroup", "ComputePassEncoderDispatchWorkgroups",
                     "ComputePassEncoderEnd", "ComputePassEncoderRelease", "CommandEncoderFinish",
                     "DeviceDestroy"):
            original = table["wgpu" + name]
            own = ffi.callback(ffi.typeof(original),
                               getattr(self, name))
            self.kept.append(own)
            table["wgpu" + name] = own
        return {name: int(ffi.cast("intptr_t", f)) for name, f in table.items()}

    def AdapterRequestDevice(self, adapter, descriptor, info):
        copy = pointer("WGPUDeviceDescriptor")
        copy[0] = descriptor[0]
        wanted = ffi.new("WGPUFeatureName[]", [
            *(descriptor.requiredFeatures[i] for i in range(descriptor.requiredFeatureCount)),
            lib.WGPUFeatureName_TimestampQuery])
        copy.requiredFeatures, copy.requiredFeatureCount = wanted, len(wanted)
        # Dawn rounds timestamps to a tenth of a millisecond.
        names = [ffi.new("char[]", b"timestamp_quantization")]
        off = ffi.new("const char*[]", names)
        toggles = pointer("WGPUDawnTogglesDescriptor")
        if descriptor.nextInChain:
            toggles[0] = ffi.cast("WGPUDawnTogglesDescriptor*", descriptor.nextInChain)[0]
        toggles.chain.sType = lib.WGPUSType_DawnTogglesDescriptor
        toggles.disabledToggles, toggles.disabledToggleCount = off, 1
        copy.nextInChain = ffi.addressof(toggles.chain)
        self.kept += [copy, wanted, names, off, toggles]
        return lib.wgpuAdapterRequestDevice(adapter, copy, info)

    def DeviceCreateComputePipeline(self, device, descriptor):
        self.device = device
        made = lib.wgpuDeviceCreateComputePipeline(device, descriptor)
        label, entry = (ffi.unpack(s.data, s.length).decode() if s.data else ""
                        for s in (descriptor.label, descriptor.compute.entryPoint))
        self.names[made] = entry, label
        return made

    def CommandEncoderBeginComputePass(self, encoder, descriptor):
        lib.wgpuCommandEncoderAddRef(encoder)  # until the pass is released
        made = ffi.cast("WGPUComputePassEncoder", self.next_pass)
        self.encoder_of[self.next_pass] = encoder
        self.next_pass += 1
        return made

    def key(self, of_pass):
        return int(ffi.cast("intptr_t", of_pass))

    def ComputePassEncoderSetPipeline(self, of_pass, pipeline):
        self.pipeline[self.key(of_pass)] = pipeline

    def ComputePassEncoderSetBindGroup(self, of_pass, index, group, count, offsets):
        self.group[self.key(of_pass)] = group

    def ComputePassEncoderDispatchWorkgroups(self, of_pass, x, y, z):
        key = self.key(of_pass)
        encoder, pipeline = self.encoder_of[key], self.pipeline[key]
        sets = self.sets[encoder]
        if not sets or len(sets[-1][1]) == QUERIES // 2:
            d = pointer("WGPUQuerySetDescriptor")
            d.type, d.count = lib.WGPUQueryType_Timestamp, QUERIES
            sets.append((lib.wgpuDeviceCreateQuerySet(self.device, d), []))
        queries, kernels = sets[-1]
        writes = pointer("WGPUPassTimestampWrites")
        writes.querySet = queries
        writes.beginningOfPassWriteIndex = 2 * len(kernels)
        writes.endOfPassWriteIndex = 2 * len(kernels) + 1
        d = pointer("WGPUComputePassDescriptor")
        d.timestampWrites = writes
        real = lib.wgpuCommandEncoderBeginComputePass(encoder, d)
        lib.wgpuComputePassEncoderSetPipeline(real, pipeline)
        lib.wgpuComputePassEncoderSetBindGroup(real, 0, self.group[key], 0, ffi.NULL)
        lib.wgpuComputePassEncoderDispatchWorkgroups(real, x, y, z)
        lib.wgpuComputePassEncoderEnd(real)
        lib.wgpuComputePassEncoderRelease(real)
        kernels.append((*self.names[pipeline], x * y * z))

    def ComputePassEncoderEnd(self, of_pass):
        pass  # there is none

    def ComputePassEncoderRelease(self, of_pass):
        key = self.key(of_pass)
        self.pipeline.pop(key, None), self.group.pop(key, None)
        lib.wgpuCommandEncoderRelease(self.encoder_of.pop(key))

    def CommandEncoderFinish(self, encoder, descriptor):
        for queries, kernels in self.sets.pop(encoder, []):
            size = 16 * len(kernels)
            resolved, mapped = (self.buffer(size, usage) for usage in (
                lib.WGPUBufferUsage_QueryResolve | lib.WGPUBufferUsage_CopySrc,
                lib.WGPUBufferUsage_MapRead | lib.WGPUBufferUsage_CopyDst))
            lib.wgpuCommandEncoderResolveQuerySet(encoder, queries, 0, 2 * len(kernels), resolved,
                                                  0)
            lib.wgpuCommandEncoderCopyBufferToBuffer(encoder, resolved, 0, mapped, 0, size)
            self.ready.append((mapped, size, kernels))
            lib.wgpuBufferRelease(resolved)
            lib.wgpuQuerySetRelease(queries)
        return lib.wgpuCommandEncoderFinish(encoder, descriptor)

    def buffer(self, size, usage):
        d = pointer("WGPUBufferDescriptor")
        d.size, d.usage = size, usage
        return lib.wgpuDeviceCreateBuffer(self.device, d)

    def DeviceDestroy(self, device):
        self.collect(device)
        lib.wgpuDeviceDestroy(device)

    def collect(self, device):
        """Reads the timestamps of everything submitted."""
        for buffer, size, kernels in self.ready:
            done = []
            on_map = ffi.callback("void(WGPUMapAsyncStatus, WGPUStringView, void*, void*)",
                                  lambda status, *_: done.append(status))
            info = pointer("WGPUBufferMapCallbackInfo")
            info.mode, info.callback = lib.WGPUCallbackMode_AllowSpontaneous, on_map
            lib.wgpuBufferMapAsync(buffer, lib.WGPUMapMode_Read, 0, size, info[0])
            while not done:
                lib.wgpuDeviceTick(device)
            self.kept.append(on_map)
            times = ffi.unpack(ffi.cast("uint64_t*", lib.wgpuBufferGetConstMappedRange(
                buffer, 0, size)), 2 * len(kernels))
            self.pages.append([(kernel, (times[2 * i + 1] - times[2 * i]) / 1e3)
                               for i, kernel in enumerate(kernels)])
            lib.wgpuBufferRelease(buffer)
        self.ready = []

    def report(self):
        if self.device and self.ready:
            self.collect(self.device)
        found = collections.defaultdict(list)
        for page in self.pages:
            for kernel, time in page:
                found[kernel].append(time)
        found = {kernel: times[len(times) // 2:] for kernel, times in found.items()}
        total = sum(map(sum, found.values()))
        print(f"{'entry':24} {'groups':>7} {'times':>7} {'median us':>10} {'sum ms':>9} {'%':>5}")
        for (entry, label, groups), times in sorted(found.items(), key=lambda f: -sum(f[1]))[:ROWS]:
            print(f"{entry:24} {groups:7} {len(times):7} {statistics.median(times):10.2f} "
                  f"{sum(times) / 1e3:9.2f} {100 * sum(times) / total:5.1f}")
        print(f"{'all':24} {'':7} {sum(map(len, found.values())):7} {'':10} {total / 1e3:9.2f}",
              flush=True)


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    recorder = Recorder()
    welvet.use_webgpu(recorder.functions())
    welvet.use_webgpu = lambda functions: None  # the program's own comes too late
    atexit.register(recorder.report)
    del sys.argv[0]
    sys.path.insert(0, str(pathlib.Path(sys.argv[0]).resolve().parent))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
