// One table of kernels per instruction set, chosen once at run time. All portable tables give the
// same bits.
#pragma once

#include "ops/cpu/kernel_args.h"
#include "ops/op.h"

namespace loom::cpu {

struct KernelTable {
  const char* isa = "";
  bool portable = true;
  Kernel f32[kLoweredCount] = {};  // by the type of the result
  Kernel f64[kLoweredCount] = {};
};

const KernelTable& kernels_generic();
#if defined(__x86_64__)
const KernelTable& kernels_avx2();
const KernelTable& kernels_avxvnni();
const KernelTable& kernels_avx512();
const KernelTable& kernels_amx();
void fuse_avx2(KernelTable& table);  // the fast profile's products
void fuse_avx512(KernelTable& table);
#endif
#if defined(__aarch64__)
const KernelTable& kernels_dotprod();
void fuse_dotprod(KernelTable& table);
#endif

}  // namespace loom::cpu
