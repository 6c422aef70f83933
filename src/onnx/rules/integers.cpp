// Products of 8-bit integers less their zero points. Their sums are exact in f32 up to 2^24.
#include <algorithm>
#include <numeric>

#include "onnx/rules/layers.h"

namespace loom::onnx {
namespace {

constexpr double kMaxInteger = 2147483648.0;

Status eight_bits(StepCall& c, std::size_t a, std::size_t b) {
  for (const std::size_t i : {a, b})
    if (!is_integer(c.value(i).type) || bits(c.value(i).type) > 8)
      return StepCall::refuse("of " + std::string(name(c.value(i).type)) + " it is not mapped");
  return {};
}
Status exact_sums(double max) {
  return max < kMaxWhole ? Status()
                         : StepCall::refuse("sums of its products of integers may go beyond 2^24");
}

// Whether sums may be rounded as f32 where they pass 2^24: their next step makes floats or integers
// of 8 bits of them, and runtimes round them there.
bool may_round(const StepCall& c) {
  if (c.node().op.starts_with("QLinear")) return true;
  if (c.final()) return false;
  for (const Step& s : c.plan.steps)
    for (const int id : s.inputs)
      if (id == c.step.outputs[0] &&
          (s.node->op != "Cast" ||
           !is_float(c.plan.values[static_cast<std::size_t>(s.outputs[0])].type)))
        return false;
  return std::find(c.plan.outputs.begin(), c.plan.outputs.end(), c.step.outputs[0]) ==
         c.plan.outputs.end();
}

// Where parts of a sum end, each exact for every filter whatever the input is. `largest`(term,
// filter): the most that this term adds, without its sign.
template <class F>
Result<std::vector<std::int64_t>> exact_parts(const StepCall& c, std::int64_t terms,
                                              std::int64_t filters, F largest) {
  std::vector<std::int64_t> ends;
  std::vector<double> sums(static_cast<std::size_t>(filters), 0.0), added(sums);
  double all = 0;
  for (std::int64_t t = 0; t < terms; ++t) {
    double max = 0;
    for (std::int64_t f = 0; f < filters; ++f) {
      const auto at = static_cast<std::size_t>(f);
      added[at] = sums[at] + largest(t, f);
      max = std::max(max, added[at]);
    }
    if (max >= kMaxWhole &&
        t > (ends.empty() ? 0 : ends.back())) {  // this term begins the next part
      ends.push_back(t);
      all += *std::max_element(sums.begin(), sums.end());
      std::fill(sums.begin(), sums.end(), 0.0);
      --t;
      continue;
    }
    LOOM_TRY(exact_sums(max));
    sums.swap(added);
  }
  all += *std::max_element(sums.begin(), sums.end());
  ends.push_back(terms);
  if (ends.size() > 1 && (!may_round(c) || all >= kMaxInteger)) return exact_sums(all);
  return ends;
}
double magnitude(float x) { return x < 0 ? -static_cast<double>(x) : static_cast<double>(x); }

// How far numbers of the type are from their zero point at most; without one it is 0.
double farthest(StepCall& c, std::size_t at, std::size_t zero_at) {
  const auto [low, high] = range_of(c.value(at).type);
  if (!c.has(zero_at)) return std::max(-low, high);
  const Ref& zero = c.in(zero_at);
  if (!zero.constant() || elements(zero.dims) != 1) return high - low;
  return std::max(zero.data[0] - low, high - zero.data[0]);
}

// x less its zero point, one for all or one for each row or column.
Result<Ref> centered(StepCall& c, std::size_t at, std::size_t zero_at, bool rows) {
  if (!c.has(zero_at)) return c.graph.value(c.in(at));
  Ref zero = c.in(zero_at);
  const Dims& dims = c.dims(at);
  const std::int64_t n = elements(zero.dims), length = dims[dims.size() - (rows ? 2 : 1)];
  if (n == 1) zero = GraphBuilder::reshape(zero, {1});
  else if (zero.dims.size() == 1 && n == length)
    zero = GraphBuilder::reshape(zero, rows ? Dims{n, 1} : Dims{n});
  else return StepCall::refuse("zero points of shape " + text_of(zero.dims) + " are not mapped");
  return c.graph.binary(c.in(at), zero, "sub");
}

// Sums as integers of the result's type: times scale_x * scale_w / scale_y, rounded half to even,
// plus the zero point, saturated.
Result<Ref> requantized(StepCall& c, const Ref& sums, std::size_t scale_x, std::size_t scale_w,
                        std::size_t scale_y, std::size_t zero_y) {
  for (const std::size_t i : {scale_x, scale_w, scale_y, zero_y})
    if ((i != scale_w && elements(c.dims(i)) != 1) || (i != zero_y && c.value(i).type != Type::f32))
      return StepCall::refuse("with scales that are no single f32 it is not mapped");
  const auto one = [&](std::size_t i) { return GraphBuilder::reshape(c.in(i), {1}); };
  Ref of_weights = c.in(scale_w);
  if (elements(of_weights.dims) == 1) of_weights = one(scale_w);
  else {  // one for each filter
    Dims filters(sums.dims.size() - 1, 1);
    filters[0] = elements(of_weights.dims);
    if (of_weights.dims.size() != 1 || filters[0] != sums.dims[1])
      return StepCall::refuse("scales of shape " + text_of(of_weights.dims) + " are not mapped");
    of_weights = GraphBuilder::reshape(of_weights, filters);
  }
  const Ref scale =
      c.graph.binary(c.graph.binary(one(scale_x), of_weights, "mul"), one(scale_y), "div");
  const auto [low, high] = range_of(c.result().type);
  return c.graph.unary(c.graph.binary(c.graph.unary(c.graph.binary(sums, scale, "mul"), "round"),
                                      one(zero_y), "add"),
                       "clip", low, high);
}

// x [..., K] less its zero point times known weights [K, N].
Result<Ref> known_matmul(StepCall& c, const Ref& x, std::size_t b, std::size_t zero_at) {
  const std::int64_t k = c.dims(b)[0], n = c.dims(b)[1], rows = elements(x.dims) / k;
  LOOM_ASSIGN(std::vector<float> w, c.floats(b));
  if (c.has(zero_at)) {
    LOOM_ASSIGN(const std::vector<float> zero, c.floats(zero_at));
    if (zero.size() != 1 &&
        (c.dims(zero_at).size() != 1 || static_cast<std::int64_t>(zero.size()) != n))
      return StepCall::refuse("zero points of shape " + text_of(c.dims(zero_at)) +
                              " are not mapped");
    for (std::size_t i = 0; i < w.size(); ++i)
      w[i] -= zero[zero.size() == 1 ? 0 : i % static_cast<std::size_t>(n)];
  }
  const double max_x = farthest(c, 0, 2);
  LOOM_ASSIGN(const std::vector<std::int64_t> ends,
              exact_parts(c, k, n, [&](std::int64_t t, std::int64_t f) {
                return max_x * magnitude(w[static_cast<std::size_t>(t * n + f)]);
              }));
  Ref y;
  std::int64_t first = 0;
  for (const std::int64_t last : ends) {
    const std::int64_t length = last - first;
    std::vector<float> weight(static_cast<std::size_t>(length * n));
    for (std::int64_t f = 0; f < n; ++f)
      for (std::int64_t t = 0; t < length; ++t)
        weight[static_cast<std::size_t>(f * length + t)] =
            w[static_cast<std::size_t>((first + t) * n + f)];
    Ref part = x;
    if (ends.size() > 1) {
      LOOM_TRY(c.lists(rows * length));
      std::vector<std::int64_t> places(static_cast<std::size_t>(rows * length));
      for (std::int64_t r = 0; r < rows; ++r)
        std::iota(places.begin() + r * length, places.begin() + (r + 1) * length, r * k + first);
      part = c.graph.index_select(x, places, {rows, length});
    }
    const Ref sum = known_product(c, part, length, n, std::move(weight), {}, c.result().dims);
    y = first == 0 ? sum : c.graph.binary(y, sum, "add");
    first = last;
  }
  return y;
}
// MatMulInteger: a, b, their zero points. QLinearMatMul: a, its scale and zero, b, its scale and
// zero, scale and zero of y.
Status matmul(StepCall& c) {
  const bool scaled_result = c.node().op == "QLinearMatMul";
  const std::size_t b = scaled_result ? 3 : 1, zero_b = scaled_result ? 5 : 3;
  const Dims &x = c.dims(0), &w = c.dims(b);
  if (x.size() < 2 || w.size() < 2) return StepCall::refuse("of vectors it is not mapped");
  LOOM_TRY(eight_bits(c, 0, b));
  LOOM_ASSIGN(const Ref left, centered(c, 0, 2, true));
  Ref y;
  if (w.size() == 2 && c.value(b).constant() && (!c.has(zero_b) || c.value(zero_b).constant())) {
    LOOM_ASSIGN(y, known_matmul(c, c.graph.value(left), b, zero_b));
  } else {
    LOOM_TRY(exact_sums(static_cast<double>(x.back()) * 255 * 255));
    LOOM_ASSIGN(const Ref right, centered(c, b, zero_b, false));
    y = c.graph.matmul(c.graph.value(left), c.graph.value(right), c.result().dims);
  }
  if (scaled_result) {
    if (elements(c.dims(4)) != 1)
      return StepCall::refuse("with scales that are no single f32 it is not mapped");
    LOOM_ASSIGN(y, requantized(c, y, 1, 4, 6, 7));
  }
  c.set(std::move(y));
  return {};
}

// Channels [first, last) of x [N, C, space].
Result<Ref> channels(StepCall& c, const Ref& x, std::int64_t first, std::int64_t last) {
  if (first == 0 && last == x.dims[1]) return x;
  const std::int64_t items = x.dims[0], space = elements(x.dims) / (items * x.dims[1]),
                     length = (last - first) * space;
  LOOM_TRY(c.lists(items * length));
  std::vector<std::int64_t> places(static_cast<std::size_t>(items * length));
  for (std::int64_t n = 0; n < items; ++n)
    std::iota(places.begin() + n * length, places.begin() + (n + 1) * length,
              (n * x.dims[1] + first) * space);
  Dims dims = x.dims;
  dims[1] = last - first;
  return c.graph.index_select(x, places, std::move(dims));
}

// The weights of filters, from channel `first` on to `last`.
std::vector<float> of_channels(const std::vector<float>& w, std::int64_t all, std::int64_t first,
                               std::int64_t last, std::int64_t taps) {
  std::vector<float> part;
  for (std::size_t at = 0; at < w.size(); at += static_cast<std::size_t>(all * taps))
    part.insert(part.end(), w.begin() + static_cast<std::ptrdiff_t>(at) + first * taps,
                w.begin() + static_cast<std::ptrdiff_t>(at) + last * taps);
  return part;
}

// ConvInteger: x, w, zero of x, zero of w. QLinearConv: x, its scale and zero, w, its scale and
// zero, scale and zero of y, bias. What pads has the value of the zero point, 0 here.
Status conv(StepCall& c) {
  const bool scaled_result = c.node().op == "QLinearConv";
  const std::size_t b = scaled_result ? 3 : 1, zero_x = 2, zero_w = scaled_result ? 5 : 3;
  const Dims& shape = c.dims(b);
  LOOM_TRY(eight_bits(c, 0, b));
  LOOM_ASSIGN(const Space s, space_of(c, Dims(shape.begin() + 2, shape.end())));
  LOOM_ASSIGN(const std::int64_t groups, c.node().get_int("group", 1));
  LOOM_ASSIGN(std::vector<float> w, c.floats(b));
  const std::int64_t taps = elements(shape) / (shape[0] * shape[1]);
  if (c.has(zero_w)) {
    LOOM_ASSIGN(const std::vector<float> zero, c.floats(zero_w));
    const std::size_t per_filter = static_cast<std::size_t>(shape[1] * taps);
    if (zero.size() != 1 && zero.size() * per_filter != w.size())
      return StepCall::refuse("zero points of shape " + text_of(c.dims(zero_w)) +
                              " are not mapped");
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= zero[zero.size() == 1 ? 0 : i / per_filter];
  }
  if (c.has(zero_x) && elements(c.dims(zero_x)) != 1)
    return StepCall::refuse("zero points of shape " + text_of(c.dims(zero_x)) + " are not mapped");
  LOOM_ASSIGN(Ref x, centered(c, 0, zero_x, true));
  x = c.graph.value(x);
  const double max_x = farthest(c, 0, zero_x);
  // As many channels at a time as are exact.
  LOOM_ASSIGN(
      const std::vector<std::int64_t> ends,
      exact_parts(c, shape[1], shape[0], [&](std::int64_t channel, std::int64_t filter) {
        double sum = 0;
        for (std::int64_t t = 0; t < taps; ++t)
          sum += max_x *
                 magnitude(w[static_cast<std::size_t>((filter * shape[1] + channel) * taps + t)]);
        return sum;
      }));
  if (ends.size() > 1 && groups != 1)
    return StepCall::refuse("sums of its products of integers may go beyond 2^24");
  Ref y;
  std::int64_t first = 0;
  for (const std::int64_t last : ends) {
    Filters f{shape[0],
              groups,
              ends.size() == 1 ? std::move(w) : of_channels(w, shape[1], first, last, taps),
              {}};
    Ref part = x;
    if (ends.size() > 1) {
      LOOM_ASSIGN(part, channels(c, x, first, last));
    }
    const Ref sum = convolved(c, part, s, std::move(f), c.result().dims);
    y = first == 0 ? sum : c.graph.binary(y, sum, "add");
    first = last;
  }
  if (scaled_result) {
    if (c.has(8)) {
      Dims filters(shape.size() - 1, 1);
      filters[0] = shape[0];
      y = c.graph.binary(y, GraphBuilder::reshape(c.in(8), filters), "add");
    }
    LOOM_ASSIGN(y, requantized(c, y, 1, 4, 6, 7));
  }
  c.set(std::move(y));
  return {};
}

}  // namespace

std::span<const Operator> integers_mappings() {
  static constexpr Operator kRows[] = {
#define LOOM_MAP_integers(op, map, cell, traits) {op, map, cell, traits},
#include "formats/onnx/operators.def"
  };
  return kRows;
}

}  // namespace loom::onnx
