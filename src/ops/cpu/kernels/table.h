// The kernels of one instruction set. Included by kernels_<isa>.cpp after LOOM_ISA (a namespace name) is defined; no standard headers.
// With LOOM_FLOAT_TABLE, a function that gives another table, only the integer kernels are made: the float kernels are that table's.
#include "ops/cpu/kernel_args.h"
#include "ops/cpu/kernel_table.h"

#define LOOM_EXACT_NAMESPACE LOOM_ISA  // inline functions of this file's instruction set stay its own
#include "base/exact_math.h"

namespace loom::cpu::LOOM_ISA {

#include "ops/cpu/kernels/simd.h"
#include "ops/cpu/kernels/gemm.h"
#include "ops/cpu/kernels/elementwise.h"
#include "ops/cpu/kernels/norm.h"
#include "ops/cpu/kernels/attention.h"
#include "ops/cpu/kernels/loss.h"
#include "ops/cpu/kernels/optim.h"
#include "ops/cpu/kernels/unpack.h"
#include "ops/cpu/kernels/integer.h"
#include "ops/cpu/kernels/quantize.h"
#include "ops/cpu/kernels/attention_q15.h"
#include "ops/cpu/kernels/blocks.h"
#include "ops/cpu/kernels/decoded.h"

#ifdef LOOM_FLOAT_TABLE
static void fill_float(KernelTable& t) { t = LOOM_FLOAT_TABLE(); }
#else
static void fill_float(KernelTable& t) {
#define LOOM_KERNEL(op, function) \
  t.f32[static_cast<int>(Op::op)] = &function<float>; \
  t.f64[static_cast<int>(Op::op)] = &function<double>;
#define LOOM_KERNEL2(op, function, flag) \
  t.f32[static_cast<int>(Op::op)] = &function<float, flag>; \
  t.f64[static_cast<int>(Op::op)] = &function<double, flag>;
  LOOM_KERNEL(fill, fill)
  LOOM_KERNEL(copy, copy)
  LOOM_KERNEL(add, add)
  LOOM_KERNEL(scale, scale)
  t.f32[static_cast<int>(Op::convert)] = &convert<double, float>;  // by the type of y
  t.f64[static_cast<int>(Op::convert)] = &convert<float, double>;
  LOOM_KERNEL(gather, gather)
  LOOM_KERNEL(gather_rows, gather_rows)
  LOOM_KERNEL(scatter_rows, scatter_rows)
  LOOM_KERNEL(matmul, matmul)
  LOOM_KERNEL(matmul_t, matmul_t)
  LOOM_KERNEL(outer_add, outer_add)
  LOOM_KERNEL(col_sum, col_sum)
  LOOM_KERNEL(gather_add, gather_add)
  LOOM_KERNEL(activation, activation)
  LOOM_KERNEL(activation_back, activation_back)
  LOOM_KERNEL(silu_mul, silu_mul)
  LOOM_KERNEL(silu_mul_back, silu_mul_back)
  LOOM_KERNEL2(rms_norm, norm, false)
  LOOM_KERNEL2(rms_norm_back, norm_back, false)
  LOOM_KERNEL2(rms_norm_gain, norm_gain, false)
  LOOM_KERNEL2(layer_norm, norm, true)
  LOOM_KERNEL2(layer_norm_back, norm_back, true)
  LOOM_KERNEL2(layer_norm_gain, norm_gain, true)
  LOOM_KERNEL(rope, rope)
  LOOM_KERNEL(kv_append, kv_append)
  LOOM_KERNEL(attention, attention)
  LOOM_KERNEL(attention_rows, attention_rows)
  LOOM_KERNEL(attention_back, attention_back)
  LOOM_KERNEL(cross_entropy, cross_entropy)
  LOOM_KERNEL(cross_entropy_back, cross_entropy_back)
  LOOM_KERNEL(mse, mse)
  LOOM_KERNEL(mse_back, mse_back)
  LOOM_KERNEL(sum_rows, sum_rows)
  LOOM_KERNEL(grad_merge, grad_merge)
  LOOM_KERNEL(sum_squares, sum_squares)
  LOOM_KERNEL(clip_scale, clip_scale)
  LOOM_KERNEL(sgd, sgd)
  LOOM_KERNEL(adamw, adamw)
  t.f32[static_cast<int>(Op::split_bf16)] = &split_bf16;
  t.matmul[kFloatForm] = &matmul<float>;
  t.matmul[kDecodedForm] = &matmul_decoded<1>;
  t.matmul[kSplitForm] = &matmul_decoded<2>;
#undef LOOM_KERNEL
#undef LOOM_KERNEL2
}
#endif

static void fill_integer(KernelTable& t) {
  t.f32[static_cast<int>(Op::quantize)] = &quantize;
  t.matmul[kIntegerForm] = &matmul_integer;
  t.matmul[kBlockForm] = &matmul_blocks;
  t.gather_packed = &gather_packed;
  t.gather_blocks = &gather_blocks;
  t.q15[static_cast<int>(Op::kv_append)] = &kv_append_q15;
  t.q15[static_cast<int>(Op::attention)] = &attention_q15;
}

}  // namespace loom::cpu::LOOM_ISA

// Defines kernels_<name>(), the table of this file's kernels.
#define LOOM_KERNEL_TABLE(name)                                                \
  const loom::cpu::KernelTable& loom::cpu::kernels_##name() {                  \
    static const KernelTable table = [] {                                      \
      KernelTable t;                                                           \
      LOOM_ISA::fill_float(t);                                                 \
      LOOM_ISA::fill_integer(t);                                               \
      t.isa = #name;                                                           \
      return t;                                                                \
    }();                                                                       \
    return table;                                                              \
  }
