#include "train/data/bag_of_words.h"

#include <gtest/gtest.h>

#include <map>

namespace loom {
namespace {

std::map<int, int> counts(std::string_view text) {
  std::map<int, int> all;
  for (const WordCount& w : count_words(text)) all[w.hash] = static_cast<int>(w.count);
  return all;
}

// Hashes of a FNV-1a written elsewhere; those of "a" and "foobar" are in its authors' test vectors
// (af63dc4c8601ec8c, 85944171f73967e8).
TEST(Words, WordsAndPairsAreHashed) {
  EXPECT_EQ(counts("a"), (std::map<int, int>{{0x30c0, 1}}));
  const std::map<int, int> want = {{0x30c0, 2}, {0x2699, 1}, {0x7b8a, 1}, {0xcab0, 1}};
  EXPECT_EQ(counts("a foobar a"), want);
  EXPECT_EQ(counts("\xEF\xBB\xBF  A\tFooBar!\n\"a\" ..."), want);
  EXPECT_EQ(counts(""), (std::map<int, int>{}));
  EXPECT_EQ(counts(" .,;!\n"), (std::map<int, int>{}));
  EXPECT_EQ(counts("don't"), (std::map<int, int>{{0xc6d6, 1}, {0xebef, 1}, {0xf551, 1}}));
}

TEST(Words, Utf8StaysAndCharactersWithoutBlanksAreWords) {
  EXPECT_EQ(counts("\xC3\xA9t\xC3\xA9"), (std::map<int, int>{{0x9759, 1}}));
  // Two characters of a script without blanks: each of them, and the pair.
  EXPECT_EQ(counts("\xE7\x8C\xAB\xE3\x81\x8C"),
            (std::map<int, int>{{0xe754, 1}, {0xbf84, 1}, {0x79e0, 1}}));
  // Cut and stray bytes are bytes of words: nothing is read beyond the end.
  EXPECT_EQ(count_words("\xE7\x8C").size(), 1u);
  EXPECT_EQ(count_words("a\xFF").size(), 1u);
}

TEST(Words, PlacesFollowTheNumberOfWords) {
  EXPECT_EQ(places_for({}), 4096);
  EXPECT_EQ(places_for({count_words("a few words")}), 4096);
  std::string many, more;
  for (int i = 0; i < 3000; ++i) many += "w" + std::to_string(i) + " ";
  EXPECT_EQ(places_for({count_words(many)}), 8192);
  for (int i = 0; i < 40000; ++i) more += "w" + std::to_string(i) + " ";
  EXPECT_EQ(places_for({count_words(more)}), 16384);
}

TEST(Words, ValuesAreLogarithmsOfLengthOne) {
  const std::vector<std::vector<WordCount>> texts = {count_words("a foobar a"), {}};
  auto data = SparseData::create(texts, 4096, {1, -1});
  ASSERT_TRUE(data.ok()) << data.status().to_string();
  EXPECT_EQ((*data)->samples(), 2);
  EXPECT_EQ((*data)->form().width, 4096);
  EXPECT_EQ((*data)->form().classes, 2);
  Batch batch;
  (*data)->append(0, batch);
  (*data)->append(1, batch);
  ASSERT_EQ(batch.x.size(), 2u * 4096u);
  // 1 + ln 2, 1, 1, 1 over the root of the sum of their squares, sqrt(5.866747...).
  EXPECT_FLOAT_EQ(batch.x[0x30c0 & 4095], 0.69903033f);
  for (const int place : {0x2699 & 4095, 0x7b8a & 4095, 0xcab0 & 4095})
    EXPECT_FLOAT_EQ(batch.x[static_cast<std::size_t>(place)], 0.41285846f);
  double sum = 0;
  for (const float v : batch.x) sum += static_cast<double>(v) * static_cast<double>(v);
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_EQ(batch.classes, (std::vector<std::int32_t>{1, -1}));
  EXPECT_EQ(batch.rows, 2);
  EXPECT_NE((*data)->hash(), (*SparseData::create(texts, 4096, {0, -1}))->hash());
  EXPECT_NE((*data)->hash(), (*SparseData::create(texts, 8192, {1, -1}))->hash());
  EXPECT_FALSE(SparseData::create({}, 4096, {}).ok());
}

// Words that share a place are one.
TEST(Words, CountsOfAPlaceAreAdded) {
  auto data = SparseData::create({{{1, 1}, {1 + 4096, 1}, {7, 2}}}, 4096, {0});
  ASSERT_TRUE(data.ok());
  Batch batch;
  (*data)->append(0, batch);
  EXPECT_EQ(batch.x[1], batch.x[7]);
  EXPECT_FLOAT_EQ(batch.x[1], 0.70710678f);
}

}  // namespace
}  // namespace loom
