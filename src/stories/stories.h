// Short stories from a seeded grammar, and the recognizer of exactly those stories. The embedded
// language model is trained on the first and graded by the second, so its quality is a number: the
// share of its stories that the grammar accepts. Both walk one graph, compiled once from the
// grammar's text (world.cpp, plots.cpp); see docs/reference/stories.md. All functions are pure and
// may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loom::stories {

// Changes whenever generate() would give another text for some (seed, index).
inline constexpr int kGrammarVersion = 1;

// One story: ASCII, a single line, sentences separated by one space, no newline at the end.
std::string generate(std::uint64_t seed, std::uint64_t index);

struct Verdict {
  bool accepted = false;
  std::string reason;      // empty when accepted; else what the grammar expected, and what is there
  std::size_t offset = 0;  // the first byte that no story of the grammar has after the bytes before
                           // it; the size when accepted
};

// Accepts a text if and only if generate() can produce it for some choices. Any bytes are allowed;
// the time is bounded by the longest story, not by the text.
Verdict recognize(std::string_view story);

// The distinct words of all stories in lower case, sorted; a possessive 's is not part of a word.
std::vector<std::string> vocabulary();

// The decimal logarithm of the number of derivations (a test shows that stories have one derivation
// each).
double log10_story_count();

}  // namespace loom::stories
