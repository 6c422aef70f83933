#include "ops/emit.h"

#include <algorithm>

namespace loom {

void Emit::append(Op op, std::initializer_list<View> operands, Ints ints, Reals reals, Registers registers) {
  Instruction ins;
  ins.op = op;
  ins.segment = segment_;
  std::copy(operands.begin(), operands.end(), ins.operands.begin());
  std::copy(ints.begin(), ints.end(), ins.ints.begin());
  std::copy(reals.begin(), reals.end(), ins.reals.begin());
  std::copy(registers.begin(), registers.end(), ins.registers.begin());
  // A buffer written again invalidates the packed forms made from it.
  const OpInfo& row = info(op);
  for (std::size_t i = 0; i < row.operands.size(); ++i) {
    if (row.operands[i].role == Role::read || !ins.operands[i].valid()) continue;
    std::erase_if(packed_, [&](const auto& entry) { return entry.first.first == ins.operands[i].buffer; });
  }
  p_.code.push_back(ins);
}

RegisterId Emit::u32_register(std::string_view name, std::uint32_t max) {
  if (const RegisterId id = p_.find_register(name); id != kNone) {
    Register& r = p_.registers[static_cast<std::size_t>(id)];
    r.max = std::max(r.max, max);
    return id;
  }
  p_.registers.push_back({std::string(name), RegisterType::u32, max});
  return static_cast<RegisterId>(p_.registers.size() - 1);
}

RegisterId Emit::f32_register(std::string_view name) {
  if (const RegisterId id = p_.find_register(name); id != kNone) return id;
  p_.registers.push_back({std::string(name), RegisterType::f32, 0});
  return static_cast<RegisterId>(p_.registers.size() - 1);
}

View Emit::buffer(Buffer description) {
  const auto cols = static_cast<std::int32_t>(description.cols);
  p_.buffers.push_back(std::move(description));
  return {static_cast<BufferId>(p_.buffers.size() - 1), 0, cols};
}

View Emit::temp(ValueType type, Rows rows, std::int64_t cols) { return buffer({.type = type, .kind = BufferKind::temp, .rows = rows, .cols = cols}); }
View Emit::input(std::string_view name, ValueType type, Rows rows, std::int64_t cols) {
  if (const BufferId id = p_.find(BufferKind::input, "", name); id != kNone) return {id, 0, static_cast<std::int32_t>(cols)};
  return buffer({.type = type, .kind = BufferKind::input, .rows = rows, .cols = cols, .role = std::string(name)});
}
View Emit::output(std::string_view name, ValueType type, Rows rows, std::int64_t cols) {
  return buffer({.type = type, .kind = BufferKind::output, .rows = rows, .cols = cols, .role = std::string(name)});
}
View Emit::weight(std::string_view path, std::string_view role, std::int64_t rows, std::int64_t cols, const WeightFormat& format, ValueType type) {
  if (const BufferId id = p_.find(BufferKind::weight, path, role); id != kNone) return {id, 0, static_cast<std::int32_t>(cols)};
  return buffer({.type = type, .kind = BufferKind::weight, .rows = {rows}, .cols = cols, .path = std::string(path), .role = std::string(role), .format = format});
}
View Emit::state(std::string_view path, std::string_view role, ValueType type, Rows rows, std::int64_t cols) {
  return buffer({.type = type, .kind = BufferKind::state, .rows = rows, .cols = cols, .path = std::string(path), .role = std::string(role)});
}

View Emit::rope_table(const RopeSpec& spec, std::int64_t positions, std::int64_t head_dim, ValueType type) {
  Buffer b{.type = type, .kind = BufferKind::constant, .rows = {positions}, .cols = head_dim, .role = "rope", .constant = {ConstantKind::rope, spec.to_reals()}};
  for (std::size_t i = 0; i < p_.buffers.size(); ++i) {
    const Buffer& old = p_.buffers[i];
    if (old.kind == BufferKind::constant && old.type == b.type && old.rows == b.rows && old.cols == b.cols && old.constant == b.constant)
      return {static_cast<BufferId>(i), 0, static_cast<std::int32_t>(head_dim)};
  }
  return buffer(std::move(b));
}

void Emit::fill(View y, double value) { append(Op::fill, {y}, {}, {value}); }
void Emit::copy_to(View x, View y) { append(Op::copy, {x, y}); }
View Emit::add(View a, View b) {
  const View y = like(a, a.cols);
  append(Op::add, {a, b, y});
  return y;
}
View Emit::scale(View x, double factor) {
  const View y = like(x, x.cols);
  append(Op::scale, {x, y}, {}, {factor});
  return y;
}
View Emit::convert(View x, ValueType to) {
  if (type(x) == to) return x;
  const View y = temp(to, rows(x), x.cols);
  append(Op::convert, {x, y});
  return y;
}
View Emit::gather(View w, View ids) {
  const View y = temp(type(w), rows(ids), w.cols);
  append(Op::gather, {w, ids, y});
  return y;
}
View Emit::gather_rows(View x, View index) {
  const View y = temp(type(x), rows(index), x.cols);
  append(Op::gather_rows, {x, index, y});
  return y;
}
View Emit::scatter_rows(View x, View index, Rows to) {
  const View y = temp(type(x), to, x.cols);
  append(Op::scatter_rows, {x, index, y});
  return y;
}

View Emit::matmul(View w, View x, View bias) {
  const ArithClass arith = product_class(of(w).format);
  if (type(w) == ValueType::f32 && (arith == ArithClass::integer || arith == ArithClass::bfloat)) {
    const auto key = std::make_pair(x.buffer, x.col);
    const auto found = packed_.find(key);
    if (found != packed_.end() && found->second.cols == x.cols) {
      x = found->second;
    } else {
      const bool integer = arith == ArithClass::integer;
      const View packed = temp(integer ? ValueType::q15 : ValueType::bf16x2, rows(x), x.cols);
      append(integer ? Op::quantize : Op::split_bf16, {x, packed});
      packed_[key] = packed;
      x = packed;
    }
  }
  const View y = temp(type(w), rows(x), rows(w).constant);
  append(Op::matmul, {w, x, bias, y});
  return y;
}
View Emit::matmul_t(View w, View gy) {
  const View gx = like(gy, w.cols);
  append(Op::matmul_t, {w, gy, gx});
  return gx;
}
void Emit::outer_add(View gy, View x, View gw, Accumulate accumulate) { append(Op::outer_add, {gy, x, gw}, {static_cast<int>(accumulate)}); }
void Emit::col_sum(View gy, View gb, Accumulate accumulate) { append(Op::col_sum, {gy, gb}, {static_cast<int>(accumulate)}); }
void Emit::gather_add(View gy, View ids, View gw, Accumulate accumulate) { append(Op::gather_add, {gy, ids, gw}, {static_cast<int>(accumulate)}); }

View Emit::activation(View x, Activation kind) {
  if (kind == Activation::linear) return x;
  const View y = like(x, x.cols);
  append(Op::activation, {x, y}, {static_cast<int>(kind)});
  return y;
}
View Emit::activation_back(View x, View gy, Activation kind) {
  if (kind == Activation::linear) return gy;
  const View gx = like(x, x.cols);
  append(Op::activation_back, {x, gy, gx}, {static_cast<int>(kind)});
  return gx;
}
View Emit::silu_mul(View gate, View up) {
  const View y = like(gate, gate.cols);
  append(Op::silu_mul, {gate, up, y});
  return y;
}
std::pair<View, View> Emit::silu_mul_back(View gate, View up, View gy) {
  const View ggate = like(gate, gate.cols), gup = like(up, up.cols);
  append(Op::silu_mul_back, {gate, up, gy, ggate, gup});
  return {ggate, gup};
}

View Emit::rms_norm(View x, View gain, std::int64_t group, double eps) {
  const View y = like(x, x.cols);
  append(Op::rms_norm, {x, gain, y}, {group}, {eps});
  return y;
}
View Emit::rms_norm_back(View x, View gain, View gy, std::int64_t group, double eps) {
  const View gx = like(x, x.cols);
  append(Op::rms_norm_back, {x, gain, gy, gx}, {group}, {eps});
  return gx;
}
void Emit::rms_norm_gain(View x, View gy, View gg, std::int64_t group, double eps, Accumulate accumulate) {
  append(Op::rms_norm_gain, {x, gy, gg}, {group, static_cast<int>(accumulate)}, {eps});
}
View Emit::layer_norm(View x, View gain, View bias, std::int64_t group, double eps) {
  const View y = like(x, x.cols);
  append(Op::layer_norm, {x, gain, bias, y}, {group}, {eps});
  return y;
}
View Emit::layer_norm_back(View x, View gain, View gy, std::int64_t group, double eps) {
  const View gx = like(x, x.cols);
  append(Op::layer_norm_back, {x, gain, gy, gx}, {group}, {eps});
  return gx;
}
void Emit::layer_norm_gain(View x, View gy, View gg, std::int64_t group, double eps, Accumulate accumulate) {
  append(Op::layer_norm_gain, {x, gy, gg}, {group, static_cast<int>(accumulate)}, {eps});
}

View Emit::rope(View x, View pos, View table, std::int64_t head_dim, bool inverse) {
  const View y = like(x, x.cols);
  append(Op::rope, {x, pos, table, y}, {head_dim, inverse ? 1 : 0});
  return y;
}
void Emit::kv_append(View k, View v, View seq, View pos, View kv, const AttentionShape& s) { append(Op::kv_append, {k, v, seq, pos, kv}, {s.kv_heads, s.head_dim}); }
View Emit::attention(View q, View kv, View seq, View pos, const AttentionShape& s) {
  const View y = like(q, q.cols);
  append(Op::attention, {q, kv, seq, pos, y}, {s.heads, s.kv_heads, s.head_dim, s.window}, {s.scale});
  return y;
}
Emit::Attended Emit::attention_rows(View q, View k, View v, View pos, const AttentionShape& s) {
  const Attended out{like(q, q.cols), like(q, 2 * s.heads)};
  append(Op::attention_rows, {q, k, v, pos, out.y, out.stats}, {s.heads, s.kv_heads, s.head_dim, s.window, s.causal ? 1 : 0}, {s.scale});
  return out;
}
Emit::AttentionGradients Emit::attention_back(View q, View k, View v, View pos, const Attended& forward, View gy, const AttentionShape& s) {
  const AttentionGradients out{like(q, q.cols), like(k, k.cols), like(v, v.cols)};
  append(Op::attention_back, {q, k, v, pos, forward.y, forward.stats, gy, out.q, out.k, out.v}, {s.heads, s.kv_heads, s.head_dim, s.window, s.causal ? 1 : 0}, {s.scale});
  return out;
}

View Emit::cross_entropy(View logits, View target) {
  const View loss = like(logits, 1);
  append(Op::cross_entropy, {logits, target, loss});
  return loss;
}
View Emit::cross_entropy_back(View logits, View target) {
  const View g = like(logits, logits.cols);
  append(Op::cross_entropy_back, {logits, target, g});
  return g;
}
View Emit::mse(View y, View target) {
  const View loss = like(y, 1);
  append(Op::mse, {y, target, loss});
  return loss;
}
View Emit::mse_back(View y, View target) {
  const View g = like(y, y.cols);
  append(Op::mse_back, {y, target, g});
  return g;
}
void Emit::sum_rows(View x, View total) { append(Op::sum_rows, {x, total}); }

void Emit::grad_merge(View g, View levels, View total, std::int64_t micro_batches, RegisterId micro) {
  append(Op::grad_merge, {g, levels, total}, {micro_batches}, {}, {micro});
}
void Emit::sum_squares(View g, View total, Accumulate accumulate) { append(Op::sum_squares, {g, total}, {static_cast<int>(accumulate)}); }
void Emit::clip_scale(View total, View scale, double max_norm, RegisterId inv_n) {
  append(Op::clip_scale, {total, scale}, {}, {max_norm}, {inv_n});
}
void Emit::sgd(View g, View scale, View w, View velocity, double momentum, double weight_decay, RegisterId lr) {
  append(Op::sgd, {g, scale, w, velocity}, {}, {momentum, weight_decay}, {lr});
}
void Emit::adamw(View g, View scale, View w, View m, View v, double beta1, double beta2, double eps, double weight_decay, RegisterId lr, RegisterId correction1,
                 RegisterId correction2) {
  append(Op::adamw, {g, scale, w, m, v}, {}, {beta1, beta2, eps, weight_decay}, {lr, correction1, correction2});
}

}  // namespace loom
