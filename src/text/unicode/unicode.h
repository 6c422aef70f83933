// Facts about code points, measured on the `tokenizers` package by tools/generate_unicode.py so
// that ids agree with it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loom::text {

// Bits of attributes() above the five of the general category.
enum : std::uint32_t {
  kCategoryMask = 31,
  kPatternWord = 1 << 5,     // \w of a pattern
  kNumeric = 1 << 6,         // Rust's char::is_numeric
  kPunctuation = 1 << 7,     // what the Punctuation pre-tokenizer splits
  kWord = 1 << 8,            // \w of the Whitespace pre-tokenizer and of single_word
  kStrippedAccent = 1 << 9,  // what StripAccents removes
};
std::uint32_t attributes(char32_t point);
bool is_whitespace(char32_t point);  // White_Space of Unicode

// Runs of equal attributes: each starts at `run >> 10` and has the attributes `run & 1023`;
// together they cover all code points.
std::span<const std::uint32_t> attribute_runs();

// Bit set of the general categories with this name ("L", "Lu", "N"...); bit i is category i of the
// attributes.
std::optional<std::uint32_t> category_bits(std::string_view name);

// Appends the lower case of `point` (only U+0130 becomes two).
void append_lower(std::u32string& out, char32_t point);
// All code points with the same simple case folding as `point`, itself included.
std::vector<char32_t> case_variants(char32_t point);
// Case pairs (point, folding), sorted by point, flattened.
std::span<const std::uint32_t> case_foldings();

enum class NormalForm : std::uint8_t { nfc, nfd, nfkc, nfkd };
// Unicode normalization (UAX #15). `text` is valid UTF-8.
std::string normalize_unicode(std::string_view text, NormalForm form);

}  // namespace loom::text
