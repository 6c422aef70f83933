// Operators that sample between values: Resize with weights that are known, GridSample with weights
// that follow from its grid.
#include <algorithm>

#include "base/math/exact_math.h"
#include "onnx/graph.h"

namespace loom::onnx {
namespace {

std::int64_t floor_of(double x) {
  const auto whole = static_cast<std::int64_t>(x);
  return static_cast<double>(whole) > x ? whole - 1 : whole;
}
// Keys' kernel at a distance of 0 or more.
double cubic_weight(double t, double a) {
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

// One dimension of a Resize.
struct Axis {
  std::int64_t in = 1, out = 1;
  double scale = 1, roi_begin = 0, roi_end = 1;
};
struct Settings {
  std::string mode, coordinates, nearest;
  double a = -0.75, extrapolation = 0;
  bool antialias = false, exclude_outside = false;
  bool crops() const { return coordinates == "tf_crop_and_resize"; }
};

// Where a place of the result lies in the input.
double origin(const Settings& s, const Axis& x, std::int64_t i) {
  // The length that the scale asks for need not be whole.
  const double at = static_cast<double>(i), in = static_cast<double>(x.in), out = x.scale * in;
  if (s.coordinates == "asymmetric") return at / x.scale;
  if (s.coordinates == "align_corners") return x.out == 1 ? 0 : at * (in - 1) / (out - 1);
  if (s.coordinates == "pytorch_half_pixel" && x.out <= 1) return 0;
  if (s.coordinates == "tf_crop_and_resize")
    return x.out > 1
               ? x.roi_begin * (in - 1) + at * (x.roi_end - x.roi_begin) * (in - 1) / (out - 1)
               : 0.5 * (x.roi_begin + x.roi_end) * (in - 1);
  const double centered =
      s.coordinates == "half_pixel_symmetric" ? in / 2 * (1 - static_cast<double>(x.out) / out) : 0;
  return centered + (at + 0.5) / x.scale - 0.5;  // in this order: whole places come out whole
}
std::int64_t nearest_place(const Settings& s, double at) {
  const std::int64_t low = floor_of(at);
  const double rest = at - static_cast<double>(low);
  if (s.nearest == "floor" || rest == 0) return low;
  if (s.nearest == "ceil") return low + 1;
  return low + (rest > 0.5 || (rest == 0.5 && s.nearest == "round_prefer_ceil"));
}
// The weights [out][in] of an axis.
std::vector<float> weights_of(const Settings& s, const Axis& x) {
  std::vector<float> w(static_cast<std::size_t>(x.out * x.in), 0.0f);
  const bool cubic = s.mode == "cubic";
  const double squeeze = s.antialias ? std::min(x.scale, 1.0) : 1;
  const std::int64_t reach = -floor_of((cubic ? -2 : -1) / squeeze);  // taps on each side
  for (std::int64_t i = 0; i < x.out; ++i) {
    const double at = origin(s, x, i);
    const std::int64_t low = floor_of(at);
    std::vector<std::pair<std::int64_t, double>> taps;
    double sum = 0;
    for (std::int64_t k = low + 1 - reach; k <= low + reach; ++k) {
      double distance = (static_cast<double>(k) - at) * squeeze;
      if (distance < 0) distance = -distance;
      double weight = cubic ? cubic_weight(distance, s.a) : std::max(0.0, 1 - distance);
      if (s.exclude_outside && (k < 0 || k >= x.in)) weight = 0;
      taps.push_back({std::clamp<std::int64_t>(k, 0, x.in - 1), weight});
      sum += weight;
    }
    for (const auto& [k, weight] : taps)
      w[static_cast<std::size_t>(i * x.in + k)] +=
          static_cast<float>(s.antialias || s.exclude_outside ? weight / sum : weight);
  }
  return w;
}

Status read_settings(StepCall& c, bool old, Settings& s) {
  LOOM_ASSIGN(s.mode, c.node().get_string("mode", "nearest"));
  LOOM_ASSIGN(s.coordinates, c.node().get_string("coordinate_transformation_mode",
                                                 old ? "asymmetric" : "half_pixel"));
  LOOM_ASSIGN(s.nearest, c.node().get_string("nearest_mode", old ? "floor" : "round_prefer_floor"));
  LOOM_ASSIGN(s.a, c.node().get_float("cubic_coeff_a", -0.75f));
  LOOM_ASSIGN(s.extrapolation, c.node().get_float("extrapolation_value", 0));
  LOOM_ASSIGN(const std::int64_t antialias, c.node().get_int("antialias", 0));
  LOOM_ASSIGN(const std::int64_t exclude, c.node().get_int("exclude_outside", 0));
  s.antialias = antialias != 0;
  s.exclude_outside = exclude != 0;
  const auto one_of = [](const std::string& text, std::initializer_list<const char*> list) {
    return std::any_of(list.begin(), list.end(), [&](const char* l) { return text == l; });
  };
  if (!one_of(s.mode, {"nearest", "linear", "cubic"}))
    return StepCall::refuse("mode '" + s.mode + "' is not mapped");
  if (!one_of(s.coordinates, {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                              "align_corners", "asymmetric", "tf_crop_and_resize"}))
    return StepCall::refuse("coordinate_transformation_mode '" + s.coordinates + "' is not mapped");
  if (!one_of(s.nearest, {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}))
    return StepCall::refuse("nearest_mode '" + s.nearest + "' is not mapped");
  if (is_integer(c.value(0).type) && s.mode != "nearest")
    return StepCall::refuse("of integers it is not mapped");
  return {};
}

// What a Resize says of the axes that it names.
struct Scaling {
  Dims axes;
  bool sized = false;         // by sizes, else by scales
  std::vector<float> scales;  // of each axis
  std::vector<float> roi;     // of all axes where it begins, then where it ends
  double common = 0;          // the scale of all axes where the aspect ratio is kept
};

// The same scale for all axes, as infer chose the sizes.
Result<double> common_scale(StepCall& c, const Dims& axes, const std::string& policy) {
  const Dims& in = c.dims();
  double common = 0;
  LOOM_ASSIGN(const auto sizes, c.ints(3));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const double ratio = static_cast<double>(sizes[i]) /
                         static_cast<double>(in[static_cast<std::size_t>(axis_of(axes[i], in))]);
    common = i == 0                   ? ratio
             : policy == "not_larger" ? std::min(common, ratio)
                                      : std::max(common, ratio);
  }
  return common;
}

Status read_scaling(StepCall& c, bool old, const Settings& s, Scaling& to) {
  for (std::size_t d = 0; d < c.dims().size(); ++d) to.axes.push_back(static_cast<std::int64_t>(d));
  LOOM_ASSIGN(to.axes, c.node().get_ints("axes", to.axes));
  const std::size_t scales_at = old ? 1 : 2;
  to.sized = !old && c.has(3) && elements(c.dims(3)) > 0;
  if (!to.sized && c.has(scales_at)) {
    LOOM_ASSIGN(to.scales, c.floats(scales_at));
  } else if (!to.sized) {
    LOOM_ASSIGN(to.scales, c.node().get_floats("scales", {}));
  }
  if (s.crops()) {
    if (!c.has(1)) return Status(Code::invalid_argument, "expects a roi");
    LOOM_ASSIGN(to.roi, c.floats(1));
    if (to.roi.size() != 2 * to.axes.size())
      return Status(Code::invalid_argument, "its roi has " + std::to_string(to.roi.size()) +
                                                " values for " + std::to_string(to.axes.size()) +
                                                " axes");
  }
  if (!to.sized && to.scales.size() != to.axes.size())
    return Status(Code::invalid_argument, "has " + std::to_string(to.scales.size()) +
                                              " scales for " + std::to_string(to.axes.size()) +
                                              " axes");
  LOOM_ASSIGN(const std::string policy, c.node().get_string("keep_aspect_ratio_policy", "stretch"));
  if (to.sized && policy != "stretch") {
    LOOM_ASSIGN(to.common, common_scale(c, to.axes, policy));
  }
  return {};
}

// The part of an axis that is cropped, from `begin` to `end`.
Status crop(Axis& x, float begin, float end) {
  const double rest = x.scale * static_cast<double>(x.in) - static_cast<double>(x.out);
  if (rest > 1e-6 || rest < -1e-6)
    return StepCall::refuse(
        "tf_crop_and_resize with a scale that gives no whole length is not mapped: runtimes "
        "crop differently");
  for (const float r : {begin, end})
    if (!(r > -1e6f && r < 1e6f))
      return Status(Code::invalid_argument, "a roi of " + std::to_string(r));
  x.roi_begin = static_cast<double>(begin);
  x.roi_end = static_cast<double>(end);
  return {};
}

// Every dimension of the input, with its scale.
Result<std::vector<Axis>> axes_of(StepCall& c, bool old, const Settings& s, const Scaling& by) {
  const Dims &in = c.dims(), &out = c.result().dims;
  std::vector<Axis> list(in.size());
  for (std::size_t d = 0; d < in.size(); ++d) list[d] = {in[d], out[d]};
  for (std::size_t i = 0; i < by.axes.size(); ++i) {
    Axis& x = list[static_cast<std::size_t>(axis_of(by.axes[i], in))];
    if (!by.sized) x.scale = static_cast<double>(by.scales[i]);
    else if (by.common != 0) x.scale = by.common;
    else x.scale = static_cast<double>(x.out) / static_cast<double>(x.in);
    if (!(x.scale > 0))
      return Status(Code::invalid_argument, "a scale of " + std::to_string(x.scale));
    if (old && s.mode == "nearest" && x.scale < 1)
      return StepCall::refuse("to fewer values, before opset 11, it is not mapped");
    if (s.mode == "cubic" && s.coordinates == "pytorch_half_pixel" && x.out == 1 && x.in > 1)
      return StepCall::refuse(
          "cubic pytorch_half_pixel to one value is not mapped: runtimes differ");
    if (s.crops()) LOOM_TRY(crop(x, by.roi[i], by.roi[i + by.axes.size()]));
  }
  return list;
}

// Whether an axis stays as it is.
bool stays(const Settings& s, const Axis& x) { return x.in == x.out && x.scale == 1 && !s.crops(); }

Ref resize_nearest(StepCall& c, const Settings& s, const std::vector<Axis>& list, const Ref& x) {
  const Dims &in = c.dims(), &out = c.result().dims;
  const auto steps = steps_of(in), own = steps_of(out);
  std::vector<std::vector<std::int64_t>> from(list.size());
  for (std::size_t d = 0; d < list.size(); ++d)
    for (std::int64_t i = 0; i < out[d]; ++i)
      from[d].push_back(std::clamp<std::int64_t>(
          stays(s, list[d]) ? i : nearest_place(s, origin(s, list[d], i)), 0, in[d] - 1));
  std::vector<std::int64_t> places;
  for (std::int64_t j = 0; j < elements(out); ++j) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < list.size(); ++d)
      place += from[d][static_cast<std::size_t>(j / own[d] % out[d])] * steps[d];
    places.push_back(place);
  }
  return c.graph.index_select(x, places, out);
}

