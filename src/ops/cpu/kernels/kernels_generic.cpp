// Compiled for the baseline of the target: SSE2, NEON, WASM SIMD, or vectors made of scalars.
#define LOOM_ISA isa_generic
#define LOOM_BASELINE  // every kernel
#define LOOM_VECTOR_BYTES 16
#if defined(__aarch64__)
#define LOOM_TILE_ROWS 3
#else
#define LOOM_TILE_ROWS 1
#endif
#define LOOM_TILE_PANELS 1
#define LOOM_F32_KERNELS kCold
#define LOOM_F64_KERNELS kCold
#include "ops/cpu/fill_table.h"
LOOM_KERNEL_TABLE(generic, )
