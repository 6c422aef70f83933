// A regular expression matcher for untrusted patterns: all matches of a text in time linear in the
// text, whatever the pattern.
//
// A pattern becomes an ordered position automaton (Glushkov): one position per character class of
// the expression, and for each position the positions that may come next, in the order in which a
// backtracking matcher would try them. A pass from the right marks, for each character, the
// positions from which a match can still be completed; a pass from the left then always takes the
// first choice that is marked. It never has to step back, and finds exactly the leftmost-first
// match (after Frisch and Cardelli, "Greedy regular expression matching", 2004).
//
// Immutable and thread-safe; each thread brings its own Scratch.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/unicode/char_set.h"

namespace loom::text {

struct Span {
  std::size_t begin, end;  // bytes
};

class Pattern {
 public:
  struct Scratch {
    std::vector<std::uint8_t> classes;  // per character
    std::vector<std::uint64_t> alive;   // per character, words_ each
  };

  static Result<Pattern> compile(std::string_view expression);

  // Appends all matches of `text` (valid UTF-8) from left to right, not overlapping. After an empty
  // match at the end of the match before it the search moves on by a character, as Oniguruma's
  // iteration does.
  void find_all(std::string_view text, std::vector<Span>& matches, Scratch& scratch) const;
  // Whether a match can be empty.
  bool may_be_empty() const;

 private:
  static constexpr std::size_t kMaxClasses = 255;
  using Condition =
      std::bitset<kMaxClasses + 1>;  // over classes; the end of the text is the class class_count_

  struct Choice {
    std::uint16_t target;     // position, or position_count_: the match is complete
    std::uint16_t condition;  // index into conditions_: what the next character must be
  };
  // What follows a position, once as choices in order and once as masks for the pass from the
  // right.
  struct Follow {
    std::uint32_t first, last;              // choices_
    std::uint32_t first_group, last_group;  // groups_
  };
  struct Group {
    std::uint16_t condition;
    bool accepts;
    std::uint32_t mask;  // index into masks_, words_ words
  };
  struct Program;
  struct Walk;

  Status build_classes(const std::vector<CharSet>& sets,
                       std::vector<std::vector<std::uint8_t>>* members);
  void build_pages(const std::vector<char32_t>& starts, const std::vector<std::uint8_t>& cls);
  // What follows each position: the choices in order, then by the conditions that they share.
  Status build_follow(const Program& program);
  Status walk_from(std::uint32_t start, const Program& program, Walk& walk);
  Result<std::uint32_t> condition_with(std::uint32_t condition, std::int32_t set, bool accepts_end,
                                       const Program& program);
  void group_choices(Follow& follow);
  void mark(Scratch& scratch) const;
  std::uint8_t class_of(char32_t point) const {
    return class_table_[page_[point >> 8] * 256u + (point & 255)];
  }

  std::size_t position_count_ = 0, words_ = 1, class_count_ = 1;
  std::vector<std::uint16_t> page_;  // code point / 256 -> block of class_table_
  std::vector<std::uint8_t> class_table_;
  std::vector<std::uint64_t> in_class_;  // [class][words_]: positions whose set holds the class
  std::vector<Condition> conditions_;    // 0 is always true
  std::vector<Choice> choices_;
  std::vector<Group> groups_;
  std::vector<std::uint64_t> masks_;
  std::vector<Follow> follow_;  // per position; the last one is the start
};

}  // namespace loom::text
