#include "text/unicode/unicode.h"

#include <algorithm>
#include <array>

#include "text/unicode/utf8.h"

namespace loom::text {
namespace {

// Fills a table from its differences (tools/generate_unicode.py).
template <std::size_t B, std::size_t N>
void unpack(const unsigned char (&bytes)[B], std::uint32_t (&table)[N], std::size_t stride) {
  const unsigned char* at = bytes;
  for (std::size_t i = 0; i < N; ++i) {
    std::uint32_t code = 0;
    for (int shift = 0;; shift += 7) {
      code |= static_cast<std::uint32_t>(*at & 127) << shift;
      if (*at++ < 128) break;
    }
    const std::uint32_t difference = code & 1 ? ~(code >> 1) : code >> 1;
    table[i] = (i >= stride ? table[i - stride] : 0) + difference;
  }
}
#include "text/unicode/generated/unicode_tables.inc"
// Unpacked at their first use, into memory that is there: nothing can fail.
const Tables& tables() {
  static const Tables all;
  return all;
}

// Index of the last run that starts at or before `point`.
template <std::size_t N>
std::uint32_t run_at(const std::uint32_t (&runs)[N], char32_t point, int shift) {
  const std::uint32_t key = (point << shift) | ((1u << shift) - 1);
  return *(std::upper_bound(runs, runs + N, key) - 1);
}

constexpr std::string_view kCategoryNames[] = {
    "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps",
    "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};

}  // namespace

std::uint32_t attributes(char32_t point) {
  return run_at(tables().attribute_runs, point, 10) & 1023;
}

bool is_whitespace(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::span<const std::uint32_t> attribute_runs() { return tables().attribute_runs; }

std::optional<std::uint32_t> category_bits(std::string_view name) {
  std::uint32_t bits = 0;
  for (std::uint32_t i = 0; i < std::size(kCategoryNames); ++i)
    if (kCategoryNames[i] == name || (name.size() == 1 && kCategoryNames[i][0] == name[0]))
      bits |= 1u << i;
  if (bits == 0) return std::nullopt;
  return bits;
}

void append_lower(std::u32string& out, char32_t point) {
  if (point < 0x80) {
    out.push_back(point >= 'A' && point <= 'Z' ? point + 32 : point);
    return;
  }
  if (point == 0x130) {
    out += U"i\u0307";
    return;
  }
  std::size_t low = 0, high = std::size(tables().lower) / 2;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (tables().lower[2 * middle] < point) low = middle + 1;
    else high = middle;
  }
  out.push_back(low < std::size(tables().lower) / 2 && tables().lower[2 * low] == point
                    ? tables().lower[2 * low + 1]
                    : point);
}

std::span<const std::uint32_t> case_foldings() { return tables().fold; }

std::vector<char32_t> case_variants(char32_t point) {
  char32_t folded = point;
  for (std::size_t i = 0; i < std::size(tables().fold); i += 2)
    if (tables().fold[i] == point) folded = tables().fold[i + 1];
  std::vector<char32_t> out{folded};
  for (std::size_t i = 0; i < std::size(tables().fold); i += 2)
    if (tables().fold[i + 1] == folded) out.push_back(tables().fold[i]);
  return out;
}

namespace {

// Hangul syllables are composed by arithmetic (Unicode 16.0 section 3.12).
constexpr char32_t kS = 0xAC00, kL = 0x1100, kV = 0x1161, kT = 0x11A7;
constexpr char32_t kLCount = 19, kVCount = 21, kTCount = 28, kSCount = kLCount * kVCount * kTCount;

template <std::size_t N, std::size_t M, std::size_t K>
bool append_from(const std::uint32_t (&keys)[N], const std::uint32_t (&starts)[M],
                 const std::uint32_t (&text)[K], char32_t point, std::u32string& out) {
  const auto* found = std::lower_bound(keys, keys + N, point);
  if (found == keys + N || *found != point) return false;
  const std::size_t i = static_cast<std::size_t>(found - keys);
  for (std::size_t j = starts[i]; j < starts[i + 1]; ++j) out.push_back(text[j]);
  return true;
}

std::uint32_t combining_class(char32_t point) {
  return point < 0x300 ? 0 : run_at(tables().combining_runs, point, 8) & 255;
}

void decompose(char32_t c, bool compatible, std::u32string& out) {
  if (c < 0xA0) {
    out.push_back(c);
    return;
  }
  if (c - kS < kSCount) {
    const char32_t s = c - kS;
    out.push_back(kL + s / (kVCount * kTCount));
    out.push_back(kV + s % (kVCount * kTCount) / kTCount);
    if (s % kTCount != 0) out.push_back(kT + s % kTCount);
    return;
  }
  if (compatible && append_from(tables().compatible_keys, tables().compatible_starts,
                                tables().compatible_text, c, out))
    return;
  if (!append_from(tables().canonical_keys, tables().canonical_starts, tables().canonical_text, c,
                   out))
    out.push_back(c);
}

// Marks between two starters are put in the order of their classes, stably.
void order_marks(std::u32string& points) {
  for (std::size_t i = 0; i < points.size();) {
    if (combining_class(points[i]) == 0) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < points.size() && combining_class(points[end]) != 0) ++end;
    if (end - i > 1)
      std::stable_sort(
          points.begin() + static_cast<std::ptrdiff_t>(i),
          points.begin() + static_cast<std::ptrdiff_t>(end),
          [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); });
    i = end;
  }
}

// The composition of a pair, or 0.
char32_t composed(char32_t a, char32_t b) {
  if (a - kL < kLCount && b - kV < kVCount) return kS + ((a - kL) * kVCount + (b - kV)) * kTCount;
  if (a - kS < kSCount && (a - kS) % kTCount == 0 && b - kT - 1 < kTCount - 1) return a + (b - kT);
  std::size_t low = 0, high = std::size(tables().pairs) / 3;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const std::uint32_t* p = tables().pairs + 3 * middle;
    if (p[0] < a || (p[0] == a && p[1] < b)) low = middle + 1;
    else high = middle;
  }
  const std::uint32_t* p = tables().pairs + 3 * low;
  return low < std::size(tables().pairs) / 3 && p[0] == a && p[1] == b ? p[2] : 0;
}

