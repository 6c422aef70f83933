#if defined(__x86_64__)
#define LOOM_ISA isa_amx
#define LOOM_VECTOR_BYTES 64
#define LOOM_TILE_ROWS 6
#define LOOM_TILE_PANELS 2
#include "ops/products/integers/integer_tiles.h"

namespace loom::cpu {
namespace isa_amx {

static void matmul_integer(const KernelArgs& k) {
  if (k.t[3].rows >= kTileProductRows) return matmul_tiles(k);
  kernels_avx512().f32[static_cast<int>(LoweredOp::matmul_integer)](k);
}

}  // namespace isa_amx

// AVX-512 with matrix tiles of integers.
const KernelTable& kernels_amx() {
  static const KernelTable table = [] {
    KernelTable t = kernels_avx512();
    t.f32[static_cast<int>(LoweredOp::matmul_integer)] = &isa_amx::matmul_integer;
    t.isa = "amx";
    return t;
  }();
  return table;
}

}  // namespace loom::cpu
#endif
