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

// Candidates that may be drawn: the first `kept` of the order by weight, then by id, and the sum of
// their weights. Only the first few are in that order, which a pick rarely needs more of.
template <class Candidate>
struct Shortlist {
  std::vector<Candidate>& all;
  std::uint64_t total;
  std::size_t kept = all.size(), ordered = 0;

  static constexpr auto earlier = [](const Candidate& a, const Candidate& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
  };
  auto at(std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); }
  std::uint64_t sum(std::size_t first, std::size_t last) const {
    std::uint64_t sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += all[i].weight;
    return sum;
  }
  void limit(std::uint64_t count) {
    if (count >= kept) return;
    kept = static_cast<std::size_t>(count);
    std::nth_element(at(0), at(kept), all.end(), earlier);
    total = sum(0, kept);
  }
  void order_few() {
    ordered = std::min<std::size_t>(64, kept);
    std::partial_sort(at(0), at(ordered), at(kept), earlier);
  }
  // Cuts the list before the first that `stop` refuses, given the sum of those before it. It
  // refuses all that follow, so that one in the middle says in which half the first is.
  template <class Stop>
  void cut(Stop stop) {
    std::uint64_t before = 0;
    for (std::size_t first = 0, last = kept; first < last;) {
      const std::size_t middle = first < ordered ? first : first + (last - first) / 2;
      if (middle >= ordered) std::nth_element(at(first), at(middle), at(last), earlier);
      const std::uint64_t sum_to = before + sum(first, middle);
      if (stop(middle, sum_to)) {
        kept = last = middle;
        total = sum_to;
      } else {
        before = sum_to + all[middle].weight;
        first = middle + 1;
      }
    }
  }
};

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

std::uint64_t Sampler::weigh(float top) {
  const auto temperature = static_cast<float>(options_.temperature);
  candidates_.clear();
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

  Shortlist<Candidate> list{candidates_, weigh(top)};
  if (options_.top_k > 0) list.limit(static_cast<std::uint64_t>(options_.top_k));
  list.order_few();
  if (options_.top_p < 1) {
    const double mass = options_.top_p * static_cast<double>(list.total);
    list.cut([&](std::size_t i, std::uint64_t sum) {
      return i > 0 && static_cast<double>(sum) >= mass;
    });
  }
  if (options_.min_p > 0) {
    const double min = options_.min_p * static_cast<double>(kOne);
    list.cut([&](std::size_t i, std::uint64_t) {
      return static_cast<double>(candidates_[i].weight) < min;
    });
  }
  const std::uint64_t target = share(list.total, RandomStream(options_.seed, kStream).bits(index));
  list.cut([&](std::size_t i, std::uint64_t sum) { return sum + candidates_[i].weight > target; });
  return candidates_[list.kept].id;
}

}  // namespace loom
