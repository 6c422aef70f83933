// The kinds of the ops that importers of whole graphs need beside layers (kinds.def): names,
// gradients, and lists of places.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ops/graph/kind_ids.h"

namespace loom {

std::string_view name(Unary kind);
std::string_view name(Binary kind);
std::string_view name(Reduce kind);
Result<Unary> parse_unary(std::string_view text);
Result<Binary> parse_binary(std::string_view text);
Result<Reduce> parse_reduce(std::string_view text);
// Whether it has a gradient that is not zero everywhere.
bool differentiable(Unary kind);
bool differentiable(Binary kind);
bool differentiable(Reduce kind);

// A list of places as runs of (first, step, count): what a Program's constant carries. A place
// below 0 is no place.
struct GatherIndices {
  static constexpr std::int64_t kNone = -1;
  // Every place, in order. Errors: a run without a count, a place of `limit` or more, more than
  // 2^31-1 places.
  static Result<std::vector<std::int32_t>> list(std::span<const double> runs, std::int64_t limit);
  static std::vector<double> runs(std::span<const std::int64_t> list);
};
// The inverse: for each of `limit` places where its uses begin in the list behind (limit + 1
// numbers), then the uses, ascending.
std::vector<std::int32_t> inverse_index_of(std::span<const std::int32_t> places,
                                           std::int64_t limit);
struct ConstantSpec;  // ops/program.h
// What a verified constant of kind places, uses or steps holds; rows: of steps.
std::vector<std::int32_t> index_table(const ConstantSpec& constant, std::int64_t rows);

}  // namespace loom
