#if defined(__aarch64__)
#define LOOM_ISA isa_dotprod_fast
#define LOOM_FUSED
#define LOOM_VECTOR_BYTES 16
#define LOOM_TILE_ROWS 3
#define LOOM_TILE_PANELS 1
#define LOOM_F32_KERNELS kProducts
#define LOOM_F64_KERNELS kNone
#include "ops/cpu/fill_table.h"
LOOM_FUSE(dotprod)
#endif
