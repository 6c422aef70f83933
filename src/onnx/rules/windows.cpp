// Convolutions and pools.
#include <algorithm>

#include "onnx/rules/layers.h"

namespace loom::onnx {
namespace {

void set_space(Json& layer, const Space& s) {
  layer.set("kernel", list_of(s.kernel));
  layer.set("stride", list_of(s.strides));
  layer.set("dilation", list_of(s.dilations));
  Dims padding = s.begin;
  padding.insert(padding.end(), s.end.begin(), s.end.end());
  layer.set("padding", list_of(padding));
}

}  // namespace

Result<Space> space_of(StepCall& c, const Dims& kernel_of_weights) {
  Space s;
  const std::size_t rank =
      kernel_of_weights.empty() ? c.dims().size() - 2 : kernel_of_weights.size();
  if (rank < 1 || rank > 3)
    return StepCall::refuse("over " + std::to_string(rank) +
                            " dimensions of space it is not mapped");
  LOOM_ASSIGN(s.kernel, c.node().get_ints("kernel_shape", kernel_of_weights));
  LOOM_ASSIGN(s.strides, c.node().get_ints("strides", Dims(rank, 1)));
  LOOM_ASSIGN(s.dilations, c.node().get_ints("dilations", Dims(rank, 1)));
  LOOM_ASSIGN(const Dims pads, c.node().get_ints("pads", Dims(2 * rank, 0)));
  for (const std::int64_t p : pads)
    if (p < 0) return StepCall::refuse("negative padding is not mapped");
  s.begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  s.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  LOOM_ASSIGN(const std::string auto_pad, c.node().get_string("auto_pad", "NOTSET"));
  if (auto_pad == "VALID") s.begin = s.end = Dims(rank, 0);
  else if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t n = c.dims()[d + 2], places = (n + s.strides[d] - 1) / s.strides[d],
                         reach = (s.kernel[d] - 1) * s.dilations[d] + 1;
      const std::int64_t total = std::max<std::int64_t>(0, (places - 1) * s.strides[d] + reach - n);
      s.begin[d] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      s.end[d] = total - s.begin[d];
    }
  }
  return s;
}

Ref convolved(StepCall& c, const Ref& x, const Space& s, Filters filters, const Dims& out,
              const Dims* output_padding) {
  Json layer =
      typed((output_padding ? "conv_transposed" : "cnn") + std::to_string(s.kernel.size()));
  layer.set("filters", filters.count);
  layer.set("groups", filters.groups);
  layer.set("bias", !filters.bias.empty());
  if (output_padding) layer.set("output_padding", list_of(*output_padding));
  set_space(layer, s);
  const Each e = each(c, x, item_of(x.dims), std::move(layer), out);
  c.graph.fill(e.y, e.child, "weight", std::move(filters.weight));
  if (!filters.bias.empty()) c.graph.fill(e.y, e.child, "bias", std::move(filters.bias));
  return e.y;
}

