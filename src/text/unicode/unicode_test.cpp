#include "text/unicode/unicode.h"

#include <gtest/gtest.h>

#include "text/unicode/char_set.h"
#include "text/unicode/utf8.h"

namespace loom::text {
namespace {

// Examples of UAX #15 and of the Unicode core specification.
TEST(Unicode, NormalForms) {
  const auto all = [](std::string_view text) {
    std::vector<std::string> out;
    for (const auto form : {NormalForm::nfc, NormalForm::nfd, NormalForm::nfkc, NormalForm::nfkd})
      out.push_back(normalize_unicode(text, form));
    return out;
  };
  using Forms = std::vector<std::string>;
  EXPECT_EQ(all("\u212B"), (Forms{"\u00C5", "A\u030A", "\u00C5", "A\u030A"}));
  EXPECT_EQ(all("\u1E69"), (Forms{"\u1E69", "s\u0323\u0307", "\u1E69", "s\u0323\u0307"}));
  EXPECT_EQ(all("\u1E0B\u0323"),
            (Forms{"\u1E0D\u0307", "d\u0323\u0307", "\u1E0D\u0307", "d\u0323\u0307"}));
  EXPECT_EQ(all("\uFB01"), (Forms{"\uFB01", "\uFB01", "fi", "fi"}));
  EXPECT_EQ(all("2\u2075"), (Forms{"2\u2075", "2\u2075", "25", "25"}));
  EXPECT_EQ(all("\u1E9B\u0323"),
            (Forms{"\u1E9B\u0323", "\u017F\u0323\u0307", "\u1E69", "s\u0323\u0307"}));
  EXPECT_EQ(all("\u1112\u1161\u11AB"),
            (Forms{"\uD55C", "\u1112\u1161\u11AB", "\uD55C", "\u1112\u1161\u11AB"}));
  EXPECT_EQ(all("\u0958"), (Forms{"\u0915\u093C", "\u0915\u093C", "\u0915\u093C",
                                  "\u0915\u093C"}));  // excluded from composition
  EXPECT_EQ(all("plain"), (Forms{"plain", "plain", "plain", "plain"}));
}

TEST(Unicode, CategoriesOfUnicode16) {
  const auto in = [](char32_t point, std::string_view name) {
    return (*category_bits(name) >> (attributes(point) & kCategoryMask) & 1) != 0;
  };
  EXPECT_TRUE(in('A', "Lu") && in('A', "L") && !in('A', "Ll"));
  EXPECT_TRUE(in(0x2167, "Nl") && in(0x00BD, "No") && in(0x0663, "Nd"));
  EXPECT_TRUE(in(0x1C89, "Lu"));  // new in 16.0
  EXPECT_TRUE(in(0xD800, "Cs") && in(0x10FFFF, "Cn") && in(0xE000, "Co"));
  EXPECT_FALSE(category_bits("Xx").has_value());
  std::size_t letters = 0;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) letters += in(c, "L");
  EXPECT_EQ(letters, 141028u);  // DerivedGeneralCategory of 16.0
}

TEST(Unicode, Case) {
  std::u32string out;
  for (const char32_t c : U"AZ\u00C9\u0130\u1E9E\u4E2D") append_lower(out, c);
  EXPECT_EQ(out, U"az\u00E9i\u0307\u00DF\u4E2D" + std::u32string(1, 0));
  EXPECT_EQ(case_variants('k').size(), 3u);  // with the Kelvin sign
}

// The examples of Unicode 16.0, table 3-8 and those around it.
TEST(Utf8, Lossy) {
  const auto lossy = [](std::string_view text) {
    std::string storage, streamed, out(utf8_lossy(text, storage));
    Utf8Stream stream;
    for (const char c : text) stream.push(std::string_view(&c, 1), streamed);
    stream.finish(streamed);
    EXPECT_EQ(streamed, out);
    return out;
  };
  EXPECT_EQ(lossy("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA");
  EXPECT_EQ(lossy("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA");
  EXPECT_EQ(lossy("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA\uFFFD\uFFFDB");
  EXPECT_EQ(lossy("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), "\uFFFD\uFFFD\uFFFD\uFFFDA");
  EXPECT_EQ(lossy("abcdefgh\u00e9\U0001F600"), "abcdefgh\u00e9\U0001F600");
}

// A set of one character goes a shorter way: beside a character without case it has the same
// variants.
TEST(Unicode, OneCharacterHasTheVariantsThatItHasInASet) {
  std::size_t with_variants = 0;
  for (const std::uint32_t point : case_foldings()) {
    const CharSet alone(point, point), mark('!', '!');
    EXPECT_EQ(alone.with_case_variants().united(mark), alone.united(mark).with_case_variants());
    with_variants +=
        alone.with_case_variants().contains(point) && alone.with_case_variants() != alone;
  }
  EXPECT_EQ(with_variants, case_foldings().size());
  EXPECT_EQ(CharSet('k', 'k').with_case_variants().ranges(),
            (std::vector<CharSet::Range>{{'K', 'K'}, {'k', 'k'}, {0x212A, 0x212A}}));
}

}  // namespace
}  // namespace loom::text
