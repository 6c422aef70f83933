// Targets by layers: a gap a - t, where a is what a layer gave and t its target, comes to the layer
// before without a derivative. What a weight multiplied has the gap W^T g over the columns' sums of
// |W|; a sum of at most 0.01 pulls none. A factor of a product has the gap times the other factor.
// What has no weights hands a gap on as it is, or moves it as it moves values.
// docs/reference/training-spec.md#layer-wise has the formula of each layer.
#pragma once

#include "layers/layer.h"

namespace loom {

// What a layer type does with a gap: by its backward, which knows Pulls; nothing, so that the gap
// is that of its input; or it has no formula.
enum class PullRule : std::uint8_t { none, backward, passes };
PullRule pull_rule(std::string_view type);

// 1 / sums, and 0 where a sum is at most 0.01.
View pull_share(ProgramBuilder& emit, View sums);
// The columns' sums of |w|, in one row; with groups [groups x columns].
View column_sums(ProgramBuilder& emit, View w, std::int64_t groups = 1);
// The gap through a gain for each `inner` values: times gain / |gain|.
View gain_pull(ProgramBuilder& emit, View gap, View gain, std::int64_t inner);
// f(a, b) of rows of a; b is as wide, or one value, in as many rows or in one.
View combined(ProgramBuilder& emit, View a, View b, Binary kind);
// A row of `cols` times `value`.
View filled_row(ProgramBuilder& emit, ValueType type, std::int64_t cols, double value);

}  // namespace loom
