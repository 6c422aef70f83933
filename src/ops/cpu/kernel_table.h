// One table of kernels per instruction set, chosen once at run time. All tables give the same bits.
#pragma once

#include "ops/cpu/kernel_args.h"
#include "ops/op.h"

namespace loom::cpu {

struct KernelTable {
  const char* isa = "";
  Kernel f32[kOpCount] = {};  // by the type of the result
  Kernel f64[kOpCount] = {};
  Kernel matmul[kForms] = {};  // f32 results, by the form of the weights
  Kernel gather_packed = nullptr, gather_blocks = nullptr;
  Kernel kv_append_q15 = nullptr, attention_q15 = nullptr;  // by the type of the KV state
};

const KernelTable& kernels_generic();
#if defined(__x86_64__)
const KernelTable& kernels_avx2();
const KernelTable& kernels_avxvnni();
const KernelTable& kernels_avx512();
#endif
#if defined(__aarch64__)
const KernelTable& kernels_dotprod();
#endif

}  // namespace loom::cpu
