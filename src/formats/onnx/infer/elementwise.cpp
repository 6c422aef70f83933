// Operators whose outputs have the (broadcast) shape of their inputs.
#include <algorithm>
#include <cmath>

#include "base/borrowed_call.h"
#include "base/math/exact_math.h"
#include "formats/onnx/infer/rule.h"

namespace loom::onnx {
namespace {

// Before opset 7, `axis` says where the dimensions of the second input stand in those of the first.
Result<Dims> second_dims(const Call& call) {
  Dims dims = call.dims(1);
  if (call.opset >= 7 || !call.node.domain.empty()) return dims;
  LOOM_ASSIGN(const std::int64_t does_broadcast, call.node.get_int("broadcast", 0));
  if (does_broadcast == 0 || !call.attribute("axis")) return dims;
  LOOM_ASSIGN(std::int64_t axis, call.node.get_int("axis", 0));
  const auto rank = static_cast<std::int64_t>(call.rank(0)),
             own = static_cast<std::int64_t>(dims.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis + own > rank)
    return wrong("axis ", axis, " for shapes ", call.dims(0), " and ", dims);
  dims.resize(static_cast<std::size_t>(rank - axis), 1);
  return dims;
}

// All inputs broadcast together; the type is that of input `typed`.
Result<Dims> broadcast_all(const Call& call) {
  Dims dims = call.dims(0);
  for (std::size_t i = 1; i < call.in.size(); ++i) {
    if (!call.has(i)) return wrong("has no input ", i);
    Dims other = call.dims(i);
    if (i == 1) {
      LOOM_ASSIGN(other, second_dims(call));
    }
    LOOM_ASSIGN(dims, broadcast(dims, other));
  }
  return dims;
}

Status arithmetic(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_ASSIGN(Dims dims, broadcast_all(call));
  call.set(0, call.x().type, std::move(dims));
  return {};
}

Status binary(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_TRY(call.no_more_than(2));
  return arithmetic(call);
}

Status comparison(Call& call) {
  LOOM_TRY(binary(call));
  call.out[0].type = Type::boolean;
  return {};
}

Status predicate(Call& call) {
  LOOM_TRY(same_as_input(call));
  call.out[0].type = Type::boolean;
  return {};
}

Status where(Call& call) {
  LOOM_TRY(call.need(3));
  LOOM_TRY(call.no_more_than(3));
  LOOM_ASSIGN(Dims dims, broadcast_all(call));
  call.set(0, call.x(1).type, std::move(dims));
  return {};
}

// The slope broadcasts to the input, not the other way; before opset 7 it is one number or one per
// channel.
Status prelu(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_TRY(call.no_more_than(2));
  if (call.opset >= 7) LOOM_TRY(call.spreads(1, call.dims(), "slope"));
  return same_as_input(call);
}

// A bias that is added first broadcasts to the input as well.
Status with_bias(Call& call) {
  LOOM_TRY(call.need(call.node.op == "BiasGelu" ? 2 : 1));
  LOOM_TRY(call.spreads(1, call.dims(), "bias"));
  return same_as_input(call);
}

Status clip(Call& call) {
  LOOM_TRY(same_as_input(call));
  if (call.opset < 11) return {};
  LOOM_TRY(call.single(1, "min"));
  return call.single(2, "max");
}

// Before opset 13 the input is a matrix, whose rows begin at the axis: the rank itself leaves rows
// of one.
Status softmax(Call& call) {
  LOOM_TRY(same_as_input(call));
  LOOM_ASSIGN(const std::int64_t axis, call.node.get_int("axis", call.opset >= 13 ? -1 : 1));
  if (call.opset < 13 && axis >= 0 && axis <= std::max<std::int64_t>(int_of(call.rank()), 1))
    return {};
  return axis_of(axis, call.rank()).status();
}

Status lp_normalization(Call& call) {
  LOOM_TRY(same_as_input(call));
  LOOM_ASSIGN(const std::int64_t axis, call.node.get_int("axis", -1));
  LOOM_ASSIGN(const std::int64_t p, call.node.get_int("p", 2));
  if (p != 1 && p != 2) return wrong("p is ", p, ", expected 1 or 2");
  return axis_of(axis, call.rank()).status();
}

Status mean_variance_normalization(Call& call) {
  LOOM_TRY(same_as_input(call));
  LOOM_ASSIGN(const Dims axes, call.node.get_ints("axes", {0, 2, 3}));
  return axes_of(axes, call.rank()).status();
}

Status trilu(Call& call) {
  LOOM_TRY(same_as_input(call));
  if (call.rank() < 2) return wrong("input ", call.dims(), ", expected matrices");
  return call.single(1, "k");
}

Status cast_to(Call& call, std::int64_t type) {
  if (type < 1 || type >= kTypeCount) return wrong("casts to the element type ", type);
  call.set(0, static_cast<Type>(type), call.dims());
  return {};
}

Status cast(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_ASSIGN(const std::int64_t to, call.node.get_int("to", 0));
  return cast_to(call, to);
}

Status cast_like(Call& call) {
  LOOM_TRY(call.need(2));
  return cast_to(call, static_cast<std::int64_t>(call.x(1).type));
}

Status dropout(Call& call) {
  LOOM_TRY(same_as_input(call));
  if (call.has(2) &&
      (!call.cells[2] || call.cells[2]->size() != 1 || call.cells[2]->front().i != 0)) {
    return not_supported("is in training mode");
  }
  call.set(1, call.opset >= 10 ? Type::boolean : call.x().type, call.dims());
  return {};
}

Status quantize(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_ASSIGN(const std::int64_t to, call.node.get_int("output_dtype", 0));
  LOOM_ASSIGN(const std::int64_t precision, call.node.get_int("precision", 0));
  if (precision != 0 && precision != static_cast<std::int64_t>(Type::f32))
    return not_supported("a division of precision ", precision);
  if (call.has(2)) return cast_to(call, static_cast<std::int64_t>(call.x(2).type));
  return cast_to(call, to ? to : static_cast<std::int64_t>(Type::u8));
}

Status dequantize(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_ASSIGN(const std::int64_t to, call.node.get_int("output_dtype", 0));
  return cast_to(call, to ? to : static_cast<std::int64_t>(call.x(1).type));
}

Status dynamic_quantize(Call& call) {
  LOOM_TRY(call.need(1));
  call.set(0, Type::u8, call.dims());
  call.set(1, Type::f32, {});
  call.set(2, Type::u8, {});
  return {};
}

// ---- Folding.

// out[i] = f(a, b) over the broadcast inputs; `f` may refuse by returning false.
Result<bool> fold_pairs(Call& call, BorrowedCall<bool(Cell, Cell, Cell*)> f) {
  const Dims& dims = call.out[0].dims;
  LOOM_ASSIGN(const Dims second, second_dims(call));
  const auto left = offsets(dims, broadcast_strides(call.dims(0), dims)),
             right = offsets(dims, broadcast_strides(second, dims));
  Cells out(left.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!f((*call.cells[0])[left[i]], (*call.cells[1])[right[i]], &out[i])) return false;
  }
  LOOM_TRY(keep(call, std::move(out)));
  return true;
}

// Wraps as two's complement does.
std::int64_t wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::uint64_t u(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// Op: integers(a, b, &out) and reals(a, b) with the exact result or one rounding in double.
template <class Integers, class Reals>
Result<bool> fold_arithmetic(Call& call, Integers integers, Reals reals) {
  if (call.in.size() != 2) return false;
  const Type type = call.x(0).type;
  if (is_float(type) && call.node.op.starts_with("Bit"))
    return wrong("of ", name(type), ", expected integers");
  if (call.x(1).type != type || type == Type::boolean) return false;
  return fold_pairs(call, [&](Cell a, Cell b, Cell* out) {
    if (is_float(type)) {
      out->r = round_to(type, reals(a.r, b.r));
      return true;
    }
    const bool good = integers(a.i, b.i, &out->i);
    out->i = wrap_to(type, out->i);
    return good;
  });
}

Result<bool> fold_add(Call& c) {
  return fold_arithmetic(
      c, [](auto a, auto b, auto* o) { return *o = wrapped(u(a) + u(b)), true; },
      [](double a, double b) { return a + b; });
}
Result<bool> fold_sub(Call& c) {
  return fold_arithmetic(
      c, [](auto a, auto b, auto* o) { return *o = wrapped(u(a) - u(b)), true; },
      [](double a, double b) { return a - b; });
}
Result<bool> fold_mul(Call& c) {
  return fold_arithmetic(
      c, [](auto a, auto b, auto* o) { return *o = wrapped(u(a) * u(b)), true; },
      [](double a, double b) { return a * b; });
}
// Integers toward zero; division by zero stays a step.
Result<bool> fold_div(Call& c) {
  const auto divide = [](std::int64_t a, std::int64_t b, std::int64_t* o) {
    if (b == 0) return false;
    *o = b == -1 ? wrapped(-u(a)) : a / b;
    return true;
  };
  return fold_arithmetic(c, divide, [](double a, double b) { return a / b; });
}
// The sign of the divisor, as Python; with fmod that of the dividend, as C. A remainder is exact.
Result<bool> fold_mod(Call& c) {
  LOOM_ASSIGN(const std::int64_t fmod, c.node.get_int("fmod", 0));
  const auto modulo = [fmod](std::int64_t a, std::int64_t b, std::int64_t* o) {
    if (b == 0) return false;
    *o = b == -1 ? 0 : a % b;
    if (fmod == 0 && *o != 0 && (*o < 0) != (b < 0)) *o += b;
    return true;
  };
  return fold_arithmetic(c, modulo, [fmod](double a, double b) {
    double rest = std::fmod(a, b);
    if (fmod == 0 && rest != 0 && (rest < 0) != (b < 0)) rest += b;
    return rest;
  });
}
// A whole exponent of 0 or more of an integer, wrapping as the products do; a real exponent counts
// where it is whole.
Result<bool> fold_pow(Call& c) {
  const Type type = c.x(0).type, exponent = c.x(1).type;
  if (is_float(type) || type == Type::boolean || exponent == Type::boolean) return false;
  return fold_pairs(c, [&](Cell a, Cell b, Cell* out) {
    if (is_float(exponent) && !(b.r >= 0 && b.r <= 64)) return false;
    const std::int64_t n = is_float(exponent) ? static_cast<std::int64_t>(b.r) : b.i;
    if (n < 0 || n > 64 || (is_float(exponent) && static_cast<double>(n) != b.r)) return false;
    std::uint64_t y = 1;
    for (std::int64_t i = 0; i < n; ++i) y *= u(a.i);
    out->i = wrap_to(type, wrapped(y));
    return true;
  });
}
// Of unsigned integers; a shift by the width or more leaves nothing.
Result<bool> fold_bit_shift(Call& c) {
  LOOM_ASSIGN(const std::string direction, c.node.get_string("direction", ""));
  const bool left = direction == "LEFT";
  if (!left && direction != "RIGHT")
    return wrong("direction is ", quoted(direction), ", expected LEFT or RIGHT");
  const auto shift = [left](std::int64_t a, std::int64_t b, std::int64_t* o) {
    if (a < 0 || b < 0) return false;
    *o = b > 63 ? 0 : left ? wrapped(u(a) << b) : a >> b;
    return true;
  };
  return fold_arithmetic(c, shift, [](double, double) { return 0.0; });
}
Result<bool> fold_bit_and(Call& c) {
  return fold_arithmetic(
      c, [](auto a, auto b, auto* o) { return *o = a & b, true; },
      [](double, double) { return 0.0; });
}
Result<bool> fold_bit_or(Call& c) {
  return fold_arithmetic(
      c, [](auto a, auto b, auto* o) { return *o = a | b, true; },
      [](double, double) { return 0.0; });
}
Result<bool> fold_bit_xor(Call& c) {
  return fold_arithmetic(
      c, [](auto a, auto b, auto* o) { return *o = a ^ b, true; },
      [](double, double) { return 0.0; });
}
// NaN goes through, as in NumPy.
Result<bool> fold_min(Call& c) {
  if (c.in.size() == 1) return fold_copy(c);
  return fold_arithmetic(
      c, [](auto a, auto b, auto* o) { return *o = std::min(a, b), true; },
      [](double a, double b) { return a != a || a < b ? a : b; });
}
Result<bool> fold_max(Call& c) {
  if (c.in.size() == 1) return fold_copy(c);
  return fold_arithmetic(
      c, [](auto a, auto b, auto* o) { return *o = std::max(a, b), true; },
      [](double a, double b) { return a != a || a > b ? a : b; });
}

// holds(a, b) of two numbers or bools of one type.
template <class Holds>
Result<bool> fold_comparison(Call& call, Holds holds) {
  if (call.x(0).type != call.x(1).type) return false;
  const bool real = is_float(call.x(0).type);
  return fold_pairs(call, [&](Cell a, Cell b, Cell* out) {
    out->i = real ? holds(a.r, b.r) : holds(a.i, b.i);
    return true;
  });
}
Result<bool> fold_equal(Call& c) {
  return fold_comparison(c, [](auto a, auto b) { return a == b; });
}
Result<bool> fold_less(Call& c) {
  return fold_comparison(c, [](auto a, auto b) { return a < b; });
}
Result<bool> fold_greater(Call& c) {
  return fold_comparison(c, [](auto a, auto b) { return a > b; });
}
Result<bool> fold_less_equal(Call& c) {
  return fold_comparison(c, [](auto a, auto b) { return a <= b; });
}
Result<bool> fold_greater_equal(Call& c) {
  return fold_comparison(c, [](auto a, auto b) { return a >= b; });
}
Result<bool> fold_and(Call& c) {
  return fold_comparison(c, [](auto a, auto b) { return a != 0 && b != 0; });
}
Result<bool> fold_or(Call& c) {
  return fold_comparison(c, [](auto a, auto b) { return a != 0 || b != 0; });
}
Result<bool> fold_xor(Call& c) {
  return fold_comparison(c, [](auto a, auto b) { return (a != 0) != (b != 0); });
}

Result<bool> fold_where(Call& call) {
  const Dims& dims = call.out[0].dims;
  std::vector<std::size_t> from[3];
  for (std::size_t i = 0; i < 3; ++i)
    from[i] = offsets(dims, broadcast_strides(call.dims(i), dims));
  Cells out(from[0].size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t taken = (*call.cells[0])[from[0][i]].i ? 1 : 2;
    out[i] = (*call.cells[taken])[from[taken][i]];
  }
  LOOM_TRY(keep(call, std::move(out)));
  return true;
}

// f(cell, &out) for each element.
Result<bool> fold_each(Call& call, BorrowedCall<bool(Cell, Cell*)> f) {
  Cells out(call.cells[0]->size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!f((*call.cells[0])[i], &out[i])) return false;
  }
  LOOM_TRY(keep(call, std::move(out)));
  return true;
}

// Whole numbers below 2^52 have their fraction in bits; those above have none.
double truncated(double x) {
  return x > -0x1p52 && x < 0x1p52
             ? __builtin_copysign(static_cast<double>(static_cast<std::int64_t>(x)), x)
             : x;
}
double floor_of(double x) { return truncated(x) > x ? truncated(x) - 1 : truncated(x); }
double ceil_of(double x) { return truncated(x) < x ? truncated(x) + 1 : truncated(x); }

template <class F>
Result<bool> fold_real(Call& call, F f) {
  const Type type = call.x().type;
  if (!is_float(type)) return false;
  return fold_each(call, [&](Cell a, Cell* out) { return out->r = round_to(type, f(a.r)), true; });
}
Result<bool> fold_floor(Call& c) { return fold_real(c, floor_of); }
Result<bool> fold_ceil(Call& c) { return fold_real(c, ceil_of); }
Result<bool> fold_sqrt(Call& c) {
  return fold_real(c, [](double x) { return exact::sqrt(x); });
}  // one rounding to f32 is right as well
Result<bool> fold_reciprocal(Call& c) {
  return fold_real(c, [](double x) { return 1 / x; });
}
Result<bool> fold_relu(Call& c) {
  if (!is_float(c.x().type)) return false;
  return fold_real(c, [](double x) { return x < 0 ? 0 : x; });
}
Result<bool> fold_neg(Call& c) {
  const Type type = c.x().type;
  if (is_float(type)) return fold_real(c, [](double x) { return -x; });
  return fold_each(
      c, [&](Cell a, Cell* out) { return out->i = wrap_to(type, wrapped(-u(a.i))), true; });
}
Result<bool> fold_abs(Call& c) {
  const Type type = c.x().type;
  if (is_float(type)) return fold_real(c, [](double x) { return __builtin_fabs(x); });
  return fold_each(c, [&](Cell a, Cell* out) {
    return out->i = wrap_to(type, a.i < 0 ? wrapped(-u(a.i)) : a.i), true;
  });
}
Result<bool> fold_bit_not(Call& c) {
  const Type type = c.x().type;
  if (is_float(type)) return wrong("of ", name(type), ", expected integers");
  return fold_each(c, [&](Cell a, Cell* out) { return out->i = wrap_to(type, ~a.i), true; });
}
Result<bool> fold_not(Call& c) {
  return fold_each(c, [](Cell a, Cell* out) { return out->i = a.i == 0, true; });
}

// What does not fit an integer stays a step: the operator leaves it open.
Result<bool> fold_cast(Call& call) {
  const Type from = call.x().type, to = call.out[0].type;
  return fold_each(call, [&](Cell a, Cell* out) {
    if (is_float(to)) {
      out->r = round_to(to, is_float(from) ? a.r : static_cast<double>(a.i));
      return is_float(from) || to == Type::f64 ||
             (a.i < (std::int64_t{1} << 53) && a.i > -(std::int64_t{1} << 53));
    }
    if (!is_float(from)) return out->i = wrap_to(to, a.i), true;
    if (to == Type::boolean) return out->i = a.r != 0, true;
    if (!(a.r > -0x1p62 && a.r < 0x1p62)) return false;
    out->i = static_cast<std::int64_t>(a.r);
    return wrap_to(to, out->i) == out->i;
  });
}

Status swiglu(Call& call) {
  LOOM_TRY(same_as_first_of<2>(call));
  return call.dims(1) == call.dims() ? Status()
                                     : wrong("gate ", call.dims(), " and values ", call.dims(1));
}

constexpr RuleRow kRows[] = {
#define LOOM_SHAPE_elementwise(op, attributes, shape, fold, traits) \
  {op, shape, fold, attributes, traits},
#include "formats/onnx/operators.def"
};

}  // namespace

std::span<const RuleRow> elementwise_rules() { return kRows; }

}  // namespace loom::onnx
