// Operators that move values: what they do is a list of places, worked out here once.
#include <algorithm>
#include <numeric>

#include "onnx/rules/layers.h"

namespace loom::onnx {
namespace {

// f(coordinates of the result) -> place, for every value of the result.
Status place_each(StepCall& c, const Ref& x, OfPlace f, double fill = 0) {
  const Dims& out = c.result().dims;
  const std::int64_t count = elements(out);
  LOOM_TRY(c.lists(count));
  const std::vector<std::int64_t> places = for_each_place(out, f);
  const bool finite = fill - fill == 0;
  Ref y = c.graph.index_select(c.graph.value(x), places, out, finite ? fill : 0);
  if (!finite) {  // settings are finite
    LOOM_TRY(c.graph.makes(count));
    Ref empty = GraphBuilder::constant(out, {});
    for (const std::int64_t p : places) empty.data.push_back(p < 0);
    y = c.graph.select(empty, GraphBuilder::number(fill), y);
  }
  c.set(std::move(y));
  return {};
}

Status same(StepCall& c) {
  c.set(c.in());
  return {};
}
Status dropout(StepCall& c) {
  if (c.wants(0)) c.set(c.in());
  if (c.wants(1)) LOOM_TRY(c.graph.makes(elements(c.result(1).dims)));
  if (c.wants(1))
    c.set(GraphBuilder::constant(
              {}, std::vector<float>(static_cast<std::size_t>(elements(c.result(1).dims)), 1.0f)),
          1);  // all were kept
  return {};
}
Status transpose(StepCall& c) {
  const auto rank = static_cast<std::int64_t>(c.dims().size());
  Dims order;
  for (std::int64_t d = rank; d-- > 0;) order.push_back(d);
  LOOM_ASSIGN(order, c.node().get_ints("perm", order));
  for (std::int64_t& d : order) d = axis_of(d, c.dims());
  if (rank < 2) return same(c);
  c.set(c.graph.permute(c.graph.value(c.in()), order));
  return {};
}
Status concat(StepCall& c) {
  LOOM_ASSIGN(const std::int64_t axis, c.node().get_int("axis", 1));
  std::vector<Ref> in;
  for (std::size_t i = 0; i < c.inputs(); ++i) in.push_back(c.in(i));
  c.set(c.graph.concat(in, axis_of(axis, c.result().dims)));
  return {};
}
Status split(StepCall& c) {
  LOOM_ASSIGN(std::int64_t axis, c.node().get_int("axis", 0));
  const Dims& in = c.dims();
  axis = axis_of(axis, in);
  LOOM_TRY(c.lists(elements(in)));
  const auto steps = steps_of(in);
  const Ref x = c.graph.value(c.in());
  std::int64_t begin = 0;
  for (std::size_t k = 0; k < c.step.outputs.size(); ++k) {
    if (c.step.outputs[k] < 0) return StepCall::refuse("a part without a name is not mapped");
    const Dims& out = c.result(k).dims;
    std::vector<std::int64_t> places;
    const std::int64_t n = out[static_cast<std::size_t>(axis)],
                       inner = steps[static_cast<std::size_t>(axis)],
                       outer = n > 0 ? elements(out) / (n * inner) : 0;
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i = 0; i < n * inner; ++i)
        places.push_back(o * in[static_cast<std::size_t>(axis)] * inner + begin * inner + i);
    if (c.wants(k)) c.set(elements(out) > 0 ? c.graph.index_select(x, places, out) : Ref{}, k);
    begin += n;
  }
  return {};
}
Status slice(StepCall& c) {
  const Dims& in = c.dims();
  LOOM_ASSIGN(const Dims starts, c.ints_or(1, "starts"));
  Dims axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  LOOM_ASSIGN(axes, c.ints_or(3, "axes", axes));
  LOOM_ASSIGN(const Dims strides, c.ints_or(4, "steps", Dims(starts.size(), 1)));
  Dims begin(in.size(), 0), step(in.size(), 1);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto d = static_cast<std::size_t>(axis_of(axes[i], in));
    step[d] = strides[i];
    const std::int64_t n = in[d], s = starts[i] < 0 ? starts[i] + n : starts[i];
    begin[d] = std::clamp<std::int64_t>(s, 0, step[d] > 0 ? n : n - 1);
  }
  const auto steps = steps_of(in);
  return place_each(c, c.in(), [&](const Dims& at) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < at.size(); ++d) place += (begin[d] + at[d] * step[d]) * steps[d];
    return place;
  });
}
Status expand(StepCall& c) {  // Expand and Tile: what is there again and again
  const Dims& in = c.dims();
  const auto steps = steps_of(in);
  const std::size_t more = c.result().dims.size() - in.size();
  return place_each(c, c.in(), [&](const Dims& at) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < in.size(); ++d) place += at[more + d] % in[d] * steps[d];
    return place;
  });
}
Status pad(StepCall& c) {
  LOOM_ASSIGN(const std::string mode, c.node().get_string("mode", "constant"));
  const Dims& in = c.dims();
  Dims pads, axes(in.size());
  std::iota(axes.begin(), axes.end(), 0);
  double fill = 0;
  if (c.has(1)) {
    LOOM_ASSIGN(pads, c.ints(1));
    if (c.has(2)) {
      LOOM_ASSIGN(const std::vector<float> value, c.floats(2));
      if (!value.empty()) fill = value[0];
    }
  } else {
    LOOM_ASSIGN(pads, c.node().get_ints(c.step.opset >= 2 ? "pads" : "paddings", {}));
    LOOM_ASSIGN(fill, c.node().get_float("value", 0));
  }
  if (c.has(3)) {
    LOOM_ASSIGN(axes, c.ints(3));
  }
  Dims begin(in.size(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i)
    begin[static_cast<std::size_t>(axis_of(axes[i], in))] = pads[i];
  const auto steps = steps_of(in);
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
    return StepCall::refuse("mode '" + mode + "' is not mapped");
  return place_each(
      c, c.in(),
      [&](const Dims& at) {
        std::int64_t place = 0;
        for (std::size_t d = 0; d < at.size(); ++d) {
          const std::int64_t n = in[d];
          std::int64_t i = at[d] - begin[d];
          if (i < 0 || i >= n) {
            if (mode == "constant") return std::int64_t{-1};
            if (mode == "edge") i = std::clamp<std::int64_t>(i, 0, n - 1);
            else if (mode == "wrap") i = (i % n + n) % n;
            else if (n == 1) i = 0;
            else {
              const std::int64_t period = 2 * (n - 1);
              i = (i % period + period) % period;
              if (i >= n) i = period - i;
            }
          }
          place += i * steps[d];
        }
        return place;
      },
      fill);
}
Status center_crop_pad(StepCall& c) {
  const Dims &in = c.dims(), &out = c.result().dims, steps = steps_of(in);
  Dims begin(in.size());
  for (std::size_t d = 0; d < in.size(); ++d)
    begin[d] = out[d] < in[d] ? (in[d] - out[d]) / 2 : -((out[d] - in[d]) / 2);
  return place_each(c, c.in(), [&](const Dims& at) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const std::int64_t i = at[d] + begin[d];
      if (i < 0 || i >= in[d]) return std::int64_t{-1};
      place += i * steps[d];
    }
    return place;
  });
}
Result<std::vector<std::int64_t>> indices(StepCall& c, std::int64_t limit) {
  LOOM_ASSIGN(std::vector<std::int64_t> list, c.ints(1));
  for (std::int64_t& i : list) {
    if (i < 0) i += limit;
    if (i < 0 || i >= limit)
      return Status(Code::invalid_argument,
                    "an index is outside of a dimension of " + std::to_string(limit));
  }
  return list;
}
Status gather(StepCall& c) {
  LOOM_ASSIGN(std::int64_t axis, c.node().get_int("axis", 0));
  const Dims& in = c.dims();
  axis = axis_of(axis, in);
  const auto a = static_cast<std::size_t>(axis);
  // A table of embeddings, by ids that a run brings.
  if (a == 0 && in.size() >= 2 && c.value(0).constant() && !c.value(1).constant()) {
    LOOM_ASSIGN(const std::vector<float> table, c.floats(0));
    LOOM_ASSIGN(Ref rows,
                rows_by_id(c, c.in(1), table, in[0], elements(in) / in[0], c.result().dims));
    c.set(std::move(rows));
    return {};
  }
  if (is_computed(c, 1)) return gather_computed(c, a);
  LOOM_ASSIGN(const auto list, indices(c, in[a]));
  const auto steps = steps_of(in);
  const Dims& shape = c.dims(1);
  return place_each(c, c.in(), [&](const Dims& at) {
    std::int64_t place = 0, which = 0;
    for (std::size_t d = 0; d < a; ++d) place += at[d] * steps[d];
    for (std::size_t d = 0; d < shape.size(); ++d) which = which * shape[d] + at[a + d];
    place += list[static_cast<std::size_t>(which)] * steps[a];
    for (std::size_t d = a + 1; d < in.size(); ++d) place += at[d - 1 + shape.size()] * steps[d];
    return place;
  });
}
Status gather_elements(StepCall& c) {
  LOOM_ASSIGN(std::int64_t axis, c.node().get_int("axis", 0));
  const Dims& in = c.dims();
  const auto a = static_cast<std::size_t>(axis_of(axis, in));
  if (is_computed(c, 1)) return gather_elements_computed(c, a);
  LOOM_ASSIGN(const auto list, indices(c, in[a]));
  const auto steps = steps_of(in);
  std::size_t next = 0;
  return place_each(c, c.in(), [&](const Dims& at) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < at.size(); ++d) place += (d == a ? list[next] : at[d]) * steps[d];
    ++next;
    return place;
  });
}
Status trilu(StepCall& c) {
  LOOM_ASSIGN(const std::int64_t upper, c.node().get_int("upper", 1));
  std::int64_t k = 0;
  if (c.has(1)) {
    LOOM_ASSIGN(const auto list, c.ints(1));
    if (!list.empty()) k = list[0];
  }
  const auto steps = steps_of(c.dims());
  return place_each(c, c.in(), [&](const Dims& at) {
    const std::int64_t gap = at[at.size() - 1] - at[at.size() - 2];
    if (upper ? gap < k : gap > k) return std::int64_t{-1};
    std::int64_t place = 0;
    for (std::size_t d = 0; d < at.size(); ++d) place += at[d] * steps[d];
    return place;
  });
}
Status depth_space(StepCall& c) {
  LOOM_ASSIGN(const std::int64_t b, c.node().get_int("blocksize", 1));
  LOOM_ASSIGN(const std::string mode, c.node().get_string("mode", "DCR"));
  if (mode != "DCR" && mode != "CRD")
    return Status(Code::invalid_argument, "mode '" + mode + "', expected DCR or CRD");
  const Dims &in = c.dims(), steps = steps_of(in);
  if (c.node().op == "SpaceToDepth")
    return place_each(c, c.in(), [&](const Dims& at) {
      const std::int64_t area = b * b, block = mode == "CRD" ? at[1] % area : at[1] / in[1],
                         channel = mode == "CRD" ? at[1] / area : at[1] % in[1];
      return at[0] * steps[0] + channel * steps[1] + (at[2] * b + block / b) * steps[2] +
             at[3] * b + block % b;
    });
  const std::int64_t channels = in[1] / (b * b);
  return place_each(c, c.in(), [&](const Dims& at) {
    const std::int64_t block = at[2] % b * b + at[3] % b,
                       from = mode == "CRD" ? at[1] * b * b + block : block * channels + at[1];
    return at[0] * steps[0] + from * steps[1] + at[2] / b * steps[2] + at[3] / b;
  });
}

}  // namespace

std::vector<std::int64_t> for_each_place(const Dims& dims, OfPlace f) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(elements(dims)));
  Dims at(dims.size(), 0);
  for (std::int64_t& value : list) {
    value = f(at);
    for (std::size_t d = dims.size(); d-- > 0;) {
      if (++at[d] < dims[d]) break;
      at[d] = 0;
    }
  }
  return list;
}

std::span<const Operator> places_mappings() {
  static constexpr Operator kRows[] = {
#define LOOM_MAP_places(op, map, cell, traits) {op, map, cell, traits},
#include "formats/onnx/operators.def"
  };
  return kRows;
}

}  // namespace loom::onnx
