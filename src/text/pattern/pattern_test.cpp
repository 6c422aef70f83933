#include "text/pattern/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace loom::text {
namespace {

// The matches of a text, each in brackets, with what stands between them.
std::string matches(std::string_view expression, std::string_view text) {
  auto pattern = Pattern::compile(expression);
  if (!pattern.ok()) return pattern.status().to_string();
  Pattern::Scratch scratch;
  std::vector<Span> spans;
  pattern->find_all(text, spans, scratch);
  std::string out;
  std::size_t at = 0;
  for (const Span& s : spans) {
    out += std::string(text.substr(at, s.begin - at)) + "[" +
           std::string(text.substr(s.begin, s.end - s.begin)) + "]";
    at = s.end;
  }
  return out + std::string(text.substr(at));
}

// Expectations as Python's re or Oniguruma give them.
TEST(Pattern, LeftmostFirst) {
  EXPECT_EQ(matches("a|ab", "abab"), "[a]b[a]b");
  EXPECT_EQ(matches("ab|a", "abaab"), "[ab][a][ab]");
  EXPECT_EQ(matches("a*?b", "aab"), "[aab]");
  EXPECT_EQ(matches("a+?", "aa"), "[a][a]");
  EXPECT_EQ(matches("(a|ab)(c|bcd)", "abcd"), "[abcd]");
  EXPECT_EQ(matches("x*", "axb"), "[]a[x]b[]");
  EXPECT_EQ(matches("(a*)*b", "aaac"), "aaac");
  EXPECT_EQ(matches("a{2,3}", "aaaaaaa"), "[aaa][aaa]a");
  EXPECT_EQ(matches("a{,2}b", "aaab"), "a[aab]");
  EXPECT_EQ(matches("a{x}", "a{x}"), "[a{x}]");
}

TEST(Pattern, Classes) {
  EXPECT_EQ(matches(R"([^\r\n\p{L}\p{N}]?\p{L}+)", "a1 \u00e9t\u00e9\u4e2d!b"),
            "[a]1[ \u00e9t\u00e9\u4e2d][!b]");
  EXPECT_EQ(matches(R"([a-c&&[^b]]+)", "abcab"), "[a]b[ca]b");
  EXPECT_EQ(matches(R"([^(\s|[.,!])]+)", "ab|c,d"), "[ab]|[c],[d]");
  EXPECT_EQ(matches(R"((?i:'s|k)+)", "'S'\u017F\u212AK"), "['S'\u017F\u212AK]");
  EXPECT_EQ(matches(R"((?i)[a-b]\x41\u0062)", "BAB"), "[BAB]");
  EXPECT_EQ(matches(R"(\P{L}+|\p{^Lu})", "A1a"), "A[1][a]");
  EXPECT_EQ(matches("[]a]+", "]a"), "[]a]");
}

TEST(Pattern, Lookahead) {
  EXPECT_EQ(matches(R"(\s+(?!\S)|\s+)", "a   b  "), "a[  ][ ]b[  ]");
  EXPECT_EQ(matches(R"(a(?=b))", "abac"), "[a]bac");
  EXPECT_EQ(matches(R"(\s+$)", "a \n b "), "a[ ]\n b[ ]");
  EXPECT_EQ(matches(R"(a(?!\r|\n))", "a\naab"), "a\n[a][a]b");
}

TEST(Pattern, RefusesByName) {
  for (const auto& [expression, part] :
       {std::pair("(?<=a)b", "lookbehind"), std::pair("a(?!bc)", "more than one character"),
        std::pair("(a", "without an end"), std::pair("a)", "without '('"),
        std::pair("[a", "without ]"), std::pair(R"(\p{Klingon})", "Klingon"),
        std::pair("*a", "without something to repeat"), std::pair(R"((a)\1)", "escape \\1"),
        std::pair("a{5,2}", "larger count first"),
        std::pair("((((a{1000}){1000}){1000}){1000})", "too large"),
        std::pair("a++", "possessive")}) {
    const std::string got = matches(expression, "");
    EXPECT_NE(got.find(part), std::string::npos) << got;
    EXPECT_FALSE(Pattern::compile(expression).ok());
  }
  EXPECT_FALSE(Pattern::compile(std::string(100000, '(')).ok());
  EXPECT_TRUE(Pattern::compile("((((){1000}){1000}){1000}){1000}").ok());
}

// Each of these takes a backtracking matcher exponential or quadratic time.
TEST(Pattern, LinearTime) {
  const std::string text(200'000, 'a');
  for (const char* expression : {"(a*)*b", "(a|a)*b|c", "a[^b]*b|a", "(a?){30}a{30}b", "a+b"}) {
    auto pattern = Pattern::compile(expression);
    ASSERT_TRUE(pattern.ok()) << pattern.status().to_string();
    Pattern::Scratch scratch;
    std::vector<Span> spans;
    pattern->find_all(text, spans, scratch);
    EXPECT_EQ(spans.size(), expression == std::string_view("a[^b]*b|a") ? text.size() : 0u)
        << expression;
  }
}

}  // namespace
}  // namespace loom::text
