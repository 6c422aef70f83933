// Tiles of products in f32 on devices (parts/tiles.wgsl): how large, and for how many results.
#pragma once

#include "ops/webgpu/launches.h"

namespace loom {

// y = x W^T + b, where the last launch has the weights, from as many rows on as measured.
void add_product_tiles(webgpu::Launches& l);
// gx = gy W likewise.
void add_back_product_tiles(webgpu::Launches& l);
// gw (+)= gy^T x; `depth`: digits of the counter of blocks of rows. False: there are no tiles of
// such a product.
bool add_gradient_tiles(webgpu::Launches& l, std::int64_t depth);

}  // namespace loom