// A product along each axis that changes.
Result<Ref> resize_weighted(StepCall& c, const Settings& s, const std::vector<Axis>& list, Ref y) {
  const std::size_t rank = list.size();
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t in = list[d].in, out = list[d].out;
    if (stays(s, list[d])) continue;
    if (in * out > kMaxListed)
      return StepCall::refuse("from " + std::to_string(in) + " to " + std::to_string(out) +
                              " values it is not mapped");
    LOOM_TRY(c.graph.makes(in * out));
    Dims order, back(rank), transposed;
    for (std::size_t k = 0; k < rank; ++k)
      if (k != d) order.push_back(static_cast<std::int64_t>(k));
    order.push_back(static_cast<std::int64_t>(d));
    for (std::size_t k = 0; k < rank; ++k)
      back[static_cast<std::size_t>(order[k])] = static_cast<std::int64_t>(k);
    if (d + 1 != rank) y = c.graph.permute(y, order);
    transposed = y.dims;
    transposed.back() = out;
    y = known_product(c, y, in, out, weights_of(s, list[d]), {}, transposed);
    if (d + 1 != rank) y = c.graph.permute(y, back);
  }
  return y;
}

// 1 for the places of the result that lie outside of the input.
Ref beyond_input(const Settings& s, const std::vector<Axis>& list, const Dims& out) {
  const auto own = steps_of(out);
  Ref beyond = GraphBuilder::constant(out, {});
  for (std::int64_t j = 0; j < elements(out); ++j) {
    bool is = false;
    for (std::size_t d = 0; d < list.size(); ++d) {
      const double at = origin(s, list[d], j / own[d] % out[d]);
      is |= at < 0 || at > static_cast<double>(list[d].in - 1);
    }
    beyond.data.push_back(is ? 1.0f : 0.0f);
  }
  return beyond;
}

