#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/source.h"
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
    EXPECT_EQ(t.decode(ids, true), text);
  }
}

TEST(Tokenizer, StoriesGolden) {
  LOOM_TEST_FILE(folder, "stories260K/hf");
  LOOM_TEST_FILE(golden, "stories260K/golden_encode.json");
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

TEST(Tokenizer, SmolLm2Golden) {
  LOOM_TEST_FILE(file, "tokenizers/smollm2/tokenizer.json");
  LOOM_TEST_FILE(golden, "tokenizer_golden/smollm2_ids_from_ember.json");
  expect_cases(load(file), golden, false);
}

// Published by transformers.js for the vocabularies that lie unpacked in the test material.
TEST(Tokenizer, TransformersJsGolden) {
  LOOM_TEST_FILE(golden, "tokenizer_golden/transformersjs_tokenization.json");
  const Json all = read_json(golden);
  for (const auto& [name, folder] : {std::pair("Xenova/gpt2", "gpt2"), std::pair("openai-community/gpt2", "gpt2"), std::pair("Xenova/llama-tokenizer", "llama2")}) {
    LOOM_TEST_FILE(file, std::string("tokenizers/") + folder + "/tokenizer.json");
    const Tokenizer t = load(file);
    const Json* cases = all.find(name)->find("cases");
    ASSERT_GT(cases->as_object().size(), 20u);
    for (const auto& [key, c] : cases->as_object()) EXPECT_EQ(t.encode(c.find("text")->as_string()), as_ids(*c.find("ids"))) << name << " " << key;
  }
}

}  // namespace
}  // namespace loom
