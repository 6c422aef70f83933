// The kernels of one instruction set. Included by kernels_<isa>.cpp after LOOM_ISA (a namespace name) is defined; no standard headers.
// With LOOM_FLOAT_TABLE, a function that gives another table, only the integer kernels are made: the float kernels are that table's.
#include "ops/cpu/kernel_args.h"
#include "ops/cpu/kernel_table.h"

#define LOOM_EXACT_NAMESPACE LOOM_ISA  // inline functions of this file's instruction set stay its own
#include "base/math/exact_math.h"

// Loops over elementary functions, which become vectors only where all of these are inlined. Not in the baseline of x86-64, which few machines need, for size.
#if defined(__clang__) || (defined(LOOM_BASELINE) && defined(__x86_64__))
#define LOOM_FLATTEN
#else
#define LOOM_FLATTEN __attribute__((flatten))
#endif

namespace loom::cpu::LOOM_ISA {

#include "ops/cpu/kernels/vectors/simd.h"
#include "ops/cpu/kernels/products/gemm.h"
#include "ops/cpu/kernels/elementwise.h"
#include "ops/cpu/kernels/norm.h"
#include "ops/cpu/kernels/products/window.h"
#include "ops/cpu/kernels/products/conv.h"
#include "ops/cpu/kernels/products/fold.h"
#include "ops/cpu/kernels/tensor.h"
#include "ops/cpu/kernels/cells.h"
#include "ops/cpu/kernels/channels.h"
#include "ops/cpu/kernels/training/noise.h"
#include "ops/cpu/kernels/attention.h"
#include "ops/cpu/kernels/training/loss.h"
#include "ops/cpu/kernels/softmax.h"
#include "ops/cpu/kernels/distances.h"
#include "ops/cpu/kernels/routing.h"
#include "ops/cpu/kernels/training/optim.h"
#include "ops/cpu/kernels/integers/unpack.h"
#include "ops/cpu/kernels/integers/integer.h"
#include "ops/cpu/kernels/integers/quantize.h"
#include "ops/cpu/kernels/integers/attention_q15.h"
#include "ops/cpu/kernels/integers/blocks.h"
#include "ops/cpu/kernels/products/decoded.h"

#ifdef LOOM_FLOAT_TABLE
static void fill_float(KernelTable& t) { t = LOOM_FLOAT_TABLE(); }
#else
// Every instruction set has its own f32 kernels of the ops that take time, and its own products in double; all else is the baseline's, so that the
// library stays small. With LOOM_NEXT_TABLE, the table of the next narrower registers, only what computes much is made anew.
static void fill_float(KernelTable& t) {
#ifdef LOOM_BASELINE
#define LOOM_DOUBLE(op, ...) t.f64[static_cast<int>(Op::op)] = __VA_ARGS__;
#else
#define LOOM_DOUBLE(op, ...)
#ifdef LOOM_NEXT_TABLE
  t = LOOM_NEXT_TABLE();
#else
  t = kernels_generic();
#endif
#endif
#define LOOM_KERNEL(op, function) \
  t.f32[static_cast<int>(Op::op)] = &function<float>; \
  LOOM_DOUBLE(op, &function<double>)
#define LOOM_KERNEL2(op, function, flag) \
  t.f32[static_cast<int>(Op::op)] = &function<float, flag>; \
  LOOM_DOUBLE(op, &function<double, flag>)
#ifdef LOOM_NEXT_TABLE
#define LOOM_KERNEL_BOTH LOOM_KERNEL
#else
#define LOOM_KERNEL_BOTH(op, function) \
  t.f32[static_cast<int>(Op::op)] = &function<float>; \
  t.f64[static_cast<int>(Op::op)] = &function<double>;
#endif
  LOOM_KERNEL(add, add)
  LOOM_KERNEL_BOTH(matmul, matmul)
  LOOM_KERNEL_BOTH(matmul_t, matmul_t)
  LOOM_KERNEL_BOTH(outer_add, outer_add)
  LOOM_KERNEL(silu_mul, silu_mul)
  LOOM_KERNEL(silu_mul_back, silu_mul_back)
  LOOM_KERNEL2(rms_norm, norm, false)
  LOOM_KERNEL2(rms_norm_back, norm_back, false)
  LOOM_KERNEL2(rms_norm_gain, norm_gain, false)
  LOOM_KERNEL2(layer_norm, norm, true)
  LOOM_KERNEL2(layer_norm_back, norm_back, true)
  LOOM_KERNEL2(layer_norm_gain, norm_gain, true)
  LOOM_KERNEL(attention, attention)
  LOOM_KERNEL(attention_rows, attention_rows)
  LOOM_KERNEL(attention_back, attention_back)
  LOOM_KERNEL(sgd, sgd)
  LOOM_KERNEL(adamw, adamw)
  LOOM_KERNEL(mul, mul)
  LOOM_KERNEL(lstm_cell, lstm_cell)
  LOOM_KERNEL(lstm_cell_back, lstm_cell_back)
  t.f32[static_cast<int>(Op::split_bf16)] = &split_bf16;
  t.matmul[kFloatForm] = &matmul<float>;
  t.matmul_window = &matmul_window<float>;
  t.outer_add_window = &outer_add_window<float>;
  t.matmul_t_fold = &matmul_t_fold<float>;
  t.matmul[kDecodedForm] = &matmul_decoded<1>;
  t.matmul[kSplitForm] = &matmul_decoded<2>;
#ifndef LOOM_NEXT_TABLE
  LOOM_KERNEL(fill, fill)
  LOOM_KERNEL(copy, copy)
  LOOM_KERNEL(scale, scale)
  LOOM_KERNEL(gather, gather)
  LOOM_KERNEL(gather_rows, gather_rows)
  LOOM_KERNEL(scatter_rows, scatter_rows)
  LOOM_KERNEL(col_sum, col_sum)
  LOOM_KERNEL(gather_add, gather_add)
  LOOM_KERNEL(activation, activation)
  LOOM_KERNEL(activation_back, activation_back)
  LOOM_KERNEL(rope, rope)
  LOOM_KERNEL(kv_append, kv_append)
  LOOM_KERNEL(cross_entropy, cross_entropy)
  LOOM_KERNEL(cross_entropy_back, cross_entropy_back)
  LOOM_KERNEL(mse, mse)
  LOOM_KERNEL(mse_back, mse_back)
  LOOM_KERNEL(sum_rows, sum_rows)
  LOOM_KERNEL(grad_merge, grad_merge)
  LOOM_KERNEL(sum_squares, sum_squares)
  LOOM_KERNEL(clip_scale, clip_scale)
  LOOM_KERNEL(channel_affine, channel_affine)
  LOOM_KERNEL(reorder, reorder)
  LOOM_KERNEL(unfold, unfold)
  LOOM_KERNEL(fold, fold)
  LOOM_KERNEL(group_matmul_t, group_matmul_t)
  LOOM_KERNEL(group_outer_add, group_outer_add)
  t.unfold_padded = &unfold_padded<float>;
#endif
#ifdef LOOM_BASELINE
  t.f32[static_cast<int>(Op::convert)] = &convert<double, float>;  // by the type of y
  t.f64[static_cast<int>(Op::convert)] = &convert<float, double>;
  LOOM_KERNEL(gru_cell, gru_cell)
  LOOM_KERNEL(gru_cell_back, gru_cell_back)
  LOOM_KERNEL(mae, mae)
  LOOM_KERNEL(mae_back, mae_back)
  LOOM_KERNEL(huber, huber)
  LOOM_KERNEL(huber_back, huber_back)
  LOOM_KERNEL(bce, bce)
  LOOM_KERNEL(bce_back, bce_back)
  LOOM_KERNEL(max_pool, max_pool)
  LOOM_KERNEL(max_pool_back, max_pool_back)
  LOOM_KERNEL(avg_pool, avg_pool)
  LOOM_KERNEL(avg_pool_back, avg_pool_back)
  LOOM_KERNEL(group_matmul, group_matmul)
  LOOM_KERNEL(unary, unary)
  LOOM_KERNEL(unary_back, unary_back)
  LOOM_KERNEL(binary, binary)
  LOOM_KERNEL(binary_back, binary_back)
  LOOM_KERNEL(reduce, reduce)
  LOOM_KERNEL(reduce_back, reduce_back)
  LOOM_KERNEL(pick, pick)
  LOOM_KERNEL(pick_back, pick_back)
  LOOM_KERNEL(select, select)
  LOOM_KERNEL(value_matmul, value_matmul)
  LOOM_KERNEL(sgd_nesterov, sgd_nesterov)
  LOOM_KERNEL(rmsprop, rmsprop)
  LOOM_KERNEL(lion, lion)
  LOOM_KERNEL(standardize, standardize)
  LOOM_KERNEL(standardize_back, standardize_back)
  LOOM_KERNEL(channel_moments, channel_moments)
  LOOM_KERNEL(channel_sums, channel_sums)
  LOOM_KERNEL(fold_norm, fold_norm)
  LOOM_KERNEL(moving_average, moving_average)
  LOOM_KERNEL(dropout, dropout)
  LOOM_KERNEL(softmax, softmax)
  LOOM_KERNEL(softmax_back, softmax_back)
  LOOM_KERNEL(gumbel, gumbel)
  LOOM_KERNEL(distances, distances)
  LOOM_KERNEL(distances_back, distances_back)
  LOOM_KERNEL(distances_weight, distances_weight)
  LOOM_KERNEL(top_k, top_k)
  LOOM_KERNEL(route_rows, route_rows)
  LOOM_KERNEL(scatter_add, scatter_add)
  LOOM_KERNEL(state_read, state_read)
  LOOM_KERNEL(state_write, state_write)
#endif
#undef LOOM_KERNEL
#undef LOOM_KERNEL2
#undef LOOM_KERNEL_BOTH
#undef LOOM_DOUBLE
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
