// Norms, and scales of columns.
#include "onnx/export/graph.h"

namespace loom::onnx {
namespace {

// Channels and their values: of a row without dimensions each value is one.
struct Channels {
  std::int64_t count, space;
};
Channels channels_of(const Shape& in) {
  const std::int64_t count = in.dims.empty() ? in.width : in.dims[0];
  return {count, in.width / count};
}

}  // namespace

Result<Edge> export_last_norm(LayerVisit& v, const Edge& row) {
  const Edge x = v.last(row);
  LOOM_ASSIGN(const Edge gain, v.weight("gain"));
  const double eps = v.number("eps", 1e-5);
  const bool centered = v.node.type->name() == "layer_norm";
  const bool wide = v.g.real == Type::f64;  // where an attribute, which is f32, is another epsilon
  if (!centered && (wide || v.g.options.opset < 23)) return v.g.rms_norm(x, gain, eps);
  Edges in{x, gain};
  if (centered) {
    LOOM_ASSIGN(in.emplace_back(), v.weight("bias"));
  }
  if (wide) {
    const auto last = static_cast<std::int64_t>(x.dims.size()) - 1;
    const Edge away = v.g.pair("Sub", x, v.g.reduced("ReduceMean", x, {last}, true));
    return v.g.pair("Add", v.g.rms_norm(away, gain, eps), in[2]);
  }
  return v.g.add(centered ? "LayerNormalization" : "RMSNormalization", in, x.dims,
                 {attr("axis", std::int64_t{-1}), attr("epsilon", eps)});
}

Result<Edge> export_batch_norm(LayerVisit& v, const Edge& row) {
  const Channels c = channels_of(v.node.in);
  const auto channel = [&](const Edge& e) { return c.space > 1 ? v.g.shaped(e, {c.count, 1}) : e; };
  const Edge x = v.g.shaped(row, c.space > 1 ? Dims{c.count, c.space} : Dims{c.count});
  const bool affine = v.flag("affine", true);
  const auto n = static_cast<std::size_t>(c.count);
  Edges in{x, v.g.numbers({c.count}, std::vector<double>(n, 1)),
           v.g.numbers({c.count}, std::vector<double>(n, 0))};
  if (affine) {
    LOOM_ASSIGN(in[1], v.weight("gain"));
    LOOM_ASSIGN(in[2], v.weight("bias"));
  }
  for (const char* role : {"running_mean", "running_var"}) {
    LOOM_ASSIGN(in.emplace_back(), v.weight(role));
  }
  // The operator has channels behind the batch, and an epsilon of f32.
  if (v.g.lead == 2 || v.g.real == Type::f64) {
    const Edge variance = v.g.pair("Add", in[4], v.g.number(v.number("eps", 1e-5)));
    const Edge away = v.g.pair("Sub", x, channel(in[3]));
    const Edge y = v.g.pair("Div", away, channel(v.g.add("Sqrt", {variance}, variance.dims)));
    return v.g.pair("Add", v.g.pair("Mul", y, channel(in[1])), channel(in[2]));
  }
  return v.g.add("BatchNormalization", in, x.dims, {attr("epsilon", v.number("eps", 1e-5))});
}

// Of groups, or of each channel, by themselves; then a gain and a bias per channel.
Result<Edge> export_group_norm(LayerVisit& v, const Edge& row) {
  const Channels c = channels_of(v.node.in);
  const bool instance = v.node.type->name() == "instance_norm";
  const std::int64_t groups = instance ? c.count : v.integer("groups", 1);
  const Edge x = v.g.shaped(row, {groups, v.node.in.width / groups});
  const Edge away = v.g.pair("Sub", x, v.g.reduced("ReduceMean", x, {1}, true));
  const Edge square = v.g.pair("Mul", away, away);
  const Edge variance = v.g.reduced("ReduceMean", square, {1}, true);
  const Edge sum = v.g.pair("Add", variance, v.g.number(v.number("eps", 1e-5)));
  Edge y = v.g.pair("Div", away, v.g.add("Sqrt", {sum}, sum.dims));
  if (!v.flag("affine", !instance)) return y;
  y = v.g.shaped(y, {c.count, c.space});
  LOOM_ASSIGN(const Edge gain, v.weight("gain", {c.count, 1}));
  LOOM_ASSIGN(const Edge bias, v.weight("bias", {c.count, 1}));
  return v.g.pair("Add", v.g.pair("Mul", y, gain), bias);
}

Result<Edge> export_standardize(LayerVisit& v, const Edge& row) {
  Edge x = v.g.shaped(row, {v.node.in.width});
  LOOM_ASSIGN(const Edge mean, v.weight("mean"));
  LOOM_ASSIGN(const Edge factor, v.weight("scale"));
  const Edge y = v.g.pair("Mul", v.g.pair("Sub", x, mean), factor);
  if (!v.flag("missing")) return y;
  Edge missing = x;
  missing.type = Type::boolean;
  missing = v.g.make("IsNaN", {x}, missing);
  return v.g.make("Where", {missing, v.g.number(0), y}, y);
}

}  // namespace loom::onnx
