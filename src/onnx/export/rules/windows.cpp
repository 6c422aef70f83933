// Convolutions and pools.
#include <algorithm>
#include <limits>

#include "onnx/export/graph.h"

namespace loom::onnx {
namespace {

// A setting for each dimension of space; one number serves all.
Dims spread(const Dims& list, std::size_t rank, std::int64_t fallback) {
  if (list.empty()) return Dims(rank, fallback);
  return list.size() == 1 ? Dims(rank, list[0]) : list;
}

struct Window {
  Dims kernel, stride, dilation, begin, end;  // begin, end: padding
  std::int64_t reach(std::size_t i) const { return (kernel[i] - 1) * dilation[i] + 1; }
  Attributes attributes() const {
    Dims pads = begin;
    pads.insert(pads.end(), end.begin(), end.end());
    return {attr("kernel_shape", kernel), attr("strides", stride), attr("pads", pads),
            attr("dilations", dilation)};
  }
};

Window window_of(const LayerVisit& v, std::size_t rank, std::int64_t kernel, std::int64_t stride) {
  Window w{spread(v.list("kernel"), rank, kernel),
           spread(v.list("stride"), rank, stride),
           spread(v.list("dilation"), rank, 1),
           {},
           {}};
  if (w.stride[0] == 0) w.stride = w.kernel;
  const Dims pads = v.list("padding");
  const bool both = pads.size() == 2 * rank;
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(both ? rank : pads.size());
  w.begin = spread({pads.begin(), middle}, rank, 0);
  w.end = both ? Dims(middle, pads.end()) : w.begin;
  return w;
}

Dims joined(Dims a, const Dims& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The padding as values, which then count; that of the window is 0.
Edge padded_by(LayerVisit& v, const Edge& x, Window& w, double value) {
  const std::size_t rank = w.begin.size();
  Dims pads(2 * (rank + 2), 0), dims = x.dims;
  for (std::size_t i = 0; i < rank; ++i) {
    pads[2 + i] = w.begin[i];
    pads[rank + 4 + i] = w.end[i];
    dims[1 + i] += w.begin[i] + w.end[i];
    w.begin[i] = w.end[i] = 0;
  }
  return v.g.add("Pad", {x, v.g.index(pads), v.g.number(value)}, std::move(dims));
}

// Taps of each window along dimension `i` of space at [first, end) of the input.
Dims taps(const Window& w, std::size_t i, std::int64_t windows, std::int64_t first,
          std::int64_t end) {
  Dims all(static_cast<std::size_t>(windows), 0);
  for (std::size_t o = 0; o < all.size(); ++o)
    for (std::int64_t t = 0; t < w.kernel[i]; ++t) {
      const std::int64_t at =
          static_cast<std::int64_t>(o) * w.stride[i] - w.begin[i] + t * w.dilation[i];
      all[o] += at >= first && at < end;
    }
  return all;
}

// A pool whose padding is not below its kernel, as that of a dilated one may be: runtimes refuse
// such padding, so it stands as values. `counted`: how much padding an average counts at the ends.
Edge padded_pool(LayerVisit& v, const Edge& x, Window w, bool average, const Window& counted) {
  const Dims& out = v.node.out.dims;
  std::vector<double> factors{static_cast<double>(elements(w.kernel))};
  for (std::size_t i = 0; i < w.kernel.size(); ++i) {
    const Dims count = taps(w, i, out[i + 1], -counted.begin[i], x.dims[i + 1] + counted.end[i]);
    std::vector<double> more;
    for (const double f : factors)
      for (const std::int64_t n : count)
        more.push_back(f / static_cast<double>(std::max<std::int64_t>(n, 1)));
    factors = std::move(more);
  }
  const Edge padded = padded_by(v, x, w, average ? 0 : -std::numeric_limits<double>::infinity());
  const Edge y = v.g.add(average ? "AveragePool" : "MaxPool", {padded}, out, w.attributes());
  if (!average) return y;
  return v.g.pair("Mul", y, v.g.numbers(Dims(out.begin() + 1, out.end()), factors));
}

// Adds the bias where there is one, and the activation.
Result<Edge> convolved(LayerVisit& v, std::string_view op, Edges in, Attributes attributes) {
  if (v.flag("bias", true)) {
    LOOM_ASSIGN(in.emplace_back(), v.weight("bias"));
  }
  attributes.push_back(attr("group", v.integer("groups", 1)));
  return v.g.activation(v.g.add(op, in, v.node.out.dims, attributes),
                        v.text("activation", "linear"));
}

}  // namespace

Result<Edge> export_conv(LayerVisit& v, const Edge& x) {
  LOOM_TRY(v.one_row());
  const std::size_t rank = x.dims.size() - 1;
  const Window w = window_of(v, rank, 3, 1);
  LOOM_ASSIGN(const Edge weight,
              v.weight("weight", joined({v.integer("filters"), x.dims[0] / v.integer("groups", 1)},
                                        w.kernel)));
  return convolved(v, "Conv", {x, weight}, w.attributes());
}

// [groups, filters / groups x kernel, channels / groups] to [channels, filters / groups, kernel].
Result<Edge> export_conv_transpose(LayerVisit& v, const Edge& x) {
  LOOM_TRY(v.one_row());
  const std::size_t rank = x.dims.size() - 1;
  Window window = window_of(v, rank, 3, 1);
  const Dims& kernel = window.kernel;
  const std::int64_t groups = v.integer("groups", 1), filters = v.integer("filters") / groups;
  const std::int64_t channels = x.dims[0] / groups;
  LOOM_ASSIGN(Edge w, v.weight("weight", {groups, filters * elements(kernel), channels}));
  w = v.g.shaped(v.g.transposed(w, {0, 2, 1}), joined({x.dims[0], filters}, kernel));
  // Values that are added at the end are first those that the padding takes there. Of what is left
  // the operator takes less than a stride.
  Dims more = spread(v.list("output_padding"), rank, 0);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t kept = std::min(more[i], window.end[i]);
    more[i] -= kept, window.end[i] -= kept;
    if (more[i] >= window.stride[i])
      return v.refuse("\"output_padding\" beyond \"padding\" must be below the stride of " +
                      std::to_string(window.stride[i]) + ", got " + std::to_string(more[i]));
  }
  Attributes attributes = window.attributes();
  attributes.push_back(attr("output_padding", more));
  return convolved(v, "ConvTranspose", {x, w}, attributes);
}

Result<Edge> export_pool(LayerVisit& v, const Edge& x) {
  LOOM_TRY(v.one_row());
  const std::size_t rank = x.dims.size() - 1;
  const bool average = v.node.type->name().starts_with("avg");
  if (v.flag("global"))
    return v.g.add(average ? "GlobalAveragePool" : "GlobalMaxPool", {x}, v.node.out.dims);
  Window w = window_of(v, rank, 2, 0);
  // A last window that is partly outside counts by padding that reaches to its end: runtimes
  // disagree about ceil_mode.
  Dims beyond(rank, 0);
  for (std::size_t i = 0; i < rank && v.flag("ceil_mode"); ++i)
    beyond[i] = std::max<std::int64_t>(0, (v.node.out.dims[i + 1] - 1) * w.stride[i] + w.reach(i) -
                                              x.dims[i + 1] - w.begin[i] - w.end[i]);
  const bool counts = average && v.flag("count_include_pad", true);
  Window counted = w;
  if (!counts) counted.begin = counted.end = Dims(rank, 0);
  Edge padded = x;
  const bool reaches = *std::max_element(beyond.begin(), beyond.end()) > 0;
  for (std::size_t i = 0; i < rank; ++i)
    if (w.begin[i] >= w.kernel[i] || w.end[i] + beyond[i] >= w.kernel[i]) {
      for (std::size_t k = 0; k < rank; ++k) w.end[k] += beyond[k];
      return padded_pool(v, x, w, average, counted);
    }
  if (counts && reaches) padded = padded_by(v, x, w, 0);
  for (std::size_t i = 0; i < rank; ++i) w.end[i] += beyond[i];
  Attributes attributes = w.attributes();
  if (average) attributes.push_back(attr("count_include_pad", std::int64_t{counts && !reaches}));
  return v.g.add(average ? "AveragePool" : "MaxPool", {padded}, v.node.out.dims, attributes);
}

}  // namespace loom::onnx
