// Values at places that a run computes: each place is compared with all numbers that it may be.
#include <algorithm>
#include <numeric>

#include "onnx/rules/layers.h"

namespace loom::onnx {
namespace {

constexpr std::int64_t kMaxPairs = std::int64_t{1} << 24;

// x [batch, n, inner] at places [batch or 1, count]: [batch, count, inner], NaN for places that are
// none. Values elsewhere do not matter, infinite ones neither.
Result<Ref> picked(StepCall& c, const Ref& x, const Ref& at, bool wraps) {
  const std::int64_t batch = x.dims[0], n = x.dims[1], inner = x.dims[2], places = at.dims[0],
                     count = at.dims[1];
  if (elements(x.dims) > kMaxPairs / count)
    return StepCall::refuse("takes " + std::to_string(count) + " computed places of " +
                            text_of(x.dims) + ", more than 2^24 pairs");
  GraphBuilder& g = c.graph;
  const Ref hits = one_hot(c, at, n, 2, wraps);
  const Ref taken =
      g.select(GraphBuilder::reshape(hits, {places, count, n, 1}),
               GraphBuilder::reshape(g.value(x), {batch, 1, n, inner}), GraphBuilder::number(0));
  return g.binary(g.reduce(taken, "sum", {2}, false), poison(c, hits, 2, true), "add");
}

std::int64_t product(const Dims& dims, std::size_t from, std::size_t to) {
  return elements(Dims(dims.begin() + static_cast<std::ptrdiff_t>(from),
                       dims.begin() + static_cast<std::ptrdiff_t>(to)));
}

}  // namespace

bool is_computed(const StepCall& c, std::size_t i) {
  const auto& inputs = c.plan.inputs;
  return !c.value(i).constant() &&
         std::find(inputs.begin(), inputs.end(), c.step.inputs[i]) == inputs.end();
}

Status gather_computed(StepCall& c, std::size_t axis) {
  const Dims& in = c.dims();
  const Ref x = GraphBuilder::reshape(
      c.graph.value(c.in()), {product(in, 0, axis), in[axis], product(in, axis + 1, in.size())});
  LOOM_ASSIGN(
      const Ref y,
      picked(c, x, GraphBuilder::reshape(c.graph.value(c.in(1)), {1, elements(c.dims(1))}), true));
  c.set(GraphBuilder::reshape(y, c.result().dims));
  return {};
}

Status gather_elements_computed(StepCall& c, std::size_t axis) {
  const Dims &in = c.dims(), &shape = c.dims(1), steps = steps_of(in);
  // What lies beyond the indices in other dimensions is not taken.
  Dims cut = shape;
  cut[axis] = in[axis];
  LOOM_TRY(c.lists(elements(cut)));
  const std::vector<std::int64_t> places = for_each_place(cut, [&](const Dims& at) {
    return std::inner_product(at.begin(), at.end(), steps.begin(), std::int64_t{0});
  });
  const Dims order = with_last(in.size(), axis);
  const std::int64_t rows = elements(shape) / shape[axis];
  const Ref x = GraphBuilder::reshape(
      c.graph.permute(c.graph.index_select(c.graph.value(c.in()), places, cut), order),
      {rows, in[axis], 1});
  LOOM_ASSIGN(const Ref y,
              picked(c, x,
                     GraphBuilder::reshape(c.graph.permute(c.graph.value(c.in(1)), order),
                                           {rows, shape[axis]}),
                     true));
  c.set(c.graph.permute(GraphBuilder::reshape(y, permuted(shape, order)), order_back(order)));
  return {};
}

Status gather_nd_computed(StepCall& c, std::size_t batch_dims) {
  const Dims &in = c.dims(), &shape = c.dims(1);
  const auto last = static_cast<std::size_t>(shape.back());
  GraphBuilder& g = c.graph;
  Dims order{static_cast<std::int64_t>(shape.size()) - 1}, lead(shape.begin(), shape.end() - 1);
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) order.push_back(static_cast<std::int64_t>(d));
  const Ref tuples = g.permute(g.value(c.in(1)), order);
  // One number for each tuple; one that is out of its dimension makes it no place.
  Ref place;
  for (std::size_t j = 0; j < last; ++j) {
    const Ref length = GraphBuilder::number(static_cast<double>(in[batch_dims + j])),
              zero = GraphBuilder::number(0);
    Ref i = part_of(tuples, static_cast<std::int64_t>(j), lead);
    i = g.select(g.binary(i, zero, "less"), g.binary(i, length, "add"), i);
    const Ref outside =
        g.binary(g.binary(i, zero, "less"), g.binary(i, length, "greater_equal"), "or");
    i = g.select(outside, GraphBuilder::number(-static_cast<double>(kMaxPairs)), i);
    place = j == 0 ? i : g.binary(g.binary(place, length, "mul"), i, "add");
  }
  const std::int64_t batches = product(in, 0, batch_dims);
  const Ref x =
      GraphBuilder::reshape(g.value(c.in()), {batches, product(in, batch_dims, batch_dims + last),
                                              product(in, batch_dims + last, in.size())});
  LOOM_ASSIGN(
      const Ref y,
      picked(c, x, GraphBuilder::reshape(place, {batches, elements(lead) / batches}), false));
  c.set(GraphBuilder::reshape(y, c.result().dims));
  return {};
}

}  // namespace loom::onnx
