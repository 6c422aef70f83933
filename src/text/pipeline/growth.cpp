#include "text/pipeline/growth.h"

#include <algorithm>
#include <array>

#include "text/bpe/byte_level.h"
#include "text/pattern/pattern.h"

namespace loom::text {
namespace {

// An upper bound by weights. weight[b] is how many bytes of the result a byte b can become that
// stands before step k, so a text becomes at most the sum of its weights. From the last step, where
// each weighs 1, to the first: a step that turns T into R needs weights of T that together are at
// least R's behind it. Replacements that do not feed one another therefore do not multiply.
class Weights {
 public:
  Weights() { weight_.fill(1); }

  void before(const Step& step) {
    const std::array<std::uint64_t, 256> after = weight_;
    const std::uint64_t max = *std::max_element(after.begin(), after.end());
    switch (step.kind) {
      case StepKind::nfc:
      case StepKind::nfd: above_ascii(4 * max); break;  // U+0390 and the like; Hangul
      case StepKind::nfkc:
      case StepKind::nfkd: above_ascii(11 * max); break;  // U+FDFA: 3 bytes become 33
      case StepKind::lowercase:
        for (std::size_t c = 'A'; c <= 'Z'; ++c) weight_[c] = std::max(after[c], after[c + 32]);
        above_ascii(2 * max);  // U+0130: 2 bytes become 3
        break;
      case StepKind::prepend: once_ = add(once_, of(step.text)); break;
      case StepKind::replace:
      case StepKind::decode_replace: replace(step, of(step.replacement)); break;
      case StepKind::map_bytes: map_bytes(0); break;
      case StepKind::byte_level:
        map_bytes(step.has(Step::kAddSpace) ? mapped(after, ' ') : 0);
        break;
      case StepKind::metaspace: {
        // Put before each word, of which there are no more than bytes.
        const std::uint64_t text = of(step.text);
        weight_[' '] = std::max(weight_[' '], text);
        if (step.has(Step::kAddSpace))
          for (std::uint64_t& w : weight_) w = add(w, text);
        break;
      }
      case StepKind::decode_byte_level:  // a byte that is no text becomes U+FFFD
        for (std::uint64_t& w : weight_) w = std::max(w, 3 * max);
        break;
      case StepKind::decode_byte_fallback:  // six characters become one byte, or U+FFFD
        for (std::uint64_t& w : weight_) w = std::max(w, (max + 1) / 2);
        break;
      case StepKind::decode_metaspace:
      case StepKind::decode_suffix: replace(step, after[' ']); break;
      case StepKind::decode_join: once_ = add(once_, after[' ']); break;
      default: break;  // cuts, or takes away
    }
    for (std::uint64_t& w : weight_) w = std::min(w, kEnough);
  }
  std::uint64_t max() const {
    return std::max(once_, *std::max_element(weight_.begin(), weight_.end()));
  }

 private:
  static constexpr std::uint64_t kEnough =
      std::uint64_t{1} << 40;  // far beyond the limit: no need to know more, and no sum overflows
  static std::uint64_t add(std::uint64_t a, std::uint64_t b) { return std::min(a + b, kEnough); }

  std::uint64_t of(std::string_view text) const {
    std::uint64_t sum = 0;
    for (const char c : text) sum = add(sum, weight_[static_cast<unsigned char>(c)]);
    return sum;
  }
  void above_ascii(std::uint64_t w) {
    for (std::size_t b = 0x80; b < 256; ++b) weight_[b] = std::max(weight_[b], w);
  }
  // Every match weighs `by`: shared by the bytes of the text that is searched for. One of a pattern
  // may be a single byte, or stand between two.
  void replace(const Step& step, std::uint64_t by) {
    if (step.has(Step::kRegex) &&
        (step.kind == StepKind::replace || step.kind == StepKind::decode_replace)) {
      const auto pattern = Pattern::compile(step.text);
      const bool between = !pattern.ok() || pattern->may_be_empty();
      for (std::uint64_t& w : weight_) w = between ? add(w, by) : std::max(w, by);
      if (between) once_ = add(once_, by);
      return;
    }
    if (step.text.empty()) return;
    const std::uint64_t share = (by + step.text.size() - 1) / step.text.size();
    for (const char c : step.text) {
      std::uint64_t& w = weight_[static_cast<unsigned char>(c)];
      w = std::max(w, share);
    }
  }
  static std::uint64_t mapped(const std::array<std::uint64_t, 256>& after, unsigned byte) {
    const char16_t c = kByteCharacters[byte];
    return c < 0x80 ? after[c] : after[0xC0 | c >> 6] + after[0x80 | (c & 0x3F)];
  }
  void map_bytes(std::uint64_t before_each) {
    const std::array<std::uint64_t, 256> after = weight_;
    for (unsigned b = 0; b < 256; ++b) weight_[b] = add(mapped(after, b), before_each);
  }

  std::array<std::uint64_t, 256> weight_;
  std::uint64_t once_ = 0;  // what is put in front of a text
};

}  // namespace

Status check_growth(std::span<const Step> steps, std::string_view what) {
  if (steps.size() > kMaxSteps)
    return Status(Code::out_of_range, std::string(what) + ": " + std::to_string(steps.size()) +
                                          " steps, the most is " + std::to_string(kMaxSteps));
  Weights weights;
  for (std::size_t n = steps.size(); n-- > 0;) {
    weights.before(steps[n]);
    if (weights.max() > kMaxGrowth)
      return Status(Code::out_of_range, std::string(what) + ": from step " + std::to_string(n + 1) +
                                            " of " + std::to_string(steps.size()) +
                                            " on, a byte can become " +
                                            std::to_string(weights.max()) + ", the most is " +
                                            std::to_string(kMaxGrowth));
  }
  return {};
}

}  // namespace loom::text
