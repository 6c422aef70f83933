// Softmax and its relatives.
#include <algorithm>

#include "onnx/export/graph.h"

namespace loom::onnx {
namespace {

// A level after the other: a node's probability is its own among its siblings, times that of the
// node above.
Edge down_the_tree(LayerVisit& v, const Edge& row) {
  GraphWriter& g = v.g;
  const Edge x = g.shaped(row, {elements(row.dims)});
  Edge path;
  std::int64_t at = 0, nodes = 1;
  for (const std::int64_t children : v.list("levels")) {
    const Edge own = g.softmax(
        g.shaped(g.slice(x, 0, at, nodes * children), {nodes, children}));
    path = path.name.empty() ? own : g.pair("Mul", own, g.shaped(path, {nodes, 1}));
    at += nodes * children;
    nodes *= children;
  }
  return g.shaped(path, {nodes});
}

// Over the places that count; the others get 0.
Edge masked(LayerVisit& v, const Edge& x) {
  GraphWriter& g = v.g;
  std::vector<double> seen, hidden;
  for (const std::int64_t m : v.list("mask")) {
    seen.push_back(m != 0 ? 1 : 0);
    hidden.push_back(m != 0 ? 0 : -2.2e38);
  }
  const auto n = static_cast<std::int64_t>(seen.size());
  const Edge kept = g.pair("Mul", x, g.numbers({n}, seen));
  return g.softmax(g.pair("Add", kept, g.numbers({n}, hidden)));
}

// Sparsemax (arXiv 1602.02068): what lies above the threshold that leaves a sum of 1. Sorted, the
// k-th is above it while 1 + k z_k is more than the sum of the first k.
Edge sparsemax(LayerVisit& v, const Edge& x) {
  GraphWriter& g = v.g;
  const std::int64_t n = x.dims.back(), last = static_cast<std::int64_t>(x.dims.size()) - 1;
  Edge sorted = x, places = x;
  sorted.name.clear(), places.name.clear();
  places.type = Type::i64;
  const Edge z = g.add_all("TopK", {x, g.index({n})}, {sorted, places},
                           {attr("axis", std::int64_t{-1})})[0];
  std::vector<double> numbers, below;
  for (std::int64_t i = 0; i < n; ++i) {
    numbers.push_back(static_cast<double>(i + 1));
    for (std::int64_t j = 0; j < n; ++j) below.push_back(i <= j ? 1 : 0);
  }
  // From the largest on, which loses nothing.
  const Edge shifted = g.pair("Sub", z, g.slice(z, last, 0, 1));
  const Edge sums = g.add("MatMul", {shifted, g.numbers({n, n}, below)}, x.dims);
  const Edge k = g.numbers({n}, numbers);
  Edge above = x;
  above.type = Type::boolean;
  const Edge least = g.pair("Add", g.pair("Mul", k, shifted), g.number(1));
  above = g.cast(g.add_all("Greater", {least, sums}, {above})[0], g.real);
  const Edge count = g.reduced("ReduceSum", above, {last}, true);
  const Edge total = g.reduced("ReduceSum", g.pair("Mul", above, shifted), {last}, true);
  const Edge threshold = g.pair("Div", g.pair("Sub", total, g.number(1)), count);
  const Edge moved = g.pair("Sub", x, g.slice(z, last, 0, 1));
  return g.add("Relu", {g.pair("Sub", moved, threshold)}, x.dims);
}

}  // namespace

Result<Edge> export_softmax(LayerVisit& v, const Edge& row) {
  GraphWriter& g = v.g;
  const std::string kind = v.text("kind", "standard");
  const double alpha = kind == "sparsemax" ? 2 : kind == "entmax" ? v.number("alpha", 1.5) : 1;
  if (alpha != 1 && alpha != 2)
    return v.refuse("ONNX has no entmax of alpha " + format_double(alpha) +
                    ": 1 is softmax, 2 is sparsemax");
  Edge x = g.scale(row, 1 / v.number("temperature", 1));
  if (kind == "hierarchical") return down_the_tree(v, x);
  if (kind == "grid") x = g.shaped(x, {v.integer("rows"), v.integer("cols")});
  if (kind == "masked") return masked(v, x);
  if (alpha == 2) return sparsemax(v, x);
  const Edge y = g.softmax(x, v.flag("log"));
  if (kind != "gumbel" || !v.flag("hard")) return y;
  return g.add("Hardmax", {y}, y.dims, {attr("axis", std::int64_t{-1})});
}

Result<Edge> export_log_softmax(LayerVisit& v, const Edge& x) { return v.g.softmax(x, true); }

}  // namespace loom::onnx
