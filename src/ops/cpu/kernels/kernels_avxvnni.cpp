#if defined(__x86_64__)
#define LOOM_ISA isa_avxvnni
#define LOOM_VECTOR_BYTES 32
#define LOOM_TILE_ROWS 2  // 16 registers of 8 floats
#define LOOM_TILE_PANELS 1
#define LOOM_F32_KERNELS kNone
#define LOOM_F64_KERNELS kNone
#include "ops/cpu/fill_table.h"
LOOM_KERNEL_TABLE(avxvnni, t = kernels_avx2())
#endif
