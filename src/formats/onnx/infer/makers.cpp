// Operators that look at shapes, make tensors or choose elements.
#include <algorithm>

#include "formats/onnx/infer/rule.h"

namespace loom::onnx {
namespace {

// The dimensions that Shape gives: start and end clamp to the rank.
Result<Dims> shape_values(const Call& call) {
  const std::int64_t rank = int_of(call.rank());
  LOOM_ASSIGN(std::int64_t start, call.node.get_int("start", 0));
  LOOM_ASSIGN(std::int64_t end, call.node.get_int("end", rank));
  start = std::clamp<std::int64_t>(start < 0 ? std::max(start, -rank) + rank : start, 0, rank);
  end = std::clamp<std::int64_t>(end < 0 ? std::max(end, -rank - 1) + rank : end, start,
                                 std::max(start, rank));
  return Dims(call.dims().begin() + start, call.dims().begin() + end);
}
Status shape(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_ASSIGN(const Dims values, shape_values(call));
  call.set(0, Type::i64, {int_of(values.size())});
  return {};
}
Result<bool> fold_shape(Call& call) {
  LOOM_ASSIGN(const Dims values, shape_values(call));
  Cells out;
  for (const std::int64_t d : values) out.push_back(Cell{.i = d});
  LOOM_TRY(keep(call, std::move(out)));
  return true;
}

Status size_of(Call& call) {
  LOOM_TRY(call.need(1));
  call.set(0, Type::i64, {});
  return {};
}
Result<bool> fold_size(Call& call) {
  LOOM_TRY(keep(call, {Cell{.i = product(call.dims())}}));
  return true;
}

Status constant_of_shape(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_ASSIGN(Dims dims, call.ints(0, "shape"));
  LOOM_ASSIGN(const Tensor* value, call.node.get_tensor("value"));
  if (value && value->elements() != 1)
    return wrong("value has ", value->elements(), " elements, expected 1");
  call.set(0, value ? value->type : Type::f32, std::move(dims));
  return {};
}
Result<bool> fold_constant_of_shape(Call& call) {
  LOOM_ASSIGN(const Tensor* value, call.node.get_tensor("value"));
  const Type type = call.out[0].type;
  Cell cell;
  if (value && is_float(type)) {
    LOOM_ASSIGN(const std::vector<double> reals, read_f64(*value));
    cell.r = reals.at(0);
  } else if (value) {
    LOOM_ASSIGN(const std::vector<std::int64_t> integers, read_i64(*value));
    cell.i = integers.at(0);
  }
  LOOM_TRY(keep(call, Cells(static_cast<std::size_t>(product(call.out[0].dims)), cell)));
  return true;
}

// ceil((limit - start) / delta) elements, none where that is negative.
Status range(Call& call) {
  LOOM_TRY(call.need(3));
  for (std::size_t i = 0; i < 3; ++i) {
    if (!call.cells[i] || call.cells[i]->size() != 1) {
      return not_supported("input ", i, " ", quoted(call.x(i).name),
                           " is no constant: the shape depends on data");
    }
  }
  for (std::size_t i = 1; i < 3; ++i) {
    if (call.x(i).type != call.x().type)
      return wrong("input ", i, " is ", name(call.x(i).type), ", the first is ",
                   name(call.x().type));
  }
  const Cell start = (*call.cells[0])[0], limit = (*call.cells[1])[0], delta = (*call.cells[2])[0];
  std::int64_t count = 0;
  if (is_float(call.x().type)) {
    const double steps = (limit.r - start.r) / delta.r;
    if (!(steps < static_cast<double>(kMaxDim)))
      return wrong("has more than ", kMaxDim, " elements");
    if (steps > 0) {
      count = static_cast<std::int64_t>(steps);
      if (static_cast<double>(count) < steps) ++count;
    }
  } else {
    constexpr std::int64_t kBound = std::int64_t{1} << 61;
    if (delta.i == 0) return wrong("delta is 0");
    if (std::max({start.i, limit.i, delta.i}) > kBound ||
        std::min({start.i, limit.i, delta.i}) < -kBound)
      return wrong("passes 2^61");
    const std::int64_t distance = delta.i > 0 ? limit.i - start.i : start.i - limit.i,
                       step = delta.i > 0 ? delta.i : -delta.i;
    count = distance <= 0 ? 0 : (distance + step - 1) / step;
  }
  call.set(0, call.x().type, {count});
  return {};
}
Result<bool> fold_range(Call& call) {
  const Cell start = (*call.cells[0])[0], delta = (*call.cells[2])[0];
  const Type type = call.x().type;
  Cells out(static_cast<std::size_t>(call.out[0].dims[0]));
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (is_float(type))
      out[i].r = round_to(type, start.r + round_to(type, static_cast<double>(i) * delta.r));
    else out[i].i = start.i + static_cast<std::int64_t>(i) * delta.i;
  }
  LOOM_TRY(keep(call, std::move(out)));
  return true;
}

Status one_hot(Call& call) {
  LOOM_TRY(call.need(3));
  if (!call.cells[1] || call.cells[1]->size() != 1)
    return not_supported("its depth depends on data");
  const Cell depth = (*call.cells[1])[0];
  const bool real = is_float(call.x(1).type);
  if (real ? !(depth.r >= 0 && depth.r <= static_cast<double>(kMaxDim)) : depth.i < 0)
    return wrong("its depth is negative or too large");
  LOOM_ASSIGN(const std::int64_t given, call.node.get_int("axis", -1));
  LOOM_ASSIGN(const std::size_t axis, axis_of(given, call.rank() + 1));
  Dims out = call.dims();
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis),
             real ? static_cast<std::int64_t>(depth.r) : depth.i);
  call.set(0, call.x(2).type, std::move(out));
  return {};
}

