// Einsum: operands one after another; what two share and nobody else needs is a matrix product.
#include <algorithm>
#include <map>

#include "onnx/graph.h"

namespace loom::onnx {
namespace {

// A value whose dimensions have names: letters, and numbers below 0 for those of "...".
struct Term {
  std::vector<int> names;
  Ref x;
  bool has(int name) const { return std::find(names.begin(), names.end(), name) != names.end(); }
};

Term permuted(StepCall& c, const Term& t, const std::vector<int>& names) {
  Dims order;
  for (const int name : names)
    order.push_back(std::find(t.names.begin(), t.names.end(), name) - t.names.begin());
  return {names, names.size() < 2 || names == t.names ? t.x : c.graph.permute(t.x, order)};
}
// A name that stands twice: the diagonal.
Term diagonal(StepCall& c, const Term& t) {
  std::vector<int> names;
  for (const int name : t.names)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  if (names.size() == t.names.size()) return t;
  if (const Status few = c.lists(elements(t.x.dims)); !few.ok()) {
    c.graph.note(few);
    return t;
  }
  const auto steps = steps_of(t.x.dims);
  Dims dims(names.size(), 1), own(names.size(), 0);
  for (std::size_t d = 0; d < t.names.size(); ++d) {
    const auto at =
        static_cast<std::size_t>(std::find(names.begin(), names.end(), t.names[d]) - names.begin());
    dims[at] = t.x.dims[d];
    own[at] += steps[d];
  }
  const auto out = steps_of(dims);
  std::vector<std::int64_t> places;
  for (std::int64_t j = 0; j < elements(dims); ++j) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) place += j / out[d] % dims[d] * own[d];
    places.push_back(place);
  }
  return {names, c.graph.index_select(t.x, places, dims)};
}
// Sums over the names that nobody needs.
Term summed(StepCall& c, const Term& t, const std::vector<int>& needed) {
  Term y;
  Dims gone;
  for (std::size_t d = 0; d < t.names.size(); ++d) {
    if (std::find(needed.begin(), needed.end(), t.names[d]) == needed.end())
      gone.push_back(static_cast<std::int64_t>(d));
    else y.names.push_back(t.names[d]);
  }
  y.x = gone.empty() ? t.x : c.graph.reduce(t.x, "sum", gone, false);
  return y;
}
Term product(StepCall& c, const Term& a, const Term& b, const std::vector<int>& needed) {
  std::vector<int> both, inner, left, right;
  std::int64_t sizes[4] = {1, 1, 1, 1};
  const auto put = [&](std::vector<int>& list, std::int64_t& size, int name, std::int64_t n) {
    list.push_back(name);
    size *= n;
  };
  for (std::size_t d = 0; d < a.names.size(); ++d) {
    const int name = a.names[d];
    const bool kept = std::find(needed.begin(), needed.end(), name) != needed.end();
    if (!b.has(name)) put(left, sizes[1], name, a.x.dims[d]);
    else if (kept) put(both, sizes[0], name, a.x.dims[d]);
    else put(inner, sizes[2], name, a.x.dims[d]);
  }
  for (std::size_t d = 0; d < b.names.size(); ++d)
    if (!a.has(b.names[d])) put(right, sizes[3], b.names[d], b.x.dims[d]);
  std::vector<int> first = both, second = both, names = both;
  first.insert(first.end(), left.begin(), left.end());
  first.insert(first.end(), inner.begin(), inner.end());
  second.insert(second.end(), inner.begin(), inner.end());
  second.insert(second.end(), right.begin(), right.end());
  names.insert(names.end(), left.begin(), left.end());
  names.insert(names.end(), right.begin(), right.end());
  Dims out;
  for (const int name : names) {
    const Term& t = a.has(name) ? a : b;
    out.push_back(t.x.dims[static_cast<std::size_t>(
        std::find(t.names.begin(), t.names.end(), name) - t.names.begin())]);
  }
  const Ref x = GraphBuilder::reshape(permuted(c, a, first).x, {sizes[0], sizes[1], sizes[2]}),
            y = GraphBuilder::reshape(permuted(c, b, second).x, {sizes[0], sizes[2], sizes[3]});
  return {names, GraphBuilder::reshape(c.graph.matmul(x, y, {sizes[0], sizes[1], sizes[3]}), out)};
}

// The names of a term, with `more` dimensions for "..."; those count from the end on, as "..."
// lines up.
std::vector<int> names_of(const std::string& term, std::size_t more) {
  std::vector<int> names;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term[i] != '.') {
      names.push_back(term[i]);
      continue;
    }
    for (std::size_t k = more; k > 0; --k) names.push_back(-static_cast<int>(k));
    i += 2;
  }
  return names;
}

