#if defined(__x86_64__)
#define LOOM_ISA isa_avx2_fast
#define LOOM_VECTOR_BYTES 32
#define LOOM_TILE_ROWS 6
#define LOOM_TILE_PANELS 1
#include "ops/cpu/kernels/fast.h"
LOOM_FUSE(avx2)
#endif
