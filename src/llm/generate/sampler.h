// Picks the next token from a row of logits. The pick is a pure function of (logits, history,
// settings, index): the same on every target (numerics rule 10). One sampler per thread: it keeps
// scratch memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "ops/draw.h"

namespace loom {

struct SamplerOptions {
  double temperature = 0;  // 0: greedy, the largest logit; ties go to the lower id
  std::int64_t top_k = 0;  // the k most probable; 0: all
  double top_p = 1;  // the fewest tokens that together have this probability (Holtzman et al.,
                     // arXiv 1904.09751)
  double min_p =
      0;  // tokens at least this share as probable as the best (Nguyen et al., arXiv 2407.01082)
  double repetition_penalty = 1;  // divides positive and multiplies negative logits of tokens seen
                                  // before (Keskar et al., arXiv 1909.05858)
  std::uint64_t seed = 0;
};

// The order is fixed: penalty, temperature, top-k, top-p, min-p, draw. Probabilities are exp(logit
// - best) as integers in units of 2^-40, so their sums are exact and no order of summation can
// change a pick; what is below 2^-40 of the best is never drawn.
class Sampler {
 public:
  static Result<Sampler> create(const SamplerOptions& options);

  // `index` numbers the draws of one text: the position of the new token. `history`: ids that are
  // penalized; what the row has no place for is passed over. Errors: a row without a finite logit.
  Result<std::int32_t> pick(std::span<const float> logits, std::span<const std::int32_t> history,
                            std::uint64_t index);

  // The same picks on a device (Executor::run_ahead), without the history. None where that lacks
  // what they take: a temperature that is subnormal as f32.
  std::optional<Draw> draw() const;

  const SamplerOptions& options() const { return options_; }

 private:
  struct Candidate {
    std::uint64_t weight;
    std::int32_t id;
  };
  explicit Sampler(const SamplerOptions& options) : options_(options) {}
  void penalize(std::span<const std::int32_t> history);
  // The candidates at the temperature, given the largest logit; returns the sum of their weights.
  std::uint64_t weigh(float top);

  SamplerOptions options_;
  std::vector<float> logits_;
  std::vector<bool> seen_;
  std::vector<Candidate> candidates_;
};

// The index of the largest value, ties to the lower one; NaN loses. -1 where there is no number.
std::int32_t best_token(std::span<const float> logits);

}  // namespace loom
