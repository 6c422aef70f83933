// Operands that a layer takes beside the first, by name: {"takes": ["lengths", "h0"]} says what the
// others of the row are, in their order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "layers/layer.h"

namespace loom {

using Names = std::vector<std::string>;

// An error unless the names are among `known`, each once, and as many operands follow the `first`
// ones that every such layer has. `rule`: what those are, for messages.
Status check_takes(const Names& takes, std::string_view known, const Shape& in,
                   std::size_t first = 1);
// The first operand: all of a row that has no others.
inline const Shape& first_operand(const Shape& in) { return in.parts.empty() ? in : in.parts[0]; }
// Operand i of x.
View operand(const Shape& in, View x, std::size_t i);
// The operand of a name: its number, or 0 where it is not taken.
std::size_t place_of(const Names& takes, std::string_view name, std::size_t first = 1);
// An error unless operand i can be a row's length: an id of up to `steps` of them.
Status check_lengths(const Shape& in, std::size_t i, std::int64_t steps);
// The gradient of the row from those of some operands; the others have none.
View joined_gradients(ProgramBuilder& emit, const Shape& in, std::vector<View> gradients);

// Below every score of attention, that of what is hidden added: |q k| up to 1e38 in single.
double far_below(ValueType type);
// 1 at the steps that a row has, 0 at those behind its length [R, 1]: [R, steps].
View seen_steps(ProgramBuilder& emit, View lengths, std::int64_t steps);
// 1 to `steps`, in a row that serves all others.
View step_numbers(ProgramBuilder& emit, ValueType type, std::int64_t steps);
// A value of each step at each of its `features`.
View spread_steps(ProgramBuilder& emit, View of_steps, std::int64_t features);
// x where `wide` is not 0, else 0.
View only_seen(ProgramBuilder& emit, View wide, View x);

}  // namespace loom
