// The model inside the program: what loom alone, run and chat do with it, and how well it tells
// stories.
#include "llm/embedded_model.h"

#include "e2e/process.h"
#include "stories/stories.h"
#include "support/places.h"

namespace loom::test {
namespace {

TEST(Embedded, MostOfItsStoriesAreStoriesOfTheGrammar) {
  constexpr int kStories = 200, kEnough = 190;  // of the first thousand, 971
  auto model = load_model("embedded");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ThreadPool pool(1);
  auto generator = Generator::create(*model, pool);
  ASSERT_TRUE(generator.ok()) << generator.status().to_string();
  int accepted = 0;
  std::string refused;
  for (std::uint64_t seed = 0; seed < kStories; ++seed) {
    Generation story;
    const Status status = tell_story(*generator, *model, seed, &story);
    ASSERT_TRUE(status.ok()) << status.to_string();
    const auto verdict = stories::recognize(story.text);
    accepted += verdict.accepted;
    if (!verdict.accepted) refused += "seed " + std::to_string(seed) + ": " + verdict.reason + "\n";
  }
  RecordProperty("accepted", accepted);
  EXPECT_GE(accepted, kEnough) << refused;
}

TEST(Embedded, TheProgramAloneTellsAStory) {
  auto model = load_model("embedded");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ThreadPool pool(1);
  auto generator = Generator::create(*model, pool);
  ASSERT_TRUE(generator.ok());
  Generation story;
  ASSERT_TRUE(tell_story(*generator, *model, 1, &story).ok());
  const Outcome o = loom(Call{});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, story.text + "\n");
  // The README quotes its beginning.
  const std::string readme = file_bytes(source_dir() + "/README.md");
  const std::size_t from = readme.find("\n> ") + 3, to = readme.find(" [...]", from);
  ASSERT_LT(from, to);
  std::string quote = readme.substr(from, to - from);
  for (std::size_t i; (i = quote.find("\n> ")) != std::string::npos;) quote.replace(i, 3, " ");
  EXPECT_TRUE(story.text.starts_with(quote)) << quote;
  EXPECT_NE(o.err.find("numerics: portable v"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("ids sha256 "), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("loom --help"), std::string::npos) << o.err;
  EXPECT_NE(loom({"--seed", "2"}).out, o.out);
  LOOM_EXPECT_REFUSED(loom({"--seed", "1", "show", "embedded"}), 2, "--seed");
}

TEST(Embedded, IsAModelLikeOthersAndChatContinuesStories) {
  const std::vector<std::string> greedy{"--greedy", "--tokens", "12"};
  auto with = [&](std::vector<std::string> args) {
    args.insert(args.end(), greedy.begin(), greedy.end());
    return args;
  };
  const Outcome run = loom(with({"run", "embedded", "Once upon a time"})),
                chat = loom(with({"chat"}), "Once upon a time\n");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_GT(run.out.size(), 12u);
  EXPECT_EQ(chat.code, 0) << chat.err;
  EXPECT_EQ(chat.out, run.out);
  EXPECT_NE(chat.err.find("continues the story"), std::string::npos) << chat.err;
  LOOM_EXPECT_REFUSED(loom({"chat", "--system", "Be kind."}, "Hello\n"), 2, "--system");
  const Outcome result = loom({"show", "embedded"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("packed i4"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace loom::test
