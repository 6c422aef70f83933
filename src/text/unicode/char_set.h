// A set of code points as sorted, disjoint, non-adjacent ranges.
#pragma once

#include <cstdint>
#include <vector>

namespace loom::text {

constexpr char32_t kLastPoint = 0x10FFFF;

class CharSet {
 public:
  struct Range {
    char32_t first, last;  // inclusive
    bool operator==(const Range&) const = default;
  };

  CharSet() = default;
  CharSet(char32_t first, char32_t last) : ranges_{{first, last}} {}

  const std::vector<Range>& ranges() const { return ranges_; }
  bool contains(char32_t point) const;
  bool operator==(const CharSet&) const = default;

  // Amortized: call normalize() after the last one.
  void add(char32_t first, char32_t last);
  void add(const CharSet& other);
  void normalize();
  CharSet complement() const;
  CharSet united(const CharSet& other) const;
  CharSet intersected(const CharSet& other) const;
  // With every code point that has the same simple case folding as one of the set.
  CharSet with_case_variants() const;

  // Code points whose attributes (text/unicode/unicode.h) satisfy the test: a category in
  // `categories`, or all bits of `flags` where that is not 0.
  static CharSet with_attributes(std::uint32_t categories, std::uint32_t flags);
  static CharSet whitespace();

 private:
  std::vector<Range> ranges_;
};

}  // namespace loom::text
