// Splits normalized text into the words that the model encodes one by one. Immutable, thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/pattern/matcher.h"
#include "text/pipeline/step.h"

namespace loom::text {

inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// The words of a text: `text` points to the input, or to the storage here where a step rewrote it.
struct Words {
  std::string_view text;
  std::vector<Span> spans;  // none is empty

  std::string storage, other_storage;
  std::vector<Span> other_spans, matches;
  std::vector<std::pair<Span, bool>> parts;
  Pattern::Scratch pattern;
};

class PreTokenizer {
 public:
  static Result<PreTokenizer> build(std::vector<Step> steps);
  const std::vector<Step>& steps() const { return steps_; }
  // `at_start`: the text stands at the beginning of the whole input. `text` must outlive the use of
  // `words`.
  void apply(std::string_view text, bool at_start, Words& words) const;

 private:
  void split(const Step& step, const Matcher& matcher, Words& words) const;
  std::vector<Step> steps_;
  std::vector<Matcher> matchers_;  // one per step; unused where the step has no pattern
};

}  // namespace loom::text
