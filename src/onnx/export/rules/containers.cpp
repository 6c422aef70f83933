// Containers, and layers that arrange rows.
#include <algorithm>

#include "layers/metacognition/rules.h"
#include "onnx/export/graph.h"

namespace loom::onnx {

// Dropout in evaluation; flatten and reshape, whose dimensions the plan has.
Result<Edge> export_same(LayerVisit&, const Edge& x) { return x; }

Result<Edge> export_residual(LayerVisit& v, const Edge& x) {
  return v.g.pair("Add", v.g.shaped(*v.skip, x.dims), x);
}

Result<Edge> export_sequential(LayerVisit& v, const Edge& x) {
  Edge now = x, before;
  for (std::size_t i = 0; i < v.node.children.size(); ++i) {
    LOOM_ASSIGN(Edge y, v.child(i, now, i > 0 ? &before : nullptr));
    before = now;
    now = std::move(y);
  }
  return now;
}

Result<Edge> export_metacognition(LayerVisit& v, const Edge& x) {
  const MetacognitionConfig* c = v.node.type->metacognition(*v.node.config);
  if (c && !c->rules.empty())
    return v.refuse("its rules change the layer between passes, which a graph cannot: leave them "
                    "out");
  Edge y = x;
  for (std::size_t i = 0; i < v.node.children.size(); ++i) {
    LOOM_ASSIGN(y, v.child(i, y, i == 0 ? v.skip : nullptr));
  }
  return v.g.scale(y, v.number("gate", 1));
}

Result<Edge> export_part(LayerVisit& v, const Edge& x) {
  const std::string of = v.text("of");
  std::int64_t index = v.integer("index", -1);
  for (std::size_t i = 0; i < v.node.in.parts.size() && !of.empty(); ++i)
    if (v.node.in.parts[i].name == of) index = static_cast<std::int64_t>(i);
  return x.parts[static_cast<std::size_t>(index)];
}

// Parts of a row become rows, and join again.
Result<Edge> export_time_distributed(LayerVisit& v, const Edge& x) {
  GraphWriter& g = v.g;
  LOOM_TRY(v.one_row());
  const std::int64_t own = v.integer("count"), count = own > 0 ? own : v.node.in.dims[0];
  const Shape& part = v.node.children[0].arrives;
  const Dims in = part.count() * count == v.node.in.width ? dims_of(part)
                                                          : Dims{v.node.in.width / count};
  Dims to{-1};
  to.insert(to.end(), in.begin(), in.end());
  const Edge cut = g.add("Reshape", {x, g.index(to)}, in);
  LOOM_ASSIGN(const Edge y, v.child(0, cut));
  Dims out{count}, back{-1, count};
  out.insert(out.end(), y.dims.begin(), y.dims.end());
  back.insert(back.end(), y.dims.begin(), y.dims.end());
  return g.add("Reshape", {y, g.index(back)}, out);
}

namespace {

// Scores of the branches as shares of each row; with top_k those of the k largest, the first of
// equal ones.
Result<Edge> gate(LayerVisit& v, const Edge& x) {
  GraphWriter& g = v.g;
  LOOM_ASSIGN(const Edge scores, v.linear("gate", x, "gate_bias"));
  const Edge cooled = g.scale(scores, 1 / v.number("temperature", 1));
  const std::int64_t k = v.integer("top_k"), n = cooled.dims.back();
  if (k == 0 || k == n) return g.softmax(cooled);
  Edge best = cooled, places = cooled;
  best.dims.back() = places.dims.back() = k;
  best.name.clear();
  places.type = Type::i64;
  const Edges top = g.add_all("TopK", {cooled, g.index({k})}, {best, places},
                              {attr("axis", std::int64_t{-1})});
  const Edge shares = g.softmax(top[0]);
  // Back to their places: 1 where a place is a branch's number.
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < n; ++i) numbers.push_back(static_cast<double>(i));
  Dims one = top[1].dims;
  one.push_back(1);
  Edge is = g.shaped(top[1], one);
  is.dims.back() = n;
  is.type = Type::boolean;
  const Edge equal =
      g.add_all("Equal", {g.shaped(top[1], one), g.constant(Type::i64, {n}, numbers)}, {is})[0];
  const Edge spread = g.pair("Mul", g.shaped(shares, one), g.cast(equal, g.real));
  return g.reduced("ReduceSum", spread, {static_cast<std::int64_t>(one.size()) - 2}, false);
}

Edge added(GraphWriter& g, const Edges& list) {
  Edge sum = list[0];
  for (std::size_t i = 1; i < list.size(); ++i)
    sum = g.pair("Add", sum, g.shaped(list[i], sum.dims));
  return sum;
}

// Each branch at its place of the grid, [rows, cols, width]; zeros elsewhere.
Edge scattered(LayerVisit& v, const Edges& list) {
  GraphWriter& g = v.g;
  const Dims grid = v.list("grid"), places = v.list("places");
  const std::int64_t width = elements(list[0].dims);
  Edge empty;
  Edges all;
  for (std::int64_t cell = 0; cell < grid[0] * grid[1]; ++cell) {
    std::size_t at = list.size();
    for (std::size_t i = 0; i < list.size(); ++i)
      if (places[2 * i] * grid[1] + places[2 * i + 1] == cell) at = i;
    if (at < list.size()) {
      all.push_back(g.shaped(list[at], {width}));
      continue;
    }
    // 0 even where the branch gave none that is finite.
    if (empty.name.empty()) {
      const Edge first = g.shaped(list[0], {width});
      empty = g.pair("Mul", g.add("Sign", {first}, first.dims), g.number(0));
    }
    all.push_back(empty);
  }
  return g.joined(all, 0);
}

Result<Edge> combined(LayerVisit& v, const Edge& x, const std::string& combine, Edges list) {
  GraphWriter& g = v.g;
  if (combine == "add") return added(g, list);
  if (combine == "avg") return g.scale(added(g, list), 1.0 / static_cast<double>(list.size()));
  if (combine == "grid_scatter") return scattered(v, list);
  if (combine == "gated") {
    LOOM_ASSIGN(const Edge shares, gate(v, g.flat(x)));
    for (std::size_t i = 0; i < list.size(); ++i)
      list[i] = g.pair("Mul", list[i], g.slice(shares, 0, static_cast<std::int64_t>(i), 1));
    return added(g, list);
  }
  // By the first dimension where all have the others alike.
  bool alike = list[0].dims.size() == v.node.out.dims.size();
  for (const Edge& e : list)
    alike = alike && e.parts.empty() && e.dims.size() == list[0].dims.size() &&
            std::equal(e.dims.begin() + 1, e.dims.end(), list[0].dims.begin() + 1);
  if (alike) return g.joined(list, 0);
  for (Edge& e : list) e = g.flat(e);
  return g.joined(list, 0);
}

}  // namespace

Result<Edge> export_parallel(LayerVisit& v, const Edge& x) {
  GraphWriter& g = v.g;
  const std::string combine = v.text("combine", "concat");
  const bool split = v.text("input", "broadcast") == "split";
  const std::size_t count = v.node.children.size();
  Edges list;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t width = v.node.in.width / static_cast<std::int64_t>(count);
    const Edge own =
        split ? g.slice(g.flat(x), 0, static_cast<std::int64_t>(i) * width, width) : x;
    LOOM_ASSIGN(Edge y, v.child(i, own));
    const std::string role = "stitch" + std::to_string(i);
    if (v.node.find(role)) {
      LOOM_ASSIGN(y, v.linear(role, g.flat(y)));
    }
    list.push_back(std::move(y));
  }
  if (combine != "operands") return combined(v, x, combine, std::move(list));
  Edge all;
  all.parts = std::move(list);
  return all;
}

}  // namespace loom::onnx
