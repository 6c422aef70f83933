#if defined(__x86_64__)
#define LOOM_ISA isa_avx512
#define LOOM_VECTOR_BYTES 64
#define LOOM_TILE_ROWS 4
#define LOOM_TILE_PANELS 2
#define LOOM_F32_KERNELS kHot
#define LOOM_F64_KERNELS kNone
#include "ops/cpu/fill_table.h"
LOOM_KERNEL_TABLE(avx512, t = kernels_avx2())
#endif
