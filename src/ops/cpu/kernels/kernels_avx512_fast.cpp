#if defined(__x86_64__)
#define LOOM_ISA isa_avx512_fast
#define LOOM_FUSED
#define LOOM_VECTOR_BYTES 64
#define LOOM_TILE_ROWS 4
#define LOOM_TILE_PANELS 2
#define LOOM_F32_KERNELS kProducts
#define LOOM_F64_KERNELS kNone
#include "ops/cpu/fill_table.h"
LOOM_FUSE(avx512)
#endif
