#include "ops/products/matmul/float_tiles.h"

#include <algorithm>
#include <span>

#include "ops/lowering/weight_forms.h"

namespace loom {
namespace {

using webgpu::constant, webgpu::Launches, webgpu::WideKernel;

struct FloatTile {
  int rows, outputs;         // of a tile: multiples of 16
  int row_fours, out_fours;  // of a thread: 1 or 2
  int step, buffers;         // elements staged together, and how often
  int lanes;                 // chunks side by side

  std::int64_t tiles_of(std::int64_t m, std::int64_t n) const {
    return (m + rows - 1) / rows * ((n + outputs - 1) / outputs);
  }
  bool fits(const gpu::Limits& limits, std::int64_t elements) const {
    const int team = rows * outputs / (16 * row_fours * out_fours),
              staged = lanes * buffers * (step * (rows + outputs) + 32),
              words = staged + (lanes - 1) * rows * outputs;
    return (lanes == 1 || elements >= 64 * lanes) &&
           static_cast<std::uint32_t>(4 * words) <= limits.group_bytes &&
           static_cast<std::uint32_t>(lanes * team) <= limits.threads_per_group;
  }
};

// Of some 25 shapes on an H200 with 132 multiprocessors (tools/bench/gpu_training.py), by the
// number of tiles from which they are taken: small tiles, and several chunks of a sum at once,
// where there would be no work for all multiprocessors.
struct Choice {
  FloatTile tile;
  std::int64_t tiles;
};
constexpr FloatTile kSmall{32, 32, 1, 1, 32, 1, 1}, kFourAtOnce{32, 32, 1, 1, 32, 1, 4},
    kLarge{64, 64, 1, 1, 32, 1, 1};
constexpr Choice kForward[] = {
    {kSmall, 0}, {kFourAtOnce, 1}, {{32, 48, 1, 1, 16, 1, 4}, 1}, {kSmall, 265}, {kLarge, 200}};
// Some 132 tiles of 96 x 48 are 12 to 25 % faster than small ones, more of them are not.
constexpr Choice kBack[] = {{kSmall, 0},
                            {kFourAtOnce, 1},
                            {kSmall, 265},
                            {{96, 48, 1, 1, 16, 1, 2}, 100},
                            {kSmall, 598},
                            {kLarge, 200},
                            {{64, 64, 2, 1, 16, 1, 1}, 200}};
constexpr Choice kGradient[] = {{kSmall, 0}, {kFourAtOnce, 1}, {kSmall, 400}, {kLarge, 200}};
// From as many on tiles are taken at all.
constexpr std::int64_t kRows = 32, kOutputs = 16, kElements = 32, kResults = 8192;

std::string constants_of(const FloatTile& t, const gpu::Limits& limits) {
  return constant("TILE_ROWS", t.rows) + constant("TILE_OUTPUTS", t.outputs) +
         constant("ROW_FOURS", t.row_fours) + constant("OUT_FOURS", t.out_fours) +
         constant("STEP", t.step) + constant("BUFFERS", t.buffers) + constant("LANES", t.lanes) +
         webgpu::flag("FUSED", limits.fma);
}

void add_wide(Launches& l, const FloatTile& t, std::int64_t rows, std::string_view entry,
              std::int64_t outputs) {
  std::vector<WideKernel>& list = l.last().wide;
  while (!list.empty() && list.back().rows >= rows) list.pop_back();
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
  list.push_back(std::move(wide));
}
void add_wides(Launches& l, std::span<const Choice> choices, std::string_view entry,
               std::int64_t outputs) {
  const std::int64_t elements = l.cols(1);
  if (outputs < kOutputs || elements < kElements) return;
  for (const Choice& c : choices) {
    if (!c.tile.fits(l.limits, elements)) continue;
    const std::int64_t across = c.tile.tiles_of(1, outputs);
    const std::int64_t rows = (c.tiles - 1) / across * c.tile.rows + 1;
    add_wide(l, c.tile, std::max({kRows, (kResults + outputs - 1) / outputs, rows}), entry,
             outputs);
  }
}

}  // namespace

void add_product_tiles(Launches& l) { add_wides(l, kForward, "matmul_tile", l.cols(3)); }
void add_back_product_tiles(Launches& l) { add_wides(l, kBack, "matmul_t_tile", l.cols(2)); }

bool add_gradient_tiles(Launches& l, std::int64_t depth) {
  const std::int64_t outputs = l.cols(0), inputs = l.cols(2);
  if (std::min(outputs, inputs) < kOutputs ||
      outputs * inputs * l.max_rows(0) < kElements * kResults || depth > 12 || l.dynamic_rows)
    return false;
  FloatTile t = kSmall;
  for (const Choice& c : kGradient)
    if (c.tile.fits(l.limits, l.max_rows(0)) && c.tile.tiles_of(outputs, inputs) >= c.tiles)
      t = c.tile;
  l.add(l.in_fours() ? "arena_fours times tiles tiles_gradient"
                     : "arena fours times tiles tiles_gradient",
        "weight_grad_tile", -1, t.tiles_of(outputs, inputs), 1,
        constant("DEPTH", depth) + constants_of(t, l.limits));
  return true;
}

}  // namespace loom
