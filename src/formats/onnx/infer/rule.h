// What a rule of an operator sees and says. Internal to this folder.
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <span>

#include "base/message.h"
#include "formats/onnx/infer/infer.h"
#include "formats/onnx/operators.h"

namespace loom::onnx {

// Dimensions and window attributes stay below these, so that products of two and sums of several
// cannot overflow.
inline constexpr std::int64_t kMaxDim = (std::int64_t{1} << 31) - 1;
inline constexpr std::int64_t kMaxWindow = std::int64_t{1} << 24;

// A piece of a message: text, a number or a shape. Rules have many messages, so that one function
// puts them together.
struct Part {
  enum : std::size_t { kShape = static_cast<std::size_t>(-2), kNumber };
  union {
    const char* text;
    const Dims* shape;
    std::int64_t number;
  };
  std::size_t length;  // of a text, or what else it is
  Part(std::string_view t) : text(t.data()), length(t.size()) {}
  Part(const Dims& dims) : shape(&dims), length(kShape) {}
  Part(std::integral auto n) : number(static_cast<std::int64_t>(n)), length(kNumber) {}
};
Status say(Code code, std::initializer_list<Part> parts);

template <class... Parts>
Status wrong(const Parts&... what) {
  return say(Code::invalid_argument, {Part(what)...});
}
template <class... Parts>
Status not_supported(const Parts&... what) {
  return say(Code::unsupported, {Part(what)...});
}

// One node with its inputs; a rule sets type and dims of the outputs.
struct Call {
  const Node& node;
  std::int64_t opset;
  std::vector<const Value*> in;     // nullptr where left out
  std::vector<const Cells*> cells;  // of constants not over the limit, else nullptr
  std::vector<Value> out;           // as many as the node has names for, "" included

  bool has(std::size_t i) const { return i < in.size() && in[i]; }
  const Value& x(std::size_t i = 0) const { return *in[i]; }
  const Dims& dims(std::size_t i = 0) const { return in[i]->dims; }
  std::size_t rank(std::size_t i = 0) const { return in[i]->dims.size(); }
  bool attribute(std::string_view name) const { return node.find(name) != nullptr; }

  // Inputs 0 to count - 1 are there.
  Status need(std::size_t count) const;
  // No input stands behind them.
  Status no_more_than(std::size_t count) const;
  // Input i, where it is there, has these dimensions; spreads to them; is one number.
  Status shaped(std::size_t i, std::span<const std::int64_t> dims, std::string_view what) const;
  Status shaped(std::size_t i, std::initializer_list<std::int64_t> dims,
                std::string_view what) const {
    return shaped(i, std::span(dims.begin(), dims.size()), what);
  }
  Status spreads(std::size_t i, const Dims& to, std::string_view what) const;
  Status single(std::size_t i, std::string_view what) const;
  // The integers of a constant input; unsupported where they depend on data.
  Result<Dims> ints(std::size_t i, std::string_view what) const;
  // Those of input i where there is one, else of the attribute, else `fallback`: operators moved
  // them from one to the other.
  Result<Dims> ints_or(std::size_t i, std::string_view attribute, Dims fallback = {}) const;
  // Sets output i, where the node has it.
  void set(std::size_t i, Type type, Dims dims);
};

using Rule = Status (*)(Call&);
// Fills out[i].cells; called where all inputs are constants with cells. False where it cannot: then
// the node stays a step.
using Fold = Result<bool> (*)(Call&);

// Of a row of operators.def, what inference needs.
struct RuleRow {
  const char* op;
  Rule rule;
  Fold fold;
  const char* attributes;
  unsigned traits;
};

// The tables, one per file of rules.
#define LOOM_SHAPE_FILE(file) std::span<const RuleRow> file##_rules();
LOOM_SHAPE_FILES(LOOM_SHAPE_FILE)
#undef LOOM_SHAPE_FILE

inline std::int64_t int_of(std::integral auto n) { return static_cast<std::int64_t>(n); }
// Makes the cells those of an output.
Status keep(Call& call, Cells cells, std::size_t output = 0);
// axis in [-rank, rank) as an index.
Result<std::size_t> axis_of(std::int64_t axis, std::size_t rank);
// Unique and sorted.
Result<std::vector<std::size_t>> axes_of(const Dims& axes, std::size_t rank);
// NumPy's rule.
Result<Dims> broadcast(const Dims& a, const Dims& b);
// The product; the dims of values are checked, so it does not overflow.
std::int64_t product(std::span<const std::int64_t> dims);
// Row-major strides in elements; 0 where `dims` has 1 in place of `to`, for reading through
// broadcasting.
Dims broadcast_strides(const Dims& dims, const Dims& to);

// Where each element of a shape, in row-major order, is read from: base + the sum of index *
// stride.
std::vector<std::size_t> offsets(const Dims& dims, const Dims& strides, std::int64_t base = 0);

// A real number as the type holds it: rounded to nearest even.
double round_to(Type type, double value);
// An integer as the type holds it: wrapped.
std::int64_t wrap_to(Type type, std::int64_t value);

// Output type and shape are those of input 0.
Status same_as_input(Call& call);
// The same for an operator of no fewer than COUNT inputs.
template <std::size_t COUNT>
Status same_as_first_of(Call& call) {
  LOOM_TRY(call.need(COUNT));
  return same_as_input(call);
}
// The cells as they are, for operators that only give another shape.
Result<bool> fold_copy(Call& call);

}  // namespace loom::onnx
