// What layers write a Program with: each call appends one instruction and returns the buffer it wrote. Temporaries take the type and
// rows of their sources. Shapes are checked by verify() when emission has finished.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "ops/activation.h"
#include "ops/program.h"
#include "ops/rope.h"
#include "ops/softmax.h"
#include "ops/tensor_ops.h"
#include "ops/window.h"

namespace loom {

enum class Accumulate : std::uint8_t { no = 0, yes = 1 };

struct AttentionShape {
  std::int64_t heads = 1, kv_heads = 1, head_dim = 1;
  std::int64_t window = 0;  // a query sees this many positions, its own included; 0: all
  bool causal = true;
  double scale = 1.0;
};

// Where a layer's noise comes from: a stream of base/random.h, drawn at run * 2^32 + element.
struct Noise {
  std::uint64_t seed = 0, stream = 0;
  RegisterId run = kNone;
};

class Emit {
 public:
  explicit Emit(Program& program) : p_(program) {}

  Program& program() { return p_; }
  void set_segment(Segment segment) { segment_ = segment; }
  const Buffer& of(View v) const { return p_.buffers[static_cast<std::size_t>(v.buffer)]; }
  ValueType type(View v) const { return of(v).type; }
  Rows rows(View v) const { return of(v).rows; }

  RegisterId u32_register(std::string_view name, std::uint32_t max);
  RegisterId f32_register(std::string_view name);
  RegisterId measured_register(std::uint32_t max);

  View buffer(Buffer description);  // the general form of the five below
  View temp(ValueType type, Rows rows, std::int64_t cols);
  View input(std::string_view name, ValueType type, Rows rows, std::int64_t cols);
  View output(std::string_view name, ValueType type, Rows rows, std::int64_t cols);
  // A parameter of rows x cols; declared once per (path, role), `type` is the type it multiplies in (f32 or f64).
  View weight(std::string_view path, std::string_view role, std::int64_t rows, std::int64_t cols, const WeightFormat& format, ValueType type);
  View state(std::string_view path, std::string_view role, ValueType type, Rows rows, std::int64_t cols);
  View rope_table(const RopeSpec& spec, std::int64_t positions, std::int64_t head_dim, ValueType type);
  static View slice(View v, std::int64_t col, std::int64_t cols) {
    return {v.buffer, v.col + static_cast<std::int32_t>(col), static_cast<std::int32_t>(cols)};
  }

  void fill(View y, double value);
  void copy_to(View x, View y);
  View add(View a, View b);
  View mul(View a, View b);
  View scale(View x, double factor);
  View convert(View x, ValueType type);  // x itself where the type is the same
  View gather(View w, View ids);
  View gather_rows(View x, View index);
  View scatter_rows(View x, View index, Rows rows);
  // Routing (op_table.cpp): route_rows gives places [count, 1] of a count measured in the run; gather_rows and the two scatters take them as index.
  View top_k(View x, std::int64_t k);
  View route_rows(View share);
  void scatter_add(View x, View scale, View index, View y);  // `scale` [R, 1] may be missing

  ArithClass product_class_of(View w) const { return product_class(of(w).format); }
  // Products with weights of the dtype fp8e4m3 take values rounded to it, and in backward gradients rounded to fp8e5m2 (Micikevicius et al., FP8 Formats for
  // Deep Learning, arXiv 2209.05433).
  void round_products_to_fp8() { fp8_ = true; }
  // The quantized forms made so far are not used again: what follows makes its own.
  void forget_packed() { packed_.clear(), rounded_.clear(); }
  // y = x W^T + bias in the arithmetic class of w: emits the quantization of x once per source.
  View matmul(View w, View x, View bias = {});
  View matmul_t(View w, View gy);
  void outer_add(View gy, View x, View gw, Accumulate accumulate);
  void col_sum(View gy, View gb, Accumulate accumulate);
  void gather_add(View gy, View ids, View gw, Accumulate accumulate);

