#include "llm/generate.h"

#include <gtest/gtest.h>

#include "base/source.h"
#include "support/data.h"

namespace loom {
namespace {

Model load(const std::string& path) {
  auto model = load_model(path);
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  return std::move(*model);
}

TEST(Generate, golden_story) {
  LOOM_TEST_FILE(folder, "stories260K/hf");
  LOOM_TEST_FILE(gguf, "stories260K/stories260K.gguf");
  LOOM_TEST_FILE(golden, "stories260K/golden_greedy_256.txt");
  for (const std::string& path : {folder, gguf}) {
    Model model = load(path);
    ASSERT_TRUE(model.tokenizer.ok()) << model.tokenizer.status().to_string();
    ThreadPool pool(1);
    auto g = Generator::create(model, pool);
    ASSERT_TRUE(g.ok()) << g.status().to_string();
    ASSERT_TRUE(g->feed(model.tokenizer->encode("")).ok());
    Generation result;
    GenerateOptions options;
    options.max_tokens = 256;
    std::string streamed;
    options.on_text = [&](std::string_view text) { streamed += text; };
    const Status status = g->generate(options, &result);
    ASSERT_TRUE(status.ok()) << status.to_string();
    std::string expected = *read_text_file(golden);
    EXPECT_EQ(result.text + "\n", expected);
    EXPECT_EQ(streamed, result.text);
    EXPECT_EQ(result.ids.size(), 256u);
    EXPECT_EQ(g->statistics().decode_tokens, 256);
  }
}

}  // namespace
}  // namespace loom
