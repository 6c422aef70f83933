#if defined(__x86_64__)
#define LOOM_ISA isa_avxvnni
#define LOOM_VECTOR_BYTES 32
#define LOOM_TILE_ROWS 2  // 16 registers of 8 floats
#define LOOM_TILE_PANELS 1
#include "ops/cpu/kernels/table.h"

namespace loom::cpu {

const KernelTable& kernels_avxvnni() {
  static const KernelTable table = [] {
    KernelTable t;
    t.isa = "avxvnni";
    LOOM_ISA::fill_table(t);
    return t;
  }();
  return table;
}

}  // namespace loom::cpu
#endif
