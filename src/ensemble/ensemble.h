// Several networks that answer together: which of them complete each other, and their vote.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace loom::ensemble {

// What members x samples answers were right: 1, else 0.
struct Correctness {
  std::span<const std::int32_t> right;
  std::int64_t samples = 0;
  std::int64_t members() const { return static_cast<std::int64_t>(right.size()) / samples; }
};
// invalid_argument: no whole rows, fewer than two members, a value other than 0 and 1.
Result<Correctness> correctness_of(std::span<const std::int32_t> right, std::int64_t samples);

// Two members, first < second.
struct Match {
  std::int64_t first = 0, second = 0;
  double coverage = 0;  // share of samples that one of them or both have right
  double overlap = 0;   // that both have right
  double cosine = 0;    // of their columns of 0 and 1; 0 where one has nothing right
};
// Of all pairs those with at least this coverage: by descending coverage, then ascending overlap,
// then in the order of the members.
std::vector<Match> complementary_matches(const Correctness& correct, double min_coverage);

enum class Vote { majority, mean };
inline constexpr std::string_view kVoteNames[] = {"majority", "mean"};

// members x rows x width scores become rows x width. majority: the share of the weights whose
// member has its greatest score there (of equal ones the first); mean: the weighted mean of the
// scores. `weights`: one for each member, or none for equal ones. invalid_argument: sizes, weights
// below 0 or all 0, a score that is NaN.
Status vote(std::span<const float> scores, std::int64_t members, std::int64_t width,
            std::span<const double> weights, Vote kind, std::span<float> out);

// Members whose mean of scores has the most classes right, found one by one (Caruana et al.,
// Ensemble Selection from Libraries of Models, ICML 2004): each step adds the member that helps
// most, with repetition, of equal ones the first; the best prefix counts. Returns how often each
// member is in it: weights for vote().
struct Selection {
  std::vector<double> weights;  // of the members; their sum is 1
  double accuracy = 0;          // of the selection, on these samples
  double best_member = 0;       // and of the best member alone
};
// scores: members x rows x width; classes: of each row. invalid_argument: as vote(), and classes
// outside of 0 to width - 1.
Result<Selection> select(std::span<const float> scores, std::int64_t members, std::int64_t width,
                         std::span<const std::int32_t> classes, std::int64_t steps);

}  // namespace loom::ensemble
