// Losses against class indices.
#include "onnx/graph.h"

namespace loom::onnx {
namespace {

// log probabilities [batch, classes, ...] and the result of "reduction". An index that is no class
// gives NaN, unless it is the one to ignore.
Status likelihood(StepCall& c, const Ref& x) {
  LOOM_ASSIGN(const std::string reduction, c.node().get_string("reduction", "mean"));
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    return StepCall::refuse("reduction '" + reduction + "' is not mapped");
  const std::int64_t classes = x.dims[1];
  LOOM_TRY(c.graph.makes(classes));
  const Ref target = c.graph.value(c.in(1));
  const Ref hits = one_hot(c, target, classes, 1, false);
  Ref loss = c.graph.binary(
      GraphBuilder::number(0),
      c.graph.reduce(c.graph.select(hits, x, GraphBuilder::number(0)), "sum", {1}, false), "sub");
  // The weight of each target; none where all count alike.
  Ref weight, taken;
  bool weighted = c.has(2), ignores = false;
  if (weighted) {
    Dims along(x.dims.size(), 1);
    along[1] = classes;
    const Ref chosen =
        c.graph.binary(hits, GraphBuilder::reshape(c.graph.value(c.in(2)), along), "mul");
    weight = c.graph.reduce(chosen, "sum", {1}, false);
  }
  Ref named = c.graph.reduce(hits, "max", {1}, false);
  if (const Attribute* a = c.node().find("ignore_index")) {
    ignores = true;
    const Ref ignored =
        c.graph.binary(target, GraphBuilder::number(static_cast<double>(a->i)), "equal");
    taken = c.graph.unary(ignored, "not");
    loss = c.graph.select(ignored, GraphBuilder::number(0), loss);
    if (weighted) {
      weight = c.graph.binary(weight, taken, "mul");
    } else {
      weight = taken;
    }
    named = c.graph.binary(named, ignored, "max");
  }
  const Ref wrong = c.graph.binary(GraphBuilder::number(0), named, "div");
  loss = c.graph.binary(loss, wrong, "add");
  if (weighted) loss = c.graph.binary(loss, weight, "mul");
  if (reduction == "none") {
    c.set(std::move(loss));
    return {};
  }
  const Ref sum = c.graph.reduce(loss, "sum", {}, true);
  if (reduction == "sum") {
    c.set(sum);
    return {};
  }
  const Ref count = weighted || ignores
                        ? c.graph.reduce(weight, "sum", {}, true)
                        : GraphBuilder::number(static_cast<double>(elements(target.dims)));
  Ref y = c.graph.binary(GraphBuilder::reshape(sum, {1}), GraphBuilder::reshape(count, {1}), "div");
  c.set(std::move(y));
  return {};
}

Status check(StepCall& c) {
  const Dims &x = c.dims(0), &target = c.dims(1);
  bool fits = x.size() >= 2 && target.size() + 1 == x.size() && x[0] == target[0] &&
              (!c.has(2) || c.dims(2) == Dims{x[1]});
  for (std::size_t d = 1; fits && d < target.size(); ++d) fits = target[d] == x[d + 1];
  if (!fits)
    return Status(Code::invalid_argument,
                  "scores " + text_of(x) + " do not go with targets " + text_of(target));
  return {};
}
Status negative_log_likelihood(StepCall& c) {
  LOOM_TRY(check(c));
  return likelihood(c, c.graph.value(c.in(0)));
}
Status softmax_cross_entropy(StepCall& c) {
  LOOM_TRY(check(c));
  const Ref x = c.graph.value(c.in(0));
  const Ref shifted = c.graph.binary(x, c.graph.reduce(x, "max", {1}, true), "sub");
  const Ref logs =
      c.graph.binary(shifted, c.graph.reduce(shifted, "log_sum_exp", {1}, true), "sub");
  if (c.wants(1)) c.set(logs, 1);
  return c.wants(0) ? likelihood(c, logs) : Status();
}

}  // namespace

std::span<const Operator> losses_mappings() {
  static constexpr Operator kRows[] = {
#define LOOM_MAP_losses(op, map, cell, traits) {op, map, cell, traits},
#include "formats/onnx/operators.def"
  };
  return kRows;
}

}  // namespace loom::onnx
