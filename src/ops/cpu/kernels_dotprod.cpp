#if defined(__aarch64__)
#define LOOM_ISA isa_dotprod
#define LOOM_VECTOR_BYTES 16
#define LOOM_TILE_ROWS 3
#define LOOM_TILE_PANELS 1
#include "ops/cpu/kernels/table.h"
LOOM_KERNEL_TABLE(dotprod)
#endif
