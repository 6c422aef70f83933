#include "ops/graph/kinds.h"

#include <algorithm>
#include <string>

#include "base/numbered.h"
#include "ops/program.h"

namespace loom {
namespace {

constexpr std::string_view kUnary[] = {
#define LOOM_UNARY(id, name, text) text,
#include "ops/graph/kinds.def"
};
constexpr std::string_view kBinary[] = {
#define LOOM_BINARY(id, name, text) text,
#include "ops/graph/kinds.def"
};
constexpr std::string_view kReduce[] = {
#define LOOM_REDUCE(id, name, text) text,
#include "ops/graph/kinds.def"
};

constexpr int kUnaryIds[] = {
#define LOOM_UNARY(id, name, text) id,
#include "ops/graph/kinds.def"
};
#define LOOM_UNARY(id, name, text)                                                      \
  static_assert(in_order(kUnaryIds, id), "graph/kinds.def: row " #id " is not " #name); \
  static_assert(stands_once(kUnary, text), "graph/kinds.def: two kinds are called " text);
#include "ops/graph/kinds.def"
constexpr int kBinaryIds[] = {
#define LOOM_BINARY(id, name, text) id,
#include "ops/graph/kinds.def"
};
#define LOOM_BINARY(id, name, text)                                                      \
  static_assert(in_order(kBinaryIds, id), "graph/kinds.def: row " #id " is not " #name); \
  static_assert(stands_once(kBinary, text), "graph/kinds.def: two kinds are called " text);
#include "ops/graph/kinds.def"
constexpr int kReduceIds[] = {
#define LOOM_REDUCE(id, name, text) id,
#include "ops/graph/kinds.def"
};
#define LOOM_REDUCE(id, name, text)                                                      \
  static_assert(in_order(kReduceIds, id), "graph/kinds.def: row " #id " is not " #name); \
  static_assert(stands_once(kReduce, text), "graph/kinds.def: two kinds are called " text);
#include "ops/graph/kinds.def"

template <class Kind, std::size_t N>
Result<Kind> parse(const std::string_view (&names)[N], std::string_view text) {
  const auto found = std::find(std::begin(names), std::end(names), text);
  if (found != std::end(names)) return static_cast<Kind>(found - std::begin(names));
  std::string list;
  for (std::string_view n : names) list += (list.empty() ? "" : ", ") + std::string(n);
  return Status(Code::invalid_argument, "unknown op \"" + std::string(text) + "\": one of " + list);
}

}  // namespace

std::string_view name(Unary kind) { return kUnary[static_cast<std::size_t>(kind)]; }
std::string_view name(Binary kind) { return kBinary[static_cast<std::size_t>(kind)]; }
std::string_view name(Reduce kind) { return kReduce[static_cast<std::size_t>(kind)]; }
Result<Unary> parse_unary(std::string_view text) { return parse<Unary>(kUnary, text); }
Result<Binary> parse_binary(std::string_view text) { return parse<Binary>(kBinary, text); }
Result<Reduce> parse_reduce(std::string_view text) { return parse<Reduce>(kReduce, text); }

bool differentiable(Unary kind) {
  switch (kind) {
    case Unary::floor:
    case Unary::ceil:
    case Unary::round:
    case Unary::sign:
    case Unary::logical_not:
    case Unary::is_nan:
    case Unary::is_inf:
    case Unary::trunc: return false;
    default: return true;
  }
}
bool differentiable(Binary kind) { return kind <= Binary::prelu; }
bool differentiable(Reduce kind) { return kind < Reduce::argmax; }

Result<std::vector<std::int32_t>> GatherIndices::list(std::span<const double> runs,
                                                      std::int64_t limit) {
  const auto wrong = [](const char* what) {
    return Status(Code::corrupt, std::string("places: ") + what);
  };
  if (runs.empty() || runs.size() % 3 != 0) return wrong("expected runs of first, step, count");
  std::vector<std::int32_t> all;
  for (std::size_t i = 0; i < runs.size(); i += 3) {
    for (std::size_t j = i; j < i + 3; ++j)
      if (!(runs[j] >= -2147483648.0 && runs[j] <= 2147483647.0) ||
          static_cast<double>(static_cast<std::int64_t>(runs[j])) != runs[j])
        return wrong("a run holds something else than 32-bit integers");
    const auto first = static_cast<std::int64_t>(runs[i]),
               step = static_cast<std::int64_t>(runs[i + 1]),
               count = static_cast<std::int64_t>(runs[i + 2]);
    if (count < 1 || static_cast<std::int64_t>(all.size()) + count > INT32_MAX)
      return wrong("a run is empty, or there are more than 2^31-1 places");
    if (first < kNone || first >= limit) return wrong("a place is outside of the row");
    if (first == kNone ? step != 0
                       : first + step * (count - 1) < 0 || first + step * (count - 1) >= limit)
      return wrong("a run leaves the row");
    for (std::int64_t n = 0; n < count; ++n)
      all.push_back(static_cast<std::int32_t>(first + step * n));
  }
  return all;
}

std::vector<double> GatherIndices::runs(std::span<const std::int64_t> list) {
  std::vector<double> out;
  for (std::size_t i = 0; i < list.size();) {
    std::size_t end = i + 1;
    std::int64_t step = 0;
    if (list[i] == kNone) {
      while (end < list.size() && list[end] == kNone) ++end;
    } else if (end < list.size() && list[end] != kNone) {
      step = list[end] - list[i];
      while (end < list.size() && list[end] != kNone && list[end] - list[end - 1] == step) ++end;
    }
    if (end == i + 1) step = 0;
    for (const std::int64_t v : {list[i], step, static_cast<std::int64_t>(end - i)})
      out.push_back(static_cast<double>(v));
    i = end;
  }
  return out;
}

std::vector<std::int32_t> inverse_index_of(std::span<const std::int32_t> places,
                                           std::int64_t limit) {
  const auto n = static_cast<std::size_t>(limit);
  std::vector<std::int32_t> out(n + 1 + places.size(), 0);
  for (const std::int32_t p : places)
    if (p >= 0) ++out[static_cast<std::size_t>(p) + 1];
  for (std::size_t i = 0; i < n; ++i) out[i + 1] += out[i];
  std::vector<std::int32_t> next(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n));
  for (std::size_t j = 0; j < places.size(); ++j)
    if (places[j] >= 0)
      out[n + 1 + static_cast<std::size_t>(next[static_cast<std::size_t>(places[j])]++)] =
          static_cast<std::int32_t>(j);
  return out;
}

std::vector<std::int32_t> index_table(const ConstantSpec& constant, std::int64_t rows) {
  const auto limit = static_cast<std::int64_t>(constant.reals[0]);
  if (constant.kind == ConstantKind::steps) {
    std::vector<std::int32_t> steps(static_cast<std::size_t>(rows));
    for (std::int64_t i = 0; i < rows; ++i)
      steps[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % limit);
    return steps;
  }
  std::vector<std::int32_t> list =
      *GatherIndices::list(std::span(constant.reals).subspan(1), limit);
  return constant.kind == ConstantKind::inverse_index ? inverse_index_of(list, limit) : list;
}

}  // namespace loom
