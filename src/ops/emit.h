// What layers write a Program with: each call appends one instruction and returns the buffer it wrote. Temporaries take the type and
// rows of their sources. Shapes are checked by verify() when emission has finished.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ops/activation.h"
#include "ops/program.h"
#include "ops/rope.h"

namespace loom {

enum class Accumulate : std::uint8_t { no = 0, yes = 1 };

struct AttentionShape {
  std::int64_t heads = 1, kv_heads = 1, head_dim = 1;
  std::int64_t window = 0;  // a query sees this many positions, its own included; 0: all
  bool causal = true;
  double scale = 1.0;
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
  View scale(View x, double factor);
  View convert(View x, ValueType type);  // x itself where the type is the same
  View gather(View w, View ids);
  View gather_rows(View x, View index);
  View scatter_rows(View x, View index, Rows rows);

  ArithClass product_class_of(View w) const { return product_class(of(w).format); }
  // y = x W^T + bias in the arithmetic class of w: emits the quantization of x once per source.
  View matmul(View w, View x, View bias = {});
  View matmul_t(View w, View gy);
  void outer_add(View gy, View x, View gw, Accumulate accumulate);
  void col_sum(View gy, View gb, Accumulate accumulate);
  void gather_add(View gy, View ids, View gw, Accumulate accumulate);

  View activation(View x, Activation kind);  // x itself for linear
  View activation_back(View x, View gy, Activation kind);
  View silu_mul(View gate, View up);
  std::pair<View, View> silu_mul_back(View gate, View up, View gy);

  View rms_norm(View x, View gain, std::int64_t group, double eps);
  View rms_norm_back(View x, View gain, View gy, std::int64_t group, double eps);
  void rms_norm_gain(View x, View gy, View gg, std::int64_t group, double eps, Accumulate accumulate);
  View layer_norm(View x, View gain, View bias, std::int64_t group, double eps);
  View layer_norm_back(View x, View gain, View gy, std::int64_t group, double eps);
  void layer_norm_gain(View x, View gy, View gg, std::int64_t group, double eps, Accumulate accumulate);

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
  void sum_rows(View x, View total);

  void grad_merge(View g, View levels, View total, std::int64_t micro_batches, RegisterId micro);
  void sum_squares(View g, View total, Accumulate accumulate);
  void clip_scale(View total, View scale, double max_norm, RegisterId inv_n);
  void sgd(View g, View scale, View w, View velocity, double momentum, double weight_decay, RegisterId lr);
  void adamw(View g, View scale, View w, View m, View v, double beta1, double beta2, double eps, double weight_decay,
             RegisterId lr, RegisterId correction1, RegisterId correction2);

 private:
  using Ints = std::initializer_list<std::int64_t>;
  using Reals = std::initializer_list<double>;
  using Registers = std::initializer_list<RegisterId>;
  void append(Op op, std::initializer_list<View> operands, Ints ints = {}, Reals reals = {}, Registers registers = {});
  View like(View x, std::int64_t cols) { return temp(type(x), rows(x), cols); }

  Program& p_;
  Segment segment_ = Segment::forward;
  std::map<std::pair<BufferId, std::int32_t>, View> packed_;  // (source, column) -> its q15 or bf16x2 form
};

}  // namespace loom
