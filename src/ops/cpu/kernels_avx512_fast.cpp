#if defined(__x86_64__)
#define LOOM_ISA isa_avx512_fast
#define LOOM_VECTOR_BYTES 64
#define LOOM_TILE_ROWS 6
#define LOOM_TILE_PANELS 2
#include "ops/cpu/kernels/fast.h"
LOOM_FUSE(avx512)
#endif
