#if defined(__aarch64__)
#define LOOM_ISA isa_dotprod_fast
#define LOOM_VECTOR_BYTES 16
#define LOOM_TILE_ROWS 3
#define LOOM_TILE_PANELS 1
#include "ops/cpu/kernels/fast.h"
LOOM_FUSE(dotprod)
#endif