Status resize(StepCall& c) {
  const bool old = c.node().op == "Upsample" || c.step.opset < 11;
  const Dims& out = c.result().dims;
  Settings s;
  LOOM_TRY(read_settings(c, old, s));
  Scaling scaling;
  LOOM_TRY(read_scaling(c, old, s, scaling));
  LOOM_ASSIGN(const std::vector<Axis> list, axes_of(c, old, s, scaling));
  LOOM_TRY(c.lists(elements(out)));
  Ref y = c.graph.value(c.in());
  if (s.mode == "nearest") {
    y = resize_nearest(c, s, list, y);
  } else {
    LOOM_ASSIGN(y, resize_weighted(c, s, list, std::move(y)));
  }
  if (s.crops())
    y = c.graph.select(beyond_input(s, list, out), GraphBuilder::number(s.extrapolation), y);
  c.set(std::move(y));
  return {};
}

// The coordinate of a grid in values of its dimension, brought inside as the padding says.
Ref coordinate(StepCall& c, const Ref& g, std::int64_t n, bool align, const std::string& mode,
               const std::string& padding) {
  GraphBuilder& b = c.graph;
  const double size = static_cast<double>(n);
  Ref x = b.binary(g, GraphBuilder::number(1), "add");
  if (align) {
    x = b.binary(x, GraphBuilder::number((size - 1) / 2), "mul");
  } else {
    x = b.binary(x, GraphBuilder::number(size), "mul");
    x = b.binary(x, GraphBuilder::number(1), "sub");
    x = b.binary(x, GraphBuilder::number(0.5), "mul");
  }
  if (mode == "nearest") x = b.unary(x, "round");
  if (padding == "zeros") return x;
  const double low = align ? 0 : -0.5, span = align ? size - 1 : size;
  if (padding == "border") {
    const Ref inside = b.unary(x, "clip", 0, size - 1);
    if (mode != "cubic") return inside;
    // Up to the outer edges coordinates stay what they are; that matters where values beyond the
    // ends have weights of their own.
    const Ref outside = b.binary(b.binary(x, GraphBuilder::number(low), "less"),
                                 b.binary(x, GraphBuilder::number(low + span), "greater"), "or");
    return b.select(outside, inside, x);
  }
  // Back and forth between the first and the last value, or their outer edges.
  if (span == 0) return b.binary(x, GraphBuilder::number(0), "mul");
  Ref u = b.binary(x, GraphBuilder::number(low), "sub");
  u = b.unary(u, "abs");
  const Ref turns = b.binary(u, GraphBuilder::number(2 * span), "div");
  const Ref whole = b.binary(b.unary(turns, "floor"), GraphBuilder::number(2 * span), "mul");
  const Ref rest = b.binary(u, whole, "sub");
  const Ref other = b.binary(GraphBuilder::number(2 * span), rest, "sub");
  u = b.binary(rest, other, "min");
  return b.binary(u, GraphBuilder::number(low), "add");
}
// The weight of each of n values for coordinates [batch, points, 1].
Result<Ref> grid_weights(StepCall& c, const Ref& x, std::int64_t n, const std::string& mode,
                         const std::string& padding) {
  GraphBuilder& b = c.graph;
  const bool cubic = mode == "cubic", outer = cubic && padding != "zeros";
  // Beyond the ends cubic weights count for the values that the padding puts there.
  const std::int64_t first = outer ? -2 : 0, last = outer ? n + 2 : n;
  Ref places = GraphBuilder::constant({last - first}, {});
  for (std::int64_t i = first; i < last; ++i) places.data.push_back(static_cast<float>(i));
  if (mode == "nearest") return b.binary(x, places, "equal");
  const Ref gap = b.binary(x, places, "sub");
  const Ref t = b.unary(gap, "abs");
  if (!cubic) {
    const Ref hat = b.binary(GraphBuilder::number(1), t, "sub");
    return b.activation(hat, "relu");
  }
  const double a = -0.75;
  const auto polynomial = [&](std::initializer_list<double> coefficients) -> Ref {
    Ref y;
    for (const double& k : coefficients) {
      if (y.dims.empty()) {
        y = b.binary(t, GraphBuilder::number(k), "mul");
        continue;
      }
      y = b.binary(y, GraphBuilder::number(k), "add");
      if (&k == coefficients.end() - 1) break;
      y = b.binary(y, t, "mul");
    }
    return y;
  };
  const Ref inner = polynomial({a + 2, -(a + 3), 0, 1});
  const Ref rim = polynomial({a, -5 * a, 8 * a, -4 * a});
  const Ref near = b.binary(t, GraphBuilder::number(1), "less_equal");
  const Ref far = b.binary(t, GraphBuilder::number(2), "less");
  const Ref w = b.select(near, inner, b.select(far, rim, GraphBuilder::number(0)));
  if (!outer) return w;
  LOOM_ASSIGN(const std::int64_t align, c.node().get_int("align_corners", 0));
  LOOM_TRY(c.lists(n * (last - first)));
  LOOM_TRY(c.graph.makes(n * (last - first)));
  std::vector<float> fold(static_cast<std::size_t>(n * (last - first)), 0.0f);
  for (std::int64_t i = first; i < last; ++i) {
    std::int64_t at = std::clamp<std::int64_t>(i, 0, n - 1);
    if (padding == "reflection") {
      const std::int64_t period = align ? 2 * (n - 1) : 2 * n;
      at = period == 0 ? 0 : (i % period + period) % period;
      if (at >= n) at = align ? period - at : period - 1 - at;
    }
    fold[static_cast<std::size_t>(at * (last - first) + i - first)] = 1;
  }
  Dims out = w.dims;
  out.back() = n;
  return known_product(c, w, last - first, n, std::move(fold), {}, out);
}