  // x * gain[c] + bias[c]: channels of `inner` columns; gain or bias may be missing.
  View channel_affine(View x, View gain, View bias, std::int64_t inner);
  // Statistics of channels over all rows, and what they fold into (op_table.cpp).
  View channel_moments(View x, std::int64_t inner);
  View channel_sums(View g, View x, std::int64_t inner);
  std::pair<View, View> fold_norm(View mean, View variance, View gain, View bias, double eps);
  void moving_average(View value, View w, double momentum);
  // Squared distances to the rows of a weight [N,K], and their gradients.
  View distances(View w, View x);
  View distances_back(View w, View x, View g);
  void distances_weight(View w, View x, View g, View gw, Accumulate accumulate);
  // Over groups of columns; alpha is that of `entmax`.
  View softmax(View x, Simplex kind, std::int64_t group, double alpha);
  View softmax_back(View y, View gy, Simplex kind, std::int64_t group, double alpha);
  View gumbel(View x, const Noise& noise);
  // x / (1 - rate), or 0 with the probability `rate`.
  View dropout(View x, const Noise& noise, double rate);
  // The values of x, counted row-major over all rows, as rows of `cols`.
  View reshape(View x, std::int64_t cols);
  // The same with every block of `sizes` transposed: dimension d of a block of the result is dimension order[d] of the block.
  View transpose(View x, std::array<std::int64_t, 5> sizes, std::array<int, 5> order, std::int64_t cols);
  // x [R, C x in] to a row per place of the window: [R x places, C x kernel]; fold is its adjoint.
  View unfold(View x, const Window& window);
  View fold(View x, const Window& window);
  View max_pool(View x, const Window& window);
  View max_pool_back(View x, View gy, const Window& window);
  View avg_pool(View x, const Window& window, bool count_pad);
  View avg_pool_back(View gy, const Window& window, bool count_pad);
  // Of whole graphs: tensor_ops.h.
  View unary(View x, Unary kind, double a = 0, double b = 0);
  View unary_back(View x, View gy, Unary kind, double a, double b);
  using Sizes = std::array<std::int64_t, 5>;
  View binary(View a, View b, Binary kind, const Sizes& sizes, const Sizes& a_steps, const Sizes& b_steps, Rows rows);
  // At each element of y; what was spread is summed by the caller.
  std::pair<View, View> binary_back(View a, View b, View gy, Binary kind, const Sizes& sizes, const Sizes& a_steps, const Sizes& b_steps);
  View reduce(View x, Reduce kind, std::int64_t n);
  View reduce_back(View x, View y, View gy, Reduce kind, std::int64_t n);
  View pick(View x, std::span<const double> runs, std::int64_t count, double fill);
  View pick_back(View gy, std::span<const double> runs, std::int64_t limit);
  View select(View c, View a, View b);
  struct MatmulShape {
    std::int64_t outer = 1, inner = 1, m = 1, n = 1, k = 1;
    std::array<std::int64_t, 4> a{}, b{};  // steps: outer, inner, m, k of a; outer, inner, k, n of b
  };
  View value_matmul(View a, View b, const MatmulShape& shape);
  // Products of groups (op_table.cpp): w [N,K], x [R, groups x K], y [R,N].
  View group_matmul(View w, View x, View bias, std::int64_t groups);
  View group_matmul_t(View w, View gy, std::int64_t groups);
  void group_outer_add(View gy, View x, View gw, std::int64_t groups, Accumulate accumulate);

  View activation(View x, Activation kind);  // x itself for linear
  View activation_back(View x, View gy, Activation kind);
  View silu_mul(View gate, View up);
  std::pair<View, View> silu_mul_back(View gate, View up, View gy);

  // Recurrent cells (op_table.cpp); states are written where the caller keeps them. `gnext` may be missing.
  void lstm_cell(View x, View s, View c, View h, View next);
  void lstm_cell_back(View x, View s, View c, View next, View gh, View gnext, View gz, View gc);
  void gru_cell(View x, View s, View h, View next);
  void gru_cell_back(View x, View s, View h, View gnext, View gx, View gs, View gh);