namespace {

Status conv(StepCall& c) {
  const Dims& shape = c.dims(1);
  LOOM_ASSIGN(const Space s, space_of(c, Dims(shape.begin() + 2, shape.end())));
  Filters f{shape[0], 1, {}, {}};
  LOOM_ASSIGN(f.groups, c.node().get_int("group", 1));
  LOOM_ASSIGN(f.weight, c.floats(1));
  if (c.has(2)) {
    LOOM_ASSIGN(f.bias, c.floats(2));
  }
  c.set(convolved(c, c.graph.value(c.in()), s, std::move(f), c.result().dims));
  return {};
}

Status conv_transpose(StepCall& c) {
  LOOM_ASSIGN(const std::vector<float> w, c.floats(1));
  LOOM_ASSIGN(const std::int64_t groups, c.node().get_int("group", 1));
  const Dims &shape = c.dims(1), &out = c.result().dims;
  LOOM_ASSIGN(Space s, space_of(c, Dims(shape.begin() + 2, shape.end())));
  LOOM_ASSIGN(Dims extra, c.node().get_ints("output_padding", Dims(s.kernel.size(), 0)));
  // The padding follows from the shape of the result, which output_shape or auto_pad may have said.
  LOOM_ASSIGN(const std::string auto_pad, c.node().get_string("auto_pad", "NOTSET"));
  LOOM_ASSIGN(const Dims wanted, c.node().get_ints("output_shape", {}));
  const bool stated = !wanted.empty();
  for (std::size_t d = 0; d < s.kernel.size(); ++d) {
    if (!stated && !auto_pad.starts_with("SAME")) break;
    const std::int64_t full = (c.dims()[d + 2] - 1) * s.strides[d] + extra[d] +
                              (s.kernel[d] - 1) * s.dilations[d] + 1,
                       total = full - out[d + 2];
    if (total < 0 && !stated)
      return StepCall::refuse(
          "with auto_pad and a kernel shorter than its stride it is not mapped: runtimes place the "
          "rest differently");
    if (total < 0) {  // more than there is: it is added at the end
      s.begin[d] = s.end[d] = 0;
      extra[d] -= total;
      continue;
    }
    s.begin[d] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    s.end[d] = total - s.begin[d];
  }
  // [channels, filters / groups, kernel] becomes [groups x filters / groups x kernel, channels /
  // groups].
  const std::int64_t channels = shape[0] / groups, per_group = elements(shape) / shape[0];
  Filters f{out[1], groups, std::vector<float>(w.size()), {}};
  for (std::int64_t g = 0; g < groups; ++g)
    for (std::int64_t ch = 0; ch < channels; ++ch)
      for (std::int64_t i = 0; i < per_group; ++i)
        f.weight[static_cast<std::size_t>((g * per_group + i) * channels + ch)] =
            w[static_cast<std::size_t>((g * channels + ch) * per_group + i)];
  if (c.has(2)) {
    LOOM_ASSIGN(f.bias, c.floats(2));
  }
  c.set(convolved(c, c.graph.value(c.in()), s, std::move(f), out, &extra));
  return {};
}

Result<Ref> pooled(StepCall& c, const Ref& x, bool average, bool padding) {
  LOOM_ASSIGN(const Space s, space_of(c, {}));
  LOOM_ASSIGN(const std::int64_t ceil, c.node().get_int("ceil_mode", 0));
  LOOM_ASSIGN(const std::string auto_pad, c.node().get_string("auto_pad", "NOTSET"));
  for (std::size_t d = 0; auto_pad.starts_with("SAME") && d < s.kernel.size(); ++d) {
    const std::int64_t n = c.dims()[d + 2],
                       reach = (c.result().dims[d + 2] - 1) * s.strides[d] + s.kernel[d];
    if (s.dilations[d] != 1 || reach < n)
      return StepCall::refuse(
          "with auto_pad and dilations, or a kernel that passes over the last values, it is not "
          "mapped: runtimes pad differently");
  }
  Json layer = typed((average ? "avg_pool" : "max_pool") + std::to_string(s.kernel.size()));
  set_space(layer, s);
  layer.set("ceil_mode", ceil != 0);
  if (average) layer.set("count_include_pad", padding);
  return each(c, x, item_of(c.dims()), std::move(layer), c.result().dims).y;
}
Status pool(StepCall& c) {
  if (c.wants(1)) return StepCall::refuse("its second output (indices) is not mapped");
  if (is_integer(c.value(0).type) && c.node().op != "MaxPool")
    return StepCall::refuse("of integers it is not mapped");
  LOOM_ASSIGN(const std::int64_t padding, c.node().get_int("count_include_pad", 0));
  LOOM_ASSIGN(Ref y, pooled(c, c.graph.value(c.in()), c.node().op == "AveragePool", padding != 0));
  c.set(std::move(y));
  return {};
}
// The root of sums of powers: means over whole windows, times their size.
Status lp_pool(StepCall& c) {
  LOOM_ASSIGN(const std::int64_t p, c.node().get_int("p", 2));
  LOOM_ASSIGN(const std::int64_t ceil, c.node().get_int("ceil_mode", 0));
  if (p < 1 || p > 64) return StepCall::refuse("with p " + std::to_string(p) + " it is not mapped");
  if (ceil) return StepCall::refuse("with ceil_mode it is not mapped");
  LOOM_ASSIGN(const Dims kernel, c.node().get_ints("kernel_shape", {}));
  const auto power = [&](const Ref& x, double to) {
    return c.graph.binary(x, GraphBuilder::number(to), "pow");
  };
  const Ref x = c.graph.unary(c.graph.value(c.in()), p == 2 ? "square" : "abs");
  LOOM_ASSIGN(const Ref mean, pooled(c, p > 2 ? power(x, static_cast<double>(p)) : x, true, true));
  double window = 1;
  for (const std::int64_t k : kernel) window *= static_cast<double>(k);
  const Ref sum = c.graph.binary(mean, GraphBuilder::number(window), "mul");
  c.set(p == 1   ? sum
        : p == 2 ? c.graph.unary(sum, "sqrt")
                 : power(sum, 1 / static_cast<double>(p)));
  return {};
}

// The sums of blocks where they overlap: a transposed convolution in which each value of a block is
// a channel that goes to its place.
Status col2im(StepCall& c) {
  LOOM_ASSIGN(const Dims image, c.ints(1));
  LOOM_ASSIGN(const Dims shape, c.ints(2));
  LOOM_ASSIGN(const Space s, space_of(c, shape));
  const Dims &x = c.dims(), &out = c.result().dims;
  const std::int64_t block = elements(s.kernel);
  Dims blocks{x[0], x[1]}, extra;
  for (std::size_t d = 0; d < image.size(); ++d) {
    const std::int64_t room =
        image[d] + s.begin[d] + s.end[d] - s.dilations[d] * (s.kernel[d] - 1) - 1;
    blocks.push_back(room / s.strides[d] + 1);
    extra.push_back(room % s.strides[d]);
  }
  LOOM_TRY(c.graph.makes(x[1] * block));
  Filters f{out[1], out[1], std::vector<float>(static_cast<std::size_t>(x[1] * block), 0.0f), {}};
  for (std::int64_t i = 0; i < x[1]; ++i)
    f.weight[static_cast<std::size_t>(i * block + i % block)] = 1;
  c.set(convolved(c, GraphBuilder::reshape(c.graph.value(c.in()), blocks), s, std::move(f), out,
                  &extra));
  return {};
}

// Each channel by itself, over its own past: what came before the first step is a state, or zeros.
Status causal_conv(StepCall& c) {
  const Dims &x = c.dims(), &shape = c.dims(1);
  const std::int64_t before = shape[2] - 1;
  LOOM_ASSIGN(const std::string activation, c.node().get_string("activation", "none"));
  if (activation != "none" && activation != "silu" && activation != "swish")
    return StepCall::refuse("activation '" + activation + "' is not mapped");
  Filters f{shape[0], shape[0], {}, {}};
  LOOM_ASSIGN(f.weight, c.floats(1));
  if (c.has(2)) {
    LOOM_ASSIGN(f.bias, c.floats(2));
  }
  const bool past = c.has(3) && before > 0;
  const Ref all = past ? c.graph.concat({c.graph.value(c.in(3)), c.graph.value(c.in())}, 2)
                       : c.graph.value(c.in());
  if (c.wants(0)) {
    const Ref y = convolved(c, all, {{shape[2]}, {1}, {1}, {past ? 0 : before}, {0}}, std::move(f),
                            c.result().dims);
    c.set(activation == "none" ? y : c.graph.unary(y, "swish", 1));
  }
  if (before == 0) c.set({}, 1);
  if (!c.wants(1) || before == 0) return {};
  LOOM_TRY(c.lists(x[0] * x[1] * before));
  std::vector<std::int64_t> places;
  const std::int64_t length = all.dims[2];
  for (std::int64_t row = 0; row < x[0] * x[1]; ++row)
    for (std::int64_t at = length - before; at < length; ++at)
      places.push_back(at < 0 ? -1 : row * length + at);
  c.set(c.graph.index_select(all, places, c.result(1).dims), 1);
  return {};
}

}  // namespace

std::span<const Operator> windows_mappings() {
  static constexpr Operator kRows[] = {
#define LOOM_MAP_windows(op, map, cell, traits) {op, map, cell, traits},
#include "formats/onnx/operators.def"
  };
  return kRows;
}

}  // namespace loom::onnx
