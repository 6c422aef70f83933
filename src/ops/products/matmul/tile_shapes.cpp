#include "ops/products/matmul/tile_shapes.h"

#include <algorithm>

#include "numeric/packed/panel.h"

namespace loom {
namespace {

// Of twelve shapes on an H200 (tools/bench/gpu_products.py, matrices of 576 to 18,944 outputs):
// where tiles are taken, 32 x 64 is within 11 % of the fastest.
constexpr TileShape kTile{32, 64, 1, 1, true};
// Rows times outputs from which tiles are faster than four rows at once (matmul_integer.wgsl). Few
// tiles take the time of their steps, 2.2 us for 64 k, or a tenth of it on matrix units, whatever
// their number. Fewer rows than 32 were not measured.
constexpr std::int64_t kTileResults = 150'000, kUnitResults = 40'000, kTileRows = 32;
// Rows times outputs from which the next larger tiles on matrix units are faster: 73,000 to 200,000
// take 10 to 11 us in place of 15, 4.6 million 61 in place of 85, 9.2 million 221 in place of 231.
constexpr std::int64_t kSmallResults = 250'000, kLargeResults = 700'000, kHugeResults = 2'500'000;
// Blocks have no other kernel that shares weights. A thread makes each result there, and walks over
// all k: 88 us for 1,536 however few rows there are, where tiles take 46.
constexpr std::int64_t kBlockTileRows = 8;

int layers_of(const WeightArg& w) {
  return panel_geometry({static_cast<DType>(w.dtype), static_cast<Layout>(w.layout)}).planes;
}

}  // namespace

int TileShape::threads(int planes) const {
  return units ? rows * planes * outputs / (8 * down * across) * depth
               : rows * outputs / (16 * down * across);
}

bool tile_fits(const TileShape& shape, const WeightArg& w, int planes, const gpu::Limits& limits) {
  const int layers = layers_of(w), step = std::max(16 / layers, 2) * layers;
  int bytes = 4 * step * (shape.outputs + planes * (shape.rows + 4));
  if (shape.units) {
    if (!limits.matrix_units || w.form != kIntegerForm || shape.step % layers != 0) return false;
    bytes = 4 * (shape.step + 4) * (shape.ahead ? 2 : 1) * (shape.outputs + planes * shape.rows);
    bytes = std::max(bytes, 32 * shape.threads(planes) * planes * shape.across) + 12 * shape.rows;
  } else if (w.form == kBlockForm) {
    const auto block = static_cast<int>(w.block / 4);
    if (block == 0 || step % block != 0) return false;
    bytes += 12 * (step / block) * shape.outputs;
  }
  return static_cast<std::uint32_t>(bytes) <= limits.group_bytes &&
         static_cast<std::uint32_t>(shape.threads(planes)) <= limits.threads_per_group;
}

webgpu::WideKernel tile_kernel(const TileShape& shape, std::span<const WeightArg* const> matrices,
                               int planes, bool bias) {
  using webgpu::constant;
  const WeightArg& w = *matrices[0];
  const bool blocks = w.form == kBlockForm;
  webgpu::WideKernel wide;
  webgpu::Kernel& k = wide.kernel;
  k.entry = shape.units ? "matmul_units" : blocks ? "matmul_block_tiles" : "matmul_tiled";
  k.pieces =
      "arena weights join tile_place " + (shape.units ? k.entry : "product_tiles " + k.entry);
  k.constants = webgpu::weight_constants(w, bias) + constant("TILE_ROWS", shape.rows) +
                constant("TILE_OUTPUTS", shape.outputs) + constant("PLANES", planes) +
                constant("MATRICES", static_cast<std::int64_t>(matrices.size()));
  if (shape.units)
    k.constants += constant("LINES", shape.down) + constant("COLS", shape.across) +
                   constant("STEP", shape.step) + constant("BUFFERS", shape.ahead ? 2 : 1) +
                   constant("DEPTH", shape.depth);
  else
    k.constants += constant("ROW_FOURS", shape.down) + constant("OUT_FOURS", shape.across) +
                   webgpu::flag("PREFETCH", shape.ahead);
  if (blocks) k.constants += constant("BLOCK", w.block / 4);
  k.has_weights = true;
  wide.tile = shape.rows;
  wide.factor = 0;
  for (const WeightArg* m : matrices) wide.factor += (m->rows + shape.outputs - 1) / shape.outputs;
  return wide;
}

void add_tiles(webgpu::Launches& l, std::span<const WeightArg* const> matrices, int planes) {
  const WeightArg& w = *matrices[0];
  std::int64_t outputs = 0;
  for (const WeightArg* m : matrices) outputs += m->rows;
  const auto add = [&](const TileShape& shape, std::int64_t rows) {
    if (!tile_fits(shape, w, planes, l.limits) || rows > l.max_rows(3)) return;
    l.last().wide.push_back(tile_kernel(shape, matrices, planes, l.has(2)));
    l.last().wide.back().rows = rows;
  };
  const auto rows_of = [&](std::int64_t results) {
    return std::max<std::int64_t>(kTileRows, results / outputs + 1);
  };
  if (w.form == kBlockForm) return add(kTile, kBlockTileRows);
  if (!tile_fits(kSmallUnits, w, planes, l.limits)) return add(kTile, rows_of(kTileResults));
  add(kFewUnits, rows_of(kUnitResults));
  add(kSmallUnits,
      rows_of(tile_fits(kFewUnits, w, planes, l.limits) ? kSmallResults : kUnitResults));
  add(kLargeUnits, rows_of(kLargeResults));
  // Of one plane they leave two subgroups, which was not measured.
  if (planes == 2) add(kHugeUnits, rows_of(kHugeResults));
}

}  // namespace loom