Status top_k(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_ASSIGN(const std::int64_t k_attribute, call.node.get_int("k", -1));
  LOOM_ASSIGN(const std::int64_t given, call.node.get_int("axis", -1));
  LOOM_ASSIGN(const std::size_t axis, axis_of(given, call.rank()));
  Dims k{k_attribute};
  if (call.has(1)) {
    LOOM_ASSIGN(k, call.ints(1, "k"));
  }
  if (k.size() != 1 || k[0] < 0 || k[0] > call.dims()[axis])
    return wrong("k is ", k, " of ", call.dims()[axis]);
  Dims out = call.dims();
  out[axis] = k[0];
  call.set(1, Type::i64, out);
  call.set(0, call.x().type, std::move(out));
  return {};
}

Status eye_like(Call& call) {
  LOOM_TRY(same_as_input(call));
  LOOM_ASSIGN(const std::int64_t type,
              call.node.get_int("dtype", static_cast<std::int64_t>(call.x().type)));
  if (type < 1 || type >= kTypeCount) return wrong("dtype is ", type);
  call.out[0].type = static_cast<Type>(type);
  return {};
}

// Ones on a diagonal, whatever the input holds.
Result<bool> fold_eye_like(Call& call) {
  LOOM_ASSIGN(const std::int64_t k, call.node.get_int("k", 0));
  const Dims& dims = call.out[0].dims;
  const Type type = call.out[0].type;
  if (dims.size() != 2) return wrong("shape ", dims, ", expected a matrix");
  Cell one, zero;
  if (is_float(type)) one.r = 1;
  else one.i = 1;
  if (is_float(type)) zero.r = 0;
  Cells out;
  for (std::int64_t r = 0; r < dims[0]; ++r)
    for (std::int64_t i = 0; i < dims[1]; ++i) out.push_back(i - r == k ? one : zero);
  LOOM_TRY(keep(call, std::move(out)));
  return true;
}

Status compress(Call& call) {
  LOOM_TRY(call.need(2));
  if (!call.cells[1]) return not_supported("its condition depends on data");
  const auto fits = [&](std::int64_t length) {
    return int_of(call.cells[1]->size()) <= length
               ? Status()
               : wrong("its condition of ", call.cells[1]->size(),
                       " is longer than what it chooses from, ", length);
  };
  const std::int64_t taken =
      std::count_if(call.cells[1]->begin(), call.cells[1]->end(), [](Cell c) { return c.i != 0; });
  if (!call.attribute("axis")) {
    call.set(0, call.x().type, {taken});
    return fits(product(call.dims()));
  }
  LOOM_ASSIGN(const std::int64_t given, call.node.get_int("axis", 0));
  LOOM_ASSIGN(const std::size_t axis, axis_of(given, call.rank()));
  LOOM_TRY(fits(call.dims()[axis]));
  Dims out = call.dims();
  out[axis] = taken;
  call.set(0, call.x().type, std::move(out));
  return {};
}

Status non_zero(Call& call) {
  LOOM_TRY(call.need(1));
  if (!call.cells[0])
    return not_supported("its shape depends on data, or on more of it than its file justifies");
  const bool real = is_float(call.x().type);
  const auto found = std::count_if(call.cells[0]->begin(), call.cells[0]->end(),
                                   [&](Cell c) { return real ? c.r != 0 : c.i != 0; });
  call.set(0, Type::i64, {int_of(std::max<std::size_t>(call.rank(), 1)), int_of(found)});
  return {};
}

// The coordinates of all that is not zero, a row for each dimension.
Result<bool> fold_non_zero(Call& call) {
  const bool real = is_float(call.x().type);
  const Dims dims = call.rank() > 0 ? call.dims() : Dims{1};
  const std::int64_t found = call.out[0].dims[1];
  Cells out(static_cast<std::size_t>(call.out[0].dims[0] * found));
  Dims at(dims.size(), 0);
  std::int64_t k = 0;
  for (const Cell& cell : *call.cells[0]) {
    if (real ? cell.r != 0 : cell.i != 0) {
      for (std::size_t d = 0; d < dims.size(); ++d)
        out[static_cast<std::size_t>(static_cast<std::int64_t>(d) * found + k)].i = at[d];
      ++k;
    }
    for (std::size_t d = dims.size(); d-- > 0;) {
      if (++at[d] < dims[d]) break;
      at[d] = 0;
    }
  }
  LOOM_TRY(keep(call, std::move(out)));
  return true;
}

constexpr RuleRow kRows[] = {
#define LOOM_SHAPE_makers(op, attributes, shape, fold, traits) \
  {op, shape, fold, attributes, traits},
#include "formats/onnx/operators.def"
};

}  // namespace

std::span<const RuleRow> makers_rules() { return kRows; }

}  // namespace loom::onnx
