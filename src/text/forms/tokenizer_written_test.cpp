// Tokenizers that are written as tokenizer.json and as GGUF vocabularies, and read again.
#include <gtest/gtest.h>

#include "base/files/source.h"
#include "support/data.h"
#include "text/tokenizer.h"

namespace loom {
namespace {

constexpr const char* kTexts[] = {
    "",
    " ",
    "Hello, world!",
    "it's 2024: don't\n\n  panic\t\r\n 1234567",
    "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 x\xCC\x81 \xEF\xBC\xA1",
    "<s> </s> <|endoftext|><|im_start|>user <unk> <0x0A>",
    "\x01\x7F\xE2\x96\x81_\xE2\x96\x81\xE2\x96\x81 the\xC2\xA0words",
};

Tokenizer load(const std::string& path) {
  auto t = Tokenizer::load(path);
  EXPECT_TRUE(t.ok()) << t.status().to_string();
  return std::move(*t);
}

void expect_same(const Tokenizer& a, const Tokenizer& b) {
  for (const char* text : kTexts) {
    const auto ids = a.encode(text);
    EXPECT_EQ(b.encode(text), ids) << text;
    EXPECT_EQ(b.encode_plain(text), a.encode_plain(text)) << text;
    EXPECT_EQ(b.decode(ids), a.decode(ids)) << text;
    EXPECT_EQ(b.decode(ids, true), a.decode(ids, true)) << text;
  }
  EXPECT_EQ(b.bos(), a.bos());
  EXPECT_EQ(b.eos(), a.eos());
  EXPECT_EQ(b.chat_template(), a.chat_template());
}

Result<Tokenizer> through_vocabulary(const Tokenizer& t, std::size_t size = 0) {
  LOOM_ASSIGN(const VocabularyTexts texts, t.to_vocabulary(size));
  const std::vector<std::string_view> tokens(texts.tokens.begin(), texts.tokens.end()),
      merges(texts.merges.begin(), texts.merges.end());
  VocabularySpec spec;
  spec.model = texts.model;
  spec.pre_tokenizer = texts.pre_tokenizer;
  spec.tokens = tokens;
  spec.merges = merges;
  spec.scores = texts.scores;
  spec.token_types = texts.token_types;
  spec.bos = texts.bos;
  spec.eos = texts.eos;
  spec.unknown = texts.unknown;
  spec.add_bos = texts.add_bos;
  spec.add_eos = texts.add_eos;
  spec.add_space_prefix = texts.add_space_prefix;
  spec.chat_template = texts.chat_template;
  return Tokenizer::from_vocabulary(spec);
}

class Written : public testing::TestWithParam<const char*> {};

TEST_P(Written, ComesBack) {
  LOOM_TEST_FILE(folder, GetParam());
  const Tokenizer t = load(folder);
  const auto json = Tokenizer::from_json(t.to_json(), t.config_json());
  ASSERT_TRUE(json.ok()) << json.status().to_string();
  expect_same(t, *json);
  EXPECT_EQ(json->serialize(), t.serialize());
  if (std::string_view(GetParam()) == "tales/hf") {
    // Its merges were learned pair by pair: scores of tokens would make more of them.
    EXPECT_EQ(t.to_vocabulary(0).status().code(), Code::unsupported);
    return;
  }
  const auto vocabulary = through_vocabulary(t, t.vocab_size() + 3);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status().to_string();
  expect_same(t, *vocabulary);
  // And once more, the other way.
  const auto again = Tokenizer::from_json(vocabulary->to_json(), vocabulary->config_json());
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  expect_same(t, *again);
}

INSTANTIATE_TEST_SUITE_P(Tokenizer, Written,
                         testing::Values("tales/hf", "stories260K/hf", "tokenizers/llama2",
                                         "tokenizers/smollm2", "tokenizers/gpt2"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name)
                             if (c == '/') c = '_';
                           return name;
                         });

TEST(Written, RefusesWhatGgufCannotSay) {
  const auto refuse = [](const std::string& json, std::string_view part) {
    const auto t = Tokenizer::from_json(json);
    ASSERT_TRUE(t.ok()) << t.status().to_string();
    const auto texts = t->to_vocabulary(0);
    ASSERT_FALSE(texts.ok());
    EXPECT_EQ(texts.status().code(), Code::unsupported);
    EXPECT_NE(texts.status().message().find(part), std::string::npos) << texts.status().to_string();
  };
  const auto model = [](const std::string& more, const std::string& pipeline) {
    return R"({"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"ba":3,"aba":4},"merges":["a b","b a")" +
           more + "]" + pipeline;
  };
  refuse(model("", "}}"), "neither byte-level BPE nor SentencePiece");
  refuse(model("", R"(},"decoder":{"type":"ByteLevel"},"pre_tokenizer":{"type":"Whitespace"}})"),
         "none of llama-bpe");
  const std::string spaces =
      R"(,"byte_fallback":true},"normalizer":{"type":"Replace","pattern":{"String":" "},"content":"\u2581"},
         "decoder":{"type":"Fuse"}})";
  refuse(model("", spaces), "SentencePiece would also merge \"a\" and \"ba\"");
  refuse(model("", R"(,"byte_fallback":true},"normalizer":{"type":"Lowercase"}})"),
         "do more than write spaces");
}

}  // namespace
}  // namespace loom
