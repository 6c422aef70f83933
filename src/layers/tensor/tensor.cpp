#include "layers/tensor/tensor.h"

#include <algorithm>

#include "base/message.h"

namespace loom {
namespace {

Status bad(std::string what) { return Status(Code::invalid_argument, std::move(what)); }

}  // namespace

std::int64_t elements(const Dims& dims) {
  std::int64_t n = 1;
  for (const std::int64_t d : dims) n *= d;
  return n;
}
std::string text_of(const Dims& dims) {
  std::string text = "[";
  for (const std::int64_t d : dims) text += (text.size() > 1 ? ", " : "") + std::to_string(d);
  return text + "]";
}

Status check_size(std::string_view key, const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t d : dims) {
    if (dims.size() > 16 || d > INT32_MAX / count)
      return bad(message("\"", key, "\": a shape has at most 16 dimensions and 2^31-1 values"));
    count *= d;
  }
  return {};
}
Status check_operands(const OperandShapes& set, const Shape& in) {
  if (in.parts.empty() || set.list.empty()) return {};
  return bad(message("\"shapes\" are of operands in one row, and ", in.to_string(),
                     " arrive, which have their own"));
}
Status check_shapes(const OperandShapes& shapes, std::size_t operands, const Shape& in) {
  LOOM_TRY(expect_values(in));
  for (const Shape& part : in.parts) LOOM_TRY(expect_values(part));
  if (shapes.list.size() != operands)
    return bad(message("\"shapes\": expected ", operands, " of them, got ", shapes.list.size()));
  std::int64_t width = 0;
  for (const Dims& d : shapes.list) {
    LOOM_TRY(check_size("shapes", d));
    width += elements(d);
  }
  if (width != in.width)
    return bad(message("\"shapes\" hold ", width, " values together, ", in.to_string(), " arrive"));
  return {};
}
Result<Shape> shape_of(const Dims& dims) {
  if (!dims.empty() && dims.size() <= 4) return Shape::of(dims);
  return Shape{elements(dims)};
}

Result<Shape> shape_of(const Dims& dims, const std::vector<Shape>& operands) {
  LOOM_ASSIGN(Shape shape, shape_of(dims));
  for (const Shape& operand : operands)
    if (operand.axis == Axis::positions && operand.width == shape.width)
      return Shape{.width = shape.width, .axis = operand.axis};
  for (const Shape& operand : operands)
    if (shape.axis == Axis::none && operand.dims == shape.dims) shape.axis = operand.axis;
  return shape;
}

Result<Dims> broadcast(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1,
                       y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      return bad(
          message("shapes ", text_of(a), " and ", text_of(b), " do not spread to one another"));
    out[out.size() - 1 - i] = std::max(x, y);
  }
  return out;
}

Result<Spread> spread(const Dims& to, const std::vector<Dims>& operands) {
  // Dimensions from the last on: a size and a step per operand.
  struct Axis {
    std::int64_t size;
    std::vector<std::int64_t> steps;
  };
  std::vector<Axis> axes;
  std::vector<std::int64_t> step(operands.size(), 1);
  for (std::size_t i = 0; i < to.size(); ++i) {
    Axis axis{to[to.size() - 1 - i], {}};
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const Dims& o = operands[k];
      const std::int64_t size = i < o.size() ? o[o.size() - 1 - i] : 1;
      axis.steps.push_back(size == 1 ? 0 : step[k]);
      step[k] *= size;
    }
    if (axis.size == 1) continue;
    const bool joins = !axes.empty() && [&] {
      for (std::size_t k = 0; k < operands.size(); ++k)
        if (axis.steps[k] != axes.back().steps[k] * axes.back().size) return false;
      return true;
    }();
    if (joins) axes.back().size *= axis.size;
    else axes.push_back(std::move(axis));
  }
  if (axes.size() > 5)
    return Status(Code::unsupported, message("broadcasting to ", text_of(to), " takes ",
                                             axes.size(), " loops, the limit is 5"));
  Spread s;
  s.steps.assign(operands.size(), {});
  for (std::size_t i = 0; i < axes.size(); ++i) {
    s.sizes[4 - i] = axes[i].size;
    for (std::size_t k = 0; k < operands.size(); ++k) s.steps[k][4 - i] = axes[i].steps[k];
  }
  return s;
}

Result<Transposed> transposed(const Dims& dims, const std::vector<std::size_t>& order) {
  // Runs of dimensions that stay in a row count as one; those of size 1 as none.
  std::vector<std::size_t> moved;
  for (const std::size_t d : order)
    if (dims[d] != 1) moved.push_back(d);
  std::vector<std::size_t> remaining;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != 1) remaining.push_back(d);
  std::vector<std::pair<std::size_t, std::size_t>> runs;  // positions in `remaining`: begin, end
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const auto at = static_cast<std::size_t>(
        std::find(remaining.begin(), remaining.end(), moved[i]) - remaining.begin());
    if (!runs.empty() && runs.back().second == at) ++runs.back().second;
    else runs.push_back({at, at + 1});
  }
  Transposed t;
  if (runs.size() <= 1) {
    t.sizes[4] = elements(dims);
    return t;
  }
  if (runs.size() > 5)
    return Status(Code::unsupported, message("this order of ", text_of(dims), " takes ",
                                             runs.size(), " loops, the limit is 5"));
  t.same = false;
  auto sorted = runs;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t first = 5 - runs.size();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    t.sizes[first + i] = 1;
    for (std::size_t k = sorted[i].first; k < sorted[i].second; ++k)
      t.sizes[first + i] *= dims[remaining[k]];
    t.order[first + i] = static_cast<int>(
        first + static_cast<std::size_t>(std::find(sorted.begin(), sorted.end(), runs[i]) -
                                         sorted.begin()));
  }
  return t;
}

Result<View> sum_spread(ProgramBuilder& emit, View g, const Dims& from, const Dims& to) {
  std::vector<std::size_t> stays, goes;
  std::int64_t n = 1;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t back = from.size() - i;  // counted from the end
    const bool spread = from[i] != 1 && (back > to.size() || to[to.size() - back] == 1);
    (spread ? goes : stays).push_back(i);
    if (spread) n *= from[i];
  }
  if (n == 1) return g;
  stays.insert(stays.end(), goes.begin(), goes.end());
  LOOM_ASSIGN(const Transposed t, transposed(from, stays));
  if (!t.same) g = emit.transpose(g, t.sizes, t.order, g.cols);
  return emit.reduce(g, Reduce::sum, n);
}

}  // namespace loom
