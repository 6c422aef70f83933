// The ops, by id. No standard library here: kernel files include it.
#pragma once

namespace loom {

// Ops are data: one row each in the op table (op_table.cpp). Ids are saved in programs: append, never renumber.
enum class Op : unsigned short {
  fill = 0, copy, add, scale, convert,
  gather, gather_rows, scatter_rows,
  matmul, matmul_t, outer_add, col_sum, gather_add,
  activation, activation_back, silu_mul, silu_mul_back,
  rms_norm, rms_norm_back, rms_norm_gain, layer_norm, layer_norm_back, layer_norm_gain,
  rope, kv_append, attention, attention_rows, attention_back,
  cross_entropy, cross_entropy_back, mse, mse_back, sum_rows,
  grad_merge, sum_squares, clip_scale, sgd, adamw,
  quantize, split_bf16,
  reorder, unfold, fold, max_pool, max_pool_back, avg_pool, avg_pool_back,
  group_matmul, group_matmul_t, group_outer_add, mul, channel_affine,
  unary, unary_back, binary, binary_back, reduce, reduce_back, pick, pick_back, select, value_matmul,
  mae, mae_back, huber, huber_back, bce, bce_back,
  sgd_nesterov, rmsprop, lion,
  standardize, standardize_back,
  lstm_cell, lstm_cell_back, gru_cell, gru_cell_back, state_read, state_write,
  channel_moments, channel_sums, fold_norm, moving_average, dropout, softmax, softmax_back, gumbel,
  distances, distances_back, distances_weight,
  top_k, route_rows, scatter_add,
  count_,
};
inline constexpr int kOpCount = static_cast<int>(Op::count_);

}  // namespace loom