  // A row per sequence of a state (op_table.cpp).
  void state_read(View state, View seq, View pos, View y);
  void state_write(View x, View seq, View state);

  View rms_norm(View x, View gain, std::int64_t group, double eps);
  View rms_norm_back(View x, View gain, View gy, std::int64_t group, double eps);
  void rms_norm_gain(View x, View gy, View gg, std::int64_t group, double eps, Accumulate accumulate);
  View layer_norm(View x, View gain, View bias, std::int64_t group, double eps);
  View layer_norm_back(View x, View gain, View gy, std::int64_t group, double eps);
  void layer_norm_gain(View x, View gy, View gg, std::int64_t group, double eps, Accumulate accumulate);

  View standardize(View x, View mean, View scale, bool missing);
  View standardize_back(View x, View scale, View gy, bool missing);

  View rope(View x, View pos, View table, std::int64_t head_dim, bool inverse);
  void kv_append(View k, View v, View seq, View pos, View kv, const AttentionShape& shape);
  View attention(View q, View kv, View seq, View pos, const AttentionShape& shape);
  struct Attended { View y, stats; };
  Attended attention_rows(View q, View k, View v, View pos, const AttentionShape& shape);
  struct AttentionGradients { View q, k, v; };
  AttentionGradients attention_back(View q, View k, View v, View pos, const Attended& forward, View gy, const AttentionShape& shape);

  View cross_entropy(View logits, View target);
  View cross_entropy_back(View logits, View target);
  View mse(View y, View target);
  View mse_back(View y, View target);
  View mae(View y, View target);
  View mae_back(View y, View target);
  View huber(View y, View target, double delta);
  View huber_back(View y, View target, double delta);
  View bce(View logits, View target);
  View bce_back(View logits, View target);
  void sum_rows(View x, View total);

  void grad_merge(View g, View levels, View total, std::int64_t micro_batches, RegisterId micro);
  void sum_squares(View g, View total, Accumulate accumulate);
  void clip_scale(View total, View scale, double max_norm, RegisterId inv_n);
  void sgd(View g, View scale, View w, View velocity, double momentum, double weight_decay, RegisterId lr);
  void adamw(View g, View scale, View w, View m, View v, double beta1, double beta2, double eps, double weight_decay,
             RegisterId lr, RegisterId correction1, RegisterId correction2);
  void sgd_nesterov(View g, View scale, View w, View velocity, double momentum, double weight_decay, RegisterId lr);
  // `mean`: only where centered; `velocity`: only with momentum.
  void rmsprop(View g, View scale, View w, View v, View mean, View velocity, double alpha, double eps, double momentum, double weight_decay, RegisterId lr);
  void lion(View g, View scale, View w, View m, double beta1, double beta2, double weight_decay, RegisterId lr);

 private:
  using Ints = std::initializer_list<std::int64_t>;
  using Reals = std::initializer_list<double>;
  using Registers = std::initializer_list<RegisterId>;
  void append(Op op, std::initializer_list<View> operands, Ints ints = {}, Reals reals = {}, Registers registers = {});
  View constant(ConstantKind kind, std::span<const double> runs, std::int64_t limit, std::int64_t cols);
  Rows rows_of(View x, std::int64_t cols) const;
  void window_op(Op op, std::initializer_list<View> operands, const Window& window, bool count_pad = false);
  // A loss of rows, and its slope.
  View loss(Op op, View y, View target, Reals reals = {});
  View loss_back(Op op, View y, View target, Reals reals = {});
  bool in_fp8(View weight_or_gradient) const;
  View rounded(View x, Unary kind);
  View like(View x, std::int64_t cols) { return temp(type(x), rows(x), cols); }

  Program& p_;
  Segment segment_ = Segment::forward;
  std::map<std::pair<BufferId, std::int32_t>, View> packed_;  // (source, column) -> its q15 or bf16x2 form
  bool fp8_ = false;
  std::map<std::tuple<BufferId, std::int32_t, std::int32_t, Unary>, View> rounded_;  // (source, column, columns, to what)
};

}  // namespace loom
