#include "layers/takes.h"

#include <algorithm>

#include "base/message.h"

namespace loom {
namespace {

Status bad(std::string what) { return Status(Code::invalid_argument, std::move(what)); }

}  // namespace

Status check_takes(const Names& takes, std::string_view known, const Shape& in, std::size_t first) {
  for (std::size_t i = 0; i < takes.size(); ++i) {
    if (!has_name(known, takes[i]))
      return bad(message("\"takes\": known are ", known, ", got \"", takes[i], "\""));
    if (place_of(takes, takes[i], 0) != i)
      return bad(message("\"takes\" names ", takes[i], " twice"));
  }
  const std::size_t arrive = in.parts.empty() ? 1 : in.parts.size();
  if (arrive == first + takes.size()) return {};
  std::string names;
  for (const std::string& name : takes) names += (names.empty() ? "" : ", ") + name;
  if (takes.empty())
    return bad(message("takes one operand, and ", in.to_string(),
                       " arrive: name the others by \"takes\": ", known));
  return bad(message("\"takes\" ", names, " behind the first, and ", in.to_string(),
                     " arrives: bring them by \"merge\": \"operands\""));
}

View operand(const Shape& in, View x, std::size_t i) {
  if (in.parts.empty()) return x;
  std::int64_t column = 0;
  for (std::size_t k = 0; k < i; ++k) column += in.parts[k].count();
  return ProgramBuilder::slice(x, column, in.parts[i].count());
}

std::size_t place_of(const Names& takes, std::string_view name, std::size_t first) {
  const auto at = std::find(takes.begin(), takes.end(), name);
  return at == takes.end() ? 0 : first + static_cast<std::size_t>(at - takes.begin());
}

Status check_lengths(const Shape& in, std::size_t i, std::int64_t steps) {
  if (i == 0) return {};
  const Shape& lengths = in.parts[i];
  if (lengths.ids > 0 && lengths.count() == 1 && lengths.ids <= steps + 1) return {};
  return bad(message("lengths are an input of one id below ", steps + 1,
                     ", the number of steps and 1, got ", lengths.to_string()));
}

View joined_gradients(ProgramBuilder& emit, const Shape& in, std::vector<View> gradients) {
  if (in.parts.empty()) return gradients[0];
  for (std::size_t i = 0; i < in.parts.size(); ++i) {
    if (i < gradients.size() && gradients[i].valid()) continue;
    gradients.resize(std::max(gradients.size(), i + 1));
    gradients[i] = emit.like(gradients[0], in.parts[i].count());
    emit.fill(gradients[i], 0);
  }
  return joined(emit, gradients);
}

double far_below(ValueType type) { return type == ValueType::f64 ? -1e308 : -2.2e38; }

View step_numbers(ProgramBuilder& emit, ValueType type, std::int64_t steps) {
  const View all = emit.temp(type, {}, steps), add = emit.temp(type, {}, 1);
  emit.fill(ProgramBuilder::slice(all, 0, 1), 1);
  for (std::int64_t have = 1; have < steps; have *= 2) {
    const std::int64_t more = std::min(have, steps - have);
    emit.fill(add, static_cast<double>(have));
    emit.copy_to(emit.binary(ProgramBuilder::slice(all, 0, more), add, Binary::add,
                             {1, 1, 1, 1, more}, {0, 0, 0, 0, 1}, {}, {}),
                 ProgramBuilder::slice(all, have, more));
  }
  return all;
}

View seen_steps(ProgramBuilder& emit, View lengths, std::int64_t steps) {
  return emit.binary(lengths, step_numbers(emit, emit.type(lengths), steps), Binary::greater_equal,
                     {1, 1, 1, 1, steps}, {}, {0, 0, 0, 0, 1}, emit.rows(lengths));
}

View spread_steps(ProgramBuilder& emit, View of_steps, std::int64_t features) {
  return emit.binary(of_steps, of_steps, Binary::max, {1, 1, 1, of_steps.cols, features},
                     {0, 0, 0, 1, 0}, {0, 0, 0, 1, 0}, emit.rows(of_steps));
}

View only_seen(ProgramBuilder& emit, View wide, View x) {
  const View nothing = emit.like(x, x.cols);
  emit.fill(nothing, 0);
  return emit.select(wide, x, nothing);
}

}  // namespace loom
