#include "llm/generate/generate.h"

#include <cstring>

#include "llm/test_models.h"
#include "support/stop_layer.h"

namespace loom {
namespace {

using namespace test;

std::vector<float> copy(std::span<const float> x) { return {x.begin(), x.end()}; }

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

Generator generator(Model& model, ThreadPool& pool, const GeneratorOptions& options = {}) {
  auto g = Generator::create(model, pool, options);
  if (!g.ok()) throw std::runtime_error(g.status().to_string());
  return std::move(*g);
}

Generation generated(Generator& g, const GenerateOptions& options, std::int64_t sequence = 0) {
  Generation result;
  const Status status = g.generate(options, &result, sequence);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return result;
}

// The golden text of transformers, 256 steps.
class Story : public testing::Test {
 protected:
  void SetUp() override {
    LOOM_TEST_FILE(folder, "tales/hf");
    model_.emplace(load(folder));
    text_ = file_text(data_path("tales/golden_greedy_256.txt"));
    text_.pop_back();  // the final newline is not the model's
    ids_ = model_->tokenizer->encode(text_);
  }
  std::optional<Model> model_;
  ThreadPool pool_{1};
  std::string text_;
  std::vector<std::int32_t> ids_;
};

TEST_F(Story, golden_text_streams) {
  Generator g = generator(*model_, pool_);
  ASSERT_TRUE(g.feed(model_->tokenizer->encode("")).ok());
  GenerateOptions options;
  options.max_tokens = 256;
  std::string streamed;
  std::vector<std::int32_t> ids;
  options.on_text = [&](std::string_view text) { streamed += text; };
  options.on_token = [&](std::int32_t id) { ids.push_back(id); };
  const Generation result = generated(g, options);
  EXPECT_EQ(result.text, text_);
  EXPECT_EQ(streamed, text_);
  EXPECT_EQ(result.ids, ids);
  EXPECT_EQ(result.finish, Finish::length);
}

TEST_F(Story, continuation_of_a_prompt_keeps_its_space) {
  Generator g = generator(*model_, pool_);
  ASSERT_TRUE(g.feed(model_->tokenizer->encode("In a little house near the pond")).ok());
  GenerateOptions options;
  options.max_tokens = 5;
  EXPECT_EQ(generated(g, options).text, " lived a girl");
}

TEST_F(Story, chunks_and_threads_do_not_change_a_bit) {
  std::vector<float> expected;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    for (const std::int64_t chunk : {64, 1, 3, 16, 7, 63}) {
      if (threads > 1 && chunk != 64) continue;  // barriers are slow where cores are shared
      GeneratorOptions options;
      options.chunk = chunk;
      Generator g = generator(*model_, pool, options);
      ASSERT_TRUE(g.feed(ids_).ok());
      if (expected.empty()) expected = copy(g.logits());
      EXPECT_TRUE(same_bits(g.logits(), expected)) << "chunk " << chunk << ", threads " << threads;
      EXPECT_EQ(g.statistics().prefill_tokens, static_cast<std::int64_t>(ids_.size()));
    }
  }
}

TEST_F(Story, a_row_does_not_depend_on_its_batch) {
  // The same text as two sequences, one 37 positions behind the other, in shared runs.
  const auto n = static_cast<std::uint32_t>(ids_.size());
  Generator single = generator(*model_, pool_);
  ASSERT_TRUE(single.feed(ids_).ok());
  SessionOptions options;
  options.sequences = 2;
  options.max_head_rows = 2;
  auto session = Session::create(model_->network, pool_, options);
  ASSERT_TRUE(session.ok());
  std::vector<float> last[2];
  for (std::uint32_t step = 0; step < n + 37; ++step) {
    std::vector<std::uint32_t> ids, sequences, positions, head;
    for (std::uint32_t s = 0; s < 2; ++s) {
      const std::uint32_t p = step - 37 * s;
      if (step < 37 * s || p >= n) continue;
      head.push_back(static_cast<std::uint32_t>(ids.size()));
      ids.push_back(static_cast<std::uint32_t>(ids_[p]));
      sequences.push_back(s);
      positions.push_back(p);
    }
    ASSERT_TRUE(session->run_tokens(ids, sequences, positions, head).ok());
    for (std::size_t i = 0; i < ids.size(); ++i)
      last[sequences[i]] = copy(session->output(static_cast<std::int64_t>(i)));
  }
  EXPECT_TRUE(same_bits(last[0], single.logits()));
  EXPECT_TRUE(same_bits(last[1], single.logits()));
}

TEST_F(Story, rollback_then_continue) {
  const std::span<const std::int32_t> all(ids_);
  Generator fresh = generator(*model_, pool_);
  ASSERT_TRUE(fresh.feed(all.first(150)).ok());
  const std::vector<float> expected = copy(fresh.logits());
  GenerateOptions options;
  options.max_tokens = 20;
  const Generation tail = generated(fresh, options);

  Generator g = generator(*model_, pool_);
  ASSERT_TRUE(g.feed(all.first(130)).ok());
  options.max_tokens = 60;
  options.sampling = {.temperature = 1.5, .seed = 4};  // somewhere else
  (void)generated(g, options);
  ASSERT_TRUE(g.feed(all.first(150)).ok());
  EXPECT_GE(g.statistics().reused_tokens, 130);
  EXPECT_EQ(g.statistics().reused_tokens + g.statistics().prefill_tokens, 150);
  EXPECT_TRUE(same_bits(g.logits(), expected));
  EXPECT_EQ(g.tokens().size(), 150u);
  ASSERT_TRUE(g.feed(all.first(150)).ok());  // again: nothing to run
  EXPECT_EQ(g.statistics().prefill_tokens, 0);
  EXPECT_TRUE(same_bits(g.logits(), expected));
  ASSERT_TRUE(g.feed(all.first(40)).ok());  // a part of what is cached: its last id runs again
  EXPECT_EQ(g.statistics().prefill_tokens, 1);
  ASSERT_TRUE(g.feed(all.first(150)).ok());
  EXPECT_TRUE(same_bits(g.logits(), expected));
  options = {};
  options.max_tokens = 20;
  EXPECT_EQ(generated(g, options).ids, tail.ids);
}

TEST_F(Story, sequences_are_independent) {
  GeneratorOptions options;
  options.sequences = 3;
  Generator g = generator(*model_, pool_, options);
  const auto a = model_->tokenizer->encode("Tom had a red"),
             b = model_->tokenizer->encode("The sun");
  ASSERT_TRUE(g.feed(a, 0).ok());
  ASSERT_TRUE(g.feed(b, 2).ok());
  ASSERT_TRUE(g.feed(a, 1).ok());
  GenerateOptions sampled;
  sampled.max_tokens = 30;
  sampled.sampling = {.temperature = 0.8, .top_k = 40, .top_p = 0.95, .repetition_penalty = 1.1};
  const Generation first = generated(g, sampled, 0), other = generated(g, sampled, 2),
                   again = generated(g, sampled, 1);
  EXPECT_EQ(first.ids, again.ids);
  EXPECT_NE(first.ids, other.ids);
  Generator alone = generator(*model_, pool_);
  ASSERT_TRUE(alone.feed(b).ok());
  EXPECT_EQ(generated(alone, sampled).ids, other.ids);
  sampled.sampling.seed = 1;
  ASSERT_TRUE(g.feed(a, 0).ok());
  EXPECT_NE(generated(g, sampled, 0).ids, first.ids);
  LOOM_EXPECT_ERROR(
      [&]() -> Result<int> {
        LOOM_TRY(g.feed(a, 3));
        return 0;
      }(),
      Code::out_of_range, "sequence 3 of 3");
}

TEST_F(Story, stop_strings_across_tokens) {
  Generator g = generator(*model_, pool_);
  const auto start = model_->tokenizer->encode("");
  const std::size_t tokens = [&] {
    GenerateOptions all;
    all.max_tokens = 256;
    EXPECT_TRUE(g.feed(start).ok());
    return generated(g, all).ids.size();
  }();
  for (const char* stop : {"Nora", "ora. One d", ". One day", "Penny the", "O"}) {
    ASSERT_TRUE(g.feed(start).ok());
    GenerateOptions options;
    options.max_tokens = 256;
    options.stop = {"never", stop};
    std::string streamed;
    options.on_text = [&](std::string_view text) { streamed += text; };
    const Generation result = generated(g, options);
    EXPECT_EQ(result.finish, Finish::stop) << stop;
    EXPECT_EQ(result.text, text_.substr(0, text_.find(stop))) << stop;
    EXPECT_EQ(streamed, result.text);
    EXPECT_LT(result.ids.size(), tokens);
  }
}

TEST_F(Story, end_ids) {
  Generator g = generator(*model_, pool_);
  ASSERT_TRUE(g.feed(model_->tokenizer->encode("")).ok());
  GenerateOptions options;
  options.max_tokens = 50;
  options.end = {317};  // the third golden token
  const Generation result = generated(g, options);
  EXPECT_EQ(result.finish, Finish::eos);
  EXPECT_EQ(result.ids, (std::vector<std::int32_t>{413, 301, 317}));
  EXPECT_EQ(result.text, "In");
  model_->config.eos = {301};
  ASSERT_TRUE(g.feed(model_->tokenizer->encode("")).ok());
  options.end = {};
  EXPECT_EQ(generated(g, options).ids.size(), 2u);
  ASSERT_TRUE(g.feed(model_->tokenizer->encode("")).ok());
  options.ignore_eos = true;
  EXPECT_EQ(generated(g, options).ids.size(), 50u);
}

TEST_F(Story, the_context_is_a_limit_with_both_numbers) {
  GeneratorOptions small;
  small.context = 20;
  Generator g = generator(*model_, pool_, small);
  auto fed = [&](std::size_t n) -> Result<int> {
    LOOM_TRY(g.feed(std::span(ids_).first(n)));
    return 0;
  };
  LOOM_EXPECT_ERROR(fed(21), Code::out_of_range, "the text has 21 tokens, the context holds 20");
  ASSERT_TRUE(fed(15).ok());
  GenerateOptions options;
  const Generation full = generated(g, options);  // no limit given: to the end of the context
  EXPECT_EQ(full.finish, Finish::length);
  EXPECT_EQ(full.ids.size(), 6u);  // five that were run and the prediction after them
  ASSERT_TRUE(fed(15).ok());
  options.max_tokens = 6;
  EXPECT_EQ(generated(g, options).ids, full.ids);
  ASSERT_TRUE(fed(15).ok());
  options.max_tokens = 7;
  const Generation more = generated(g, options);  // no more fits
  EXPECT_EQ(more.finish, Finish::length);
  EXPECT_EQ(more.ids, full.ids);
  EXPECT_EQ(more.text, full.text);
}

TEST_F(Story, cancelling) {
  std::atomic<bool> cancel{false};
  GeneratorOptions cancellable;
  cancellable.cancel = &cancel;
  cancellable.chunk = 8;
  Generator g = generator(*model_, pool_, cancellable);
  ASSERT_TRUE(g.feed(std::span(ids_).first(10)).ok());
  GenerateOptions options;
  options.max_tokens = 100;
  int count = 0;
  options.on_token = [&](std::int32_t) { cancel = ++count == 7; };
  const Generation result = generated(g, options);
  EXPECT_EQ(result.finish, Finish::cancelled);
  EXPECT_EQ(result.ids.size(), 7u);
  const auto status = g.feed(ids_);
  EXPECT_EQ(status.code(), Code::cancelled);
  EXPECT_TRUE(g.logits().empty());
  cancel = false;
  ASSERT_TRUE(g.feed(ids_).ok());  // goes on from what was run
  EXPECT_GE(g.statistics().reused_tokens, 10);
}

TEST_F(Story, mistakes_are_errors) {
  Generator g = generator(*model_, pool_);
  auto fed = [&](std::vector<std::int32_t> ids) -> Result<int> {
    LOOM_TRY(g.feed(ids));
    return 0;
  };
  auto made = [&](const GenerateOptions& options) -> Result<int> {
    Generation r;
    LOOM_TRY(g.generate(options, &r));
    return 0;
  };
  LOOM_EXPECT_ERROR(made({}), Code::invalid_argument, "feed the sequence before");
  LOOM_EXPECT_ERROR(fed({}), Code::invalid_argument, "at least one id");
  LOOM_EXPECT_ERROR(fed({1, 512}), Code::out_of_range,
                    "id 512 at position 1: the vocabulary has 512");
  LOOM_EXPECT_ERROR(fed({-1}), Code::out_of_range, "id -1 at position 0");
  ASSERT_TRUE(fed({1}).ok());
  LOOM_EXPECT_ERROR(made({.max_tokens = -1}), Code::invalid_argument, "max_tokens");
  LOOM_EXPECT_ERROR(made({.sampling = {.temperature = -1}}), Code::invalid_argument, "temperature");
  model_->tokenizer = Status(Code::not_found, "no tokenizer here");
  LOOM_EXPECT_ERROR(made({.stop = {"x"}}), Code::not_found, "no tokenizer here");
  EXPECT_TRUE(made({.max_tokens = 3}).ok());
  for (const GeneratorOptions& bad :
       {GeneratorOptions{.context = -1}, {.chunk = -1}, {.sequences = 0}, {.isa = "pdp11"}})
    EXPECT_FALSE(Generator::create(*model_, pool_, bad).ok());
}

TEST_F(Story, the_clock_is_the_callers) {
  double time = 0;
  GeneratorOptions options;
  options.seconds = [&] { return time += 0.5; };
  Generator g = generator(*model_, pool_, options);
  ASSERT_TRUE(g.feed(ids_).ok());
  EXPECT_EQ(g.statistics().prefill_seconds, 0.5);
  GenerateOptions ten;
  ten.max_tokens = 10;
  (void)generated(g, ten);
  EXPECT_EQ(g.statistics().decode_seconds, 10 * 0.5);  // piece by piece
  EXPECT_EQ(g.statistics().decode_tokens, 10);
}

// Where the states cannot go back to what was run, a text that is fed again begins anew.
TEST(RecurrentStory, CancelledInsideARun) {
  using namespace test::stop;
  ASSERT_TRUE(register_custom_layer(std::make_shared<Stop>()).ok());
  {
    auto network = Network::from_json(*Json::parse(
        R"({"format":"loom-topology","version":2,"layers_per_cell":1,"input":{"ids":9},"cells":[
        {"at":[0,0,0,0],"type":"sequential","layers":[{"type":"embedding","out":8},
        {"type":"gru","hidden":8},{"type":"custom","layer":"test.stop"},{"type":"dense","out":9}]}]})"));
    ASSERT_TRUE(network.ok() && network->initialize(3).ok()) << network.status().to_string();
    ModelConfig config;
    config.vocab_size = 9, config.max_positions = 64;
    auto model = make_model("story", std::move(*network), Status(Code::not_found, "none"), config);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    ThreadPool pool(1);
    flag = false, countdown = 0;
    Generator cut = generator(*model, pool, {.chunk = 2, .cancel = &flag});
    Generator whole = generator(*model, pool);
    const std::vector<std::int32_t> ids = {1, 2, 3, 4, 5, 6, 7};
    ASSERT_TRUE(cut.feed(std::span(ids).first(3)).ok());
    countdown = 3;
    EXPECT_EQ(cut.feed(ids).code(), Code::cancelled);
    EXPECT_TRUE(cut.tokens().empty());
    flag = false;
    const Status again = cut.feed(ids);
    ASSERT_TRUE(again.ok()) << again.to_string();
    ASSERT_TRUE(whole.feed(ids).ok());
    EXPECT_TRUE(same_bits(cut.logits(), whole.logits()));
    // Without a head cell a run has an output for each of its rows: a prediction is the last one.
    Generator one_by_one = generator(*model, pool, {.chunk = 1});
    ASSERT_TRUE(one_by_one.feed(ids).ok());
    EXPECT_TRUE(same_bits(one_by_one.logits(), whole.logits()));
  }
  EXPECT_TRUE(unregister_custom_layer("test.stop", 1).ok());
}

}  // namespace
}  // namespace loom
