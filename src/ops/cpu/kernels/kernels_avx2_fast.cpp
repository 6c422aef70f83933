#if defined(__x86_64__)
#define LOOM_ISA isa_avx2_fast
#define LOOM_FUSED
#define LOOM_VECTOR_BYTES 32
#define LOOM_TILE_ROWS 6
#define LOOM_TILE_PANELS 1
#define LOOM_F32_KERNELS kProducts
#define LOOM_F64_KERNELS kNone
#include "ops/cpu/fill_table.h"
LOOM_FUSE(avx2)
#endif
