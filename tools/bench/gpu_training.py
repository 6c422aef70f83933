"""Products in f32 of training on a GPU, by every shape of tile: y = x W^T, gx = gy W, gw = gy^T x.
src/ops/products/matmul/float_tiles.cpp is chosen by these figures. Needs
`pip install wgpudawn cffi numpy`.

    python3 tools/bench/gpu_training.py                   # a decoder's matrices, and small ones
    python3 tools/bench/gpu_training.py --check           # odd ones: are the bits equal?
    python3 tools/bench/gpu_training.py --compile         # no GPU: does the WGSL compile?

A line for each product, matrix, number of rows and kernel: microseconds, TFLOP/s, and whether the
bits are those of the first line, a thread for each result."""
import argparse
import sys
import time

import numpy as np
from gpu_products import Device, kernel, lib

# rows, outputs, inputs
SHAPES = [(1024, 576, 576), (1024, 192, 576), (1024, 1536, 576), (1024, 576, 1536),
          (1024, 4096, 576)]
SMALL = [(70, 132, 100), (33, 64, 160), (1056, 68, 36)]
ODD = [(37, 67, 101), (45, 81, 33)]  # no multiple of four words
# rows, outputs, fours of rows and of outputs of a thread, elements of a step, buffers,
# chunks side by side
TILES = [(32, 32, 1, 1, 32, 1, 1), (32, 32, 1, 1, 32, 1, 2),
         (32, 32, 1, 1, 32, 1, 4), (32, 32, 1, 1, 16, 1, 4), (32, 32, 1, 1, 16, 2, 4),
         (32, 48, 1, 1, 32, 1, 1), (32, 48, 1, 1, 32, 1, 2), (32, 48, 1, 1, 16, 1, 4),
         (32, 48, 1, 1, 16, 2, 2), (32, 64, 1, 1, 32, 1, 1), (32, 64, 1, 1, 16, 1, 2),
         (64, 48, 1, 1, 32, 1, 1), (64, 48, 1, 1, 16, 1, 2), (96, 48, 1, 1, 16, 1, 2),
         (64, 48, 2, 1, 16, 1, 2), (64, 64, 1, 1, 32, 1, 1),
         (64, 64, 1, 1, 16, 1, 1), (64, 64, 1, 1, 16, 2, 1), (64, 64, 2, 1, 32, 1, 1),
         (64, 64, 2, 1, 16, 1, 1), (64, 64, 1, 2, 16, 1, 1), (64, 64, 2, 1, 16, 1, 2),
         (128, 64, 2, 1, 16, 1, 1), (64, 128, 1, 2, 16, 1, 1),
         (128, 64, 2, 2, 16, 1, 1)]
PLAIN = {"y": ("arena weights matmul_float", "matmul"),
         "gx": ("arena weights weight_rows", "matmul_t"),
         "gw": ("arena row_sum gradient", "weight_grad")}
IN_TILES = {"y": "matmul_tile", "gx": "matmul_t_tile", "gw": "tiles_gradient"}
ENTRIES = {"y": "matmul_tile", "gx": "matmul_t_tile", "gw": "weight_grad_tile"}


def weight_constants(plain):
    c = {"LAYERS": 1, "BITS": 32, "MANTISSA": 0, "BIAS": 0, "OFFSET": 0, "HAS_SCALES": False,
         "HAS_MINIMA": False, "HAS_ZEROS": False, "HAS_BIAS": False}
    return {**c, "FORM": "FLOAT_FORM", "DTYPE": "F32", "LAYOUT": "PLAIN"} if plain else c


def tile_kernel(product, tile, fused, fours, depth):
    rows, outputs, down, across, step, buffers, lanes = tile
    c = {"TILE_ROWS": rows, "TILE_OUTPUTS": outputs, "ROW_FOURS": down, "OUT_FOURS": across,
         "STEP": step, "BUFFERS": buffers, "LANES": lanes, "FUSED": fused}
    arena = "arena_fours " if fours else "arena fours "
    if product == "gw":
        return kernel(arena + "times tiles " + IN_TILES[product], {**c, "DEPTH": depth})
    weights = "panel_fours" if fours else "weights weight_fours"
    return kernel("%s %s times tiles %s" % (arena, weights, IN_TILES[product]),
                  {**weight_constants(not fours), **c})


