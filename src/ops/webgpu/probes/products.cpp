// Whether a kernel of products of class I computes exact sums: rows and outputs of extremes, and
// others, beside integers of the host's.
#include <algorithm>
#include <vector>

#include "ops/products/matmul/tile_shapes.h"
#include "ops/webgpu/probes/probes.h"

namespace loom::webgpu {
namespace {

constexpr std::uint32_t kRows = 64, kOutputs = 128, kCols = 1024, kPlane = kCols / 4,
                        kStride = 2 * kPlane + 16, kSlot = 128;

// Values of x (plane 0, 1) and of weights (2) at (row, k). Every fourth row has extremes.
int value(std::uint32_t which, std::uint32_t row, std::uint32_t k) {
  const int largest = which == 1 ? 63 : 127;
  if (row % 4 == 3) return row % 16 == 7 && k % 2 == 1 ? -largest : largest;
  std::uint32_t h = (row * kCols + k) * 2654435761u + which * 40503u;
  h = (h ^ (h >> 15)) * 2246822519u;
  return static_cast<int>((h >> 8) % static_cast<std::uint32_t>(2 * largest + 1)) - largest;
}
float to_f32(std::int32_t s) {
  return static_cast<float>(s >> 12) * 4096.0f + static_cast<float>(s & 4095);
}

// Of x, behind which the results come, and of weights as a panel of i8 has them, behind which are
// their scales: all scales are 1.
struct Operands {
  std::vector<std::uint32_t> x = std::vector<std::uint32_t>(kRows * kStride),
                             w = std::vector<std::uint32_t>(kOutputs * kPlane + kOutputs);

  Operands() {
    for (std::uint32_t k = 0; k < kCols; ++k) {
      for (std::uint32_t r = 0; r < kRows; ++r)
        for (std::uint32_t plane = 0; plane < 2; ++plane)
          put(x[r * kStride + plane * kPlane + k / 4], k, value(plane, r, k));
      for (std::uint32_t n = 0; n < kOutputs; ++n)
        put(w[(n / 16 * kPlane + k / 4) * 16 + n % 16], k, value(2, n, k) + 128);
    }
    for (std::uint32_t r = 0; r < kRows; ++r) x[r * kStride + 2 * kPlane] = kOne;
    std::fill(w.end() - kOutputs, w.end(), kOne);
  }

 private:
  static constexpr std::uint32_t kOne = 0x3F800000u;
  static void put(std::uint32_t& word, std::uint32_t k, int v) {
    word |= (static_cast<std::uint32_t>(v) & 255u) << (8 * (k % 4));
  }
};

bool exact(std::span<const float> y) {
  for (std::uint32_t i = 0; i < y.size(); ++i) {
    std::int32_t high = 0, low = 0;
    for (std::uint32_t k = 0; k < kCols; ++k) {
      const int w = value(2, i % kOutputs, k);
      high += value(0, i / kOutputs, k) * w;
      low += value(1, i / kOutputs, k) * w;
    }
    if (y[i] != to_f32(high) * 128.0f + to_f32(low)) return false;
  }
  return true;
}

// The parameters as kernels/parts/base.wgsl and weights.wgsl read them.
std::vector<std::uint32_t> slot_of(std::uint32_t units, std::uint32_t results) {
  std::vector<std::uint32_t> slot(kSlot);
  const std::uint32_t x[] = {0, kStride, kRows, kCols}, y[] = {results, kOutputs, kRows, kOutputs},
                      w[] = {kOutputs, kCols, kCols, kPlane * 16, kOutputs * kPlane};
  slot[1] = units;
  std::copy(std::begin(x), std::end(x), slot.begin() + 8);
  std::copy(std::begin(y), std::end(y), slot.begin() + 16);
  std::copy(std::begin(w), std::end(w), slot.begin() + 68);
  return slot;
}

}  // namespace

Result<bool> exact_products(gpu::Device& device, const TileShape& shape) {
  const Operands operands;
  std::vector<float> y(std::size_t{kRows} * kOutputs);
  WeightArg arg;
  arg.scales = y.data();  // there are some
  arg.rows = kOutputs;
  arg.bits = 8;
  arg.offset = 128;
  arg.dtype = static_cast<int>(DType::i8);
  arg.form = kIntegerForm;
  const WeightArg* const matrices[] = {&arg};
  const WideKernel tile = tile_kernel(shape, matrices, 2, false);
  const auto units = static_cast<std::uint32_t>((kRows + tile.tile - 1) / tile.tile * tile.factor);
  const std::uint64_t results = operands.x.size();
  const std::vector<std::uint32_t> slot = slot_of(units, static_cast<std::uint32_t>(results));
  LOOM_ASSIGN(const gpu::Buffer arena,
              gpu::Buffer::create(device, 4 * (results + y.size()), "self test"));
  LOOM_ASSIGN(const gpu::Buffer heap,
              gpu::Buffer::create(device, 4 * operands.w.size(), "self test"));
  LOOM_ASSIGN(const gpu::Buffer parameters, gpu::Buffer::create(device, 4 * kSlot, "self test"));
  LOOM_TRY(device.write(arena.handle(), 0, std::as_bytes(std::span(operands.x))));
  LOOM_TRY(device.write(heap.handle(), 0, std::as_bytes(std::span(operands.w))));
  LOOM_TRY(device.write(parameters.handle(), 0, std::as_bytes(std::span(slot))));
  const auto pipeline = pipeline_of(device, tile.kernel);
  if (!pipeline.ok()) return false;
  const gpu::Binding bindings[] = {{parameters.handle()}, {arena.handle()}, {heap.handle()}};
  LOOM_ASSIGN(const gpu::Handle group, device.bind(*pipeline, bindings));
  const gpu::Dispatch one{*pipeline, group, units};
  LOOM_TRY(device.submit({&one, 1}));
  const gpu::ReadRange range{arena.handle(), 4 * results, std::as_writable_bytes(std::span(y))};
  const Status read = device.read({&range, 1});
  device.destroy_bindings(group);
  LOOM_TRY(read);
  return exact(y);
}

}  // namespace loom::webgpu
