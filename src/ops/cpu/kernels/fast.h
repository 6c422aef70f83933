// The products of the fast profile: class F in f32 with fused multiply-adds, one chain per result. Included by kernels_<isa>_fast.cpp, which is compiled
// with contraction, after LOOM_ISA and the tile are defined; all other kernels are those of the portable table.
#include "ops/cpu/kernel_args.h"
#include "ops/cpu/kernel_table.h"

#define LOOM_FUSED
namespace loom::cpu::LOOM_ISA {

#include "ops/cpu/kernels/vectors/simd.h"
#include "ops/cpu/kernels/products/gemm.h"
#include "ops/cpu/kernels/products/window.h"
#include "ops/cpu/kernels/products/conv.h"
#include "ops/cpu/kernels/products/fold.h"

static void fuse(KernelTable& t) {
  t.f32[static_cast<int>(Op::matmul)] = &matmul<float>;
  t.f32[static_cast<int>(Op::matmul_t)] = &matmul_t<float>;
  t.f32[static_cast<int>(Op::outer_add)] = &outer_add<float>;
  t.matmul[kFloatForm] = &matmul<float>;
  t.matmul_window = &matmul_window<float>;
  t.outer_add_window = &outer_add_window<float>;
  t.matmul_t_fold = &matmul_t_fold<float>;
}

}  // namespace loom::cpu::LOOM_ISA

// Defines fuse_<name>(), which puts them into a portable table of this instruction set.
#define LOOM_FUSE(name) void loom::cpu::fuse_##name(KernelTable& table) { LOOM_ISA::fuse(table); }
