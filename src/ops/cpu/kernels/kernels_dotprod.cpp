#if defined(__aarch64__)
#define LOOM_ISA isa_dotprod
#define LOOM_VECTOR_BYTES 16
#define LOOM_TILE_ROWS 3
#define LOOM_TILE_PANELS 1
#define LOOM_F32_KERNELS kWarm
#define LOOM_F64_KERNELS kProducts
#include "ops/cpu/fill_table.h"
LOOM_KERNEL_TABLE(dotprod, t = kernels_generic())
#endif
