// What the layers of whole graphs share: shapes of several operands that arrive side by side in one
// row, and NumPy's broadcasting.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "layers/layer.h"

namespace loom {

using Dims = std::vector<std::int64_t>;

std::int64_t elements(const Dims& dims);
std::string text_of(const Dims& dims);
// Operands arrive one after another: their shapes as a setting, {"shapes": [[2,3],[3]]}; a scalar
// is [].
struct OperandShapes {
  std::vector<Dims> list;
};
// That a shape holds at most 2^31-1 values; `key` is the setting that an error names.
Status check_size(std::string_view key, const Dims& dims);
// A configuration with the shapes of the operands that arrive, where it has none of its own.
template <class Config>
Config with_shapes(Config config, const Shape& in) {
  if (config.shapes.list.empty())
    for (const Shape& part : in.parts)
      config.shapes.list.push_back(part.dims.empty() ? Dims{part.width} : part.dims);
  return config;
}
// That operands which arrive say their shapes alone.
Status check_operands(const OperandShapes& set, const Shape& in);
// Their number, and that they fill the row.
Status check_shapes(const OperandShapes& shapes, std::size_t operands, const Shape& in);
// A Shape of these dimensions; of more than four, or none, its width alone.
Result<Shape> shape_of(const Dims& dims);
// The same; its first dimension counts what that of an operand of these dimensions does, and a row
// is a position where an operand's is.
Result<Shape> shape_of(const Dims& dims, const std::vector<Shape>& operands);

// The shape that both spread to; an error names them.
Result<Dims> broadcast(const Dims& a, const Dims& b);
// Sizes of `to` as five dimensions, and how far apart the values of each operand lie along them (0:
// spread). An error where more than five dimensions remain when those that all operands pass
// through alike are joined.
struct Spread {
  std::array<std::int64_t, 5> sizes{1, 1, 1, 1, 1};
  std::vector<std::array<std::int64_t, 5>> steps;
};
Result<Spread> spread(const Dims& to, const std::vector<Dims>& operands);

// x of dimensions `dims` with dimension order[d] as its d-th: `sizes` and order for
// ProgramBuilder::transpose, dimensions that stay neighbors joined. An error beyond five.
struct Transposed {
  std::array<std::int64_t, 5> sizes{1, 1, 1, 1, 1};
  std::array<int, 5> order{0, 1, 2, 3, 4};
  bool same = true;  // nothing moves
};
Result<Transposed> transposed(const Dims& dims, const std::vector<std::size_t>& order);

// Sums g, of shape `from`, over what a broadcast from `to` has spread.
Result<View> sum_spread(ProgramBuilder& emit, View g, const Dims& from, const Dims& to);

}  // namespace loom
