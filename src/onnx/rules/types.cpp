// Values in another type: casts, and integers and small floats with a scale.

#include "onnx/rules/layers.h"

namespace loom::onnx {

Status exact_types(StepCall& c) {
  for (std::size_t i = 0; i < c.inputs(); ++i)
    if (c.has(i) && c.value(i).type == Type::f64)
      return StepCall::refuse("of doubles, which run in f32, it is not mapped");
  return {};
}

namespace {

// x as a small float holds it, in f32: rounded to nearest even. What is too large becomes the
// largest, or with `saturate` off what the type has beyond it.
Result<Ref> small_float(StepCall& c, const Ref& x, Type to, bool saturate) {
  GraphBuilder& g = c.graph;
  const auto times = [&](const Ref& v, double by) {
    return g.binary(v, GraphBuilder::number(by), "mul");
  };
  const Ref size = g.unary(g.value(x), "abs");
  const auto or_nan = [&](const Ref& y, double from, const char* beyond) {
    return saturate ? y
                    : g.select(g.binary(size, GraphBuilder::number(from), beyond),
                               GraphBuilder::number(static_cast<double>(__builtin_nanf(""))), y);
  };
  switch (to) {
    case Type::f8_e4m3fn: return or_nan(g.unary(x, "fp8e4m3"), 464, "greater");
    case Type::f8_e5m2: return g.unary(saturate ? g.unary(x, "clip", -57344, 57344) : x, "fp8e5m2");
    // Their exponents reach one further down than those of the forms that cells round to, and that
    // of e4m3fnuz has one more large number.
    case Type::f8_e4m3fnuz: {
      const Ref near = times(g.unary(times(g.unary(x, "clip", -240, 240), 2), "fp8e4m3"), 0.5);
      return or_nan(g.select(g.binary(size, GraphBuilder::number(232), "greater"),
                             times(g.unary(x, "sign"), 240), near),
                    248, "greater_equal");
    }
    case Type::f8_e5m2fnuz: {
      const Ref within = g.unary(x, "clip", -57344, 57344),
                low = times(g.unary(times(g.unary(x, "clip", -1, 1), 2), "fp8e5m2"), 0.5);
      return or_nan(g.select(g.binary(size, GraphBuilder::number(1), "less"), low,
                             g.unary(within, "fp8e5m2")),
                    61440, "greater_equal");
    }
    case Type::f4_e2m1: {  // steps of 1/2 up to 2, of 1 up to 4, of 2 up to 6; no NaN, which
                           // becomes 0
      const auto stepped = [&](double step) {
        return times(g.unary(times(size, 1 / step), "round"), step);
      };
      const auto to_end = [&](double end, const Ref& y, const Ref& rest) {
        return g.select(g.binary(size, GraphBuilder::number(end), "less_equal"), y, rest);
      };
      const Ref y =
          to_end(2, stepped(0.5), to_end(4, stepped(1), g.unary(stepped(2), "clip", 0, 6)));
      return g.select(g.unary(x, "is_nan"), GraphBuilder::number(0),
                      g.binary(y, g.unary(x, "sign"), "mul"));
    }
    default: return StepCall::refuse("to " + std::string(name(to)) + " it is not mapped");
  }
}
// x as f16 or bf16 holds it, in f32: rounded to nearest even, infinite beyond.
Ref half_float(StepCall& c, const Ref& value, Type to) {
  GraphBuilder& g = c.graph;
  const bool f16 = to == Type::f16;
  const auto number = [](double v) { return GraphBuilder::number(v); };
  const auto times = [&](const Ref& v, double by) { return g.binary(v, number(by), "mul"); };
  const Ref whole = g.value(value), size = g.unary(whole, "abs");
  const double largest = f16 ? 65520 : 0x1.ffp127;  // what rounds beyond the largest number
  const Ref x = g.select(g.binary(size, number(largest), "less"), whole, number(0));
  // To fewer bits (Veltkamp's splitting): nearest, of two as near either.
  const auto split = [&](const Ref& v, int dropped) {
    const Ref much = times(v, static_cast<double>((1 << dropped) + 1));
    return g.binary(much, g.binary(much, v, "sub"), "sub");
  };
  const int dropped = f16 ? 13 : 16;
  const Ref is_large =
      f16 ? Ref{} : g.binary(size, number(0x1p100), "greater");  // products with 2^16 may overflow
  const Ref small = f16 ? x : g.select(is_large, times(x, 0x1p-20), x);
  const Ref near = split(small, dropped);
  // Of two as near the other one is right, where it is one of these numbers and the first is odd.
  const Ref other = g.binary(small, g.binary(small, near, "sub"), "add");
  const Ref is_number = g.binary(split(other, dropped), other, "equal"),
            is_even = g.binary(split(near, dropped + 1), near, "equal");
  Ref y = g.select(g.binary(is_number, g.unary(is_even, "not"), "and"), other, near);
  if (f16)
    y = g.select(g.binary(size, number(0x1p-14), "less"),
                 g.binary(g.binary(x, number(0.75), "add"), number(0.75), "sub"),
                 y);  // in steps of 2^-24
  else y = g.select(is_large, times(y, 0x1p20), y);
  y = g.select(g.binary(whole, number(largest), "greater_equal"),
               number(static_cast<double>(__builtin_inff())), y);
  y = g.select(g.binary(whole, number(-largest), "less_equal"),
               number(-static_cast<double>(__builtin_inff())), y);
  return g.select(g.unary(whole, "is_nan"), whole, y);
}
// The lower bits of whole numbers below 2^24, as the type reads them.
Ref lower_bits(StepCall& c, const Ref& x, Type to) {
  GraphBuilder& g = c.graph;
  const double count = 1 << bits(to);
  Ref turns = g.binary(g.value(x), GraphBuilder::number(1 / count), "mul");
  if (range_of(to).first < 0) turns = g.binary(turns, GraphBuilder::number(0.5), "add");
  return g.binary(x, g.binary(g.unary(turns, "floor"), GraphBuilder::number(count), "mul"), "sub");
}
Status cast(StepCall& c) {
  const Type from = c.value(0).type, to = c.result().type;
  auto wide = [](Type t) { return t == Type::f32 || t == Type::f64; };
  LOOM_ASSIGN(const std::int64_t saturate, c.node().get_int("saturate", 1));
  if (wide(to) || (to == Type::f16 && from == Type::boolean) || from == to) c.set(c.in());
  else if (to == Type::f16 && is_small(from) && from != Type::f8_e8m0) c.set(c.in());
  else if (to == Type::boolean)
    c.set(c.graph.unary(c.graph.unary(c.in(), "not"), "not"));  // a NaN is true, too
  else if (is_integer(to) && bits(to) < 24 && (is_integer(from) || bits(to) < 8 || !c.final())) {
    // Of a real number beyond the type nothing is promised; where it leaves the graph it is an
    // error.
    LOOM_TRY(exact_types(c));
    const auto [low, high] = range_of(to);
    const bool fits =
        is_integer(from) && range_of(from).first >= low && range_of(from).second <= high;
    const Ref x = is_float(from) ? c.graph.unary(c.in(), "trunc") : c.in();
    c.set(fits || from == Type::boolean ? x : lower_bits(c, x, to));
  } else if (is_integer(to) &&
             (to == Type::i32 || to == Type::i64 || from == Type::boolean || c.final())) {
    // As an output of the graph it is checked to fit.
    LOOM_TRY(exact_types(c));
    c.set(is_float(from) ? c.graph.unary(c.in(), "trunc") : c.in());
  } else if (to == Type::f16 || to == Type::bf16) {
    c.set(c.final() ? c.in() : half_float(c, c.in(), to));  // at its end a graph rounds
  } else if (is_small(to) && is_float(to)) {
    LOOM_TRY(exact_types(c));
    LOOM_ASSIGN(Ref y, small_float(c, c.in(), to, saturate != 0));
    c.set(std::move(y));
  } else return StepCall::refuse("casts to " + std::string(name(to)) + " are not mapped");
  return {};
}

// The multiplier of Quantize and its like along their axis, or spread over blocks, to meet x.
Result<Ref> along_axis(StepCall& c, const Ref& scale, std::int64_t block) {
  const Dims& dims = c.dims();
  if (scale.dims.empty() || elements(scale.dims) == 1) return GraphBuilder::reshape(scale, {1});
  LOOM_ASSIGN(std::int64_t axis, c.node().get_int("axis", 1));
  axis = axis_of(axis, dims);
  if (axis < 0 || axis >= static_cast<std::int64_t>(dims.size()))
    return Status(Code::invalid_argument, "its axis is outside of the input");
  const auto a = static_cast<std::size_t>(axis);
  if (scale.dims.size() == 1) {
    Dims along(dims.size(), 1);
    along[a] = elements(scale.dims);
    if (along[a] != dims[a])
      return Status(Code::invalid_argument,
                    "a scale of " + text_of(scale.dims) + " does not go with " + text_of(dims));
    return GraphBuilder::reshape(scale, along);
  }
  if (scale.dims.size() != dims.size() || block < 1 || block > INT32_MAX)
    return StepCall::refuse("a scale of " + text_of(scale.dims) + " is not mapped");
  LOOM_TRY(c.lists(elements(dims)));
  const auto steps = steps_of(dims), own = steps_of(scale.dims);
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (scale.dims[d] != (d == a ? (dims[d] + block - 1) / block : dims[d]))
      return Status(Code::invalid_argument,
                    "a scale of " + text_of(scale.dims) + " does not go with " + text_of(dims));
  std::vector<std::int64_t> places;
  for (std::int64_t j = 0; j < elements(dims); ++j) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < dims.size(); ++d)
      place += j / steps[d] % dims[d] / (d == a ? block : 1) * own[d];
    places.push_back(place);
  }
  return c.graph.index_select(c.graph.value(scale), places, dims);
}
// round(x / scale) + zero point within the type; ties to even, as `round` has them.
Result<Ref> quantized(StepCall& c, const Ref& x, const Ref& scale, const Ref* zero, Type to) {
  if (is_small(to) && is_float(to)) {  // their zero point is 0
    LOOM_ASSIGN(const std::int64_t saturate, c.node().get_int("saturate", 1));
    return small_float(c, c.graph.binary(x, scale, "div"), to, saturate != 0);
  }
  const auto [low, high] = range_of(to);
  if (!is_integer(to) || high > 65535)
    return StepCall::refuse("to " + std::string(name(to)) + " it is not mapped");
  const Ref steps = c.graph.binary(x, scale, "div");
  Ref y = c.graph.unary(c.graph.value(steps), "round");
  if (zero) y = c.graph.binary(y, *zero, "add");
  return c.graph.unary(y, "clip", low, high);
}
Status quantize(StepCall& c) {
  LOOM_ASSIGN(const std::int64_t block, c.node().get_int("block_size", 0));
  if (c.value(0).type != Type::f32 || c.value(1).type != Type::f32)
    return StepCall::refuse("of " + std::string(name(c.value(0).type)) +
                            " it is not mapped: f32 may round another way");
  LOOM_ASSIGN(const Ref scale, along_axis(c, c.in(1), block));
  Ref zero;
  if (c.has(2)) {
    LOOM_ASSIGN(zero, along_axis(c, c.in(2), block));
  }
  LOOM_ASSIGN(Ref y, quantized(c, c.in(0), scale, c.has(2) ? &zero : nullptr, c.result().type));
  c.set(std::move(y));
  return {};
}
Status dequantize(StepCall& c) {
  LOOM_ASSIGN(const std::int64_t block, c.node().get_int("block_size", 0));
  LOOM_ASSIGN(const Ref scale, along_axis(c, c.in(1), block));
  Ref x = c.in(0);
  if (c.has(2)) {
    LOOM_ASSIGN(const Ref zero, along_axis(c, c.in(2), block));
    x = c.graph.binary(x, zero, "sub");
  }
  Ref y = c.graph.binary(x, scale, "mul");
  c.set(std::move(y));
  return {};
}
Status dynamic_quantize(StepCall& c) {
  const Ref x = c.graph.value(c.in());
  const Ref high =
      c.graph.binary(c.graph.reduce(x, "max", {}, false), GraphBuilder::number(0), "max");
  const Ref low =
      c.graph.binary(c.graph.reduce(x, "min", {}, false), GraphBuilder::number(0), "min");
  const Ref range = c.graph.binary(high, low, "sub");
  const Ref scale = c.graph.binary(range, GraphBuilder::number(255), "div");
  const Ref down = c.graph.binary(GraphBuilder::number(0), low, "sub");
  const Ref steps = c.graph.binary(down, scale, "div");
  const Ref zero = c.graph.unary(c.graph.unary(steps, "clip", 0, 255), "round");
  if (c.wants(1)) c.set(scale, 1);
  if (c.wants(2)) c.set(zero, 2);
  LOOM_ASSIGN(Ref y, quantized(c, x, GraphBuilder::reshape(scale, {1}), &zero, Type::u8));
  if (c.wants(0)) c.set(std::move(y));
  return {};
}

}  // namespace

std::span<const Operator> types_mappings() {
  static constexpr Operator kRows[] = {
#define LOOM_MAP_types(op, map, cell, traits) {op, map, cell, traits},
#include "formats/onnx/operators.def"
  };
  return kRows;
}

}  // namespace loom::onnx
