// Line G11 of the findings, at the library: names from files, made safe to print.
#include <gtest/gtest.h>

#include <fstream>

#include "base/escape.h"
#include "formats/test_files.h"
#include "loom/loom.h"

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

TEST(Findings, G11_ErrorsOfTheCInterfaceAreSafeToPrint) {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/tokenizer.json";
  loom_error error{};
  loom_tokenizer tokenizer = 0;
  const auto message_of = [&](const std::string& type) {
    std::ofstream(path, std::ios::binary) << R"({"model":{"type":")" + type + R"("}})";
    EXPECT_EQ(loom_tokenizer_load(path.data(), path.size(), &tokenizer, &error), LOOM_UNSUPPORTED);
    return std::string(error.message);
  };
  EXPECT_NE(message_of("\\u001b[2J\\n\xC3\xA9").find("'\\x1b[2J\\x0a\xC3\xA9'"), std::string::npos)
      << error.message;
  // Cut between characters, also between those that became longer.
  std::string filler = "\\u001b";
  for (int i = 0; i < 10; ++i) filler += filler;
  const std::string cut = message_of(filler);
  EXPECT_GT(cut.size(), 1000u);
  EXPECT_TRUE(cut.ends_with("\\x1b")) << cut;
}

TEST(Findings, G11_WhatJsonCanHoldIsKnown) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("caf\xC3\xA9 \x1b"));
  for (const char* text : {"\xE9", "\xC0\xAF", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE7\x8C"})
    EXPECT_FALSE(is_utf8(text)) << escaped(text);
}

}  // namespace
}  // namespace loom
