#define LOOM_ISA isa_generic
#define LOOM_BASELINE  // every kernel
// Compiled for the baseline of the target: SSE2, NEON, WASM SIMD, or vectors made of scalars.
#define LOOM_VECTOR_BYTES 16
#if defined(__aarch64__)
#define LOOM_TILE_ROWS 3
#else
#define LOOM_TILE_ROWS 1
#endif
#define LOOM_TILE_PANELS 1
#include "ops/cpu/kernels/table.h"
LOOM_KERNEL_TABLE(generic)
