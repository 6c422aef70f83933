#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include "base/files/source.h"
#include "base/json/json.h"
#include "support/data.h"

namespace loom {
namespace {

Json read_json(const std::string& path) {
  auto text = read_text_file(path);
  EXPECT_TRUE(text.ok()) << text.status().to_string();
  auto json = Json::parse(*text);
  EXPECT_TRUE(json.ok()) << json.status().to_string();
  return std::move(*json);
}

std::vector<std::int32_t> as_ids(const Json& json) {
  std::vector<std::int32_t> ids;
  for (const Json& id : json.as_array()) ids.push_back(static_cast<std::int32_t>(id.as_integer()));
  return ids;
}

Tokenizer load(const std::string& path) {
  auto t = Tokenizer::load(path);
  EXPECT_TRUE(t.ok()) << t.status().to_string();
  return std::move(*t);
}

void expect_cases(const Tokenizer& t, const std::string& golden, bool special) {
  const Json cases = read_json(golden);
  ASSERT_FALSE(cases.as_array().empty());
  for (const Json& c : cases.as_array()) {
    const std::string text = c.find("text")->as_string();
    const auto ids = as_ids(*c.find("ids"));
    EXPECT_EQ(t.encode(text, special), ids) << text;
    if (text.find('\x1D') != std::string::npos) continue;  // SmolLM2 has no token for that byte
    EXPECT_EQ(t.decode(ids, special), text);
  }
}

// Made by tokenizers, and by llama2.c.
class StoryVocabulary : public testing::TestWithParam<const char*> {};

TEST_P(StoryVocabulary, Golden) {
  LOOM_TEST_FILE(folder, std::string(GetParam()) + "/hf");
  LOOM_TEST_FILE(golden, std::string(GetParam()) + "/golden_encode.json");
  const Tokenizer t = load(folder);
  expect_cases(t, golden, true);
  EXPECT_EQ(t.vocab_size(), 512u);
  EXPECT_EQ(t.bos(), 1);
  EXPECT_EQ(t.eos(), 2);
  EXPECT_EQ(t.token_to_id("<s>"), 1);
  EXPECT_EQ(t.id_to_token(2), "</s>");
  EXPECT_TRUE(t.is_special(0));
  EXPECT_FALSE(t.is_special(300));
}

INSTANTIATE_TEST_SUITE_P(Tokenizer, StoryVocabulary, testing::Values("tales", "stories260K"),
                         [](const auto& test) { return std::string(test.param); });

TEST(Tokenizer, SmolLm2Golden) {
  LOOM_TEST_FILE(file, "tokenizers/smollm2/tokenizer.json");
  LOOM_TEST_FILE(golden, "tokenizer_golden/smollm2_ids_from_ember.json");
  expect_cases(load(file), golden, false);
}

// Published by transformers.js for the vocabularies that lie unpacked in the test material.
TEST(Tokenizer, TransformersJsGolden) {
  LOOM_TEST_FILE(golden, "tokenizer_golden/transformersjs_tokenization.json");
  const Json all = read_json(golden);
  for (const auto& [name, folder] :
       {std::pair("Xenova/gpt2", "gpt2"), std::pair("openai-community/gpt2", "gpt2"),
        std::pair("Xenova/llama-tokenizer", "llama2")}) {
    LOOM_TEST_FILE(file, std::string("tokenizers/") + folder + "/tokenizer.json");
    const Tokenizer t = load(file);
    const Json* cases = all.find(name)->find("cases");
    ASSERT_GT(cases->as_object().size(), 20u);
    for (const auto& [key, c] : cases->as_object())
      EXPECT_EQ(t.encode(c.find("text")->as_string()), as_ids(*c.find("ids")))
          << name << " " << key;
  }
}

class Section : public testing::TestWithParam<const char*> {};

TEST_P(Section, RoundTrip) {
  LOOM_TEST_FILE(path, GetParam());
  const Tokenizer t = load(path);
  const std::string section = t.serialize();
  auto back = Tokenizer::deserialize(section);
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_EQ(back->serialize(), section);
  const std::string text =
      " Hello <s>w\u00f6rld</s>  \u4e2d\u6587 \U0001F600<|im_start|>\n\n12345 can't";
  EXPECT_EQ(back->encode(text), t.encode(text));
  EXPECT_EQ(back->decode(t.encode(text)), t.decode(t.encode(text)));
  EXPECT_EQ(back->bos(), t.bos());
  for (std::size_t size = 0; size < section.size(); size += section.size() / 97 + 1)
    EXPECT_FALSE(Tokenizer::deserialize(section.substr(0, size)).ok()) << size;
}

INSTANTIATE_TEST_SUITE_P(Tokenizer, Section,
                         testing::Values("tokenizers/smollm2/tokenizer.json",
                                         "tokenizers/gpt2/tokenizer.json",
                                         "tokenizers/llama2/tokenizer.json", "tales/hf"));

// Small vocabularies, in the format's two forms of merges; the expectations were made with the
// tokenizers package.
constexpr std::string_view kTiny =
    R"({"added_tokens":ADDED,"normalizer":NORM,"pre_tokenizer":PRE,"post_processor":null,"decoder":null,
  "model":{"type":"BPE","vocab":{"a":0,"b":1,"\u2581":2,"\u2581a":3,"A":4," ":5,"ab":6},"merges":MERGES}})";

