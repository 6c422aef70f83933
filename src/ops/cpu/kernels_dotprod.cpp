#if defined(__aarch64__)
#define LOOM_ISA isa_dotprod
#define LOOM_VECTOR_BYTES 16
#define LOOM_TILE_ROWS 3  // 32 registers of 4 floats
#define LOOM_TILE_PANELS 1
#include "ops/cpu/kernels/table.h"

namespace loom::cpu {

const KernelTable& kernels_dotprod() {
  static const KernelTable table = [] {
    KernelTable t;
    t.isa = "dotprod";
    LOOM_ISA::fill_table(t);
    return t;
  }();
  return table;
}

}  // namespace loom::cpu
#endif
