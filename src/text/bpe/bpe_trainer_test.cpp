#include "text/bpe/bpe_trainer.h"

#include <gtest/gtest.h>

#include <map>

namespace loom {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at + 1), text.size());
    out.push_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

// The definition, without any bookkeeping: count all pairs of all words, merge the best, again. For
// text of letters and single spaces.
std::vector<std::string> by_definition(std::string_view text, std::size_t merges) {
  std::vector<std::vector<std::string>> words;
  for (const auto word : words_of(text)) {
    auto& w = words.emplace_back();
    for (const char c : word) w.emplace_back(1, c);
  }
  std::vector<std::string> out;
  while (out.size() < merges) {
    std::map<std::pair<std::string, std::string>, int> counts;
    for (const auto& w : words)
      for (std::size_t i = 0; i + 1 < w.size(); ++i) ++counts[{w[i], w[i + 1]}];
    const std::pair<const std::pair<std::string, std::string>, int>* best = nullptr;
    for (const auto& entry : counts)
      if (!best || entry.second > best->second) best = &entry;
    if (!best || best->second < 2) break;
    const auto [left, right] = best->first;
    out.push_back(left + right);
    for (auto& w : words) {
      for (std::size_t i = 0; i + 1 < w.size(); ++i) {
        if (w[i] != left || w[i + 1] != right) continue;
        w[i] += right;
        w.erase(w.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
    }
  }
  return out;
}

constexpr std::string_view kText =
    "the cat sat on the mat and the rat ran to the cat while a banana can and banananana "
    "mississippi missed the kiss aaaaaaa aaaa aaa "
    "she sells sea shells on the sea shore the shells that she sells are sea shells I am sure so "
    "if she sells sea shells on the sea shore";

TEST(BpeTrainer, EqualsTheDefinition) {
  const std::string_view texts[] = {kText};
  auto t = train_bpe(texts, {.vocab_size = 1000});
  ASSERT_TRUE(t.ok()) << t.status().to_string();
  const auto expected = by_definition(kText, 1000);
  ASSERT_EQ(t->vocab_size(), 256 + expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto id = static_cast<std::int32_t>(256 + i);
    EXPECT_EQ(t->decode(std::vector{id}), expected[i]) << i;
  }
}

TEST(BpeTrainer, RoundTripAndSpecialTokens) {
  const std::string_view texts[] = {kText, "Stra\u00dfe \u4e2d\u6587 \U0001F600 \U0001F600",
                                    "\xFF\xFE"};
  auto t = train_bpe(texts, {.vocab_size = 290,
                             .special_tokens = {"<|end|>", "<|start|>"},
                             .bos = "<|start|>",
                             .eos = "<|end|>",
                             .add_bos = true});
  ASSERT_TRUE(t.ok()) << t.status().to_string();
  EXPECT_EQ(t->vocab_size(), 290u);
  EXPECT_EQ(t->bos(), 1);
  EXPECT_EQ(t->eos(), 0);
  const std::string text = "the shells \u4e2d!<|end|>";
  const auto ids = t->encode(text);
  EXPECT_EQ(ids.front(), 1);
  EXPECT_EQ(ids.back(), 0);
  EXPECT_EQ(t->decode(ids), "<|start|>" + text);
  EXPECT_EQ(t->decode(ids, true), "the shells \u4e2d!");
  auto back = Tokenizer::deserialize(t->serialize());
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->encode(text), ids);
}

TEST(BpeTrainer, OrderOfTextsDoesNotMatter) {
  const std::string_view forth[] = {"abc abd", "abd xyz xyz", kText},
                         back[] = {kText, "abd xyz xyz", "abc abd"};
  EXPECT_EQ(train_bpe(forth, {.vocab_size = 320})->serialize(),
            train_bpe(back, {.vocab_size = 320})->serialize());
}

TEST(BpeTrainer, Refuses) {
  EXPECT_EQ(train_bpe(std::span<const std::string_view>(), {.vocab_size = 255}).status().code(),
            Code::invalid_argument);
  EXPECT_EQ(train_bpe(std::span<const std::string_view>(), {.vocab_size = 300, .bos = "<s>"})
                .status()
                .code(),
            Code::invalid_argument);
  EXPECT_FALSE(train_bpe(std::span<const std::string_view>(),
                         {.vocab_size = 300, .special_tokens = {"<s>", "<s>"}})
                   .ok());
  const TextSource broken = [](const auto&) { return Status(Code::io, "disk"); };
  EXPECT_EQ(train_bpe(broken, {.vocab_size = 300}).status().code(), Code::io);
}

}  // namespace
}  // namespace loom
