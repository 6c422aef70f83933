// Parses the regular expressions of tokenizers into a tree. The syntax is Oniguruma's, as far as
// tokenizers use it: alternation, groups, (?i), classes with ranges, nesting, && and negation,
// \p{category}, \s \d \w \h, escapes, quantifiers greedy and lazy, lookahead at one class ((?=x)
// (?!x)), $ and \z. Everything else is refused by name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/unicode/char_set.h"

namespace loom::text {

struct PatternNode {
  enum class Kind : std::uint8_t { set, sequence, choice, repeat, look };
  Kind kind = Kind::sequence;          // without children: nothing
  bool greedy = true;                  // repeat
  bool accepts_end = false;            // look: whether the end of the text satisfies it
  std::vector<std::int32_t> children;  // sequence, choice: in order; repeat: one
  std::int32_t set = -1;               // set and look: index into PatternTree::sets
  std::uint32_t min = 0, max = 0;      // repeat; kUnbounded
};

constexpr std::uint32_t kUnbounded = UINT32_MAX;

struct PatternTree {
  std::vector<PatternNode> nodes;
  std::vector<CharSet> sets;  // distinct
  std::int32_t root = -1;
};

Result<PatternTree> parse_pattern(std::string_view pattern);

}  // namespace loom::text
