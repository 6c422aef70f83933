// Operators that choose among values: ranks, rows by index, places that others overwrite.
#include <algorithm>

#include "onnx/rules/layers.h"

namespace loom::onnx {
namespace {

std::string_view type_name(Type t) { return name(t); }

// How many values come before each in order: those beyond it and its equals at lower places.
Status top_k(StepCall& c) {
  LOOM_ASSIGN(std::int64_t axis, c.node().get_int("axis", -1));
  LOOM_ASSIGN(const std::int64_t largest, c.node().get_int("largest", 1));
  if (c.value(0).type == Type::f64)
    return StepCall::refuse("of doubles, which run in f32, it is not mapped");
  const Dims dims = c.dims(), out = c.result(c.step.outputs[0] < 0 ? 1 : 0).dims;
  axis = axis_of(axis, dims);
  const auto a = static_cast<std::size_t>(axis);
  const std::int64_t n = dims[a], k = out[a], rows = elements(dims) / n;
  if (rows * n * n > kMaxListed)
    return StepCall::refuse("of " + std::to_string(n) +
                            " values it is not mapped: it compares all pairs");
  const Dims order = with_last(dims.size(), a), back = order_back(order),
             transposed = permuted(out, order);
  Ref x = c.graph.value(c.in());
  if (dims.size() > 1) x = c.graph.permute(x, order);
  const Ref own = GraphBuilder::reshape(x, {rows, n, 1}),
            other = GraphBuilder::reshape(x, {rows, 1, n});
  const Ref beyond = c.graph.binary(other, own, largest ? "greater" : "less");
  const Ref same = c.graph.binary(other, own, "equal");
  Ref lower = GraphBuilder::constant({n, n}, {}), wanted = GraphBuilder::constant({k, 1}, {});
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) lower.data.push_back(j < i ? 1.0f : 0.0f);
  for (std::int64_t i = 0; i < k; ++i) wanted.data.push_back(static_cast<float>(i));
  const Ref earlier = c.graph.binary(same, lower, "mul");
  const Ref before = c.graph.binary(beyond, earlier, "add");
  const Ref rank = GraphBuilder::reshape(c.graph.reduce(before, "sum", {2}, false), {rows, 1, n});
  const Ref hits = c.graph.binary(rank, wanted, "equal");  // [rows, k, n]
  const auto give = [&](Ref y, std::size_t i) {
    y = GraphBuilder::reshape(std::move(y), transposed);
    if (dims.size() > 1) y = c.graph.permute(y, back);
    if (i == 1) y.max = static_cast<double>(n);
    c.set(std::move(y), i);
  };
  if (c.wants(0))
    give(c.graph.reduce(c.graph.select(hits, other, GraphBuilder::number(0)), "sum", {2}, false),
         0);
  if (c.wants(1)) give(c.graph.reduce(hits, "argmax", {2}, false), 1);
  return {};
}

Status one_hot_values(StepCall& c) {
  LOOM_ASSIGN(std::int64_t axis, c.node().get_int("axis", -1));
  if (c.value(0).type == Type::f64)
    return StepCall::refuse("of doubles, which run in f32, it is not mapped");
  const Dims& out = c.result().dims;
  LOOM_TRY(c.lists(elements(out)));
  axis = axis_of(axis, out);
  if (elements(c.dims(2)) != 2)
    return Status(Code::invalid_argument,
                  "expects two values, off and on, got " + text_of(c.dims(2)));
  const Ref hits = one_hot(c, c.in(0), out[static_cast<std::size_t>(axis)], axis, true);
  const Ref values = c.graph.value(c.in(2));
  c.set(c.graph.select(hits, part_of(values, 1, {1}), part_of(values, 0, {1})));
  return {};
}

// What goes to a place of the data: `targets[j]` takes update j. Places without an update keep
// their value.
Status put(StepCall& c, const std::vector<std::int64_t>& targets, std::string_view how) {
  if (targets.empty()) {
    c.set(c.in(0));
    return {};
  }
  const std::int64_t count = elements(c.dims(0));
  LOOM_TRY(c.lists(count));
  const Ref data = c.graph.value(c.in(0)), updates = c.graph.value(c.in(2));
  const Ref all = c.graph.add(Json::object(), {data, updates}, {count + elements(updates.dims)});
  std::vector<std::int64_t> own(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<std::int64_t>(i);
  if (how == "none") {
    for (std::size_t j = 0; j < targets.size(); ++j)
      own[static_cast<std::size_t>(targets[j])] = count + static_cast<std::int64_t>(j);
    c.set(c.graph.index_select(all, own, data.dims));
    return {};
  }
  if (is_integer(c.value(0).type) && !c.final() && (how == "add" || how == "mul"))
    return StepCall::refuse("integers that are computed and used further are not mapped");
  // One round for the first update of every place, one for the second, ...; where there is none its
  // neutral element, for max and min the value itself.
  std::vector<std::vector<std::int64_t>> rounds;
  std::vector<std::size_t> seen(own.size(), 0);
  const bool ranks = how == "max" || how == "min";
  for (std::size_t j = 0; j < targets.size(); ++j) {
    const auto at = static_cast<std::size_t>(targets[j]);
    if (seen[at] == rounds.size()) {
      if (rounds.size() == 64)
        return StepCall::refuse("with more than 64 updates of a place it is not mapped");
      rounds.push_back(ranks ? own : std::vector<std::int64_t>(own.size(), -1));
    }
    rounds[seen[at]++][at] = count + static_cast<std::int64_t>(j);
  }
  Ref y = data;
  for (const auto& places : rounds) {
    y = c.graph.binary(y, c.graph.index_select(all, places, data.dims, how == "mul" ? 1 : 0), how);
  }
  c.set(std::move(y));
  return {};
}
Result<std::string> reduction_of(StepCall& c) {
  LOOM_ASSIGN(std::string how, c.node().get_string("reduction", "none"));
  for (const char* one : {"none", "add", "mul", "max", "min"})
    if (how == one) return how;
  return StepCall::refuse("reduction '" + how + "' is not mapped");
}
Status scatter_elements(StepCall& c) {
  LOOM_ASSIGN(const std::int64_t axis, c.node().get_int("axis", 0));
  LOOM_ASSIGN(const std::string how, reduction_of(c));
  LOOM_ASSIGN(const auto list, c.ints(1));
  const Dims &in = c.dims(), &shape = c.dims(1);
  if (shape.size() != in.size() || c.dims(2) != shape)
    return Status(Code::invalid_argument, "indices " + text_of(shape) + " do not go with data " +
                                              text_of(in) + " and updates " + text_of(c.dims(2)));
  const auto a = static_cast<std::size_t>(axis_of(axis, in));
  if (a >= in.size())
    return Status(Code::invalid_argument, "its axis is outside of " + text_of(in));
  const auto steps = steps_of(in), own = steps_of(shape);
  std::vector<std::int64_t> targets;
  for (std::size_t j = 0; j < list.size(); ++j) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < in.size(); ++d) {
      std::int64_t i = static_cast<std::int64_t>(j) / own[d] % shape[d];
      if (d == a) i = list[j] < 0 ? list[j] + in[d] : list[j];
      if (i < 0 || i >= in[d])
        return Status(Code::invalid_argument,
                      "an index is outside of a dimension of " + std::to_string(in[d]));
      place += i * steps[d];
    }
    targets.push_back(place);
  }
  return put(c, targets, how);
}
// Where rows of indices point: the first place of what is behind them.
Result<std::vector<std::int64_t>> points(const Dims& in, const std::vector<std::int64_t>& list,
                                         std::int64_t width, std::size_t first) {
  const auto steps = steps_of(in);
  std::vector<std::int64_t> places;
  for (std::size_t r = 0; r + static_cast<std::size_t>(width) <= list.size();
       r += static_cast<std::size_t>(width)) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(width); ++d) {
      const std::int64_t n = in[first + d], i = list[r + d] < 0 ? list[r + d] + n : list[r + d];
      if (i < 0 || i >= n)
        return Status(Code::invalid_argument,
                      "an index is outside of a dimension of " + std::to_string(n));
      place += i * steps[first + d];
    }
    places.push_back(place);
  }
  return places;
}
Status scatter_nd(StepCall& c) {
  LOOM_ASSIGN(const std::string how, reduction_of(c));
  LOOM_ASSIGN(const auto list, c.ints(1));
  const Dims &in = c.dims(), &shape = c.dims(1);
  if (shape.empty() || shape.back() < 1 || shape.back() > static_cast<std::int64_t>(in.size()))
    return Status(Code::invalid_argument,
                  "indices " + text_of(shape) + " reach beyond data " + text_of(in));
  LOOM_ASSIGN(const auto first, points(in, list, shape.back(), 0));
  const std::int64_t run = elements(Dims(in.begin() + shape.back(), in.end()));
  LOOM_TRY(c.lists(elements(c.dims(2))));
  if (elements(c.dims(2)) != run * static_cast<std::int64_t>(first.size()))
    return Status(Code::invalid_argument,
                  "updates " + text_of(c.dims(2)) + " do not go with indices " + text_of(shape));
  std::vector<std::int64_t> targets;
  for (const std::int64_t at : first)
    for (std::int64_t i = 0; i < run; ++i) targets.push_back(at + i);
  return put(c, targets, how);
}
Status gather_nd(StepCall& c) {
  LOOM_ASSIGN(const std::int64_t batch_dims, c.node().get_int("batch_dims", 0));
  const Dims &in = c.dims(), &shape = c.dims(1);
  const auto first_dim = static_cast<std::size_t>(batch_dims);
  if (!std::equal(in.begin(), in.begin() + batch_dims, shape.begin()))
    return Status(Code::invalid_argument, "the first dimensions of " + text_of(in) +
                                              " and of indices " + text_of(shape) + " differ");
  if (is_computed(c, 1)) return gather_nd_computed(c, first_dim);
  LOOM_ASSIGN(const auto list, c.ints(1));
  LOOM_TRY(c.lists(elements(c.result().dims)));
  LOOM_ASSIGN(const auto first, points(in, list, shape.back(), first_dim));
  const std::int64_t run = elements(Dims(in.begin() + batch_dims + shape.back(), in.end())),
                     batches = elements(Dims(in.begin(), in.begin() + batch_dims));
  const std::int64_t each = elements(in) / batches,
                     per_batch = static_cast<std::int64_t>(first.size()) / batches;
  std::vector<std::int64_t> places;
  for (std::size_t j = 0; j < first.size(); ++j)
    for (std::int64_t i = 0; i < run; ++i)
      places.push_back(static_cast<std::int64_t>(j) / per_batch * each + first[j] + i);
  c.set(c.graph.index_select(c.graph.value(c.in()), places, c.result().dims));
  return {};
}
Status compress(StepCall& c) {
  LOOM_ASSIGN(const auto taken, c.ints(1));
  LOOM_TRY(c.lists(elements(c.result().dims)));
  const Dims& in = c.dims();
  const bool along = c.node().find("axis") != nullptr;
  LOOM_ASSIGN(const std::int64_t axis, c.node().get_int("axis", 0));
  const auto a = static_cast<std::size_t>(axis_of(axis, in));
  const std::int64_t n = along ? in[a] : elements(in), inner = along ? steps_of(in)[a] : 1;
  if (static_cast<std::int64_t>(taken.size()) > n)
    return Status(Code::invalid_argument, "its condition is longer than what it chooses from");
  std::vector<std::int64_t> places;
  for (std::int64_t o = 0; o < elements(in) / (n * inner); ++o)
    for (std::size_t i = 0; i < taken.size(); ++i)
      for (std::int64_t k = 0; taken[i] && k < inner; ++k)
        places.push_back((o * n + static_cast<std::int64_t>(i)) * inner + k);
  c.set(c.graph.index_select(c.graph.value(c.in()), places, c.result().dims));
  return {};
}
// The first values of each sequence in the other direction.
Status reverse_sequence(StepCall& c) {
  LOOM_ASSIGN(const std::int64_t time, c.node().get_int("time_axis", 0));
  LOOM_ASSIGN(const std::int64_t batch, c.node().get_int("batch_axis", 1));
  LOOM_ASSIGN(const auto lengths, c.ints(1));
  const Dims& in = c.dims();
  const auto t = static_cast<std::size_t>(axis_of(time, in)),
             b = static_cast<std::size_t>(axis_of(batch, in));
  if (t >= in.size() || b >= in.size() || t == b ||
      static_cast<std::int64_t>(lengths.size()) != in[b])
    return Status(Code::invalid_argument,
                  "time_axis, batch_axis and lengths do not go with " + text_of(in));
  LOOM_TRY(c.lists(elements(in)));
  const auto steps = steps_of(in);
  std::vector<std::int64_t> places;
  for (std::int64_t j = 0; j < elements(in); ++j) {
    const std::int64_t at = j / steps[t] % in[t],
                       length = lengths[static_cast<std::size_t>(j / steps[b] % in[b])];
    places.push_back(at < length && length <= in[t] ? j + (length - 1 - 2 * at) * steps[t] : j);
  }
  c.set(c.graph.index_select(c.graph.value(c.in()), places, in));
  return {};
}
// A cache whose rows from an index on are replaced, sequence by sequence.
Status tensor_scatter(StepCall& c) {
  LOOM_ASSIGN(const std::string mode, c.node().get_string("mode", "linear"));
  LOOM_ASSIGN(const std::int64_t axis, c.node().get_int("axis", -2));
  const Dims &in = c.dims(), &more = c.dims(1);
  const auto a = static_cast<std::size_t>(axis_of(axis, in));
  if (a == 0 || a >= in.size() || more.size() != in.size())
    return Status(Code::invalid_argument, "axis " + std::to_string(axis) + " of " + text_of(in));
  LOOM_TRY(c.lists(elements(in)));
  LOOM_TRY(c.lists(elements(more)));
  if (elements(more) == 0) {
    c.set(c.in(0));
    return {};
  }
  std::vector<std::int64_t> begin(static_cast<std::size_t>(in[0]), 0);
  if (c.has(2)) {
    LOOM_ASSIGN(begin, c.ints(2));
  }
  for (const std::int64_t i : begin)
    if (i < 0 || i > INT32_MAX)
      return Status(Code::invalid_argument, "an update lies outside of the cache " + text_of(in));
  if (static_cast<std::int64_t>(begin.size()) != in[0] || (mode != "linear" && mode != "circular"))
    return StepCall::refuse("with mode '" + mode + "' and these indices it is not mapped");
  const auto steps = steps_of(in), own = steps_of(more);
  std::vector<std::int64_t> places(static_cast<std::size_t>(elements(in)));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i);
  for (std::int64_t j = 0; j < elements(more); ++j) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < in.size(); ++d) {
      std::int64_t i = j / own[d] % more[d];
      if (d == a) {
        i += begin[static_cast<std::size_t>(j / own[0])];
        if (mode == "circular") i %= in[d];
      }
      if (i < 0 || i >= in[d])
        return Status(Code::invalid_argument, "an update lies outside of the cache " + text_of(in));
      place += i * steps[d];
    }
    places[static_cast<std::size_t>(place)] = elements(in) + j;
  }
  const Ref all = c.graph.add(Json::object(), {c.graph.value(c.in(0)), c.graph.value(c.in(1))},
                              {elements(in) + elements(more)});
  c.set(c.graph.index_select(all, places, in));
  return {};
}
// One value everywhere, too many to fold.
Status constant_of_shape(StepCall& c) {
  LOOM_ASSIGN(const Tensor* value, c.node().get_tensor("value"));
  double one = 0;
  if (value) {
    LOOM_ASSIGN(const std::vector<double> list, read_f64(*value));
    one = list.empty() ? 0 : list[0];
  }
  if (static_cast<double>(static_cast<float>(one)) != one && is_integer(c.result().type))
    return StepCall::refuse("its value is beyond 2^24");
  LOOM_TRY(c.graph.makes(elements(c.result().dims)));
  c.set(GraphBuilder::constant(
      {}, std::vector<float>(static_cast<std::size_t>(elements(c.result().dims)),
                             static_cast<float>(one))));
  return {};
}
// Operators on integers that only constants have exactly: known before the run they are folded.
Status known_integers(StepCall& c) {
  for (std::size_t i = 0; i < c.inputs(); ++i)
    if (c.has(i)) LOOM_TRY(c.need_constant(i));
  return StepCall::refuse("on these values of " + std::string(type_name(c.value(0).type)) +
                          " it is not mapped");
}

}  // namespace

std::span<const Operator> choice_mappings() {
  static constexpr Operator kRows[] = {
#define LOOM_MAP_choice(op, map, cell, traits) {op, map, cell, traits},
#include "formats/onnx/operators.def"
  };
  return kRows;
}

}  // namespace loom::onnx