void compose(std::u32string& points) {
  std::size_t out = 0, starter = points.size();
  std::uint32_t last_class = 0;
  for (const char32_t c : points) {
    const std::uint32_t cls = combining_class(c);
    // A mark is blocked from the starter by an earlier mark of the same or a higher class.
    if (starter < out && (last_class < cls || (last_class == 0 && starter + 1 == out))) {
      if (const char32_t whole = composed(points[starter], c)) {
        points[starter] = whole;
        continue;
      }
    }
    if (cls == 0) starter = out;
    last_class = cls;
    points[out++] = c;
  }
  points.resize(out);
}

}  // namespace

std::string normalize_unicode(std::string_view text, NormalForm form) {
  const bool compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  const bool composing = form == NormalForm::nfc || form == NormalForm::nfkc;
  // Below these points nothing changes: U+0300 is the first mark, U+00C0 the first letter with a
  // canonical decomposition.
  const char32_t quiet = compatible ? 0xA0 : composing ? 0x300 : 0xC0;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t next = at;
    if (utf8_next(text, next) >= quiet) break;
    at = next;
  }
  if (at == text.size()) return std::string(text);

  std::u32string points;
  points.reserve(text.size());
  for (at = 0; at < text.size();) decompose(utf8_next(text, at), compatible, points);
  order_marks(points);
  if (composing) compose(points);
  std::string out;
  out.reserve(text.size() + 8);
  for (const char32_t c : points) utf8_append(out, c);
  return out;
}

}  // namespace loom::text
