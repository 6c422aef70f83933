#if defined(__x86_64__)
#define LOOM_ISA isa_avxvnni
#define LOOM_FLOAT_TABLE kernels_avx2
#define LOOM_VECTOR_BYTES 32
#define LOOM_TILE_ROWS 2  // 16 registers of 8 floats
#define LOOM_TILE_PANELS 1
#include "ops/cpu/kernels/table.h"
LOOM_KERNEL_TABLE(avxvnni)
#endif
