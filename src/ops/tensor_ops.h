// The kinds of the ops that importers of whole graphs need beside layers: elementwise functions with parameters, pairs with broadcasting, reductions,
// places taken from a list. No standard library in the enums: kernels include them through op ids alone, as numbers in this order.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace loom {

// y = f(x); a and b are the reals of the op.
enum class Unary : std::uint8_t {
  abs, neg, sqrt, reciprocal, exp, log, floor, ceil, round, sign, erf,
  elu,               // x > 0 ? x : a (exp(x) - 1)
  selu,              // b (x > 0 ? x : a (exp(x) - 1))
  celu,              // x > 0 ? x : a (exp(x / a) - 1)
  hard_sigmoid,      // a x + b within 0..1
  hard_swish,        // x times (x / 6 + 1/2 within 0..1)
  softsign,          // x / (1 + |x|)
  thresholded_relu,  // x > a ? x : 0
  clip,              // within a..b; a NaN stays
  logical_not,       // x == 0 ? 1 : 0
  is_nan,
  is_inf,            // 1 for +inf where b is not 0, for -inf where a is not 0
  leaky_relu,        // x > 0 ? x : a x
  shrink,            // x < -a ? x + b : x > a ? x - b : 0
  trunc,
  swish,             // x sigmoid(a x)
  square,
  fp8e4m3,           // rounded to it, to nearest even, beyond +-448 the largest; the gradient within goes through
  fp8e5m2,           // rounded to it, beyond +-57344 infinite; the gradient goes through
  sin, cos,          // on the CPU only
  count_,
};
// y = f(a, b) with broadcasting. Comparisons and logic give 1 or 0; the latter take any number but 0 as true.
enum class Binary : std::uint8_t {
  add, sub, mul, div, pow /* on the CPU only */, max, min,
  prelu,  // a > 0 ? a : a b
  less, less_equal, greater, greater_equal, equal, logical_and, logical_or, logical_xor,
  count_,
};
// Over groups of n consecutive columns.
enum class Reduce : std::uint8_t { sum, mean, max, min, prod, l1, l2, sum_square, log_sum, log_sum_exp, argmax, argmin, count_ };

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

// A list of places as runs of (first, step, count): what a Program's constant carries. A place below 0 is no place.
struct Places {
  static constexpr std::int64_t kNone = -1;
  // Every place, in order. Errors: a run without a count, a place of `limit` or more, more than 2^31-1 places.
  static Result<std::vector<std::int32_t>> list(std::span<const double> runs, std::int64_t limit);
  static std::vector<double> runs(std::span<const std::int64_t> list);
};
// The inverse: for each of `limit` places where its uses begin in the list behind (limit + 1 numbers), then the uses, ascending.
std::vector<std::int32_t> uses_of(std::span<const std::int32_t> places, std::int64_t limit);
// What a verified constant of kind places or uses (`uses`) holds; reals: its limit, then the runs.
std::vector<std::int32_t> places_table(std::span<const double> reals, bool uses);

}  // namespace loom
