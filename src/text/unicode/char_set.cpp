#include "text/unicode/char_set.h"

#include <algorithm>

#include "text/unicode/unicode.h"

namespace loom::text {

bool CharSet::contains(char32_t point) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), point,
                                      [](char32_t p, const Range& r) { return p < r.first; });
  return after != ranges_.begin() && point <= (after - 1)->last;
}

void CharSet::add(char32_t first, char32_t last) { ranges_.push_back({first, last}); }

void CharSet::add(const CharSet& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
}

// Sets are put together of a few that are in order, so runs are merged and not all sorted anew.
void CharSet::normalize() {
  const auto before = [](const Range& a, const Range& b) {
    return a.first != b.first ? a.first < b.first : a.last < b.last;
  };
  std::vector<std::ptrdiff_t> runs{0};  // where each begins, and the end
  for (std::size_t i = 1; i < ranges_.size(); ++i)
    if (before(ranges_[i], ranges_[i - 1])) runs.push_back(static_cast<std::ptrdiff_t>(i));
  runs.push_back(static_cast<std::ptrdiff_t>(ranges_.size()));
  while (runs.size() > 2) {
    std::size_t kept = 1;
    for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
      const std::size_t end = std::min(i + 2, runs.size() - 1);
      if (end == i + 2)
        std::inplace_merge(ranges_.begin() + runs[i], ranges_.begin() + runs[i + 1],
                           ranges_.begin() + runs[end], before);
      runs[kept++] = runs[end];
    }
    runs.resize(kept);
  }
  std::size_t kept = 0;
  for (const Range& r : ranges_) {
    if (kept > 0 && r.first <= ranges_[kept - 1].last + 1)
      ranges_[kept - 1].last = std::max(ranges_[kept - 1].last, r.last);
    else ranges_[kept++] = r;
  }
  ranges_.resize(kept);
}

CharSet CharSet::complement() const {
  CharSet out;
  out.ranges_.reserve(ranges_.size() + 1);
  char32_t next = 0;
  for (const Range& r : ranges_) {
    if (r.first > next) out.add(next, r.first - 1);
    next = r.last + 1;
  }
  if (next <= kLastPoint) out.add(next, kLastPoint);
  return out;
}

CharSet CharSet::united(const CharSet& other) const {
  CharSet out = *this;
  out.add(other);
  out.normalize();
  return out;
}

CharSet CharSet::intersected(const CharSet& other) const {
  return complement().united(other.complement()).complement();
}

CharSet CharSet::with_case_variants() const {
  const auto pairs = case_foldings();
  CharSet foldings;
  // One character, as patterns have them by the thousand: what it folds to, and all that do.
  if (ranges_.size() == 1 && ranges_[0].first == ranges_[0].last) {
    const char32_t one = ranges_[0].first;
    char32_t folded = one;
    for (std::size_t i = 0; i < pairs.size() && folded == one; i += 2)
      if (pairs[i] == one) folded = pairs[i + 1];
    CharSet out = *this;
    for (std::size_t i = 0; i < pairs.size(); i += 2)
      if (pairs[i + 1] == folded) out.add(pairs[i], pairs[i]);
    out.add(folded, folded);
    out.normalize();
    return out;
  }
  for (std::size_t i = 0; i < pairs.size(); i += 2)
    if (contains(pairs[i]) || contains(pairs[i + 1])) foldings.add(pairs[i + 1], pairs[i + 1]);
  foldings.normalize();
  CharSet out = united(foldings);
  for (std::size_t i = 0; i < pairs.size(); i += 2)
    if (foldings.contains(pairs[i + 1])) out.add(pairs[i], pairs[i]);
  out.normalize();
  return out;
}

CharSet CharSet::with_attributes(std::uint32_t categories, std::uint32_t flags) {
  CharSet out;
  const auto runs = attribute_runs();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool in = (categories >> (runs[i] & kCategoryMask) & 1) != 0 ||
                    (flags != 0 && (runs[i] & flags) == flags);
    if (in) out.add(runs[i] >> 10, i + 1 < runs.size() ? (runs[i + 1] >> 10) - 1 : kLastPoint);
  }
  out.normalize();
  return out;
}

CharSet CharSet::whitespace() {
  CharSet out;
  for (char32_t c = 0; c <= 0x3000; ++c)
    if (is_whitespace(c)) out.add(c, c);
  out.normalize();
  return out;
}

}  // namespace loom::text