// An equation and its operands.
struct Equation {
  std::string text;
  std::vector<Term> terms;
  std::map<int, std::int64_t> lengths;
  std::map<int, int> counts;  // of letters
  std::size_t max_more = 0;   // dimensions that "..." stands for
};

// The next operand: input i, with the names of `term`.
Status add_term(StepCall& c, std::size_t i, const std::string& term, Equation& e) {
  const std::size_t letters = static_cast<std::size_t>(
                        std::count_if(term.begin(), term.end(), [](char l) { return l != '.'; })),
                    more = c.dims(i).size() - letters;
  Term t{names_of(term, more), c.graph.value(c.in(i))};
  e.max_more = std::max(e.max_more, more);
  if (t.names.size() != t.x.dims.size())
    return Status(Code::invalid_argument, "equation '" + e.text + "' for " + text_of(t.x.dims));
  for (std::size_t d = 0; d < t.names.size(); ++d) {
    const auto [entry, fresh] = e.lengths.emplace(t.names[d], t.x.dims[d]);
    if (!fresh && entry->second != t.x.dims[d])
      return StepCall::refuse("dimensions of 1 that spread to others are not mapped");
    if (t.names[d] > 0) ++e.counts[t.names[d]];
  }
  if (t.names.empty()) t.x = GraphBuilder::reshape(t.x, {});
  e.terms.push_back(diagonal(c, t));
  return c.graph.fault();
}

// The names of the result: those behind the arrow, or those that stand once.
Result<std::vector<int>> result_names(const Equation& e, std::size_t arrow) {
  std::vector<int> result;
  if (arrow != std::string::npos) {
    result = names_of(e.text.substr(arrow + 2), e.max_more);
  } else {
    result = names_of("...", e.max_more);
    for (const auto& [name, count] : e.counts)
      if (count == 1) result.push_back(name);
  }
  for (std::size_t i = 0; i < result.size(); ++i)
    if (!e.lengths.contains(result[i]) ||
        std::find(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(i), result[i]) !=
            result.begin() + static_cast<std::ptrdiff_t>(i))
      return Status(Code::invalid_argument,
                    "equation '" + e.text + "' has a result that its inputs do not name, or twice");
  return result;
}

// The terms multiplied one after another, summed over what neither the rest nor the result needs.
Result<Term> contracted(StepCall& c, const std::vector<Term>& terms,
                        const std::vector<int>& result) {
  Term y = terms[0];
  for (std::size_t i = 0; i < terms.size(); ++i) {
    std::vector<int> needed = result;
    for (std::size_t k = i + 1; k < terms.size(); ++k)
      needed.insert(needed.end(), terms[k].names.begin(), terms[k].names.end());
    if (i > 0) {
      std::vector<int> own = needed;
      own.insert(own.end(), y.names.begin(), y.names.end());
      y = product(c, y, summed(c, terms[i], own), needed);
      if (elements(y.x.dims) > INT32_MAX)
        return StepCall::refuse("its first " + std::to_string(i + 1) + " inputs make " +
                                text_of(y.x.dims) + ", more than 2^31-1 values");
    }
    y = summed(c, y, needed);
  }
  return y;
}

Status einsum(StepCall& c) {
  if (is_integer(c.value(0).type)) return StepCall::refuse("of integers it is not mapped");
  Equation e;
  LOOM_ASSIGN(e.text, c.node().get_string("equation", ""));
  std::erase(e.text, ' ');
  const std::size_t arrow = e.text.find("->");
  const std::string left = e.text.substr(0, arrow);
  std::size_t at = 0;
  for (std::size_t i = 0; i < c.inputs(); ++i) {
    const std::size_t comma = std::min(left.find(',', at), left.size());
    const std::size_t from = std::min(at, left.size());
    at = comma + 1;
    LOOM_TRY(add_term(c, i, left.substr(from, comma - from), e));
  }
  LOOM_ASSIGN(const std::vector<int> result, result_names(e, arrow));
  LOOM_ASSIGN(const Term y, contracted(c, e.terms, result));
  c.set(permuted(c, y, result).x);
  return {};
}

}  // namespace

std::span<const Operator> einsum_mappings() {
  static constexpr Operator kRows[] = {
#define LOOM_MAP_einsum(op, map, cell, traits) {op, map, cell, traits},
#include "formats/onnx/operators.def"
  };
  return kRows;
}

}  // namespace loom::onnx
