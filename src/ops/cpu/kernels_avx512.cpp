#if defined(__x86_64__)
#define LOOM_ISA isa_avx512
#define LOOM_NEXT_TABLE kernels_avx2
#define LOOM_VECTOR_BYTES 64
#define LOOM_TILE_ROWS 6
#define LOOM_TILE_PANELS 2
#include "ops/cpu/kernels/table.h"
LOOM_KERNEL_TABLE(avx512)
#endif
