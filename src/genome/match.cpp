#include "genome/match.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/math/exact_math.h"
#include "base/random.h"
#include "genome/assignment.h"

namespace loom::genome {
namespace {

// Assignments look at this many features at most, evenly spread; scores at all of them.
constexpr std::int64_t kExactFeatures = 1024, kGreedyFeatures = 128;
// Layers of more units than this are sampled before they are compared with a layer elsewhere.
constexpr std::int64_t kSampleAbove = 256, kSampled = 32;

struct Matrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<float> values;
  const float* row(std::int64_t r) const {
    return values.data() + static_cast<std::size_t>(r * cols);
  }
  float* row(std::int64_t r) { return values.data() + static_cast<std::size_t>(r * cols); }
};

// Pairs of features: of a and of b.
std::vector<std::pair<std::int64_t, std::int64_t>> aligned(const Units& a, const Units& b,
                                                           const ColumnMap& columns) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  const auto add = [&](std::int64_t from_a, std::int64_t from_b) {
    if (columns.empty()) {
      const std::int64_t inputs = std::min(a.inputs, b.inputs);
      for (std::int64_t c = 0; c < inputs; ++c) pairs.emplace_back(from_a + c, from_b + c);
    } else {
      for (std::size_t c = 0; c < columns.size(); ++c)
        if (columns[c] >= 0)
          pairs.emplace_back(from_a + static_cast<std::int64_t>(c), from_b + columns[c]);
    }
  };
  if (a.inputs == 0 || b.inputs == 0) {  // no features that follow a source
    for (std::int64_t f = 0; f < std::min(a.features, b.features); ++f) pairs.emplace_back(f, f);
    return pairs;
  }
  std::int64_t at_a = 0, at_b = 0;  // vectors of a normalization: one behind the other
  for (; at_a + a.inputs <= a.features && at_b + b.inputs <= b.features;
       at_a += a.inputs, at_b += b.inputs)
    add(at_a, at_b);
  for (; at_a < a.features && at_b < b.features; ++at_a, ++at_b) pairs.emplace_back(at_a, at_b);
  return pairs;
}

Matrix gathered(const Units& units, const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs,
                bool second) {
  Matrix m{units.units, static_cast<std::int64_t>(pairs.size()), {}};
  m.values.reserve(static_cast<std::size_t>(m.rows * m.cols));
  for (std::int64_t u = 0; u < m.rows; ++u)
    for (const auto& [a, b] : pairs) m.values.push_back(units.row(u)[second ? b : a]);
  return m;
}

// Rows of `features` evenly spread columns, of length 1 each, or zero.
Matrix unit_rows(const Matrix& m, std::int64_t features) {
  Matrix out{m.rows, std::min(m.cols, features), {}};
  out.values.resize(static_cast<std::size_t>(out.rows * out.cols));
  for (std::int64_t r = 0; r < m.rows; ++r) {
    float* row = out.row(r);
    for (std::int64_t c = 0; c < out.cols; ++c) row[c] = m.row(r)[c * m.cols / out.cols];
    const double length = exact::sqrt(dot(row, row, out.cols));
    if (length > 0)
      for (std::int64_t c = 0; c < out.cols; ++c) row[c] = static_cast<float>(row[c] / length);
  }
  return out;
}

// Partners in b of the rows of a, which are no more. Both have rows of length 1.
std::vector<std::int32_t> greedy(const Matrix& a, const Matrix& b) {
  constexpr double kClear = 0.8;
  std::vector<std::int32_t> partner(static_cast<std::size_t>(a.rows), -1);
  std::vector<char> taken(static_cast<std::size_t>(b.rows), 0);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    if (dot(a.row(r), b.row(r), a.cols) <= kClear) continue;
    partner[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(r);
    taken[static_cast<std::size_t>(r)] = 1;
  }
  for (std::int64_t r = 0; r < a.rows; ++r) {
    if (partner[static_cast<std::size_t>(r)] >= 0) continue;
    double best = -2;
    std::int64_t at = -1;
    for (std::int64_t s = 0; s < b.rows; ++s) {
      if (taken[static_cast<std::size_t>(s)]) continue;
      const double d = dot(a.row(r), b.row(s), a.cols);
      if (d > best) best = d, at = s;
    }
    partner[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(at);
    taken[static_cast<std::size_t>(at)] = 1;
  }
  return partner;
}

std::vector<std::int32_t> assigned(const Matrix& a, const Matrix& b) {
  if (b.rows > kExactUnits)
    return greedy(unit_rows(a, kGreedyFeatures), unit_rows(b, kGreedyFeatures));
  const Matrix x = unit_rows(a, kExactFeatures), y = unit_rows(b, kExactFeatures);
  std::vector<double> gain;
  gain.reserve(static_cast<std::size_t>(a.rows * b.rows));
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const double length = exact::sqrt(dot(a.row(r), a.row(r), a.cols));
    for (std::int64_t s = 0; s < b.rows; ++s)
      gain.push_back(length * dot(x.row(r), y.row(s), x.cols));
  }
  return best_assignment(gain, static_cast<std::size_t>(a.rows), static_cast<std::size_t>(b.rows));
}

// The cosine over all rows of a and their partners.
double cosine_of(const Matrix& a, const Matrix& b, const std::vector<std::int32_t>& partner) {
  double ab = 0, aa = 0, bb = 0;
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const float* x = a.row(r);
    const float* y = b.row(partner[static_cast<std::size_t>(r)]);
    ab += dot(x, y, a.cols);
    aa += dot(x, x, a.cols);
    bb += dot(y, y, a.cols);
  }
  return aa > 0 && bb > 0 ? ab / (exact::sqrt(aa) * exact::sqrt(bb)) : 0;
}

