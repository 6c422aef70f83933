#include "ops/products/matmul/float_tiles.h"

#include <algorithm>

#include "ops/lowering/weight_forms.h"

namespace loom {
namespace {

using webgpu::constant, webgpu::Launches, webgpu::WideKernel;

struct FloatTile {
  int rows, outputs;         // of a tile: multiples of 32
  int row_fours, out_fours;  // of a thread: 1 or 2
  int step, buffers;         // elements staged together, and how often

  std::int64_t tiles_of(std::int64_t m, std::int64_t n) const {
    return (m + rows - 1) / rows * ((n + outputs - 1) / outputs);
  }
};

// The fastest of sixteen shapes on an H200 (tools/bench_gpu_training.py): small tiles where large
// ones would leave multiprocessors without work.
constexpr FloatTile kSmall{32, 32, 1, 1, 32, 1}, kLarge{64, 64, 1, 1, 32, 1};
constexpr std::int64_t kLargeTiles = 256;  // from as many on
constexpr std::int64_t kRows = 32, kOutputs = 16;  // from as many on tiles are taken at all

std::string constants_of(const FloatTile& t, const gpu::Limits& limits) {
  return constant("TILE_ROWS", t.rows) + constant("TILE_OUTPUTS", t.outputs) +
         constant("ROW_FOURS", t.row_fours) + constant("OUT_FOURS", t.out_fours) +
         constant("STEP", t.step) + constant("BUFFERS", t.buffers) +
         webgpu::flag("FUSED", limits.fma);
}

void add_wide(Launches& l, const FloatTile& t, std::int64_t rows, std::string_view entry,
              std::int64_t outputs) {
  if (rows > l.max_rows(1)) return;
  WideKernel wide{l.last().kernel, rows, t.rows, t.tiles_of(1, outputs)};
  const bool fours = l.in_fours();
  wide.kernel.pieces = fours ? "arena_fours " : "arena fours ";
  wide.kernel.pieces += fours && l.weight().form == kFloatForm && !l.weight().scales
                            ? "panel_fours"
                            : "weights weight_fours";
  wide.kernel.pieces += " times tiles ";
  wide.kernel.pieces += wide.kernel.entry = entry;
  wide.kernel.constants += constants_of(t, l.limits);
  l.last().wide.push_back(std::move(wide));
}
void add_wides(Launches& l, std::string_view entry, std::int64_t outputs) {
  if (outputs < kOutputs) return;
  add_wide(l, kSmall, kRows, entry, outputs);
  const std::int64_t across = kLarge.tiles_of(1, outputs);
  add_wide(l, kLarge, (kLargeTiles + across - 1) / across * kLarge.rows, entry, outputs);
}

}  // namespace

void add_product_tiles(Launches& l) { add_wides(l, "matmul_tile", l.cols(3)); }
void add_back_product_tiles(Launches& l) { add_wides(l, "matmul_t_tile", l.cols(2)); }

bool add_gradient_tiles(Launches& l, std::int64_t depth) {
  const std::int64_t outputs = l.cols(0), inputs = l.cols(2);
  if (std::min(outputs, inputs) < kOutputs || depth > 12 || l.dynamic_rows) return false;
  const FloatTile& t = kLarge.tiles_of(outputs, inputs) < kLargeTiles ? kSmall : kLarge;
  l.add(l.in_fours() ? "arena_fours times tiles tiles_gradient"
                     : "arena fours times tiles tiles_gradient",
        "weight_grad_tile", -1, t.tiles_of(outputs, inputs), 1,
        constant("DEPTH", depth) + constants_of(t, l.limits));
  return true;
}

}  // namespace loom
