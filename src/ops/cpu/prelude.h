// What every kernel file begins with. A kernel file is compiled once per instruction set, by
// kernels_<isa>.cpp, which defines
//   LOOM_ISA           the namespace of its kernels, inside loom::cpu
//   LOOM_VECTOR_BYTES  the width of its registers
//   LOOM_TILE_ROWS, LOOM_TILE_PANELS  the tile of a float product (products/gemm.h)
// No standard header: an inline function compiled for AVX-512 must never be the copy that the
// linker keeps for everybody. An editor that opens a kernel file alone sees the narrowest of them.
#pragma once

#include "ops/cpu/kernel_args.h"
#include "ops/cpu/kernel_table.h"

#ifndef LOOM_ISA
#define LOOM_ISA isa_of_an_editor
#define LOOM_VECTOR_BYTES 16
#define LOOM_TILE_ROWS 1
#define LOOM_TILE_PANELS 1
#endif

#define LOOM_EXACT_NAMESPACE LOOM_ISA  // inline functions of this instruction set stay its own
#include "base/math/exact_math.h"

// Loops over elementary functions, which become vectors only where all of these are inlined. Not in
// the baseline of x86-64, which few machines need, for size.
#if defined(__clang__) || (defined(LOOM_BASELINE) && defined(__x86_64__))
#define LOOM_FLATTEN
#else
#define LOOM_FLATTEN __attribute__((flatten))
#endif