// No assignment has a larger cosine: by Cauchy and Schwarz it is at most the root of the mean
// square of each row's largest cosine, weighted by the row's length. Of large layers a sample.
double bound(const Matrix& a, const Matrix& b) {
  const bool sample = a.rows > kSampleAbove;
  const std::int64_t rows = sample ? kSampled : a.rows;
  Matrix some{rows, a.cols, {}};
  for (std::int64_t r = 0; r < rows; ++r)
    some.values.insert(some.values.end(), a.row(r * a.rows / rows),
                       a.row(r * a.rows / rows) + a.cols);
  const std::int64_t features = sample ? 256 : a.cols;
  const Matrix x = unit_rows(some, features), y = unit_rows(b, features);
  double sum = 0, all = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    double best = 0;
    for (std::int64_t s = 0; s < b.rows; ++s)
      best = std::max(best, dot(x.row(r), y.row(s), x.cols));
    const double square = dot(some.row(r), some.row(r), a.cols);
    sum += square * best * best;
    all += square;
  }
  if (all <= 0) return 0;
  return exact::sqrt(sum / all) + (sample ? 0.1 : 1e-6);
}

// How often chance is drawn: small layers scatter more.
int draws(std::int64_t units) { return units <= 24 ? 12 : units <= 64 ? 6 : units <= 256 ? 3 : 1; }

// Each row's values in a random order: lengths stay, and what else the values have.
Matrix shuffled(const Matrix& m, std::uint64_t seed, int draw) {
  Matrix out = m;
  for (std::int64_t r = 0; r < m.rows; ++r) {
    const RandomStream random(seed, static_cast<std::uint64_t>(draw * m.rows + r));
    float* row = out.row(r);
    for (std::int64_t c = m.cols - 1; c > 0; --c)
      std::swap(
          row[c],
          row[random.below(static_cast<std::uint64_t>(c), static_cast<std::uint32_t>(c + 1))]);
  }
  return out;
}

void draw_chance(Match& match, const Matrix& a, const Matrix& b, std::uint64_t seed) {
  const int count = draws(b.rows);
  double sum = 0, squares = 0;
  for (int d = 0; d < count; ++d) {
    const Matrix other = shuffled(b, seed, d);
    const double cosine = cosine_of(a, other, assigned(a, other));
    sum += cosine;
    squares += cosine * cosine;
  }
  match.chance = std::clamp(sum / count, 0.0, 1.0);
  const double spread = squares / count - (sum / count) * (sum / count);
  // One draw says nothing of the spread: values that are independent have this one.
  match.deviation = count > 1 ? exact::sqrt(std::max(0.0, spread))
                              : 1 / exact::sqrt(static_cast<double>(a.rows * a.cols));
}

}  // namespace

double Match::score() const {
  if (zero) return 1;
  constexpr double kRest = 1e-9;  // chance alone explains everything
  return 1 - chance > kRest ? (cosine - chance) / (1 - chance) : 0;
}

std::optional<Match> match_units(const Units& a, const Units& b, const ColumnMap& columns,
                                 std::uint64_t seed, double at_least) {
  const auto pairs = aligned(a, b, columns);
  if (pairs.empty()) return std::nullopt;
  const Matrix x = gathered(a, pairs, false), y = gathered(b, pairs, true);
  const bool swap = x.rows > y.rows;
  const Matrix &few = swap ? y : x, &many = swap ? x : y;
  Match match;
  match.partner.assign(static_cast<std::size_t>(a.units), -1);
  match.coverage = static_cast<double>(few.rows * few.cols) /
                   static_cast<double>(std::max(a.units * a.features, b.units * b.features));
  const auto all_zero = [](const Matrix& m) {
    return std::all_of(m.values.begin(), m.values.end(), [](float v) { return v == 0; });
  };
  std::vector<std::int32_t> partner(static_cast<std::size_t>(few.rows));
  std::iota(partner.begin(), partner.end(), 0);
  match.zero = all_zero(x) && all_zero(y);
  if (match.zero) {
    match.cosine = 1;
  } else if (at_least <= 0 && x.rows == y.rows && x.values == y.values) {
    match.cosine = 1;
  } else {
    if (at_least > 0 && bound(few, many) < at_least) return std::nullopt;
    partner = assigned(few, many);
    match.cosine = cosine_of(few, many, partner);
    draw_chance(match, few, many, seed);
  }
  for (std::size_t r = 0; r < partner.size(); ++r) {
    if (swap) match.partner[static_cast<std::size_t>(partner[r])] = static_cast<std::int32_t>(r);
    else match.partner[r] = partner[r];
  }
  return match;
}

Match match_in_order(const Units& a, const Units& b, const ColumnMap& columns) {
  const auto pairs = aligned(a, b, columns);
  const Matrix x = gathered(a, pairs, false), y = gathered(b, pairs, true);
  Match match;
  match.partner = {0};
  match.coverage =
      static_cast<double>(x.cols) / static_cast<double>(std::max(a.features, b.features));
  const double aa = dot(x.row(0), x.row(0), x.cols), bb = dot(y.row(0), y.row(0), y.cols);
  match.zero = aa == 0 && bb == 0;
  match.cosine = match.zero ? 1 : cosine_of(x, y, {0});
  if (match.zero || aa == 0 || bb == 0) return match;
  double sum_a = 0, sum_b = 0;
  for (std::int64_t c = 0; c < x.cols; ++c) sum_a += x.row(0)[c], sum_b += y.row(0)[c];
  const double count = static_cast<double>(x.cols);
  const double mean = sum_a * sum_b / (count * exact::sqrt(aa) * exact::sqrt(bb));
  match.chance = x.values == y.values ? 0 : std::clamp(mean, 0.0, 1.0);
  match.deviation = 1 / exact::sqrt(count);
  return match;
}

}  // namespace loom::genome
