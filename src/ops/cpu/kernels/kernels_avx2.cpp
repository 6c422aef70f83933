#if defined(__x86_64__)
#define LOOM_ISA isa_avx2
#define LOOM_VECTOR_BYTES 32
#define LOOM_TILE_ROWS 4
#define LOOM_TILE_PANELS 1
#define LOOM_F32_KERNELS kWarm
#define LOOM_F64_KERNELS kProducts
#include "ops/cpu/fill_table.h"
LOOM_KERNEL_TABLE(avx2, t = kernels_generic())
#endif
