// Convolutions and pools.
#include "onnx/export/graph.h"

namespace loom::onnx {
namespace {

// A setting for each dimension of space; one number serves all.
Dims spread(const Dims& list, std::size_t rank, std::int64_t fallback) {
  if (list.empty()) return Dims(rank, fallback);
  return list.size() == 1 ? Dims(rank, list[0]) : list;
}

Attributes window(const LayerVisit& v, std::size_t rank, const Dims& kernel, std::int64_t stride) {
  Dims pads = v.list("padding");
  if (pads.size() != 2 * rank) {
    pads = spread(pads, rank, 0);
    const Dims begins = pads;
    pads.insert(pads.end(), begins.begin(), begins.end());
  }
  Dims strides = spread(v.list("stride"), rank, stride);
  if (stride == 0 && v.list("stride") == Dims{0}) strides = kernel;
  return {attr("kernel_shape", kernel), attr("strides", std::move(strides)),
          attr("pads", std::move(pads)), attr("dilations", spread(v.list("dilation"), rank, 1))};
}

Dims joined(Dims a, const Dims& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Adds the bias where there is one, and the activation.
Result<Edge> convolved(LayerVisit& v, std::string_view op, Edges in, Attributes attributes) {
  if (v.flag("bias", true)) {
    LOOM_ASSIGN(in.emplace_back(), v.weight("bias"));
  }
  attributes.push_back(attr("group", v.integer("groups", 1)));
  return v.g.activation(v.g.add(op, in, v.node.out.dims, std::move(attributes)),
                        v.text("activation", "linear"));
}

}  // namespace

Result<Edge> export_conv(LayerVisit& v, const Edge& x) {
  LOOM_TRY(v.one_row());
  const std::size_t rank = x.dims.size() - 1;
  const Dims kernel = spread(v.list("kernel"), rank, 3);
  LOOM_ASSIGN(
      const Edge w,
      v.weight("weight",
               joined({v.integer("filters"), x.dims[0] / v.integer("groups", 1)}, kernel)));
  return convolved(v, "Conv", {x, w}, window(v, rank, kernel, 1));
}

// [groups, filters / groups x kernel, channels / groups] to [channels, filters / groups, kernel].
Result<Edge> export_conv_transpose(LayerVisit& v, const Edge& x) {
  LOOM_TRY(v.one_row());
  const std::size_t rank = x.dims.size() - 1;
  const Dims kernel = spread(v.list("kernel"), rank, 3);
  const std::int64_t groups = v.integer("groups", 1), filters = v.integer("filters") / groups;
  const std::int64_t channels = x.dims[0] / groups;
  LOOM_ASSIGN(Edge w, v.weight("weight", {groups, filters * elements(kernel), channels}));
  w = v.g.shaped(v.g.transposed(w, {0, 2, 1}), joined({x.dims[0], filters}, kernel));
  Attributes attributes = window(v, rank, kernel, 1);
  attributes.push_back(attr("output_padding", spread(v.list("output_padding"), rank, 0)));
  return convolved(v, "ConvTranspose", {x, w}, std::move(attributes));
}

Result<Edge> export_pool(LayerVisit& v, const Edge& x) {
  LOOM_TRY(v.one_row());
  const std::size_t rank = x.dims.size() - 1;
  const bool average = v.node.type->name().starts_with("avg");
  if (v.flag("global"))
    return v.g.add(average ? "GlobalAveragePool" : "GlobalMaxPool", {x}, v.node.out.dims);
  const Dims kernel = spread(v.list("kernel"), rank, 2);
  Attributes attributes = window(v, rank, kernel, 0);
  attributes.push_back(attr("ceil_mode", std::int64_t{v.flag("ceil_mode")}));
  if (average)
    attributes.push_back(
        attr("count_include_pad", std::int64_t{v.flag("count_include_pad", true)}));
  return v.g.add(average ? "AveragePool" : "MaxPool", {x}, v.node.out.dims, std::move(attributes));
}

}  // namespace loom::onnx