def candidates(product, depth, options):
    """(name, WGSL, entry, the tile); the first one is the reference."""
    pieces, entry = PLAIN[product]
    constants = {} if product == "gw" else weight_constants(True)
    yield "a thread each", kernel(pieces, constants), entry, None
    for tile in TILES:
        for fused in (True, False):
            for fours in (True, False):
                if (fused, fours) != (True, True) and tile != TILES[0]:
                    continue
                name = "%dx%d by %dx%d, %d k, %d buffers, %d lanes" % (
                    tile[0], tile[1], 4 * tile[2], 4 * tile[3], *tile[4:])
                name += (", fused" if fused else ", guarded") + (", fours" if fours else "")
                yield (name, tile_kernel(product, tile, fused, fours, depth),
                       ENTRIES[product], tile)


def panels(w):
    """As packing.md has them: 16 outputs side by side, inputs up to a multiple of 32."""
    outputs, inputs = w.shape
    padded = np.zeros((-(-outputs // 16) * 16, -(-inputs // 32) * 32), np.float32)
    padded[:outputs, :inputs] = w
    return np.ascontiguousarray(padded.reshape(-1, 16, padded.shape[1]).transpose(0, 2, 1))


def awkward(random, shape, check):
    """Values as instructions store them: some are 0, -0, NaN or infinite where bits are checked."""
    v = random.standard_normal(shape, np.float32)
    if check:
        v *= np.exp2(random.integers(-30, 30, shape)).astype(np.float32)
        v[random.random(shape) < 0.1] = 0
        v[random.random(shape) < 0.1] *= np.float32(-0.0)
        for x in (np.nan, np.inf, -np.inf):
            v[random.random(shape) < 0.0005] = x
    v[np.abs(v) < 2.0 ** -40] = 0
    return v


class Problem:
    """Operands of one product in device memory: the arena with its two sides and the result."""

    def __init__(self, device, product, shape, check):
        self.device, self.product = device, product
        self.rows, self.outputs, self.inputs = shape
        random = np.random.default_rng(1)
        x = awkward(random, (self.rows, self.inputs), check)
        gy = awkward(random, (self.rows, self.outputs), check)
        w = panels(awkward(random, (self.outputs, self.inputs), False))
        sides = {"y": [x], "gx": [gy], "gw": [gy, x]}[product]
        self.results = {"y": (self.rows, self.outputs), "gx": (self.rows, self.inputs),
                        "gw": (self.outputs, self.inputs)}[product]
        starts = np.cumsum([0] + [-(-s.size // 16) * 16 for s in sides])
        self.at = int(starts[-1]) * 4
        self.size = 4 * self.results[0] * self.results[1]
        self.arena, self.heap = device.buffer(self.at + self.size), device.buffer(w.nbytes)
        for s, at in zip(sides, starts):
            device.write(self.arena, int(at) * 4, s)
        device.write(self.heap, 0, w)
        self.slots = device.buffer(512)
        operands = [(int(at), s.shape[1], *s.shape) for s, at in zip(sides, starts)]
        result = (int(starts[-1]), self.results[1], *self.results)
        self.slot = np.zeros(128, np.uint32)  # as parts/base.wgsl reads it
        for i, o in zip({"y": (1, 3), "gx": (1, 2), "gw": (0, 1, 2)}[product],
                        operands + [result]):
            self.slot[4 + 4 * i:8 + 4 * i] = o
        self.slot[68:78] = [self.outputs, self.inputs, w.shape[1], w.shape[1] * 16, 0, 0, 0, 0, 0,
                            0]

    def prepare(self, tile, pipeline, weights):
        across = self.results[1]
        units = self.results[0] * across
        threads = 64
        if tile:
            units = -(-self.results[0] // tile[0]) * -(-across // tile[1])
            threads = 1
        self.slot[1] = units
        self.device.write(self.slots, 0, self.slot)
        self.device.write(self.arena, self.at, np.full(self.size // 4, np.nan, np.float32))
        total = -(-units // threads)
        buffers = [self.slots, self.arena] + ([self.heap] if weights else [])
        return (self.device.bind(pipeline[1], buffers), (min(total, 65535), -(-total // 65535)))

    def release(self):
        for b in (self.arena, self.heap, self.slots):
            lib.wgpuBufferDestroy(b)


def measure(device, product, shape, pipelines, options, fastest):
    problem = Problem(device, product, shape, options.check)
    depth = ((shape[0] + 1023) // 1024).bit_length()
    first = None
    flops = 2e-12 * shape[0] * shape[1] * shape[2]
    for name, wgsl, entry, tile in candidates(product, depth, options):
        if "fours" in name and any(n % 4 for n in shape[1:]):
            continue
        line = "%-2s  %d rows, %dx%d  %s" % ((product,) + shape + (name,))
        if wgsl not in pipelines:
            pipelines[wgsl] = device.pipeline(wgsl, entry)
        made, message = pipelines[wgsl]
        if message:
            print(line, " REFUSED:", message[:400], flush=True)
            continue
        # the layout of pipeline() always has three bindings
        group, groups = problem.prepare(tile, made, True)
        seconds, y = device.run(made[0], group, groups, 1, problem.arena, problem.at, problem.size)
        message = device.error()
        if message:
            print(line, " FAILED:", message[:400], flush=True)
            continue
        best = seconds
        for _ in range(0 if options.check or seconds > 0.05 else 3):
            count = int(min(max(0.005 / best, 20), 100))
            best = min(best, device.run(made[0], group, groups, count, problem.arena, 0, 64)[0]
                       / count)
        y = np.frombuffer(y, np.uint32)
        same = ("reference" if first is None else "equal" if np.array_equal(y, first)
                else "DIFFERS in %d" % np.count_nonzero(y != first))
        first = y if first is None else first
        text = "%s  %.1f us  %.2f TFLOP/s  %s" % (line, best * 1e6, flops / best, same)
        if options.check or tile in TILES[:1] or tile is None or "DIFFERS" in same or options.all:
            print(text, flush=True)
        if tile and "DIFFERS" not in same:
            fastest.setdefault((product, shape), []).append((best, text))
        options.different += "DIFFERS" in same
    problem.release()


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--check", action="store_true", help="small matrices, once each")
    p.add_argument("--compile", action="store_true", help="only compile, on no GPU")
    p.add_argument("--all", action="store_true", help="a line for each kernel, not the fastest")
    p.add_argument("--products", default="y,gx,gw")
    p.add_argument("--best", type=int, default=5, help="how many of the fastest")
    p.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    options = p.parse_args()
    options.different = 0
    device = Device(lib.WGPUBackendType_Null if options.compile else lib.WGPUBackendType_Undefined,
                    options.check or options.compile)
    print("%s; workgroups: %d bytes" % (device.name,
                                        device.limits.maxComputeWorkgroupStorageSize), flush=True)
    products = options.products.split(",")
    if options.compile:
        options.check, failed = True, 0
        for product in products:
            for name, wgsl, entry, _ in candidates(product, 2, options):
                _, message = device.pipeline(wgsl, entry, True)
                failed += bool(message)
                print(product, name, message or "compiles", flush=True)
        return failed != 0
    start, pipelines, fastest = time.monotonic(), {}, {}
    for product in [] if options.check else products:  # a device slows down while it waits
        for _, wgsl, entry, _ in candidates(product, 1, options):
            pipelines[wgsl] = device.pipeline(wgsl, entry)
    for shape in SMALL + ODD if options.check else SHAPES:
        for product in products:
            if time.monotonic() - start < options.seconds:
                measure(device, product, shape, pipelines, options, fastest)
    if not options.check:
        print("\nThe fastest of each:")
        for lines in fastest.values():
            for _, text in sorted(lines)[:options.best]:
                print(text)
    print("%d differ; %.0f s" % (options.different, time.monotonic() - start))
    return options.different != 0


if __name__ == "__main__":
    sys.exit(main())
