// Tiles of products of class I on devices (product_tiles.wgsl): how large, and from how many rows
// on.
#pragma once

#include <span>

#include "ops/webgpu/launches.h"

namespace loom {

struct TileShape {
  int rows, outputs;  // of a tile
  // Of a thread: fours of rows and of outputs, 1 or 2. By matrix units (matmul_units.wgsl) of a
  // subgroup: matrices of 16 rows of a plane, and of 16 outputs.
  int down, across;
  bool ahead;  // memory a step before; by units two buffers
  bool units = false;
  int step = 16, depth = 1;  // by units: words of k in a step, subgroups that share them

  int threads(int planes) const;
};

// By matrix units, the fastest of 26 shapes on an H200: of products with few results, with more,
// of large ones, and where there is more work than for all multiprocessors at once.
inline constexpr TileShape kFewUnits{32, 64, 2, 2, false, true, 64, 4},
    kSmallUnits{64, 64, 2, 2, false, true, 32}, kLargeUnits{64, 128, 4, 2, false, true},
    kHugeUnits{64, 128, 4, 4, false, true, 32};

// Whether a matrix can be multiplied so with rows of 1 or 2 planes, and a device has the memory
// and the threads.
bool tile_fits(const TileShape& shape, const WeightArg& w, int planes, const gpu::Limits& limits);
// The kernel of matrices of one form by tiles of this shape.
webgpu::WideKernel tile_kernel(const TileShape& shape, std::span<const WeightArg* const> matrices,
                               int planes, bool bias);
// Tiles for many rows of a product, or of several of one operand, from as many on as measured.
void add_tiles(webgpu::Launches& l, std::span<const WeightArg* const> matrices, int planes);

}  // namespace loom
