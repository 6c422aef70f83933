#include "ensemble/ensemble.h"

#include <algorithm>
#include <cmath>

#include "base/math/exact_math.h"

namespace loom::ensemble {
namespace {

Status bad(const std::string& what) { return Status(Code::invalid_argument, what); }

// Rows of each member.
Result<std::int64_t> rows_in(std::span<const float> scores, std::int64_t members,
                             std::int64_t width) {
  if (members < 1) return bad("members: expects at least 1, got " + std::to_string(members));
  if (width < 1) return bad("width: expects at least 1, got " + std::to_string(width));
  const auto count = static_cast<std::int64_t>(scores.size());
  if (count == 0 || members > count || width > count / members || count % (members * width) != 0)
    return bad("scores: expects " + std::to_string(members) + " members x rows x " +
               std::to_string(width) + " values, got " + std::to_string(count));
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (std::isnan(scores[i]))
      return bad("scores[" + std::to_string(i) + "] of member " +
                 std::to_string(static_cast<std::int64_t>(i) / (count / members)) + " is NaN");
  return count / (members * width);
}

template <class T>
std::int64_t greatest(const T* scores, std::int64_t width) {
  return std::max_element(scores, scores + width) - scores;
}

// Chooses members one by one; the sums are of doubles, in the order of choice.
class Selector {
 public:
  Selector(std::span<const float> scores, std::int64_t rows, std::int64_t width,
           std::span<const std::int32_t> classes)
      : scores_(scores),
        rows_(rows),
        width_(width),
        classes_(classes),
        sums_(static_cast<std::size_t>(rows * width)) {}

  // Rows that are right with member m beside those chosen.
  std::int64_t right_with(std::int64_t m) const {
    std::int64_t right = 0;
    std::vector<double> row(static_cast<std::size_t>(width_));
    for (std::int64_t r = 0; r < rows_; ++r) {
      const float* of = score(m, r);
      for (std::int64_t c = 0; c < width_; ++c)
        row[static_cast<std::size_t>(c)] =
            sums_[static_cast<std::size_t>(r * width_ + c)] + static_cast<double>(of[c]);
      right += greatest(row.data(), width_) == classes_[static_cast<std::size_t>(r)];
    }
    return right;
  }
  void add(std::int64_t m) {
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += static_cast<double>(score(m, 0)[i]);
  }

