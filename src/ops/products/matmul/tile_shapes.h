// Tiles of products of class I on devices (product_tiles.wgsl): how large, and from how many rows
// on.
#pragma once

#include "ops/webgpu/launches.h"

namespace loom {

struct TileShape {
  int rows, outputs;         // of a tile
  int row_fours, out_fours;  // of a thread: 1 or 2
  bool prefetch;
  bool units = false;  // by matrix units (matmul_units.wgsl): rows times 32, outputs times 64

  int threads() const;
};

// By matrix units: the fastest of eleven shapes on an H200.
inline constexpr TileShape kUnitTile{64, 128, 0, 0, true, true};

// Whether a matrix can be multiplied so, and a device has the memory and the threads.
bool tile_fits(const TileShape& shape, const WeightArg& w, const gpu::Limits& limits);
// The kernel of a matrix by tiles of this shape.
webgpu::WideKernel tile_kernel(const TileShape& shape, const WeightArg& w, bool bias);
// Tiles for many rows of a product, from as many on as measured.
void add_tiles(webgpu::Launches& l);

}  // namespace loom