Status grid_sample(StepCall& c) {
  LOOM_ASSIGN(std::string mode, c.node().get_string("mode", "linear"));
  LOOM_ASSIGN(const std::string padding, c.node().get_string("padding_mode", "zeros"));
  LOOM_ASSIGN(const std::int64_t align, c.node().get_int("align_corners", 0));
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  if (mode != "linear" && mode != "nearest" && mode != "cubic")
    return StepCall::refuse("mode '" + mode + "' is not mapped");
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    return StepCall::refuse("padding_mode '" + padding + "' is not mapped");
  const Dims &in = c.dims(0), &grid = c.dims(1);
  const std::size_t rank = in.size() - 2;
  if (grid.back() != static_cast<std::int64_t>(rank) || grid[0] != in[0])
    return Status(Code::invalid_argument,
                  "input " + text_of(in) + " does not go with the grid " + text_of(grid));
  const std::int64_t batch = in[0], channels = in[1], space = elements(in) / (batch * channels),
                     points = elements(grid) / (batch * grid.back());
  if (batch * points * space > kMaxListed)
    return StepCall::refuse("of " + std::to_string(points) + " points among " +
                            std::to_string(space) +
                            " values it is not mapped: every pair gets a weight");
  const Ref all = c.graph.value(c.in(1));
  Ref weights;
  std::int64_t so_far = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    std::vector<std::int64_t>
        places;  // the last number of a point is its place along the last dimension, and so on
    for (std::int64_t p = 0; p < batch * points; ++p)
      places.push_back(p * grid.back() + static_cast<std::int64_t>(rank - 1 - d));
    const Ref g = c.graph.index_select(all, places, {batch, points, 1});
    const Ref x = coordinate(c, g, in[d + 2], align != 0, mode, padding);
    // Coordinates behind the outer values weigh these alone.
    const bool inside = mode == "linear" && padding != "zeros";
    LOOM_ASSIGN(Ref w,
                grid_weights(
                    c, inside ? c.graph.unary(x, "clip", 0, static_cast<double>(in[d + 2] - 1)) : x,
                    in[d + 2], mode, padding));
    if (d == 0) weights = w;
    else {
      weights = c.graph.binary(GraphBuilder::reshape(weights, {batch, points, so_far, 1}),
                               GraphBuilder::reshape(w, {batch, points, 1, in[d + 2]}), "mul");
    }
    so_far *= in[d + 2];
  }
  weights = GraphBuilder::reshape(weights, {batch, points, space});
  const Ref values = c.graph.permute(
      GraphBuilder::reshape(c.graph.value(c.in(0)), {batch, channels, space}), {0, 2, 1});
  c.set(c.graph.permute(c.graph.matmul(weights, values, {batch, points, channels}), {0, 2, 1}));
  return {};
}

