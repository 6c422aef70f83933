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
    std::erase_if(rounded_, [&](const auto& entry) { return std::get<0>(entry.first) == ins.operands[i].buffer; });
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

RegisterId Emit::measured_register(std::uint32_t max) {
  p_.registers.push_back({"count" + std::to_string(p_.registers.size()), RegisterType::measured, max});
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
View Emit::mul(View a, View b) {
  const View y = like(a, a.cols);
  append(Op::mul, {a, b, y});
  return y;
}
View Emit::channel_affine(View x, View gain, View bias, std::int64_t inner) {
  const View y = like(x, x.cols);
  append(Op::channel_affine, {x, gain, bias, y}, {inner});
  return y;
}
View Emit::channel_moments(View x, std::int64_t inner) {
  const View y = temp(type(x), Rows{}, 3 * (x.cols / inner));
  append(Op::channel_moments, {x, y}, {inner});
  return y;
}
View Emit::channel_sums(View g, View x, std::int64_t inner) {
  const View y = temp(type(x), Rows{}, 4 * (x.cols / inner));
  append(Op::channel_sums, {g, x, y}, {inner});
  return y;
}
std::pair<View, View> Emit::fold_norm(View mean, View variance, View gain, View bias, double eps) {
  const View scale = temp(type(mean), Rows{}, mean.cols), shift = temp(type(mean), Rows{}, mean.cols);
  append(Op::fold_norm, {mean, variance, gain, bias, scale, shift}, {}, {eps});
  return {scale, shift};
}
void Emit::moving_average(View value, View w, double momentum) { append(Op::moving_average, {value, w}, {}, {momentum}); }
static std::int64_t word(std::uint64_t v) { return static_cast<std::int64_t>(v & 0xFFFFFFFF); }
View Emit::dropout(View x, const Noise& noise, double rate) {
  const View y = like(x, x.cols);
  append(Op::dropout, {x, y}, {word(noise.seed), word(noise.seed >> 32), word(noise.stream), word(noise.stream >> 32), static_cast<std::int64_t>(rate * 0x1p24 + 0.5)}, {1 / (1 - rate)}, {noise.run});
  return y;
}
View Emit::gumbel(View x, const Noise& noise) {
  const View y = like(x, x.cols);
  append(Op::gumbel, {x, y}, {word(noise.seed), word(noise.seed >> 32), word(noise.stream), word(noise.stream >> 32)}, {}, {noise.run});
  return y;
}
View Emit::distances(View w, View x) {
  const View y = like(x, rows(w).constant);
  append(Op::distances, {w, x, y});
  return y;
}
View Emit::distances_back(View w, View x, View g) {
  const View gx = like(x, x.cols);
  append(Op::distances_back, {w, x, g, gx});
  return gx;
}
void Emit::distances_weight(View w, View x, View g, View gw, Accumulate accumulate) { append(Op::distances_weight, {w, x, g, gw}, {static_cast<int>(accumulate)}); }
View Emit::softmax(View x, Simplex kind, std::int64_t group, double alpha) {
  const View y = like(x, x.cols);
  append(Op::softmax, {x, y}, {static_cast<int>(kind), group}, {alpha});
  return y;
}
View Emit::softmax_back(View y, View gy, Simplex kind, std::int64_t group, double alpha) {
  const View gx = like(y, y.cols);
  append(Op::softmax_back, {y, gy, gx}, {static_cast<int>(kind), group}, {alpha});
  return gx;
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
View Emit::top_k(View x, std::int64_t k) {
  const View y = like(x, x.cols);
  append(Op::top_k, {x, y}, {k});
  return y;
}
View Emit::route_rows(View share) {
  const RegisterId count = measured_register(static_cast<std::uint32_t>(p_.max_rows(share.buffer)));
  const View places = temp(ValueType::u32, {1, count, kNone}, 1);
  append(Op::route_rows, {share, places}, {}, {}, {count});
  return places;
}
void Emit::scatter_add(View x, View scale, View index, View y) { append(Op::scatter_add, {x, scale, index, y}); }

// Of a weight itself, or of the gradient that has its name.
bool Emit::in_fp8(View v) const {
  if (!fp8_ || type(v) != ValueType::f32) return false;
  const Buffer& b = of(v);
  const BufferId id = b.kind == BufferKind::weight ? v.buffer : p_.find(BufferKind::weight, b.path, b.role);
  return id != kNone && p_.buffers[static_cast<std::size_t>(id)].format.dtype == DType::fp8e4m3;
}
namespace {
bool writes(const Instruction& ins, BufferId buffer) {
  const auto& operands = info(ins.op).operands;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i].role != Role::read && ins.operands[i].buffer == buffer) return true;
  return false;
}
}  // namespace
View Emit::rounded(View x, Unary kind) {
  // An unfolded row holds a value once per tap: it is rounded before.
  if (!p_.code.empty() && p_.code.back().op == Op::unfold && p_.code.back().operands[1] == x) {
    Instruction unfold = p_.code.back();
    p_.code.pop_back();
    unfold.operands[0] = rounded(unfold.operands[0], kind);
    p_.code.push_back(unfold);
    return x;
  }
  const auto key = std::make_tuple(x.buffer, x.col, x.cols, kind);
  if (const auto found = rounded_.find(key); found != rounded_.end()) return found->second;
  // Values that only change places are rounded before, too, where nothing has changed since: what moves them is what convolutions are known by (cpu/windows.h).
  const auto moved = std::find_if(p_.code.rbegin(), p_.code.rend(), [&](const Instruction& ins) { return writes(ins, x.buffer); });
  if (moved == p_.code.rend() || moved->op != Op::reorder || moved->operands[1] != x || std::any_of(p_.code.rbegin(), moved, [&](const Instruction& ins) { return writes(ins, moved->operands[0].buffer); }))
    return rounded_[key] = unary(x, kind);
  const auto ints = moved->ints;
  const View from = rounded(moved->operands[0], kind), y = like(x, x.cols);
  append(Op::reorder, {from, y});
  p_.code.back().ints = ints;
  return rounded_[key] = y;
}

