#if defined(__x86_64__)
#define LOOM_ISA isa_avx2
#define LOOM_VECTOR_BYTES 32
#define LOOM_TILE_ROWS 4
#define LOOM_TILE_PANELS 1
#include "ops/cpu/kernels/table.h"
LOOM_KERNEL_TABLE(avx2)
#endif