// Coordinates in [-1, 1] of every place, the last dimension's first, and 1: times theta.
Status affine_grid(StepCall& c) {
  LOOM_ASSIGN(const std::int64_t align, c.node().get_int("align_corners", 0));
  const Dims& out = c.result().dims;  // [N, space, rank]
  const std::int64_t rank = out.back(), columns = rank + 1,
                     points = elements(out) / (out[0] * rank);
  LOOM_TRY(c.lists(points * columns));
  LOOM_TRY(c.graph.makes(points * columns));
  std::vector<float> places(static_cast<std::size_t>(points * columns), 1.0f);
  for (std::int64_t p = 0; p < points; ++p) {
    std::int64_t rest = p;
    for (std::int64_t d = 0; d < rank; ++d) {  // from the last dimension on
      const std::int64_t n = out[static_cast<std::size_t>(rank - d)], i = rest % n;
      rest /= n;
      places[static_cast<std::size_t>(p * columns + d)] =
          static_cast<float>(align ? 2 * static_cast<double>(i) / static_cast<double>(n - 1) - 1
                                   : static_cast<double>(2 * i + 1) / static_cast<double>(n) - 1);
    }
  }
  const Ref y = known_product(c, c.graph.value(c.in()), columns, points, std::move(places), {},
                              {out[0], rank, points});
  c.set(GraphBuilder::reshape(c.graph.permute(y, {0, 2, 1}), out));
  return {};
}

}  // namespace

std::span<const Operator> resample_mappings() {
  static constexpr Operator kRows[] = {
#define LOOM_MAP_resample(op, map, cell, traits) {op, map, cell, traits},
#include "formats/onnx/operators.def"
  };
  return kRows;
}

}  // namespace loom::onnx