Result<Tokenizer> tiny(std::string_view merges = "[]", std::string_view pre = "null",
                       std::string_view norm = "null", std::string_view added = "[]") {
  std::string json(kTiny);
  const auto put = [&](std::string_view name, std::string_view value) {
    json.replace(json.find(name), name.size(), value);
  };
  put("ADDED", added);
  put("NORM", norm);
  put("PRE", pre);
  put("MERGES", merges);
  return Tokenizer::from_json(json);
}
using Ids = std::vector<std::int32_t>;

TEST(Tokenizer, BothFormsOfMerges) {
  EXPECT_EQ(tiny(R"(["a b"])")->encode("abab"), (Ids{6, 6}));
  EXPECT_EQ(tiny(R"([["a","b"]])")->encode("abab"), (Ids{6, 6}));
  EXPECT_EQ(tiny()->encode("abZ"),
            (Ids{0, 1}));  // without an unknown token what is no token is dropped
  EXPECT_EQ(tiny(R"(["#version: 0.2","a b"])")->encode("ab"), (Ids{6}));
}

TEST(Tokenizer, MetaspaceSchemes) {
  const auto pre = [](std::string_view scheme) {
    return R"({"type":"Metaspace","replacement":"\u2581","split":true,"prepend_scheme":")" +
           std::string(scheme) + "\"}";
  };
  const std::string added = R"([{"id":7,"content":"<x>","special":true}])";
  EXPECT_EQ(tiny("[]", pre("first"), "null", added)->encode("a<x>a a"), (Ids{2, 0, 7, 0, 2, 0}));
  EXPECT_EQ(tiny("[]", pre("always"), "null", added)->encode("a<x>a a"),
            (Ids{2, 0, 7, 2, 0, 2, 0}));
  EXPECT_EQ(tiny("[]", pre("never"), "null", added)->encode("a<x>a a"), (Ids{0, 7, 0, 2, 0}));
}

TEST(Tokenizer, AddedTokens) {
  // Ids follow the vocabulary, whatever the file says; normalized tokens are found in normalized
  // text.
  EXPECT_EQ(tiny("[]", "null", "null", R"([{"id":20,"content":"<x>"},{"id":10,"content":"<y>"}])")
                ->encode("a<x>b<y>"),
            (Ids{0, 7, 1, 8}));
  EXPECT_EQ(tiny("[]", "null", R"({"type":"Lowercase"})",
                 R"([{"id":7,"content":"<X>","normalized":true}])")
                ->encode("A<X>b<x>"),
            (Ids{0, 7, 1, 7}));
  EXPECT_EQ(
      tiny("[]", "null", "null",
           R"([{"id":7,"content":"<x>","rstrip":true,"lstrip":true},{"id":8,"content":" a"}])")
          ->encode("a <x> ab"),
      (Ids{0, 7, 8, 1}));
  EXPECT_EQ(tiny("[]", "null", "null", R"([{"id":0,"content":"a","single_word":true}])")
                ->encode("a ab a_b b a"),
            (Ids{0, 5, 0, 1, 5, 0, 1, 5, 1, 5, 0}));
  EXPECT_EQ(
      tiny("[]", "null", "null", R"([{"id":7,"content":"ab","special":true}])")->encode_plain("ab"),
      (Ids{0, 1}));
}

TEST(Tokenizer, MissingFile) {
  EXPECT_EQ(Tokenizer::load("/nonesuch/folder").status().code(), Code::not_found);
}

TEST(Tokenizer, RefusesByName) {
  const auto message = [](const Result<Tokenizer>& r) {
    return r.ok() ? std::string("ok") : r.status().to_string();
  };
  EXPECT_EQ(message(Tokenizer::from_json(R"({"model":{"type":"Unigram","vocab":[]}})")),
            "unsupported: tokenizer.json: tokenizer model 'Unigram'; this build reads BPE");
  EXPECT_NE(message(tiny("[]", R"({"type":"UnicodeScripts"})")).find("'UnicodeScripts'"),
            std::string::npos);
  EXPECT_NE(message(tiny(R"(["a A"])")).find("\"aA\" is not in the vocabulary"), std::string::npos);
  EXPECT_NE(message(tiny(R"(["ab"])")).find("two tokens"), std::string::npos);
  EXPECT_NE(message(Tokenizer::from_json("<html>")).find("JSON offset 0"), std::string::npos);
  EXPECT_NE(message(Tokenizer::from_json(R"({"model":{"type":"BPE","vocab":{"a":0,"b":0}}})"))
                .find("id 0"),
            std::string::npos);
}

TEST(Tokenizer, InvalidUtf8IsReplacement) {
  LOOM_TEST_FILE(file, "tokenizers/gpt2/tokenizer.json");
  const Tokenizer t = load(file);
  EXPECT_EQ(t.encode("a\xF0\x9F\x98z\xC3"), t.encode("a\uFFFDz\uFFFD"));
}

// 500 kB of one word: quadratic time would take minutes.
TEST(Tokenizer, LongWordsTakeLinearTime) {
  for (const char* name : {"tokenizers/gpt2/tokenizer.json", "tokenizers/llama2/tokenizer.json"}) {
    LOOM_TEST_FILE(file, name);
    const Tokenizer t = load(file);
    std::string word;
    while (word.size() < 500'000) word += "antidisestablishment";
    EXPECT_EQ(t.decode(t.encode(word), true), word);
  }
}

TEST(StreamDecoder, PartsAreWholeCharacters) {
  for (const char* name : {"tokenizers/gpt2/tokenizer.json", "tokenizers/llama2/tokenizer.json"}) {
    LOOM_TEST_FILE(file, name);
    const Tokenizer t = load(file);
    const std::string text = "na\u00efve \U0001F468\u200d\U0001F469 \u4e2d\u6587 \u0939\u093f";
    auto ids = t.encode(text, false);
    ids.push_back(ids[ids.size() / 2]);  // a stray part of something
    StreamDecoder stream(t);
    std::string joined;
    for (const auto id : ids) {
      const std::string part = stream.push(id);
      EXPECT_TRUE(part.empty() || (static_cast<unsigned char>(part[0]) & 0xC0) != 0x80);
      joined += part;
    }
    EXPECT_EQ(joined + stream.finish(), t.decode(ids));
  }
}

}  // namespace
}  // namespace loom
