#if defined(__x86_64__)
#define LOOM_ISA isa_amx
#define LOOM_VECTOR_BYTES 64
#define LOOM_TILE_ROWS 6
#define LOOM_TILE_PANELS 2
// The attention kernels of vectors stay those of AVX-512.
#pragma GCC diagnostic ignored "-Wunused-function"
#include "ops/attention/attention_tiles.h"
#include "ops/products/integers/block_tiles.h"
#include "ops/products/integers/integer_tiles.h"

namespace loom::cpu {
namespace isa_amx::in_tiles {

static void by_vectors(LoweredOp op, const KernelArgs& k) {
  kernels_avx512().f32[static_cast<int>(op)](k);
}
static void matmul_integer(const KernelArgs& k) {
  if (k.t[3].rows < kTileProductRows) return by_vectors(LoweredOp::matmul_integer, k);
  matmul_tiles(k);
}
static void matmul_blocks(const KernelArgs& k) {
  if (!blocks_fit_tiles(*k.weight, k.t[3].rows)) return by_vectors(LoweredOp::matmul_blocks, k);
  matmul_block_tiles(k);
}
static void attention_q15(const KernelArgs& k) {
  if (!attends_in_tiles(k, k.t[4].rows)) return by_vectors(LoweredOp::attention_q15, k);
  attend_tiles(k, k.t[4], nullptr);
}
static void attention_alibi_q15(const KernelArgs& k) {
  if (!attends_in_tiles(k, k.t[5].rows)) return by_vectors(LoweredOp::attention_alibi_q15, k);
  attend_tiles(k, k.t[5], row<float>(k.t[4], 0));
}

}  // namespace isa_amx::in_tiles

// AVX-512 with matrix tiles of integers.
const KernelTable& kernels_amx() {
  static const KernelTable table = [] {
    KernelTable t = kernels_avx512();
    const auto take = [&t](LoweredOp op, Kernel kernel) { t.f32[static_cast<int>(op)] = kernel; };
    take(LoweredOp::matmul_integer, &isa_amx::in_tiles::matmul_integer);
    take(LoweredOp::matmul_blocks, &isa_amx::in_tiles::matmul_blocks);
    take(LoweredOp::attention_q15, &isa_amx::in_tiles::attention_q15);
    take(LoweredOp::attention_alibi_q15, &isa_amx::in_tiles::attention_alibi_q15);
    t.isa = "amx";
    return t;
  }();
  return table;
}

}  // namespace loom::cpu
#endif