 private:
  const float* score(std::int64_t m, std::int64_t r) const {
    return scores_.data() + (m * rows_ + r) * width_;
  }
  std::span<const float> scores_;
  std::int64_t rows_, width_;
  std::span<const std::int32_t> classes_;
  std::vector<double> sums_;
};

}  // namespace

Result<Correctness> correctness_of(std::span<const std::int32_t> right, std::int64_t samples) {
  if (samples < 1) return bad("samples: expects at least 1, got " + std::to_string(samples));
  if (right.size() % static_cast<std::size_t>(samples) != 0 ||
      static_cast<std::int64_t>(right.size()) / samples < 2)
    return bad("correct: expects at least 2 members x " + std::to_string(samples) +
               " samples, got " + std::to_string(right.size()) + " values");
  for (std::size_t i = 0; i < right.size(); ++i)
    if (right[i] != 0 && right[i] != 1)
      return bad("correct[" + std::to_string(i) + "]: expects 0 or 1, got " +
                 std::to_string(right[i]));
  return Correctness{right, samples};
}

std::vector<Match> complementary_matches(const Correctness& correct, double min_coverage) {
  std::vector<Match> matches;
  const auto samples = static_cast<double>(correct.samples);
  for (std::int64_t a = 0; a < correct.members(); ++a)
    for (std::int64_t b = a + 1; b < correct.members(); ++b) {
      const std::int32_t *x = correct.right.data() + a * correct.samples,
                         *y = correct.right.data() + b * correct.samples;
      std::int64_t of_a = 0, of_b = 0, both = 0;
      for (std::int64_t i = 0; i < correct.samples; ++i)
        of_a += x[i], of_b += y[i], both += x[i] & y[i];
      const Match match{a, b, static_cast<double>(of_a + of_b - both) / samples,
                        static_cast<double>(both) / samples,
                        of_a > 0 && of_b > 0
                            ? static_cast<double>(both) /
                                  exact::sqrt(static_cast<double>(of_a) * static_cast<double>(of_b))
                            : 0};
      if (match.coverage >= min_coverage) matches.push_back(match);
    }
  std::ranges::stable_sort(matches, [](const Match& a, const Match& b) {
    return a.coverage != b.coverage ? a.coverage > b.coverage : a.overlap < b.overlap;
  });
  return matches;
}

Status vote(std::span<const float> scores, std::int64_t members, std::int64_t width,
            std::span<const double> weights, Vote kind, std::span<float> out) {
  LOOM_ASSIGN(const std::int64_t rows, rows_in(scores, members, width));
  if (out.size() != static_cast<std::size_t>(rows * width))
    return bad("y: expects room for " + std::to_string(rows) + " x " + std::to_string(width) +
               " values, got " + std::to_string(out.size()));
  if (!weights.empty() && static_cast<std::int64_t>(weights.size()) != members)
    return bad("weights: expects one for each of " + std::to_string(members) + " members, got " +
               std::to_string(weights.size()));
  double total = weights.empty() ? static_cast<double>(members) : 0;
  for (std::size_t m = 0; m < weights.size(); ++m) {
    if (!(weights[m] >= 0) || std::isinf(weights[m]))
      return bad("weights[" + std::to_string(m) + "]: expects a number of at least 0, got " +
                 std::to_string(weights[m]));
    total += weights[m];
  }
  if (!(total > 0)) return bad("weights: all are 0");
  std::vector<double> sums(static_cast<std::size_t>(width));
  for (std::int64_t r = 0; r < rows; ++r) {
    std::ranges::fill(sums, 0.0);
    for (std::int64_t m = 0; m < members; ++m) {
      const float* row = scores.data() + (m * rows + r) * width;
      const double weight = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(m)];
      if (kind == Vote::majority) sums[static_cast<std::size_t>(greatest(row, width))] += weight;
      else
        for (std::int64_t c = 0; c < width; ++c)
          if (weight > 0) sums[static_cast<std::size_t>(c)] += weight * static_cast<double>(row[c]);
    }
    for (std::int64_t c = 0; c < width; ++c)
      out[static_cast<std::size_t>(r * width + c)] =
          static_cast<float>(sums[static_cast<std::size_t>(c)] / total);
  }
  return {};
}

Result<Selection> select(std::span<const float> scores, std::int64_t members, std::int64_t width,
                         std::span<const std::int32_t> classes, std::int64_t steps) {
  LOOM_ASSIGN(const std::int64_t rows, rows_in(scores, members, width));
  if (static_cast<std::int64_t>(classes.size()) != rows)
    return bad("classes: expects one for each of " + std::to_string(rows) + " rows, got " +
               std::to_string(classes.size()));
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (classes[i] < 0 || classes[i] >= width)
      return bad("classes[" + std::to_string(i) + "]: expects 0 to " + std::to_string(width - 1) +
                 ", got " + std::to_string(classes[i]));
  if (steps < 1 || steps > 10000)
    return bad("steps: expects 1 to 10000, got " + std::to_string(steps));
  Selector selector(scores, rows, width, classes);
  std::vector<std::int64_t> chosen;
  std::int64_t best = -1, best_member = 0;
  std::size_t prefix = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    std::int64_t right = -1, member = 0;
    for (std::int64_t m = 0; m < members; ++m)
      if (const std::int64_t with = selector.right_with(m); with > right) right = with, member = m;
    if (step == 0) best_member = right;
    selector.add(member);
    chosen.push_back(member);
    if (right > best) best = right, prefix = chosen.size();
  }
  Selection s;
  s.weights.assign(static_cast<std::size_t>(members), 0.0);
  for (std::size_t i = 0; i < prefix; ++i)
    s.weights[static_cast<std::size_t>(chosen[i])] += 1 / static_cast<double>(prefix);
  s.accuracy = static_cast<double>(best) / static_cast<double>(rows);
  s.best_member = static_cast<double>(best_member) / static_cast<double>(rows);
  return s;
}

}  // namespace loom::ensemble
