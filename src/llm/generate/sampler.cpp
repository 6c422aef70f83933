#include "llm/generate/sampler.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/fields/field_checker.h"
#include "base/math/exact_math.h"
#include "base/message.h"
#include "base/random.h"
#include "llm/generate/sampler_fields.h"

namespace loom {
namespace {

constexpr std::uint64_t kOne = std::uint64_t{1} << 40;
// Names the sampler's draws among all users of a seed.
constexpr std::uint64_t kStream = 0x73616d706c65;  // "sample"
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// floor(total * bits / 2^32), exact for total < 2^63.
std::uint64_t share(std::uint64_t total, std::uint32_t bits) {
  return (total >> 32) * bits + (((total & 0xffffffff) * bits) >> 32);
}

}  // namespace

std::int32_t best_token(std::span<const float> logits) {
  std::int32_t best = -1;
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (best < 0 ? logits[i] == logits[i] : logits[i] > logits[static_cast<std::size_t>(best)])
      best = static_cast<std::int32_t>(i);
  return best;
}

Result<Sampler> Sampler::create(const SamplerOptions& o) {
  FieldChecker checker("sampler: ");
  sampling_fields(checker, const_cast<SamplerOptions&>(o));  // a checker changes nothing
  LOOM_TRY(checker.status());
  return Sampler(o);
}

std::optional<Draw> Sampler::draw() const {
  const auto temperature = static_cast<float>(options_.temperature);
  if (temperature != 0 && temperature < std::numeric_limits<float>::min()) return {};
  return Draw{temperature,
              options_.top_k,
              options_.top_p,
              options_.min_p,
              options_.seed,
              kStream,
              static_cast<float>(options_.repetition_penalty)};
}

void Sampler::penalize(std::span<const std::int32_t> history) {
  const auto penalty = static_cast<float>(options_.repetition_penalty);
  if (penalty == 1) return;
  seen_.assign(logits_.size(), false);
  for (const std::int32_t id : history) {
    const auto i = static_cast<std::size_t>(id);
    if (id < 0 || i >= logits_.size() || seen_[i]) continue;
    seen_[i] = true;
    logits_[i] = logits_[i] > 0 ? logits_[i] / penalty : logits_[i] * penalty;
  }
}

// Sorting is lazy: a pick rarely needs more than the first few of a large vocabulary.
void Sampler::order(std::size_t count) {
  count = std::min(count, candidates_.size());
  if (count <= ordered_) return;
  const auto begin = candidates_.begin();
  std::partial_sort(begin + static_cast<std::ptrdiff_t>(ordered_),
                    begin + static_cast<std::ptrdiff_t>(count), candidates_.end(),
                    [](const Candidate& a, const Candidate& b) {
                      return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
                    });
  ordered_ = count;
}

std::uint64_t Sampler::weigh(float top) {
  const auto temperature = static_cast<float>(options_.temperature);
  candidates_.clear();
  ordered_ = 0;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < logits_.size(); ++i) {
    // Scaled by a power of two, so only exp rounds; NaN fails the comparison.
    const float e = exact::exp((logits_[i] - top) / temperature) * 0x1p40f;
    if (!(e >= 1)) continue;
    candidates_.push_back({static_cast<std::uint64_t>(e), static_cast<std::int32_t>(i)});
    total += candidates_.back().weight;
  }
  return total;
}

Result<std::int32_t> Sampler::pick(std::span<const float> logits,
                                   std::span<const std::int32_t> history, std::uint64_t index) {
  logits_.assign(logits.begin(), logits.end());
  penalize(history);
  const std::int32_t best = best_token(logits_);
  const float top = best < 0 ? -kInfinity : logits_[static_cast<std::size_t>(best)];
  if (!(top > -kInfinity && top < kInfinity))
    return Status(Code::invalid_argument,
                  message("sampler: the ", logits.size(),
                          " logits have no finite maximum: the model's weights "
                          "hold NaN or infinities, or are too large"));
  if (static_cast<float>(options_.temperature) == 0) return best;

  std::uint64_t total = weigh(top);
  std::size_t kept = candidates_.size();
  if (options_.top_k > 0 && static_cast<std::uint64_t>(options_.top_k) < kept) {
    kept = static_cast<std::size_t>(options_.top_k);
    order(kept);
    total = 0;
    for (std::size_t i = 0; i < kept; ++i) total += candidates_[i].weight;
  }
  // Cuts the list before the first that `stop` refuses, given the sum of those before it.
  auto cut = [&](auto stop) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kept; sum += candidates_[i++].weight) {
      if (i == ordered_) order(std::max<std::size_t>(64, 8 * ordered_));
      if (stop(i, sum)) {
        kept = i;
        total = sum;
        return;
      }
    }
  };
  if (options_.top_p < 1) {
    const double mass = options_.top_p * static_cast<double>(total);
    cut([&](std::size_t i, std::uint64_t sum) {
      return i > 0 && static_cast<double>(sum) >= mass;
    });
  }
  if (options_.min_p > 0) {
    const double min = options_.min_p * static_cast<double>(kOne);
    cut([&](std::size_t i, std::uint64_t) {
      return static_cast<double>(candidates_[i].weight) < min;
    });
  }
  const std::uint64_t target = share(total, RandomStream(options_.seed, kStream).bits(index));
  std::size_t drawn = 0;
  cut([&](std::size_t i, std::uint64_t sum) {
    drawn = i;
    return sum + candidates_[i].weight > target;
  });
  return candidates_[drawn].id;
}

}  // namespace loom
