// Real and random models against the logits and tokens that llama2.c and transformers computed.
#include "llm/model.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "base/source.h"
#include "base/bytes.h"
#include "exec/session.h"
#include "support/data.h"

namespace loom {
namespace {

std::vector<float> read_floats(const std::string& path) {
  auto bytes = read_text_file(path);
  EXPECT_TRUE(bytes.ok()) << bytes.status().to_string();
  std::vector<float> values(bytes->size() / 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = load_le<float>(bytes->data() + 4 * i);
  return values;
}

struct Golden {
  std::vector<std::uint32_t> in, out;
};
Golden stories_tokens(const std::string& path) {
  Golden g;
  std::ifstream file(path);
  double logit, gap;
  std::uint32_t position, in, out;
  while (file >> position >> in >> out >> logit >> gap) {
    g.in.push_back(in);
    g.out.push_back(out);
  }
  return g;
}

std::uint32_t argmax(std::span<const float> x) { return static_cast<std::uint32_t>(std::max_element(x.begin(), x.end()) - x.begin()); }

void expect_stories(const std::string& path, const std::string& tokens, const std::string& logits) {
  auto model = load_model(path);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ThreadPool pool(1);
  auto session = Session::create(model->network, pool, {});
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  const Golden golden = stories_tokens(tokens);
  ASSERT_EQ(golden.in.size(), 256u);
  const std::vector<float> expected = read_floats(logits);
  std::uint32_t id = 1;
  float worst = 0;
  for (std::uint32_t p = 0; p < 256; ++p) {
    const std::uint32_t sequence = 0, head = 0;
    ASSERT_EQ(id, golden.in[p]) << p;
    const Status status = session->run_tokens({&id, 1}, {&sequence, 1}, {&p, 1}, {&head, 1});
    ASSERT_TRUE(status.ok()) << status.to_string();
    const auto row = session->output(0);
    if (p < 64)
      for (std::size_t i = 0; i < 512; ++i) worst = std::max(worst, std::abs(row[i] - expected[p * 512 + i]));
    id = argmax(row);
    ASSERT_EQ(id, golden.out[p]) << p;
  }
  EXPECT_LT(worst, 1e-4f);
}

TEST(Model, stories_from_a_folder_and_from_gguf) {
  LOOM_TEST_FILE(folder, "stories260K/hf");
  LOOM_TEST_FILE(gguf, "stories260K/stories260K.gguf");
  LOOM_TEST_FILE(tokens, "stories260K/golden_tokens_256.txt");
  LOOM_TEST_FILE(logits, "stories260K/golden_logits_pos0_63.f32");
  expect_stories(folder, tokens, logits);
  expect_stories(folder + "/model.safetensors", tokens, logits);
  expect_stories(gguf, tokens, logits);
}

void expect_family(const std::string& folder) {
  SCOPED_TRACE(folder);
  auto model = load_model(folder);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const auto json = Json::parse(*read_text_file(folder + "/golden.json"));
  ASSERT_TRUE(json.ok());
  const std::vector<float> expected = read_floats(folder + "/golden_logits.f32");
  std::vector<std::uint32_t> ids, positions, sequences;
  for (const Json& id : json->find("ids")->as_array()) {
    positions.push_back(static_cast<std::uint32_t>(ids.size()));
    sequences.push_back(0);
    ids.push_back(static_cast<std::uint32_t>(id.as_integer()));
  }
  ThreadPool pool(1);
  SessionOptions options;
  options.max_head_rows = 64;
  auto session = Session::create(model->network, pool, options);
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  Status status = session->run_tokens(ids, sequences, positions, positions);
  ASSERT_TRUE(status.ok()) << status.to_string();
  float worst = 0;
  const std::size_t vocab = static_cast<std::size_t>(model->config.vocab_size);
  ASSERT_EQ(expected.size(), ids.size() * vocab);
  for (std::size_t p = 0; p < ids.size(); ++p)
    for (std::size_t i = 0; i < vocab; ++i) worst = std::max(worst, std::abs(session->output(static_cast<std::int64_t>(p))[i] - expected[p * vocab + i]));
  EXPECT_LT(worst, 1e-4f);
  std::uint32_t id = argmax(session->output(static_cast<std::int64_t>(ids.size()) - 1)), position = static_cast<std::uint32_t>(ids.size());
  for (const Json& wanted : json->find("greedy")->as_array()) {
    ASSERT_EQ(id, wanted.as_integer()) << "at " << position;
    const std::uint32_t zero = 0;
    status = session->run_tokens({&id, 1}, {&zero, 1}, {&position, 1}, {&zero, 1});
    ASSERT_TRUE(status.ok()) << status.to_string();
    id = argmax(session->output(0));
    ++position;
  }
}

TEST(Model, families) {
  for (const char* family : {"llama2_untied", "llama3_scaled_rope", "llama_linear_rope_bias", "mistral_window", "qwen2_bias", "qwen3_qknorm"}) {
    LOOM_TEST_FILE(folder, std::string("families/") + family);
    expect_family(folder);
  }
}

TEST(Model, other_families_are_refused_by_name) {
  for (const char* family : {"phi3", "gemma2", "gemma3"}) {
    LOOM_TEST_FILE(folder, std::string("families/") + family);
    const auto model = load_model(folder);
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.status().code(), Code::unsupported);
    const std::string& text = model.status().message();
    EXPECT_NE(text.find(std::string("'") + family), std::string::npos) << text;
    EXPECT_NE(text.find("known are llama, mistral, qwen2, qwen3"), std::string::npos) << text;
    EXPECT_NE(text.find(std::string("src/llm/import_") + family), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace loom
