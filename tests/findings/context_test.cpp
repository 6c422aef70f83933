// Line C6 of the findings, at the library: texts that fill their context.
#include <gtest/gtest.h>

#include "llm/embedded_model.h"
#include "llm/generate/generate.h"

namespace loom {
namespace {

TEST(Findings, C6_TheTextThatFitsIsTheAnswer) {
  auto model = load_model("embedded");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ThreadPool pool(1);
  GeneratorOptions small;
  small.context = 24;
  auto generator = Generator::create(*model, pool, small);
  ASSERT_TRUE(generator.ok());
  const std::vector<std::int32_t> prompt = model->tokenizer->encode("Once upon a time");
  GenerateOptions options;
  options.sampling.temperature = 0;
  options.ignore_eos = true;
  std::vector<std::int32_t> expected;  // those of a context with more places
  {
    auto large = Generator::create(*model, pool, {.context = 64});
    ASSERT_TRUE(large.ok() && large->feed(prompt).ok());
    Generation all;
    options.max_tokens = static_cast<std::int64_t>(
        25 - prompt.size());  // each place of the context, and the id after the last
    ASSERT_TRUE(large->generate(options, &all).ok());
    expected = all.ids;
  }
  for (const std::int64_t max_tokens : {std::int64_t{0}, std::int64_t{100000}, INT64_MAX}) {
    ASSERT_TRUE(generator->feed(prompt).ok());
    options.max_tokens = max_tokens;
    Generation answer;
    const Status status = generator->generate(options, &answer);
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(answer.finish, Finish::length);
    EXPECT_EQ(answer.ids, expected);
    EXPECT_FALSE(answer.text.empty());
  }
  const std::vector<std::int32_t> long_prompt(25, prompt[0]);
  const Status refused = generator->feed(long_prompt);
  EXPECT_EQ(refused.code(), Code::out_of_range);
  EXPECT_EQ(refused.message(), "the text has 25 tokens, the context holds 24");
  const Status beyond =
      Generator::create(*model, pool, {.context = model->config.max_positions + 1}).status();
  EXPECT_EQ(beyond.code(), Code::out_of_range);
  EXPECT_NE(beyond.message().find(std::to_string(model->config.max_positions)), std::string::npos);
}

}  // namespace
}  // namespace loom
