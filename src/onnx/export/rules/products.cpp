// Layers that are products: dense, embedding, SwiGLU, positions, and outputs over many classes.
#include <cmath>

#include "onnx/export/graph.h"

namespace loom::onnx {

Result<Edge> export_dense(LayerVisit& v, const Edge& x) {
  LOOM_ASSIGN(const Edge y, v.linear("weight", v.last(x), v.flag("bias", true) ? "bias" : ""));
  return v.g.activation(y, v.text("activation", "linear"));
}

Result<Edge> export_embedding(LayerVisit& v, const Edge& x) {
  LOOM_ASSIGN(const Edge table, v.weight("weight"));
  Dims out = dims_of(v.node.in);
  const Edge ids = v.g.cast(v.g.shaped(x, out), Type::i64);
  out.push_back(table.dims[1]);
  Edge y = table;
  y.dims = std::move(out);
  return v.g.make("Gather", {table, ids}, y, {attr("axis", std::int64_t{0})});
}

Result<Edge> export_swiglu(LayerVisit& v, const Edge& row) {
  const Edge x = v.last(row);
  const bool bias = v.flag("bias");
  LOOM_ASSIGN(const Edge gate, v.linear("gate", x, bias ? "gate_bias" : ""));
  LOOM_ASSIGN(const Edge up, v.linear("up", x, bias ? "up_bias" : ""));
  Edge h = v.g.pair("Mul", v.g.activation(gate, v.text("activation", "silu")), up);
  if (v.flag("sub_norm")) {
    LOOM_ASSIGN(const Edge gain, v.weight("sub_norm"));
    h = v.g.rms_norm(h, gain, v.number("sub_norm_eps", 1e-5));
  }
  return v.linear("down", h, bias ? "down_bias" : "");
}

namespace {

// 0, 1, ... of the steps of a sequence whose length is open: [sequence].
Edge open_positions(GraphWriter& g, const Edge& x) {
  Edge y;
  y.type = Type::i64;
  y.fixed = true;
  y.dims = {1};
  const Edge shape =
      g.make("Shape", {x}, y, {attr("start", std::int64_t{1}), attr("end", std::int64_t{2})});
  y.dims = {};
  Edge count = g.make("Squeeze", {shape}, y);
  const Edge zero = g.constant(Type::i64, {}, {0}), one = g.constant(Type::i64, {}, {1});
  y.dims = {1};
  Edge all = g.make("Range", {zero, count, one}, y);
  all.fixed = true;
  return all;
}

}  // namespace

Result<Edge> export_positions(LayerVisit& v, const Edge& x) {
  const std::int64_t features = x.dims.back();
  const bool in_row = x.dims.size() == 2, learned = v.text("kind", "learned") == "learned";
  Edge table;
  if (learned) {
    LOOM_ASSIGN(table, v.weight("weight"));
  } else if (in_row) {
    std::vector<double> waves;
    for (std::int64_t p = 0; p < x.dims[0]; ++p)
      for (std::int64_t i = 0; i < features; ++i) {
        const double angle =
            static_cast<double>(p) /
            std::pow(10000.0, static_cast<double>(i / 2 * 2) / static_cast<double>(features));
        waves.push_back(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
    return v.g.pair("Add", x, v.g.numbers(x.dims, waves));
  } else {
    return v.refuse("sines of sequences without an end are not exported: use learned positions");
  }
  if (in_row) return v.g.pair("Add", x, v.g.slice(table, 0, 0, x.dims[0]));
  Edge y = table;
  y.dims = {features};  // and the open steps before it
  return v.g.pair(
      "Add", x,
      v.g.make("Gather", {table, v.g.decoder ? v.g.decoder->positions : open_positions(v.g, x)},
               y));
}

Result<Edge> export_adaptive_softmax(LayerVisit& v, const Edge& row) {
  const Edge x = v.last(row);
  const Dims cutoffs = v.list("cutoffs");
  const bool log = v.flag("log");
  LOOM_ASSIGN(const Edge logits, v.linear("head", x, v.flag("bias") ? "head_bias" : ""));
  const Edge shares = v.g.softmax(logits, log);
  const auto at = static_cast<std::int64_t>(x.dims.size()) - 1;
  Edges all{v.g.slice(shares, at, 0, cutoffs[0])};
  for (std::size_t i = 0; i < cutoffs.size(); ++i) {
    const std::string tail = "tail" + std::to_string(i);
    LOOM_ASSIGN(const Edge down, v.linear(tail + "_down", x));
    LOOM_ASSIGN(const Edge up, v.linear(tail + "_up", down));
    const Edge cluster = v.g.slice(shares, at, cutoffs[0] + static_cast<std::int64_t>(i), 1);
    all.push_back(v.g.pair(log ? "Add" : "Mul", v.g.softmax(up, log), cluster));
  }
  return v.g.joined(all, at);
}

Result<Edge> export_mixture_of_softmaxes(LayerVisit& v, const Edge& row) {
  const Edge x = v.last(row);
  const bool bias = v.flag("bias", true);
  const std::int64_t mixtures = v.integer("mixtures");
  LOOM_ASSIGN(const Edge logits, v.linear("prior", x));
  const Edge prior = v.g.softmax(logits);
  LOOM_ASSIGN(const Edge latent, v.linear("latent", x, bias ? "latent_bias" : ""));
  Dims split = x.dims;
  split.back() = mixtures;
  Dims ones = split;
  split.push_back(latent.dims.back() / mixtures);
  ones.push_back(1);
  const Edge seen = v.g.shaped(v.g.activation(latent, "tanh"), split);
  LOOM_ASSIGN(const Edge each, v.linear("weight", seen, bias ? "bias" : ""));
  const Edge weighted = v.g.pair("Mul", v.g.softmax(each), v.g.shaped(prior, ones));
  const auto at = static_cast<std::int64_t>(x.dims.size()) - 1;
  const Edge y = v.g.reduced("ReduceSum", weighted, {at}, false);
  if (!v.flag("log")) return y;
  return v.g.add("Log", {v.g.pair("Max", y, v.g.number(0x1p-40))}, y.dims);
}

// -|x - c|^2 = 2 x c - |c|^2 - |x|^2, whose last term a softmax does not see; by differences, which
// lose nothing where rows and centers lie far from 0.
Result<Edge> export_kmeans(LayerVisit& v, const Edge& row) {
  const Edge x = v.last(row);
  LOOM_ASSIGN(const Edge centers, v.weight("centers"));
  const double temperature = v.number("temperature", 1);
  Dims one = x.dims;
  one.insert(one.end() - 1, 1);
  const Edge away = v.g.pair("Sub", v.g.shaped(x, one), centers);
  const auto at = static_cast<std::int64_t>(one.size()) - 1;
  const Edge distances = v.g.reduced("ReduceSumSquare", away, {at}, false);
  const Edge far = v.g.scale(distances, -1 / (2 * temperature * temperature));
  const Edge p = v.g.softmax(v.g.pair("Max", far, v.g.number(-3e38)));
  if (v.text("output") != "features") return p;
  return v.g.add("MatMul", {p, centers}, x.dims);
}

}  // namespace loom::onnx
