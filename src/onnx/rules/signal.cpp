// Fourier transforms: products with a table of cosines and sines.
#include <algorithm>

#include "base/math/exact_math.h"
#include "onnx/rules/layers.h"

namespace loom::onnx {
namespace {

// e^(2 pi i k / n); exact at quarters of a turn.
struct Turn {
  double cos, sin;
};
Turn turn(std::int64_t k, std::int64_t n) {
  k %= n;
  if (4 * k % n == 0) {
    constexpr Turn kQuarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    return kQuarters[4 * k / n];
  }
  const double angle = 6.283185307179586476925 * static_cast<double>(k) / static_cast<double>(n);
  return {exact::cos(angle), exact::sin(angle)};
}

// The transform of n values as a matrix [bins][parts of a result][values][parts of a value]; parts:
// 1 of reals, 2 of complex numbers.
struct Transform {
  std::int64_t n = 0, bins = 0, values = 0, parts = 1;
  bool inverse = false;  // of the half of a spectrum that is symmetric, to its real signal
  std::int64_t results() const { return bins * (inverse ? 1 : 2); }
};
Result<std::vector<float>> table_of(StepCall& c, const Transform& t) {
  const std::int64_t columns = t.values * t.parts;
  if (t.n > (std::int64_t{1} << 26))
    return StepCall::refuse("of " + std::to_string(t.n) + " values it is not mapped");
  LOOM_TRY(c.lists(t.results() * columns));
  LOOM_TRY(c.graph.makes(t.results() * columns));
  std::vector<float> table(static_cast<std::size_t>(t.results() * columns), 0.0f);
  const std::int64_t used =
      std::min(t.values, t.inverse ? t.n / 2 + 1 : t.n);  // what lies behind is cut off
  for (std::int64_t k = 0; k < t.bins; ++k)
    for (std::int64_t v = 0; v < used; ++v) {
      Turn w = turn(k * v, t.n);
      if (!t.inverse) w.sin = -w.sin;
      double scale = t.inverse ? 1 / static_cast<double>(t.n) : 1;
      if (t.inverse && v > 0 && 2 * v < t.n) scale *= 2;  // it stands for its mirror image, too
      float* real = table.data() + (t.inverse ? k : 2 * k) * columns + v * t.parts;
      real[0] = static_cast<float>(scale * w.cos);
      if (t.parts == 2) real[1] = static_cast<float>(scale * -w.sin);
      if (t.inverse) continue;
      float* imaginary = real + columns;
      imaginary[0] = static_cast<float>(scale * w.sin);
      if (t.parts == 2) imaginary[1] = static_cast<float>(scale * w.cos);
    }
  return table;
}

Status dft(StepCall& c) {
  const Dims &x = c.dims(), &out = c.result().dims;
  LOOM_ASSIGN(const std::int64_t inverse, c.node().get_int("inverse", 0));
  LOOM_ASSIGN(const std::int64_t onesided, c.node().get_int("onesided", 0));
  // What cancels is the rounding of whoever computes it, and the standard's cases want that to
  // 1e-7.
  if (inverse && !onesided)
    return StepCall::refuse("of a whole spectrum, inverse, it is not mapped");
  Dims axes{-2};
  if (c.step.opset < 20) {
    LOOM_ASSIGN(axes[0], c.node().get_int("axis", 1));
  } else if (c.has(2)) {
    LOOM_ASSIGN(axes, c.ints(2));
  }
  const auto axis = static_cast<std::size_t>(axis_of(axes[0], x));
  Transform t{out[axis], out[axis], x[axis], x.back(), inverse != 0};
  if (onesided && !inverse) {
    t.n = x[axis];
    if (c.has(1)) {
      LOOM_ASSIGN(const Dims length, c.ints(1));
      t.n = length[0];
    }
  }
  LOOM_ASSIGN(std::vector<float> table, table_of(c, t));
  // The axis goes before the last, and back.
  Dims order = with_last(x.size() - 1, axis);
  order.push_back(static_cast<std::int64_t>(x.size()) - 1);
  const Ref y = known_product(c, c.graph.permute(c.graph.value(c.in()), order), t.values * t.parts,
                              t.results(), std::move(table), {}, permuted(out, order));
  c.set(c.graph.permute(y, order_back(order)));
  return {};
}

// Frames of a signal, weighed by a window: a convolution with a filter for each part of each bin.
Status stft(StepCall& c) {
  const Dims &x = c.dims(), &out = c.result().dims;  // [N, length, parts], [N, frames, bins, 2]
  LOOM_ASSIGN(const Dims step, c.ints(1));
  std::int64_t n = 0;
  if (c.has(3)) {
    LOOM_ASSIGN(const Dims length, c.ints(3));
    n = length[0];
  }
  std::vector<float> window;
  if (c.has(2)) {
    LOOM_ASSIGN(window, c.floats(2));
    n = static_cast<std::int64_t>(window.size());
  }
  const Transform t{n, out[2], n, x[2]};
  LOOM_ASSIGN(const std::vector<float> table, table_of(c, t));
  Filters f{t.results(), 1, std::vector<float>(table.size()), {}};
  for (std::int64_t r = 0; r < t.results(); ++r)
    for (std::int64_t v = 0; v < n; ++v)
      for (std::int64_t p = 0; p < t.parts; ++p) {
        const float weight = table[static_cast<std::size_t>((r * n + v) * t.parts + p)];
        f.weight[static_cast<std::size_t>((r * t.parts + p) * n + v)] =
            window.empty() ? weight : weight * window[static_cast<std::size_t>(v)];
      }
  const Ref signal = c.graph.permute(c.graph.value(c.in()), {0, 2, 1});
  const Ref y = convolved(c, signal, {{n}, {step[0]}, {1}, {0}, {0}}, std::move(f),
                          {out[0], t.results(), out[1]});
  c.set(GraphBuilder::reshape(c.graph.permute(y, {0, 2, 1}), out));
  return {};
}

}  // namespace

std::span<const Operator> signal_mappings() {
  static constexpr Operator kRows[] = {
#define LOOM_MAP_signal(op, map, cell, traits) {op, map, cell, traits},
#include "formats/onnx/operators.def"
  };
  return kRows;
}

}  // namespace loom::onnx
