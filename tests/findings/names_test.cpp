// Line G11 of the findings, at the library: names from files, made safe to print.
#include <gtest/gtest.h>

#include "base/escape.h"

namespace loom {
namespace {

TEST(Findings, G11_NamesAreEscaped) {
  EXPECT_EQ(escaped("a\x1b[2Jb\nc\td\x7f"), "a\\x1b[2Jb\\x0ac\\x09d\\x7f");
  EXPECT_EQ(escaped("caf\xC3\xA9 \xE7\x8C\xAB \xF0\x9F\x98\x80"),
            "caf\xC3\xA9 \xE7\x8C\xAB \xF0\x9F\x98\x80");  // UTF-8 stays
  EXPECT_EQ(escaped("\xC2\x9B"
                    "2J"),
            "\\xc2\\x9b2J");  // CSI as one character
  EXPECT_EQ(escaped("\xE2\x80\xAE"
                    "cod"),
            "\\xe2\\x80\\xae"
            "cod");  // turns the direction
  EXPECT_EQ(escaped("\x80 \xC3 \xC0\xAF \xED\xA0\x80 \xF5\x80\x80\x80 \xE7\x8C"),
            "\\x80 \\xc3 \\xc0\\xaf \\xed\\xa0\\x80 \\xf5\\x80\\x80\\x80 \\xe7\\x8c");
  EXPECT_EQ(escaped(std::string_view("\0", 1)), "\\x00");
  // Errors use the same, cut at a whole character.
  EXPECT_EQ(loom::quoted("a\x1b"
                         "b\xC3\xA9"),
            "'a\\x1b"
            "b\xC3\xA9'");
  EXPECT_EQ(loom::quoted(std::string(79, 'x') + "\xC3\xA9y"), "'" + std::string(79, 'x') + "...'");
}

TEST(Findings, G11_WhatJsonCanHoldIsKnown) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("caf\xC3\xA9 \x1b"));
  for (const char* text : {"\xE9", "\xC0\xAF", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE7\x8C"})
    EXPECT_FALSE(is_utf8(text)) << escaped(text);
}

}  // namespace
}  // namespace loom
