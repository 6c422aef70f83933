
#define LOOM_ISA isa_generic
// Compiled for the baseline of the target: SSE2, NEON, WASM SIMD or none.
#if defined(__aarch64__)
#define LOOM_TILE_ROWS 3
#define LOOM_TILE_PANELS 1
#endif
#include "ops/cpu/kernels/table.h"

namespace loom::cpu {

const KernelTable& kernels_generic() {
  static const KernelTable table = [] {
    KernelTable t;
    t.isa = "generic";
    LOOM_ISA::fill_table(t);
    return t;
  }();
  return table;
}

}  // namespace loom::cpu