View Emit::matmul(View w, View x, View bias) {
  if (in_fp8(w)) x = rounded(x, Unary::fp8e4m3);
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
  if (in_fp8(w)) gy = rounded(gy, Unary::fp8e5m2);
  const View gx = like(gy, w.cols);
  append(Op::matmul_t, {w, gy, gx});
  return gx;
}
void Emit::outer_add(View gy, View x, View gw, Accumulate accumulate) {
  if (in_fp8(gw)) {
    x = rounded(x, Unary::fp8e4m3);
    gy = rounded(gy, Unary::fp8e5m2);
  }
  append(Op::outer_add, {gy, x, gw}, {static_cast<int>(accumulate)});
}
void Emit::col_sum(View gy, View gb, Accumulate accumulate) { append(Op::col_sum, {gy, gb}, {static_cast<int>(accumulate)}); }
void Emit::gather_add(View gy, View ids, View gw, Accumulate accumulate) { append(Op::gather_add, {gy, ids, gw}, {static_cast<int>(accumulate)}); }

// The rows that x's values make when a row has `cols` of them.
Rows Emit::rows_of(View x, std::int64_t cols) const {
  Rows r = rows(x);
  r.constant = r.constant * x.cols / cols;
  return r;
}
View Emit::reshape(View x, std::int64_t cols) {
  if (cols == x.cols) return x;
  return transpose(x, {1, 1, 1, 1, cols < x.cols ? x.cols : cols}, {0, 1, 2, 3, 4}, cols);
}
View Emit::transpose(View x, std::array<std::int64_t, 5> sizes, std::array<int, 5> order, std::int64_t cols) {
  const View y = temp(type(x), rows_of(x, cols), cols);
  std::int64_t code = 0;
  for (const int d : order) code = code << 4 | d;
  append(Op::reorder, {x, y}, {sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], code});
  return y;
}
void Emit::window_op(Op op, std::initializer_list<View> operands, const Window& window, bool count_pad) {
  append(op, operands);
  auto& ints = p_.code.back().ints;
  const auto list = window.to_ints();
  std::copy(list.begin(), list.end(), ints.begin());
  if (op == Op::avg_pool || op == Op::avg_pool_back) ints[Window::kInts] = count_pad;
}
View Emit::unfold(View x, const Window& w) {
  Rows r = rows(x);
  r.constant *= w.positions();
  const View y = temp(type(x), r, w.taps());
  window_op(Op::unfold, {x, y}, w);
  return y;
}
View Emit::fold(View x, const Window& w) {
  Rows r = rows(x);
  r.constant /= w.positions();
  const View y = temp(type(x), r, w.values());
  window_op(Op::fold, {x, y}, w);
  return y;
}
View Emit::max_pool(View x, const Window& w) {
  const View y = like(x, w.channels * w.positions());
  window_op(Op::max_pool, {x, y}, w);
  return y;
}
View Emit::max_pool_back(View x, View gy, const Window& w) {
  const View gx = like(x, x.cols);
  window_op(Op::max_pool_back, {x, gy, gx}, w);
  return gx;
}
View Emit::avg_pool(View x, const Window& w, bool count_pad) {
  const View y = like(x, w.channels * w.positions());
  window_op(Op::avg_pool, {x, y}, w, count_pad);
  return y;
}
View Emit::avg_pool_back(View gy, const Window& w, bool count_pad) {
  const View gx = like(gy, w.values());
  window_op(Op::avg_pool_back, {gy, gx}, w, count_pad);
  return gx;
}
View Emit::unary(View x, Unary kind, double a, double b) {
  const View y = like(x, x.cols);
  append(Op::unary, {x, y}, {static_cast<int>(kind)}, {a, b});
  return y;
}
View Emit::unary_back(View x, View gy, Unary kind, double a, double b) {
  const View gx = like(x, x.cols);
  append(Op::unary_back, {x, gy, gx}, {static_cast<int>(kind)}, {a, b});
  return gx;
}
namespace {
std::array<std::int64_t, 16> pair_ints(Binary kind, const Emit::Sizes& sizes, const Emit::Sizes& a, const Emit::Sizes& b) {
  std::array<std::int64_t, 16> ints{static_cast<int>(kind)};
  std::copy(sizes.begin(), sizes.end(), ints.begin() + 1);
  std::copy(a.begin(), a.end(), ints.begin() + 6);
  std::copy(b.begin(), b.end(), ints.begin() + 11);
  return ints;
}
}  // namespace
View Emit::binary(View a, View b, Binary kind, const Sizes& sizes, const Sizes& a_steps, const Sizes& b_steps, Rows to) {
  std::int64_t cols = 1;
  for (const std::int64_t s : sizes) cols *= s;
  const View y = temp(type(a), to, cols);
  append(Op::binary, {a, b, y});
  std::ranges::copy(pair_ints(kind, sizes, a_steps, b_steps), p_.code.back().ints.begin());
  return y;
}
std::pair<View, View> Emit::binary_back(View a, View b, View gy, Binary kind, const Sizes& sizes, const Sizes& a_steps, const Sizes& b_steps) {
  const View ga = like(gy, gy.cols), gb = like(gy, gy.cols);
  append(Op::binary_back, {a, b, gy, ga, gb});
  std::ranges::copy(pair_ints(kind, sizes, a_steps, b_steps), p_.code.back().ints.begin());
  return {ga, gb};
}
View Emit::reduce(View x, Reduce kind, std::int64_t n) {
  const View y = like(x, x.cols / n);
  append(Op::reduce, {x, y}, {static_cast<int>(kind), n});
  return y;
}
View Emit::reduce_back(View x, View y, View gy, Reduce kind, std::int64_t n) {
  const View gx = like(x, x.cols);
  append(Op::reduce_back, {x, y, gy, gx}, {static_cast<int>(kind), n});
  return gx;
}
// One list of a kind serves all that use it.
View Emit::constant(ConstantKind kind, std::span<const double> runs, std::int64_t limit, std::int64_t cols) {
  ConstantSpec spec{kind, {static_cast<double>(limit)}};
  spec.reals.insert(spec.reals.end(), runs.begin(), runs.end());
  for (std::size_t i = 0; i < p_.buffers.size(); ++i)
    if (p_.buffers[i].kind == BufferKind::constant && p_.buffers[i].constant == spec) return {static_cast<BufferId>(i), 0, static_cast<std::int32_t>(cols)};
  return buffer({.type = ValueType::i32, .kind = BufferKind::constant, .cols = cols, .role = kind == ConstantKind::places ? "places" : "uses", .constant = std::move(spec)});
}
View Emit::pick(View x, std::span<const double> runs, std::int64_t count, double fill) {
  const View places = constant(ConstantKind::places, runs, x.cols, count), y = like(x, count);
  append(Op::pick, {x, places, y}, {}, {fill});
  return y;
}
View Emit::pick_back(View gy, std::span<const double> runs, std::int64_t limit) {
  const View uses = constant(ConstantKind::uses, runs, limit, limit + 1 + gy.cols), gx = like(gy, limit);
  append(Op::pick_back, {gy, uses, gx});
  return gx;
}
View Emit::select(View c, View a, View b) {
  const View y = like(a, a.cols);
  append(Op::select, {c, a, b, y});
  return y;
}
View Emit::value_matmul(View a, View b, const MatmulShape& s) {
  const View y = like(a, s.outer * s.inner * s.m * s.n);
  append(Op::value_matmul, {a, b, y}, {s.outer, s.inner, s.m, s.n, s.k, s.a[0], s.a[1], s.a[2], s.a[3], s.b[0], s.b[1], s.b[2], s.b[3]});
  return y;
}
View Emit::group_matmul(View w, View x, View bias, std::int64_t groups) {
  if (in_fp8(w)) x = rounded(x, Unary::fp8e4m3);
  const View y = like(x, rows(w).constant);
  append(Op::group_matmul, {w, x, bias, y}, {groups});
  return y;
}
View Emit::group_matmul_t(View w, View gy, std::int64_t groups) {
  if (in_fp8(w)) gy = rounded(gy, Unary::fp8e5m2);
  const View gx = like(gy, groups * w.cols);
  append(Op::group_matmul_t, {w, gy, gx}, {groups});
  return gx;
}
void Emit::group_outer_add(View gy, View x, View gw, std::int64_t groups, Accumulate accumulate) {
  if (in_fp8(gw)) {
    x = rounded(x, Unary::fp8e4m3);
    gy = rounded(gy, Unary::fp8e5m2);
  }
  append(Op::group_outer_add, {gy, x, gw}, {groups, static_cast<int>(accumulate)});
}

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

