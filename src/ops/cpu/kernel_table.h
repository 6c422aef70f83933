// One table of kernels per instruction set, chosen once at run time. All portable tables give the same bits.
#pragma once

#include "ops/cpu/kernel_args.h"
#include "ops/op.h"

namespace loom::cpu {

struct KernelTable {
  const char* isa = "";
  bool portable = true;
  Kernel f32[kOpCount] = {};  // by the type of the result
  Kernel f64[kOpCount] = {};
  Kernel q15[kOpCount] = {};  // of ops on a state of q15
  Kernel matmul[kForms] = {};  // f32 results, by the form of the weights
  Kernel unfold_padded = nullptr, matmul_window = nullptr, outer_add_window = nullptr, matmul_t_fold = nullptr;  // f32, of what windows.h rewrites
  Kernel gather_packed = nullptr, gather_blocks = nullptr;
};

const KernelTable& kernels_generic();
#if defined(__x86_64__)
const KernelTable& kernels_avx2();
const KernelTable& kernels_avxvnni();
const KernelTable& kernels_avx512();
void fuse_avx2(KernelTable& table);  // the fast profile's products
void fuse_avx512(KernelTable& table);
#endif
#if defined(__aarch64__)
const KernelTable& kernels_dotprod();
void fuse_dotprod(KernelTable& table);
#endif

}  // namespace loom::cpu
