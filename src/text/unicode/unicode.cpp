#include "text/unicode/unicode.h"

#include <algorithm>
#include <array>

#include "text/unicode/utf8.h"

namespace loom::text {
namespace {

#include "text/unicode/generated/unicode_tables.inc"

using Numbers = std::span<const std::uint32_t>;

// What `packed` of tools/generate_unicode.py wrote.
std::vector<std::uint32_t> unpacked(std::span<const std::uint8_t> bytes) {
  std::vector<std::uint32_t> out;
  std::uint32_t last = 0, code = 0;
  int shift = 0;
  for (const std::uint8_t byte : bytes) {
    code |= static_cast<std::uint32_t>(byte & 127) << shift;
    shift += 7;
    if (byte > 127) continue;
    last += code & 1 ? ~(code >> 1) : code >> 1;
    out.push_back(last);
    code = 0;
    shift = 0;
  }
  return out;
}
// Unpacked when it is first asked for. The attributes alone, which all texts need, lie as they are
// used.
template <const auto& bytes>
Numbers table() {
  static const std::vector<std::uint32_t> numbers = unpacked(bytes);
  return numbers;
}

// Index of the last run that starts at or before `point`.
std::uint32_t run_at(Numbers runs, char32_t point, int shift) {
  const std::uint32_t key = (point << shift) | ((1u << shift) - 1);
  return *(std::upper_bound(runs.begin(), runs.end(), key) - 1);
}

constexpr std::string_view kCategoryNames[] = {
    "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe",
    "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};

}  // namespace

std::uint32_t attributes(char32_t point) { return run_at(kAttributeRuns, point, 10) & 1023; }

bool is_whitespace(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

std::span<const std::uint32_t> attribute_runs() { return kAttributeRuns; }

std::optional<std::uint32_t> category_bits(std::string_view name) {
  std::uint32_t bits = 0;
  for (std::uint32_t i = 0; i < std::size(kCategoryNames); ++i)
    if (kCategoryNames[i] == name || (name.size() == 1 && kCategoryNames[i][0] == name[0])) bits |= 1u << i;
  if (bits == 0) return std::nullopt;
  return bits;
}

void append_lower(std::u32string& out, char32_t point) {
  if (point < 0x80) { out.push_back(point >= 'A' && point <= 'Z' ? point + 32 : point); return; }
  if (point == 0x130) { out += U"i\u0307"; return; }
  const Numbers lower = table<kLower>();
  std::size_t low = 0, high = lower.size() / 2;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (lower[2 * middle] < point) low = middle + 1; else high = middle;
  }
  out.push_back(low < lower.size() / 2 && lower[2 * low] == point ? lower[2 * low + 1] : point);
}

std::span<const std::uint32_t> case_foldings() { return table<kFold>(); }

std::vector<char32_t> case_variants(char32_t point) {
  const Numbers fold = table<kFold>();
  char32_t folded = point;
  for (std::size_t i = 0; i < fold.size(); i += 2)
    if (fold[i] == point) folded = fold[i + 1];
  std::vector<char32_t> out{folded};
  for (std::size_t i = 0; i < fold.size(); i += 2)
    if (fold[i + 1] == folded) out.push_back(fold[i]);
  return out;
}

namespace {

// Hangul syllables are composed by arithmetic (Unicode 16.0 section 3.12).
constexpr char32_t kS = 0xAC00, kL = 0x1100, kV = 0x1161, kT = 0x11A7;
constexpr char32_t kLCount = 19, kVCount = 21, kTCount = 28, kSCount = kLCount * kVCount * kTCount;

bool append_from(Numbers keys, Numbers starts, Numbers text, char32_t point, std::u32string& out) {
  const auto found = std::lower_bound(keys.begin(), keys.end(), point);
  if (found == keys.end() || *found != point) return false;
  const std::size_t i = static_cast<std::size_t>(found - keys.begin());
  for (std::size_t j = starts[i]; j < starts[i + 1]; ++j) out.push_back(text[j]);
  return true;
}

std::uint32_t combining_class(char32_t point) { return point < 0x300 ? 0 : run_at(table<kCombiningRuns>(), point, 8) & 255; }

void decompose(char32_t c, bool compatible, std::u32string& out) {
  if (c < 0xA0) { out.push_back(c); return; }
  if (c - kS < kSCount) {
    const char32_t s = c - kS;
    out.push_back(kL + s / (kVCount * kTCount));
    out.push_back(kV + s % (kVCount * kTCount) / kTCount);
    if (s % kTCount != 0) out.push_back(kT + s % kTCount);
    return;
  }
  if (compatible && append_from(table<kCompatibleKeys>(), table<kCompatibleStarts>(),
                                table<kCompatibleText>(), c, out)) return;
  if (!append_from(table<kCanonicalKeys>(), table<kCanonicalStarts>(), table<kCanonicalText>(), c,
                   out)) out.push_back(c);
}

// Marks between two starters are put in the order of their classes, stably.
void order_marks(std::u32string& points) {
  for (std::size_t i = 0; i < points.size();) {
    if (combining_class(points[i]) == 0) { ++i; continue; }
    std::size_t end = i + 1;
    while (end < points.size() && combining_class(points[end]) != 0) ++end;
    if (end - i > 1)
      std::stable_sort(points.begin() + static_cast<std::ptrdiff_t>(i), points.begin() + static_cast<std::ptrdiff_t>(end),
                       [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); });
    i = end;
  }
}

// The composition of a pair, or 0.
char32_t composed(char32_t a, char32_t b) {
  if (a - kL < kLCount && b - kV < kVCount) return kS + ((a - kL) * kVCount + (b - kV)) * kTCount;
  if (a - kS < kSCount && (a - kS) % kTCount == 0 && b - kT - 1 < kTCount - 1) return a + (b - kT);
  const Numbers pairs = table<kCompose>();
  std::size_t low = 0, high = pairs.size() / 3;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const std::uint32_t* p = pairs.data() + 3 * middle;
    if (p[0] < a || (p[0] == a && p[1] < b)) low = middle + 1; else high = middle;
  }
  const std::uint32_t* p = pairs.data() + 3 * low;
  return low < pairs.size() / 3 && p[0] == a && p[1] == b ? p[2] : 0;
}

void compose(std::u32string& points) {
  std::size_t out = 0, starter = points.size();
  std::uint32_t last_class = 0;
  for (const char32_t c : points) {
    const std::uint32_t cls = combining_class(c);
    // A mark is blocked from the starter by an earlier mark of the same or a higher class.
    if (starter < out && (last_class < cls || (last_class == 0 && starter + 1 == out))) {
      if (const char32_t whole = composed(points[starter], c)) { points[starter] = whole; continue; }
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
  // Below these points nothing changes: U+0300 is the first mark, U+00C0 the first letter with a canonical decomposition.
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