void Emit::lstm_cell(View x, View s, View c, View h, View next) { append(Op::lstm_cell, {x, s, c, h, next}); }
void Emit::lstm_cell_back(View x, View s, View c, View next, View gh, View gnext, View gz, View gc) { append(Op::lstm_cell_back, {x, s, c, next, gh, gnext, gz, gc}); }
void Emit::gru_cell(View x, View s, View h, View next) { append(Op::gru_cell, {x, s, h, next}); }
void Emit::gru_cell_back(View x, View s, View h, View gnext, View gx, View gs, View gh) { append(Op::gru_cell_back, {x, s, h, gnext, gx, gs, gh}); }

void Emit::state_read(View state, View seq, View pos, View y) { append(Op::state_read, {state, seq, pos, y}); }
void Emit::state_write(View x, View seq, View state) { append(Op::state_write, {x, seq, state}); }

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

View Emit::standardize(View x, View mean, View factor, bool missing) {
  const View y = like(x, x.cols);
  append(Op::standardize, {x, mean, factor, y}, {missing ? 1 : 0});
  return y;
}
View Emit::standardize_back(View x, View factor, View gy, bool missing) {
  const View gx = like(x, x.cols);
  append(Op::standardize_back, {x, factor, gy, gx}, {missing ? 1 : 0});
  return gx;
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

View Emit::loss(Op op, View y, View target, Reals reals) {
  const View loss = like(y, 1);
  append(op, {y, target, loss}, {}, reals);
  return loss;
}
View Emit::loss_back(Op op, View y, View target, Reals reals) {
  const View g = like(y, y.cols);
  append(op, {y, target, g}, {}, reals);
  return g;
}
View Emit::cross_entropy(View logits, View target) { return loss(Op::cross_entropy, logits, target); }
View Emit::cross_entropy_back(View logits, View target) { return loss_back(Op::cross_entropy_back, logits, target); }
View Emit::mse(View y, View target) { return loss(Op::mse, y, target); }
View Emit::mse_back(View y, View target) { return loss_back(Op::mse_back, y, target); }
View Emit::mae(View y, View target) { return loss(Op::mae, y, target); }
View Emit::mae_back(View y, View target) { return loss_back(Op::mae_back, y, target); }
View Emit::huber(View y, View target, double delta) { return loss(Op::huber, y, target, {delta}); }
View Emit::huber_back(View y, View target, double delta) { return loss_back(Op::huber_back, y, target, {delta}); }
View Emit::bce(View logits, View target) { return loss(Op::bce, logits, target); }
View Emit::bce_back(View logits, View target) { return loss_back(Op::bce_back, logits, target); }
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
void Emit::sgd_nesterov(View g, View scale, View w, View velocity, double momentum, double weight_decay, RegisterId lr) {
  append(Op::sgd_nesterov, {g, scale, w, velocity}, {}, {momentum, weight_decay}, {lr});
}
void Emit::rmsprop(View g, View scale, View w, View v, View mean, View velocity, double alpha, double eps, double momentum, double weight_decay, RegisterId lr) {
  append(Op::rmsprop, {g, scale, w, v, mean, velocity}, {}, {alpha, eps, momentum, weight_decay}, {lr});
}
void Emit::lion(View g, View scale, View w, View m, double beta1, double beta2, double weight_decay, RegisterId lr) {
  append(Op::lion, {g, scale, w, m}, {}, {beta1, beta2, weight_decay}, {lr});
}

}  // namespace loom
